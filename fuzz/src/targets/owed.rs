//! The open requests of a script, each of which has to receive one answer that meets its
//! expectation.

use super::answers::{Expected, Serves, Upon};
use super::speech::{Asked, Id, Speech, Wants};
use crate::sessions::{Hits, name_of};
use ide_mcp::rpc::code;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The version of MCP that has batches.
pub const WITH_BATCHES: &str = "2025-03-26";

/// The maximum number of calls that wait for the application.
pub const OPEN_CALLS: usize = 4;

/// The answers that are still expected.
#[derive(Debug)]
pub struct Owed {
    serves: Serves,
    /// True until the session is open.
    awaiting: bool,
    /// The ids as they were written, with the expected answers.
    open: Vec<(Id, Expected)>,
    /// The number of requests, by the meaning of the id, that need no answer any more.
    forgiven: BTreeMap<String, usize>,
    /// True if the agreed version has batches.
    batches: bool,
    /// The count of each expectation with the code of its answer.
    hits: Hits,
}

impl Owed {
    /// Returns the record of a side, without requests. `version` is the agreed version, or `None`
    /// if the session is still to be opened.
    pub fn by(serves: Serves, version: Option<&str>) -> Self {
        Self {
            serves,
            awaiting: version.is_none(),
            open: Vec::new(),
            forgiven: BTreeMap::new(),
            batches: version == Some(WITH_BATCHES),
            hits: Hits::new(),
        }
    }

    /// Adds the answers that a message requires, before the message is delivered.
    pub fn will_hear(&mut self, speech: &Speech) {
        self.asked(speech.asked(self.batches));
    }

    fn asked(&mut self, asked: Asked) {
        let meanings: Vec<Option<String>> = asked.answers.iter().map(|(id, _)| id.meaning.clone()).collect();
        // The count includes the requests that were perhaps cancelled, and the whole batch, because
        // a diff of the batch can stay open.
        let has_room = self.open.len() + asked.answers.len() <= OPEN_CALLS;
        for (id, wants) in asked.answers {
            // A request that shares its id with another of the batch can have been answered or not.
            let once = meanings.iter().filter(|meaning| **meaning == id.meaning).count() == 1;
            let alone = once && !asked.cancels.iter().any(|meaning| Some(meaning) == id.meaning.as_ref());
            let is_open = self.open.iter().any(|(open, _)| open.meaning == id.meaning);
            let expected = match self.serves.expected(&wants, self.awaiting) {
                refused if matches!(wants, Wants::Refused(_)) => refused,
                _ if !alone || self.may_be_forgiven(&id) => Expected::Any,
                _ if is_open => Expected::Error(code::INVALID_REQUEST),
                expected if has_room => expected.without_busy(),
                expected => expected,
            };
            self.open.push((id, expected));
        }
        for meaning in asked.cancels {
            let of = |(id, _): &(Id, Expected)| id.meaning.as_ref() == Some(&meaning);
            if asked.is_surely_cancelled && !self.forgiven.contains_key(&meaning) {
                self.open.retain(|open| !of(open));
            } else {
                let is_open = self.open.iter().any(of);
                *self.forgiven.entry(meaning).or_default() += usize::from(is_open);
            }
        }
    }

    /// Returns true if a request with this id was perhaps cancelled. It is then unknown if the request
    /// is open.
    fn may_be_forgiven(&self, id: &Id) -> bool {
        let is_open = self.open.iter().any(|(open, _)| open.meaning == id.meaning);
        is_open
            && id.meaning.as_ref().is_some_and(|meaning| self.forgiven.get(meaning).is_some_and(|n| *n > 0))
    }

    pub fn said(&mut self, texts: &[String], upon: &Upon) {
        for text in texts {
            if text.starts_with('[') {
                let batch: Vec<&RawValue> = serde_json::from_str(text).expect("a batch is JSON");
                assert!(self.batches && !batch.is_empty(), "{text}");
                batch.iter().for_each(|message| self.heard(message.get(), upon));
            } else {
                self.heard(text, upon);
            }
        }
    }

    /// Checks one message and removes the request that it answers.
    fn heard(&mut self, text: &str, upon: &Upon) {
        let members: BTreeMap<&str, &RawValue> = serde_json::from_str(text).expect(text);
        assert_eq!(members.get("jsonrpc").map(|version| version.get()), Some(r#""2.0""#), "{text}");
        let names: Vec<&str> = members.keys().copied().collect();
        match names[..] {
            ["id", "jsonrpc", "result"] => assert!(members["result"].get().starts_with('{'), "{text}"),
            ["error", "id", "jsonrpc"] => {
                let error: Value = serde_json::from_str(members["error"].get()).expect(text);
                assert!(error["code"].is_i64() && error["message"].is_string(), "{text}");
            }
            ["jsonrpc", "method"] | ["jsonrpc", "method", "params"] => return,
            _ => panic!("{text} is neither an answer nor a notification"),
        }
        let (id, answer) = (members["id"].get(), serde_json::from_str(text).unwrap_or(Value::Null));
        let asked = |(owed, _): &&(Id, Expected)| owed.token == id;
        let is_met = |(owed, expected): &(Id, Expected)| owed.token == id && expected.is_met(&answer, upon);
        // If several open requests have this id, the answer belongs to one whose expectation it meets:
        // to one with an exact expectation, if possible, and of these to the latest, which is answered
        // at once.
        let is_exactly_met = |open: &(Id, Expected)| !open.1.is_vague() && is_met(open);
        let at = self.open.iter().rposition(is_exactly_met);
        let Some(at) = at.or_else(|| self.open.iter().rposition(is_met)) else {
            let expected: Vec<_> = self.open.iter().filter(asked).map(|(_, expected)| expected).collect();
            panic!("upon {upon:?}, {text} meets none of {expected:?}");
        };
        let (_, expected) = self.open.remove(at);
        *self.hits.entry(format!("{} {}", name_of(&expected), answer["error"]["code"])).or_default() += 1;
        if let Some(version) = answer.pointer("/result/protocolVersion") {
            self.awaiting = false;
            self.batches = version == WITH_BATCHES;
        }
    }

    /// Checks that all requests have been answered, except for the cancelled ones. Returns the
    /// counts of the answers.
    pub fn settle(mut self) -> Hits {
        for (id, expected) in self.open {
            let forgiven = id.meaning.as_ref().and_then(|meaning| self.forgiven.get_mut(meaning));
            match forgiven {
                Some(left @ 1..) => *left -= 1,
                _ => panic!("{} was never answered, with {expected:?}", id.token),
            }
        }
        self.hits
    }
}
