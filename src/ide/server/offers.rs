//! The order in which the connections of a server are offered for writing.
//!
//! ```text
//!  Idle ──new output──▶ Queued ──offered, written(n)──▶ Queued at the end, or Idle when all is written
//!                          ▲  └──offered, nothing taken──▶ Full
//!                          └────────── next pass ───────────┘
//! ```
//!
//! The connections with output stand in a queue, so that each gets its turn, and a poll for one of a thousand looks at
//! that one alone.

use super::ConnId;
use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

/// The connections with unwritten output, by their places.
#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) queue: VecDeque<usize>,
    /// Those whose socket took nothing in this pass.
    full: VecDeque<usize>,
    /// Whether a place is in one of the two.
    is_queued: Vec<bool>,
    /// The offer to the first of the queue that waits for its answer: the connection, and the number of bytes.
    pub(super) offered: Option<(ConnId, usize)>,
    /// True from the first poll of a pass to its `Wait`: a pass that was left is due.
    pub(super) in_pass: bool,
}

impl Offers {
    /// Begins a pass, unless one is under way.
    pub(super) fn begin(&mut self) -> bool {
        let begins = !mem::replace(&mut self.in_pass, true);
        if begins {
            self.queue.append(&mut self.full);
        }
        begins
    }

    /// Queues a place with output, unless it is queued.
    pub(super) fn add(&mut self, index: usize) {
        if self.is_queued.len() <= index {
            self.is_queued.resize(index.saturating_add(1), false);
        }
        if let Some(is_queued @ false) = self.is_queued.get_mut(index) {
            *is_queued = true;
            self.queue.push_back(index);
        }
    }

    /// Takes the first out of the queue: nothing of it is unwritten.
    pub(super) fn drop_first(&mut self) {
        let Some(index) = self.queue.pop_front() else { return };
        if let Some(is_queued) = self.is_queued.get_mut(index) {
            *is_queued = false;
        }
    }

    /// Takes a place out of the queues, so that another connection in it is queued anew.
    pub(super) fn drop_place(&mut self, index: usize) {
        if let Some(is_queued) = self.is_queued.get_mut(index).filter(|is_queued| **is_queued) {
            *is_queued = false;
            self.queue.retain(|queued| *queued != index);
            self.full.retain(|queued| *queued != index);
        }
    }

    /// Takes the answer to the last offer: the socket took `n` bytes. Returns how many of them were offered. If it took any,
    /// the place is out of the queue, and the rest of its output is new.
    pub(super) fn answer(&mut self, conn: ConnId, n: usize) -> usize {
        let len = match self.offered {
            Some((offered, len)) if offered == conn => len,
            Some(_) | None => return 0,
        };
        self.offered = None;
        let taken = n.min(len);
        if taken > 0 {
            self.drop_first();
        } else {
            self.full.extend(self.queue.pop_front());
        }
        taken
    }
}
