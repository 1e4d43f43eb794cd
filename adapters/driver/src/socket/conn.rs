//! A [`Link`] with its machine.

use super::link::{BUDGET, Link};
use super::shutdown::Shutdown;
use crate::waiting::{FairPoll, Next, Readiness};
use ide_mcp::{Machine, Output, Time};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::mem;

/// One connection: a machine and its socket.
///
/// Call [`turn`](Conn::turn) when the socket can be ready (after [`ready`](Conn::ready)), when
/// [`deadline`](Conn::deadline) has come, and after using the machine directly. Continue until
/// [`is_over`](Conn::is_over).
#[derive(Debug)]
pub struct Conn<M: Machine, S> {
    machine: M,
    link: Link<S>,
    /// True if a turn was begun and not all of its events were taken.
    in_turn: bool,
    /// What [`flush`](Conn::flush) has met, until it is taken.
    met: Option<Box<Met<M::Event>>>,
    fair: FairPoll,
}

/// The events that a flush has met, and the number of bytes that it has read.
#[derive(Debug)]
struct Met<E> {
    events: VecDeque<E>,
    read: usize,
}

impl<E> Default for Met<E> {
    fn default() -> Self {
        Self { events: VecDeque::new(), read: 0 }
    }
}

impl<M: Machine, S> Conn<M, S> {
    /// Joins a machine and a socket. [`Link::new`] is for a connected socket, [`Link::connecting`]
    /// for a socket that is still connecting.
    #[must_use]
    pub const fn new(machine: M, link: Link<S>) -> Self {
        Self { machine, link, in_turn: false, met: None, fair: FairPoll::new() }
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

    /// Notes that the socket can be ready, as [`Link::ready`] does.
    pub const fn ready(&mut self) {
        self.link.ready();
    }

    /// Notes that the socket has room and no new input, as [`Link::report_room`] does.
    pub const fn report_room(&mut self) {
        self.link.report_room();
    }

    /// Notes that the stream has ended or the socket has failed, as [`Link::report_end`] does.
    pub const fn report_end(&mut self) {
        self.link.report_end();
    }

    /// Returns true if the last event was delivered and the socket can be dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.link.is_over() && self.met.is_none()
    }
}

impl<M: Machine<Conn = ()>, S: Read + Write + Shutdown> Conn<M, S> {
    /// Takes one turn: reads, passes every event to `on`, and writes the resulting output.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut M, M::Event)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.machine, event);
        }
    }

    /// Returns the next event of a turn, or `None` at the end of the turn. The next call after `None`
    /// begins another turn. Nothing of a turn is lost or done twice if the next call comes later, or
    /// if the application sends something in between.
    pub fn event_of_turn(&mut self, now: Time) -> Option<M::Event> {
        if let Some(event) = self.next_met() {
            return Some(event);
        }
        if !mem::replace(&mut self.in_turn, true) {
            self.read(now);
        }
        let event = self.pass(now);
        self.in_turn = event.is_some();
        event
    }

    /// Returns the next event, or `None` if there is none now. An event that is left from an earlier
    /// call comes first. If none is left, the call begins a turn.
    pub fn step(&mut self, now: Time) -> Option<M::Event> {
        // The end of a turn writes before the next one reads, so that a peer that sends without pause still receives our
        // answers.
        if let Some(event) = self.rest_of_turn(now) {
            return Some(event);
        }
        self.event_of_turn(now)
    }

    /// Returns the next event of a turn that was begun and left; `None` if there is no such turn, or at its end.
    pub fn rest_of_turn(&mut self, now: Time) -> Option<M::Event> {
        if self.in_turn || self.met.is_some() { self.event_of_turn(now) } else { None }
    }

    /// Returns true if a timer is due. A loop that waits by level then looks at the socket before its next turn: input that
    /// came in time can keep the timer from firing.
    #[must_use]
    pub fn has_due_timer(&self, now: Time) -> bool {
        !self.in_turn && self.machine.deadline().is_some_and(|due| due <= now)
    }

    /// Returns whether a loop that waits by level waits for input, and for room in the socket.
    #[must_use]
    pub fn awaits(&self) -> (bool, bool) {
        match self.link.is_ending() {
            true => (true, false),
            false => (self.machine.wants_input(()), self.machine.wants_output(())),
        }
    }

    /// Writes the send buffer as far as the socket has room. Also reads, since a peer can wait for that before it reads, but
    /// at most about 256 KiB until the events are taken: they follow in the next turns.
    pub fn flush(&mut self, now: Time) {
        let mut met = self.met.take().unwrap_or_default();
        if met.read < BUDGET {
            met.read = met.read.saturating_add(self.link.read(&mut self.machine, (), now, BUDGET));
        }
        while let Some(event) = self.pass(now) {
            met.events.push_back(event);
        }
        self.met = Some(met).filter(|met| !met.events.is_empty());
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
        if self.link.is_due(&self.machine, ()) || self.met.is_some() {
            return Some(now);
        }
        self.machine.deadline().into_iter().chain(self.link.deadline(now)).min()
    }

    fn next_met(&mut self) -> Option<M::Event> {
        let event = self.met.as_mut().and_then(|met| met.events.pop_front());
        self.met.take_if(|met| met.events.is_empty());
        event
    }

    fn read(&mut self, now: Time) {
        self.link.read(&mut self.machine, (), now, BUDGET);
    }

    /// Takes the steps of a pass up to its next event; `None` at its end.
    fn pass(&mut self, now: Time) -> Option<M::Event> {
        loop {
            match self.machine.poll(now) {
                Output::Event(event) => return Some(event),
                Output::Write { bytes, .. } => match self.link.write(bytes, now) {
                    Some(n) => self.machine.written((), n),
                    None => self.link.sever(&mut self.machine, (), now),
                },
                Output::Close(()) => self.link.close(now),
                Output::Wait(_) => {
                    self.link.rest(&mut self.machine, (), now);
                    self.link.discard(now, BUDGET);
                    return None;
                }
            }
        }
    }
}
