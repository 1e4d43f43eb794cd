//! What every answer of a tool can do.

use crate::ide::Dialect;
use crate::mcp::ToolResult;
use alloc::{borrow::Cow, format};
use serde::Serialize;

/// The typed answer of a tool.
///
/// An editor gives it to [`Server::answer`](crate::ide::Server::answer), which knows the dialect, or to a
/// [`Host`](crate::ide::Host) as `host.respond(call, &answer.result(dialect))`. An agent reads it from what came.
pub trait Answer: Sized {
    /// The result, in the exact shape of this dialect.
    fn result(&self, dialect: Dialect) -> ToolResult<'_>;

    /// Reads a result, in the shape of any dialect. `None` for a failure, and for what does not say what this answer
    /// says.
    #[must_use]
    fn read(result: &ToolResult<'_>) -> Option<Self>;
}

/// It is done, and there is nothing to say: `OK`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "it says nothing else")]
pub struct Done;

impl Answer for Done {
    fn result(&self, _: Dialect) -> ToolResult<'_> {
        ToolResult::text("OK")
    }

    fn read(result: &ToolResult<'_>) -> Option<Self> {
        (!result.is_error).then_some(Self)
    }
}

impl ToolResult<'_> {
    /// One block of text that holds a value as JSON: the form in which most tools answer. A value that is no JSON (a
    /// map with keys that are no strings) makes an error result.
    #[must_use]
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Self {
        match serde_json::to_string(value) {
            Ok(text) => Self::text(Cow::Owned(text)),
            Err(error) => Self::error(format!("the answer is no JSON: {error}")),
        }
    }
}
