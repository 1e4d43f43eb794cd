//! A [`Link`] with its machine.

use super::link::{BUDGET, Link};
use super::shutdown::Shutdown;
use crate::waiting::{FairPoll, Next, Readiness};
use ide_mcp::{Machine, Time, Wire};
use std::io::{Read, Write};
use std::mem;

/// One connection: a machine and its socket.
///
/// Call [`turn`](Conn::turn) when the socket can be ready (after [`ready`](Conn::ready)), when
/// [`deadline`](Conn::deadline) has come, and after using the machine directly. Continue until
/// [`is_over`](Conn::is_over).
#[derive(Debug)]
pub struct Conn<M, S> {
    machine: M,
    link: Link<S>,
    /// True if a turn was begun and not all of its events were taken.
    in_turn: bool,
    fair: FairPoll,
}

impl<M, S> Conn<M, S> {
    /// Joins a machine and a socket. [`Link::new`] is for a connected socket, [`Link::connecting`]
    /// for a socket that is still connecting.
    #[must_use]
    pub const fn new(machine: M, link: Link<S>) -> Self {
        Self { machine, link, in_turn: false, fair: FairPoll::new() }
    }

    /// Returns the machine.
    #[must_use]
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the machine, to send something. [`deadline`](Conn::deadline) then requests a turn.
    pub const fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Returns the link.
    #[must_use]
    pub const fn link(&self) -> &Link<S> {
        &self.link
    }

    /// Returns the link, for its socket.
    pub const fn link_mut(&mut self) -> &mut Link<S> {
        &mut self.link
    }

    /// Returns the machine and the link, for a loop that takes the steps of a turn by itself.
    pub const fn parts_mut(&mut self) -> (&mut M, &mut Link<S>) {
        (&mut self.machine, &mut self.link)
    }

    /// Notes that the socket can be ready, as [`Link::ready`] does.
    pub const fn ready(&mut self) {
        self.link.ready();
    }

    /// Returns true if the last event was delivered and the socket can be dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.link.is_over()
    }
}

impl<M: Wire + Machine, S: Read + Write + Shutdown> Conn<M, S> {
    /// Takes one turn: reads, ticks, passes every event to `on`, and writes the resulting output.
    /// Does not wait on a non-blocking socket.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut M, M::Event)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.machine, event);
        }
    }

    /// Returns the next event of a turn, or `None` at the end of the turn. The next call after `None`
    /// begins another turn. Nothing of a turn is lost or done twice if the next call comes later, or
    /// if the application sends something in between.
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

    /// Returns the next event, or `None` if there is none now. An event that is left from an earlier
    /// call comes first. If none is left, the call begins a turn.
    pub fn step(&mut self, now: Time) -> Option<M::Event> {
        if let Some(event) = self.machine.poll_event() {
            return Some(event);
        }
        // Writing comes before reading, so that a peer that sends without pause still receives our
        // answers.
        self.link.write(&mut self.machine, now, BUDGET);
        self.begin(now);
        let event = self.machine.poll_event();
        if event.is_none() {
            self.finish(now);
        }
        event
    }

    /// Takes a step and returns its outcome, for a loop that waits by a [`WakeSet`](crate::WakeSet) of
    /// this connection alone. `ready` is the result of [`register`](crate::WakeSet::register), just
    /// before.
    pub fn next(&mut self, now: Time, ready: &Readiness) -> Next<M::Event> {
        if !ready.sockets.is_empty() {
            self.ready();
        }
        let mut fair = mem::take(&mut self.fair);
        let next = fair.next(ready.woken, || self.step(now));
        self.fair = fair;
        next.unwrap_or_else(|| if self.is_over() { Next::Over } else { Next::Wait(self.deadline(now)) })
    }

    /// Returns the latest time for the next turn: `now` while there is work.
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
