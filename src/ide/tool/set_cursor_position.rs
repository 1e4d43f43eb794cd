//! `set_cursor_position`: moves the cursor.

use super::ToolDef;
use super::arguments::arguments;
use crate::ide::kit::Position;
use alloc::string::String;

arguments! {
    /// `set_cursor_position`, of a decompiled plugin: moves the cursor. Answer: [`Done`](crate::ide::tool::Done).
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct SetCursorPosition {
        /// The path of the file; `None` for the file that has the focus.
        pub file_path: Option<String> = optional["filePath", "file_path", "path", "uri"]
            "Path of the file; without it, the one that has the focus",
        /// The line, from 0.
        pub line: u32 = count["line"] "Line, from 0",
        /// The column, from 0, in UTF-16 code units.
        pub column: u32 = count["column", "character"] "Column, from 0",
    }
}

impl ToolDef for SetCursorPosition {
    const NAME: &'static str = "set_cursor_position";
    const DESCRIPTION: &'static str = "Move the cursor";
    const OTHER_NAMES: &'static [&'static str] = &["setCursorPosition"];

    fn file(&self) -> Option<&str> {
        self.file_path.as_deref()
    }
}

impl SetCursorPosition {
    /// Moves the cursor to this position, in the file that has the focus.
    #[must_use]
    pub const fn new(position: Position) -> Self {
        Self { file_path: None, line: position.line, column: position.character }
    }

    /// Returns where the cursor should go.
    #[must_use]
    pub const fn position(&self) -> Position {
        Position::new(self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_is_that_of_the_arguments() {
        let position = Position::new(3, 4);
        assert_eq!(SetCursorPosition::new(position).position(), position);
    }
}
