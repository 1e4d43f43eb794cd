//! Keeps track of the answers that a session must send to its peer: one to each request, and none to anything else.

use crate::model::{self, Answer, Open};
use ide_mcp::rpc::{Id, Message, SessionLimits, classify};
use serde_json::Value;
use serde_json::value::RawValue;

/// The maximum number of messages in a batch.
const MOST: usize = 64;

/// The open requests.
#[derive(Debug, Default)]
pub struct Ledger {
    open: Open<()>,
}

/// What a received message led to.
#[derive(Debug, Default)]
pub struct Effect {
    /// The ids of the requests in the message that were not answered at once, in order.
    pub open: Vec<String>,
    pub answers: Vec<Answer>,
}

impl Ledger {
    /// Records a received message, and `sent`, which the session sent at once. Checks that the session answered all
    /// requests that cannot be deferred, and nothing but requests. `batches` is true if the version of MCP has batches.
    pub fn received(&mut self, text: &str, limits: &SessionLimits, batches: bool, sent: &[String]) -> Effect {
        let (mut requests, at_once) = requests_in(text, limits, batches);
        let answers: Vec<Answer> = sent.iter().flat_map(|message| answered(message)).collect();
        for id in &requests {
            self.open.ask(id, ());
        }
        for Answer { id, .. } in &answers {
            self.settle(id, text);
            // Of two requests with the same id, the session refuses the second while the first is open.
            let refused = sent.iter().any(|message| message.contains("a request with this id is open"));
            let same = |open: &String| open == id;
            let at = if refused { requests.iter().rposition(same) } else { requests.iter().position(same) };
            let at = at.unwrap_or_else(|| panic!("{text} led to an answer to {id}"));
            requests.remove(at);
        }
        assert!(!at_once || requests.is_empty(), "{text} was not answered: {requests:?}");
        Effect { open: requests, answers }
    }

    /// Records messages that were not caused by a received message.
    pub fn sent_unprompted(&mut self, sent: &[String]) {
        for message in sent {
            for answer in answered(message) {
                self.settle(&answer.id, message);
            }
        }
    }

    /// Removes a request that ended without an answer, as an event has reported.
    pub fn forgiven(&mut self, id: &str) {
        self.settle(id, "an event");
    }

    /// Checks that every request has been answered.
    pub fn is_settled(&self) {
        assert!(self.open.is_empty(), "never answered: {:?}", self.open);
    }

    fn settle(&mut self, id: &str, why: &str) {
        self.open.answer(id, |()| true).unwrap_or_else(|fault| panic!("{why}: {fault}"));
    }
}

/// Returns the ids of the requests in a text, and whether they must be answered at once.
fn requests_in(text: &str, limits: &SessionLimits, batches: bool) -> (Vec<String>, bool) {
    let at_once = !matches!(classify(text, limits), Message::Request { .. } | Message::Batch(_));
    let ids = messages(text, limits, batches).into_iter().filter_map(|one| match classify(one, limits) {
        Message::Request { id, .. } | Message::Invalid { answer: Some((id, _)), .. } => Some(token(&id)),
        _ => None,
    });
    (ids.collect(), at_once)
}

/// Returns the messages of a text that the session processes: those of a batch, or the text itself.
pub fn messages<'t>(text: &'t str, limits: &SessionLimits, batches: bool) -> Vec<&'t str> {
    match classify(text, limits) {
        Message::Batch(batch) => {
            let elements: Vec<&RawValue> = serde_json::from_str(batch.get()).unwrap();
            let is_taken = batches && elements.len() <= MOST;
            elements.into_iter().filter(|_| is_taken).map(RawValue::get).collect()
        }
        _ => vec![text],
    }
}

/// Returns the meaning of an id: the same string for all spellings of the id.
pub fn meaning(token: &str) -> String {
    match serde_json::from_str::<Value>(token) {
        Ok(Value::String(text)) => format!("{text:?}"),
        Ok(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number.to_string(),
            (None, Some(number)) if number.fract() == 0.0 => format!("{number:.0}").replace("-0", "0"),
            _ => token.into(),
        },
        _ => token.into(),
    }
}

/// Returns the answers in a message that a session has sent, and checks the message.
pub fn answered(message: &str) -> Vec<Answer> {
    assert!(!message.contains('\n'), "{message}");
    for later in ["resultType", "ttlMs", "cacheScope", "io.modelcontextprotocol/"] {
        assert!(!message.contains(later), "{later} belongs to a later version: {message}");
    }
    let sent = model::Message::sent(message).unwrap_or_else(|fault| panic!("{fault}"));
    let answers: Vec<Answer> = sent.iter().filter_map(model::Message::answer).collect();
    assert!(answers.len() == sent.len() || !message.contains(":null"), "{message}");
    answers
}

/// Returns an id as it was written.
pub fn token(id: &Id) -> String {
    let mut token = Vec::new();
    id.write(&mut token);
    String::from_utf8(token).unwrap()
}
