//! What becomes of the lock file of an editor.

use alloc::string::String;

/// A change of the lock file of an editor, to show to a person: without the lock file no agent finds
/// the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileEvent {
    /// The file is gone, and the guard is restoring it.
    Lost,
    /// The file exists again.
    Restored,
    /// Another file has the name of the lock file. The guard left that file alone.
    Taken,
    /// The guard could not check, restore, change or remove the file. The guard tries again.
    Failed {
        /// The error, as text.
        error: String,
    },
}
