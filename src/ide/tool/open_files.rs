//! `open_files`: shows several files.

use super::ToolDef;
use super::answer::{Shape, read_json, shown};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::mcp::ToolResult;
use alloc::{string::String, vec::Vec};
use serde::{Deserialize, Serialize};

arguments! {
    /// `open_files`, of JetBrains: shows several files. Answer: [`OpenedFiles`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct OpenFiles {
        /// The paths of the files.
        pub file_paths: Vec<String> = texts["file_paths", "filePaths", "paths"] "Paths of the files",
    }
}

impl ToolDef for OpenFiles {
    const NAME: &'static str = "open_files";
    const DESCRIPTION: &'static str = "Open several files in the editor";
    const OTHER_NAMES: &'static [&'static str] = &["openFiles"];
}

impl OpenFiles {
    /// Creates the arguments for these files.
    #[must_use]
    pub const fn new(file_paths: Vec<String>) -> Self {
        Self { file_paths }
    }
}

/// What `open_files` answers: the files that were opened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct OpenedFiles {
    /// The paths of the opened files.
    pub opened_files: Vec<String>,
}

impl Shape for OpenedFiles {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        let written = |path: &String| dialect.path(path).into_owned();
        ToolResult::json(&Self { opened_files: self.opened_files.iter().map(written).collect() })
    }

    /// Returns the paths of the files that are not hidden.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        shown(&self.opened_files, |path| hides(path)).map(|opened_files| Self { opened_files })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read_json(result)
    }
}
