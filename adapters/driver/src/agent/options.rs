//! The settings of an agent.

use super::Trust;
use ide_mcp::ide::discovery::Backoff;
use ide_mcp::mcp::{Implementation, Root};
use ide_mcp_lockfile::EditorSearch;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

/// The settings of an agent: the editor that it looks for, and its identity.
///
/// ```
/// use ide_mcp_driver::{AgentOptions, Trust};
///
/// let mut options = AgentOptions::new("my-agent", "1.0").port(4711);
/// options.trust = Trust::EveryUser;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentOptions {
    /// The name and version of the agent, which the editor receives.
    pub info: Implementation,
    /// The search for the editor. Default: the editor that has the working directory open.
    pub search: EditorSearch,
    /// The request target of the opening handshake, as in
    /// [`ClientConfig::target`](ide_mcp::ide::ClientConfig::target). Default `None`: the agent asks for `/`, as
    /// the real client does (measured), and for `/mcp` if the answer is 404. Two descriptions of editors have
    /// `/mcp`.
    pub target: Option<String>,
    /// The servers to which the agent sends its token. Default: those of our own user.
    pub trust: Trust,
    /// True if the agent attaches again to an editor that it has lost: at the same port, until the
    /// [backoff](Self::backoff) gives up after 60 s. There is no event while it tries, and an editor that comes back on
    /// another port is not found. Default true: the real client does so (measured). A first attempt that fails is not
    /// repeated.
    pub reconnects: bool,
    /// The times at which the agent tries again.
    pub backoff: Backoff,
    /// The time for connecting the socket, at each attempt. Default 30 s, as in the real client.
    pub connect_timeout: Duration,
    /// The process id to send to the editor, which then shows that an agent is attached. Default: this
    /// process.
    pub pid: Option<u32>,
    /// The folders in which the agent works. Default none: they are not declared.
    pub roots: Option<Vec<Root>>,
    /// True if the agent shows forms to its person
    /// ([`ClientEvent::Form`](ide_mcp::ide::ClientEvent::Form)). Default false.
    pub elicitation: bool,
}

impl AgentOptions {
    /// Creates the settings of an agent with this name and version, for the editor that has the working
    /// directory open.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            info: Implementation::new(name, version),
            search: EditorSearch::default(),
            target: None,
            trust: Trust::default(),
            reconnects: true,
            backoff: Backoff::default(),
            connect_timeout: Duration::from_secs(30),
            pid: Some(process::id()),
            roots: None,
            elicitation: false,
        }
    }

    /// Sets the directory that the editor has open.
    #[must_use]
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.search.cwd = Some(dir.into());
        self
    }

    /// Sets the port of the editor. The directory does not decide then.
    #[must_use]
    pub const fn port(mut self, port: u16) -> Self {
        self.search.port = Some(port);
        self
    }

    /// Sets the lock file of the editor. Nothing else decides then.
    #[must_use]
    pub fn lock_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.search.lock_file = Some(path.into());
        self
    }

    /// Permits an editor whose process does not run here, because it runs in another container
    /// ([`EditorSearch::permits_dead_process`]).
    #[must_use]
    pub const fn permit_dead_process(mut self) -> Self {
        self.search.permits_dead_process = true;
        self
    }
}
