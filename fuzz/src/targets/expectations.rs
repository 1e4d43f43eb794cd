//! The open requests of a script. Each must receive one answer that meets its expectation.

use super::answers::{Expected, Serves, Trigger};
use super::peer_text::{Contents, Id, PeerText, Request};
use crate::model::{self, Answer, Message, Open};
use crate::sessions::{Hits, name_of};
use ide_mcp::rpc::code;
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of MCP that has batches.
pub const WITH_BATCHES: &str = "2025-03-26";

/// The maximum number of calls that wait for the application.
pub const OPEN_CALLS: usize = 4;

/// The answers that are still expected.
#[derive(Debug)]
pub struct Expectations {
    serves: Serves,
    /// True until the session is open.
    awaiting: bool,
    /// The meanings of the ids, with the expected answers.
    open: Open<(Option<String>, Expected)>,
    /// How many requests with this meaning of the id no longer need an answer.
    forgiven: BTreeMap<String, usize>,
    /// True if the agreed version has batches.
    batches: bool,
    /// The count of each expectation with the code of its answer.
    hits: Hits,
}

impl Expectations {
    /// Returns a record without requests for a side. `version` is the agreed version, or `None` if the session is not
    /// open yet.
    pub fn by(serves: Serves, version: Option<&str>) -> Self {
        Self {
            serves,
            awaiting: version.is_none(),
            open: Open::default(),
            forgiven: BTreeMap::new(),
            batches: version == Some(WITH_BATCHES),
            hits: Hits::new(),
        }
    }

    /// Adds the answers that a message requires. Call this before the message is delivered.
    pub fn expect_answers(&mut self, peer_text: &PeerText) {
        self.contents(peer_text.contents(self.batches));
    }

    fn contents(&mut self, contents: Contents) {
        let meanings: Vec<Option<String>> =
            contents.answers.iter().map(|(id, _)| id.meaning.clone()).collect();
        // Also count the requests that may have been cancelled, and the whole batch, because a diff in the batch can
        // stay open.
        let has_room = self.open.iter().count() + contents.answers.len() <= OPEN_CALLS;
        for (id, request) in contents.answers {
            // A request that shares its id with another of the batch may have been answered or not.
            let once = meanings.iter().filter(|meaning| **meaning == id.meaning).count() == 1;
            let alone = once && !contents.cancels.iter().any(|meaning| Some(meaning) == id.meaning.as_ref());
            let is_open = self.is_open(&id.meaning);
            let expected = match self.serves.expected(&request, self.awaiting) {
                refused if matches!(request, Request::Refused(_)) => refused,
                _ if !alone || self.may_be_forgiven(&id) => Expected::Any,
                _ if is_open => Expected::Now(model::Expected::Error(code::INVALID_REQUEST)),
                expected if has_room => expected.without_busy(),
                expected => expected,
            };
            self.open.ask(id.token, (id.meaning, expected));
        }
        for meaning in contents.cancels {
            let named = Some(meaning.clone());
            if contents.is_surely_cancelled && !self.forgiven.contains_key(&meaning) {
                self.open.retain(|(meaning, _)| *meaning != named);
            } else {
                let is_open = self.is_open(&named);
                *self.forgiven.entry(meaning).or_default() += usize::from(is_open);
            }
        }
    }

    /// Returns true if a request with this id may have been cancelled. Then we do not know whether it is open.
    fn may_be_forgiven(&self, id: &Id) -> bool {
        self.is_open(&id.meaning)
            && id.meaning.as_ref().is_some_and(|meaning| self.forgiven.get(meaning).is_some_and(|n| *n > 0))
    }

    fn is_open(&self, id: &Option<String>) -> bool {
        self.open.iter().any(|(_, (meaning, _))| meaning == id)
    }

    pub fn check_output(&mut self, texts: &[String], trigger: &Trigger) {
        for text in texts {
            assert!(self.batches || !text.starts_with('['), "{text}");
            for message in Message::sent(text).unwrap_or_else(|fault| panic!("{fault}")) {
                match message.answer() {
                    Some(answer) => self.check_answer(&answer, trigger),
                    None => {
                        assert!(
                            message.get("id").is_none(),
                            "a request from a side that does not send any: {text}"
                        )
                    }
                }
            }
        }
    }

    /// Removes the request that this answer belongs to, and checks the answer.
    fn check_answer(&mut self, answer: &Answer, trigger: &Trigger) {
        // If several open requests have this id, the answer belongs to one whose expectation it meets, preferably an
        // exact expectation.
        let exactly = self.open.answer(&answer.id, |(_, of)| !of.is_vague() && of.is_met(answer, trigger));
        let met = exactly.or_else(|_| self.open.answer(&answer.id, |(_, of)| of.is_met(answer, trigger)));
        let (_, expected) = met.unwrap_or_else(|fault| panic!("trigger {trigger:?}, {answer:?}: {fault}"));
        let name = match &expected {
            Expected::Now(expected) => name_of(expected),
            expected => name_of(expected),
        };
        let code = answer.code.map_or_else(|| "null".into(), |code| code.to_string());
        *self.hits.entry(format!("{name} {code}")).or_default() += 1;
        let opened: Value =
            answer.result.as_ref().map(|it| serde_json::from_str(it).expect(it)).unwrap_or_default();
        if let Some(version) = opened.get("protocolVersion") {
            self.awaiting = false;
            self.batches = version == WITH_BATCHES;
        }
    }

    /// Checks that all requests have been answered, except for the cancelled ones. Returns the
    /// counts of the answers.
    pub fn settle(mut self) -> Hits {
        for (id, (meaning, expected)) in self.open.iter() {
            match meaning.as_ref().and_then(|meaning| self.forgiven.get_mut(meaning)) {
                Some(left @ 1..) => *left -= 1,
                _ => panic!("{id} was never answered, with {expected:?}"),
            }
        }
        self.hits
    }
}
