//! Answers that come as text, from an application that has no types: what is read has to be all that is said.

use super::Answer;
use crate::ide::{ContentLimits, Dialect};
use crate::mcp::{Content, ToolResult};
use serde_json::Value;

/// Reads an answer from a result in any dialect, and leaves nothing of the result out: each text is one that the answer has
/// in that dialect, and JSON has no member that the answer does not have. An agent reads more tolerantly.
pub(super) fn read_exactly<A: Answer>(result: &ToolResult<'_>) -> Option<A> {
    let answer = A::read(result)?;
    let limits = ContentLimits { selection: usize::MAX, diagnostics: usize::MAX };
    let says_all = |dialect: Dialect| {
        let written = answer.result_within(dialect, &limits);
        written.content.len() == result.content.len()
            && result.content.iter().zip(&written.content).all(|(said, written)| is_said(said, written))
    };
    Dialect::ALL.into_iter().any(says_all).then_some(answer)
}

/// Returns true if a block says nothing that the other block does not say.
fn is_said(said: &Content<'_>, written: &Content<'_>) -> bool {
    match (said, written) {
        (Content::Text(said), Content::Text(written)) => said == written || is_within(said, written),
        (Content::Raw(said), Content::Raw(written)) => is_within(said.get(), written.get()),
        (Content::Text(_), Content::Raw(_)) | (Content::Raw(_), Content::Text(_)) => false,
    }
}

/// Returns true if both texts are JSON, and every member of the first is in the second.
fn is_within(said: &str, written: &str) -> bool {
    match (serde_json::from_str(said), serde_json::from_str(written)) {
        (Ok(said), Ok(written)) => is_part(&said, &written),
        _ => false,
    }
}

fn is_part(said: &Value, written: &Value) -> bool {
    match (said, written) {
        (Value::Object(said), Value::Object(written)) => said.iter().all(|(name, said)| {
            written.get(name).map_or_else(|| said.is_null(), |written| is_part(said, written))
        }),
        (Value::Array(said), Value::Array(written)) => {
            said.len() == written.len()
                && said.iter().zip(written).all(|(said, written)| is_part(said, written))
        }
        (said, written) => said == written,
    }
}
