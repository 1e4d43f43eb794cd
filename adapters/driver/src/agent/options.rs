//! The settings of an agent.

use super::Trust;
use ide_mcp::ide::discovery::Backoff;
use ide_mcp::mcp::{Implementation, Root};
use ide_mcp_lockfile::EditorSearch;
use std::path::PathBuf;
use std::process;
use std::time::Duration;

/// Which editor an agent looks for, and how it introduces itself.
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
    /// The agent's name and version, which the editor can show.
    pub info: Implementation,
    /// How to find the editor. By default, the one that has the working directory open.
    pub search: EditorSearch,
    /// The request target of the opening handshake, see
    /// [`ClientConfig::target`](ide_mcp::ide::ClientConfig::target). With `None`, the default, the agent asks
    /// for `/` as the real client does (measured), and tries `/mcp` if the editor answers 404, because two
    /// descriptions of the protocol use `/mcp`.
    pub target: Option<String>,
    /// Which servers get the token. By default, those of our own user.
    pub trust: Trust,
    /// Whether the agent attaches again when it loses its editor. It tries the same port, without an event,
    /// until the [backoff](Self::backoff) gives up after 60 s; it does not find an editor that comes back on
    /// another port. A failed first attempt is never repeated. On by default, as in the real client
    /// (measured).
    pub reconnects: bool,
    /// How long to wait between attempts.
    pub backoff: Backoff,
    /// How long each attempt may take to connect its socket. Default 30 s, as in the real client.
    pub connect_timeout: Duration,
    /// The process id to tell the editor, so that it can show which agent is attached. By default, this
    /// process.
    pub pid: Option<u32>,
    /// The folders in which the agent works, for editors that ask (`roots/list`). With `None`, the default,
    /// the agent does not declare the capability `roots`.
    pub roots: Option<Vec<Root>>,
    /// Set this if the agent can show forms ([`ClientEvent::Form`](ide_mcp::ide::ClientEvent::Form)). Default
    /// false.
    pub elicitation: bool,
}

impl AgentOptions {
    /// Describes an agent with this name and version that attaches to the editor of the working directory.
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

    /// Looks for the editor that has this directory open, instead of the working directory.
    #[must_use]
    pub fn cwd(mut self, dir: impl Into<PathBuf>) -> Self {
        self.search.cwd = Some(dir.into());
        self
    }

    /// Looks for the editor on this port, whatever folders it has open.
    #[must_use]
    pub const fn port(mut self, port: u16) -> Self {
        self.search.port = Some(port);
        self
    }

    /// Takes the editor of this lock file, and looks no further.
    #[must_use]
    pub fn lock_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.search.lock_file = Some(path.into());
        self
    }

    /// Accepts an editor whose process does not seem to run, because it runs in another container
    /// ([`EditorSearch::permits_dead_process`]).
    #[must_use]
    pub const fn permit_dead_process(mut self) -> Self {
        self.search.permits_dead_process = true;
        self
    }
}
