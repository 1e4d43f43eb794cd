//! Checks a session of either role: the answers that it must send, the answers that it waits for, and everything else
//! that it sends.

use super::ledger::{Ledger, answered, meaning, messages, token};
use super::roles::{Any, Event, Session, check_error_text, shown};
use crate::model::{self, Answer, Due, Expected, Kind, State, fitting, is_served};
use ide_mcp::Keepalive;
use ide_mcp::Time;
use ide_mcp::mcp::{CallEnd, Failure, Forward, Outcome, PeerFault, Progress, ProtocolVersion, Timeout};
use ide_mcp::rpc::{self, CallId, Message, NotAnswered, NotSent, RequestId, SessionLimits, classify, code};
use ide_mcp::testing::Messages;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;
use std::time::Duration;

/// How often scripts have reached each situation.
pub type Hits = BTreeMap<String, usize>;

/// The settings of a session.
#[derive(Debug)]
pub struct Setup {
    pub limits: SessionLimits,
    pub keepalive: Option<Keepalive>,
    pub forward: Forward,
    /// The default timeout of a call, and how long it can become at most if progress extends it.
    pub call: (Duration, Duration),
    /// The default timeout of a request.
    pub request: Duration,
    /// The limit on the pages of a list.
    pub pages: usize,
    /// True if the session serves the requests of [`model::SERVED`] itself.
    pub serves: bool,
}

/// A wait for an answer.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// The longest time from one report of progress to the next.
    idle: Duration,
    latest: Time,
    due: Time,
}

impl Wait {
    /// Returns a wait that begins now; `None` if the wait has no end.
    fn begin(timeout: Timeout, now: Time, default: (Duration, Duration)) -> Option<Self> {
        let (idle, total) = match timeout {
            Timeout::Never => return None,
            Timeout::After(span) => (span, span),
            Timeout::Progress { idle, total } => (idle, total),
            _ => default,
        };
        let mut wait = Self { idle, latest: now.saturating_add(total), due: now };
        wait.restart(now);
        Some(wait)
    }

    fn restart(&mut self, now: Time) {
        self.due = now.saturating_add(self.idle).min(self.latest);
    }

    fn is_over(self, now: Time) -> bool {
        self.due <= now && self.due != Time::new(Duration::MAX)
    }
}

/// A request of the peer, as received.
#[derive(Debug)]
struct Incoming {
    id: String,
    /// The token, if the peer wants progress.
    progress: Option<String>,
    at: Time,
    /// True if the peer has cancelled the request.
    cancelled: bool,
    /// The kind of call that the application must get, if the parameters determine it.
    kind: Option<Kind>,
}

/// A call of the peer.
#[derive(Debug)]
struct Call {
    call: CallId,
    incoming: Incoming,
    kind: Kind,
    end: Option<NotAnswered>,
    reached: f64,
    wait: Option<Wait>,
}

/// A request of ours.
#[derive(Debug)]
struct Request {
    timeout: Timeout,
    wait: Option<Wait>,
    outcomes: usize,
    /// The kind of the outcome.
    outcome: String,
    /// The kind of the last answer.
    answer: Option<&'static str>,
    cancelled: bool,
    /// The last progress that the peer reported, if the request wants progress. For a list it is the progress of its
    /// pages.
    reached: Option<f64>,
    /// How many items the pages of a list have had so far, at least; `None` if the request is not for a list.
    items: Option<usize>,
    is_form: bool,
    /// The result that the application must get, if an answer that fits the form has arrived.
    fits: Option<&'static str>,
}

/// The kinds of requests of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    Any,
    List,
    Form,
}

/// A request that the session sent.
#[derive(Debug)]
struct Sent {
    method: String,
    cursor: Option<String>,
    at: Time,
    is_open: bool,
    cancelled: usize,
    known_as: Option<RequestId>,
}

/// A session, and what is expected of it.
#[derive(Debug)]
pub struct Oracle<S> {
    pub session: S,
    pub out: Messages,
    pub now: Time,
    pub closed: bool,
    /// How many events reported a successful handshake; `failed` counts those of a failed one.
    pub ready: usize,
    pub failed: usize,
    pub lists: usize,
    pub hits: Hits,
    setup: Setup,
    drained: bool,
    ledger: Ledger,
    /// The calls whose event has not been polled.
    unpolled: VecDeque<Incoming>,
    /// All calls, open and ended.
    calls: Vec<Call>,
    requests: BTreeMap<RequestId, Request>,
    sent: BTreeMap<u64, Sent>,
    /// The number of progress events.
    progressed: usize,
    faults: usize,
    /// The faults that are still to be reported. Each has a flag that is true if it counts against the limit.
    expected: VecDeque<(String, bool)>,
    /// The number of reported faults that count against the limit.
    tolerated: usize,
    /// The time of the last ping that the session itself sent.
    pinged: Option<Time>,
    /// When the last message arrived.
    last_received: Time,
    gave_up: bool,
    /// The id of the peer's `initialize`.
    opened_by: Option<String>,
    /// True if the peer has declared that it shows forms.
    pub shows_forms: bool,
    /// True if there is a template of resources.
    pub has_template: bool,
    /// True if the agent works in the other folders.
    pub has_other_roots: bool,
}

/// A request of a received text.
#[derive(Debug)]
struct PeerRequest {
    incoming: Incoming,
    method: String,
    /// True if a request with the same id is open.
    is_twice: bool,
    /// What the request must lead to; `None` if the model does not understand its parameters.
    due: Option<Due>,
}

impl<S: Session + Debug> Oracle<S> {
    pub fn new(session: S, setup: Setup) -> Self {
        Self {
            session,
            out: Messages::default(),
            now: Time::ZERO,
            closed: false,
            ready: 0,
            failed: 0,
            lists: 0,
            hits: Hits::new(),
            setup,
            drained: false,
            ledger: Ledger::default(),
            unpolled: VecDeque::new(),
            calls: Vec::new(),
            requests: BTreeMap::new(),
            sent: BTreeMap::new(),
            progressed: 0,
            faults: 0,
            expected: VecDeque::new(),
            tolerated: 0,
            pinged: None,
            last_received: Time::ZERO,
            gave_up: false,
            opened_by: None,
            shows_forms: false,
            has_template: false,
            has_other_roots: false,
        }
    }

    pub fn hit(&mut self, what: impl Into<String>) {
        *self.hits.entry(what.into()).or_default() += 1;
    }

    /// Delivers a message of the peer. Returns what the session sends at once: answers, and the request for the next
    /// page of a list. Skips a message whose effects the model cannot predict.
    pub fn receive(&mut self, text: &str) -> Vec<String> {
        let batches = self.session.protocol_version() == Some(ProtocolVersion::V2025_03_26);
        let limits = self.setup.limits.clone();
        let elements = messages(text, &limits, batches);
        // A session remembers only how its last 256 calls ended.
        if self.is_ambiguous(&elements) || self.calls.len() > 200 {
            return Vec::new();
        }
        self.last_received = self.now;
        if self.closed {
            self.session.receive(self.now, text, &mut self.out);
            assert!(self.out.sent.is_empty(), "after the end: {:?}", self.out.sent);
            return Vec::new();
        }
        self.expect_faults(&elements);
        let (calls, bytes, next) = (self.session.open_calls(), self.session.open_bytes(), self.next_id());
        let is_full = calls >= limits.open_calls && elements.len() == 1;
        let mut incoming: Vec<PeerRequest> = Vec::new();
        let mut list = None;
        for element in &elements {
            match classify(element, &limits) {
                Message::Request { id, method, params } => {
                    let request = self.peer_request(token(&id), &method, params, is_full);
                    if matches!(
                        (&*method, &request.due),
                        ("initialize", Some(Due::Now(Expected::Containing(_))))
                    ) {
                        self.opened_by = Some(request.incoming.id.clone());
                    }
                    incoming.push(request);
                }
                Message::Notification { method, params } if method == "notifications/cancelled" => {
                    self.note_cancellation(params, &mut incoming);
                }
                Message::Response { id, answer } => {
                    let answered = self.number(&token(&id)).and_then(|id| self.sent.get_mut(&id));
                    let Some(sent) = answered.filter(|sent| sent.is_open) else { continue };
                    sent.is_open = false;
                    let request =
                        sent.known_as.and_then(|request| Some((request, self.requests.get_mut(&request)?)));
                    let Some((handle, request)) = request else { continue };
                    request.answer = Some(match answer {
                        rpc::Answer::Result(result) if request.is_form => {
                            request.fits = fitting(result.get());
                            if request.fits.is_some() { "Result" } else { "Malformed" }
                        }
                        rpc::Answer::Result(_) => "Result",
                        rpc::Answer::Error(_) => "Error",
                        _ => "Malformed",
                    });
                    list = request.items.is_some().then_some(handle).or(list);
                }
                _ => {}
            }
        }
        self.session.receive(self.now, text, &mut self.out);
        let sent = self.note();
        assert!(batches || sent.iter().all(|sent| !sent.starts_with('[')), "a batch: {sent:?}");
        let effect = self.ledger.received(text, &limits, batches, &sent);
        assert!(effect.open.is_empty() || !self.drained, "a session that is ending accepts {text}");
        let may_be_full = calls >= limits.open_calls
            || elements.len() > 1
            || bytes > 0 && bytes + text.len() > limits.open_bytes;
        for request in incoming {
            let answer = effect.answers.iter().find(|answer| answer.id == request.incoming.id);
            self.check_answer(&request, answer, may_be_full);
            if answer.is_none() {
                self.unpolled.push_back(request.incoming);
            }
        }
        let mut asks_page = None;
        for (_, page) in self.sent.range_mut(next..) {
            // The request for the next page of the list that the text answers.
            let handle = list.take().unwrap_or_else(|| panic!("{text} led to {page:?}"));
            let request = self.requests.get_mut(&handle).expect("the request is known");
            assert!(page.method.ends_with("/list") && request.answer == Some("Result"), "{page:?}");
            assert!(!self.drained, "a session that is ending requests {page:?}");
            page.known_as = Some(handle);
            asks_page = Some(handle);
            request.answer = None;
            request.wait = Wait::begin(request.timeout, self.now, (self.setup.request, self.setup.request));
        }
        if asks_page.is_some() {
            let pages = || self.sent.values().filter(|sent| sent.known_as == asks_page);
            let cursors: BTreeSet<_> = pages().map(|page| &page.cursor).collect();
            assert!(pages().count() == cursors.len() && cursors.len() <= self.setup.pages, "{cursors:?}");
        }
        let (open, bytes) = (self.session.open_calls(), self.session.open_bytes());
        assert!(open <= limits.open_calls && (open < 2 || bytes <= limits.open_bytes), "{bytes} in {open}");
        assert_eq!(open == 0, bytes == 0);
        let pings = usize::from(self.setup.keepalive.is_some());
        assert!(self.session.open_requests() <= self.setup.limits.requests + pings);
        sent
    }

    /// Returns true if an answer to these messages could belong to two requests, if two of them answer a list, or if
    /// one of them could ask for progress twice.
    fn is_ambiguous(&self, elements: &[&str]) -> bool {
        let limits = &self.setup.limits;
        let (mut ids, mut lists) = (Vec::new(), 0);
        for element in elements {
            match classify(element, limits) {
                Message::Request { id, .. } | Message::Invalid { answer: Some((id, _)), .. } => {
                    ids.push(meaning(&token(&id)));
                }
                Message::Response { id, .. } => {
                    let sent = self.number(&token(&id)).and_then(|id| self.sent.get(&id));
                    lists += usize::from(sent.is_some_and(|sent| sent.method.ends_with("/list")));
                }
                _ => {}
            }
        }
        ids.sort_unstable();
        let is_watched_twice =
            |element: &&str| ["_meta", "progressToken"].iter().any(|name| element.matches(name).count() > 1);
        lists > 1 || ids.windows(2).any(|two| two[0] == two[1]) || elements.iter().any(is_watched_twice)
    }

    /// Returns the number of the request that a response answers, if we sent it.
    fn number(&self, token: &str) -> Option<u64> {
        let meaning = meaning(token);
        let digits = meaning.trim_matches('"');
        let number = digits.parse().ok().filter(|_| !digits.starts_with(['0', '+']))?;
        self.sent.contains_key(&number).then_some(number)
    }

    /// Records the faults of a message that the session must report, in order.
    fn expect_faults(&mut self, elements: &[&str]) {
        let limits = self.setup.limits.clone();
        let has_batches = self.session.protocol_version() == Some(ProtocolVersion::V2025_03_26);
        if elements.is_empty() {
            self.expected.push_back((if has_batches { "BatchLength" } else { "Batch" }.into(), true));
        }
        let is_awaiting = !self.drained && self.session.protocol_version().is_none();
        let mut answered = Vec::new();
        for element in elements {
            let fault = match classify(element, &limits) {
                Message::Invalid { answer, error } => Some((format!("{error:?}"), answer.is_none())),
                Message::Batch(_) => Some(("NestedBatch".into(), true)),
                Message::PeerError(_) => Some(("PeerError".into(), false)),
                Message::Notification { method, .. } if method == "notifications/initialized" => {
                    (S::IS_SERVER && is_awaiting).then(|| ("Premature".into(), false))
                }
                Message::Notification { method, .. } if ["ping", "tools/call"].contains(&&*method) => {
                    Some(("RequestWithoutId".into(), false))
                }
                Message::Response { id, answer } => {
                    let number = self.number(&token(&id));
                    let is_open = number.is_some_and(|id| self.sent[&id].is_open && !answered.contains(&id));
                    answered.extend(number);
                    match (number, answer) {
                        (None, _) => Some(("UnknownResponse".into(), false)),
                        _ if !is_open => Some(("LateResponse".into(), false)),
                        (_, rpc::Answer::Malformed(fault)) => Some((format!("{fault:?}"), false)),
                        _ => None,
                    }
                }
                _ => None,
            };
            self.expected.extend(fault);
        }
    }

    fn peer_request(
        &mut self,
        id: String,
        method: &str,
        params: Option<&RawValue>,
        is_full: bool,
    ) -> PeerRequest {
        let is_opened = match S::IS_SERVER {
            true => self.session.protocol_version().is_some(),
            false => self.session.is_ready(),
        };
        let may_be_taken = match &self.setup.forward {
            Forward::Nothing => false,
            Forward::Methods(methods) => methods.iter().any(|name| *name == method),
            _ => true,
        };
        let is_modelled = self.setup.serves && is_served(S::IS_SERVER, method);
        let state = match (self.drained, is_opened) {
            (true, _) => State::Ending,
            (_, true) => State::Open,
            _ => State::New,
        };
        let is_served = is_served(true, method) && method.ends_with("/list")
            || ["tools/list", "tools/call", "logging/setLevel"].contains(&method);
        let busy = || Some(Due::Now(Expected::Error(code::INTERNAL_ERROR)));
        let due = match Expected::of_session(S::IS_SERVER, state, method) {
            Some(expected) => Some(Due::Now(expected)),
            None if method == "tools/call" && S::IS_SERVER && is_full => busy(),
            None if is_modelled => {
                let params = params.map(RawValue::get);
                match model::served(method, params, self.has_template, self.has_other_roots) {
                    Some(Due::Call(_)) if is_full => busy(),
                    due => due,
                }
            }
            None if may_be_taken || S::IS_SERVER && is_served => None,
            None => Some(Due::Now(Expected::Error(code::METHOD_NOT_FOUND))),
        };
        let progress = member(params, "_meta").and_then(|meta| member(Some(meta), "progressToken"));
        let progress = progress.map(RawValue::get).filter(|token| is_id(token)).map(Into::into);
        let is_twice = self.calls.iter().any(|call| call.end.is_none() && call.incoming.is(&id))
            || self.unpolled.iter().any(|incoming| incoming.is(&id));
        let kind = match due {
            Some(Due::Call(kind)) => Some(kind),
            _ => None,
        };
        let incoming = Incoming { id, progress, at: self.now, cancelled: false, kind };
        PeerRequest { incoming, method: method.into(), is_twice, due }
    }

    /// Checks the answer that a request got at once, if it got one.
    fn check_answer(&mut self, request: &PeerRequest, answer: Option<&Answer>, may_be_full: bool) {
        let code = answer.and_then(|answer| answer.code);
        if answer.is_some() {
            let code = code.map_or_else(|| "result".into(), |code| code.to_string());
            if is_served(true, &request.method) || is_served(false, &request.method) {
                self.hit(format!("{} {code}", request.method));
            }
            self.hit(format!("answer {code}"));
        }
        let is_busy = code == Some(code::INTERNAL_ERROR);
        match &request.due {
            _ if request.is_twice => assert_eq!(code, Some(code::INVALID_REQUEST), "{request:?}"),
            Some(Due::Now(expected)) => {
                assert!(answer.is_some_and(|answer| expected.fits(answer)), "{request:?}: {answer:?}");
            }
            Some(Due::Call(_)) => {
                assert!(answer.is_none() || may_be_full && is_busy, "{request:?}: {answer:?}");
            }
            None if is_busy => {
                assert!(may_be_full, "{request:?} is refused");
                // The client has asked for the list, although the application does not get the request.
                self.lists += usize::from(request.method == "tools/list");
            }
            None => {}
        }
    }

    /// Records the cancellation of a call. The call may be in the same message.
    fn note_cancellation(&mut self, params: Option<&RawValue>, of_this_text: &mut [PeerRequest]) {
        let Some(id) = member(params, "requestId").map(RawValue::get).filter(|id| is_id(id)) else { return };
        let open = self.calls.iter_mut().filter(|call| call.end.is_none()).map(|call| &mut call.incoming);
        let of_this_text = of_this_text.iter_mut().map(|request| &mut request.incoming);
        if let Some(incoming) =
            open.chain(&mut self.unpolled).chain(of_this_text).find(|incoming| incoming.is(id))
        {
            incoming.cancelled = true;
            return;
        }
        let ended = self.calls.iter().rev().find(|call| meaning(&call.incoming.id) == meaning(id));
        self.hit(match ended.map(|call| call.end) {
            _ if self.opened_by.as_ref().is_some_and(|opened| meaning(opened) == meaning(id)) => {
                "race: cancelled_initialize"
            }
            Some(Some(NotAnswered::Cancelled)) => "race: cancelled_twice",
            Some(_) => "race: answered_then_cancelled",
            None => "race: cancelled_unknown_id",
        });
    }

    pub fn tick(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.settle();
        let deadline = self.session.deadline();
        let is_last = self.now == Time::new(Duration::MAX);
        assert!(deadline.is_none_or(|due| due > self.now) || is_last, "{deadline:?}");
    }

    pub fn settle(&mut self) {
        loop {
            let before = self.next_id();
            let due = self.session.deadline();
            let event = self.session.poll(self.now, &mut self.out);
            assert!(event.is_none() || due.is_some_and(|due| due <= self.now), "{event:?} at {due:?}");
            let sent_messages = self.note();
            self.ledger.sent_unprompted(&sent_messages);
            for sent in self.sent.range(before..).map(|(_, sent)| sent) {
                // Polling sends no requests other than pings.
                assert!(sent.method == "ping" && self.setup.keepalive.is_some(), "{sent:?}");
                self.pinged = Some(self.now);
            }
            if before < self.next_id() {
                // A ping replaces the one before it.
                self.own_ping_ended(before);
            }
            match event {
                Some(event) => self.on(event, &sent_messages),
                None => break,
            }
        }
        assert!(
            self.unpolled.is_empty(),
            "neither answered nor passed to the application: {:?}",
            self.unpolled
        );
        assert!(self.expected.is_empty(), "not reported: {:?}", self.expected);
        let open = || self.calls.iter().filter(|call| call.end.is_none());
        assert_eq!(open().count(), self.session.open_calls(), "{:?}", self.calls);
        assert!(open().all(|call| !call.incoming.cancelled), "{:?}", self.calls);
        let sent = || self.sent.values().filter(|sent| sent.is_open);
        assert_eq!(sent().count(), self.session.open_requests(), "{:?}", self.sent);
        let waits = sent().filter_map(|sent| match sent.known_as {
            Some(request) => {
                self.requests[&request].wait.filter(|_| !self.requests[&request].is_paced_list())
            }
            None if sent.method == "initialize" => Wait::begin(HANDSHAKE, sent.at, Default::default()),
            None => None,
        });
        let waits = waits.chain(open().filter_map(|call| call.wait)).map(|wait| wait.due);
        let due = waits.filter(|due| *due != Time::new(Duration::MAX)).min();
        let is_met = |due| due > self.now && self.session.deadline().is_some_and(|next| next <= due);
        assert!(due.is_none_or(is_met), "{due:?} is missed: {self:?}");
    }

    /// Records that the keepalive's own pings before this number have ended.
    fn own_ping_ended(&mut self, before: u64) {
        for (_, sent) in self.sent.range_mut(..before) {
            sent.is_open &= sent.method != "ping" || sent.known_as.is_some();
        }
    }

    /// Records an event. `sent_messages` are the messages that the session sent before it.
    fn on(&mut self, event: Event, sent_messages: &[String]) {
        match event {
            Event::Call(call, timeout) => self.opened(call, Kind::Tool, timeout),
            Event::GetPrompt(call) => self.opened(call, Kind::Prompt, Timeout::Default),
            Event::ReadResource(call) => self.opened(call, Kind::Resource, Timeout::Default),
            // A person has as much time for a form as progress can give to another call.
            Event::Form(call) => self.opened(call, Kind::Form, Timeout::After(self.setup.call.1)),
            Event::Request(call, method) => {
                // The client has asked for the list, even if the application answers the request.
                self.lists += usize::from(&*method == "tools/list");
                assert!(
                    match &self.setup.forward {
                        Forward::Methods(methods) => methods.iter().any(|name| *name == *method),
                        forward => {
                            let is_modelled = self.setup.serves && is_served(S::IS_SERVER, &method);
                            *forward == Forward::Unmodelled && !is_modelled
                        }
                    },
                    "{method} is not forwarded"
                );
                self.opened(call, Kind::Request, Timeout::Default);
            }
            Event::CallEnded(call, how) => {
                assert!(!self.session.is_open(call));
                let open = self.calls.iter_mut().find(|open| open.call == call).expect("it began");
                assert_eq!(open.end, None, "a call ends twice");
                let is_over = open.wait.is_some_and(|wait| wait.is_over(self.now));
                let (end, may_end) = match how {
                    CallEnd::Cancelled { .. } => (NotAnswered::Cancelled, open.incoming.cancelled),
                    CallEnd::Expired => (NotAnswered::Expired, is_over),
                    CallEnd::ShutDown => (NotAnswered::Answered, self.drained),
                    _ => (NotAnswered::Closed, self.closed),
                };
                assert!(may_end, "{how:?}: {open:?}");
                open.end = Some(end);
                let kind = open.kind;
                if matches!(end, NotAnswered::Cancelled | NotAnswered::Closed) {
                    self.ledger.forgiven(&open.incoming.id);
                }
                if end == NotAnswered::Expired {
                    assert_eq!(sent_messages.len(), 1, "{open:?}: {sent_messages:?}");
                    assert_eq!(
                        given_up(&sent_messages[0]),
                        kind != Kind::Tool,
                        "{open:?}: {sent_messages:?}"
                    );
                }
                self.hit(format!("call ended {}", name_of(&how)));
                self.hit(format!("{kind:?} {}", name_of(&how)));
            }
            Event::Outcome(request, outcome) => {
                let known = self.requests.get_mut(&request).expect("the request is known");
                known.outcomes += 1;
                assert_eq!(known.outcomes, 1, "{outcome:?}");
                let kind = name_of(&outcome);
                let may_end = match &*kind {
                    "TimedOut" => {
                        known.wait.is_some_and(|wait| wait.is_over(self.now) || known.is_paced_list())
                    }
                    "Cancelled" => known.cancelled,
                    "Closed" => self.closed || self.drained && known.items.is_some(),
                    // The request for a list can have a result although one of its pages cannot be read.
                    _ => known.answer.is_some_and(|answer| {
                        answer == kind || known.items.is_some() && answer == "Result" && kind == "Malformed"
                    }),
                };
                assert!(may_end, "{outcome:?}: {known:?}");
                if let (Some(items), Outcome::Result(whole)) = (known.items, &outcome) {
                    let whole: BTreeMap<String, &RawValue> = serde_json::from_str(whole.get()).unwrap();
                    let list =
                        |raw: &&RawValue| Some(serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()?.len());
                    let lists = whole.values().filter_map(list);
                    let most = lists.max().expect("a list has items");
                    assert!(most >= items, "only {most} of {items} items came");
                }
                let is_form = known.is_form;
                if let (true, Outcome::Result(result)) = (is_form, &outcome) {
                    assert_eq!(Some(result.get()), known.fits, "{known:?}");
                }
                known.outcome.clone_from(&kind);
                for sent in self.sent.values_mut().filter(|sent| sent.known_as == Some(request)) {
                    let is_given_up = sent.is_open && ["TimedOut", "Cancelled"].contains(&&*kind);
                    assert_eq!(sent.cancelled, usize::from(is_given_up), "{kind}: {sent:?}");
                    sent.is_open = false;
                }
                self.hit(format!("outcome {kind}"));
                if is_form {
                    self.hit(format!("form {kind}"));
                }
            }
            Event::Progress(request, progress) => {
                let known = self.requests.get_mut(&request).expect("the request is known");
                assert_eq!(known.outcomes, 0, "progress of a request that has ended");
                let reached = known.reached.as_mut().expect("the request wants progress");
                assert!(progress.progress > *reached, "{progress:?} after {reached}");
                *reached = progress.progress;
                known.wait.iter_mut().for_each(|wait| wait.restart(self.last_received));
                self.progressed += 1;
                self.hit("progress received");
            }
            Event::PeerFault(violation) => {
                check_error_text(&violation);
                if let PeerFault::Message(broken) = violation {
                    assert!(matches!(broken.code(), code::INVALID_REQUEST | code::INVALID_PARAMS));
                }
                let name = match violation {
                    PeerFault::Message(broken) => name_of(&broken),
                    other => name_of(&other),
                };
                if self.expected.front().is_some_and(|(expected, _)| *expected == name) {
                    self.tolerated += self.expected.pop_front().map_or(0, |(_, counts)| usize::from(counts));
                } else {
                    assert!(UNFORESEEN.contains(&&*name), "{name} before {:?}", self.expected);
                }
                self.faults += 1;
                self.hit(format!("violation {name}"));
            }
            Event::PeerError(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(self.expected.pop_front(), Some(("PeerError".into(), false)));
                self.hit("error without_id");
            }
            Event::TooManyFaults => {
                assert_eq!(self.tolerated, self.setup.limits.faults + 1);
                self.hit("session too_many_faults");
            }
            Event::PingTimeout => {
                let timeout = self.setup.keepalive.expect("pings are on").timeout;
                let pinged =
                    self.pinged.filter(|at| *at >= self.last_received).expect("a ping in this silence");
                assert!(!self.gave_up && pinged.saturating_add(timeout) <= self.now);
                self.gave_up = true;
                self.own_ping_ended(self.next_id());
                self.hit("session unresponsive");
            }
            Event::Ready => {
                self.ready += 1;
                assert_eq!(self.ready, 1, "a session becomes ready twice");
            }
            Event::Failed(failure) => {
                check_error_text(&failure);
                for sent in self.sent.values_mut().filter(|sent| sent.method == "initialize") {
                    sent.is_open = false;
                }
                self.hit(format!("failed {}", name_of(&failure)));
                assert!(self.closed || self.drained || !matches!(failure, Failure::Closed));
                self.failed += 1;
            }
            Event::ToolsListed => self.lists += 1,
            Event::Notification => {}
        }
    }

    fn opened(&mut self, call: CallId, kind: Kind, timeout: Timeout) {
        let incoming = self.unpolled.pop_front().expect("the peer has made this call");
        assert!(self.calls.iter().all(|other| other.call != call), "two calls have the same handle");
        let (kind, timeout) = match (kind, incoming.kind) {
            // A call that reads a resource has the default timeout, not that of its tool.
            (Kind::Tool, Some(Kind::ReadByTool)) => (Kind::ReadByTool, Timeout::Default),
            _ => (kind, timeout),
        };
        assert!(incoming.kind.is_none_or(|required| required == kind), "{kind:?}: {incoming:?}");
        let wait = Wait::begin(timeout, incoming.at, self.call_waits());
        self.calls.push(Call { call, incoming, kind, end: None, reached: f64::NEG_INFINITY, wait });
    }

    fn call_waits(&self) -> (Duration, Duration) {
        (self.setup.call.0, self.setup.call.0.max(self.setup.call.1))
    }

    /// Returns the position of a call; numbers above 127 select among the open calls.
    fn which(&self, which: u8) -> usize {
        let open: Vec<usize> = (0..self.calls.len()).filter(|at| self.calls[*at].end.is_none()).collect();
        match which {
            0..=127 => usize::from(which) % self.calls.len().max(1),
            _ => open.get(usize::from(which) % open.len().max(1)).copied().unwrap_or_default(),
        }
    }

    /// Answers any call, open or ended, by calling `answer`; `fails` is true if that answer is an error.
    pub fn answer(
        &mut self,
        which: u8,
        fails: bool,
        answer: impl FnOnce(&mut S, CallId, &mut Messages) -> Result<(), NotAnswered>,
    ) {
        // Poll first, because the ends of other calls are reported as events.
        self.settle();
        let which = self.which(which);
        self.hit_race(which, "race: cancelled_then_answered");
        let Some(open) = self.calls.get_mut(which) else { return };
        assert_eq!(self.session.is_open(open.call), open.end.is_none());
        let answered = answer(&mut self.session, open.call, &mut self.out);
        open.refused(answered.err());
        assert!(!self.session.is_open(open.call));
        if answered.is_ok() {
            open.end = Some(NotAnswered::Answered);
            for hit in ["call answered".into(), format!("{:?} answered", open.kind)] {
                *self.hits.entry(hit).or_default() += 1;
            }
            let [text] = &self.out.sent[..] else { panic!("one answer: {:?}", self.out.sent) };
            let written: BTreeMap<&str, &RawValue> = serde_json::from_str(text).unwrap();
            assert_eq!(
                (written["id"].get(), written.contains_key("error")),
                (&*open.incoming.id, fails),
                "{text}"
            );
            if open.kind == Kind::ReadByTool && !fails {
                let result = written["result"].get();
                assert!(result.starts_with(r#"{"contents":[{"uri":"ide://soon","#), "{result}");
            }
        }
        assert_eq!(self.record_sent(), usize::from(answered.is_ok()));
        if let Err(how) = answered {
            self.hit(format!("refused {how:?}"));
        }
    }

    /// Counts an operation on a call that the peer has cancelled.
    fn hit_race(&mut self, which: usize, what: &str) {
        let Some(call) = self.calls.get(which).filter(|call| call.end == Some(NotAnswered::Cancelled)) else {
            return;
        };
        let is_open = |other: &Call| other.end.is_none() && other.incoming.is(&call.incoming.id);
        if self.calls.iter().any(is_open) {
            self.hit("race: cancelled_then_id_again_then_answered");
        }
        self.hit(what);
    }

    /// Answers a call with an object; any other result leaves the call as it was. For a resource that a tool reads, the
    /// answer is the result of the tool, and becomes an error if the tool has failed.
    pub fn respond(&mut self, which: u8, result: &Any<'_>) {
        self.settle();
        let of_tool = self.calls.get(self.which(which)).is_some_and(|call| call.kind == Kind::ReadByTool);
        let (takes, fails) = match result {
            Any::Result(result) => (true, of_tool && result.is_error),
            _ => (result.is_object() && !of_tool, false),
        };
        if takes {
            return self.answer(which, fails, |session, call, out| {
                let answered = session.respond_with(call, result, out);
                assert!(
                    answered.is_ok() || answered.is_err_and(NotAnswered::is_over),
                    "{answered:?} for {result:?}"
                );
                answered
            });
        }
        let which = self.which(which);
        let Some(open) = self.calls.get_mut(which) else { return };
        let was_open = self.session.is_open(open.call);
        match self.session.respond_with(open.call, result, &mut self.out) {
            Err(how) if how.is_over() => open.refused(Some(how)),
            refused => assert_eq!((refused, was_open), (Err(NotAnswered::Unserializable), true)),
        }
        assert_eq!(self.session.is_open(open.call), was_open);
        assert_eq!(self.record_sent(), 0);
    }

    /// Reports the progress of a call: bits 3 to 5 are a number of halves, bits 0 to 2 select the total and the
    /// message, and 255 means NaN.
    pub fn progress(&mut self, which: u8, bits: u8) {
        self.settle();
        let version = self.session.protocol_version();
        let which = self.which(which);
        self.hit_race(which, "race: cancelled_then_progress");
        let Some(open) = self.calls.get_mut(which) else { return };
        let value = if bits == u8::MAX { f64::NAN } else { f64::from(bits >> 3 & 7) / 2.0 };
        let mut progress = Progress::new(value);
        if bits & 1 != 0 {
            progress = progress.of(if bits & 2 != 0 { f64::INFINITY } else { 128.0 });
        }
        if bits & 4 != 0 {
            progress = progress.message("on it");
        }
        let grows = value > open.reached;
        let result = self.session.progress(open.call, &progress, &mut self.out);
        let sent = self.out.take();
        open.refused(result.err());
        let is_sent = result == Ok(true);
        assert_eq!((sent.len(), result.is_ok()), (usize::from(is_sent), open.end.is_none()));
        if result.is_ok() {
            assert_eq!(
                is_sent,
                open.incoming.progress.is_some() && grows && !self.out.full,
                "{progress:?} after {}",
                open.reached
            );
        }
        if result.is_ok() && grows {
            open.reached = value;
            open.wait.iter_mut().for_each(|wait| wait.restart(self.now));
        }
        let token = open.incoming.progress.clone();
        if is_sent {
            self.hit("progress sent");
        }
        for text in sent {
            let mut written: Value = serde_json::from_str(&text).unwrap();
            written["params"].as_object_mut().unwrap().remove("progressToken");
            let named = format!(r#"{{"progressToken":{},"#, token.as_deref().unwrap_or_default());
            assert!(text.contains(&named), "{text} for {named}");
            let mut params = json!({"progress": value});
            if let Some(total) = progress.total.filter(|total| total.is_finite()) {
                params["total"] = total.into();
            }
            if progress.message.is_some() && version > Some(ProtocolVersion::V2024_11_05) {
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
        let (which, default) = (self.which(which), self.call_waits());
        let Some(open) = self.calls.get_mut(which) else { return };
        let waits = self.session.set_call_timeout(open.call, timeout);
        open.refused(waits.err());
        open.wait = Wait::begin(timeout, self.now, default);
    }

    /// Sends a request by calling `send`.
    pub fn send_request(
        &mut self,
        timeout: Timeout,
        what: RequestKind,
        send: impl FnOnce(&mut S, Timeout, &mut Messages) -> Result<RequestId, NotSent>,
    ) {
        let next = self.next_id();
        let sent = send(&mut self.session, timeout, &mut self.out);
        let watches = matches!(timeout, Timeout::Progress { .. });
        if let Some(text) = self.out.sent.last() {
            let written: Value = serde_json::from_str(text).unwrap();
            let token = &written["params"]["_meta"]["progressToken"];
            assert_eq!(*token, if watches { next.into() } else { Value::Null }, "{text}");
            let is_form =
                written["method"] == "elicitation/create" && written["params"]["message"] == "Which?";
            assert_eq!(is_form, what == RequestKind::Form, "{text}");
        }
        assert_eq!(self.record_sent(), usize::from(sent.is_ok()), "{sent:?}");
        match sent {
            Ok(request) => {
                assert!(!self.drained && !self.closed && (what != RequestKind::Form || self.shows_forms));
                self.sent.get_mut(&next).expect("ids go up one by one").known_as = Some(request);
                let known = Request {
                    timeout,
                    wait: Wait::begin(timeout, self.now, (self.setup.request, self.setup.request)),
                    outcomes: 0,
                    outcome: String::new(),
                    answer: None,
                    cancelled: false,
                    reached: watches.then_some(f64::NEG_INFINITY),
                    items: (what == RequestKind::List).then_some(0),
                    is_form: what == RequestKind::Form,
                    fits: None,
                };
                assert!(self.requests.insert(request, known).is_none(), "two requests have the same handle");
            }
            Err(error) => {
                check_error_text(&error);
                assert!(match error {
                    NotSent::TooManyInFlight => {
                        let ours =
                            |sent: &&Sent| sent.is_open && (sent.method != "ping" || sent.known_as.is_some());
                        self.sent.values().filter(ours).count() >= self.setup.limits.requests
                    }
                    NotSent::Unserializable => true,
                    NotSent::Undeclared => what == RequestKind::Form && !self.shows_forms,
                    _ => self.out.full || !self.session.is_ready(),
                });
            }
        }
    }

    pub fn request(&mut self, method: &str, params: Option<&Any<'_>>, timeout: Timeout) {
        let before = self.requests.len();
        self.send_request(timeout, RequestKind::Any, |session, timeout, out| {
            session.request(method, params, timeout, out)
        });
        assert!(self.requests.len() == before || params.is_none_or(Any::is_object), "{params:?}");
    }

    /// Delivers progress of the request with this number. The session must report it if the request is open and asked
    /// for progress, and the progress has grown.
    pub fn receive_progress(&mut self, id: u64, to: u8) {
        self.settle();
        let (before, faults) = (self.progressed, self.faults);
        let known = self.sent.get(&id).and_then(|sent| Some((self.requests.get(&sent.known_as?)?, sent)));
        let expected = known.filter(|(request, _)| request.items.is_none()).map(|(request, _)| {
            request.outcomes == 0 && request.reached.is_some_and(|reached| f64::from(to) > reached)
        });
        // Each page counts its progress from the start. The session reports it only once it exceeds that of earlier
        // pages.
        let is_old_of_list = known.is_some_and(|(request, _)| {
            request.items.is_some() && request.reached.is_some_and(|reached| f64::from(to) <= reached)
        });
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{to},"total":9,"message":"so"}}}}"#
        ));
        self.settle();
        let is_received = !self.closed && self.session.protocol_version().is_some();
        if let (Some(expected), true) = (expected, is_received) {
            assert_eq!(self.progressed - before, usize::from(expected), "progress of {id} to {to}");
        }
        let reported = (self.progressed - before) + (self.faults - faults);
        assert!(reported == 1 || !is_received || is_old_of_list, "neither taken nor reported");
    }

    /// Delivers an answer of this kind to the request with this number.
    pub fn receive_answer(&mut self, id: u64, answer: &str, kind: &str) {
        self.settle();
        let known_as = self.sent.get(&id).filter(|sent| sent.is_open).and_then(|sent| sent.known_as);
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
        self.settle();
        if let Some(known) =
            known_as.map(|request| &self.requests[&request]).filter(|known| known.items.is_none())
        {
            // Whether the answer fits a form depends on the content of the answer.
            let kind = if known.is_form { known.answer.unwrap_or_default() } else { kind };
            assert_eq!(known.outcome, kind, "{answer} to {id}");
        }
    }

    /// Delivers an answer to the request with this number: a page of `items` items.
    pub fn receive_page(&mut self, id: u64, items: usize, next: &str) {
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
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}"nextCursor":{next}}}}}"#));
    }

    /// Returns the id of an open call.
    pub fn open_id(&self, which: u8) -> Option<String> {
        let mut open = self.calls.iter().filter(|call| call.end.is_none()).map(|call| &call.incoming.id);
        open.nth(usize::from(which % 4)).cloned()
    }

    /// Returns the number of an open request that wants progress.
    pub fn watched(&self, which: u8) -> Option<u64> {
        let is_watched = |request| self.requests[&request].reached.is_some();
        let watched = |sent: &Sent| sent.is_open && sent.known_as.is_some_and(is_watched);
        let mut ids = self.sent.iter().filter(|(_, sent)| watched(sent)).map(|(id, _)| *id);
        ids.nth(usize::from(which % 4))
    }

    /// Returns the number of an open form.
    pub fn open_form(&self) -> Option<u64> {
        let is_form = |sent: &Sent| sent.is_open && sent.method == "elicitation/create";
        self.sent.iter().rfind(|(_, sent)| is_form(sent)).map(|(id, _)| *id)
    }

    /// Returns the number of one of our requests, counted back from the last one.
    pub fn back(&self, back: u8) -> u64 {
        self.next_id().saturating_sub(1 + u64::from(back % 4))
    }

    pub fn notify(&mut self, params: &Any<'_>) {
        let notified = self.session.notify("x/notice", Some(params), &mut self.out);
        assert_eq!(self.record_sent(), usize::from(notified.is_ok()));
        assert!(notified.is_err() || self.session.is_ready() && !self.out.full && params.is_object());
    }

    pub fn cancel(&mut self, which: u8, reason: Option<&str>) {
        self.settle();
        let which = usize::from(which) % self.requests.len().max(1);
        let Some((request, known)) = self.requests.iter_mut().nth(which) else { return };
        let (request, waits) = (*request, known.outcomes == 0);
        known.cancelled |= waits;
        assert_eq!(self.session.cancel(request, reason, &mut self.out), waits, "{known:?}");
        assert_eq!(
            self.record_sent(),
            usize::from(waits),
            "a cancelled request is cancelled at the peer, once"
        );
        self.settle();
    }

    pub fn drain(&mut self) {
        self.session.drain();
        self.drained = true;
        assert!(!self.session.is_ready());
    }

    pub fn shutdown(&mut self) {
        self.settle();
        let open: Vec<Kind> =
            self.calls.iter().filter(|call| call.end.is_none()).map(|call| call.kind).collect();
        self.session.shutdown("over", &mut self.out);
        self.drained = true;
        let sent_messages = self.note();
        self.ledger.sent_unprompted(&sent_messages);
        let failed: Vec<bool> = sent_messages.iter().map(|text| given_up(text)).collect();
        let required: Vec<bool> = open.iter().map(|kind| *kind != Kind::Tool).collect();
        assert_eq!(failed, required, "not every call is answered: {sent_messages:?}");
        assert_eq!(self.session.open_calls(), 0);
        self.settle();
    }

    pub fn end(&mut self) {
        self.settle();
        if !self.closed && self.calls.iter().any(|call| call.end == Some(NotAnswered::Cancelled)) {
            self.hit("race: cancelled_then_closed");
        }
        if !self.closed && !self.drained && self.session.is_ready() && self.session.deadline().is_none() {
            self.hit("closed in_order");
        }
        self.session.close();
        self.closed = true;
        self.sent.values_mut().for_each(|sent| sent.is_open = false);
        assert!(self.session.is_closed() && self.session.deadline().is_none_or(|due| due <= self.now));
    }

    /// Closes the session, and checks that everything has ended and that nothing starts any more.
    pub fn close(&mut self) {
        self.end();
        shown(&self.session);
        self.settle();
        self.ledger.is_settled();
        assert!(self.calls.iter().all(|call| call.end.is_some()), "{:?}", self.calls);
        assert!(self.requests.values().all(|request| request.outcomes == 1), "{:?}", self.requests);
        self.receive(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        self.tick(self.now.saturating_add(Duration::from_secs(3600)));
        self.respond(0, &Any::Value(json!({})));
        self.request("x/ask", None, Timeout::Default);
        assert_eq!(self.session.deadline(), None);
        assert_eq!((self.session.open_calls(), self.session.open_requests()), (0, 0));
    }

    /// Records messages that were not caused by a received message, and returns how many there are.
    pub fn record_sent(&mut self) -> usize {
        let sent = self.note();
        self.ledger.sent_unprompted(&sent);
        sent.len()
    }

    /// Takes what the session sent, and records the requests and cancellations in it.
    fn note(&mut self) -> Vec<String> {
        let sent = self.out.take();
        for message in &sent {
            match classify(message, &SessionLimits::default()) {
                Message::Request { id, method, params } => {
                    let cursor = member(params, "cursor").map(|cursor| cursor.get().into());
                    let id = token(&id).parse().expect("ours are numbers");
                    assert_eq!(id, self.next_id(), "ids go up one by one: {message}");
                    let sent = Sent {
                        method: method.into(),
                        cursor,
                        at: self.now,
                        is_open: true,
                        cancelled: 0,
                        known_as: None,
                    };
                    self.sent.insert(id, sent);
                }
                Message::Notification { method, params } if method == "notifications/cancelled" => {
                    let params: Value = serde_json::from_str(params.unwrap().get()).unwrap();
                    let named = params["requestId"].as_u64().and_then(|id| self.sent.get_mut(&id));
                    let sent = named.unwrap_or_else(|| panic!("{message} names nothing"));
                    sent.cancelled += 1;
                    assert!(sent.method != "initialize" && sent.cancelled == 1, "{message}");
                    self.hit("cancelled sent");
                }
                Message::Notification { method, .. } => {
                    assert_ne!(method, "notifications/progress", "the application did not report {message}");
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

impl Incoming {
    /// Returns true if the request has this id, in any spelling, and is not cancelled.
    fn is(&self, id: &str) -> bool {
        !self.cancelled && meaning(&self.id) == meaning(id)
    }
}

impl Call {
    /// Checks that the outcome of an operation matches the state of the call.
    fn refused(&self, gone: Option<NotAnswered>) {
        if let Some(gone) = gone {
            check_error_text(&gone);
        }
        assert_eq!(gone, self.end, "{self:?}");
    }
}

impl Request {
    /// Returns true if the end of the wait depends on progress that the session does not report.
    fn is_paced_list(&self) -> bool {
        self.items.is_some() && self.reached.is_some()
    }
}

/// The timeout of `initialize`.
const HANDSHAKE: Timeout = Timeout::After(Duration::from_secs(30));

/// The faults that the model cannot always predict.
const UNFORESEEN: [&str; 7] = [
    "RequestWithoutId",
    "Premature",
    "UnknownProgress",
    "StaleProgress",
    "UnreadableList",
    "BrokenCursor",
    "EndlessList",
];

/// Returns true if this answer of the session to a call is an error. (The failure of a tool is a result instead.)
fn given_up(answer: &str) -> bool {
    let answers = answered(answer);
    let [Answer { code, .. }] = &answers[..] else { panic!("one answer: {answer}") };
    assert!(code.is_none_or(|code| code == code::INTERNAL_ERROR), "{answer}");
    code.is_some()
}

/// Returns the name of a variant.
pub fn name_of(what: &impl Debug) -> String {
    let shown = format!("{what:?}");
    shown.split(|letter: char| !letter.is_alphanumeric()).next().unwrap_or_default().into()
}

/// Returns a member of an object.
fn member<'a>(object: Option<&'a RawValue>, name: &str) -> Option<&'a RawValue> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object?.get()).ok()?;
    members.get(name).copied()
}

/// Returns true if a token is a string or an integer.
fn is_id(token: &str) -> bool {
    match serde_json::from_str(token) {
        Ok(Value::String(_)) => true,
        Ok(Value::Number(number)) => number.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}

/// Parameters that ask for progress.
pub const WATCHED: &str = r#"{"_meta":{"progressToken":"w"}}"#;
