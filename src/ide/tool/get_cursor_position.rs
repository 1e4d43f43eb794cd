//! `get_cursor_position`: the position of the cursor.

use super::ToolDef;
use super::answer::{Shape, read_json};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::kit::Position;
use crate::mcp::ToolResult;
use alloc::string::String;
use serde::{Deserialize, Serialize};

arguments! {
    /// `get_cursor_position`, of a decompiled plugin: asks for the position of the cursor. Answer:
    /// [`CursorPosition`].
    pub struct GetCursorPosition;
}

impl ToolDef for GetCursorPosition {
    const NAME: &'static str = "get_cursor_position";
    const DESCRIPTION: &'static str = "Get the place of the cursor, line and column from 0";
    const OTHER_NAMES: &'static [&'static str] = &["getCursorPosition"];
    const IS_READ_ONLY: bool = true;
}

/// What `get_cursor_position` answers.
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
    /// Creates the answer for a cursor at this position.
    #[must_use]
    pub fn new(file_path: impl Into<String>, position: Position) -> Self {
        Self { file_path: file_path.into(), line: position.line, column: position.character }
    }
}

impl Shape for CursorPosition {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        let file_path = dialect.path(&self.file_path).into_owned();
        ToolResult::json(&Self { file_path, ..self.clone() })
    }

    /// If the file is hidden, the answer has an empty path, line 0 and column 0.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        hides(&self.file_path).then(Self::default)
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read_json(result)
    }
}
