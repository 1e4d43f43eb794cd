//! The connections of a server: the table of their places, the order in which they are polled, and the
//! queue of those with new output. A place is an index of the table; a free place is reused.
//!
//! Two queues hold places, each place at most once. Every operation on a connection puts its place into
//! these queues and notes its deadline, so no search is necessary: a poll for one of a thousand
//! connections examines only that connection.
//!
//! The open calls of all connections together hold at most `share * places + pool` bytes. Every
//! connection can hold its share, and the bytes above the share come from the pool. `excess` is the
//! number of bytes taken from the pool, and never exceeds the pool. So no client can use up the share
//! of another client.

use super::deadlines::Deadlines;
use super::{ConnId, Unauthenticated};
use crate::Time;
use crate::ide::ServerEvent;
use crate::ide::connection::{Admission, Connection};
use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// The number of connections that were ever accepted.
    accepted: u64,
    /// The places whose connection can have an event, in the order in which they are polled.
    eventful: VecDeque<usize>,
    /// The places that got output or became done since [`next_with_output`](Self::next_with_output) last
    /// returned them.
    transmitting: VecDeque<usize>,
    /// The deadlines of the connections, exact for the places that are not eventful. The deadline of an
    /// eventful place is the one that came when the place was queued.
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
    is_eventful: bool,
    is_transmitting: bool,
    /// True if `Connections::open` counts the connection.
    is_open: bool,
    /// The bytes that the open calls of the connection hold beyond its share.
    excess: usize,
    /// The position of the outgoing stream when `next_with_output` last returned the connection.
    named_at: u64,
}

impl Connections {
    /// Creates an empty set. The open calls of up to `places` connections can hold `bytes` together:
    /// one half is divided into shares, the other half is the pool.
    pub(super) fn new(bytes: usize, places: usize) -> Self {
        let pool = bytes / 2;
        let share = bytes.saturating_sub(pool).checked_div(places).unwrap_or_default();
        Self { share, pool, ..Self::default() }
    }

    pub(super) fn set_now(&mut self, now: Time) {
        self.now = self.now.max(now);
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
            let (is_eventful, is_transmitting) = (slot.is_eventful, slot.is_transmitting);
            *slot = Slot {
                generation: self.accepted,
                connection: Some(make(id, self.now)),
                is_eventful,
                is_transmitting,
                ..Slot::default()
            };
        }
        self.note(index);
        id
    }

    /// Frees the place of a connection that is over.
    pub(super) fn remove(&mut self, conn: ConnId) {
        let Some(index) = self.index(conn) else { return };
        if let Some(slot) = self.slots.get_mut(index) {
            slot.connection = None;
        }
        self.note(index);
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

    /// Runs `act` on a connection at the latest time seen, and queues the connection for its events and
    /// output.
    pub(super) fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let now = self.now;
        let done = self.get_mut(index).map(|connection| {
            connection.tick(now);
            act(connection)
        });
        self.touch(index);
        done
    }

    /// Queues a connection for a poll, unless it is queued.
    pub(super) fn poll_next(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index).filter(|slot| !slot.is_eventful) {
            slot.is_eventful = true;
            self.eventful.push_back(index);
        }
    }

    /// Brings the latest time seen to a connection whose deadline has come. The time can have come with
    /// bytes of another connection.
    pub(super) fn catch_up(&mut self, index: usize) {
        if self.deadlines.is_due(index, self.now) {
            self.with(index, |_| {});
        }
    }

    /// Brings the latest time seen to each connection whose deadline has come.
    pub(super) fn tick(&mut self) {
        let mut from = 0;
        while let Some(index) = self.deadlines.next_due(from, self.now) {
            self.with(index, |_| {});
            from = index.saturating_add(1);
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

    /// Returns the next connection that has got output, or has become done, since this method last
    /// returned it.
    pub(super) fn next_with_output(&mut self) -> Option<ConnId> {
        while let Some(index) = self.transmitting.pop_front() {
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_transmitting = false;
            // A later connection can have this place by now, and have no new output.
            if slot.has_unnamed() {
                slot.named_at = slot.connection.as_ref().map_or(0, Connection::position);
                return Some(slot.id(index));
            }
        }
        None
    }

    /// Returns one event of the first connection in the queue that has one, and puts this connection at
    /// the end of the queue. So a connection that always has events does not delay the others. While
    /// `places` connections are open, a client with the token is refused with 503. The end of a
    /// connection that was never let in is counted and not returned.
    pub(super) fn next_event(&mut self, places: usize) -> Option<(ConnId, ServerEvent)> {
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
            // A connection without an event has none until the next `touch`, so the place is not queued
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

    /// Returns the latest time seen while a place is in one of the queues, else the earliest of all
    /// deadlines.
    pub(super) fn deadline(&self) -> Option<Time> {
        if !self.eventful.is_empty() || !self.transmitting.is_empty() {
            return Some(self.now);
        }
        self.deadlines.next()
    }

    /// Queues a connection that has an event or new output, or has become done.
    fn touch(&mut self, index: usize) {
        if self.note(index).is_some_and(|at| at <= self.now) {
            self.poll_next(index);
        }
        let most = self.eventful.len().max(self.transmitting.len());
        debug_assert!(most <= self.slots.len(), "a place is queued twice: {most} places");
    }

    /// Queues a connection that has new output or has become done, and updates the counts. Notes and
    /// returns its deadline. Returns `None` if the place is queued for its events: the poll of these
    /// events notes the deadline.
    fn note(&mut self, index: usize) -> Option<Time> {
        let slot = self.slots.get_mut(index)?;
        if !slot.is_transmitting && slot.has_unnamed() {
            slot.is_transmitting = true;
            self.transmitting.push_back(index);
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

    /// Returns true if the connection got output or became done since `next_with_output` last returned it.
    fn has_unnamed(&self) -> bool {
        self.connection
            .as_ref()
            .is_some_and(|connection| connection.position() > self.named_at || connection.is_done())
    }
}
