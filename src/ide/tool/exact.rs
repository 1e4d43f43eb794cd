//! Strict reading, for answers that an application gives as text instead of as a type: the typed answer must contain
//! everything in the text.

use super::Shape;
use crate::ide::{ContentLimits, Dialect};
use crate::mcp::{Content, ToolResult};
use serde_json::Value;

/// Reads an answer from a result in any dialect, if nothing in the result is lost. Each text of the result must be a
/// text of the answer in that dialect, and JSON in it must not have a member that the answer does not have. An agent
/// reads with [`Shape::read`], which is more tolerant.
pub(super) fn read_exactly<A: Shape>(result: &ToolResult<'_>) -> Option<A> {
    let answer = A::read(result)?;
    let limits = ContentLimits { selection: usize::MAX, diagnostics: usize::MAX };
    is_written(result, &|dialect| answer.result_within(dialect, &limits)).then_some(answer)
}

/// Returns true if `write` writes everything in the result, in one of the dialects.
fn is_written<'a>(result: &ToolResult<'_>, write: &dyn Fn(Dialect) -> ToolResult<'a>) -> bool {
    Dialect::ALL.into_iter().map(write).any(|written| {
        written.content.len() == result.content.len()
            && result.content.iter().zip(&written.content).all(|(given, written)| is_included(given, written))
    })
}

/// Returns true if everything in the first block is in the second.
fn is_included(given: &Content<'_>, written: &Content<'_>) -> bool {
    match (given, written) {
        (Content::Text(given), Content::Text(written)) => given == written || is_within(given, written),
        (Content::Raw(given), Content::Raw(written)) => is_within(given.get(), written.get()),
        (Content::Text(_), Content::Raw(_)) | (Content::Raw(_), Content::Text(_)) => false,
    }
}

/// Returns true if both strings are JSON, and every member of the first is null or in the second.
fn is_within(given: &str, written: &str) -> bool {
    match (serde_json::from_str(given), serde_json::from_str(written)) {
        (Ok(given), Ok(written)) => is_part(&given, &written),
        _ => false,
    }
}

fn is_part(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Object(given), Value::Object(written)) => given.iter().all(|(name, given)| {
            written.get(name).map_or_else(|| given.is_null(), |written| is_part(given, written))
        }),
        (Value::Array(given), Value::Array(written)) => {
            given.len() == written.len()
                && given.iter().zip(written).all(|(given, written)| is_part(given, written))
        }
        (given, written) => given == written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_answer_contains_all_that_was_given() {
        // The value that the application gave, the value that is written, and whether all of the first is in the
        // second.
        let rows = [
            ("an equal value", "[1]", "[1]", true),
            ("another value", "[1]", "[2]", false),
            ("a shorter list", "[1]", "[1,2]", false),
            ("a longer list", "[1,2]", "[1]", false),
            ("fewer members", r#"{"a":1}"#, r#"{"a":1,"b":2}"#, true),
            ("more members", r#"{"a":1,"b":2}"#, r#"{"a":1}"#, false),
            ("a null member", r#"{"a":1,"b":null}"#, r#"{"a":1}"#, true),
            ("members of members", r#"{"a":[{"b":1}]}"#, r#"{"a":[{"b":1,"c":2}]}"#, true),
            ("a string that is not JSON", "x", "x", false),
        ];
        for (name, given, written, expected) in rows {
            assert_eq!(is_within(given, written), expected, "{name}");
        }
    }
}
