//! The way in which a server guards its lock file.

use ide_mcp_lockfile::GuardMode;
use std::fmt;
use std::sync::Arc;

/// The place where the guard of a lock file runs, and the occasions at which it looks for the file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Guarding {
    /// A guard in the loop of the server. A turn waits for the disk when the guard looks for the
    /// file. With notifications of the system, it looks at the start and after each change of the
    /// file or its directory; otherwise it looks at every interval.
    InLoop(GuardMode),
    /// A guard on a thread that the server starts, owns and ends, so that no turn waits for the disk.
    OnThread(GuardMode, Wake),
}

/// The function that wakes the loop of the application when the thread of a guard has an event.
#[derive(Clone)]
pub struct Wake(pub(super) Arc<dyn Fn() + Send + Sync>);

impl Wake {
    /// Creates a `Wake` from a function that the thread of the guard calls.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wake))
    }
}

impl fmt::Debug for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wake(..)")
    }
}
