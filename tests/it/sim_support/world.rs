//! The world of a run, and what moves in it: bytes over cables, turns of loops, and time.
//!
//! ```text
//!  agents ──┐                       ┌── Editor, the application
//!           ├── cables ── Subject ──┤        (the server, with a fault or without)
//! hostile ─┘       │               └── Ledgers, one for each connection
//!                   └── recorded at the server's end
//! ```
//!
//! Only `settle` and `advance` move anything: `settle` lets all events of one moment happen, and `advance` goes from
//! one such moment to the next. The loop of the server does only the work that its documentation asks for: a pass when
//! bytes came, a timer is due, or a socket with output has room again.

mod carry;
mod rest;

use std::time::Duration;

use ide_mcp::{
    Output, Time,
    ide::{ConnId, ServerEvent},
    testing::Random,
};

use super::{
    agent::Agent,
    editor::{Editor, Ledgers},
    hostile::Hostile,
    ledger::{Consent, Ledger, Standing},
    network::{Cable, Clock, Peer},
    oracle::{Invariant as I, Oracle},
    plan::Plan,
    plant::{Bug, Subject},
};

/// The number of rounds after which the bytes of one moment count as endless. A round can move a
/// single byte.
const NEVER_IDLE: usize = 200_000;

/// The cuts of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cuts {
    /// As the seed decides.
    Seeded,
    /// At most so many bytes at a time, both ways, in an orderly world. In other worlds the cuts can show, as law 2
    /// permits: if a timer is due at the moment bytes arrive, or an end comes with them.
    Into(usize),
}

pub struct World {
    pub plan: Plan,
    pub random: Random,
    pub now: Time,
    pub oracle: Oracle,
    pub subject: Subject,
    pub server_clock: Clock,
    /// The end of the suspension of the editor.
    pub server_asleep_until: Option<Time>,
    /// The start of the shutdown, by the clock of the server, and whether the server has slept since.
    pub shut_down: Option<(Time, bool)>,
    pub is_listening: bool,
    pub editor: Editor,
    pub ledgers: Ledgers,
    pub agents: Vec<Agent>,
    pub hostiles: Vec<Hostile>,
    pub cables: Vec<Cable>,
    /// The latest number of the marks of calls.
    pub serial: u64,
    network: Random,
    cuts: Cuts,
    bug: Option<Bug>,
    /// The largest number of connections at once.
    places: usize,
    /// The number of turns in which nothing happened, since the start.
    idle: u64,
    /// The number of connections whose end was not an event, since this server began.
    outsiders: u64,
}

impl World {
    pub fn new(seed: u64, cuts: Cuts, bug: Option<Bug>, traced: bool) -> Self {
        let mut random = Random::new(seed);
        let mut plan = Plan::of(&mut random);
        if cuts != Cuts::Seeded {
            plan.keep_orderly();
        }
        let agents = (0..plan.agents).map(|index| Agent::new(index, random.number(), &plan, bug)).collect();
        Self {
            now: Time::from_millis(1),
            oracle: Oracle::new(traced),
            subject: Subject::new(plan.server(), bug),
            server_clock: Clock::new(plan.shaky, random.number()),
            server_asleep_until: None,
            shut_down: None,
            is_listening: true,
            editor: Editor::new(&plan, random.number()),
            ledgers: Ledgers::new(),
            agents,
            hostiles: Vec::new(),
            cables: Vec::new(),
            serial: 0,
            network: Random::new(random.number()),
            cuts,
            bug,
            idle: 0,
            outsiders: 0,
            places: 0,
            plan,
            random,
        }
    }

    /// Returns true if no accident happens in this run, so that the cuts of bytes cannot be
    /// observed.
    pub fn is_orderly(&self) -> bool {
        self.cuts != Cuts::Seeded
    }

    /// Lets this much time pass, with all events in it.
    pub fn advance(&mut self, span: Duration) {
        let end = self.now.saturating_add(span);
        while self.oracle.is_content() {
            let next = self.next().filter(|next| *next < end).unwrap_or(end).max(self.now);
            self.now = next;
            self.oracle.now = next;
            let woken = self.is_woken();
            let any = self.settle();
            self.idle += u64::from(woken && !any);
            if next >= end {
                return;
            }
        }
    }

    /// Returns true if a timer of a machine is due.
    fn is_woken(&self) -> bool {
        let server = self.subject.deadline().filter(|_| self.server_asleep_until.is_none());
        let agents = self.agents.iter().filter(|agent| agent.is_awake()).filter_map(Agent::due);
        agents.chain(server.map(|due| self.server_clock.shows(due))).any(|due| due <= self.now)
    }

    /// Lets all events of this moment happen. Returns true if there was any.
    pub fn settle(&mut self) -> bool {
        self.wake();
        let mut any = false;
        for _ in 0..NEVER_IDLE {
            let mut moved = self.connect_agents();
            for at in 0..self.cables.len() {
                moved |= self.carry(at);
            }
            moved |= self.do_what_is_due();
            self.cables
                .retain(|cable| cable.conn.is_some() || !matches!(cable.peer, Peer::Dead | Peer::Lost));
            any |= moved;
            if !moved || !self.oracle.is_content() {
                self.check();
                return any;
            }
        }
        self.oracle.claim(false, I::TimerStorm, || "it never comes to rest".into());
        true
    }

    /// Returns the time of the next event.
    fn next(&self) -> Option<Time> {
        let server = self.server_asleep_until.or_else(|| {
            let due = self.server_clock.shows(self.subject.deadline()?);
            Some(self.editor.next_action().map_or(due, |action| action.min(due)))
        });
        let editor = self.editor.next_action().filter(|_| self.server_asleep_until.is_none());
        let agents = self.agents.iter().flat_map(|agent| match agent.asleep_until {
            Some(until) => [Some(until), None],
            None => [agent.due(), agent.connects_at()],
        });
        let hostiles = self.hostiles.iter().map(Hostile::next);
        let cables = self.cables.iter().map(|cable| cable.next_arrival(self.now));
        [server, editor].into_iter().chain(agents).chain(hostiles).chain(cables).flatten().min()
    }

    fn wake(&mut self) {
        let Self { agents, server_asleep_until, now, cables, subject, server_clock, ledgers, .. } = self;
        for agent in agents {
            agent.asleep_until.take_if(|until| *until <= *now);
        }
        if server_asleep_until.take_if(|until| *until <= *now).is_some() {
            for cable in cables.iter_mut().filter(|cable| cable.missed_by_server) {
                cable.missed_by_server = false;
                let time = server_clock.read(*now);
                let Some(conn) = cable.conn else { continue };
                subject.feed_eof(time, conn);
                ledgers.get_mut(&conn).into_iter().for_each(|ledger| ledger.has_hung_up = true);
            }
        }
        for cable in self.cables.iter_mut().filter(|cable| cable.missed_by_peer) {
            let Peer::Agent(at) = cable.peer else { continue };
            let agent = &mut self.agents[at];
            if agent.is_awake() {
                let time = agent.clock.read(self.now);
                agent.client.iter_mut().for_each(|client| client.feed_eof(time));
                cable.missed_by_peer = false;
            }
        }
    }

    /// Connects the agents whose time has come, if the server listens.
    fn connect_agents(&mut self) -> bool {
        let mut any = false;
        for at in 0..self.agents.len() {
            let due = self.agents[at].connects_at().is_some_and(|due| due <= self.now);
            if !due || !self.agents[at].is_awake() {
                continue;
            }
            any = true;
            // A sleeping server counts as absent, although a real listener would keep the connection for it.
            if self.is_listening && self.server_asleep_until.is_none() {
                self.agents[at].connect(self.now, &self.plan);
                self.join(Peer::Agent(at), Standing::Honest);
            } else {
                self.agents[at].found_nobody(self.now);
                self.oracle.hit("agent finds nobody");
            }
        }
        any
    }

    /// Connects a hostile peer.
    pub fn attack(&mut self) {
        let mut hostile = Hostile::new(self.now, self.plan.auth_failure, &mut self.random, &mut self.serial);
        let standing = hostile.standing;
        hostile.leaves &= !self.is_orderly();
        hostile.reads |= self.is_orderly();
        self.oracle.note(|| hostile.name.to_owned());
        self.hostiles.push(hostile);
        let conn = self.join(Peer::Hostile(self.hostiles.len() - 1), standing);
        if let (Some(ledger), Some(hostile)) = (self.ledgers.get_mut(&conn), self.hostiles.last()) {
            ledger.meanings.extend(hostile.meanings.iter().cloned());
        }
    }

    fn join(&mut self, peer: Peer, standing: Standing) -> ConnId {
        let time = self.server_clock.time_at(self.now);
        let conn = self.subject.connect(time);
        self.oracle.note(|| format!("{peer:?} connects as {conn:?}"));
        self.places = self.places.max(conn.index() + 1);
        let (changes, plan) = (self.editor.past.changes.len(), &self.plan);
        let consent = if plan.asks { Consent::NotAsked } else { Consent::Given };
        let ledger = Ledger::new(standing, consent, changes, plan.room(), plan.requests);
        let known = self.ledgers.insert(conn, ledger);
        self.oracle.claim(known.is_none(), I::CrossTalk, || format!("{conn:?} was there before"));
        let bulky = match peer {
            Peer::Hostile(at) => self.hostiles[at].is_bulky(),
            _ => self.plan.big,
        };
        self.cables.push(Cable::new(conn, peer, bulky, &self.plan, &mut self.network));
        conn
    }

    /// Runs the server, the agents and the hostile peers that are due without new bytes.
    fn do_what_is_due(&mut self) -> bool {
        let mut any = false;
        if self.server_asleep_until.is_none() {
            let time = self.server_clock.time_at(self.now);
            // The application answers after a turn of the loop.
            if self.subject.now() < time {
                any |= self.turn_server();
            }
            let Self { editor, subject, oracle, now, ledgers, .. } = self;
            any |= editor.decide(*now, time, subject, ledgers, oracle);
            any |= editor.run_actions(*now, time, subject, oracle);
            let due = self.subject.deadline();
            if due.is_some_and(|due| due <= time) {
                any |= self.turn_server();
            }
        }
        for at in 0..self.agents.len() {
            if self.agents[at].is_awake() && self.agents[at].due().is_some_and(|due| due <= self.now) {
                any |= self.turn_agent(at);
            }
        }
        for hostile in &mut self.hostiles {
            any |= hostile.turn(self.now);
        }
        any
    }

    /// Runs one turn of the loop of an agent. Returns true if anything happened.
    pub fn turn_agent(&mut self, at: usize) -> bool {
        self.pass_of_agent(at, false)
    }

    /// Runs a pass of an agent, whose socket takes bytes or not.
    fn pass_of_agent(&mut self, at: usize, writes: bool) -> bool {
        let Self { agents, cables, now, oracle, plan, .. } = self;
        let Some(cable) = cables.iter_mut().find(|cable| cable.peer == Peer::Agent(at)) else { return false };
        let any = agents[at].turn(*now, cable, writes, oracle);
        agents[at].relist(plan);
        any
    }

    /// Runs one turn of the loop of the server. Returns true if anything happened.
    pub fn turn_server(&mut self) -> bool {
        self.pass(None)
    }

    /// Runs a pass of the server in which only the socket of this cable takes bytes. The other sockets take theirs in
    /// the turns of their own cables: otherwise the cuts of the input would decide how much output waits together.
    fn pass(&mut self, writable: Option<usize>) -> bool {
        let latest = self.server_clock.time_at(self.now);
        let (mut time, mut any) = (latest, false);
        while self.oracle.is_content() {
            let announced = self.subject.deadline().is_some_and(|due| due <= latest);
            match self.subject.poll(time) {
                Output::Event(event) => {
                    self.oracle.claim(announced, I::NothingUnseen, || format!("{event:?} was not announced"));
                    any = true;
                    self.on_event(latest, event);
                }
                Output::Write { conn, bytes } => {
                    let cable =
                        self.cables.iter_mut().enumerate().find(|(_, cable)| cable.conn == Some(conn));
                    let Some((at, cable)) = cable else {
                        let what = || format!("{conn:?} is over, and writes");
                        self.oracle.claim(false, I::OneEnding, what);
                        break;
                    };
                    // What was left over waits for room, and not for a time.
                    let announced = announced || cable.unwritten > 0;
                    any |= bytes.len() > cable.unwritten;
                    let mut n = 0;
                    if writable == Some(at) {
                        n = cable.down.write(self.now, bytes);
                        cable.down_is_full = n < bytes.len();
                    }
                    let message = bytes[..n].to_vec();
                    cable.unwritten = bytes.len() - n;
                    self.subject.written(conn, n);
                    self.oracle.claim(announced, I::NothingUnseen, || {
                        format!("output of {conn:?} was not announced")
                    });
                    any |= n > 0;
                    if let Some(ledger) = self.ledgers.get_mut(&conn) {
                        ledger.on_sent(
                            self.server_clock.latest(),
                            &message,
                            &self.editor.past,
                            &mut self.oracle,
                        );
                        self.editor.mentioned(conn, ledger, &mut self.oracle);
                    }
                }
                Output::Close(conn) => {
                    self.oracle.claim(announced, I::NothingUnseen, || {
                        format!("the end of {conn:?} was not announced")
                    });
                    any = true;
                    self.close_socket(conn);
                }
                Output::Wait(due) => {
                    self.oracle.claim(due.is_none_or(|due| due > latest), I::ClockMovesOn, || {
                        format!("the server is due at {due:?} after a turn at {latest:?}")
                    });
                    return any;
                }
            }
            // A pass has the time of its first poll, even if the clock shows an earlier one later.
            time = self.server_clock.read(self.now);
        }
        any
    }

    fn on_event(&mut self, time: Time, event: ServerEvent) {
        self.oracle.note(|| super::ledger::short(&format!("server: {event:?}")));
        if let Some(conn) = event.agent().map(|agent| agent.conn().unwrap()) {
            let Self { editor, subject, oracle, ledgers, now, .. } = self;
            match ledgers.get_mut(&conn) {
                Some(ledger) => editor.on_event((*now, time), conn, event, subject, ledger, oracle),
                None => oracle.claim(false, I::OneEnding, || format!("{conn:?} is no connection: {event:?}")),
            }
            return;
        }
        if let ServerEvent::MentionExpired { mention } = event {
            let Self { editor, subject, oracle, ledgers, .. } = self;
            // The end of a connection that was never accepted is not an event.
            let is_gone = |conn: ConnId| {
                let ended = || !subject.wants_input(conn);
                let stays = ledgers.get(&conn).filter(|ledger| !ledger.has_ended);
                let let_in = |ledger: &Ledger| ledger.status == Some(101) && ledger.close_code.is_none();
                stays.is_none_or(|ledger| !let_in(ledger) && ended())
            };
            editor.mention_expired(time, &mention, is_gone, oracle);
        }
    }

    /// Shuts the editor down in good order.
    pub fn shut_down(&mut self) {
        let time = self.server_clock.time_at(self.now);
        self.oracle.note(|| "the editor shuts down".into());
        self.oracle.hit("editor shuts down");
        self.is_listening = false;
        self.subject.server.shutdown(time);
        self.shut_down = Some((time, false));
        self.settle();
    }
}
