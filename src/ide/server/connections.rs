//! The connections of a server: the table that holds them, the order they are polled in, and the queue of those with
//! new output. A place is an index into the table; a free place is reused.
//!
//! ```text
//!           fed, its deadline has come, an operation that causes an event
//!  Quiet ────────────────────────────────────────────────────────────────▶ Eventful ──no event──▶ Quiet
//!
//!  after each operation and each poll of a connection: its deadline is recorded, and it is
//!    queued for writing if it has output, or for closing if it is done
//!
//!  after a write that nothing was waiting for: it is queued for writing if it has more output
//!
//!  Idle ──new output──▶ Queued ──offered, written(n)──▶ Queued at the end, or Idle when all is written
//!                          ▲  └──offered, nothing taken──▶ Full
//!                          └────────── next pass ───────────┘
//! ```
//!
//! Queues hold places, each at most once. So no search is needed: a poll for one of a thousand connections looks only
//! at that one.
//!
//! The open calls of all connections together hold at most `share * max_open + pool` bytes. Each connection has its
//! share; what exceeds the share comes from the pool. `excess` counts the bytes taken from the pool, and never exceeds
//! it. So no client can use up the share of another.

use super::deadlines::Deadlines;
use super::{ConnId, Unauthenticated};
use crate::Time;
use crate::ide::ServerEvent;
use crate::ide::connection::{Admission, Connection, Status};
use alloc::{collections::VecDeque, vec::Vec};

#[derive(Debug, Default)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// How many connections were ever accepted.
    accepted: u64,
    /// The places whose connection may have an event, in the order they are polled in.
    pub(super) eventful: VecDeque<usize>,
    /// The places whose connection is done but not closed yet.
    pub(super) done: VecDeque<usize>,
    pub(super) offers: Offers,
    /// The deadlines of the connections. The deadline of an eventful place dates from when it was queued, and a write
    /// that nothing was waiting for does not update it. So a deadline may come too early; the poll then records the
    /// next one.
    pub(super) deadlines: Deadlines,
    /// How many connections are open.
    open: usize,
    /// How many connections may be open at once: 0 after the shutdown.
    pub(super) max_open: usize,
    share: usize,
    pool: usize,
    /// The sum of the excess of the slots.
    excess: usize,
    pub(super) unauthenticated: Unauthenticated,
    /// The latest time seen.
    pub(super) now: Time,
}

/// The connections with unwritten output, by place. Each is in one of the two queues.
#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) queue: VecDeque<usize>,
    /// Those whose socket took nothing in this pass.
    pub(super) full: VecDeque<usize>,
    /// The offer of the first connection in the queue, until it is answered: the connection, and how many bytes.
    pub(super) offered: Option<(ConnId, usize)>,
    /// True from the first poll of a pass to its `Wait`. Until then the next poll is due at once, even if the caller
    /// abandoned the pass.
    pub(super) in_pass: bool,
}

impl Offers {
    /// Takes a place out of the queues.
    fn forget(&mut self, index: usize) {
        self.queue.retain(|queued| *queued != index);
        self.full.retain(|queued| *queued != index);
        self.offered.take_if(|(offered, _)| offered.index() == index);
    }
}

/// An entry of the table of connections.
#[derive(Debug, Default)]
struct Slot {
    connection: Option<Connection>,
    /// True if the place is in the queue `eventful`.
    is_eventful: bool,
    /// True if the place is in the queue `done`, or its connection has just been taken from there.
    is_done: bool,
    /// True if the place is in a queue of `offers`.
    is_queued: bool,
    /// True if `Connections::open` counts the connection.
    is_open: bool,
    /// How many bytes the open calls of the connection hold beyond its share.
    excess: usize,
}

impl Connections {
    /// Creates an empty set. The open calls of up to `max_open` connections may hold `bytes` together: half of it is
    /// divided into shares, the other half is the pool.
    pub(super) fn new(bytes: usize, max_open: usize) -> Self {
        let pool = bytes / 2;
        let share = bytes.saturating_sub(pool).checked_div(max_open).unwrap_or_default();
        Self { max_open, share, pool, ..Self::default() }
    }

    /// Sets the clock.
    pub(super) fn set_now(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    /// Ends the oldest pending connection if there are `limit` of them.
    pub(super) fn evict_oldest_pending(&mut self, limit: usize) {
        let is_pending =
            |connection: &&Connection| connection.admission != Admission::LetIn && !connection.has_ended();
        let pending = || self.slots.iter().filter_map(|slot| slot.connection.as_ref()).filter(is_pending);
        if pending().count() >= limit.max(1) {
            let oldest = pending().map(|connection| connection.conn).min_by_key(|conn| conn.number());
            if let Some(conn) = oldest {
                self.with(conn, Connection::drop_unanswered);
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
        let conn = ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.accepted);
        if let Some(slot) = self.slots.get_mut(index) {
            let connection = Some(make(conn, self.now));
            *slot = Slot { connection, is_eventful: slot.is_eventful, ..Slot::default() };
        }
        // A connection is due at once if a limit of it is zero.
        self.work_out(index);
        conn
    }

    /// Returns a connection; `None` if it is over.
    pub(super) fn get(&self, conn: ConnId) -> Option<&Connection> {
        match &self.slots.get(conn.index())?.connection {
            Some(connection) if connection.conn == conn => Some(connection),
            Some(_) | None => None,
        }
    }

    /// Returns a connection; `None` if it is over. An operation that may cause an event, output or the end must go
    /// through [`with`](Self::with).
    pub(super) fn get_mut(&mut self, conn: ConnId) -> Option<&mut Connection> {
        match &mut self.slots.get_mut(conn.index())?.connection {
            Some(connection) if connection.conn == conn => Some(connection),
            Some(_) | None => None,
        }
    }

    /// Returns true if the connection was accepted and has not ended.
    pub(super) fn is_attached(&self, conn: ConnId) -> bool {
        self.get(conn).is_some_and(Connection::is_attached)
    }

    /// Runs `act` on a connection at the latest time seen, and works out what follows: events, output, the end, and the
    /// counts. Returns `None` if the connection is over.
    pub(super) fn with<T>(&mut self, conn: ConnId, act: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let now = self.now;
        let connection = self.get_mut(conn)?;
        connection.set_now(now);
        let done = act(connection);
        self.work_out(conn.index());
        Some(done)
    }

    /// Runs `act` on each connection.
    pub(super) fn with_each(&mut self, mut act: impl FnMut(&mut Connection)) {
        for index in 0..self.slots.len() {
            let now = self.now;
            if let Some(connection) = self.slots.get_mut(index).and_then(|slot| slot.connection.as_mut()) {
                connection.set_now(now);
                act(connection);
                self.work_out(index);
            }
        }
    }

    /// Returns a connection to feed, and queues it for a poll, which handles all that has arrived: a message that comes
    /// in a thousand pieces costs a thousand appends and no more.
    pub(super) fn input(&mut self, now: Time, conn: ConnId) -> Option<&mut Connection> {
        self.set_now(now);
        let Slot { connection, is_eventful, .. } = self.slots.get_mut(conn.index())?;
        let connection = connection.as_mut()?;
        if connection.conn != conn {
            return None;
        }
        if !*is_eventful {
            *is_eventful = true;
            self.eventful.push_back(conn.index());
        }
        Some(connection)
    }

    /// Begins a pass at this time, and queues each connection whose deadline has passed.
    pub(super) fn begin_pass(&mut self, now: Time) {
        self.offers.in_pass = true;
        self.offers.queue.append(&mut self.offers.full);
        self.set_now(now);
        if self.deadlines.first <= self.now {
            let mut from = 0;
            while let Some(index) = self.deadlines.next_due(from, self.now) {
                self.poll_next(index);
                from = index.saturating_add(1);
            }
        }
    }

    /// Queues a connection for a poll, unless it is queued.
    fn poll_next(&mut self, index: usize) {
        if let Some(slot) = self.slots.get_mut(index).filter(|slot| !slot.is_eventful) {
            slot.is_eventful = true;
            self.eventful.push_back(index);
        }
    }

    /// Works out what follows from an operation on a connection.
    pub(super) fn work_out(&mut self, index: usize) {
        // `is_due` is false for `Time::NEVER`, even if that is the present time.
        if self.note(index).is_due(self.now) {
            self.poll_next(index);
        }
    }

    /// Returns the connections in the table, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ConnId, &Connection)> {
        let mut connections: Vec<_> = self.slots.iter().filter_map(|slot| slot.connection.as_ref()).collect();
        connections.sort_unstable_by_key(|connection| connection.conn.number());
        connections.into_iter().map(|connection| (connection.conn, connection))
    }

    /// Removes the next connection that is done, and returns its id.
    #[inline]
    pub(super) fn next_done(&mut self) -> Option<ConnId> {
        let index = self.done.pop_front()?;
        let over = self.slots.get_mut(index)?.connection.take()?;
        self.note(index);
        Some(over.conn)
    }

    /// Returns one event of the first connection in the queue that has one, and moves that connection to the end of the
    /// queue, so that a busy connection does not delay the others. While all places are taken, a client with the token
    /// is refused with 503. The end of a connection that was never accepted is counted, not returned.
    pub(super) fn next_event(&mut self) -> Option<ServerEvent> {
        while let Some(index) = self.eventful.pop_front() {
            let full = self.is_full();
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_eventful = false;
            let others = self.excess.saturating_sub(slot.excess);
            let quota = self.share.saturating_add(self.pool.saturating_sub(others));
            let Some(connection) = &mut slot.connection else {
                self.note(index);
                continue;
            };
            // Sets the clock of the connection too. Otherwise its deadline would not be due there, it would have no
            // event, and it would be queued again forever.
            connection.set_now(self.now);
            let event = connection.poll(quota, full);
            let admission = connection.admission;
            if event.is_some() {
                slot.is_eventful = true;
                self.eventful.push_back(index);
            }
            // A connection without an event now has none until something happens to it, so it is not queued again.
            // Otherwise, at `Time::NEVER`, when every deadline has passed, it would be queued forever.
            self.note(index);
            match event {
                Some(ServerEvent::Closed { .. }) if admission != Admission::LetIn => {
                    self.unauthenticated.count(admission)
                }
                Some(event) => return Some(event),
                None => {}
            }
        }
        None
    }

    /// Offers the unwritten output of the first connection in the queue.
    pub(super) fn offer(&mut self) -> Option<(ConnId, &[u8])> {
        let connection = self.slots.get(*self.offers.queue.front()?)?.connection.as_ref()?;
        let bytes = connection.outgoing();
        self.offers.offered = Some((connection.conn, bytes.len()));
        Some((connection.conn, bytes))
    }

    /// Takes the answer to the last offer: the socket took `n` bytes. If it took any, the connection goes to the end of
    /// the queue. Returns false if it took none.
    pub(super) fn written(&mut self, conn: ConnId, n: usize) -> bool {
        let taken = match self.offers.offered {
            Some((offered, len)) if offered == conn => n.min(len),
            Some(_) | None => return false,
        };
        self.offers.offered = None;
        let Some(index) = self.offers.queue.pop_front() else { return false };
        let now = self.now;
        match self.slots.get_mut(index) {
            Some(Slot { connection: Some(connection), is_queued, .. }) if taken > 0 => {
                *is_queued = false;
                connection.set_now(now);
                if connection.sent(taken) {
                    self.work_out(index);
                } else if !connection.outgoing().is_empty() {
                    *is_queued = true;
                    self.offers.queue.push_back(index);
                }
                true
            }
            Some(_) | None => {
                self.offers.full.push_back(index);
                false
            }
        }
    }

    /// Returns true if as many connections are open as may be open at once.
    pub(super) const fn is_full(&self) -> bool {
        self.open >= self.max_open
    }

    /// Queues a connection that has new output or has become done, and updates the counts. Records and returns its
    /// deadline; [`Time::NEVER`] if the place is queued for a poll, which then records the deadline.
    fn note(&mut self, index: usize) -> Time {
        let Some(slot) = self.slots.get_mut(index) else { return Time::NEVER };
        let status = match &slot.connection {
            Some(connection) => connection.status(),
            None => Status::GONE,
        };
        if slot.is_done != status.is_done {
            slot.is_done = status.is_done;
            self.done.extend(status.is_done.then_some(index));
        }
        if slot.is_open != status.is_open {
            slot.is_open = status.is_open;
            self.open =
                if status.is_open { self.open.saturating_add(1) } else { self.open.saturating_sub(1) };
        }
        let excess = status.open_bytes.saturating_sub(self.share);
        if slot.excess != excess {
            self.excess = self.excess.saturating_sub(slot.excess).saturating_add(excess);
            slot.excess = excess;
        }
        let is_eventful = slot.is_eventful;
        if !is_eventful && self.deadlines.all.get(index) != Some(&status.due) {
            self.deadlines.set(index, status.due);
        }
        match (slot.is_queued, status.has_output) {
            (false, true) => {
                slot.is_queued = true;
                self.offers.queue.push_back(index);
            }
            // The unwritten bytes were dropped, or the connection is gone.
            (true, false) => {
                slot.is_queued = false;
                self.offers.forget(index);
            }
            (true, true) | (false, false) => {}
        }
        if is_eventful { Time::NEVER } else { status.due }
    }
}
