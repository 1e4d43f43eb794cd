//! The sockets of a server. Each open connection has a place: the table entry at the connection's index. When
//! a connection has ended, its socket leaves the place and lingers until its last bytes have arrived.
//!
//! The list of busy places names those that may need a step, so that a turn for one of a thousand sockets
//! does not visit all of them.

use crate::socket::{BUDGET, Link, Shutdown};
use ide_mcp::Time;
use ide_mcp::ide::{ConnId, Server};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::mem;

/// How many sockets may linger at once. A lingering socket costs only a file descriptor.
const LINGERING: usize = 16;

/// How many bytes a turn reads at most, from all connections. All requests in them are handled before the
/// first answer is written, and 256 KiB of small requests take 1 to 2 ms. Without a limit on the sum, a turn
/// with 256 KiB from each of 15 flooding clients took 16 ms.
const TURN: usize = 256 * 1024;

/// The minimum share of [`TURN`] for a connection, even if so many are busy that the turn does not reach all
/// of them. Most messages fit into it.
const SHARE: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Connections<S> {
    /// The places, by the index of their connection.
    places: Vec<Option<Place<S>>>,
    /// The places that may need a step, each at most once.
    busy: Vec<usize>,
    /// The places whose link must free memory later, each at most once, the earliest time first.
    resting: VecDeque<(Time, usize)>,
    /// The links whose connection has ended, each with the former index of the connection. They discard
    /// whatever still arrives.
    lingering: VecDeque<(usize, Link<S>)>,
}

#[derive(Debug)]
struct Place<S> {
    id: ConnId,
    link: Link<S>,
    is_busy: bool,
    is_resting: bool,
}

impl<S> Connections<S> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), busy: Vec::new(), resting: VecDeque::new(), lingering: VecDeque::new() }
    }

    pub(crate) fn insert(&mut self, id: ConnId, link: Link<S>) {
        let index = id.index();
        if self.places.len() <= index {
            self.places.resize_with(index.saturating_add(1), || None);
        }
        if let Some(place) = self.places.get_mut(index) {
            if place.replace(Place { id, link, is_busy: false, is_resting: false }).is_some() {
                // The loop did not close the socket of the connection that had this place.
                self.forget(index);
            }
            self.touch(index);
        }
    }

    /// Removes a place from the lists of busy and resting places.
    fn forget(&mut self, index: usize) {
        self.busy.retain(|busy| *busy != index);
        self.resting.retain(|(_, resting)| *resting != index);
    }

    /// Returns the socket of a connection.
    pub(crate) fn socket(&self, id: ConnId) -> Option<&S> {
        let place = self.places.get(id.index())?.as_ref()?;
        (place.id == id).then(|| place.link.socket())
    }

    /// Call this when the sockets with this number may be readable, writable, or broken.
    pub(crate) fn ready(&mut self, index: usize) {
        self.report(index, Link::ready);
    }

    /// Call this when the sockets with this number have room, and no new input.
    pub(crate) fn report_room(&mut self, index: usize) {
        self.report(index, Link::report_room);
    }

    /// Call this when the streams of the sockets with this number have ended, or the sockets have failed.
    pub(crate) fn report_end(&mut self, index: usize) {
        self.report(index, Link::report_end);
    }

    fn report(&mut self, index: usize, report: impl Fn(&mut Link<S>)) {
        if let Some(Some(place)) = self.places.get_mut(index) {
            report(&mut place.link);
            self.touch(index);
        }
        for (_, link) in self.lingering.iter_mut().filter(|(number, _)| *number == index) {
            report(link);
        }
    }

    /// Returns what a loop must wait for: the number of each socket, the socket, and whether to wait for
    /// input and for room.
    pub(crate) fn waiting(&self, server: &Server) -> impl Iterator<Item = (usize, &S, bool, bool)> {
        let places =
            self.places.iter().enumerate().filter_map(|(index, place)| Some((index, place.as_ref()?)));
        let moving = places.map(|(index, Place { id, link, .. })| {
            (index, link.socket(), server.wants_input(*id), server.wants_output(*id))
        });
        moving.chain(self.lingering.iter().map(|(index, link)| (*index, link.socket(), true, false)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lingering.is_empty() && self.places.iter().all(Option::is_none)
    }

    pub(crate) fn deadline(&self, server: &Server, now: Time) -> Option<Time> {
        for place in self.busy.iter().filter_map(|index| self.places.get(*index)?.as_ref()) {
            if place.link.is_due(server, place.id) {
                return Some(now);
            }
        }
        let resting = self.resting.front().map(|(at, _)| *at);
        self.lingering.iter().filter_map(|(_, link)| link.deadline(now)).chain(resting).min()
    }

    fn touch(&mut self, index: usize) {
        if let Some(Some(place)) = self.places.get_mut(index) {
            if !place.is_busy {
                place.is_busy = true;
                self.busy.push(index);
            }
        }
    }

    /// Marks the places whose link must free memory now as busy.
    fn touch_due(&mut self, now: Time) {
        while self.resting.front().is_some_and(|(at, _)| *at <= now) {
            let Some((_, index)) = self.resting.pop_front() else { return };
            if let Some(Some(place)) = self.places.get_mut(index) {
                place.is_resting = false;
                self.touch(index);
            }
        }
    }
}

impl<S: Read + Write + Shutdown> Connections<S> {
    /// Reads at most [`TURN`] bytes in all; only the last read can exceed that. Each connection gets its
    /// share, and those that this turn does not reach come first in the next one.
    pub(crate) fn read(&mut self, server: &mut Server, now: Time) {
        let share = TURN.checked_div(self.busy.len()).unwrap_or(TURN).max(SHARE);
        let (mut total, mut looked_at) = (0_usize, 0);
        for index in &self.busy {
            let left = TURN.saturating_sub(total);
            if left == 0 {
                break;
            }
            looked_at += 1;
            let Some(Some(place)) = self.places.get_mut(*index) else { continue };
            total = total.saturating_add(place.link.read(server, place.id, now, share.min(left)));
        }
        self.busy.rotate_left(looked_at);
    }

    /// Writes what the server offers to a connection, and returns how much the socket took.
    pub(crate) fn write(&mut self, id: ConnId, bytes: &[u8], now: Time) -> Option<usize> {
        let place =
            self.places.get_mut(id.index()).and_then(Option::as_mut).filter(|place| place.id == id)?;
        let taken = place.link.write(bytes, now);
        self.touch(id.index());
        taken
    }

    /// Ends the transport of a connection after a failed write.
    pub(crate) fn sever(&mut self, server: &mut Server, id: ConnId, now: Time) {
        match self.places.get_mut(id.index()).and_then(Option::as_mut).filter(|place| place.id == id) {
            Some(place) => place.link.sever(server, id, now),
            None => server.feed_eof(now, id),
        }
    }

    /// Closes the socket of a connection that has ended. It lingers from now on.
    pub(crate) fn close(&mut self, id: ConnId, now: Time) {
        if let Some(place) =
            self.places.get_mut(id.index()).and_then(|place| place.take_if(|place| place.id == id))
        {
            let (index, mut link) = (id.index(), place.link);
            self.forget(index);
            link.close(now);
            self.lingering.push_back((index, link));
        }
    }

    /// Ends a turn: lets the busy connections free the memory that they no longer need, and finds out which
    /// of them still have work.
    pub(crate) fn rest(&mut self, server: &mut Server, now: Time) {
        self.touch_due(now);
        for index in mem::take(&mut self.busy) {
            let Some(Some(place)) = self.places.get_mut(index) else { continue };
            let Place { id, link, .. } = place;
            place.is_busy = false;
            link.rest(server, *id, now);
            if let Some(at) = link.deadline(now).filter(|_| !place.is_resting) {
                place.is_resting = true;
                // All links wait equally long, so this link belongs at the end of the list, or nearly.
                let before = self.resting.iter().rposition(|(other, _)| *other <= at);
                self.resting.insert(before.map_or(0, |before| before.saturating_add(1)), (at, index));
            }
            if link.may_read() || link.is_due(server, *id) {
                self.touch(index);
            }
        }
    }

    /// Releases the sockets whose last bytes have arrived or whose time is up. If there are more than
    /// [`LINGERING`], also releases the oldest ones.
    pub(crate) fn linger(&mut self, now: Time, mut release: impl FnMut(S)) {
        let mut surplus = self.lingering.len().saturating_sub(LINGERING);
        for _ in 0..self.lingering.len() {
            let Some((index, mut link)) = self.lingering.pop_front() else { return };
            link.discard(now, BUDGET);
            if surplus > 0 || link.is_over() {
                surplus = surplus.saturating_sub(1);
                release(link.into_socket());
            } else {
                self.lingering.push_back((index, link));
            }
        }
    }
}

#[cfg(test)]
mod tests;
