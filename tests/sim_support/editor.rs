//! The application of the editor: it answers at once, late, twice or never, from inside the loop and from outside, and tells
//! its clients of selections, files and tools. It keeps the books of what it was told, and of what it was promised.

mod person;

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use ide_mcp::mcp::Violation;
use ide_mcp::{
    Time,
    ide::{ConnId, DiffEnd, DiffOutcome, DirectRequest, ServerEvent, ToolRequest},
    mcp::{CallEnd, Progress, ToolResult},
    rpc::{CallId, Gone, RequestId, RespondError},
    testing::Random,
    ws::Closed,
};

use super::{
    ledger::{Ledger, Standing},
    oracle::{Invariant as I, Oracle},
    plan::Plan,
    plant::Subject,
    tap::nonce_in,
};

/// The books of all connections that are not over.
pub type Books = BTreeMap<ConnId, Ledger>;

/// How long a call may be put off by progress.
const LONGEST: Duration = Duration::from_secs(600);

/// How long diagnostics may take.
const DIAGNOSTICS: Duration = Duration::from_millis(400);

/// How many ended calls are tried again.
const REMEMBERED: usize = 40;

/// A call that waits for the application.
#[derive(Debug)]
struct Open {
    nonce: Option<String>,
    what: What,
    /// How long it may wait: from when it was told or reported progress of, and in all.
    span: Option<Duration>,
    deadline: Option<Time>,
    latest: Time,
    reached: f64,
}

#[derive(Debug)]
enum What {
    Diff { tab: String },
    Tool,
    Raw,
}

/// What is to be done about a call.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Answer,
    Fail,
    Twice,
    Progress(u8),
}

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
    ended: VecDeque<(CallId, Gone)>,
    /// By the time in the world.
    deeds: BTreeMap<(Time, u64), (CallId, Deed)>,
    serial: u64,
    requests: BTreeMap<RequestId, Wanted>,
    /// Which selection is the last, and how long the longest text was.
    pub selected: u64,
    pub selected_len: usize,
    /// When it was selected, by the clock of the host.
    pub selected_at: Time,
    /// Which edition of the tools is offered, and when it became another than before, by the clock of the host.
    pub edition: u64,
    pub changes: Vec<Time>,
    mentions: u64,
    /// Mentions that have neither been sent nor expired: to whom, and until when.
    waiting_mentions: BTreeMap<u64, Mentioned>,
}

/// A mention that has not been seen on a wire.
#[derive(Debug)]
struct Mentioned {
    to: Option<ConnId>,
    until: Time,
    /// A connection has ended since, and may have taken it with it.
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
            selected_at: Time::ZERO,
            edition: 0,
            changes: Vec::new(),
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
        let is_end = matches!(event, ServerEvent::Closed(_));
        oracle.claim(book.standing != Standing::Stranger || is_end, I::NoToken, || {
            format!("a stranger leads to {event:?}")
        });
        match event {
            ServerEvent::Call { call, request } => {
                let (nonce, what) = asked(&request);
                // What the client waits for a while is answered in it, whatever progress is made.
                let (span, longest) = match request {
                    ToolRequest::OpenDiff(_) => (None, LONGEST),
                    ToolRequest::GetDiagnostics(_) => (Some(DIAGNOSTICS), DIAGNOSTICS),
                    _ => (Some(self.call_deadline), LONGEST),
                };
                self.take((now, time), (call, conn), (nonce, what, span, longest), subject, book, oracle);
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
            ServerEvent::CallEnded { call, how } => self.call_ended(time, call, &how, subject, book, oracle),
            ServerEvent::DiffClosed { call, why, tab_name } => {
                self.diff_closed((call, &tab_name, why), subject, book, oracle)
            }
            ServerEvent::Outcome { request, outcome } => self.outcome(time, request, &outcome, oracle),
            ServerEvent::Closed(closed) => self.closed(conn, &closed, book, oracle),
            ServerEvent::Violation(violation) => oracle.hit(match violation {
                Violation::LateResponse => "violation LateResponse",
                Violation::UnknownResponse => "violation UnknownResponse",
                Violation::Message(ide_mcp::rpc::Violation::NotJson) => "violation NotJson",
                Violation::RequestWithoutId => "violation RequestWithoutId",
                _ => "violation of another kind",
            }),
            _ => {}
        }
    }

    fn take(
        &mut self,
        (now, time): (Time, Time),
        (call, conn): (CallId, ConnId),
        (nonce, what, span, longest): (Option<String>, What, Option<Duration>, Duration),
        subject: &mut Subject,
        book: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        oracle.claim(ConnId::of_call(call) == conn, I::CrossTalk, || format!("{call:?} comes from {conn:?}"));
        book.opened(call, nonce.as_deref(), oracle);
        let is_diff = matches!(what, What::Diff { .. });
        let open = Open {
            nonce,
            what,
            span,
            deadline: span.map(|span| time.after(span)),
            latest: time.after(longest),
            reached: f64::NEG_INFINITY,
        };
        self.open.insert(call, open);
        let usual = span.unwrap_or(Duration::from_secs(5)).as_micros().try_into().unwrap_or(u64::MAX);
        let later = Duration::from_micros(self.random.number() % (usual * 5 / 4));
        let mut plan = |at: Time, deed| {
            self.serial += 1;
            self.deeds.insert((at, self.serial), (call, deed));
        };
        match self.random.below(12) {
            0..=2 if !is_diff => self.act(time, call, Deed::Answer, subject, oracle),
            3 => self.act(time, call, Deed::Twice, subject, oracle),
            4 => self.act(time, call, Deed::Fail, subject, oracle),
            5 => plan(now.after(later), Deed::Twice),
            6 => plan(now.after(later), Deed::Fail),
            7 => {
                for part in 1..=3 {
                    plan(now.after(later * part / 3), Deed::Progress(u8::try_from(part).unwrap_or(0)));
                }
                plan(now.after(later * 5 / 4), Deed::Answer);
            }
            8 | 9 => oracle.hit("editor never answers"),
            _ => plan(now.after(later), Deed::Answer),
        }
    }

    /// Everything that is due by now, from outside of the loop.
    pub fn do_deeds(&mut self, now: Time, time: Time, subject: &mut Subject, oracle: &mut Oracle) -> bool {
        let mut any = false;
        while let Some(entry) = self.deeds.first_entry().filter(|entry| entry.key().0 <= now) {
            let (call, deed) = entry.remove();
            self.act(time, call, deed, subject, oracle);
            any = true;
        }
        any
    }

    fn act(&mut self, time: Time, call: CallId, deed: Deed, subject: &mut Subject, oracle: &mut Oracle) {
        match deed {
            Deed::Answer => self.answer(call, true, subject, oracle),
            Deed::Fail => self.answer(call, false, subject, oracle),
            Deed::Twice => {
                self.answer(call, true, subject, oracle);
                self.answer(call, true, subject, oracle);
                oracle.hit("editor answers twice");
            }
            Deed::Progress(part) => self.progress(time, call, f64::from(part), subject, oracle),
        }
    }

    /// Answers a call, open or not.
    fn answer(&mut self, call: CallId, well: bool, subject: &mut Subject, oracle: &mut Oracle) {
        oracle.note(|| format!("editor answers {call:?}"));
        let before = subject.snapshot(ConnId::of_call(call));
        let open = self.open.get(&call);
        let nonce = open.and_then(|open| open.nonce.clone()).unwrap_or_default();
        let filler = if self.big && self.random.one_in(4) { 30_000 } else { 5 };
        let text = format!("{nonce}{}", "y".repeat(filler));
        let done = match open.map(|open| &open.what) {
            _ if !well => subject.host.fail(call, -7, &nonce),
            Some(What::Diff { tab }) if self.random.one_in(3) => {
                subject.host.decide(call, &DiffOutcome::Rejected { tab_name: tab.clone() })
            }
            Some(What::Diff { .. }) => subject.host.decide(call, &DiffOutcome::Saved { contents: text }),
            Some(What::Raw) => {
                let result =
                    serde_json::value::to_raw_value(&serde_json::json!({ "content": text })).unwrap();
                subject.host.respond_raw(call, &result).map_err(|error| match error {
                    RespondError::Gone(gone) => gone,
                    other => panic!("an object was refused: {other}"),
                })
            }
            Some(What::Tool) | None => subject.host.respond(call, &ToolResult::text(text)),
        };
        self.judge(call, before, done, subject, oracle);
        if done.is_ok() && self.open.remove(&call).is_some() {
            self.end(call, Gone::Answered);
            oracle.hit("editor answers");
        }
    }

    fn progress(
        &mut self,
        time: Time,
        call: CallId,
        reached: f64,
        subject: &mut Subject,
        oracle: &mut Oracle,
    ) {
        let before = subject.snapshot(ConnId::of_call(call));
        let said = Progress::new(reached).of(3.0).saying("on its way");
        let told = subject.host.progress(call, &said);
        self.judge(call, before, told.map(drop), subject, oracle);
        if let (Some(open), Ok(_)) = (self.open.get_mut(&call), told) {
            if reached > open.reached {
                open.reached = reached;
                open.deadline = open.span.map(|span| time.after(span).min(open.latest));
            }
        }
    }

    /// Whether an answer was rightly taken or refused.
    fn judge(
        &mut self,
        call: CallId,
        before: (usize, Option<Time>),
        done: Result<(), Gone>,
        subject: &mut Subject,
        oracle: &mut Oracle,
    ) {
        let mut done = done;
        if done.is_err() && subject.after_refusal(call) {
            done = Ok(());
        }
        let open = self.open.contains_key(&call);
        match done {
            Ok(()) => oracle.claim(open, I::StaleHandles, || format!("{call:?} is answered, and has ended")),
            Err(gone) => {
                let after = subject.snapshot(ConnId::of_call(call));
                oracle.claim(before == after, I::RefusalsFree, || {
                    format!("{gone}: {before:?} is {after:?} now")
                });
                // The connection may have ended with that still to be told.
                let known = self.ended.iter().find(|(ended, _)| *ended == call).map(|(_, how)| *how);
                let fits = gone == Gone::Closed || (!open && known.is_none_or(|how| how == gone));
                oracle.claim(fits, I::StaleHandles, || {
                    format!("{call:?} is refused with {gone:?}, not {known:?}")
                });
                oracle.hit(match gone {
                    Gone::Answered => "refused: answered",
                    Gone::Cancelled => "refused: cancelled",
                    Gone::Expired => "refused: expired",
                    Gone::Closed => "refused: closed",
                    _ => "refused: unknown",
                });
            }
        }
    }

    fn end(&mut self, call: CallId, how: Gone) {
        if self.ended.len() == REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((call, how));
    }

    fn call_ended(
        &mut self,
        time: Time,
        call: CallId,
        how: &CallEnd,
        subject: &mut Subject,
        book: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        let Some(open) = self.open.remove(&call) else {
            return oracle
                .claim(false, I::AnsweredOnce, || format!("{call:?} ends by {how:?}, and had ended"));
        };
        let gone = match how {
            CallEnd::Cancelled { .. } => {
                subject.after_cancel(call, book.silenced(call, true, oracle));
                oracle.hit("call cancelled");
                Gone::Cancelled
            }
            CallEnd::Expired => {
                let due = open.deadline.is_some_and(|due| due <= time);
                oracle.claim(due, I::CallDeadline, || format!("{call:?} expires before {:?}", open.deadline));
                oracle.hit("call expired");
                Gone::Expired
            }
            CallEnd::Closed => {
                book.silenced(call, false, oracle);
                oracle.hit("call abandoned");
                Gone::Closed
            }
            CallEnd::ShutDown => {
                oracle.hit("call shut down");
                Gone::Answered
            }
            _ => Gone::Unknown,
        };
        self.end(call, gone);
    }

    fn diff_closed(
        &mut self,
        (call, tab, why): (CallId, &str, DiffEnd),
        subject: &mut Subject,
        book: &mut Ledger,
        oracle: &mut Oracle,
    ) {
        let open = self.open.remove(&call);
        let fits =
            open.as_ref().is_some_and(|open| matches!(&open.what, What::Diff { tab: of } if of == tab));
        oracle.claim(fits, I::Diffs, || format!("{tab} closes by {why:?}: {open:?}"));
        let gone = match why {
            DiffEnd::TabClosed | DiffEnd::AllClosed => {
                oracle
                    .claim(book.is_doomed(call), I::Diffs, || format!("{tab} closes, and nobody closed it"));
                oracle.hit(if why == DiffEnd::TabClosed { "diff: tab closed" } else { "diff: all closed" });
                Gone::Answered
            }
            DiffEnd::Cancelled => {
                subject.after_cancel(call, book.silenced(call, true, oracle));
                oracle.hit("diff: cancelled");
                Gone::Cancelled
            }
            DiffEnd::Disconnected => {
                book.silenced(call, false, oracle);
                oracle.hit("diff: disconnected");
                Gone::Closed
            }
            _ => {
                oracle.hit("diff: shut down");
                Gone::Answered
            }
        };
        self.end(call, gone);
    }

    fn closed(&mut self, conn: ConnId, closed: &Closed, book: &mut Ledger, oracle: &mut Oracle) {
        book.has_ended = true;
        self.waiting_mentions.values_mut().for_each(|of| of.is_doubtful = true);
        let calls = self.open.keys().filter(|call| ConnId::of_call(**call) == conn).count();
        let requests = self.requests.keys().filter(|request| ConnId::of_request(**request) == conn).count();
        oracle.claim(calls + requests == 0, I::AnsweredOnce, || {
            format!("{calls} calls and {requests} requests outlive their connection")
        });
        oracle.hit(match closed {
            Closed::ByPeer { .. } => "host: closed by the peer",
            Closed::ByUs { answered: true } => "host: closed by us, answered",
            Closed::ByUs { answered: false } => "host: closed by us, unanswered",
            Closed::Vanished => "host: vanished",
            Closed::Violation(_) => "host: violation",
            Closed::Refused(_) => "host: refused",
            Closed::TimedOut => "host: timed out",
            Closed::Stalled => "host: stalled",
            _ => "host: closed otherwise",
        });
        let overfed = matches!(closed, Closed::Overfed | Closed::Entropy);
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
            let overdue = open.deadline.is_some_and(|due| due <= time) && !is_blocked(ConnId::of_call(*call));
            oracle.claim(!overdue, I::CallDeadline, || format!("{call:?} was due at {:?}", open.deadline));
        }
        for (request, wanted) in &self.requests {
            let overdue =
                wanted.deadline.is_some_and(|due| due <= time) && !is_blocked(ConnId::of_request(*request));
            oracle.claim(!overdue, I::RequestDeadline, || {
                format!("{request:?} was due at {:?}", wanted.deadline)
            });
        }
        for (number, of) in self.waiting_mentions.iter().filter(|(_, of)| all_written && !of.is_doubtful) {
            oracle.claim(of.until > time, I::Mentions, || format!("{number} was due at {:?}", of.until));
        }
    }

    /// Whether anything of this connection is open.
    pub fn open_of(&self, conn: ConnId) -> impl Iterator<Item = CallId> + '_ {
        self.open.keys().copied().filter(move |call| ConnId::of_call(*call) == conn)
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
        (self.selected, self.selected_len, self.edition) = (0, 0, 0);
    }
}

/// The mark of a call, and what it asks for.
fn asked(request: &ToolRequest) -> (Option<String>, What) {
    let (text, what) = match request {
        ToolRequest::OpenDiff(diff) => {
            (diff.new_file_contents.clone(), What::Diff { tab: diff.tab_name.clone() })
        }
        ToolRequest::GetDiagnostics(ask) => (ask.uri.clone().unwrap_or_default(), What::Tool),
        ToolRequest::OpenFile(file) => (file.file_path.clone(), What::Tool),
        ToolRequest::Other(other) => (other.arguments.get().to_owned(), What::Tool),
        other => (format!("{other:?}"), What::Tool),
    };
    (nonce_in(&text).map(str::to_owned), what)
}
