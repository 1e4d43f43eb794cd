//! What a session owes its peer: one answer to each request, and none to anything else.

use ide_mcp::rpc::{Id, Message, SessionLimits, classify};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// How many messages a batch may have.
const MOST: usize = 64;

/// Answers that are owed, by the id as it was written.
#[derive(Debug, Default)]
pub struct Ledger {
    owed: BTreeMap<String, usize>,
}

/// What became of a text that was received.
#[derive(Debug, Default)]
pub struct Heard {
    /// The ids of the requests in it that have not been answered at once, in their order.
    pub open: Vec<String>,
}

impl Ledger {
    /// A text was received, and `sent` is what was said at once. Asserts that whatever cannot be deferred was answered,
    /// and nothing else was. `batches` says whether the version has them.
    pub fn heard(&mut self, text: &str, limits: &SessionLimits, batches: bool, sent: &[String]) -> Heard {
        let (mut requests, at_once) = asked(text, limits, batches);
        let answers: Vec<String> = sent.iter().flat_map(|message| answered(message)).collect();
        for id in &requests {
            *self.owed.entry(id.clone()).or_default() += 1;
        }
        for id in &answers {
            self.settle(id, text);
            // Of two with one id the second is refused, while the first is open.
            let refused = sent.iter().any(|message| message.contains("a request with this id is open"));
            let same = |asked: &String| asked == id;
            let at = if refused { requests.iter().rposition(same) } else { requests.iter().position(same) };
            let at = at.unwrap_or_else(|| panic!("{text} provoked an answer to {id}"));
            requests.remove(at);
        }
        assert!(!at_once || requests.is_empty(), "{text} was not answered: {requests:?}");
        Heard { open: requests }
    }

    /// Something else than a received text made the session say this.
    pub fn said(&mut self, sent: &[String]) {
        for message in sent {
            for id in answered(message) {
                self.settle(&id, message);
            }
        }
    }

    /// A request ended without an answer, and an event told so.
    pub fn forgiven(&mut self, id: &str) {
        self.settle(id, "an event");
    }

    /// Everything has been answered.
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

/// The ids of what a text asks, and whether it has to be answered at once.
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

/// Whether two requests of a batch have the same id, so that nobody can tell which of them an answer is for.
pub fn is_ambiguous(text: &str, limits: &SessionLimits) -> bool {
    let (mut ids, _) = asked(text, limits, true);
    ids.sort_unstable();
    ids.windows(2).any(|two| two[0] == two[1])
}

/// The ids of the answers in a message that a session has sent, which has to be a right one.
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

/// An id as it was written.
pub fn token(id: &Id) -> String {
    let mut token = Vec::new();
    id.write(&mut token);
    String::from_utf8(token).unwrap()
}
