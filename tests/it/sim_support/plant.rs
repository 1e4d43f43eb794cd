//! The editor under test, and the faults that can be planted in it. They test the oracle, which has
//! to find each fault under its own invariant.

mod mangled;

use std::{collections::BTreeMap, time::Duration};

use ide_mcp::{
    Machine, Time, Wire,
    ide::{AgentId, ConnId, DiffEnd, Policy, Server, ServerConfig, ServerEvent},
    mcp::{Outcome, ToolResult},
    rpc::{CallId, RequestId},
};

use super::{oracle::Invariant as I, said::PORT};

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
    /// The host keeps the bytes that it read.
    Hoards => Bounded,
    /// The host does not read from a client that does not read.
    StopsReading => Rest,
    AnswersTwice => AnsweredOnce,
    NeverAnswers => AnsweredOnce,
    AnswersUnderAnotherId => NothingUnasked,
    /// The answer to one client goes to another as well.
    AnswersSomebodyElse => CrossTalk,
    AnswersWhatWasCancelled => SilenceAfterCancel,
    /// A refused answer leaves a byte.
    RefusalLeavesAByte => RefusalsFree,
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
    /// Every client is let in.
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
    /// Ids of requests do not grow.
    ReusesIds => OwnIds,
    /// A client that declared no folders is asked for them.
    AsksAnyoneForFolders => Roots,
    /// The second question for the folders does not wait for the end of the first.
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
    /// The person is not asked about clients.
    NeedsNoConsent => Consent,
    /// The person is asked about a client beside another one, and in the quiet time.
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
pub fn conn_asked(request: RequestId) -> ConnId {
    AgentId::of_request(request).conn().unwrap()
}

/// The host, with a fault or without.
pub struct Subject {
    pub host: Server,
    bug: Option<Bug>,
    now: Time,
    /// The output that the fault leads to, and the connections whose output is not announced yet.
    outs: BTreeMap<ConnId, Vec<u8>>,
    unnamed: Vec<ConnId>,
    done_since: BTreeMap<ConnId, Time>,
    extra: Vec<ServerEvent>,
    hoard: Vec<u8>,
    count: usize,
    /// An earlier selection.
    old: Option<Vec<u8>>,
    /// For each client, its last selection or the mention that is held back.
    last: BTreeMap<ConnId, Vec<u8>>,
    connected: usize,
    mark: usize,
    /// The client that was allowed last, until its events are polled.
    allowed: Option<ConnId>,
    /// The client about which the person was asked last.
    asked: Option<ConnId>,
}

impl Subject {
    pub fn new(mut config: ServerConfig, bug: Option<Bug>) -> Self {
        match bug {
            Some(Bug::NeedsNoToken) => {
                config.policy = Policy::without_authentication(PORT);
            }
            Some(Bug::RefusesTheHonest) => config.policy.port = PORT + 1,
            Some(Bug::WaitsTooLong) => config.mcp.call_deadline = Duration::from_secs(3_600),
            Some(Bug::DoesNotDebounce) => {
                (config.debounce, config.debounce_max) = (Duration::ZERO, Duration::ZERO);
            }
            Some(Bug::MentionsAtOnce) => config.settle = Some(Duration::ZERO),
            Some(Bug::RepeatsTooSoon) => config.settle = Some(Duration::from_millis(1_599)),
            Some(Bug::NeedsNoConsent) => config.asks_for_consent = false,
            Some(Bug::KeepsTheDead) => config.ws.keepalive = None,
            Some(Bug::ShutsDownSlowly) => config.ws.close = Duration::from_secs(60),
            _ => {}
        }
        Self {
            mark: config.ws.outgoing,
            host: Server::new(config),
            bug,
            now: Time::ZERO,
            outs: BTreeMap::new(),
            unnamed: Vec::new(),
            done_since: BTreeMap::new(),
            extra: Vec::new(),
            hoard: Vec::new(),
            count: 0,
            old: None,
            last: BTreeMap::new(),
            connected: 0,
            allowed: None,
            asked: None,
        }
    }

    /// Returns true every so many times.
    fn every(&mut self, times: usize) -> bool {
        self.count += 1;
        self.count % times == 0
    }

    pub fn connect(&mut self, now: Time) -> ConnId {
        self.now = self.now.max(now);
        self.connected += 1;
        self.host.connect(now)
    }

    pub fn tick(&mut self, now: Time) {
        self.now = self.now.max(now);
        self.host.tick(now);
    }

    pub fn remove(&mut self, now: Time, conn: ConnId) {
        self.now = self.now.max(now);
        self.host.remove(now, conn);
    }

    pub fn waits_for_consent(&self, conn: ConnId) -> bool {
        self.host.connections().any(|(of, server)| of == conn && server.waits_for_consent())
    }

    pub fn allow(&mut self, conn: ConnId) -> bool {
        self.allowed = Some(conn);
        self.host.agent_mut(conn.into()).allow()
    }

    pub fn deadline(&self) -> Option<Time> {
        let honest = self.host.deadline();
        match self.bug {
            Some(Bug::StuckDeadline) if self.connected > 1 => Some(honest.unwrap_or(self.now).min(self.now)),
            Some(Bug::HidesDeadline) if self.connected > 1 => {
                honest.map(|due| due.max(self.now.saturating_add(Duration::from_millis(1))))
            }
            Some(Bug::WakesForNothing) => {
                let soon = self.now.saturating_add(Duration::from_millis(3));
                Some(honest.map_or(soon, |due| due.min(soon)))
            }
            _ if !self.unnamed.is_empty() || !self.extra.is_empty() => Some(self.now),
            _ => honest,
        }
    }

    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        if let Some(event) = self.extra.pop() {
            return Some(event);
        }
        let Some(event) = self.host.poll_event() else {
            self.allowed = None;
            return None;
        };
        let Some(bug) = self.bug else { return Some(event) };
        let Some(agent) = event.agent() else { return Some(event) };
        if matches!(event, ServerEvent::ConsentPending { .. }) {
            self.asked = agent.conn();
        }
        match (bug, &event) {
            (Bug::ClosedTwice, ServerEvent::Closed { reason: closed, .. }) => {
                self.extra.push(ServerEvent::Closed { agent, reason: closed.clone() });
            }
            (Bug::AsksAtOnce, ServerEvent::IdeConnected { .. })
                if agent.conn() != self.asked
                    && agent.conn().is_some_and(|conn| self.waits_for_consent(conn)) =>
            {
                self.extra.push(ServerEvent::ConsentPending { agent, client: None, is_for_models: false });
            }
            (Bug::ForgetsAQuestion, ServerEvent::ConsentPending { .. }) if self.every(3) => {
                return self.poll_event();
            }
            (Bug::NeverCloses, ServerEvent::Closed { .. }) if self.every(3) => return self.poll_event(),
            (Bug::ForgetsADiff, ServerEvent::DiffClosed { reason: DiffEnd::TabClosed, .. }) => {
                return self.poll_event();
            }
            (
                Bug::ClosesDiffOfAnother,
                ServerEvent::DiffClosed { reason: why @ (DiffEnd::TabClosed | DiffEnd::AllClosed), .. },
            ) => {
                let of = |other: ide_mcp::ide::Agent<'_>| {
                    let diff = other.open_diffs().next().filter(|_| other.id() != agent);
                    diff.map(|(call, tab)| (other.id(), call, tab.to_owned()))
                };
                let another = self.host.agents().find_map(of);
                if let Some((agent, call, tab_name)) = another {
                    let why = *why;
                    let _ = self.host.call(call).respond(&ToolResult::text("DIFF_REJECTED"));
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
                return self.poll_event();
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
                return self.poll_event();
            }
            (Bug::Panics, ServerEvent::Notification { method, .. }) => {
                assert!(!method.contains("unknown"), "planted");
            }
            _ => {}
        }
        Some(event)
    }

    pub fn poll_transmit(&mut self) -> Option<ConnId> {
        self.unnamed.pop().or_else(|| self.host.poll_transmit())
    }

    /// Uses the wire of a connection, if the connection exists.
    pub fn with_wire<T>(&mut self, conn: ConnId, act: impl FnOnce(&mut dyn Wire) -> T) -> Option<T> {
        if self.bug.is_none() {
            return self.host.wire(conn).map(|mut wire| act(&mut wire));
        }
        let mut new = Vec::new();
        if let Some(mut wire) = self.host.wire(conn) {
            new.extend_from_slice(wire.outgoing());
            wire.sent(usize::MAX);
        }
        let new = self.mangle(conn, &new);
        let out = self.outs.entry(conn).or_default();
        out.extend(new);
        // The host counts all of the output as written. It would wait no longer than 2 s for the
        // writing.
        let done = self.host.wire(conn).is_some_and(|wire| wire.is_done());
        let since = *self.done_since.entry(conn).or_insert(self.now);
        if !done {
            self.done_since.remove(&conn);
        } else if self.now >= since.saturating_add(Duration::from_secs(2)) {
            out.clear();
        }
        let mut heard = 0;
        let shows_cuts = self.bug == Some(Bug::ShowsCuts);
        let most = if self.bug == Some(Bug::StopsReading) { self.mark } else { usize::MAX };
        let done = self.host.wire(conn).map(|inner| {
            let mut mangled =
                mangled::Mangled { inner: Box::new(inner), out, heard: &mut heard, shows_cuts, most };
            act(&mut mangled)
        });
        if self.bug == Some(Bug::Hoards) {
            self.hoard.extend(std::iter::repeat_n(1, heard * 20));
        }
        done
    }

    /// Returns the facts that a refusal leaves unchanged: the length of the output, and the
    /// deadline.
    pub fn snapshot(&mut self, conn: ConnId) -> (usize, Option<Time>) {
        let waiting = self.host.wire(conn).map_or(0, |wire| wire.outgoing().len());
        let planted = self.outs.get(&conn).map_or(0, Vec::len);
        (waiting + planted, self.host.deadline())
    }

    /// Returns true if the fault accepts a refused answer. Another fault leaves a trace of the
    /// refusal.
    pub fn after_refusal(&mut self, call: CallId) -> bool {
        match self.bug {
            Some(Bug::RefusalLeavesAByte) => {
                self.outs.entry(conn_of(call)).or_default().push(b'!');
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
            self.unnamed.push(conn);
        }
    }

    /// Returns the host and the hoard, without the memory that the fault itself needs.
    pub fn into_what_is_held(self) -> (Server, Vec<u8>) {
        (self.host, self.hoard)
    }
}
