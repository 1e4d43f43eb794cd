//! The connections of a host: places for them, whose turn it is to be polled, and who has to be written.
//!
//! Two queues hold places, each at most once. A connection is put into them by whatever is done with it, and its
//! deadline is noted then, so that nothing has to be searched: a turn for one of a thousand looks at that one.
//!
//! The open calls of all connections together hold at most `share * places + pool` bytes: every connection may hold its
//! share, and what exceeds the share comes from the pool. `excess` is what is taken from the pool, and never more. So no
//! client can use up the room of another one's usual calls.

use super::deadlines::Deadlines;
use super::{ConnId, Unauthenticated};
use crate::ide::server::Admission;
use crate::ide::{Server, ServerEvent};
use crate::{Machine, Time, Wire};
use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// How many connections there ever were.
    accepted: u64,
    /// The places whose server may have an event, in the order of their turns.
    eventful: VecDeque<usize>,
    /// The places that got output or became done since they were last named.
    transmitting: VecDeque<usize>,
    /// Those of the places that are not eventful are exact.
    deadlines: Deadlines,
    /// How many are open.
    open: usize,
    share: usize,
    pool: usize,
    /// The sum of the excess of the slots.
    excess: usize,
    pub(super) unauthenticated: Unauthenticated,
    /// The latest time seen.
    pub(super) now: Time,
}

/// A place for a connection.
#[derive(Debug, Default)]
struct Slot {
    generation: u64,
    server: Option<Server>,
    /// Its transport is gone.
    removed: bool,
    is_eventful: bool,
    is_transmitting: bool,
    /// It counts as open.
    is_open: bool,
    /// The bytes that its open calls hold beyond its share.
    excess: usize,
    /// How far its output was when it was last named.
    named_at: u64,
    named_done: bool,
}

impl Connections {
    /// Creates no connections, up to `places` of which may hold `bytes` in open calls, half of that shared out.
    pub(super) fn new(bytes: usize, places: usize) -> Self {
        let pool = bytes / 2;
        let share = bytes.saturating_sub(pool).checked_div(places).unwrap_or_default();
        Self { share, pool, ..Self::default() }
    }

    pub(super) fn set_now(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Ends the oldest of those that were not let in, if as many as the limit are there.
    pub(super) fn evict_oldest_pending(&mut self, limit: usize) {
        let pending = || self.slots.iter().enumerate().filter(|(_, slot)| slot.is_pending());
        if pending().count() >= limit.max(1) {
            let oldest = pending().min_by_key(|(_, slot)| slot.generation).map(|(index, _)| index);
            if let Some(index) = oldest {
                self.with(index, Server::drop_unanswered);
            }
        }
    }

    /// Takes a new connection into a free place.
    pub(super) fn accept(&mut self, make: impl FnOnce(ConnId, Time) -> Server) -> ConnId {
        let free = self.slots.iter().position(|slot| slot.server.is_none());
        let index = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(Slot::default());
        }
        self.accepted = self.accepted.saturating_add(1);
        let id = ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.accepted);
        if let Some(slot) = self.slots.get_mut(index) {
            let (is_eventful, is_transmitting) = (slot.is_eventful, slot.is_transmitting);
            *slot = Slot {
                generation: self.accepted,
                server: Some(make(id, self.now)),
                is_eventful,
                is_transmitting,
                ..Slot::default()
            };
        }
        self.note(index);
        id
    }

    /// The transport of a connection is gone.
    pub(super) fn remove(&mut self, conn: ConnId) {
        let Some(index) = self.index(conn) else { return };
        if let Some(slot) = self.slots.get_mut(index) {
            slot.removed = true;
        }
        let now = self.now;
        self.with(index, |server| server.feed_eof(now));
        // Where its end has not been told yet, the place is free after that.
        if let Some(slot) = self.slots.get_mut(index) {
            slot.server.take_if(|server| server.is_done());
        }
        self.note(index);
    }

    /// The place of a connection, if it is there.
    pub(super) fn index(&self, conn: ConnId) -> Option<usize> {
        let slot = self.slots.get(conn.index())?;
        (slot.server.is_some() && slot.id(conn.index()) == conn).then_some(conn.index())
    }

    /// The same, if its transport is there as well.
    pub(super) fn wired(&self, conn: ConnId) -> Option<usize> {
        self.index(conn).filter(|index| self.slots.get(*index).is_some_and(|slot| !slot.removed))
    }

    /// Whether there is such a connection and it has not ended.
    pub(super) fn is_attached(&self, conn: ConnId) -> bool {
        self.index(conn).and_then(|index| self.get(index)).is_some_and(Server::is_attached)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Server> {
        self.slots.get(index)?.server.as_ref()
    }

    /// A connection, for something that brings neither an event nor output.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Server> {
        self.slots.get_mut(index)?.server.as_mut()
    }

    /// Does something with a connection, at the latest time seen, and notes what came of it.
    pub(super) fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Server) -> T) -> Option<T> {
        let now = self.now;
        let done = self.get_mut(index).map(|server| {
            server.tick(now);
            act(server)
        });
        self.touch(index);
        done
    }

    /// Lets the latest time seen be known where it is waited for.
    pub(super) fn tick(&mut self) {
        let mut from = 0;
        while let Some(index) = self.deadlines.next_due(from, self.now) {
            self.with(index, |_| {});
            from = index.saturating_add(1);
        }
    }

    /// Does something with each connection.
    pub(super) fn with_each(&mut self, mut act: impl FnMut(&mut Server)) {
        for index in 0..self.slots.len() {
            self.with(index, &mut act);
        }
    }

    /// Those that are not over, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Server)> {
        let there = |(index, slot): (usize, &'_ Slot)| slot.server.is_some().then(|| slot.id(index));
        let mut ids: Vec<ConnId> = self.slots.iter().enumerate().filter_map(there).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| Some((id, self.get(id.index())?)))
    }

    /// The next connection that has got something to write, or is done, since it was last named.
    pub(super) fn poll_transmit(&mut self) -> Option<ConnId> {
        while let Some(index) = self.transmitting.pop_front() {
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_transmitting = false;
            // By now another connection may have the place, and nothing to write.
            if slot.has_unnamed() {
                slot.named_at = slot.server.as_ref().map_or(0, Server::position);
                slot.named_done = slot.server.as_ref().is_some_and(Wire::is_done);
                return Some(slot.id(index));
            }
        }
        None
    }

    /// One event of a connection whose turn it is. Then it is the turn of the next, so that nobody waits behind one
    /// that always has something to say. Who asks to come in while `places` are taken is told that all are. The end of a
    /// connection that was never let in, its only event, is counted.
    pub(super) fn next_event(&mut self, places: usize) -> Option<(ConnId, ServerEvent)> {
        while let Some(index) = self.eventful.pop_front() {
            let full = self.is_full(places);
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_eventful = false;
            let id = slot.id(index);
            let others = self.excess.saturating_sub(slot.excess);
            let quota = self.share.saturating_add(self.pool.saturating_sub(others));
            let Some(server) = &mut slot.server else {
                self.note(index);
                continue;
            };
            server.full = full;
            server.set_quota(quota);
            // It is to see the time by which its turn was found to have come, or it would be found again for ever.
            server.tick(self.now);
            let event = server.poll_event();
            let admission = server.admission;
            if event.is_some() {
                slot.is_eventful = true;
                self.eventful.push_back(index);
            }
            // What may still wait to be written to a transport that is gone cannot be.
            if let (Some(ServerEvent::Closed(_)), true) = (&event, slot.removed) {
                slot.server = None;
            }
            // Where nothing came, nothing does until it is touched: at the end of time what is due later is due now.
            self.note(index);
            match event {
                Some(ServerEvent::Closed(_)) if admission != Admission::LetIn => {
                    self.unauthenticated.count(admission)
                }
                Some(event) => return Some((id, event)),
                None => {}
            }
        }
        None
    }

    /// Returns true if as many connections are open as there are places.
    pub(super) const fn is_full(&self, places: usize) -> bool {
        self.open >= places
    }

    /// The latest time seen while there is an event or unnamed output, else the earliest of all deadlines.
    pub(super) fn deadline(&self) -> Option<Time> {
        if !self.eventful.is_empty() || !self.transmitting.is_empty() {
            return Some(self.now);
        }
        self.deadlines.next()
    }

    /// Queues a connection where it has something: an event, new output, its end.
    fn touch(&mut self, index: usize) {
        let at = self.note(index);
        let Some(slot) = self.slots.get_mut(index) else { return };
        if at.is_some_and(|at| at <= self.now) {
            slot.is_eventful = true;
            self.eventful.push_back(index);
        }
    }

    /// Notes what a connection has become, where its events are known; gives its deadline, unless its turn comes anyway:
    /// then it is asked for after that.
    fn note(&mut self, index: usize) -> Option<Time> {
        let slot = self.slots.get_mut(index)?;
        if !slot.is_transmitting && slot.has_unnamed() {
            slot.is_transmitting = true;
            self.transmitting.push_back(index);
        }
        let was_open = mem::replace(&mut slot.is_open, slot.server.as_ref().is_some_and(Server::is_open));
        self.open = self.open.saturating_sub(usize::from(was_open)).saturating_add(usize::from(slot.is_open));
        let held = slot.server.as_ref().map_or(0, Server::open_bytes);
        let before = mem::replace(&mut slot.excess, held.saturating_sub(self.share));
        self.excess = self.excess.saturating_sub(before).saturating_add(slot.excess);
        if slot.is_eventful {
            return None;
        }
        let at = slot.server.as_ref().and_then(Machine::deadline);
        self.deadlines.set(index, at);
        at
    }
}

impl Slot {
    fn id(&self, index: usize) -> ConnId {
        ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.generation)
    }

    /// Neither let in nor turned away, and still there.
    fn is_pending(&self) -> bool {
        let waits = |server: &Server| server.admission != Admission::LetIn && !server.has_ended();
        !self.removed && self.server.as_ref().is_some_and(waits)
    }

    /// Whether it got output or became done since it was last named.
    fn has_unnamed(&self) -> bool {
        self.server.as_ref().is_some_and(|server| {
            let news = server.position() > self.named_at || (server.is_done() && !self.named_done);
            news && !self.removed
        })
    }
}
