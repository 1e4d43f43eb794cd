//! The application of the editor. It answers at once, late, twice or never, inside the loop and outside, and sends its
//! clients selections, files and tools. It records its events, and the deadlines that the server must keep.

mod calls;
mod consent;
mod person;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use ide_mcp::ide::tool::DirectRequest;
use ide_mcp::{
    Time,
    ide::{ConnId, ServerEvent},
    mcp::PeerFault,
    rpc::{self, CallId, NotAnswered, RequestId},
    testing::Random,
    ws::Closed,
};

use super::{
    ledger::{Consent, Ledger, Past, SETTLE, Standing},
    oracle::{Invariant as I, Oracle},
    plan::Plan,
    plant::{Subject, conn_of, conn_of_request},
    tap::nonce_in,
};
use calls::{Action, Open, What, pending};
use consent::Question;

/// The ledgers of all connections that are not over.
pub type Ledgers = BTreeMap<ConnId, Ledger>;

/// The longest time for which progress can extend a call.
const LONGEST: Duration = Duration::from_secs(600);

/// The time that a call has for diagnostics.
const DIAGNOSTICS: Duration = Duration::from_millis(400);

/// A request of the editor.
#[derive(Debug)]
struct Wanted {
    deadline: Option<Time>,
    /// The mark of a form.
    form: Option<String>,
}

#[derive(Debug)]
pub struct Editor {
    random: Random,
    call_deadline: Duration,
    request_timeout: Duration,
    big: bool,
    open: BTreeMap<CallId, Open>,
    ended: VecDeque<(CallId, NotAnswered)>,
    /// The planned actions, by the time of the world.
    actions: BTreeMap<(Time, u64), (CallId, Action)>,
    /// The decisions about clients, by the time of the world: true if the person allows the client.
    decisions: BTreeMap<(Time, u64), (ConnId, bool)>,
    question: Question,
    /// True if the person allows every client from now on.
    pub allows_all: bool,
    serial: u64,
    requests: BTreeMap<RequestId, Wanted>,
    /// The number of forms.
    forms: u64,
    /// The number of the latest selection, and the length of the longest text.
    pub selected: u64,
    pub selected_len: usize,
    /// The edition of the tools that the editor offers.
    pub edition: u64,
    pub past: Past,
    mentions: u64,
    /// Mentions that have neither been sent nor expired.
    waiting_mentions: BTreeMap<u64, Mentioned>,
}

/// A mention that has not been observed on a wire.
#[derive(Debug)]
struct Mentioned {
    to: Option<ConnId>,
    until: Time,
    /// True if a connection has ended since the mention was made. If the mention was in the send
    /// buffer of that connection, another client gets the mention after later ones.
    is_doubtful: bool,
}

impl Editor {
    pub fn new(plan: &Plan, seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            call_deadline: plan.call_deadline,
            request_timeout: plan.request_timeout,
            big: plan.big,
            open: BTreeMap::new(),
            ended: VecDeque::new(),
            actions: BTreeMap::new(),
            decisions: BTreeMap::new(),
            question: Question::default(),
            allows_all: false,
            serial: 0,
            requests: BTreeMap::new(),
            forms: 0,
            selected: 0,
            selected_len: 0,
            edition: 0,
            past: Past { debounce: plan.debounce, changes: Vec::new(), selections: Vec::new() },
            mentions: 0,
            waiting_mentions: BTreeMap::new(),
        }
    }

    pub fn is_open(&self, call: CallId) -> bool {
        self.open.contains_key(&call)
    }

    pub fn shows(&self, call: CallId) -> bool {
        self.open.get(&call).is_some_and(|open| matches!(open.what, What::Diff { .. }))
    }

    /// Returns the time of the next planned action.
    pub fn next_action(&self) -> Option<Time> {
        let (action, decision) = (self.actions.keys().next(), self.decisions.keys().next());
        action.into_iter().chain(decision).map(|(at, _)| *at).min()
    }

    /// Handles an event, at this time of the world and of the server's clock.
    pub fn on_event(
        &mut self,
        (now, time): (Time, Time),
        conn: ConnId,
        event: ServerEvent,
        subject: &mut Subject,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        oracle.claim(!ledger.has_ended, I::OneEnding, || format!("{event:?} comes after Closed"));
        oracle.claim(ledger.standing != Standing::Outsider, I::NoToken, || {
            format!("an outsider causes {event:?}")
        });
        match event {
            ServerEvent::Call { call, .. } => {
                let id = call.id();
                let (nonce, what) = pending(call);
                // The client waits for diagnostics only this long, so progress does not extend
                // their time.
                let (span, longest) = match what {
                    What::Diff { .. } => (None, LONGEST),
                    What::Diagnostics => (Some(DIAGNOSTICS), DIAGNOSTICS),
                    _ => (Some(self.call_deadline), LONGEST),
                };
                self.take((now, time), (id, conn), (nonce, what, span, longest), subject, ledger, oracle);
            }
            ServerEvent::Direct { call, request, .. } => {
                let DirectRequest::ReadFile(file) = &request else { return };
                let nonce = nonce_in(&file.path).map(str::to_owned);
                let span = Some(self.call_deadline);
                self.take(
                    (now, time),
                    (call, conn),
                    (nonce, What::Raw, span, LONGEST),
                    subject,
                    ledger,
                    oracle,
                );
            }
            ServerEvent::GetPrompt { call, prompt, .. } => {
                let nonce = prompt.arguments.get("mark").and_then(|mark| nonce_in(mark)).map(str::to_owned);
                let terms = (nonce, What::Prompt, Some(self.call_deadline), LONGEST);
                self.take((now, time), (call, conn), terms, subject, ledger, oracle);
            }
            ServerEvent::ReadResource { call, resource, .. } => {
                let nonce = nonce_in(&resource.uri).map(str::to_owned);
                let terms = (nonce, What::Resource(resource.uri), Some(self.call_deadline), LONGEST);
                self.take((now, time), (call, conn), terms, subject, ledger, oracle);
            }
            ServerEvent::CallEnded { call, reason: how, .. } => {
                self.call_ended(time, call, &how, subject, ledger, oracle)
            }
            ServerEvent::DiffClosed { call, reason: why, tab_name, .. } => {
                self.diff_closed((call, &tab_name, why), subject, ledger, oracle)
            }
            ServerEvent::RootsChanged { roots, .. } => {
                let answer: serde_json::Value =
                    serde_json::from_str(&ledger.folders.take().unwrap_or_default()).unwrap_or_default();
                let uris = roots.iter().map(|root| serde_json::json!({ "uri": root.uri }));
                let is_answer = answer["roots"] == uris.collect::<serde_json::Value>();
                oracle.claim(is_answer, I::Roots, || format!("{roots:?} after {answer}"));
                oracle.hit("folders: reported");
            }
            ServerEvent::ConsentPending { .. } => self.on_consent_pending((now, time), conn, ledger, oracle),
            ServerEvent::Ready { .. } => oracle.claim(ledger.consent == Consent::Given, I::Consent, || {
                format!("{conn:?} is ready: {:?}", ledger.consent)
            }),
            ServerEvent::Outcome { request, outcome, .. } => self.outcome(time, request, &outcome, oracle),
            ServerEvent::Closed { reason: closed, .. } => self.closed(time, conn, &closed, ledger, oracle),
            ServerEvent::PeerFault { fault: violation, .. } => oracle.hit(match violation {
                PeerFault::LateResponse => "violation LateResponse",
                PeerFault::UnknownResponse => "violation UnknownResponse",
                PeerFault::Message(rpc::InvalidMessage::NotJson) => "violation NotJson",
                PeerFault::RequestWithoutId => "violation RequestWithoutId",
                _ => "violation of another kind",
            }),
            _ => {}
        }
    }

    fn closed(
        &mut self,
        time: Time,
        conn: ConnId,
        closed: &Closed,
        ledger: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        (ledger.has_ended, ledger.moved_at) = (true, time);
        self.question.end(conn, time, false);
        self.waiting_mentions.values_mut().for_each(|of| of.is_doubtful = true);
        let calls = self.open.keys().filter(|call| conn_of(**call) == conn).count();
        let requests = self.requests.keys().filter(|request| conn_of_request(**request) == conn).count();
        oracle.claim(calls == 0, I::AnsweredOnce, || format!("{calls} calls outlive their connection"));
        oracle
            .claim(requests == 0, I::OneOutcome, || format!("{requests} requests outlive their connection"));
        oracle.hit(match closed {
            Closed::Remote { .. } => "server: closed by the peer",
            Closed::Local { clean: true } => "server: closed by us, answered",
            Closed::Local { clean: false } => "server: closed by us, unanswered",
            Closed::Abnormal => "server: vanished",
            Closed::ProtocolError(_) => "server: violation",
            Closed::Refused(_) => "server: refused",
            Closed::TimedOut => "server: timed out",
            Closed::Stalled => "server: stalled",
            _ => "server: closed otherwise",
        });
        let overfed = matches!(closed, Closed::InputOverflow | Closed::Entropy);
        oracle.claim(!overfed, I::NothingUnseen, || {
            format!("{closed:?}, although the loop checks wants_input")
        });
    }

    /// Checks, after a turn of the loop, that nothing is overdue, except on connections whose
    /// timers are stopped (`is_blocked`).
    pub fn check(
        &self,
        time: Time,
        is_blocked: impl Fn(ConnId) -> bool,
        all_written: bool,
        oracle: &mut Oracle,
    ) {
        for (call, open) in &self.open {
            let overdue = open.due.is_some_and(|[_, due]| due <= time) && !is_blocked(conn_of(*call));
            oracle.claim(!overdue, I::CallDeadline, || format!("{call:?} was due at {:?}", open.due));
        }
        for (request, wanted) in &self.requests {
            // The time of a form begins when the client shows it, once it has settled.
            let held = if wanted.form.is_some() { SETTLE } else { Duration::ZERO };
            let is_due = wanted.deadline.is_some_and(|due| due.saturating_add(held) <= time);
            let overdue = is_due && !is_blocked(conn_of_request(*request));
            oracle.claim(!overdue, I::RequestDeadline, || {
                format!("{request:?} was due at {:?}", wanted.deadline)
            });
        }
        for (number, of) in self.waiting_mentions.iter().filter(|_| all_written) {
            oracle.claim(of.until > time, I::Mentions, || format!("{number} was due at {:?}", of.until));
        }
    }

    /// Returns the open calls of this connection.
    pub fn open_of(&self, conn: ConnId) -> impl Iterator<Item = CallId> + '_ {
        self.open.keys().copied().filter(move |call| conn_of(*call) == conn)
    }

    /// Ends the process in the middle of its work.
    pub fn kill(&mut self) {
        self.open.clear();
        self.requests.clear();
        self.restart(&mut Oracle::default());
    }

    /// Drops all state of the old server, because another server does not recognize its handles.
    pub fn restart(&mut self, oracle: &mut Oracle) {
        let left = self.open.len() + self.requests.len();
        oracle
            .claim(left == 0, I::AnsweredOnce, || format!("{left} calls and requests outlive their server"));
        self.ended.clear();
        self.actions.clear();
        self.decisions.clear();
        self.question = Question::default();
        self.waiting_mentions.clear();
        self.past.selections.clear();
        (self.selected, self.selected_len, self.edition) = (0, 0, 0);
    }
}
