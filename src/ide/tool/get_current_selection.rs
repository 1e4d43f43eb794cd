//! `getCurrentSelection`: the selection in the editor that has the focus.

use super::ToolDef;
use super::answer::Shape;
use super::arguments::arguments;
use super::selection_answer::{read, written};
use crate::ide::{ContentLimits, Dialect, Selection};
use crate::mcp::ToolResult;

arguments! {
    /// `getCurrentSelection`: asks for the selection in the editor that has the focus. Answer: [`CurrentSelection`].
    pub struct GetCurrentSelection;
}

impl ToolDef for GetCurrentSelection {
    const NAME: &'static str = "getCurrentSelection";
    const DESCRIPTION: &'static str = "Get what is selected in the editor that has the focus";
    const SNAKE_NAME: &'static str = "get_selection";
    const RESOURCE: Option<&'static str> = Some("ide://selection");
    const OTHER_NAMES: &'static [&'static str] = &["get_current_selection"];
    const IS_READ_ONLY: bool = true;
}

/// What `getCurrentSelection` answers: the selection or the cursor; `None` if no editor has the focus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is a selection or there is none")]
pub struct CurrentSelection(pub Option<Selection>);

impl Shape for CurrentSelection {
    fn result(&self, dialect: Dialect) -> ToolResult<'_> {
        self.result_within(dialect, &ContentLimits::default())
    }

    /// Cuts the text at [`ContentLimits::selection`], between two characters. A second block says how many bytes are
    /// missing.
    fn result_within(&self, dialect: Dialect, limits: &ContentLimits) -> ToolResult<'_> {
        written(self.0.as_ref(), "No active editor found", dialect, limits)
    }

    /// If the file is hidden, the answer says that no editor has the focus.
    fn without_hidden(&self, hides: &dyn Fn(&str) -> bool) -> Option<Self> {
        self.0.as_ref().is_some_and(|selection| selection.is_hidden(hides)).then_some(Self(None))
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        read(result).map(Self)
    }
}
