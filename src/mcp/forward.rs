//! Which requests of the peer go to the application as they are.

use alloc::{borrow::Cow, vec::Vec};

/// Which requests that the session does not model go to the application, as method and raw parameters. The others are
/// answered at once: the lists that a peer may always ask for as empty, everything else with -32601.
///
/// `initialize`, `ping` and `server/discover` never do. What is forwarded should also be declared as a capability.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Forward {
    /// None.
    #[default]
    Nothing,
    /// These methods, be they modelled or not: `tools/list` too, if it stands here.
    Methods(Vec<Cow<'static, str>>),
    /// All that are not modelled, with the lists of resources and prompts. For an application that serves them itself.
    Everything,
    /// All, the modelled ones too. For a bridge: the tools are those of somebody else, and so is their list.
    All,
}

impl Forward {
    /// Whether this method goes to the application; `modelled` is whether the session would serve it otherwise.
    pub(super) fn takes(&self, method: &str, modelled: bool) -> bool {
        match self {
            Self::Nothing => false,
            Self::Methods(methods) => methods.iter().any(|name| name == method),
            Self::Everything => !modelled,
            Self::All => true,
        }
    }
}
