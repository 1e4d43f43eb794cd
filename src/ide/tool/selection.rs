//! The selection and the cursor, asked for instead of told.

use super::{Answer, read_json};
use crate::ide::arguments::arguments;
use crate::ide::{ContentLimits, Dialect, Position, Range, Selection};
use crate::mcp::{Content, ToolResult};
use alloc::{format, string::String};
use serde::{Deserialize, Serialize};

/// The answer of `getCurrentSelection`: what is selected, or the cursor; `None` if no editor has the focus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is a selection or there is none")]
pub struct CurrentSelection(pub Option<Selection>);

/// The answer of `getLatestSelection`: what was selected last; `None` if nothing was yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is a selection or there is none")]
pub struct LatestSelection(pub Option<Selection>);

impl Answer for CurrentSelection {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    /// The text is cut at [`ContentLimits::selection`], between two characters; a second block says how much is missing.
    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(self.0.as_ref(), "No active editor found", dialect, limits)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read(result).map(Self)
    }
}

impl Answer for LatestSelection {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    /// The text is cut at [`ContentLimits::selection`], between two characters; a second block says how much is missing.
    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(self.0.as_ref(), "No selection available", dialect, limits)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read(result).map(Self)
    }
}

fn written(
    selection: Option<&Selection>,
    none: &str,
    dialect: Dialect,
    limits: &ContentLimits,
) -> ToolResult<'static> {
    #[derive(Serialize)]
    struct Without<'a> {
        success: bool,
        message: &'a str,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct With<'a> {
        success: bool,
        text: &'a str,
        file_path: &'a str,
        selection: crate::ide::context::RangeOut,
    }
    #[derive(Serialize)]
    struct Ranged<'a> {
        file_path: &'a str,
        text: &'a str,
        range: Range,
    }
    let Some(Selection { text, file_path, range, .. }) = selection else {
        return ToolResult::json(&Without { success: false, message: none });
    };
    let shown = crate::text::truncate(text, limits.selection);
    let missing = text.len().saturating_sub(shown.len());
    let text = shown;
    let mut result = if dialect.rules().snake_case {
        ToolResult::json(&Ranged { file_path, text, range: *range })
    } else {
        ToolResult::json(&With { success: true, text, file_path, selection: (*range).into() })
    };
    if missing > 0 {
        result.content.push(Content::text(format!("{missing} more bytes are not shown")));
    }
    result
}

fn read(result: &ToolResult<'_>) -> Option<Option<Selection>> {
    #[derive(Deserialize)]
    struct Said {
        success: Option<bool>,
    }
    let said: Said = read_json(result)?;
    if said.success == Some(false) {
        return Some(None);
    }
    // A selection is in a file; some say without `success` that there is none.
    let selection: Selection = read_json(result)?;
    Some(Some(selection).filter(|selection| !selection.file_path.is_empty()))
}

/// The answer of `get_cursor_position`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CursorPosition {
    /// The path of the file that has the focus.
    #[serde(alias = "filePath")]
    pub file_path: String,
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0, in UTF-16 code units.
    #[serde(alias = "character")]
    pub column: u32,
}

impl CursorPosition {
    /// The cursor is there.
    #[must_use]
    pub fn new(file_path: impl Into<String>, position: Position) -> Self {
        Self { file_path: file_path.into(), line: position.line, column: position.character }
    }
}

impl Answer for CursorPosition {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::json(self)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read_json(result)
    }
}

arguments! {
    /// The arguments of `set_cursor_position`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SetCursorPosition {
        /// The path of the file; `None`: the one that has the focus.
        pub file_path: Option<String> = optional["filePath", "file_path", "path", "uri"],
        /// The line, from 0.
        pub line: u32 = count["line"],
        /// The column, from 0, in UTF-16 code units.
        pub column: u32 = count["column", "character"],
    }
}

impl SetCursorPosition {
    /// Moves the cursor there, in the file that has the focus.
    #[must_use]
    pub const fn new(position: Position) -> Self {
        Self { file_path: None, line: position.line, column: position.character }
    }

    /// Where to.
    #[must_use]
    pub const fn position(&self) -> Position {
        Position::new(self.line, self.column)
    }
}

arguments! {
    /// The arguments of `set_selection`.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SetSelection {
        /// The path of the file; `None`: the one that has the focus.
        pub file_path: Option<String> = optional["filePath", "file_path", "path", "uri"],
        /// What to select.
        pub range: Range = range["range", "selection"],
    }
}

impl SetSelection {
    /// Selects this, in the file that has the focus.
    #[must_use]
    pub const fn new(range: Range) -> Self {
        Self { file_path: None, range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_selections_are_cut_between_characters() {
        let max = ContentLimits::default().selection;
        let cases = [
            ("at the limit", "x".repeat(max), max, None),
            ("above", "x".repeat(max + 1), max, Some("1 more bytes are not shown")),
            ("within a character", "é".repeat(max / 2) + "é", max, Some("2 more bytes are not shown")),
            ("before the limit", "x".repeat(max - 1) + "é", max - 1, Some("2 more bytes are not shown")),
        ];
        for (name, text, len, note) in cases {
            let selection = CurrentSelection(Some(Selection::new("/a", Range::default(), text)));
            for dialect in Dialect::ALL {
                let result = selection.result(dialect);
                assert_eq!(result.texts().nth(1), note, "{name} {dialect:?}");
                let read = CurrentSelection::read(&result).unwrap().0.unwrap();
                assert_eq!(read.text.len(), len, "{name} {dialect:?}");
                let wider = ContentLimits { selection: usize::MAX, ..ContentLimits::default() };
                assert_eq!(selection.result_within(dialect, &wider).texts().nth(1), None, "{name}");
            }
        }
    }
}
