//! Two machines joined in memory, with virtual time.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Change, Link, Step, Way};
use crate::time::earlier;
use crate::{Machine, Time, Wire};

/// The number of rounds after which machines count as never idle. Machines that come to rest need
/// far fewer rounds, even if each round moves one byte.
pub(super) const NEVER_IDLE: usize = 1_000_000;

/// The time that machines get to end by themselves: longer than every timeout of this crate.
pub(super) const PATIENCE: Duration = Duration::from_secs(600);

/// A server and a client, joined by two [`Link`]s: each side reads the bytes that the other side
/// writes.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "its owner takes it apart")]
pub struct Pair<S: Machine, C: Machine> {
    /// The machine to which the client attaches.
    pub server: S,
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

impl<S: Wire + Machine, C: Wire + Machine> Pair<S, C> {
    /// Joins two machines that were created at the time `now`.
    pub const fn new(server: S, client: C, now: Time) -> Self {
        Self {
            server,
            client,
            now,
            server_events: Vec::new(),
            client_events: Vec::new(),
            to_server: Link::new(),
            to_client: Link::new(),
        }
    }

    /// Limits the pieces in which bytes arrive to `piece` bytes from now on, in both directions.
    pub const fn cut_into(&mut self, piece: usize) {
        self.to_server.piece = piece;
        self.to_client.piece = piece;
    }

    /// Breaks the connection: the bytes on the way are lost, and both machines receive the end.
    pub fn cut(&mut self) {
        self.to_server.cut();
        self.to_client.cut();
    }

    /// Moves bytes and polls until both machines are idle at this time. The applications answer
    /// through `on_server` and `on_client`. Returns the number of rounds in which bytes moved or
    /// events came.
    ///
    /// # Panics
    ///
    /// Panics if the machines are never idle, or if an event breaks law 5 of [`Wire`] or comes from a
    /// machine that [is done](Wire::is_done).
    pub fn settle_with(
        &mut self,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) -> usize {
        for round in 0..NEVER_IDLE {
            let mut idle = true;
            while let Some(event) = poll(&mut self.server, self.now) {
                on_server(&mut self.server, &event);
                self.server_events.push(event);
                idle = false;
            }
            while let Some(event) = poll(&mut self.client, self.now) {
                on_client(&mut self.client, &event);
                self.client_events.push(event);
                idle = false;
            }
            let there = self.to_server.carry(&mut self.client, &mut self.server, self.now);
            let back = self.to_client.carry(&mut self.server, &mut self.client, self.now);
            if idle && !there && !back {
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
    /// Panics if the machines are never idle.
    pub fn settle(&mut self) -> usize {
        self.settle_with(|_, _| {}, |_, _| {})
    }

    /// Returns true if nothing is left to write or to read. Law 10 of [`Wire`] demands this after
    /// [`settle`](Pair::settle), unless a link delays, stalls or paces bytes.
    pub fn is_at_rest(&self) -> bool {
        let nothing_waits = self.server.outgoing().is_empty() && self.client.outgoing().is_empty();
        nothing_waits && self.to_server.is_empty() && self.to_client.is_empty()
    }

    /// Lets the time `span` pass, deadline by deadline.
    ///
    /// # Panics
    ///
    /// Panics if the machines are never idle.
    pub fn advance_with(
        &mut self,
        span: Duration,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) {
        let end = self.now.saturating_add(span);
        for _ in 0..NEVER_IDLE {
            self.now = self.deadline().filter(|due| *due < end).unwrap_or(end).max(self.now);
            self.server.tick(self.now);
            self.client.tick(self.now);
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
    /// Panics if the machines are never idle.
    pub fn advance(&mut self, span: Duration) {
        self.advance_with(span, |_, _| {}, |_, _| {});
    }

    /// Returns the time of the next timer or of the next arrival of bytes. `None` means that
    /// nothing happens without an application.
    pub fn deadline(&self) -> Option<Time> {
        let machines = earlier(self.server.deadline(), self.client.deadline());
        let links = earlier(self.to_server.next_arrival(self.now), self.to_client.next_arrival(self.now));
        earlier(machines, links)
    }

    /// Plays a step, and returns the act that an application has to do. Call
    /// [`settle_with`](Pair::settle_with) after it, or leave that to a later step.
    ///
    /// # Panics
    ///
    /// Panics if the machines are never idle.
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
                self.server.tick(self.now);
                self.client.tick(self.now);
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

    /// Breaks the connection, if it has not ended, and lets both machines end.
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
        assert!(self.server.is_done(), "the connection has ended, and the server is not done");
        assert!(self.client.is_done(), "the connection has ended, and the client is not done");
    }
}

/// Returns the next event of a machine, which has shown by its deadline that an event waits.
fn poll<M: Wire + Machine>(machine: &mut M, now: Time) -> Option<M::Event> {
    let (due, is_done) = (machine.deadline(), machine.is_done());
    let event = machine.poll_event()?;
    assert!(due.is_some_and(|due| due <= now), "an event waits unseen at {now:?}, due {due:?}");
    assert!(!is_done, "an event comes from a machine that is done");
    Some(event)
}

#[allow(clippy::panic, reason = "a harness of tests reports a failure this way")]
pub(super) fn never_idle() -> ! {
    panic!("the machines are never idle")
}
