//! The sockets of a server: where each has its place, which of them want a step, and which only linger.
//!
//! Whatever may want a step is noted as busy, so that a turn for one of a thousand does not look at all of them.

use ide_mcp::Time;
use ide_mcp::ide::{ConnId, Host};
use ide_mcp_link::{BUDGET, Link, Shutdown};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::mem;

/// How many sockets may linger at once so that their farewell arrives. They hold nothing but a file descriptor.
const LINGERING: usize = 16;

/// The most bytes that a turn reads: their requests are all handled before the first answer is written. Small requests of
/// this size take 1 to 2 ms, where 256 KiB of each of 15 flooding clients took 16 ms.
const TURN: usize = 256 * 1024;

/// The bytes of a turn that a connection can read beside any number of others: most messages fit.
const SHARE: usize = 16 * 1024;

#[derive(Debug)]
pub(crate) struct Links<S> {
    /// By the index of their connection.
    places: Vec<Option<Place<S>>>,
    /// The places that may want a step, each at most once.
    busy: Vec<usize>,
    /// The places whose link wants a step for its own sake, each at most once, and when: the earliest first.
    resting: VecDeque<(Time, usize)>,
    /// Their connection is over; they discard what still comes.
    lingering: VecDeque<(usize, Link<S>)>,
}

#[derive(Debug)]
struct Place<S> {
    id: ConnId,
    link: Link<S>,
    is_busy: bool,
    is_resting: bool,
    /// Its connection has told its end: it goes soon, or as soon as the application removes it.
    is_ending: bool,
}

impl<S> Links<S> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), busy: Vec::new(), resting: VecDeque::new(), lingering: VecDeque::new() }
    }

    pub(crate) fn insert(&mut self, id: ConnId, socket: S) {
        let index = id.index();
        // The application may have removed the one before, and its socket has not gone yet.
        self.retire(index);
        if self.places.len() <= index {
            self.places.resize_with(index.saturating_add(1), || None);
        }
        if let Some(place) = self.places.get_mut(index) {
            *place = Some(Place {
                id,
                link: Link::new(socket),
                is_busy: false,
                is_resting: false,
                is_ending: false,
            });
            self.touch(index);
        }
    }

    /// The connection needs its place no longer.
    fn retire(&mut self, index: usize) {
        if let Some(place) = self.places.get_mut(index).and_then(Option::take) {
            self.busy.retain(|busy| *busy != index);
            self.resting.retain(|(_, resting)| *resting != index);
            self.lingering.push_back((index, place.link));
        }
    }

    /// Returns the socket of a connection.
    pub(crate) fn socket(&self, id: ConnId) -> Option<&S> {
        let place = self.places.get(id.index())?.as_ref()?;
        (place.id == id).then(|| place.link.socket())
    }

    /// The sockets with this number may have become readable, writable, or broken.
    pub(crate) fn ready(&mut self, index: usize) {
        if let Some(Some(place)) = self.places.get_mut(index) {
            place.link.ready();
            self.touch(index);
        }
        for (_, link) in self.lingering.iter_mut().filter(|(number, _)| *number == index) {
            link.ready();
        }
    }

    /// The connection has told its end.
    pub(crate) fn ending(&mut self, id: ConnId) {
        let place = self.places.get_mut(id.index()).and_then(Option::as_mut);
        if let Some(place) = place.filter(|place| place.id == id) {
            place.is_ending = true;
            self.touch(id.index());
        }
    }

    /// Notes the sockets whose connection the host no longer has.
    pub(crate) fn touch_removed(&mut self, host: &mut Host) {
        for index in 0..self.places.len() {
            let id = self.places.get(index).and_then(Option::as_ref).map(|place| place.id);
            if id.is_some_and(|id| host.wire(id).is_none()) {
                self.touch(index);
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lingering.is_empty() && self.places.iter().all(Option::is_none)
    }

    pub(crate) fn deadline(&self, host: &mut Host, now: Time) -> Option<Time> {
        for place in self.busy.iter().filter_map(|index| self.places.get(*index)?.as_ref()) {
            if host.wire(place.id).is_none_or(|wire| place.link.is_due(&wire)) {
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

    /// Those whose time has come to have memory given back.
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

impl<S: Read + Write + Shutdown> Links<S> {
    /// Reads what has come, but no more than [`TURN`] bytes in all, the last read aside. Each connection gets its share,
    /// and those that got none come first in the next turn.
    pub(crate) fn read(&mut self, host: &mut Host, now: Time) {
        let share = TURN.checked_div(self.busy.len()).unwrap_or(TURN).max(SHARE);
        let (mut come, mut looked_at) = (0_usize, 0);
        for index in &self.busy {
            let left = TURN.saturating_sub(come);
            if left == 0 {
                break;
            }
            looked_at += 1;
            let Some(Some(place)) = self.places.get_mut(*index) else { continue };
            if let Some(mut wire) = host.wire(place.id) {
                come = come.saturating_add(place.link.read(&mut wire, now, share.min(left)));
            }
        }
        self.busy.rotate_left(looked_at);
    }

    /// Writes what there is to write.
    pub(crate) fn write(&mut self, host: &mut Host, now: Time) {
        while let Some(id) = host.poll_transmit() {
            self.write_to(host, now, id.index());
        }
        // The host names a connection when it gets output. Where there was no room for it, or memory is to be given
        // back, the link knows.
        self.touch_due(now);
        for index in mem::take(&mut self.busy) {
            if let Some(Some(place)) = self.places.get_mut(index) {
                place.is_busy = false;
                self.write_to(host, now, index);
            }
        }
    }

    fn write_to(&mut self, host: &mut Host, now: Time, index: usize) {
        let Some(Some(place)) = self.places.get_mut(index) else { return };
        let Place { id, link, .. } = place;
        if let Some(mut wire) = host.wire(*id) {
            link.write(&mut wire, now, BUDGET);
            if let Some(at) = link.deadline(now).filter(|_| !place.is_resting) {
                place.is_resting = true;
                // All rest equally long, so this is the last, or nearly so.
                let before = self.resting.iter().rposition(|(other, _)| *other <= at);
                self.resting.insert(before.map_or(0, |before| before.saturating_add(1)), (at, index));
            }
            if !link.is_ending() {
                if link.may_read() || link.is_due(&wire) || place.is_ending {
                    self.touch(index);
                }
                return;
            }
        }
        // It is done, or the application removed it: the socket goes with it.
        host.remove(now, *id);
        self.retire(index);
    }

    /// Lets the sockets go whose farewell has arrived, or had its time.
    pub(crate) fn linger(&mut self, now: Time, mut release: impl FnMut(S)) {
        let mut surplus = self.lingering.len().saturating_sub(LINGERING);
        for _ in 0..self.lingering.len() {
            let Some((index, mut link)) = self.lingering.pop_front() else { return };
            link.discard(now, BUDGET);
            if surplus > 0 || link.is_over() || !link.is_ending() {
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
