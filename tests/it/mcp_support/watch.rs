//! One side of a session under a reference model that tracks ids. All input and output pass through
//! the model, and a broken invariant stops the test.
//!
//! The model gets the [meaning](Meaning) of each text from the author of the text.

use std::collections::{BTreeMap, BTreeSet};

use ide_mcp::{
    Time,
    mcp::{CallEnd, Outcome, Progress, Timeout},
    rpc::{CallId, NotOpen, RequestId, RespondError},
};
use serde_json::{Value, json};

use super::{
    Messages,
    peer::{Happened, Peer},
    rules::{self, Said},
    violation_text,
};

/// The requests and cancellations in a text.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// The requests, in order.
    pub asks: Vec<Ask>,
    /// The requests that are refused at once in every state: the id and the code.
    pub refused: Vec<(String, i64)>,
    /// The ids that the text cancels.
    pub cancels: Vec<String>,
}

/// A request: the spelling of its id, and the token under which it requests progress.
#[derive(Clone, Debug)]
pub struct Ask {
    pub id: String,
    pub progress: Option<String>,
}

impl Meaning {
    /// The meaning of a text that can be neither answered nor executed.
    pub fn nothing() -> Self {
        Self::default()
    }

    pub fn ask(id: &str) -> Self {
        Self { asks: vec![Ask { id: id.into(), progress: None }], ..Self::default() }
    }

    pub fn refused(id: &str, code: i64) -> Self {
        Self { refused: vec![(id.into(), code)], ..Self::default() }
    }

    pub fn cancel(id: &str) -> Self {
        Self { cancels: vec![id.into()], ..Self::default() }
    }

    pub fn and(mut self, other: Self) -> Self {
        self.asks.extend(other.asks);
        self.refused.extend(other.refused);
        self.cancels.extend(other.cancels);
        self
    }

    /// The meaning of a message that one of our own sides sent.
    pub fn of(said: &Said) -> Self {
        match said {
            Said::Request { token, params, .. } => {
                let progress = params["_meta"].get("progressToken").map(ToString::to_string);
                Self { asks: vec![Ask { id: token.clone(), progress }], ..Self::default() }
            }
            Said::Notification { method, params } if method == "notifications/cancelled" => {
                Self::cancel(&params["requestId"].to_string())
            }
            Said::Notification { .. } | Said::Answer { .. } => Self::default(),
        }
    }
}

/// Returns true if two ids have the same type and value. Supports the spellings that the tests use.
pub fn same(a: &str, b: &str) -> bool {
    let value = |token: &str| -> Value { serde_json::from_str(token).unwrap() };
    match (value(a), value(b)) {
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Number(x), Value::Number(y)) => {
            if a.contains(['.', 'e']) || b.contains(['.', 'e']) {
                x.as_f64() == y.as_f64()
            } else {
                a == b
            }
        }
        _ => false,
    }
}

#[derive(Clone, Debug)]
struct Live {
    ask: Ask,
    call: CallId,
    reached: f64,
}

/// The count of each event.
pub type Hits = BTreeMap<String, u64>;

/// A side and its model.
pub struct Watch<P> {
    pub peer: P,
    pub out: Messages,
    pub now: Time,
    pub hits: Hits,
    /// The messages that the side sent and the test has not taken, with their meanings.
    pub outbox: Vec<(String, Meaning)>,
    pub happened: Vec<Happened>,
    live: Vec<Live>,
    /// The requests that were neither answered nor reported.
    taken: Vec<Ask>,
    ended: BTreeMap<CallId, NotOpen>,
    ids: BTreeMap<CallId, String>,
    /// The ids whose call was cancelled, and the ids whose call was answered.
    cancelled: BTreeSet<String>,
    answered: BTreeSet<String>,
    requests: BTreeMap<RequestId, usize>,
    /// The ids of its own requests that the side cancelled.
    given_up: BTreeSet<String>,
    last_id: u64,
    /// The id of its own `initialize`, which is never cancelled.
    initialize: Option<String>,
    /// The id of the peer's `initialize`, which cannot be cancelled.
    pub opened_by: Option<String>,
    /// The limit of open calls.
    pub limit: usize,
}

impl<P: Peer> Watch<P> {
    pub fn new(peer: P) -> Self {
        Self {
            peer,
            out: Messages::default(),
            now: Time::ZERO,
            hits: Hits::new(),
            outbox: Vec::new(),
            happened: Vec::new(),
            live: Vec::new(),
            taken: Vec::new(),
            ended: BTreeMap::new(),
            ids: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            answered: BTreeSet::new(),
            requests: BTreeMap::new(),
            given_up: BTreeSet::new(),
            last_id: 0,
            initialize: None,
            opened_by: None,
            limit: 256,
        }
    }

    pub fn hit(&mut self, what: impl Into<String>) {
        *self.hits.entry(what.into()).or_default() += 1;
    }

    /// Returns all calls that the side ever reported.
    pub fn calls(&self) -> Vec<CallId> {
        self.live.iter().map(|live| live.call).chain(self.ended.keys().copied()).collect()
    }

    pub fn live_calls(&self) -> Vec<CallId> {
        self.live.iter().map(|live| live.call).collect()
    }

    pub fn live_ids(&self) -> Vec<String> {
        self.live.iter().map(|live| live.ask.id.clone()).collect()
    }

    pub fn requests(&self) -> Vec<RequestId> {
        self.requests.keys().copied().collect()
    }

    /// Returns the id of its latest request.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    pub fn waiting(&self) -> usize {
        self.requests.values().filter(|outcomes| **outcomes == 0).count()
    }

    /// Receives a text, and checks all messages and events that follow from it. Returns the sent
    /// messages.
    #[track_caller]
    pub fn hear(&mut self, text: &str, meaning: &Meaning) -> Vec<String> {
        let closed = self.peer.is_closed();
        self.peer.receive(self.now, text, &mut self.out);
        let sent = self.out.take();
        if closed {
            assert_eq!(sent, [""; 0], "I32: a closed session answers nothing");
            return sent;
        }
        let mut answers = Vec::new();
        for said in self.look_at(&sent) {
            match said {
                Said::Answer { token, error } => answers.push((token, error)),
                // The request of the next page, or the end of a handshake.
                other => self.said(&other),
            }
        }
        for (id, code) in &meaning.refused {
            let at = answers.iter().position(|answer| *answer == (id.clone(), Some(*code)));
            answers.remove(at.unwrap_or_else(|| panic!("I9: no {code} for {id}: {text} {sent:?}")));
        }
        for ask in &meaning.asks {
            let busy =
                self.live.iter().map(|live| &live.ask).chain(&self.taken).any(|open| same(&open.id, &ask.id));
            match answers.iter().position(|(token, _)| *token == ask.id) {
                Some(at) => {
                    let (_, error) = answers.remove(at);
                    assert!(!busy || error == Some(-32600), "I3: {text} {sent:?}");
                    self.answered.insert(ask.id.clone());
                    self.hit(match error {
                        Some(code) => format!("answer {code}"),
                        None => "answer result".into(),
                    });
                }
                None => {
                    assert!(!busy, "I3: a second {} is taken: {text}", ask.id);
                    self.taken.push(ask.clone());
                }
            }
        }
        assert!(answers.is_empty(), "I1, I8, I9: answers without a request {answers:?} for {text}");
        let mut cancelled = Vec::new();
        for id in &meaning.cancels {
            match self.live.iter().find(|live| same(&live.ask.id, id)) {
                Some(live) => cancelled.push(live.call),
                None if self.opened_by.as_deref().is_some_and(|known| same(known, id)) => {
                    self.hit("race: initialize is not cancelled");
                }
                None if self.cancelled.contains(id) => self.hit("race: cancelled twice"),
                None if self.answered.contains(id) => self.hit("race: answered, then cancelled"),
                None => self.hit("race: cancelled what never was"),
            }
        }
        self.poll_for(&cancelled);
        sent
    }

    /// Receives a text without the model. Returns the sent messages.
    pub fn raw(&mut self, text: &str) -> Vec<String> {
        self.peer.receive(self.now, text, &mut self.out);
        self.out.take()
    }

    /// Lets time pass.
    #[track_caller]
    pub fn at(&mut self, now: Time) {
        self.now = self.now.max(now);
        self.peer.tick(now);
        self.poll_for(&[]);
        assert!(self.peer.deadline().is_none_or(|at| at > self.now), "I36: the deadline lies ahead");
    }

    /// Polls all events. Asserts that the cancelled calls are those in `cancelled`.
    #[track_caller]
    fn poll_for(&mut self, cancelled: &[CallId]) {
        let mut cancelled = cancelled.to_vec();
        loop {
            let event = self.peer.poll(&mut self.out);
            let sent = self.out.take();
            let mut answers: Vec<String> = Vec::new();
            for said in self.look_at(&sent) {
                match said {
                    Said::Answer { token, .. } => answers.push(token),
                    other => self.said(&other),
                }
            }
            let Some(event) = event else {
                assert!(answers.is_empty(), "I1: {answers:?}");
                break;
            };
            match &event {
                Happened::Call(call) => {
                    let ask = self.taken.remove(0);
                    assert!(!self.ended.contains_key(call), "I4: handles are never reused");
                    self.ids.insert(*call, ask.id.clone());
                    self.live.push(Live { ask, call: *call, reached: f64::NEG_INFINITY });
                }
                Happened::CallEnded(call, how) => {
                    let at = self.live.iter().position(|live| live.call == *call);
                    let ended = self.live.remove(at.unwrap_or_else(|| panic!("I1: {call:?} ended again")));
                    let gone = match how {
                        CallEnd::Cancelled { .. } => {
                            let at = cancelled.iter().position(|expected| expected == call);
                            cancelled.remove(at.expect("I6: the peer did not cancel it"));
                            self.cancelled.insert(ended.ask.id.clone());
                            NotOpen::Cancelled
                        }
                        CallEnd::Expired => {
                            assert_eq!(answers.pop(), Some(ended.ask.id.clone()), "I12");
                            self.answered.insert(ended.ask.id.clone());
                            NotOpen::Expired
                        }
                        CallEnd::ShutDown => NotOpen::Answered,
                        CallEnd::Closed => NotOpen::Closed,
                        other => panic!("{other:?}"),
                    };
                    self.hit(format!("call ended {gone:?}"));
                    self.ended.insert(*call, gone);
                }
                Happened::Outcome(request, outcome) => {
                    let kind = match outcome {
                        Outcome::Result(_) => "Result",
                        Outcome::Error(_) => "Error",
                        Outcome::TimedOut => "TimedOut",
                        Outcome::Cancelled => "Cancelled",
                        Outcome::Malformed => "Malformed",
                        Outcome::Closed => "Closed",
                        other => panic!("{other:?}"),
                    };
                    self.hit(format!("outcome {kind}"));
                    let outcomes =
                        self.requests.get_mut(request).expect("an outcome of what was never asked");
                    *outcomes += 1;
                    assert_eq!(*outcomes, 1, "I13: {request:?}");
                }
                Happened::Progress(request, _) => {
                    assert_eq!(self.requests.get(request), Some(&0), "progress of what has ended");
                    self.hit("progress received");
                }
                Happened::PeerFault(violation) => self.hit(violation_text(violation)),
                Happened::PingTimeout => self.hit("unresponsive"),
                _ => {}
            }
            assert!(answers.is_empty(), "I1: {answers:?} at {event:?}");
            self.happened.push(event);
        }
        assert!(cancelled.is_empty(), "I5: {cancelled:?} is still open");
        assert!(self.taken.is_empty(), "I1: {:?} is neither answered nor reported", self.taken);
        assert_eq!(self.peer.open_calls(), self.live.len(), "I27: the table of calls");
        assert!(self.live.len() <= self.limit, "I28");
        assert!(self.live.iter().all(|live| self.peer.is_open(live.call)));
    }

    #[track_caller]
    fn look_at(&mut self, sent: &[String]) -> Vec<Said> {
        let version = self.peer.version();
        let mut all = Vec::new();
        for text in sent {
            let said = rules::check(text, version);
            let meaning = said.iter().map(Meaning::of).fold(Meaning::default(), Meaning::and);
            self.outbox.push((text.clone(), meaning));
            all.extend(said);
        }
        all
    }

    /// Checks a message that is no answer to the received text.
    #[track_caller]
    fn said(&mut self, said: &Said) {
        match said {
            Said::Answer { token, .. } => panic!("I1: an answer to {token}"),
            Said::Request { token, method, .. } => {
                let id: u64 = token.parse().expect("I16: a number");
                assert!(id > self.last_id && id < 1 << 53, "I16: {id} after {}", self.last_id);
                self.last_id = id;
                if method == "initialize" {
                    self.initialize = Some(token.clone());
                }
            }
            Said::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params["requestId"].to_string();
                assert_ne!(Some(&id), self.initialize.as_ref(), "I7");
                assert!(id.parse::<u64>().is_ok_and(|id| (1..=self.last_id).contains(&id)), "I17: {id}");
                assert!(self.given_up.insert(id), "I17: cancelled twice");
                self.hit("cancelled sent");
            }
            Said::Notification { method, params } if method == "notifications/progress" => {
                let token = params["progressToken"].to_string();
                let progress = params["progress"].as_f64().unwrap();
                let live = self.live.iter_mut().find(|live| live.ask.progress.as_ref() == Some(&token));
                let live = live.unwrap_or_else(|| panic!("I18: {token} is no open call's"));
                assert!(progress > live.reached, "I18: {progress} after {}", live.reached);
                live.reached = progress;
                self.hit("progress sent");
            }
            Said::Notification { .. } => {}
        }
    }

    #[track_caller]
    fn quiet(&mut self) {
        for said in {
            let sent = self.out.take();
            self.look_at(&sent)
        } {
            self.said(&said);
        }
        self.poll_for(&[]);
    }

    /// Does something with the peer that the model does not follow.
    #[track_caller]
    pub fn act<R>(&mut self, act: impl FnOnce(&mut P, &mut Messages) -> R) -> R {
        let result = act(&mut self.peer, &mut self.out);
        self.quiet();
        result
    }

    /// Returns the error that the model expects for a call, or `None` if the call is open.
    fn gone(&self, call: CallId) -> Option<NotOpen> {
        if self.live.iter().any(|live| live.call == call) {
            return None;
        }
        Some(self.ended.get(&call).copied().unwrap_or(NotOpen::Unknown))
    }

    /// Answers a call, open or not.
    #[track_caller]
    pub fn answer(&mut self, call: CallId, well: bool) -> Result<(), NotOpen> {
        let expected = self.gone(call);
        let id = self.live.iter().find(|live| live.call == call).map(|live| live.ask.id.clone());
        // A result that is no object is refused, and changes nothing.
        let refused = match expected {
            None => RespondError::Unserializable,
            Some(how) => RespondError::NotOpen(how),
        };
        assert_eq!(self.peer.respond(call, &json!(["no object"]), &mut self.out), Err(refused), "law 8");
        assert_eq!(self.out.sent, [""; 0], "law 8");
        let done = match well {
            true => {
                self.peer.respond(call, &json!({ "content": [] }), &mut self.out).map_err(|error| match error
                {
                    RespondError::NotOpen(how) => how,
                    other => panic!("{other:?}"),
                })
            }
            false => self.peer.fail(call, &mut self.out),
        };
        assert_eq!(done.err(), expected, "I4: {call:?}");
        let sent = self.out.take();
        match id {
            Some(id) => {
                let [Said::Answer { token, .. }] = &self.look_at(&sent)[..] else { panic!("I1: {sent:?}") };
                assert_eq!(*token, id, "I2");
                self.live.retain(|live| live.call != call);
                self.ended.insert(call, NotOpen::Answered);
                self.answered.insert(id);
            }
            None => {
                assert_eq!(sent, [""; 0], "I4");
                let how = expected.unwrap();
                self.hit(format!("refused {how:?}"));
                if how == NotOpen::Cancelled {
                    self.hit("race: cancelled, then answered");
                    let id = self.ids.get(&call).cloned().unwrap_or_default();
                    if self.live.iter().any(|live| same(&live.ask.id, &id)) {
                        self.hit("race: cancelled, its id again, then answered");
                    }
                }
            }
        }
        self.poll_for(&[]);
        done
    }

    #[track_caller]
    pub fn progress(&mut self, call: CallId, said: &Progress<'_>) {
        let expected = self.gone(call);
        let done = self.peer.progress(call, said, &mut self.out);
        assert_eq!(done.err(), expected, "I18: {call:?}");
        let sent = self.out.sent.len();
        assert_eq!(sent, usize::from(done == Ok(true)), "I18");
        if expected == Some(NotOpen::Cancelled) {
            self.hit("race: cancelled, then progress");
        }
        self.quiet();
    }

    #[track_caller]
    pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) {
        let expected = self.gone(call);
        assert_eq!(self.peer.set_call_timeout(call, timeout).err(), expected);
        self.poll_for(&[]);
    }

    #[track_caller]
    pub fn notify(&mut self, method: &str) {
        if self.peer.notify(method, &mut self.out).is_err() {
            assert_eq!(self.out.sent, [""; 0], "law 8");
        }
        self.quiet();
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, timeout: Timeout) -> Option<RequestId> {
        let asked = self.peer.request(method, timeout, &mut self.out).ok();
        self.asked(asked)
    }

    /// Records a request that was sent, or was refused.
    #[track_caller]
    pub fn asked(&mut self, asked: Option<RequestId>) -> Option<RequestId> {
        assert_eq!(self.out.sent.len(), usize::from(asked.is_some()), "law 8");
        if let Some(request) = asked {
            assert_eq!(self.requests.insert(request, 0), None, "I16: a handle is used twice");
        }
        self.quiet();
        asked
    }

    #[track_caller]
    pub fn cancel(&mut self, request: RequestId) -> bool {
        let waits = self.requests.get(&request) == Some(&0);
        let cancelled = self.peer.cancel(request, &mut self.out);
        assert_eq!(cancelled, waits, "I13: {request:?}");
        assert_eq!(self.out.sent.len(), usize::from(waits), "I17");
        self.quiet();
        assert!(!waits || self.requests.get(&request) == Some(&1), "cancelled means ended");
        cancelled
    }

    pub fn drain(&mut self) {
        self.peer.drain();
        self.quiet();
    }

    /// Answers all calls as failed.
    #[track_caller]
    pub fn shutdown(&mut self) {
        let mut ids = self.live_ids();
        self.peer.shutdown(&mut self.out);
        let sent = self.out.take();
        for said in self.look_at(&sent) {
            let Said::Answer { token, .. } = said else { panic!("{said:?}") };
            let at = ids.iter().position(|id| *id == token).expect("I1: an answer without a call");
            self.answered.insert(ids.remove(at));
        }
        assert!(ids.is_empty(), "I1: {ids:?} got no answer");
        let open = self.live.len();
        self.poll_for(&[]);
        assert!(self.live.is_empty());
        if open > 0 {
            self.hit("call ended ShutDown");
        }
    }

    /// Closes the session. Asserts that no call and no request of either side is open.
    #[track_caller]
    pub fn close(&mut self) {
        if self.ended.values().any(|how| *how == NotOpen::Cancelled) && !self.peer.is_closed() {
            self.hit("race: cancelled, then closed");
        }
        self.peer.close();
        self.quiet();
        assert!(self.peer.is_closed(), "I33");
        assert!(self.live.is_empty(), "I32: {:?}", self.live);
        assert_eq!(self.waiting(), 0, "I13, I32");
        assert_eq!((self.peer.open_calls(), self.peer.open_requests()), (0, 0), "I27, I32");
        assert_eq!(self.peer.deadline(), None, "I32: its timers are gone");
    }
}
