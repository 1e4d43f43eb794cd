//! What the client has sent before its `initialize` is answered: its identity, and its messages so far.

use crate::bridge::attachment::Identity;
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::{Json, Message, SessionLimits, classify, code, from_json};
use ide_mcp::{Outbox, Time, To};
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use std::collections::VecDeque;
use std::iter;

/// How many lines the bridge takes while it attaches to the editor. A client that waits for the answer to
/// `initialize` sends none.
const LINES: usize = 256;

/// Once these lines have this many bytes together, the bridge stops reading. The limit is 1 MiB, as for the send buffer
/// to the editor (`MARK` in `run`), where they go next. The last line can exceed it, since a line can have up to 64 MiB.
const BYTES: usize = 1 << 20;

/// The messages of the client that wait for the editor.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) initialize: String,
    /// The lines after `initialize`.
    pub(crate) held: VecDeque<String>,
    /// The end, if no more lines will come.
    pub(crate) end: Option<End>,
}

/// The end of the input, or a signal.
#[derive(Debug, PartialEq)]
pub(crate) struct End {
    /// The time until which the bridge waits for the editor.
    pub(crate) until: Time,
    /// Why the input ended, if that is a failure by itself.
    pub(crate) failure: Option<String>,
}

impl Waiting {
    pub(crate) fn new(initialize: String) -> Self {
        Self { initialize, ..Self::default() }
    }

    /// Returns true if the bridge takes no more lines until the editor has accepted it.
    pub(crate) fn is_full(&self) -> bool {
        self.held.len() >= LINES || self.held.iter().map(String::len).sum::<usize>() >= BYTES
    }

    /// Sets the end. After the first call, the deadline can only move to an earlier time.
    pub(crate) fn end_at(&mut self, until: Time, failure: Option<String>) {
        let end = self.end.get_or_insert(End { until, failure });
        end.until = end.until.min(until);
    }

    /// Returns why the bridge ends, if the editor has missed the deadline.
    pub(crate) fn over(&self, now: Time) -> Option<String> {
        let end = self.end.as_ref().filter(|end| end.until <= now)?;
        let reason = "the bridge was told to end before the editor accepted it";
        Some(end.failure.clone().unwrap_or_else(|| reason.into()))
    }

    /// Answers every request with an error that has `reason` as its message, and every invalid request
    /// with its own error.
    pub(crate) fn refuse(self, reason: &str, out: &mut impl Outbox) {
        for line in iter::once(self.initialize).chain(self.held) {
            match classify(&line, &SessionLimits::default()) {
                Message::Batch(array) => {
                    let elements: Vec<&RawValue> = serde_json::from_str(array.get()).unwrap_or_default();
                    for element in elements {
                        refuse(classify(element.get(), &SessionLimits::default()), reason, out);
                    }
                }
                message => refuse(message, reason, out),
            }
        }
    }
}

/// Answers a message, if it is a request.
fn refuse(message: Message<'_>, reason: &str, out: &mut impl Outbox) {
    let (id, code, reason) = match message {
        Message::Request { id, .. } => (id, code::INTERNAL_ERROR, reason.to_owned()),
        Message::Invalid { answer: Some((id, code)), error } => (id, code, error.to_string()),
        _ => return,
    };
    let error = json!({ "code": code, "message": reason });
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, json!(id));
    // `Lines`, the outbox of the bridge, has room for every message.
    let _ = out.message(To::Answer(&id), |buf| buf.extend_from_slice(answer.as_bytes()));
}

/// Returns the name of this program, for a peer without a name.
pub(crate) fn itself() -> Implementation {
    Implementation::new("bridge", env!("CARGO_PKG_VERSION"))
}

/// Returns the identity of the client if this line is its `initialize`.
pub(crate) fn introduction(line: &str) -> Option<Identity> {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        client_info: Option<Json>,
        capabilities: Option<Json>,
    }
    let params = match classify(line, &SessionLimits::default()) {
        Message::Request { method, params, .. } if method == "initialize" => params,
        _ => return None,
    };
    let params: Params =
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let info = params.client_info.and_then(|info| from_json(info.get()).ok());
    let info = info.unwrap_or_else(itself);
    // An editor would reject capabilities that are not an object.
    let capabilities = params.capabilities.filter(|declared| declared.get().starts_with('{'));
    Some(Identity { info, capabilities })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn waiting_lines_are_limited() {
        let rows = [
            ("one line below", vec![0; LINES - 1], false),
            ("the limit of lines", vec![0; LINES], true),
            ("one byte below", vec![BYTES - 2, 1], false),
            ("the limit of bytes", vec![BYTES - 1, 1], true),
            ("one long line", vec![BYTES + 1], true),
        ];
        for (name, lengths, is_full) in rows {
            let mut waiting = Waiting::new(String::new());
            // The second round begins after the lines have been removed.
            for _ in 0..2 {
                assert!(!waiting.is_full(), "{name}");
                waiting.held.extend(lengths.iter().map(|length| "x".repeat(*length)));
                assert_eq!(waiting.is_full(), is_full, "{name}");
                waiting.held.clear();
            }
        }
    }

    #[test]
    fn every_held_request_is_refused() {
        let request = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "m"});
        let rows = [
            ("a request", request(1).to_string(), json!([[1, code::INTERNAL_ERROR]])),
            ("a notification", json!({"jsonrpc": "2.0", "method": "m"}).to_string(), json!([])),
            ("an invalid request", json!({"id": 1, "method": "m"}).to_string(), json!([[1, code::INVALID_REQUEST]])),
            ("not a message", "x".into(), json!([])),
            (
                "a batch",
                json!([request(1), {"jsonrpc": "2.0", "method": "m"}, {"id": 2, "method": "m"}, request(3), [request(4)]])
                    .to_string(),
                json!([[1, code::INTERNAL_ERROR], [2, code::INVALID_REQUEST], [3, code::INTERNAL_ERROR]]),
            ),
        ];
        for (name, line, expected) in rows {
            let mut out = ide_mcp::mcp::Lines::default();
            Waiting { held: VecDeque::from([line]), ..Waiting::new(request(0).to_string()) }
                .refuse("no", &mut out);
            let output = String::from_utf8(out.outgoing().to_vec()).unwrap();
            let answers = output.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let refused: Vec<Value> =
                answers.map(|answer| json!([answer["id"], answer["error"]["code"]])).collect();
            assert_eq!(refused[0], json!([0, code::INTERNAL_ERROR]), "{name}");
            assert_eq!(json!(refused[1..]), expected, "{name}");
        }
    }
}
