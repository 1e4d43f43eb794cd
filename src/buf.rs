//! The buffers under every machine: [`Rx`], the receive buffer, and [`Tx`], the send buffer.

use alloc::vec::Vec;
use core::fmt;

/// How much room is offered to a read at first: most messages of this protocol fit.
const SMALL_CHUNK: usize = 1024;

/// How much is offered after a read that filled all the room, since more is to come. One page of a pipe or a loopback
/// segment fits many times.
const CHUNK: usize = 16 * SMALL_CHUNK;

/// How much after one that filled that.
const LARGE_CHUNK: usize = 4 * CHUNK;

/// With less room than this behind what is held, more is made.
const ENOUGH: usize = SMALL_CHUNK / 2;

/// The receive buffer: `buf[start..end]` was received and not yet consumed, and `start <= end <= buf.len()`.
pub(crate) struct Rx {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// How many bytes may still come before the buffer is worked on as far as it goes.
    allowed: usize,
    /// The part of the last [`Rx::space_up_to`] that has not been filled, in bytes; 0 once the buffer has moved since.
    offered: usize,
    /// How much of what is held and to come belongs together: it is not consumed before it is there.
    awaited: usize,
}

impl Rx {
    /// How many bytes may come between two polls to `None`. Large enough for a loop to read a socket empty,
    /// small enough that sixteen connections nobody polls stay below a few megabytes.
    pub(crate) const UNPOLLED_LIMIT: usize = 256 * 1024;

    pub(crate) const fn new() -> Self {
        Self { buf: Vec::new(), start: 0, end: 0, allowed: Self::UNPOLLED_LIMIT, offered: 0, awaited: 0 }
    }

    /// How many bytes there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// The last byte.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut u8> {
        self.buf.get_mut(self.end.wrapping_sub(1))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buf.get(self.start..self.end).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buf.get_mut(self.start..self.end).unwrap_or_default()
    }

    /// Consumes `skip` bytes and the `len` behind them, which are there, and lends these.
    #[inline]
    pub(crate) fn lend(&mut self, skip: usize, len: usize) -> &mut [u8] {
        let at = self.start.wrapping_add(skip);
        self.start = at.wrapping_add(len);
        self.buf.get_mut(at..self.start).unwrap_or_default()
    }

    /// What was just consumed and still lies in front of [`Rx::bytes`]: the last `n` consumed bytes.
    pub(crate) fn consumed(&self, n: usize) -> &[u8] {
        let from = self.start.saturating_sub(n);
        self.buf.get(from..self.start).unwrap_or_default()
    }

    pub(crate) fn consume(&mut self, n: usize) {
        self.start = self.start.saturating_add(n).min(self.end);
    }

    /// Whether bytes came since the buffer was last worked on as far as it goes.
    pub(crate) fn has_fresh(&self) -> bool {
        self.allowed < Self::UNPOLLED_LIMIT
    }

    /// Everything that can be done with the bytes so far has been done.
    #[inline]
    pub(crate) fn mark_drained(&mut self) {
        self.allowed = Self::UNPOLLED_LIMIT;
    }

    /// Keeps the bytes for later, and accepts more until `most` bytes are held in all.
    ///
    /// [`Rx::has_fresh`] stays true, since the bytes can be worked on as soon as there is room in the send buffer.
    pub(crate) fn hold_back(&mut self, most: usize) {
        let unworked = usize::from(self.len() > 0);
        self.allowed = most.saturating_sub(self.len()).min(Self::UNPOLLED_LIMIT.saturating_sub(unworked));
    }

    /// Returns the number of bytes that can still come before the next [`Rx::mark_drained`] or [`Rx::hold_back`].
    pub(crate) fn allowed(&self) -> usize {
        self.allowed
    }

    /// Nothing is consumed before `len` bytes are there: the buffer may grow faster than by one read at a time.
    pub(crate) fn await_up_to(&mut self, len: usize) {
        self.awaited = len;
    }

    /// Room for a read: at most `limit` bytes, and at most as much as may still come unpolled.
    #[inline]
    pub(crate) fn space_up_to(&mut self, limit: usize) -> &mut [u8] {
        let limit = limit.min(self.allowed);
        // Behind what is held less will do, so that room is not made anew for every byte.
        if self.start == self.end || self.buf.len().wrapping_sub(self.end) < ENOUGH {
            self.prepare(limit);
        }
        let room = self.buf.get_mut(self.end..).unwrap_or_default();
        self.offered = room.len().min(limit);
        room.get_mut(..self.offered).unwrap_or_default()
    }

    /// Takes `n` bytes that were put into [`Rx::space_up_to`]. Returns false, and takes nothing, if no more than that was
    /// offered, or the buffer has moved since.
    #[inline]
    pub(crate) fn filled(&mut self, n: usize) -> bool {
        if n > self.offered {
            return false;
        }
        // What was offered lies within the buffer, so these do not wrap.
        self.offered = self.offered.wrapping_sub(n);
        self.end = self.end.wrapping_add(n);
        // It was allowed when it was offered; less may be by now.
        self.allowed = self.allowed.saturating_sub(n);
        true
    }

    /// Appends bytes; false, and nothing is taken, if they are more than may come unpolled.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> bool {
        if bytes.len() > self.allowed {
            return false;
        }
        self.rewind();
        self.make_room(bytes.len());
        let end = self.end.saturating_add(bytes.len());
        if let Some(room) = self.buf.get_mut(self.end..end) {
            room.copy_from_slice(bytes);
        }
        self.end = end;
        self.allowed = self.allowed.saturating_sub(bytes.len());
        self.offered = 0;
        true
    }

    /// Drops the content and the memory.
    pub(crate) fn discard(&mut self) {
        *self = Self::new();
    }

    /// Gives back the memory if nothing is in it.
    pub(crate) fn trim(&mut self) {
        if self.start == self.end {
            *self = Self { allowed: self.allowed, awaited: self.awaited, ..Self::new() };
        }
    }

    /// Begins at the front again where nothing is held.
    fn rewind(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Makes room for a read of at most `limit` bytes.
    fn prepare(&mut self, limit: usize) {
        let chunk = match self.end {
            end if end < self.buf.len() => SMALL_CHUNK,
            SMALL_CHUNK..CHUNK => CHUNK,
            CHUNK.. => LARGE_CHUNK,
            _ => SMALL_CHUNK,
        };
        self.rewind();
        self.make_room(limit.min(chunk));
    }

    /// Makes `buf[end..]` at least `room` long: by moving the content to the front if that is enough and cheap, by
    /// growing otherwise. What is moved is at most what was consumed before, and what grows doubles or ends with what
    /// is awaited: so the work stays linear, and this buffer below twice what was received and a chunk.
    fn make_room(&mut self, room: usize) {
        let held = self.end.saturating_sub(self.start);
        if self.buf.len().saturating_sub(self.end) < room && held <= self.start {
            self.buf.copy_within(self.start..self.end, 0);
            self.start = 0;
            self.end = held;
        }
        if self.buf.len().saturating_sub(self.end) < room {
            let awaited = self.awaited.saturating_sub(held).saturating_add(ENOUGH);
            let ahead = if self.awaited > 0 { awaited.min(held.saturating_add(CHUNK)) } else { held };
            let len = self.end.saturating_add(room.max(ahead));
            self.buf.reserve_exact(len.saturating_sub(self.buf.len()));
            self.buf.resize(len, 0);
        }
    }
}

/// The send buffer: `buf[head..]` waits to be written.
pub(crate) struct Tx {
    buf: Vec<u8>,
    head: usize,
    /// So much may wait. Above it the buffer still takes answers, but nothing that provokes more of them.
    mark: usize,
    /// At this length it is full: the mark, counted from `head`.
    full_at: usize,
    /// Bytes ever written from this buffer, to recognise when a certain byte has gone.
    written: u64,
}

impl Tx {
    pub(crate) const fn new(mark: usize) -> Self {
        Self { buf: Vec::new(), head: 0, mark, full_at: mark, written: 0 }
    }

    #[inline]
    pub(crate) fn pending(&self) -> &[u8] {
        self.buf.get(self.head..).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.buf.len() >= self.full_at
    }

    /// The number that [`Tx::written`] will have reached when all that waits now has gone.
    pub(crate) fn position(&self) -> u64 {
        self.written.saturating_add(self.pending().len() as u64)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// The first `n` pending bytes have been written.
    #[inline]
    pub(crate) fn sent(&mut self, n: usize) {
        let left = self.pending().len();
        if n < left {
            return self.sent_in_part(n);
        }
        self.written = self.written.saturating_add(left as u64);
        self.buf.clear();
        self.head = 0;
        self.full_at = self.mark;
    }

    fn sent_in_part(&mut self, n: usize) {
        self.head = self.head.saturating_add(n);
        self.written = self.written.saturating_add(n as u64);
        if self.head >= CHUNK && self.head >= self.buf.len() / 2 {
            // A queue that never runs empty must not keep what has gone. At least half of it has, so moving the
            // rest costs at most what writing it did.
            self.buf.drain(..self.head);
            self.head = 0;
        }
        self.full_at = self.head.saturating_add(self.mark);
    }

    /// Appends a short frame, if there is memory for it and it leaves the buffer below its mark.
    #[inline]
    pub(crate) fn push_short(&mut self, header: [u8; 2], payload: &[u8]) -> bool {
        // A slice and a buffer that is there are together no longer than memory is, so nothing wraps.
        let after = self.buf.len().wrapping_add(header.len()).wrapping_add(payload.len());
        if after > self.buf.capacity() || after >= self.full_at {
            return false;
        }
        self.buf.extend_from_slice(&header);
        self.buf.extend_from_slice(payload);
        true
    }

    /// Where to append. What lies before its current end must stay as it is.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Drops everything that waits.
    pub(crate) fn discard(&mut self) {
        self.buf = Vec::new();
        self.head = 0;
        self.full_at = self.mark;
    }

    /// Gives back the memory if nothing waits.
    pub(crate) fn trim(&mut self) {
        if self.pending().is_empty() {
            self.discard();
        }
    }
}

impl fmt::Debug for Rx {
    /// Shows how much is held and not what: a request to open has a token in it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rx").field("held", &self.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Tx {
    /// The same.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").field("pending", &self.pending().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn rx_keeps_what_is_not_consumed_across_growth_and_moves() {
        let mut rx = Rx::new();
        let mut expected = Vec::new();
        for round in 0..200_u8 {
            let piece = vec![round; usize::from(round) * 7];
            assert!(rx.append(&piece));
            expected.extend_from_slice(&piece);
            rx.mark_drained();
            let eat = expected.len() / 3;
            rx.consume(eat);
            expected.drain(..eat);
            assert_eq!(rx.bytes(), expected);
        }
    }

    #[test]
    fn rx_takes_the_limit_and_not_one_byte_more() {
        let mut rx = Rx::new();
        assert!(rx.append(&vec![0; Rx::UNPOLLED_LIMIT]));
        assert!(!rx.append(&[0]));
        assert!(rx.space_up_to(usize::MAX).is_empty());
        rx.mark_drained();
        assert!(rx.append(&[0]));
    }

    #[test]
    fn rx_takes_no_more_than_it_offered() {
        let mut rx = Rx::new();
        assert!(rx.append(&[7; 100_000]));
        rx.consume(usize::MAX);
        rx.mark_drained();
        assert_eq!(rx.space_up_to(10).len(), 10);
        assert!(rx.filled(4));
        for too_many in [7, usize::MAX] {
            assert!(!rx.filled(too_many), "the buffer is larger, but no more was offered");
        }
        assert!(rx.filled(6) && !rx.filled(1));
        assert_eq!((rx.bytes().len(), rx.allowed()), (10, Rx::UNPOLLED_LIMIT - 10));
    }

    #[test]
    fn rx_takes_nothing_into_space_that_moved() {
        let moves: &[(&str, fn(&mut Rx))] = &[
            ("append", |rx| assert!(rx.append(b"x"))),
            ("discard", Rx::discard),
            ("trim", |rx| {
                rx.consume(usize::MAX);
                rx.trim();
            }),
        ];
        for (name, moves) in moves {
            let mut rx = Rx::new();
            assert!(rx.append(b"ab") && !rx.space_up_to(10).is_empty());
            moves(&mut rx);
            let held = rx.len();
            assert!(!rx.filled(1) && rx.filled(0), "{name}");
            assert_eq!(rx.len(), held, "{name}");
        }
    }

    #[test]
    fn rx_shows_what_was_just_consumed() {
        let mut rx = Rx::new();
        rx.append(b"headbody");
        rx.consume(8);
        assert_eq!(rx.consumed(4), b"body");
    }

    #[test]
    fn rx_grows_at_once_by_what_is_awaited_and_never_beyond_what_came() {
        let (mut rx, mut sizes) = (Rx::new(), alloc::collections::BTreeSet::new());
        rx.await_up_to(1 << 20);
        for received in (0..1 << 20).step_by(1000) {
            assert!(rx.space_up_to(1000).len() == 1000);
            assert!(rx.filled(1000));
            rx.mark_drained();
            sizes.insert(rx.buf.len());
            assert!(rx.buf.len() <= 2 * (received + 1000) + CHUNK + ENOUGH, "{} at {received}", rx.buf.len());
        }
        assert!(sizes.len() < 10, "{sizes:?}");
        // It is there: one byte behind it no longer doubles anything.
        rx.consume(1 << 20);
        rx.await_up_to(0);
        let before = rx.buf.len();
        let _ = rx.space_up_to(usize::MAX);
        assert_eq!(rx.buf.len(), before);
    }

    #[test]
    fn tx_counts_and_compacts() {
        let mut tx = Tx::new(8);
        tx.buffer().extend_from_slice(&[7; 3 * CHUNK]);
        assert!(tx.is_full());
        let end = tx.position();
        tx.sent(2 * CHUNK);
        assert_eq!(tx.buffer().len(), CHUNK, "what has gone is given back");
        assert_eq!(tx.pending(), [7; CHUNK]);
        tx.sent(usize::MAX);
        assert_eq!(tx.written(), end);
        assert!(tx.pending().is_empty() && !tx.is_full());
    }
}
