//! `reformat_file`: formats a file.

use super::ToolDef;
use super::answer::{Shape, first_text};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::dialect::Wording;
use crate::mcp::ToolResult;
use alloc::string::String;

arguments! {
    /// `reformat_file`, of JetBrains: formats a file. Answer: [`Reformatted`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ReformatFile {
        /// The path of the file, or its `file:` URI.
        pub file_path: String = required["file_path", "filePath", "path", "uri", "documentUri"] "Path of the file",
    }
}

impl ToolDef for ReformatFile {
    const NAME: &'static str = "reformat_file";
    const DESCRIPTION: &'static str = "Format a file with the formatter of the editor";
    const OTHER_NAMES: &'static [&'static str] = &["reformatFile"];

    fn file(&self) -> Option<&str> {
        Some(&self.file_path)
    }
}

impl ReformatFile {
    /// Creates the arguments for this file.
    #[must_use]
    pub fn new(file_path: impl Into<String>) -> Self {
        Self { file_path: file_path.into() }
    }
}

/// What `reformat_file` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct Reformatted {
    /// True if the file exists.
    pub found: bool,
}

impl Shape for Reformatted {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        match (self.found, dialect.rules().wording) {
            (true, _) => ToolResult::text("OK"),
            (false, Wording::JetBrains) => ToolResult::text("File not found"),
            (false, Wording::VsCode) => ToolResult::error("File not found"),
        }
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        first_text(result).map(|text| Self { found: text != "File not found" })
    }
}
