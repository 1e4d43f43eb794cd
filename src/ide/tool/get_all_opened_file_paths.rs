//! `get_all_opened_file_paths`: the paths of the open files.

use super::ToolDef;
use super::answer::{Shape, first_text, shown};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::mcp::ToolResult;
use alloc::{string::String, vec::Vec};

arguments! {
    /// `get_all_opened_file_paths`, of JetBrains: asks for the paths of the files that are open.
    /// Answer: [`FilePaths`].
    pub struct GetAllOpenedFilePaths;
}

impl ToolDef for GetAllOpenedFilePaths {
    const NAME: &'static str = "get_all_opened_file_paths";
    const DESCRIPTION: &'static str = "Get the paths of all open files";
    const SNAKE_NAME: &'static str = "list_opened_files";
    const OTHER_NAMES: &'static [&'static str] = &["getAllOpenedFilePaths"];
    const IS_READ_ONLY: bool = true;
}

/// What `get_all_opened_file_paths` answers: absolute paths, one on each line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct FilePaths {
    /// The paths of the open files.
    pub paths: Vec<String>,
}

impl Shape for FilePaths {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        let paths: Vec<_> = self.paths.iter().map(|path| dialect.path(path)).collect();
        ToolResult::text(paths.join("\n"))
    }

    /// Returns the paths of the files that are not hidden.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        shown(&self.paths, |path| hides(path)).map(|paths| Self { paths })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let lines = first_text(result)?.lines().filter(|line| !line.is_empty());
        Some(Self { paths: lines.map(String::from).collect() })
    }
}
