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
use super::connections::{Connections, Slot};
use alloc::collections::VecDeque;

/// The connections with unwritten output, by their places. Each is in one of the two queues, and no other is.
#[derive(Debug, Default)]
pub(super) struct Offers {
    pub(super) queue: VecDeque<usize>,
    /// Those whose socket took nothing in this pass.
    pub(super) full: VecDeque<usize>,
    /// The offer to the first of the queue that waits for its answer: the connection, and the number of bytes.
    pub(super) offered: Option<(ConnId, usize)>,
    /// True from the first poll of a pass to its `Wait`: a pass that was left is due.
    pub(super) in_pass: bool,
}

impl Connections {
    /// Offers the unwritten output of the first connection in the queue.
    pub(super) fn offer(&mut self) -> Option<(ConnId, &[u8])> {
        let connection = self.slots.get(*self.offers.queue.front()?)?.connection.as_ref()?;
        let bytes = connection.outgoing();
        self.offers.offered = Some((connection.conn, bytes.len()));
        Some((connection.conn, bytes))
    }

    /// Queues a place with output, unless it is queued.
    #[inline]
    pub(super) fn queue_output(&mut self, index: usize) {
        if let Some(slot @ Slot { is_queued: false, .. }) = self.slots.get_mut(index) {
            slot.is_queued = true;
            self.offers.queue.push_back(index);
        }
    }

    /// Takes the answer to the last offer: the socket took `n` bytes. If it took any, the connection takes its next turn at
    /// the end of the queue. Returns false if it took none.
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
                    self.queue_output(index);
                }
                true
            }
            Some(_) | None => {
                self.offers.full.push_back(index);
                false
            }
        }
    }

    /// Takes a place without output out of the queues: what was unwritten has been dropped, or the connection is gone.
    pub(super) fn drop_offer(&mut self, index: usize) {
        if let Some(slot @ Slot { is_queued: true, .. }) = self.slots.get_mut(index) {
            slot.is_queued = false;
            self.offers.queue.retain(|queued| *queued != index);
            self.offers.full.retain(|queued| *queued != index);
            self.offers.offered.take_if(|(offered, _)| offered.index() == index);
        }
    }
}
