//! The search for the editor, with the options of the programs in its errors.

use ide_mcp_lockfile::{EditorSearch, FoundEditor, NoEditor, NoEditorReason, WorkingDir};
use std::io;
use std::path::Path;

/// Finds the editor by its lock file, without connecting to it.
///
/// # Errors
/// The reason for a person, in several lines.
pub(crate) fn editor(search: &EditorSearch) -> Result<FoundEditor, String> {
    search.find().map_err(|none| with_options(&none))
}

/// Resolves the directory of `--cwd`, or the working directory.
///
/// # Errors
/// The errors of [`WorkingDir::of`], which name the option.
pub(crate) fn working_dir(cwd: Option<&Path>) -> io::Result<WorkingDir> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("--cwd: {error}"));
    WorkingDir::of(cwd).map_err(|error| if cwd.is_some() { named(error) } else { error })
}

/// Returns the text of the error, with the options that help.
pub(crate) fn with_options(none: &NoEditor) -> String {
    use NoEditorReason::{AutoConnectOff, DeadProcess, NoFileForPort, NoneFits, SeveralFit};
    let reason = &none.reason;
    let mut text = none.to_string();
    if let NoEditorReason::WorkingDir(error) = reason {
        text = format!("--cwd: {error}");
    } else if matches!(reason, SeveralFit { .. } | AutoConnectOff { .. }) {
        text.push_str("\n  choose an editor with --port PORT");
    } else if matches!(reason, NoneFits { .. }) && !none.refused.is_empty() {
        text.push_str("\n  use --cwd DIR for an editor that has another directory open");
    } else if matches!(reason, DeadProcess { .. }) {
        text.push_str("\n  --dead-process permits it");
    }
    if matches!(reason, NoneFits { .. } | NoFileForPort { .. } | DeadProcess { .. }) {
        text.push_str("\n  `ide-mcp doctor` finds the reason and the remedy");
    }
    text
}
