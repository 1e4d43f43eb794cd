//! `get_all_opened_file_paths`: which files are open.

use super::answer::{Answer, first_text, owned};
use super::{Declaration, ToolDef};
use crate::ide::Dialect;
use crate::ide::arguments::{Described, arguments};
use crate::mcp::ToolResult;
use alloc::{string::String, vec::Vec};

arguments! {
    /// `get_all_opened_file_paths`, of JetBrains: asks for the paths of the files that are open. Answer: [`FilePaths`].
    pub struct GetAllOpenedFilePaths;
}

impl ToolDef for GetAllOpenedFilePaths {
    const DECLARATION: Declaration = Declaration {
        snake_name: "list_opened_files",
        other_names: &["getAllOpenedFilePaths"],
        ..Declaration::new("get_all_opened_file_paths", "Get the paths of all open files", Self::ARGUMENTS)
    };
}

/// The answer of `get_all_opened_file_paths`: absolute paths, one a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FilePaths {
    /// The paths.
    pub paths: Vec<String>,
}

impl FilePaths {
    /// These files are open.
    #[must_use]
    pub const fn new(paths: Vec<String>) -> Self {
        Self { paths }
    }
}

impl Answer for FilePaths {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::text(self.paths.join("\n"))
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        let lines = first_text(result)?.lines().filter(|line| !line.is_empty());
        Some(Self { paths: lines.map(owned).collect() })
    }
}
