//! A [`Link`] with the machine it works for.

use crate::{BUDGET, FairPoll, Link, Next, Readiness, Shutdown};
use ide_mcp::{Machine, Time, Wire};
use std::io::{Read, Write};
use std::mem;

/// One connection: a machine and its socket.
///
/// Call [`turn`](Conn::turn) whenever the socket may have become ready (after [`ready`](Conn::ready)), when
/// [`deadline`](Conn::deadline) has come, and after acting on the machine from outside; until
/// [`is_over`](Conn::is_over).
#[derive(Debug)]
pub struct Conn<M, S> {
    machine: M,
    link: Link<S>,
    /// A turn was begun, and its end waits for its events.
    in_turn: bool,
    fair: FairPoll,
}

impl<M, S> Conn<M, S> {
    /// Joins a machine and a socket: [`Link::new`] for one that is connected, [`Link::connecting`] for one that is
    /// not yet.
    #[must_use]
    pub const fn new(machine: M, link: Link<S>) -> Self {
        Self { machine, link, in_turn: false, fair: FairPoll::new() }
    }

    /// The machine.
    #[must_use]
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// The machine, to send something. [`deadline`](Conn::deadline) then asks for a turn.
    pub const fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// The link.
    #[must_use]
    pub const fn link(&self) -> &Link<S> {
        &self.link
    }

    /// The link, for its socket.
    pub const fn link_mut(&mut self) -> &mut Link<S> {
        &mut self.link
    }

    /// Both, for a loop that takes the steps of a turn apart.
    pub const fn parts_mut(&mut self) -> (&mut M, &mut Link<S>) {
        (&mut self.machine, &mut self.link)
    }

    /// See [`Link::ready`].
    pub const fn ready(&mut self) {
        self.link.ready();
    }

    /// Whether all is done: the last event was delivered, and the socket may be dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.link.is_over()
    }
}

impl<M: Wire + Machine, S: Read + Write + Shutdown> Conn<M, S> {
    /// One turn: reads, ticks, hands every event to `on`, and writes what that provoked. Never waits where the socket
    /// does not.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut M, M::Event)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.machine, event);
        }
    }

    /// The same, event by event: the next of this turn, or `None` at its end. The call after that begins another.
    /// Nothing of a turn is lost or done twice if what follows comes later, or something was sent in between.
    pub fn event_of_turn(&mut self, now: Time) -> Option<M::Event> {
        if !mem::replace(&mut self.in_turn, true) {
            self.begin(now);
        }
        let event = self.machine.poll_event();
        if event.is_none() {
            self.in_turn = false;
            self.finish(now);
        }
        event
    }

    /// The next event, be it left from before, or `None` where there is no more now: it begins a turn as often as that
    /// brings an event.
    pub fn step(&mut self, now: Time) -> Option<M::Event> {
        if let Some(event) = self.machine.poll_event() {
            return Some(event);
        }
        // A peer that always has something to say is to hear our answers all the same.
        self.link.write(&mut self.machine, now, BUDGET);
        self.begin(now);
        let event = self.machine.poll_event();
        if event.is_none() {
            self.finish(now);
        }
        event
    }

    /// Returns the outcome of a step, for a loop that waits by a [`WakeSet`](crate::WakeSet) of this connection alone: register,
    /// then hand over the readiness.
    pub fn next(&mut self, now: Time, ready: &Readiness) -> Next<M::Event> {
        if !ready.sockets.is_empty() {
            self.ready();
        }
        let mut fair = mem::take(&mut self.fair);
        let next = fair.next(ready.woken, || self.step(now));
        self.fair = fair;
        next.unwrap_or_else(|| if self.is_over() { Next::Over } else { Next::Wait(self.deadline(now)) })
    }

    /// When the next turn is due at the latest: `now` while there is something to do.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        if self.link.is_ending() {
            return self.link.deadline(now);
        }
        if self.link.is_due(&self.machine) {
            return Some(now);
        }
        self.machine.deadline().into_iter().chain(self.link.deadline(now)).min()
    }

    fn begin(&mut self, now: Time) {
        self.link.read(&mut self.machine, now, BUDGET);
        self.machine.tick(now);
    }

    fn finish(&mut self, now: Time) {
        self.link.write(&mut self.machine, now, BUDGET);
        self.link.discard(now, BUDGET);
    }
}
