//! Two machines joined in memory, with virtual time.

use alloc::vec::Vec;
use core::time::Duration;

use super::{Change, Link, Step, Way};
use crate::time::earlier;
use crate::{Machine, Time, Wire};

/// Two machines have nothing left to say to each other long before this many rounds, a byte in each.
const NEVER_IDLE: usize = 1_000_000;

/// How much time the two are given to end by themselves: more than every timeout of this crate.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server and a client; whatever one writes the other reads, by way of two [`Link`]s.
#[derive(Debug)]
#[allow(clippy::exhaustive_structs, reason = "its owner takes it apart")]
pub struct Pair<S: Machine, C: Machine> {
    /// The one that is attached to.
    pub server: S,
    /// The one that attaches.
    pub client: C,
    /// The time of both.
    pub now: Time,
    /// What the server reported.
    pub server_events: Vec<S::Event>,
    /// What the client reported.
    pub client_events: Vec<C::Event>,
    /// What becomes of the client's bytes.
    pub to_server: Link,
    /// What becomes of the server's bytes.
    pub to_client: Link,
}

impl<S: Wire + Machine, C: Wire + Machine> Pair<S, C> {
    /// Joins two machines that were made at this time.
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

    /// From here on bytes arrive in pieces of at most this many, both ways.
    pub const fn cut_into(&mut self, piece: usize) {
        self.to_server.piece = piece;
        self.to_client.piece = piece;
    }

    /// The connection breaks: what is on the way is lost, and both hear of the end.
    pub fn cut(&mut self) {
        self.to_server.cut();
        self.to_client.cut();
    }

    /// Moves bytes and polls until both are idle at this time; the applications answer through `on_server` and
    /// `on_client`. Returns how many times bytes went to and fro.
    ///
    /// # Panics
    ///
    /// If they are never idle.
    pub fn settle_with(
        &mut self,
        mut on_server: impl FnMut(&mut S, &S::Event),
        mut on_client: impl FnMut(&mut C, &C::Event),
    ) -> usize {
        for round in 0..NEVER_IDLE {
            let mut idle = true;
            while let Some(event) = self.server.poll_event() {
                on_server(&mut self.server, &event);
                self.server_events.push(event);
                idle = false;
            }
            while let Some(event) = self.client.poll_event() {
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

    /// The same with applications that do nothing.
    ///
    /// # Panics
    ///
    /// If they are never idle.
    pub fn settle(&mut self) -> usize {
        self.settle_with(|_, _| {}, |_, _| {})
    }

    /// Returns true if nothing is left to write or to read: what law 10 of [`Wire`] demands after
    /// [`settle`](Pair::settle), where no link delays, stalls or paces bytes.
    pub fn is_at_rest(&self) -> bool {
        let nothing_waits = self.server.outgoing().is_empty() && self.client.outgoing().is_empty();
        nothing_waits && self.to_server.is_empty() && self.to_client.is_empty()
    }

    /// Lets time pass, deadline by deadline.
    ///
    /// # Panics
    ///
    /// If they are never idle.
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

    /// The same with applications that do nothing.
    ///
    /// # Panics
    ///
    /// If they are never idle.
    pub fn advance(&mut self, span: Duration) {
        self.advance_with(span, |_, _| {}, |_, _| {});
    }

    /// When something happens next without an application, if anything does: a timer of either side, or bytes that
    /// arrive.
    pub fn deadline(&self) -> Option<Time> {
        let machines = earlier(self.server.deadline(), self.client.deadline());
        let links = earlier(self.to_server.next_arrival(self.now), self.to_client.next_arrival(self.now));
        earlier(machines, links)
    }

    /// Plays a step, and gives back what an application is to do. Call [`settle_with`](Pair::settle_with) after it, or
    /// leave that to a later step.
    ///
    /// # Panics
    ///
    /// If they are never idle.
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
                match change {
                    Change::Piece(piece) => link.piece = piece.get().into(),
                    Change::Delay(span) => link.delay = span.duration(),
                    Change::Stall(span) => link.stall(self.now.saturating_add(span.duration())),
                    Change::Clear => {
                        link.piece = usize::MAX;
                        link.delay = Duration::ZERO;
                    }
                    Change::Finish => link.finish(),
                    Change::Cut => self.cut(),
                }
            }
        }
        None
    }

    /// Breaks the connection, if it has not ended, and lets both end.
    ///
    /// # Panics
    ///
    /// If they do not.
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

#[allow(clippy::panic, reason = "a harness of tests tells a failure this way")]
fn never_idle() -> ! {
    panic!("the two are never idle")
}
