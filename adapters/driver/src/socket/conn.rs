//! A [`Link`] that owns its machine.

use super::link::{BUDGET, Link};
use super::shutdown::Shutdown;
use crate::waiting::{FairPoll, Next, Readiness};
use ide_mcp::{Machine, Output, Time};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::mem;

/// One connection: a machine and its socket.
///
/// Call [`turn`](Conn::turn) when the socket may be ready (after [`ready`](Conn::ready)), when the
/// [`deadline`](Conn::deadline) has passed, and after you have used the machine. Continue until
/// [`is_over`](Conn::is_over).
#[derive(Debug)]
pub struct Conn<M: Machine, S> {
    machine: M,
    link: Link<S>,
    /// True if a turn has begun, and not all of its events were taken.
    in_turn: bool,
    /// What [`flush`](Conn::flush) has read, until it is taken.
    flushed: Option<Box<Flushed<M::Event>>>,
    fair: FairPoll,
}

/// The events that a flush has read, and how many bytes.
#[derive(Debug)]
struct Flushed<E> {
    events: VecDeque<E>,
    read: usize,
}

impl<E> Default for Flushed<E> {
    fn default() -> Self {
        Self { events: VecDeque::new(), read: 0 }
    }
}

impl<M: Machine, S> Conn<M, S> {
    /// Joins a machine and a socket. Use [`Link::new`] for a connected socket, and [`Link::connecting`] for
    /// one that is still connecting.
    #[must_use]
    pub const fn new(machine: M, link: Link<S>) -> Self {
        Self { machine, link, in_turn: false, flushed: None, fair: FairPoll::new() }
    }

    /// Returns the machine.
    #[must_use]
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the machine, so that you can send something. [`deadline`](Conn::deadline) then asks for a
    /// turn.
    pub const fn machine_mut(&mut self) -> &mut M {
        &mut self.machine
    }

    /// Returns the link.
    #[must_use]
    pub const fn link(&self) -> &Link<S> {
        &self.link
    }

    /// Returns the link, so that you can reach its socket.
    pub const fn link_mut(&mut self) -> &mut Link<S> {
        &mut self.link
    }

    /// Call this when the socket may be ready, see [`Link::ready`].
    pub const fn ready(&mut self) {
        self.link.ready();
    }

    /// Call this when the socket has room but no new input, see [`Link::report_room`].
    pub const fn report_room(&mut self) {
        self.link.report_room();
    }

    /// Call this when the stream has ended or the socket has failed, see [`Link::report_end`].
    pub const fn report_end(&mut self) {
        self.link.report_end();
    }

    /// Returns true if the last event was delivered and you can drop the socket.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.link.is_over() && self.flushed.is_none()
    }
}

impl<M: Machine<Conn = ()>, S: Read + Write + Shutdown> Conn<M, S> {
    /// Takes one turn: reads, passes every event to `on`, and writes the output.
    pub fn turn(&mut self, now: Time, mut on: impl FnMut(&mut M, M::Event)) {
        while let Some(event) = self.event_of_turn(now) {
            on(&mut self.machine, event);
        }
    }

    /// Returns the next event of a turn, or `None` at its end; the call after that begins another turn. You
    /// may call it later, or send something in between: nothing of a turn is lost or done twice.
    pub fn event_of_turn(&mut self, now: Time) -> Option<M::Event> {
        if let Some(event) = self.next_flushed() {
            return Some(event);
        }
        if !mem::replace(&mut self.in_turn, true) {
            self.read(now);
        }
        let event = self.pass(now);
        self.in_turn = event.is_some();
        event
    }

    /// Returns the next event, or `None` if there is none now. First come the events that an earlier call has
    /// left, then those of a new turn.
    pub fn step(&mut self, now: Time) -> Option<M::Event> {
        // Finish the turn, which writes, before the next one reads: a peer that sends without pause must
        // still get our answers.
        if let Some(event) = self.rest_of_turn(now) {
            return Some(event);
        }
        self.event_of_turn(now)
    }

    /// Returns the next event of a turn that has begun; `None` at its end, or if no turn has begun.
    pub fn rest_of_turn(&mut self, now: Time) -> Option<M::Event> {
        if self.in_turn || self.flushed.is_some() { self.event_of_turn(now) } else { None }
    }

    /// Returns true if a timer is due. A level-triggered loop should then look at the socket before its next
    /// turn: input that came in time can keep the timer from firing.
    #[must_use]
    pub fn has_due_timer(&self, now: Time) -> bool {
        !self.in_turn && self.machine.deadline().is_some_and(|due| due <= now)
    }

    /// Returns whether a level-triggered loop must wait for input, and whether for room in the socket.
    #[must_use]
    pub fn awaits(&self) -> (bool, bool) {
        match self.link.is_ending() {
            true => (true, false),
            false => (self.machine.wants_input(()), self.machine.wants_output(())),
        }
    }

    /// Writes the send buffer as far as the socket has room. Also reads, because a peer may not read before
    /// we do, but at most about 256 KiB until you take the events, which the next turns return.
    pub fn flush(&mut self, now: Time) {
        let mut flushed = self.flushed.take().unwrap_or_default();
        if flushed.read < BUDGET {
            flushed.read = flushed.read.saturating_add(self.link.read(&mut self.machine, (), now, BUDGET));
        }
        while let Some(event) = self.pass(now) {
            flushed.events.push_back(event);
        }
        self.flushed = Some(flushed).filter(|flushed| !flushed.events.is_empty());
    }

    /// Takes a step and returns its outcome, for a loop that waits on a [`WakeSet`](crate::WakeSet) of this
    /// connection alone. `ready` is what [`register`](crate::WakeSet::register) has just returned.
    pub fn next(&mut self, now: Time, ready: &Readiness) -> Next<M::Event> {
        if !ready.sockets.is_empty() {
            self.ready();
        }
        let mut fair = mem::take(&mut self.fair);
        let next = fair.next(ready.woken, || self.step(now));
        self.fair = fair;
        next.unwrap_or_else(|| if self.is_over() { Next::Over } else { Next::Wait(self.deadline(now)) })
    }

    /// Returns when the next turn is due at the latest: `now` while there is work.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        if self.link.is_ending() {
            return self.link.deadline(now);
        }
        if self.link.is_due(&self.machine, ()) || self.flushed.is_some() {
            return Some(now);
        }
        self.machine.deadline().into_iter().chain(self.link.deadline(now)).min()
    }

    fn next_flushed(&mut self) -> Option<M::Event> {
        let event = self.flushed.as_mut().and_then(|flushed| flushed.events.pop_front());
        self.flushed.take_if(|flushed| flushed.events.is_empty());
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
