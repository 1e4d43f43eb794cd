//! Two machines joined in memory, with virtual time.

use alloc::vec::Vec;
use core::fmt::Debug;
use core::time::Duration;

use super::{Change, Link, Step, Way};
use crate::{Machine, Output, Time};

/// After this many rounds, machines count as never becoming idle. Those that do become idle need far fewer, even if
/// each round moves a single byte.
pub(super) const NEVER_IDLE: usize = 1_000_000;

/// How long machines may take to end by themselves: longer than every default timeout of a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// A server and a client, joined by two [`Link`]s: each reads what the other writes.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "its owner takes it apart")]
pub struct Pair<S: Machine, C: Machine> {
    /// The machine that the client attaches to.
    pub server: S,
    /// The server's name for the connection to the client.
    pub conn: S::Conn,
    /// The machine that attaches.
    pub client: C,
    /// The time of both machines.
    pub now: Time,
    /// The events of the server.
    pub server_events: Vec<S::Event>,
    /// The events of the client.
    pub client_events: Vec<C::Event>,
    /// The link for the bytes of the client.
    pub to_server: Link,
    /// The link for the bytes of the server.
    pub to_client: Link,
}

impl<S: Machine<Conn = ()>, C: Machine<Conn = ()>> Pair<S, C> {
    /// Joins two machines that were created at the time `now`.
    pub fn new(server: S, client: C, now: Time) -> Self {
        Self::joined(server, (), client, now)
    }
}

impl<S: Machine<Conn: Debug + PartialEq>, C: Machine<Conn = ()>> Pair<S, C> {
    /// Joins a client to a machine with several connections, such as an [`ide::Server`](crate::ide::Server), over the
    /// connection `conn`.
    pub fn joined(server: S, conn: S::Conn, client: C, now: Time) -> Self {
        Self {
            server,
            conn,
            client,
            now,
            server_events: Vec::new(),
            client_events: Vec::new(),
            to_server: Link::default(),
            to_client: Link::default(),
        }
    }

    /// From now on, bytes arrive in pieces of at most `piece`, in both directions.
    pub const fn cut_into(&mut self, piece: usize) {
        self.to_server.piece = piece;
        self.to_client.piece = piece;
    }

    /// Breaks the connection: what is on the way is lost, and both machines get the end.
    pub fn cut(&mut self) {
        self.to_server.cut();
        self.to_client.cut();
    }

    /// Runs passes of both machines, and moves their bytes, until both are idle at this time. `on_server` and
    /// `on_client` are the applications: they get the events and can answer. Returns how many rounds it took.
    ///
    /// # Panics
    ///
    /// Panics if the machines do not become idle, or if one of them breaks the third, fourth or fifth law of
    /// [`Machine`].
    pub fn settle_with(
        &mut self,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) -> usize {
        for round in 0..NEVER_IDLE {
            let Self { server, conn, client, now, server_events, client_events, to_server, to_client } = self;
            let served = turn(server, *conn, *now, to_server, to_client, |server, event| {
                on_server(server, &event);
                server_events.push(event);
            });
            let acted = turn(client, (), *now, to_client, to_server, |client, event| {
                on_client(client, &event);
                client_events.push(event);
            });
            let there = to_server.deliver(*now, server, *conn);
            let back = to_client.deliver(*now, client, ());
            if !(served || acted || there || back) {
                return round;
            }
        }
        never_idle()
    }

    /// Moves bytes and polls as [`settle_with`](Pair::settle_with) does, with applications that do
    /// nothing.
    ///
    /// # Panics
    ///
    /// Panics if the machines do not become idle.
    pub fn settle(&mut self) -> usize {
        self.settle_with(|_, _| {}, |_, _| {})
    }

    /// Returns true if nothing is left to write or to read. The tenth law of [`Machine`] demands this after
    /// [`settle`](Pair::settle), unless a link delays, stalls or paces bytes.
    pub fn is_at_rest(&self) -> bool {
        let waits = self.server.wants_output(self.conn) || self.client.wants_output(());
        !waits && self.to_server.is_empty() && self.to_client.is_empty()
    }

    /// Returns true if both machines have [closed](Output::Close) their connection.
    pub const fn is_over(&self) -> bool {
        self.to_server.is_abandoned() && self.to_client.is_abandoned()
    }

    /// Lets the time `span` pass, deadline by deadline.
    ///
    /// # Panics
    ///
    /// Panics if the machines do not become idle.
    pub fn advance_with(
        &mut self,
        span: Duration,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) {
        let end = self.now.saturating_add(span);
        for _ in 0..NEVER_IDLE {
            self.now = self.deadline().filter(|due| *due < end).unwrap_or(end).max(self.now);
            self.settle_with(&mut on_server, &mut on_client);
            if self.now >= end {
                return;
            }
        }
        never_idle()
    }

    /// Lets time pass as [`advance_with`](Pair::advance_with) does, with applications that do
    /// nothing.
    ///
    /// # Panics
    ///
    /// Panics if the machines do not become idle.
    pub fn advance(&mut self, span: Duration) {
        self.advance_with(span, |_, _| {}, |_, _| {});
    }

    /// Returns when the next timer is due or the next bytes arrive. `None` means that nothing happens unless an
    /// application does something.
    pub fn deadline(&self) -> Option<Time> {
        let machines = earlier(self.server.deadline(), self.client.deadline());
        let links = earlier(self.to_server.next_arrival(self.now), self.to_client.next_arrival(self.now));
        earlier(machines, links)
    }

    /// Plays a step. If it is an act, returns it for you to do. Call [`settle_with`](Pair::settle_with) after it, or
    /// leave that to a later step.
    ///
    /// # Panics
    ///
    /// Panics if the machines do not become idle.
    pub fn play<'a, A>(
        &mut self,
        step: &'a Step<A>,
        on_server: impl FnMut(&mut S, &S::Event),
        on_client: impl FnMut(&mut C, &C::Event),
    ) -> Option<&'a A> {
        match step {
            Step::Act(act) => return Some(act),
            Step::Wait(span) => self.advance_with(span.duration(), on_server, on_client),
            Step::Sleep(span) => {
                self.now = self.now.saturating_add(span.duration());
                // The application acts next, and the machine must know the time.
                self.server.feed(self.now, self.conn, &[]);
                self.client.feed(self.now, (), &[]);
            }
            Step::Due => {
                let due = self.deadline().unwrap_or(self.now);
                self.advance_with(due.saturating_since(self.now), on_server, on_client);
            }
            Step::Link(way, change) => {
                let link = match way {
                    Way::ToServer => &mut self.to_server,
                    Way::ToClient => &mut self.to_client,
                };
                if *change == Change::Cut {
                    self.cut();
                } else {
                    link.change(*change, self.now);
                }
            }
        }
        None
    }

    /// Breaks the connection, if it has not ended, and waits until both machines have ended.
    ///
    /// # Panics
    ///
    /// Panics if a machine does not end.
    pub fn finish_with(
        &mut self,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) {
        self.cut();
        self.settle_with(&mut on_server, &mut on_client);
        self.advance_with(PATIENCE, on_server, on_client);
        assert!(self.to_server.is_abandoned(), "the connection has ended, and the server has not closed it");
        assert!(self.to_client.is_abandoned(), "the connection has ended, and the client has not closed it");
    }
}

/// Runs one pass of a machine. It reads from one link and writes into the other. Returns true if it did anything.
pub(super) fn turn<M: Machine<Conn: Debug + PartialEq>>(
    machine: &mut M,
    conn: M::Conn,
    now: Time,
    input: &mut Link,
    output: &mut Link,
    mut on_event: impl FnMut(&mut M, M::Event),
) -> bool {
    let mut moved = false;
    for _ in 0..NEVER_IDLE {
        let due = machine.deadline();
        match machine.poll(now) {
            Output::Event(event) => {
                assert_is_due(due, now, &event);
                assert!(!input.is_abandoned(), "an event after the closing: {event:?}");
                on_event(machine, event);
            }
            Output::Write { bytes, .. } => {
                let n = output.write(now, bytes);
                machine.written(conn, n);
                if n == 0 {
                    continue;
                }
            }
            Output::Close(closed) => {
                assert_is_due(due, now, &"a closing");
                assert_eq!(closed, conn, "another connection is closed");
                assert!(!input.is_abandoned(), "a connection is closed twice");
                output.finish();
                input.abandon();
            }
            Output::Wait(until) => {
                assert_moves_on(until, now);
                return moved;
            }
        }
        moved = true;
    }
    never_idle()
}

/// Returns the earlier of two deadlines; `None` means never.
pub(super) fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

/// Checks that the deadline of a machine was not later than the output that it has just returned.
pub(super) fn assert_is_due(due: Option<Time>, now: Time, output: &dyn Debug) {
    assert!(
        due.is_some_and(|due| due <= now),
        "at {now:?} came {output:?}, although the deadline was {due:?}"
    );
}

/// Checks that a machine waits until a later time. At the end of time there is none, so any is accepted.
pub(super) fn assert_moves_on(until: Option<Time>, now: Time) {
    let moves_on = until.is_none_or(|until| until > now) || now == Time::new(Duration::MAX);
    assert!(moves_on, "at {now:?} the machine waits until {until:?}");
}

#[allow(clippy::panic, reason = "a harness of tests reports a failure this way")]
pub(super) fn never_idle() -> ! {
    panic!("the machines do not become idle")
}
