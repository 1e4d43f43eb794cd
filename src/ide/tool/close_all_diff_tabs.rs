//! `closeAllDiffTabs`: ends every diff of a client.

use super::ToolDef;
use super::answer::{Shape, first_text};
use super::arguments::arguments;
use crate::ide::Dialect;
use crate::mcp::ToolResult;
use crate::rpc::from_json;
use alloc::format;
use serde::Deserialize;

arguments! {
    /// `closeAllDiffTabs`: closes all diffs of this client. [`Server`](crate::ide::Server) ends them and answers for
    /// you. Answer: [`ClosedDiffTabs`].
    pub struct CloseAllDiffTabs;
}

impl ToolDef for CloseAllDiffTabs {
    const NAME: &'static str = "closeAllDiffTabs";
    const DESCRIPTION: &'static str = "Close all diffs that this client has opened";
    const SNAKE_NAME: &'static str = "close_all_diff_tabs";
    const IS_BUILT_IN: bool = true;
}

/// What `closeAllDiffTabs` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the answer of every client and editor has this one part")]
pub struct ClosedDiffTabs {
    /// How many diffs were open.
    pub count: usize,
}

impl Shape for ClosedDiffTabs {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::text(format!("CLOSED_{}_DIFF_TABS", self.count))
    }

    /// Also reads what other editors answer: a bare number, and `{"closed":1}`.
    fn read(result: &ToolResult<'_>) -> Option<Self> {
        #[derive(Deserialize)]
        struct Closed {
            closed: usize,
        }
        let text = first_text(result)?;
        let count = text.strip_prefix("CLOSED_").and_then(|text| text.strip_suffix("_DIFF_TABS"));
        let count = count.unwrap_or(text).parse().ok().or_else(|| {
            let Closed { closed } = from_json(text).ok()?;
            Some(closed)
        })?;
        Some(Self { count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_every_form() {
        for (text, count) in
            [("CLOSED_12_DIFF_TABS", Some(12)), ("0", Some(0)), (r#"{"closed":3}"#, Some(3)), ("OK", None)]
        {
            assert_eq!(
                ClosedDiffTabs::read(&ToolResult::text(text)).map(|closed| closed.count),
                count,
                "{text}"
            );
        }
    }
}
