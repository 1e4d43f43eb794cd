//! The books of a session of either role: the answers that it has to send, the answers that it
//! awaits, and the other messages that it sends.

use super::ledger::{Ledger, is_ambiguous, token};
use super::session::{Any, Happened, Session, shown, told};
use ide_mcp::Keepalive;
use ide_mcp::Time;
use ide_mcp::mcp::{CallEnd, Failure, Forward, Outcome, PeerFault, Progress, ProtocolVersion, Timeout};
use ide_mcp::rpc::{
    CallId, Message, NotOpen, NotSent, RequestId, RespondError, SessionLimits, classify, code,
};
use ide_mcp::testing::Messages;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Debug;
use std::time::Duration;

/// The settings of a session.
#[derive(Debug)]
pub struct Setup {
    pub limits: SessionLimits,
    pub keepalive: Option<Keepalive>,
    pub forward: Forward,
}

/// A call of the peer.
#[derive(Debug)]
struct Call {
    call: CallId,
    id: String,
    end: Option<NotOpen>,
    reached: f64,
    /// True if the peer asked for progress; `None` if the model cannot decide.
    is_watched: Option<bool>,
    /// The time before which the call cannot expire; `None` if the call never expires.
    not_before: Option<Time>,
}

/// A request of ours.
#[derive(Debug, Default)]
struct Request {
    outcomes: usize,
    /// The last progress that the peer reported, if the request asks for progress. The progress of
    /// a list is that of its pages.
    reached: Option<f64>,
    /// The minimum number of items in the pages of a list so far; `None` if the request is no list.
    items: Option<usize>,
}

/// A request that the session sent.
#[derive(Debug)]
struct Sent {
    method: String,
    cancelled: usize,
    known_as: Option<RequestId>,
}

/// A session and its books.
#[derive(Debug)]
pub struct Books<S> {
    pub session: S,
    pub out: Messages,
    pub now: Time,
    pub closed: bool,
    /// The number of events for a successful handshake; `failed` counts those for a failed one.
    pub ready: usize,
    pub failed: usize,
    pub lists: usize,
    setup: Setup,
    drained: bool,
    ledger: Ledger,
    /// The ids of calls whose event has not been polled.
    unpolled: VecDeque<String>,
    /// All calls, open and ended.
    calls: Vec<Call>,
    requests: BTreeMap<RequestId, Request>,
    sent: BTreeMap<u64, Sent>,
    /// The number of progress events.
    progressed: usize,
    faults: usize,
    /// The time of the last ping that the session itself sent.
    pinged: Option<Time>,
    /// The time of the last message that arrived.
    heard: Time,
    gave_up: bool,
}

impl<S: Session + Debug> Books<S> {
    pub fn new(session: S, setup: Setup) -> Self {
        Self {
            session,
            out: Messages::default(),
            now: Time::ZERO,
            closed: false,
            ready: 0,
            failed: 0,
            lists: 0,
            setup,
            drained: false,
            ledger: Ledger::default(),
            unpolled: VecDeque::new(),
            calls: Vec::new(),
            requests: BTreeMap::new(),
            sent: BTreeMap::new(),
            progressed: 0,
            faults: 0,
            pinged: None,
            heard: Time::ZERO,
            gave_up: false,
        }
    }

    /// Delivers a text of the peer and returns the messages that the session sends at once:
    /// answers, and the request for the next page of a list. Skips a text whose answers would be
    /// ambiguous.
    pub fn hear(&mut self, text: &str) -> Vec<String> {
        if is_ambiguous(text, &self.setup.limits) {
            return Vec::new();
        }
        let batches = self.session.protocol_version() == Some(ProtocolVersion::V2025_03_26);
        self.heard = self.now;
        self.session.receive(self.now, text, &mut self.out);
        let next = self.next_id();
        let sent = self.note();
        if self.closed {
            assert!(sent.is_empty(), "after the end: {sent:?}");
            return sent;
        }
        let open = self.ledger.heard(text, &self.setup.limits, batches, &sent).open;
        assert!(open.is_empty() || !self.drained, "{text} is taken by a session that ends");
        self.unpolled.extend(open);
        if let Message::Response { id, .. } = classify(text, &self.setup.limits) {
            let answered = token(&id).parse().ok().and_then(|id: u64| self.sent.get(&id));
            let (known_as, asks) = (answered.and_then(|sent| sent.known_as), self.sent.get_mut(&next));
            if let (Some(request), Some(page)) = (known_as, asks) {
                assert!(page.method.ends_with("/list"), "an answer led to {page:?}");
                page.known_as = Some(request);
            }
        }
        assert!(self.session.open_calls() <= self.setup.limits.open_calls);
        let (open, bytes) = (self.session.open_calls(), self.session.open_bytes());
        assert!(open < 2 || bytes <= self.setup.limits.open_bytes, "{bytes} bytes in {open} calls");
        assert_eq!(open == 0, bytes == 0);
        assert!(self.session.open_requests() <= self.setup.limits.requests + self.pings());
        sent
    }

    /// Returns how many keepalive pings can be in flight in addition to the limit of requests.
    fn pings(&self) -> usize {
        usize::from(self.setup.keepalive.is_some())
    }

    pub fn tick(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.session.tick(self.now);
        self.settle();
        let deadline = self.session.deadline();
        let is_last = self.now == Time::new(Duration::MAX);
        assert!(deadline.is_none_or(|due| due > self.now) || is_last, "{deadline:?}");
    }

    pub fn settle(&mut self) {
        loop {
            let before = self.next_id();
            let event = self.session.poll(&mut self.out);
            self.said();
            for sent in self.sent.range(before..).map(|(_, sent)| sent) {
                // Polling sends no requests other than pings.
                assert!(sent.method == "ping" && self.setup.keepalive.is_some(), "{sent:?}");
                self.pinged = Some(self.now);
            }
            match event {
                Some(event) => self.on(event),
                None => break,
            }
        }
        assert!(self.unpolled.is_empty(), "neither answered nor handed over: {:?}", self.unpolled);
    }

    fn on(&mut self, event: Happened) {
        match event {
            Happened::Call(call, waits) => self.opened(call, None, (!waits).then_some(Time::ZERO)),
            Happened::Request(call, method, params) => {
                // The client has asked for the list, also if the application answers the request.
                self.lists += usize::from(&*method == "tools/list");
                assert!(
                    match &self.setup.forward {
                        Forward::Methods(methods) => methods.iter().any(|name| *name == *method),
                        forward => *forward == Forward::Everything,
                    },
                    "{method} is not forwarded"
                );
                let is_watched = match params.as_deref().map(RawValue::get) {
                    None => Some(false),
                    Some(WATCHED) => Some(true),
                    Some(_) => None,
                };
                self.opened(call, is_watched, Some(Time::ZERO));
            }
            Happened::CallEnded(call, how) => {
                assert!(!self.session.is_open(call));
                let open = self.calls.iter_mut().find(|open| open.call == call).expect("it began");
                assert_eq!(open.end, None, "a call ends once");
                open.end = Some(match how {
                    CallEnd::Cancelled { .. } => NotOpen::Cancelled,
                    CallEnd::Expired => NotOpen::Expired,
                    CallEnd::ShutDown => NotOpen::Answered,
                    _ => NotOpen::Closed,
                });
                if how == CallEnd::Expired {
                    assert!(open.not_before.is_some_and(|at| at <= self.now), "too early: {open:?}");
                }
                if matches!(how, CallEnd::Cancelled { .. } | CallEnd::Closed) {
                    self.ledger.forgiven(&open.id);
                }
            }
            Happened::Outcome(request, outcome) => {
                let known = self.requests.get_mut(&request).expect("we asked that");
                known.outcomes += 1;
                assert_eq!(known.outcomes, 1, "{outcome:?}");
                assert!(self.closed || self.drained || !matches!(outcome, Outcome::Closed));
                if let (Some(items), Outcome::Result(whole)) = (known.items, &outcome) {
                    let whole: BTreeMap<String, &RawValue> = serde_json::from_str(whole.get()).unwrap();
                    let list =
                        |raw: &&RawValue| Some(serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()?.len());
                    let lists = whole.values().filter_map(list);
                    let most = lists.max().expect("a list has items");
                    assert!(most >= items, "of {items} items came {most}");
                }
            }
            Happened::Progress(request, said) => {
                let known = self.requests.get_mut(&request).expect("we asked that");
                assert_eq!(known.outcomes, 0, "progress of what has ended");
                let reached = known.reached.as_mut().expect("its progress was asked for");
                assert!(said.progress > *reached, "{said:?} after {reached}");
                *reached = said.progress;
                self.progressed += 1;
            }
            Happened::PeerFault(violation) => {
                told(&violation);
                if let PeerFault::Message(broken) = violation {
                    assert!(matches!(broken.code(), code::INVALID_REQUEST | code::INVALID_PARAMS));
                }
                self.faults += 1;
            }
            Happened::PeerError(error) => assert!(!error.to_string().is_empty()),
            Happened::TooManyFaults => assert!(self.faults > self.setup.limits.faults),
            Happened::PingTimeout => {
                let timeout = self.setup.keepalive.expect("pings are on").timeout;
                let pinged = self.pinged.filter(|at| *at >= self.heard).expect("a ping in this silence");
                assert!(!self.gave_up && pinged.saturating_add(timeout) <= self.now);
                self.gave_up = true;
            }
            Happened::Ready => self.ready += 1,
            Happened::Failed(failure) => {
                told(&failure);
                assert!(self.closed || self.drained || !matches!(failure, Failure::Closed));
                self.failed += 1;
            }
            Happened::ToolsListed => self.lists += 1,
            Happened::Notification => {}
        }
    }

    fn opened(&mut self, call: CallId, is_watched: Option<bool>, not_before: Option<Time>) {
        let id = self.unpolled.pop_front().expect("a call that nobody made");
        assert!(self.calls.iter().all(|other| other.call != call), "a handle comes once");
        let reached = f64::NEG_INFINITY;
        self.calls.push(Call { call, id, end: None, reached, is_watched, not_before });
    }

    /// Answers any call, open or ended, by calling `answer`; `fails` is true if the answer is an
    /// error.
    pub fn answer(
        &mut self,
        which: u8,
        fails: bool,
        answer: impl FnOnce(&mut S, CallId, &mut Messages) -> Result<(), NotOpen>,
    ) {
        // The ends of other calls are events, which have to be polled first.
        self.settle();
        let Some(open) = self.calls.get_mut(usize::from(which)) else { return };
        assert_eq!(self.session.is_open(open.call), open.end.is_none());
        let answered = answer(&mut self.session, open.call, &mut self.out);
        open.refused(answered.err());
        assert!(!self.session.is_open(open.call));
        if answered.is_ok() {
            open.end = Some(NotOpen::Answered);
            let [text] = &self.out.sent[..] else { panic!("one answer: {:?}", self.out.sent) };
            let written: BTreeMap<&str, &RawValue> = serde_json::from_str(text).unwrap();
            assert_eq!((written["id"].get(), written.contains_key("error")), (&*open.id, fails), "{text}");
        }
        assert_eq!(self.said(), usize::from(answered.is_ok()));
    }

    /// Answers a call with an object; any other result leaves the call as it was.
    pub fn respond(&mut self, which: u8, result: &Any<'_>) {
        if result.is_object() {
            return self.answer(which, false, |session, call, out| {
                session.respond_with(call, result, out).map_err(|error| match error {
                    RespondError::NotOpen(how) => how,
                    other => panic!("{other:?} for {result:?}"),
                })
            });
        }
        self.settle();
        let Some(open) = self.calls.get_mut(usize::from(which)) else { return };
        let was_open = self.session.is_open(open.call);
        match self.session.respond_with(open.call, result, &mut self.out) {
            Err(RespondError::NotOpen(how)) => open.refused(Some(how)),
            refused => assert_eq!(refused, Err(RespondError::Unserializable)),
        }
        assert_eq!(self.session.is_open(open.call), was_open);
        assert_eq!(self.said(), 0);
    }

    /// Reports the progress of a call, in halves; the highest number stands for NaN.
    pub fn progress(&mut self, which: u8, halves: u8) {
        self.settle();
        let version = self.session.protocol_version();
        let Some(open) = self.calls.get_mut(usize::from(which)) else { return };
        let value = if halves == u8::MAX { f64::NAN } else { f64::from(halves) / 2.0 };
        let mut said = Progress::new(value);
        if halves & 1 != 0 {
            said = said.of(if halves & 2 != 0 { f64::INFINITY } else { 128.0 });
        }
        if halves & 4 != 0 {
            said = said.saying("on it");
        }
        let grows = value > open.reached;
        let told = self.session.progress(open.call, &said, &mut self.out);
        let sent = self.out.take();
        open.refused(told.err());
        let is_told = told == Ok(true);
        assert_eq!(sent.len(), usize::from(is_told));
        assert!(!is_told || grows && !self.out.full, "{said:?} after {}", open.reached);
        if let (Ok(is_told), Some(is_watched)) = (told, open.is_watched) {
            assert_eq!(is_told, is_watched && grows && !self.out.full);
        }
        if told.is_ok() && grows {
            open.reached = value;
        }
        for text in sent {
            let mut written: Value = serde_json::from_str(&text).unwrap();
            written["params"].as_object_mut().unwrap().remove("progressToken").expect("whose it is");
            let mut params = json!({"progress": value});
            if let Some(total) = said.total.filter(|total| total.is_finite()) {
                params["total"] = total.into();
            }
            if said.message.is_some() && version > Some(ProtocolVersion::V2024_11_05) {
                params["message"] = "on it".into();
            }
            assert_eq!(
                written,
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            );
        }
    }

    /// Sets the timeout of a call, which starts now.
    pub fn set_call_timeout(&mut self, which: u8, timeout: Timeout) {
        self.settle();
        let Some(open) = self.calls.get_mut(usize::from(which)) else { return };
        let waits = self.session.set_call_timeout(open.call, timeout);
        open.refused(waits.err());
        open.not_before = match timeout {
            Timeout::Never => None,
            Timeout::After(span) => Some(self.now.saturating_add(span)),
            Timeout::Progress { idle, total } => Some(self.now.saturating_add(idle.min(total))),
            _ => Some(self.now),
        };
    }

    /// Sends a request by calling `ask`.
    pub fn ask(
        &mut self,
        timeout: Timeout,
        is_list: bool,
        ask: impl FnOnce(&mut S, Timeout, &mut Messages) -> Result<RequestId, NotSent>,
    ) {
        let next = self.next_id();
        let asked = ask(&mut self.session, timeout, &mut self.out);
        let watches = matches!(timeout, Timeout::Progress { .. });
        if let Some(text) = self.out.sent.last() {
            let written: Value = serde_json::from_str(text).unwrap();
            let token = &written["params"]["_meta"]["progressToken"];
            assert_eq!(*token, if watches { next.into() } else { Value::Null }, "{text}");
        }
        assert_eq!(self.said(), usize::from(asked.is_ok()), "{asked:?}");
        match asked {
            Ok(request) => {
                assert!(!self.drained && !self.closed);
                self.sent.get_mut(&next).expect("ids go up one by one").known_as = Some(request);
                let known = Request {
                    outcomes: 0,
                    reached: watches.then_some(f64::NEG_INFINITY),
                    items: is_list.then_some(0),
                };
                assert!(self.requests.insert(request, known).is_none(), "a handle comes once");
            }
            Err(error) => {
                told(&error);
                assert!(match error {
                    NotSent::TooManyInFlight => {
                        self.session.open_requests() >= self.setup.limits.requests
                    }
                    NotSent::Unserializable => true,
                    _ => self.out.full || !self.session.is_ready(),
                });
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Option<&Any<'_>>, timeout: Timeout) {
        let before = self.requests.len();
        self.ask(timeout, false, |session, timeout, out| session.request(method, params, timeout, out));
        assert!(self.requests.len() == before || params.is_none_or(Any::is_object), "{params:?}");
    }

    /// Delivers progress of the request with this number. The session reports the progress if the
    /// request is open, asks for progress, and the number has grown.
    pub fn hear_progress(&mut self, id: u64, to: u8) {
        self.settle();
        let (before, faults) = (self.progressed, self.faults);
        let known = self.sent.get(&id).and_then(|sent| Some((self.requests.get(&sent.known_as?)?, sent)));
        let expected = known.filter(|(request, _)| request.items.is_none()).map(|(request, _)| {
            request.outcomes == 0 && request.reached.is_some_and(|reached| f64::from(to) > reached)
        });
        // The progress of each page starts anew; progress that does not exceed that of earlier
        // pages is not reported.
        let is_old_of_list = known.is_some_and(|(request, _)| {
            request.items.is_some() && request.reached.is_some_and(|reached| f64::from(to) <= reached)
        });
        self.hear(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{to},"total":9,"message":"so"}}}}"#
        ));
        self.settle();
        let is_heard = !self.closed && self.session.protocol_version().is_some();
        if let (Some(expected), true) = (expected, is_heard) {
            assert_eq!(self.progressed - before, usize::from(expected), "progress of {id} to {to}");
        }
        let reported = (self.progressed - before) + (self.faults - faults);
        assert!(reported == 1 || !is_heard || is_old_of_list, "neither taken nor reported");
    }

    /// Delivers an answer to the request with this number: a page of `items` items.
    pub fn hear_page(&mut self, id: u64, items: usize, next: &str) {
        self.settle();
        let known_as = self.sent.get(&id).and_then(|sent| sent.known_as);
        let is_last = |known_as| {
            self.sent.iter().rfind(|(_, sent)| sent.known_as == known_as).is_some_and(|(last, _)| *last == id)
        };
        if let Some(request) =
            known_as.filter(|_| is_last(known_as)).and_then(|request| self.requests.get_mut(&request))
        {
            if let (0, Some(before)) = (request.outcomes, &mut request.items) {
                *before += items;
            }
        }
        let list = vec!["1"; items].join(",");
        let lists = ["tools", "resources", "resourceTemplates", "prompts"];
        let members = lists.map(|name| format!(r#""{name}":[{list}],"#)).concat();
        self.hear(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}"nextCursor":{next}}}}}"#));
    }

    /// Returns the number of one of our requests, counted back from the last one.
    pub fn back(&self, back: u8) -> u64 {
        self.next_id().saturating_sub(1 + u64::from(back % 4))
    }

    pub fn notify(&mut self, params: &Any<'_>) {
        let notified = self.session.notify("x/said", Some(params), &mut self.out);
        assert_eq!(self.said(), usize::from(notified.is_ok()));
        assert!(notified.is_err() || self.session.is_ready() && !self.out.full && params.is_object());
    }

    pub fn cancel(&mut self, which: u8, reason: Option<&str>) {
        let Some(request) = self.requests.keys().nth(usize::from(which)).copied() else { return };
        let waited = self.session.cancel(request, reason, &mut self.out);
        assert_eq!(self.said(), usize::from(waited), "a request is cancelled once, and the peer told");
    }

    pub fn drain(&mut self) {
        self.session.drain();
        self.drained = true;
        assert!(!self.session.is_ready());
    }

    pub fn shutdown(&mut self) {
        let open = self.session.open_calls();
        self.session.shutdown("over", &mut self.out);
        self.drained = true;
        assert_eq!(self.said(), open, "every call is answered");
        assert_eq!(self.session.open_calls(), 0);
    }

    pub fn end(&mut self) {
        self.session.close();
        self.closed = true;
        assert!(self.session.is_closed() && self.session.deadline().is_none_or(|due| due <= self.now));
    }

    /// Closes the session and checks that everything has ended and that nothing begins any more.
    pub fn close(&mut self) {
        self.end();
        shown(&self.session);
        self.settle();
        self.ledger.is_settled();
        assert!(self.calls.iter().all(|call| call.end.is_some()), "{:?}", self.calls);
        assert!(self.requests.values().all(|request| request.outcomes == 1), "{:?}", self.requests);
        self.hear(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        self.tick(self.now.saturating_add(Duration::from_secs(3600)));
        self.respond(0, &Any::Value(json!({})));
        self.request("x/ask", None, Timeout::Default);
        assert_eq!(self.session.deadline(), None);
        assert_eq!((self.session.open_calls(), self.session.open_requests()), (0, 0));
    }

    /// Records the messages that the session sent without a received text as their cause, and
    /// returns their number.
    pub fn said(&mut self) -> usize {
        let sent = self.note();
        self.ledger.said(&sent);
        sent.len()
    }

    /// Records the requests and cancellations among the messages that the session sent, and returns
    /// the messages.
    fn note(&mut self) -> Vec<String> {
        let sent = self.out.take();
        for message in &sent {
            match classify(message, &SessionLimits::default()) {
                Message::Request { id, method, .. } => {
                    let id = token(&id).parse().expect("ours are numbers");
                    assert_eq!(id, self.next_id(), "ids go up one by one: {message}");
                    self.sent.insert(id, Sent { method: method.into(), cancelled: 0, known_as: None });
                }
                Message::Notification { method, params } if method == "notifications/cancelled" => {
                    let params: Value = serde_json::from_str(params.unwrap().get()).unwrap();
                    let named = params["requestId"].as_u64().and_then(|id| self.sent.get_mut(&id));
                    let sent = named.unwrap_or_else(|| panic!("{message} names nothing"));
                    sent.cancelled += 1;
                    assert!(sent.method != "initialize" && sent.cancelled == 1, "{message}");
                }
                Message::Notification { method, .. } => {
                    assert_ne!(method, "notifications/progress", "nobody reported {message}");
                }
                _ => {}
            }
        }
        sent
    }

    fn next_id(&self) -> u64 {
        self.sent.last_key_value().map_or(1, |(last, _)| last + 1)
    }
}

impl Call {
    /// Checks that the outcome of an operation matches the state of the call.
    fn refused(&self, gone: Option<NotOpen>) {
        if let Some(gone) = gone {
            told(&gone);
        }
        // The session forgets calls that ended long ago.
        assert!(gone == Some(NotOpen::Unknown) || gone == self.end, "{self:?}: {gone:?}");
    }
}

/// Parameters that ask for progress.
pub const WATCHED: &str = r#"{"_meta":{"progressToken":"w"}}"#;
