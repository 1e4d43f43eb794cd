//! Which requests of the peer you answer yourself.

use alloc::{borrow::Cow, vec::Vec};

/// Which requests of the peer come to you as method and raw parameters, for you to answer.
///
/// A request is *modelled* if the session implements it. A server implements:
///
/// | requests | condition |
/// | --- | --- |
/// | `tools/list`, `tools/call` | none |
/// | `logging/setLevel` | [`ServerConfig::logging`](super::ServerConfig::logging) is on |
/// | `prompts/list`, `prompts/get` | [`ServerConfig::context`](super::ServerConfig::context) declares prompts |
/// | `resources/list`, `resources/templates/list`, `resources/read` | the context declares resources |
///
/// A client implements `roots/list` and `elicitation/create`, if [`roots`](super::ClientConfig::roots) and
/// [`elicitation`](super::ClientConfig::elicitation) declare them.
///
/// The session answers all other requests that you do not forward, at once. A client answers with -32601. So does a
/// server, except that it answers with an empty list if it is asked for resources, resource templates or prompts.
///
/// `initialize`, `ping` and `server/discover` are never forwarded. Remember to declare the capabilities for the methods
/// that you forward.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forward {
    /// No requests.
    #[default]
    Nothing,
    /// The requests with these methods, modelled or not: with `tools/list` in the list, you answer that too.
    Methods(Vec<Cow<'static, str>>),
    /// All requests that are not modelled, including lists of prompts and resources that the context does not declare.
    /// Choose this if you serve these requests yourself.
    Unmodelled,
    /// All requests, modelled ones included. Choose this for a bridge, whose tools belong to another program.
    All,
}

impl Forward {
    /// Returns true if this method goes to the application. `modelled` is true if the session implements the method,
    /// rather than only having a default answer.
    pub(crate) fn takes(&self, method: &str, modelled: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Methods(methods) => methods.iter().any(|name| name == method),
            Self::Unmodelled => !modelled,
            Self::All => true,
        }
    }
}
