//! The editor under test, and the faults that may be planted in it: a test of the oracle, which must find each of them
//! under its own invariant.

mod mangled;

use std::{collections::BTreeMap, time::Duration};

use ide_mcp::{
    Machine, Time, Wire,
    ide::{AgentId, ConnId, DiffEnd, Host, HostConfig, HostEvent, Policy, ServerEvent},
    mcp::ToolResult,
    rpc::{CallId, RequestId},
};

use super::{oracle::Invariant as I, said::PORT};

macro_rules! bugs {
    ($($(#[$doc:meta])* $bug:ident => $invariant:ident,)+) => {
        /// What is wrong with the editor, or with the agents.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Bug {
            $($(#[$doc])* $bug,)+
        }

        impl Bug {
            /// All of them, and the invariant that each breaks.
            pub const ALL: &[(Self, I)] = &[$((Self::$bug, I::$invariant),)+];
        }
    };
}

bugs! {
    /// It panics when a client says something rare.
    Panics => Total,
    /// What it says depends on how bytes were cut.
    TellsOfCuts => Cuts,
    /// Some ends are told twice.
    ClosedTwice => OneEnding,
    /// Some ends are not told.
    NeverCloses => OneEnding,
    /// The deadline stays where it was.
    StuckDeadline => ClockMovesOn,
    /// The deadline is a moment late.
    HidesDeadline => NothingUnseen,
    /// The loop is woken every few milliseconds.
    WakesForNothing => TimerStorm,
    /// What was read is kept.
    Hoards => Bounded,
    /// At a client that does not read, nothing is read either.
    StopsReading => Rest,
    AnswersTwice => AnsweredOnce,
    NeverAnswers => AnsweredOnce,
    AnswersUnderAnotherId => NothingUnasked,
    /// The answer to one client goes to another as well.
    AnswersSomebodyElse => CrossTalk,
    AnswersWhatWasCancelled => SilenceAfterCancel,
    /// A refused answer leaves a byte.
    RefusalLeavesAByte => RefusalsFree,
    /// An answer that is too late is taken, and dropped.
    TakesStaleAnswers => StaleHandles,
    AnswersWithNull => Envelope,
    /// Calls wait longer than they may.
    WaitsTooLong => CallDeadline,
    /// The end of a diff is not told.
    ForgetsADiff => Diffs,
    /// A closed tab closes one of somebody else.
    ClosesDiffOfAnother => Diffs,
    LosesSelections => Selection,
    SelectsTooEarly => Selection,
    /// An old selection is told after a newer one.
    SelectsBackward => Coalescing,
    /// The tools are said to have changed as a sign of life.
    ChangesToolsForNothing => ListChanged,
    /// Every selection is told at once.
    DoesNotDebounce => Coalescing,
    /// The same selection is told twice.
    SelectsTwice => Coalescing,
    /// A selection is sent once, though the client may have ignored it.
    SelectsOnce => Selection,
    LosesMentions => Mentions,
    /// A client is taken for one that accepts pushes from `initialized` on.
    MentionsAtOnce => Mentions,
    /// Two mentions are sent together.
    MentionsTogether => Mentions,
    ProgressGoesBack => Progress,
    /// Whoever asks is let in.
    NeedsNoToken => NoToken,
    /// Rules of the wire are not enforced.
    ClosesWithAnotherCode => Refusal,
    /// There are too many calls for what would end them.
    RefusesWhatEndsDiffs => Refusal,
    /// There are too many calls long before the limit.
    IsBusyTooEarly => Refusal,
    /// Nobody who is silent is given up.
    KeepsTheDead => Liveness,
    /// The shutdown waits for peers without end.
    ShutsDownSlowly => Shutdown,
    /// Whoever has the token is refused.
    RefusesTheHonest => Reconnect,
    ChoosesAnotherVersion => Negotiation,
    /// Ids of requests do not grow.
    ReusesIds => OwnIds,
    /// An agent forgets to say how a request ended.
    AgentForgetsAnOutcome => OneOutcome,
    /// An agent gives a request up before its time.
    AgentGivesUpEarly => RequestDeadline,
    /// An agent gives a request up twice.
    AgentCancelsTwice => OneCancel,
}

/// The connection that a call came by.
pub fn conn_of(call: CallId) -> ConnId {
    AgentId::of_call(call).conn().unwrap()
}

/// The connection that a request went out by.
pub fn conn_asked(request: RequestId) -> ConnId {
    AgentId::of_request(request).conn().unwrap()
}

/// The host, with a fault or without.
pub struct Subject {
    pub host: Host,
    bug: Option<Bug>,
    now: Time,
    /// What the fault makes of the output, and of which it has not been told that it is there.
    outs: BTreeMap<ConnId, Vec<u8>>,
    unnamed: Vec<ConnId>,
    done_since: BTreeMap<ConnId, Time>,
    extra: Vec<HostEvent>,
    hoard: Vec<u8>,
    count: usize,
    /// A selection of before.
    old: Option<Vec<u8>>,
    /// The last selection, or the mention that is held back, of each client.
    last: BTreeMap<ConnId, Vec<u8>>,
    connected: usize,
    mark: usize,
}

impl Subject {
    pub fn new(mut config: HostConfig, bug: Option<Bug>) -> Self {
        match bug {
            Some(Bug::NeedsNoToken) => {
                config.server.policy = Policy::without_authentication(PORT);
            }
            Some(Bug::RefusesTheHonest) => config.server.policy.port = PORT + 1,
            Some(Bug::WaitsTooLong) => config.server.mcp.call_deadline = Duration::from_secs(3_600),
            Some(Bug::DoesNotDebounce) => {
                (config.debounce, config.debounce_max) = (Duration::ZERO, Duration::ZERO);
            }
            Some(Bug::MentionsAtOnce) => config.server.settle = Some(Duration::ZERO),
            Some(Bug::KeepsTheDead) => config.server.ws.keepalive = None,
            Some(Bug::ShutsDownSlowly) => config.server.ws.close = Duration::from_secs(60),
            _ => {}
        }
        Self {
            mark: config.server.ws.outgoing,
            host: Host::new(config),
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
        }
    }

    /// True every so many times.
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

    pub fn poll_event(&mut self) -> Option<HostEvent> {
        if let Some(event) = self.extra.pop() {
            return Some(event);
        }
        let event = self.host.poll_event()?;
        let Some(bug) = self.bug else { return Some(event) };
        let HostEvent::Agent { agent, event: of_agent } = &event else { return Some(event) };
        match (bug, of_agent) {
            (Bug::ClosedTwice, ServerEvent::Closed(closed)) => {
                let again = ServerEvent::Closed(closed.clone());
                self.extra.push(HostEvent::Agent { agent: *agent, event: again });
            }
            (Bug::NeverCloses, ServerEvent::Closed(_)) if self.every(3) => return self.poll_event(),
            (Bug::ForgetsADiff, ServerEvent::DiffClosed { reason: DiffEnd::TabClosed, .. }) => {
                return self.poll_event();
            }
            (
                Bug::ClosesDiffOfAnother,
                ServerEvent::DiffClosed { reason: why @ (DiffEnd::TabClosed | DiffEnd::AllClosed), .. },
            ) => {
                let of = |(other, server): (AgentId, &ide_mcp::ide::Server)| {
                    let diff = server.open_diffs().next().filter(|_| other != *agent);
                    diff.map(|(call, tab)| (other, call, tab.to_owned()))
                };
                let another = self.host.agents().find_map(of);
                if let Some((agent, call, tab_name)) = another {
                    let why = *why;
                    let _ = self.host.call(call).respond(&ToolResult::text("DIFF_REJECTED"));
                    let event = ServerEvent::DiffClosed { call, tab_name, reason: why };
                    self.extra.push(HostEvent::Agent { agent, event });
                }
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

    /// Something with the wire of a connection, if it is there.
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
        // The host thinks that all of it was written, and would not wait for longer than this.
        let done = self.host.wire(conn).is_some_and(|wire| wire.is_done());
        let since = *self.done_since.entry(conn).or_insert(self.now);
        if !done {
            self.done_since.remove(&conn);
        } else if self.now >= since.saturating_add(Duration::from_secs(2)) {
            out.clear();
        }
        let mut heard = 0;
        let tells_of_cuts = self.bug == Some(Bug::TellsOfCuts);
        let most = if self.bug == Some(Bug::StopsReading) { self.mark } else { usize::MAX };
        let done = self.host.wire(conn).map(|inner| {
            let mut mangled =
                mangled::Mangled { inner: Box::new(inner), out, heard: &mut heard, tells_of_cuts, most };
            act(&mut mangled)
        });
        if self.bug == Some(Bug::Hoards) {
            self.hoard.extend(std::iter::repeat_n(1, heard * 20));
        }
        done
    }

    /// What a refusal may not change: how much waits, and when something is due.
    pub fn snapshot(&mut self, conn: ConnId) -> (usize, Option<Time>) {
        let waiting = self.host.wire(conn).map_or(0, |wire| wire.outgoing().len());
        let planted = self.outs.get(&conn).map_or(0, Vec::len);
        (waiting + planted, self.host.deadline())
    }

    /// Whether an answer that is refused is to be taken all the same, or to leave a trace.
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

    /// A call under this id was given up.
    pub fn after_cancel(&mut self, call: CallId, id: Option<String>) {
        if let (Some(Bug::AnswersWhatWasCancelled), Some(id)) = (self.bug, id) {
            let conn = conn_of(call);
            let answer = mangled::frame(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            self.outs.entry(conn).or_default().extend(answer);
            self.unnamed.push(conn);
        }
    }

    /// What goes with it when it is dropped, without what the fault itself needs.
    pub fn into_what_is_held(self) -> (Host, Vec<u8>) {
        (self.host, self.hoard)
    }
}
