//! The answers of tools as they are on the wire.

use crate::ide::tool::Answer;
use crate::ide::{Dialect, FromResult, RequestError};
use crate::mcp::ToolResult;
use serde_json::value::RawValue;

/// Returns an answer as an editor of this dialect writes it.
///
/// ```
/// use ide_mcp::ide::Dialect;
/// use ide_mcp::ide::tool::DiffOutcome;
/// use ide_mcp::testing::written_answer;
///
/// let accepted = DiffOutcome::Accepted { contents: "new".into() };
/// let result = written_answer(&accepted, Dialect::VsCode);
/// assert!(result.texts().eq(["FILE_SAVED", "new"]));
/// ```
pub fn written_answer<A: Answer>(answer: &A, dialect: Dialect) -> ToolResult<'_> {
    answer.result(dialect)
}

/// Reads the result of a request as an agent does, whichever dialect it is written in.
///
/// # Errors
///
/// As for [`Pending::answer`](crate::ide::Pending::answer): the tool failed, or the result is not one of this tool.
pub fn read_answer<A: FromResult>(result: &RawValue) -> Result<A, RequestError> {
    A::from_result(result)
}
