//! The editor under test, and faults to plant in it. They test the oracle, which must find each under its own
//! invariant.

mod mangled;

use std::{collections::BTreeMap, time::Duration};

use ide_mcp::ide::kit::Range;
use ide_mcp::{
    Output, Time,
    ide::{AgentId, Auth, ConnId, DiffEnd, Policy, Selection, Server, ServerConfig, ServerEvent},
    mcp::{Outcome, ToolResult},
    rpc::{CallId, RequestId},
};

use super::{client_messages::PORT, oracle::Invariant as I};

macro_rules! bugs {
    ($($(#[$doc:meta])* $bug:ident => $invariant:ident,)+) => {
        /// A fault of the editor, or of the agents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$doc])* $bug,)+
        }

        impl Bug {
            /// All faults, each with the invariant that it breaks.
            pub const ALL: &[(Self, I)] = &[$((Self::$bug, I::$invariant),)+];
        }
    };
}

bugs! {
    /// The editor panics at a rare notification.
    Panics => Total,
    /// The output depends on the cuts of the bytes.
    ShowsCuts => Cuts,
    /// Each end is reported twice.
    ClosedTwice => OneEnding,
    /// Some ends are not reported.
    NeverCloses => OneEnding,
    /// The deadline stays where it was.
    StuckDeadline => ClockMovesOn,
    /// The deadline is a moment late.
    HidesDeadline => NothingUnseen,
    /// The loop is woken every few milliseconds.
    WakesForNothing => TimerStorm,
    /// The server keeps the bytes that it read.
    Hoards => Bounded,
    /// The server does not read from a client that does not read.
    StopsReading => Rest,
    AnswersTwice => AnsweredOnce,
    NeverAnswers => AnsweredOnce,
    AnswersUnderAnotherId => NothingUnasked,
    /// The answer to one client goes to another as well.
    AnswersSomebodyElse => CrossTalk,
    AnswersWhatWasCancelled => SilenceAfterCancel,
    /// A refused answer leaves a byte.
    RefusalLeavesAByte => RefusalsFree,
    /// A refused answer moves the deadline.
    RefusalSetsATimer => RefusalsFree,
    /// An answer that is too late is accepted, and dropped.
    TakesStaleAnswers => StaleHandles,
    AnswersWithNull => Envelope,
    /// Calls stay open beyond their deadline.
    WaitsTooLong => CallDeadline,
    /// The end of a diff is not reported.
    ForgetsADiff => Diffs,
    /// A closed tab closes a diff of another client.
    ClosesDiffOfAnother => Diffs,
    LosesSelections => Selection,
    SelectsTooEarly => Selection,
    /// An old selection is sent after a newer one.
    SelectsBackward => Coalescing,
    /// A change of the tools is announced without a change.
    ChangesToolsForNothing => ListChanged,
    /// Every selection is sent at once.
    DoesNotDebounce => Coalescing,
    /// The same selection is sent twice.
    SelectsTwice => Coalescing,
    /// The same selection is sent again a moment before the end of the settle time.
    RepeatsTooSoon => Coalescing,
    /// The selection is sent again with each change of the tools.
    RepeatsWithAChange => Coalescing,
    /// A selection is sent once, though the client may have ignored it.
    SelectsOnce => Selection,
    LosesMentions => Mentions,
    /// The server counts a client as ready for pushes from `initialized` on.
    MentionsAtOnce => Mentions,
    /// Two mentions are sent together.
    MentionsTogether => Mentions,
    ProgressGoesBack => Progress,
    /// Every client is accepted.
    NeedsNoToken => NoToken,
    /// The close code is wrong.
    ClosesWithAnotherCode => Refusal,
    /// A call that ends diffs is refused as one too many.
    RefusesWhatEndsDiffs => Refusal,
    /// Calls are refused as too many long before the limit.
    IsBusyTooEarly => Refusal,
    /// Silent peers are never closed.
    KeepsTheDead => Liveness,
    /// The shutdown waits for peers for 60 s.
    ShutsDownSlowly => Shutdown,
    /// Clients with the token are refused.
    RefusesTheHonest => Reconnect,
    ChoosesAnotherVersion => Negotiation,
    ReusesIds => OwnIds,
    /// A request comes after later ones.
    TurnsRequestsAround => OwnIds,
    /// A client that declared no folders is asked for them.
    AsksAnyoneForFolders => Roots,
    /// The second `roots/list` does not wait for the end of the first.
    AsksTwiceForFolders => Roots,
    NeverAsksForFolders => Roots,
    /// The folders that an event reports are not those of the answer.
    ReportsOtherFolders => Roots,
    /// Some forms have two outcomes.
    FormEndsTwice => OneOutcome,
    /// The outcome of a request is lost when its connection ends.
    LosesOutcomesAtTheEnd => OneOutcome,
    /// An answer that does not fit its form counts as accepted.
    TakesAnyFormAnswer => Forms,
    /// A form is sent to a client that shows none.
    SendsFormsToAnyone => Forms,
    /// A form does not wait until a new client has settled.
    SendsFormsAtOnce => Forms,
    /// The person is not asked about clients.
    NeedsNoConsent => Consent,
    /// The person is asked about a client while another question is open, and in the quiet time.
    AsksAtOnce => Consent,
    /// The person is not asked about some clients.
    ForgetsAQuestion => Consent,
    /// A selection is sent before the consent.
    SelectsBeforeTheConsent => Consent,
    /// A call that waited for the consent does not come after it.
    LosesWaitingCalls => AnsweredOnce,
    /// A refusal has the close code of a shutdown.
    RefusesLikeAShutdown => Consent,
    /// An agent does not report the outcome of a request.
    AgentForgetsAnOutcome => OneOutcome,
    /// The deadline of an agent's request is before the expected one.
    AgentGivesUpEarly => RequestDeadline,
    /// An agent cancels a request twice.
    AgentCancelsTwice => OneCancel,
}

/// Returns the connection on which a call came.
pub fn conn_of(call: CallId) -> ConnId {
    AgentId::of_call(call).conn().unwrap()
}

/// Returns the connection on which a request was sent.
pub fn conn_of_request(request: RequestId) -> ConnId {
    AgentId::of_request(request).conn().unwrap()
}

/// What a refusal leaves unchanged.
pub type Snapshot = (bool, usize, Option<Time>);

/// The time for the last bytes of a connection.
const DRAIN: Duration = Duration::from_secs(2);

/// The server, with a fault or without.
pub struct Subject {
    pub server: Server,
    bug: Option<Bug>,
    now: Time,
    /// The output that the fault leads to.
    outs: BTreeMap<ConnId, Vec<u8>>,
    /// True if such output came outside of a pass, and a pass must offer it.
    has_more: bool,
    /// The connections that the server has closed with output in `outs`, and the times.
    over: Vec<(ConnId, Time)>,
    /// True from the first poll of a pass to its `Wait`, and from the `Wait` of the server in it.
    is_passing: bool,
    host_waits: bool,
    /// The last offer, and those that found no room in this pass.
    offered: Option<ConnId>,
    full: Vec<ConnId>,
    extra: Vec<ServerEvent>,
    hoard: Vec<u8>,
    count: usize,
    /// An earlier selection.
    old: Option<Vec<u8>>,
    /// For each client, its last selection, or what is held back: a mention or a request.
    last: BTreeMap<ConnId, Vec<u8>>,
    connected: usize,
    mark: usize,
    /// The client that was allowed last, until its events are polled.
    allowed: Option<ConnId>,
    /// The client about which the person was asked last.
    pending: Option<ConnId>,
}

impl Subject {
    pub fn new(mut config: ServerConfig, bug: Option<Bug>) -> Self {
        match bug {
            Some(Bug::NeedsNoToken) => {
                config.policy = Policy::new(PORT, Auth::Disabled);
            }
            Some(Bug::RefusesTheHonest) => config.policy.port = PORT + 1,
            Some(Bug::WaitsTooLong) => config.mcp.call_deadline = Duration::from_secs(3_600),
            Some(Bug::DoesNotDebounce) => {
                (config.debounce, config.debounce_max) = (Duration::ZERO, Duration::ZERO);
            }
            Some(Bug::MentionsAtOnce | Bug::SendsFormsAtOnce) => config.settle = Some(Duration::ZERO),
            Some(Bug::RepeatsTooSoon) => config.settle = Some(Duration::from_millis(1_599)),
            Some(Bug::NeedsNoConsent) => config.asks_for_consent = false,
            Some(Bug::KeepsTheDead) => config.ws.keepalive = None,
            Some(Bug::ShutsDownSlowly) => config.ws.close = Duration::from_secs(60),
            _ => {}
        }
        Self {
            mark: config.ws.outgoing,
            server: Server::new(config),
            bug,
            now: Time::ZERO,
            outs: BTreeMap::new(),
            has_more: false,
            over: Vec::new(),
            is_passing: false,
            host_waits: false,
            offered: None,
            full: Vec::new(),
            extra: Vec::new(),
            hoard: Vec::new(),
            count: 0,
            old: None,
            last: BTreeMap::new(),
            connected: 0,
            allowed: None,
            pending: None,
        }
    }

    /// Returns true once in so many calls.
    fn every(&mut self, times: usize) -> bool {
        self.count += 1;
        self.count % times == 0
    }

    pub fn connect(&mut self, now: Time) -> ConnId {
        self.now = self.now.max(now);
        self.connected += 1;
        self.server.connect(now)
    }

    /// Returns the latest time that the server has seen.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Ends a connection whose socket failed.
    pub fn lose(&mut self, now: Time, conn: ConnId) {
        self.outs.remove(&conn);
        self.feed_eof(now, conn);
        self.feed_eof(now, conn);
    }

    pub fn feed_eof(&mut self, now: Time, conn: ConnId) {
        self.now = self.now.max(now);
        self.server.feed_eof(now, conn);
    }

    pub fn wants_input(&self, conn: ConnId) -> bool {
        let planted = self.outs.get(&conn).map_or(0, Vec::len);
        let is_stopped = self.bug == Some(Bug::StopsReading) && planted >= self.mark;
        self.server.wants_input(conn) && !is_stopped
    }

    pub fn wants_output(&self, conn: ConnId) -> bool {
        self.server.wants_output(conn) || self.outs.get(&conn).is_some_and(|out| !out.is_empty())
    }

    pub fn space(&mut self, conn: ConnId) -> &mut [u8] {
        self.server.space(conn)
    }

    pub fn filled(&mut self, now: Time, conn: ConnId, n: usize) {
        self.now = self.now.max(now);
        if self.bug == Some(Bug::ShowsCuts) && n == 20 {
            self.outs.entry(conn).or_default().extend([0x89, 0]);
        }
        if self.bug == Some(Bug::Hoards) {
            self.hoard.extend(std::iter::repeat_n(1, n * 20));
        }
        self.server.filled(now, conn, n);
    }

    pub fn trim(&mut self, conn: ConnId) {
        self.server.trim(conn);
    }

    pub fn waits_for_consent(&self, conn: ConnId) -> bool {
        self.server.agent(conn.into()).is_some_and(|agent| agent.waits_for_consent())
    }

    pub fn allow(&mut self, conn: ConnId) -> bool {
        self.allowed = Some(conn);
        self.server.agent_mut(conn.into()).allow()
    }

    pub fn deadline(&self) -> Option<Time> {
        let honest = self.server.deadline();
        match self.bug {
            Some(Bug::StuckDeadline) if self.connected > 1 => Some(honest.unwrap_or(self.now).min(self.now)),
            Some(Bug::HidesDeadline) if self.connected > 1 => {
                honest.map(|due| due.max(self.now.saturating_add(Duration::from_millis(1))))
            }
            Some(Bug::WakesForNothing) => {
                let soon = self.now.saturating_add(Duration::from_millis(3));
                Some(honest.map_or(soon, |due| due.min(soon)))
            }
            _ if self.is_passing && self.bug.is_some() || self.has_more || !self.extra.is_empty() => {
                Some(self.now)
            }
            _ => self.over.iter().map(|(_, since)| since.saturating_add(DRAIN)).chain(honest).min(),
        }
    }

    pub fn poll(&mut self, now: Time) -> Output<'_, ServerEvent, ConnId> {
        self.now = self.now.max(now);
        if self.bug.is_none() {
            return self.server.poll(now);
        }
        self.is_passing = true;
        self.full.extend(self.offered.take());
        if let Some(event) = self.extra.pop() {
            return Output::Event(event);
        }
        while !self.host_waits {
            match self.server.poll(now) {
                Output::Event(event) => match self.change(event) {
                    Some(event) => return Output::Event(event),
                    None => continue,
                },
                Output::Write { conn, bytes } => {
                    let new = bytes.to_vec();
                    self.server.written(conn, new.len());
                    let new = self.mangle(conn, &new);
                    self.outs.entry(conn).or_default().extend(new);
                }
                Output::Close(conn) => self.over.push((conn, self.now)),
                Output::Wait(_) => self.host_waits = true,
            }
            self.allowed = None;
        }
        // The server counts all of the output as written. It would wait no longer than 2 s for the writing.
        let ends = |(conn, since): &(ConnId, Time)| {
            self.outs.get(conn).is_none_or(Vec::is_empty) || self.now >= since.saturating_add(DRAIN)
        };
        if let Some(at) = self.over.iter().position(ends) {
            let (conn, _) = self.over.remove(at);
            self.outs.remove(&conn);
            return Output::Close(conn);
        }
        let waits = |(conn, out): &(&ConnId, &Vec<u8>)| !out.is_empty() && !self.full.contains(conn);
        if let Some(conn) = self.outs.iter().find(waits).map(|(conn, _)| *conn) {
            self.offered = Some(conn);
            return Output::Write { conn, bytes: &self.outs[&conn] };
        }
        (self.is_passing, self.host_waits, self.has_more) = (false, false, false);
        self.full.clear();
        Output::Wait(self.deadline())
    }

    pub fn written(&mut self, conn: ConnId, n: usize) {
        if self.bug.is_none() {
            return self.server.written(conn, n);
        }
        if n > 0 {
            self.offered = None;
            self.outs.entry(conn).or_default().drain(..n);
        }
    }

    /// Returns an event as the fault changes it; `None` if the fault hides it.
    fn change(&mut self, event: ServerEvent) -> Option<ServerEvent> {
        let Some(bug) = self.bug else { return Some(event) };
        let Some(agent) = event.agent() else { return Some(event) };
        if matches!(event, ServerEvent::ConsentPending { .. }) {
            self.pending = agent.conn();
        }
        match (bug, &event) {
            (Bug::ClosedTwice, ServerEvent::Closed { reason: closed, .. }) => {
                self.extra.push(ServerEvent::Closed { agent, reason: closed.clone() });
            }
            (Bug::AsksAtOnce, ServerEvent::IdeConnected { .. })
                if agent.conn() != self.pending
                    && agent.conn().is_some_and(|conn| self.waits_for_consent(conn)) =>
            {
                self.extra.push(ServerEvent::ConsentPending { agent, client: None, is_for_models: false });
            }
            (Bug::ForgetsAQuestion, ServerEvent::ConsentPending { .. }) if self.every(3) => {
                return None;
            }
            (Bug::NeverCloses, ServerEvent::Closed { .. }) if self.every(3) => return None,
            (Bug::ForgetsADiff, ServerEvent::DiffClosed { reason: DiffEnd::TabClosed, .. }) => {
                return None;
            }
            (
                Bug::ClosesDiffOfAnother,
                ServerEvent::DiffClosed { reason: why @ (DiffEnd::TabClosed | DiffEnd::AllClosed), .. },
            ) => {
                let of = |other: ide_mcp::ide::Agent<'_>| {
                    let diff = other.open_diffs().next().filter(|_| other.id() != agent);
                    diff.map(|(call, tab)| (other.id(), call, tab.to_owned()))
                };
                let another = self.server.agents().find_map(of);
                if let Some((agent, call, tab_name)) = another {
                    let why = *why;
                    let _ = self.server.call(call).respond(&ToolResult::text("DIFF_REJECTED"));
                    self.extra.push(ServerEvent::DiffClosed { agent, call, tab_name, reason: why });
                }
            }
            (Bug::ReportsOtherFolders, ServerEvent::RootsChanged { .. }) => {
                return Some(ServerEvent::RootsChanged { agent, roots: Vec::new() });
            }
            (Bug::FormEndsTwice, ServerEvent::Outcome { request, outcome: Outcome::Result(result), .. })
                if result.get().contains("\"action\"") =>
            {
                let outcome = Outcome::Result(result.clone());
                self.extra.push(ServerEvent::Outcome { agent, request: *request, outcome });
            }
            (Bug::LosesOutcomesAtTheEnd, ServerEvent::Outcome { outcome: Outcome::Closed, .. }) => {
                return None;
            }
            (Bug::TakesAnyFormAnswer, ServerEvent::Outcome { request, outcome: Outcome::Malformed, .. }) => {
                let result = serde_json::from_str(r#"{"action":"accept","content":{}}"#).unwrap();
                return Some(ServerEvent::Outcome {
                    agent,
                    request: *request,
                    outcome: Outcome::Result(result),
                });
            }
            (Bug::LosesWaitingCalls, ServerEvent::Call { .. }) if agent.conn() == self.allowed => {
                return None;
            }
            (Bug::Panics, ServerEvent::Notification { method, .. }) => {
                assert!(!method.contains("unknown"), "planted");
            }
            _ => {}
        }
        Some(event)
    }

    /// Returns what a refusal must leave unchanged: whether the server has output, how much output the fault has, and
    /// the deadline. The length of the server's output is not compared: the ledger finds a message too many. A deadline
    /// that has passed without a pass, as with the time of a new connection, counts as now.
    pub fn snapshot(&self, conn: ConnId) -> Snapshot {
        let planted = self.outs.get(&conn).map_or(0, Vec::len);
        (self.server.wants_output(conn), planted, self.server.deadline().map(|due| due.max(self.now)))
    }

    /// Lets the fault act on a refused answer. Returns true if the fault accepts the answer; other faults leave a trace
    /// of the refusal.
    pub fn after_refusal(&mut self, call: CallId) -> bool {
        match self.bug {
            Some(Bug::RefusalLeavesAByte) => {
                self.outs.entry(conn_of(call)).or_default().push(b'!');
                false
            }
            Some(Bug::RefusalSetsATimer) => {
                self.server.select(self.now, Selection::new("/w/b.txt", Range::default(), ""));
                false
            }
            Some(Bug::TakesStaleAnswers) => true,
            _ => false,
        }
    }

    /// Acts on the cancellation of a call with this id.
    pub fn after_cancel(&mut self, call: CallId, id: Option<String>) {
        if let (Some(Bug::AnswersWhatWasCancelled), Some(id)) = (self.bug, id) {
            let conn = conn_of(call);
            let answer = mangled::frame(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            self.outs.entry(conn).or_default().extend(answer);
            self.has_more = true;
        }
    }

    /// Returns the server and the hoarded bytes, without the other memory that the fault needs.
    pub fn into_held_memory(self) -> (Server, Vec<u8>) {
        (self.server, self.hoard)
    }
}
