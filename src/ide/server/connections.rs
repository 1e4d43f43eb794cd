//! The connections of a server: the table of their places, the order in which they are polled, and the
//! queue of those with new output. A place is an index of the table; a free place is reused.
//!
//! ```text
//!           fed, its deadline has come
//!  Quiet ──────────────────────────────▶ Eventful ──no event──▶ Quiet, its deadline is noted;
//!    │ any other operation                   ▲                    Offered if it has output,
//!    └────────▶ Touched ──settle, an event───┘                    Done if it is done
//! ```
//!
//! Queues hold places, each place at most once in each. An operation on a connection only puts its place into a queue;
//! what follows from it is worked out once, by the next poll. So no search is necessary: a poll for one of a thousand
//! connections examines only that connection.
//!
//! The open calls of all connections together hold at most `share * places + pool` bytes. Every
//! connection can hold its share, and the bytes above the share come from the pool. `excess` is the
//! number of bytes taken from the pool, and never exceeds the pool. So no client can use up the share
//! of another client.

use super::deadlines::Deadlines;
use super::offers::Offers;
use super::{ConnId, Unauthenticated};
use crate::Time;
use crate::ide::ServerEvent;
use crate::ide::connection::{Admission, Connection};
use crate::time::earlier;
use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// The number of connections that were ever accepted.
    accepted: u64,
    /// The places where something was done that is not worked out yet.
    touched: VecDeque<usize>,
    /// The places whose connection can have an event, in the order in which they are polled.
    eventful: VecDeque<usize>,
    /// The places whose connection is done and not closed yet.
    done: VecDeque<usize>,
    /// The places with unwritten output.
    pub(super) offers: Offers,
    /// The deadlines of the connections, exact for the places that are neither touched nor eventful. The deadline of
    /// an eventful place is the one that came when the place was queued.
    deadlines: Deadlines,
    /// The number of open connections.
    open: usize,
    share: usize,
    pool: usize,
    /// The sum of the excess of the slots.
    excess: usize,
    pub(super) unauthenticated: Unauthenticated,
    /// The latest time seen.
    pub(super) now: Time,
}

/// An entry of the table of connections.
#[derive(Debug, Default)]
struct Slot {
    generation: u64,
    connection: Option<Connection>,
    is_touched: bool,
    is_eventful: bool,
    is_done: bool,
    /// True if `Connections::open` counts the connection.
    is_open: bool,
    /// The bytes that the open calls of the connection hold beyond its share.
    excess: usize,
}

impl Connections {
    /// Creates an empty set. The open calls of up to `places` connections can hold `bytes` together:
    /// one half is divided into shares, the other half is the pool.
    pub(super) fn new(bytes: usize, places: usize) -> Self {
        let pool = bytes / 2;
        let share = bytes.saturating_sub(pool).checked_div(places).unwrap_or_default();
        Self { share, pool, ..Self::default() }
    }

    /// Takes the time of an operation, and returns the latest time seen.
    pub(super) fn set_now(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    /// Ends the oldest pending connection if there are at least `limit` pending connections.
    pub(super) fn evict_oldest_pending(&mut self, limit: usize) {
        let pending = || self.slots.iter().enumerate().filter(|(_, slot)| slot.is_pending());
        if pending().count() >= limit.max(1) {
            let oldest = pending().min_by_key(|(_, slot)| slot.generation).map(|(index, _)| index);
            if let Some(index) = oldest {
                self.with(index, Connection::drop_unanswered);
            }
        }
    }

    /// Puts a new connection into a free place.
    pub(super) fn accept(&mut self, make: impl FnOnce(ConnId, Time) -> Connection) -> ConnId {
        let free = self.slots.iter().position(|slot| slot.connection.is_none());
        let index = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(Slot::default());
        }
        self.accepted = self.accepted.saturating_add(1);
        let id = ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.accepted);
        if let Some(slot) = self.slots.get_mut(index) {
            let Slot { is_touched, is_eventful, .. } = *slot;
            *slot = Slot {
                generation: self.accepted,
                connection: Some(make(id, self.now)),
                is_touched,
                is_eventful,
                ..Slot::default()
            };
        }
        // A connection with a limit of zero is over at once.
        self.work_out(index);
        id
    }

    /// Returns the place of a connection; `None` if the connection is gone.
    pub(super) fn index(&self, conn: ConnId) -> Option<usize> {
        let slot = self.slots.get(conn.index())?;
        (slot.connection.is_some() && slot.id(conn.index()) == conn).then_some(conn.index())
    }

    /// Returns true if the connection was let in and has not ended.
    pub(super) fn is_attached(&self, conn: ConnId) -> bool {
        self.index(conn).and_then(|index| self.get(index)).is_some_and(Connection::is_attached)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Connection> {
        self.slots.get(index)?.connection.as_ref()
    }

    /// Returns the name of the connection in this place, and the number of its bytes that were not written.
    pub(super) fn unwritten(&self, index: usize) -> Option<(ConnId, usize)> {
        let slot = self.slots.get(index)?;
        Some((slot.id(index), slot.connection.as_ref()?.outgoing().len()))
    }

    /// Returns the bytes of a connection that were not written.
    pub(super) fn outgoing(&self, conn: ConnId) -> &[u8] {
        self.index(conn).and_then(|index| self.get(index)).map(Connection::outgoing).unwrap_or_default()
    }

    /// Returns a connection, for an operation that causes neither an event nor output.
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Connection> {
        self.slots.get_mut(index)?.connection.as_mut()
    }

    /// Runs `act` on a connection at the latest time seen, and queues the connection for what follows from it.
    pub(super) fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let slot = self.slots.get_mut(index)?;
        let connection = slot.connection.as_mut()?;
        connection.tick(self.now);
        let done = act(connection);
        // A place with events too: its counts decide about the next event of another connection.
        if !slot.is_touched {
            slot.is_touched = true;
            self.touched.push_back(index);
        }
        Some(done)
    }

    /// Queues a connection for a poll, unless it is queued.
    pub(super) fn poll_next(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index).filter(|slot| !slot.is_eventful) {
            slot.is_eventful = true;
            self.eventful.push_back(index);
        }
    }

    /// Queues each connection whose deadline has come for a poll.
    pub(super) fn tick(&mut self) {
        let mut from = 0;
        while let Some(index) = self.deadlines.next_due(from, self.now) {
            self.poll_next(index);
            from = index.saturating_add(1);
        }
    }

    /// Works out what follows from the operations since the last time: events, output, the end, and the counts.
    pub(super) fn settle(&mut self) {
        while let Some(index) = self.touched.pop_front() {
            if let Some(slot) = self.slots.get_mut(index) {
                slot.is_touched = false;
            }
            self.work_out(index);
        }
    }

    /// Works out what follows from the operations on one connection.
    fn work_out(&mut self, index: usize) {
        if self.note(index).is_some_and(|at| at <= self.now) {
            self.poll_next(index);
        }
    }

    /// Runs `act` on each connection.
    pub(super) fn with_each(&mut self, mut act: impl FnMut(&mut Connection)) {
        for index in 0..self.slots.len() {
            self.with(index, &mut act);
        }
    }

    /// Returns the connections in the table, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Connection)> {
        let there = |(index, slot): (usize, &'_ Slot)| slot.connection.is_some().then(|| slot.id(index));
        let mut ids: Vec<ConnId> = self.slots.iter().enumerate().filter_map(there).collect();
        ids.sort_unstable();
        ids.into_iter().filter_map(|id| Some((id, self.get(id.index())?)))
    }

    /// Removes the next connection that is done, and returns its name.
    pub(super) fn next_done(&mut self) -> Option<ConnId> {
        self.settle();
        let index = self.done.pop_front()?;
        let slot = self.slots.get_mut(index)?;
        slot.connection = None;
        let conn = slot.id(index);
        self.offers.drop_place(index);
        self.note(index);
        Some(conn)
    }

    /// Returns one event of the first connection in the queue that has one, and puts this connection at
    /// the end of the queue. So a connection that always has events does not delay the others. While
    /// `places` connections are open, a client with the token is refused with 503. The end of a
    /// connection that was never let in is counted and not returned.
    pub(super) fn next_event(&mut self, places: usize) -> Option<(ConnId, ServerEvent)> {
        self.settle();
        while let Some(index) = self.eventful.pop_front() {
            let full = self.is_full(places);
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_eventful = false;
            let id = slot.id(index);
            let others = self.excess.saturating_sub(slot.excess);
            let quota = self.share.saturating_add(self.pool.saturating_sub(others));
            let Some(connection) = &mut slot.connection else {
                self.note(index);
                continue;
            };
            connection.full = full;
            connection.set_quota(quota);
            // Brings the connection to the time at which its deadline was due. Otherwise the connection would
            // have no event, and its place would be queued again for ever.
            connection.tick(self.now);
            let event = connection.poll_event();
            let admission = connection.admission;
            if event.is_some() {
                slot.is_eventful = true;
                self.eventful.push_back(index);
            }
            // A connection without an event has none until something is done with it, so the place is not queued
            // again here. At `Time::NEVER` every deadline is due, and the place would be queued for
            // ever.
            self.note(index);
            match event {
                Some(ServerEvent::Closed { .. }) if admission != Admission::LetIn => {
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

    /// Returns the latest time seen while there is something to do, else the earliest of all deadlines. That a place is
    /// touched is no reason: an operation that was refused changes nothing.
    pub(super) fn deadline(&self) -> Option<Time> {
        if !self.eventful.is_empty() || !self.done.is_empty() || self.offers.are_new() {
            return Some(self.now);
        }
        let touched = self.touched.iter().filter_map(|index| Some((*index, self.get(*index)?)));
        let due = |(index, connection): (usize, &Connection)| {
            let is_new = connection.is_done() || !connection.outgoing().is_empty() && !self.offers.has(index);
            if is_new { Some(self.now) } else { connection.due() }
        };
        touched.map(due).fold(self.deadlines.next(), earlier)
    }

    /// Queues a connection that has new output or has become done, and updates the counts. Notes and
    /// returns its deadline. Returns `None` if the place is queued for its events: the poll of these
    /// events notes the deadline.
    fn note(&mut self, index: usize) -> Option<Time> {
        let slot = self.slots.get_mut(index)?;
        if let Some(connection) = &slot.connection {
            if !slot.is_done && connection.is_done() {
                slot.is_done = true;
                self.done.push_back(index);
            }
            if !connection.outgoing().is_empty() {
                self.offers.add(index);
            }
        }
        let was_open =
            mem::replace(&mut slot.is_open, slot.connection.as_ref().is_some_and(Connection::takes_place));
        self.open = self.open.saturating_sub(usize::from(was_open)).saturating_add(usize::from(slot.is_open));
        let held = slot.connection.as_ref().map_or(0, Connection::open_bytes);
        let before = mem::replace(&mut slot.excess, held.saturating_sub(self.share));
        self.excess = self.excess.saturating_sub(before).saturating_add(slot.excess);
        if slot.is_eventful {
            return None;
        }
        let at = slot.connection.as_ref().and_then(Connection::due);
        self.deadlines.set(index, at);
        at
    }
}

impl Slot {
    fn id(&self, index: usize) -> ConnId {
        ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.generation)
    }

    /// Returns true if the client was not let in and the connection has not ended.
    fn is_pending(&self) -> bool {
        let waits =
            |connection: &Connection| connection.admission != Admission::LetIn && !connection.has_ended();
        self.connection.as_ref().is_some_and(waits)
    }
}
