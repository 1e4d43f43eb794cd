//! `getLatestSelection`: the last selection.

use super::ToolDef;
use super::answer::Shape;
use super::arguments::arguments;
use super::selection_answer::{read, written};
use crate::ide::{ContentLimits, Dialect, Selection};
use crate::mcp::ToolResult;

arguments! {
    /// `getLatestSelection`: asks for the last selection, even if the editor has lost the focus.
    /// Answer: [`LatestSelection`].
    pub struct GetLatestSelection;
}

impl ToolDef for GetLatestSelection {
    const NAME: &'static str = "getLatestSelection";
    const DESCRIPTION: &'static str = "Get what was selected last, even if the editor has lost the focus";
    const SNAKE_NAME: &'static str = "get_latest_selection";
    const IS_READ_ONLY: bool = true;
}

/// What `getLatestSelection` answers: the last selection; `None` if there was none yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is a selection or there is none")]
pub struct LatestSelection(pub Option<Selection>);

impl Shape for LatestSelection {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    /// Cuts the text at [`ContentLimits::selection`], between two characters. A second block says how many bytes are
    /// missing.
    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(self.0.as_ref(), "No selection available", dialect, limits)
    }

    /// If the file is hidden, the answer says that there is no selection.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        self.0.as_ref().is_some_and(|selection| selection.is_hidden(hides)).then_some(Self(None))
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read(result).map(Self)
    }
}
