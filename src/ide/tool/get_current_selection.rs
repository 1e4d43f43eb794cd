//! `getCurrentSelection`: the selection, where an editor has the focus.

use super::answer::Answer;
use super::selection_answer::{read, written};
use super::{Declaration, ToolDef};
use crate::ide::arguments::{Described, arguments};
use crate::ide::{ContentLimits, Dialect, Selection};
use crate::mcp::ToolResult;

arguments! {
    /// `getCurrentSelection`: asks for the selection of the editor that has the focus. Answer: [`CurrentSelection`].
    pub struct GetCurrentSelection;
}

impl ToolDef for GetCurrentSelection {
    const DECLARATION: Declaration = Declaration {
        snake_name: "get_selection",
        other_names: &["get_current_selection"],
        ..Declaration::new(
            "getCurrentSelection",
            "Get what is selected in the editor that has the focus",
            Self::ARGUMENTS,
        )
    };
}

/// The answer of `getCurrentSelection`: what is selected, or the cursor; `None` if no editor has the focus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "there is a selection or there is none")]
pub struct CurrentSelection(pub Option<Selection>);

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
