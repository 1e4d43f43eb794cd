//! `close_tab`: closes a tab, usually the tab of a diff.

use super::ToolDef;
use super::answer::{Shape, first_text};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::ide::dialect::Wording;
use crate::mcp::ToolResult;
use alloc::string::String;

arguments! {
    /// `close_tab`: closes a tab. If it is the tab of an open diff, [`Server`](crate::ide::Server) ends the diff and
    /// answers for you. You get the call for any other tab if you handle
    /// [`Tool::CloseTab`](crate::ide::tool::Tool::CloseTab). Answer: [`TabClosed`].
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct CloseTab {
        /// The name of the tab, as `openDiff` gave it, or a path.
        pub tab_name: String = required["tab_name", "tabName", "path"] "Name of the tab",
    }
}

impl ToolDef for CloseTab {
    const NAME: &'static str = "close_tab";
    const DESCRIPTION: &'static str = "Close the tab with this name";
    const OTHER_NAMES: &'static [&'static str] = &["closeTab"];
    const IS_BUILT_IN: bool = true;
}

impl CloseTab {
    /// Creates the arguments for the tab with this name.
    #[must_use]
    pub fn new(tab_name: impl Into<String>) -> Self {
        Self { tab_name: tab_name.into() }
    }
}

/// What `close_tab` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct TabClosed {
    /// True if the tab was open. In the dialects of VS Code and Obsidian this makes no difference: the client closes
    /// each tab twice, so the second call finds none.
    pub found: bool,
}

impl Shape for TabClosed {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        ToolResult::text(match (dialect.rules().wording, self.found) {
            (Wording::VsCode, _) => "TAB_CLOSED",
            (Wording::JetBrains, true) => "OK",
            (Wording::JetBrains, false) => "Tab not found",
        })
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        first_text(result).map(|text| Self { found: text != "Tab not found" })
    }
}
