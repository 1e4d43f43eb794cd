//! How a server guards its lock file.

use ide_mcp_lockfile::GuardMode;
use std::fmt;
use std::sync::Arc;

/// Where the guard of a lock file runs, and when it looks at the file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Guarding {
    /// In the loop of the server, where a turn waits for the disk whenever the guard looks at the file. If
    /// the system sends notifications, that is at the start and after each change of the file or its
    /// directory; otherwise at every interval.
    InLoop(GuardMode),
    /// On a thread that the server starts and ends, so that no turn waits for the disk.
    OnThread(GuardMode, Wake),
}

/// Wakes the loop of the application when the guard's thread has an event.
#[derive(Clone)]
pub struct Wake(pub(super) Arc<dyn Fn() + Send + Sync>);

impl Wake {
    /// Wraps a function that the guard's thread calls.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wake(..)")
    }
}
