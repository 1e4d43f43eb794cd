//! What the model asks of the application.

use crate::editor::diffs::Verdict;
use ide_mcp::rpc::CallId;
use std::path::PathBuf;

/// Work that the model cannot do itself and asks the application for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Open(PathBuf),
    /// Opens a file by its name. Without such a file, it is a new one.
    OpenNamed(String),
    /// Asks the user at an agent.
    AskAgent(String),
    /// Writes the shown file under another name, and over an existing file only if `overwrite` is true.
    SaveAs {
        name: String,
        overwrite: bool,
    },
    /// Lists the folders again.
    Refresh,
    Save,
    Reload,
    /// Mentions this file, or the shown file.
    Mention(Option<PathBuf>),
    /// Accepts the shown proposal without the rejected changes, or rejects all of it.
    Decide(Verdict),
    UndoEdit(CallId),
    Redraw,
    /// Begins or ends a pause.
    Pause,
    /// Ends the editor after the saves in progress.
    Quit,
    /// Ends the editor, even if changes are lost.
    QuitAnyway,
}
