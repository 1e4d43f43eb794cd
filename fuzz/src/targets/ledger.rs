//! The answers that a session has to send to its peer: one to each request, and none to anything
//! else.

use ide_mcp::rpc::{Id, Message, SessionLimits, classify};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The maximum number of messages in a batch.
const MOST: usize = 64;

/// The open answers, by the id as it was written.
#[derive(Debug, Default)]
pub struct Ledger {
    owed: BTreeMap<String, usize>,
}

/// The effect of a received text.
#[derive(Debug, Default)]
pub struct Heard {
    /// The ids of the requests in the text that were not answered at once, in order.
    pub open: Vec<String>,
}

impl Ledger {
    /// Records a received text and `sent`, the messages that the session sent at once. Checks that
    /// requests that cannot be deferred were answered, and that nothing else was. `batches` is true
    /// if the version of MCP has batches.
    pub fn heard(&mut self, text: &str, limits: &SessionLimits, batches: bool, sent: &[String]) -> Heard {
        let (mut requests, at_once) = asked(text, limits, batches);
        let answers: Vec<String> = sent.iter().flat_map(|message| answered(message)).collect();
        for id in &requests {
            *self.owed.entry(id.clone()).or_default() += 1;
        }
        for id in &answers {
            self.settle(id, text);
            // The session refuses the second of two requests with one id while the first is open.
            let refused = sent.iter().any(|message| message.contains("a request with this id is open"));
            let same = |asked: &String| asked == id;
            let at = if refused { requests.iter().rposition(same) } else { requests.iter().position(same) };
            let at = at.unwrap_or_else(|| panic!("{text} provoked an answer to {id}"));
            requests.remove(at);
        }
        assert!(!at_once || requests.is_empty(), "{text} was not answered: {requests:?}");
        Heard { open: requests }
    }

    /// Records messages that the session sent without a received text as their cause.
    pub fn said(&mut self, sent: &[String]) {
        for message in sent {
            for id in answered(message) {
                self.settle(&id, message);
            }
        }
    }

    /// Removes a request that ended without an answer, as an event reported.
    pub fn forgiven(&mut self, id: &str) {
        self.settle(id, "an event");
    }

    /// Checks that every request has been answered.
    pub fn is_settled(&self) {
        assert!(self.owed.is_empty(), "never answered: {:?}", self.owed);
    }

    fn settle(&mut self, id: &str, why: &str) {
        let left = self.owed.get_mut(id).unwrap_or_else(|| panic!("{why} answers {id}, which nobody asks"));
        *left -= 1;
        if *left == 0 {
            self.owed.remove(id);
        }
    }
}

/// Returns the ids of the requests in a text, and true if they have to be answered at once.
fn asked(text: &str, limits: &SessionLimits, batches: bool) -> (Vec<String>, bool) {
    match classify(text, limits) {
        Message::Request { id, .. } => (vec![token(&id)], false),
        Message::Invalid { answer: Some((id, _)), .. } => (vec![token(&id)], true),
        Message::Batch(batch) => {
            let elements: Vec<&RawValue> = serde_json::from_str(batch.get()).unwrap();
            let taken = if batches && elements.len() <= MOST { &elements[..] } else { &[] };
            (taken.iter().flat_map(|element| asked_alone(element.get(), limits)).collect(), false)
        }
        _ => (Vec::new(), true),
    }
}

fn asked_alone(text: &str, limits: &SessionLimits) -> Option<String> {
    match classify(text, limits) {
        Message::Request { id, .. } | Message::Invalid { answer: Some((id, _)), .. } => Some(token(&id)),
        _ => None,
    }
}

/// Returns true if two requests of a batch have the same id, so that an answer could belong to
/// either.
pub fn is_ambiguous(text: &str, limits: &SessionLimits) -> bool {
    let (mut ids, _) = asked(text, limits, true);
    ids.sort_unstable();
    ids.windows(2).any(|two| two[0] == two[1])
}

/// Returns the ids of the answers in a message that a session has sent, and checks the message.
pub fn answered(message: &str) -> Vec<String> {
    assert!(!message.contains('\n'), "{message}");
    match classify(message, &SessionLimits::default()) {
        Message::Response { id, .. } => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(message).unwrap();
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            assert!(
                matches!(names[..], ["id", "jsonrpc", "result"] | ["error", "id", "jsonrpc"]),
                "{message}"
            );
            vec![token(&id)]
        }
        Message::Batch(batch) => {
            let elements: Vec<&RawValue> = serde_json::from_str(batch.get()).unwrap();
            assert!(!elements.is_empty(), "an empty batch was sent");
            elements.iter().flat_map(|element| answered(element.get())).collect()
        }
        Message::Request { .. } | Message::Notification { .. } => {
            assert!(!message.contains(":null"), "{message}");
            Vec::new()
        }
        other => panic!("{message} is {other:?}"),
    }
}

/// Returns an id as it was written.
pub fn token(id: &Id) -> String {
    let mut token = Vec::new();
    id.write(&mut token);
    String::from_utf8(token).unwrap()
}
