//! The choice of the requests of the peer that go to the application as they are.

use alloc::{borrow::Cow, vec::Vec};

/// The choice of the requests of the peer that go to the application, as method and raw parameters.
///
/// The modelled requests are those for which a session has an implementation of its own. A server has
/// one for:
///
/// | requests | condition |
/// | --- | --- |
/// | `tools/list`, `tools/call` | none |
/// | `logging/setLevel` | [`ServerConfig::logging`](super::ServerConfig::logging) is on |
/// | `prompts/list`, `prompts/get` | [`ServerConfig::context`](super::ServerConfig::context) declares prompts |
/// | `resources/list`, `resources/templates/list`, `resources/read` | the context declares resources |
///
/// A client has one for `roots/list` and for `elicitation/create`, if
/// [`roots`](super::ClientConfig::roots) and [`elicitation`](super::ClientConfig::elicitation) declare
/// them.
///
/// The session answers every other request that is not forwarded at once. A server answers a request
/// for the resources, the resource templates or the prompts with an empty list, and any other with
/// -32601. A client answers all of them with -32601.
///
/// `initialize`, `ping` and `server/discover` are never forwarded. The capability of a forwarded
/// request should also be declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forward {
    /// No requests.
    #[default]
    Nothing,
    /// The requests with these methods, modelled or not. `tools/list` is forwarded too if it is in
    /// this list.
    Methods(Vec<Cow<'static, str>>),
    /// All requests that are not modelled, also the lists of prompts and resources that the context
    /// does not declare. For an application that serves these requests itself.
    Unmodelled,
    /// All requests, including those that are modelled. For a bridge: the tools and their list
    /// belong to another program.
    All,
}

impl Forward {
    /// Returns true if this method goes to the application. `modelled` is true if the session has
    /// its own implementation of the method, and not only a default answer.
    pub(crate) fn takes(&self, method: &str, modelled: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Methods(methods) => methods.iter().any(|name| name == method),
            Self::Unmodelled => !modelled,
            Self::All => true,
        }
    }
}
