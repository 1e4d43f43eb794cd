//! The application of the editor: it answers at once, late, twice or never, from inside the loop and from outside, and tells
//! its clients of selections, files and tools. It keeps the books of what it was told, and of what it was promised.

mod calls;
mod person;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use ide_mcp::{
    Time,
    ide::{ConnId, DirectRequest, ServerEvent},
    mcp::PeerFault,
    rpc::{self, CallId, NotOpen, RequestId},
    testing::Random,
    ws::Closed,
};

use super::{
    ledger::{Ledger, Past, Standing},
    oracle::{Invariant as I, Oracle},
    plan::Plan,
    plant::{Subject, conn_asked, conn_of},
    tap::nonce_in,
};
use calls::{Deed, Open, What, asked};

/// The books of all connections that are not over.
pub type Books = BTreeMap<ConnId, Ledger>;

/// How long a call may be put off by progress.
const LONGEST: Duration = Duration::from_secs(600);

/// How long diagnostics may take.
const DIAGNOSTICS: Duration = Duration::from_millis(400);

/// A request of the editor.
#[derive(Debug)]
struct Wanted {
    deadline: Option<Time>,
}

#[derive(Debug)]
pub struct Editor {
    random: Random,
    call_deadline: Duration,
    request_timeout: Duration,
    big: bool,
    open: BTreeMap<CallId, Open>,
    ended: VecDeque<(CallId, NotOpen)>,
    /// By the time in the world.
    deeds: BTreeMap<(Time, u64), (CallId, Deed)>,
    serial: u64,
    requests: BTreeMap<RequestId, Wanted>,
    /// Which selection is the last, and how long the longest text was.
    pub selected: u64,
    pub selected_len: usize,
    /// Which edition of the tools is offered.
    pub edition: u64,
    pub past: Past,
    mentions: u64,
    /// Mentions that have neither been sent nor expired: to whom, and until when.
    waiting_mentions: BTreeMap<u64, Mentioned>,
}

/// A mention that has not been seen on a wire.
#[derive(Debug)]
struct Mentioned {
    to: Option<ConnId>,
    until: Time,
    /// A connection has ended since. If the mention lay in its send buffer, it comes to another one after later mentions.
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
            deeds: BTreeMap::new(),
            serial: 0,
            requests: BTreeMap::new(),
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

    /// When it does something of its own accord next.
    pub fn next_deed(&self) -> Option<Time> {
        self.deeds.keys().next().map(|(at, _)| *at)
    }

    /// It is told of something at this time of the world and of the host's clock.
    pub fn hear(
        &mut self,
        (now, time): (Time, Time),
        conn: ConnId,
        event: ServerEvent,
        subject: &mut Subject,
        book: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        oracle.claim(!book.has_ended, I::OneEnding, || format!("{event:?} comes after Closed"));
        oracle.claim(book.standing != Standing::Stranger, I::NoToken, || {
            format!("a stranger leads to {event:?}")
        });
        match event {
            ServerEvent::Call(call) => {
                let id = call.id();
                let (nonce, what) = asked(call);
                // What the client waits for a while is answered in it, whatever progress is made.
                let (span, longest) = match what {
                    What::Diff { .. } => (None, LONGEST),
                    What::Diagnostics => (Some(DIAGNOSTICS), DIAGNOSTICS),
                    _ => (Some(self.call_deadline), LONGEST),
                };
                self.take((now, time), (id, conn), (nonce, what, span, longest), subject, book, oracle);
            }
            ServerEvent::Direct { call, request } => {
                let DirectRequest::ReadFile(file) = &request else { return };
                let nonce = nonce_in(&file.path).map(str::to_owned);
                let span = Some(self.call_deadline);
                self.take(
                    (now, time),
                    (call, conn),
                    (nonce, What::Raw, span, LONGEST),
                    subject,
                    book,
                    oracle,
                );
            }
            ServerEvent::CallEnded { call, reason: how } => {
                self.call_ended(time, call, &how, subject, book, oracle)
            }
            ServerEvent::DiffClosed { call, reason: why, tab_name } => {
                self.diff_closed((call, &tab_name, why), subject, book, oracle)
            }
            ServerEvent::Outcome { request, outcome } => self.outcome(time, request, &outcome, oracle),
            ServerEvent::Closed(closed) => self.closed(conn, &closed, book, oracle),
            ServerEvent::PeerFault(violation) => oracle.hit(match violation {
                PeerFault::LateResponse => "violation LateResponse",
                PeerFault::UnknownResponse => "violation UnknownResponse",
                PeerFault::Message(rpc::InvalidMessage::NotJson) => "violation NotJson",
                PeerFault::RequestWithoutId => "violation RequestWithoutId",
                _ => "violation of another kind",
            }),
            _ => {}
        }
    }

    fn closed(&mut self, conn: ConnId, closed: &Closed, book: &mut Ledger, oracle: &mut Oracle) {
        book.has_ended = true;
        self.waiting_mentions.values_mut().for_each(|of| of.is_doubtful = true);
        let calls = self.open.keys().filter(|call| conn_of(**call) == conn).count();
        let requests = self.requests.keys().filter(|request| conn_asked(**request) == conn).count();
        oracle.claim(calls + requests == 0, I::AnsweredOnce, || {
            format!("{calls} calls and {requests} requests outlive their connection")
        });
        oracle.hit(match closed {
            Closed::Remote { .. } => "host: closed by the peer",
            Closed::Local { clean: true } => "host: closed by us, answered",
            Closed::Local { clean: false } => "host: closed by us, unanswered",
            Closed::Abnormal => "host: vanished",
            Closed::ProtocolError(_) => "host: violation",
            Closed::Refused(_) => "host: refused",
            Closed::TimedOut => "host: timed out",
            Closed::Stalled => "host: stalled",
            _ => "host: closed otherwise",
        });
        let overfed = matches!(closed, Closed::InputOverflow | Closed::Entropy);
        oracle
            .claim(!overfed, I::NothingUnseen, || format!("{closed:?}, although it was asked what it wants"));
    }

    /// At this time, after a turn of the loop: nothing is overdue where `is_blocked` does not say that time stands still.
    pub fn check(
        &self,
        time: Time,
        is_blocked: impl Fn(ConnId) -> bool,
        all_written: bool,
        oracle: &mut Oracle,
    ) {
        for (call, open) in &self.open {
            let overdue = open.deadline.is_some_and(|due| due <= time) && !is_blocked(conn_of(*call));
            oracle.claim(!overdue, I::CallDeadline, || format!("{call:?} was due at {:?}", open.deadline));
        }
        for (request, wanted) in &self.requests {
            let overdue = wanted.deadline.is_some_and(|due| due <= time) && !is_blocked(conn_asked(*request));
            oracle.claim(!overdue, I::RequestDeadline, || {
                format!("{request:?} was due at {:?}", wanted.deadline)
            });
        }
        for (number, of) in self.waiting_mentions.iter().filter(|_| all_written) {
            oracle.claim(of.until > time, I::Mentions, || format!("{number} was due at {:?}", of.until));
        }
    }

    /// Whether anything of this connection is open.
    pub fn open_of(&self, conn: ConnId) -> impl Iterator<Item = CallId> + '_ {
        self.open.keys().copied().filter(move |call| conn_of(*call) == conn)
    }

    /// The process is gone in the middle of everything.
    pub fn kill(&mut self) {
        self.open.clear();
        self.requests.clear();
        self.restart(&mut Oracle::default());
    }

    /// Another host takes the place of this one: handles of the old one mean nothing to it.
    pub fn restart(&mut self, oracle: &mut Oracle) {
        let left = self.open.len() + self.requests.len();
        oracle.claim(left == 0, I::AnsweredOnce, || format!("{left} calls and requests outlive their host"));
        self.ended.clear();
        self.deeds.clear();
        self.waiting_mentions.clear();
        self.past.selections.clear();
        (self.selected, self.selected_len, self.edition) = (0, 0, 0);
    }
}
