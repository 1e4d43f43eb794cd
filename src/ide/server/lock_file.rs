//! What happens to the lock file of an editor.

use alloc::string::String;

/// What happened to the lock file of your editor. Show it to the person: without the file no agent finds the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileEvent {
    /// The file is gone. The guard is restoring it.
    Lost,
    /// The file is back.
    Restored,
    /// Another file has the name of the lock file. The guard left it alone.
    Taken,
    /// The guard could not check, restore, change or remove the file. It will try again.
    Failed {
        /// The error, as text.
        error: String,
    },
}
