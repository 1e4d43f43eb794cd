//! The commands of a headless editor: one JSON object a line.

use ide_mcp::ide::{Position, Range};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Command {
    /// Shows a file.
    Open { path: String },
    /// Selects a part of a file.
    Select { path: String, start: Place, end: Place },
    /// Puts a file, or lines of it, into a prompt.
    Mention { path: String, lines: Option<(u32, u32)>, conn: Option<u32> },
    /// Decides a proposed change.
    Answer { tab: String, verdict: Verdict, contents: Option<String>, conn: Option<u32> },
    /// Ends the editor.
    Quit,
}

/// A line and a UTF-16 column, both from 0.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Place(u32, u32);

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Accept,
    Reject,
}

impl Command {
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|error| format!("this is no command: {error}"))
    }
}

/// From one place to another, in either order: whoever selects backwards selects the same.
pub(crate) fn range(start: Place, end: Place) -> Range {
    let (start, end) = (Position::new(start.0, start.1), Position::new(end.0, end.1));
    Range::new(start.min(end), start.max(end))
}
