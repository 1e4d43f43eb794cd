//! The buffers under every machine: [`Rx`], the receive buffer, and [`Tx`], the send buffer.

use alloc::vec::Vec;
use core::fmt;

/// Room for the first read, in bytes. Most messages of this protocol fit.
const SMALL_CHUNK: usize = 1024;

/// Room after a read that filled all of [`SMALL_CHUNK`], because more is likely to follow.
const CHUNK: usize = 16 * SMALL_CHUNK;

/// Room after a read that filled all of [`CHUNK`].
const LARGE_CHUNK: usize = 4 * CHUNK;

/// The minimum room after the held bytes. If less is left, the buffer makes more.
const ENOUGH: usize = SMALL_CHUNK / 2;

/// The receive buffer. `buf[start..end]` are the received bytes not consumed yet; `start <= end <= buf.len()`.
pub(crate) struct Rx {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// How many bytes may still arrive before the next [`Rx::mark_drained`] or [`Rx::hold_back`].
    allowed: usize,
    /// How many bytes of the last [`Rx::space_up_to`] are not filled yet; 0 if the content has moved since.
    offered: usize,
    /// Length of the payload that the receiver will consume as a whole; 0 if there is none.
    awaited: usize,
}

impl Rx {
    /// How many bytes may arrive between two polls to `None`: enough for a loop to read a socket empty, and so few that
    /// sixteen connections that are not polled hold only a few megabytes.
    pub(crate) const UNPOLLED_LIMIT: usize = 256 * 1024;

    pub(crate) const fn new() -> Self {
        Self { buf: Vec::new(), start: 0, end: 0, allowed: Self::UNPOLLED_LIMIT, offered: 0, awaited: 0 }
    }

    /// Returns the number of held bytes.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// Returns the last held byte.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut u8> {
        self.buf.get_mut(self.end.wrapping_sub(1))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.held().unwrap_or_default()
    }

    /// Returns the held bytes, which always lie within the buffer.
    #[inline]
    pub(crate) fn held(&self) -> Option<&[u8]> {
        self.buf.get(self.start..self.end)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.buf.get_mut(self.start..self.end).unwrap_or_default()
    }

    /// Consumes `skip` bytes and the `len` bytes after them, and lends the latter. The caller has checked that all of
    /// them have arrived. If they were the last ones, nothing is left to process.
    #[inline]
    pub(crate) fn lend(&mut self, skip: usize, len: usize) -> &mut [u8] {
        let at = self.start.wrapping_add(skip);
        self.start = at.wrapping_add(len);
        if self.start == self.end {
            self.mark_drained();
        }
        self.buf.get_mut(at..self.start).unwrap_or_default()
    }

    /// Returns the last `n` consumed bytes, which still lie before [`Rx::bytes`] right after their consumption.
    pub(crate) fn consumed(&self, n: usize) -> &[u8] {
        let from = self.start.saturating_sub(n);
        self.buf.get(from..self.start).unwrap_or_default()
    }

    /// Consumes `n` bytes. If they were the last ones, nothing is left to process.
    pub(crate) fn consume(&mut self, n: usize) {
        self.start = self.start.saturating_add(n).min(self.end);
        if self.start == self.end {
            self.mark_drained();
        }
    }

    /// Returns true while some bytes are not processed as far as possible.
    #[inline]
    pub(crate) fn has_fresh(&self) -> bool {
        self.allowed < Self::UNPOLLED_LIMIT
    }

    /// Records that all held bytes are processed as far as possible.
    #[inline]
    pub(crate) fn mark_drained(&mut self) {
        self.allowed = Self::UNPOLLED_LIMIT;
    }

    /// Keeps the bytes for later, and accepts more until it holds `most` bytes in total.
    ///
    /// [`Rx::has_fresh`] stays true: the machine can process the bytes as soon as the send buffer has room.
    pub(crate) fn hold_back(&mut self, most: usize) {
        let unworked = usize::from(self.len() > 0);
        self.allowed = most.saturating_sub(self.len()).min(Self::UNPOLLED_LIMIT.saturating_sub(unworked));
    }

    /// Returns how many bytes may still arrive before the next [`Rx::mark_drained`] or [`Rx::hold_back`].
    pub(crate) fn allowed(&self) -> usize {
        self.allowed
    }

    /// Announces that the next `len` bytes will be consumed together, so that the buffer may grow by more than one read
    /// at a time.
    pub(crate) fn await_up_to(&mut self, len: usize) {
        self.awaited = len;
    }

    /// Returns room for a read: at most `limit` bytes, and no more than may still arrive before the next poll.
    #[inline]
    pub(crate) fn space_up_to(&mut self, limit: usize) -> &mut [u8] {
        let limit = limit.min(self.allowed);
        // After held bytes, `ENOUGH` is enough; otherwise the buffer would make room for every byte.
        if self.start == self.end || self.buf.len().wrapping_sub(self.end) < ENOUGH {
            self.prepare(limit);
        }
        let room = self.buf.get_mut(self.end..).unwrap_or_default();
        self.offered = room.len().min(limit);
        room.get_mut(..self.offered).unwrap_or_default()
    }

    /// Takes `n` bytes that were put into [`Rx::space_up_to`]. If fewer were offered, or the content has moved since,
    /// takes nothing and returns false.
    #[inline]
    pub(crate) fn filled(&mut self, n: usize) -> bool {
        if n > self.offered {
            return false;
        }
        // The offered room lies within the buffer, so this does not wrap.
        self.offered = self.offered.wrapping_sub(n);
        self.end = self.end.wrapping_add(n);
        // `n` bytes were allowed when they were offered; by now it may be fewer.
        self.allowed = self.allowed.saturating_sub(n);
        true
    }

    /// Appends a piece. If nothing more may arrive before the next poll, or the piece is larger than
    /// [`Self::UNPOLLED_LIMIT`], takes nothing and returns false. A loop with a buffer of its own cannot know how much
    /// of the limit is left, so the piece that reaches the limit may exceed it.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> bool {
        let most = if self.allowed > 0 { Self::UNPOLLED_LIMIT } else { 0 };
        if bytes.len() > most {
            return false;
        }
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

    /// Releases the memory if the buffer holds nothing.
    pub(crate) fn trim(&mut self) {
        if self.start == self.end {
            *self = Self { allowed: self.allowed, awaited: self.awaited, ..Self::new() };
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
        self.make_room(limit.min(chunk));
    }

    /// Makes `buf[end..]` at least `room` long. An empty buffer starts at the front again. Otherwise the content moves
    /// to the front if that is enough and cheap; if not, the buffer grows.
    ///
    /// A move copies at most as many bytes as were consumed before. Growth adds as many bytes as are held, or reaches
    /// the end of the awaited bytes. So the work stays linear, and the buffer stays below twice the received bytes plus
    /// a chunk.
    fn make_room(&mut self, room: usize) {
        let held = self.end.saturating_sub(self.start);
        if held == 0 {
            self.start = 0;
            self.end = 0;
        }
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

/// The send buffer: `buf[head..]` are the bytes not written yet.
pub(crate) struct Tx {
    buf: Vec<u8>,
    head: usize,
    /// The high-water mark. At the mark, the buffer takes only answers, pongs and the close frame.
    mark: usize,
    /// The length at which `buf` is full: the high-water mark, counted from `head`.
    full_at: usize,
    /// How many bytes were ever written from this buffer. Tells the caller that a certain byte went out.
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

    /// Returns the value that [`Tx::written`] reaches once all pending bytes are written.
    pub(crate) fn position(&self) -> u64 {
        self.written.saturating_add(self.pending().len() as u64)
    }

    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Removes the first `n` pending bytes, because they were written.
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
            // A buffer that never runs empty must still release what was written. At least half of the buffer is
            // written, so moving the rest costs at most as much as writing did.
            self.buf.drain(..self.head);
            self.head = 0;
        }
        self.full_at = self.head.saturating_add(self.mark);
    }

    /// Appends a short frame if there is memory for it and the buffer stays below its high-water mark. Otherwise
    /// returns false.
    #[inline]
    pub(crate) fn push_short(&mut self, header: [u8; 2], payload: &[u8]) -> bool {
        // A slice and an existing buffer together never exceed the address space, so this does not wrap.
        let after = self.buf.len().wrapping_add(header.len()).wrapping_add(payload.len());
        if after > self.buf.capacity() || after >= self.full_at {
            return false;
        }
        self.buf.extend_from_slice(&header);
        self.buf.extend_from_slice(payload);
        true
    }

    /// Returns the buffer for appending. Leave the bytes before its current end unchanged.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buf
    }

    /// Drops all pending bytes and the memory.
    pub(crate) fn discard(&mut self) {
        self.buf = Vec::new();
        self.head = 0;
        self.full_at = self.mark;
    }

    /// Releases the memory if no bytes are pending.
    pub(crate) fn trim(&mut self) {
        if self.pending().is_empty() {
            self.discard();
        }
    }
}

impl fmt::Debug for Rx {
    /// Shows how many bytes are held, not the bytes: the request of an opening handshake can contain a token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rx").field("held", &self.len()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Tx {
    /// Shows how many bytes are pending, not the bytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tx").field("pending", &self.pending().len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn rx_keeps_unconsumed_bytes_across_growth() {
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
    fn rx_refuses_one_byte_above_the_limit() {
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
        assert_eq!(rx.last_mut(), Some(&mut b'y'));
    }

    #[test]
    fn rx_growth_is_limited_by_received_bytes() {
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
        // All awaited bytes have arrived: one more byte no longer doubles the buffer.
        rx.consume(1 << 20);
        rx.await_up_to(0);
        let before = rx.buf.len();
        let _ = rx.space_up_to(usize::MAX);
        assert_eq!(rx.buf.len(), before);
    }

    /// Offers room, and fills `n` bytes of it. Returns how much room there was.
    fn read(rx: &mut Rx, n: usize) -> usize {
        let room = rx.space_up_to(usize::MAX).len();
        assert!(rx.filled(n));
        rx.mark_drained();
        room
    }

    #[test]
    fn rx_room_grows_with_full_reads() {
        let mut rx = Rx::new();
        // The room, and how much of it is filled and then consumed.
        let reads =
            [(1024, 100), (1024, 1024), (16_384, 16_383), (16_384, 16_384), (65_536, 1), (65_536, 65_536)];
        for (room, n) in reads {
            assert_eq!(read(&mut rx, n), room, "before {n} bytes");
            rx.consume(n);
        }
    }

    #[test]
    fn rx_makes_room_after_held_bytes() {
        // How many bytes a read leaves in 1,024, the room after them, and the buffer.
        let rows = [
            ("one byte", 1, 1023, 1024),
            ("just enough is left", 512, 512, 1024),
            ("too little is left", 513, 1024, 1537),
            ("nothing is left", 1024, 16_384, 17_408),
        ];
        for (name, held, room, buffer) in rows {
            let mut rx = Rx::new();
            read(&mut rx, held);
            assert_eq!((rx.space_up_to(usize::MAX).len(), rx.buf.len()), (room, buffer), "{name}");
        }
        // A read that left room does not get a larger chunk than one that left none.
        let mut rx = Rx::new();
        assert_eq!([read(&mut rx, 513), read(&mut rx, 1000), read(&mut rx, 1)], [1024, 1024, 1513]);
    }

    #[test]
    fn rx_moves_its_content_if_that_is_needed_and_cheap() {
        // A buffer of 1,024 bytes holds 1,000. How many of them are consumed, and how many bytes are then appended; the
        // start of the content and the length of the buffer after that.
        let rows = [
            ("the rest fits exactly", 500, 24, 500, 1024),
            ("half was consumed", 500, 25, 0, 1024),
            ("less than half was consumed", 499, 25, 499, 1501),
        ];
        for (name, consumed, appended, start, buffer) in rows {
            let mut rx = Rx::new();
            read(&mut rx, 1000);
            rx.consume(consumed);
            assert!(rx.append(&vec![0; appended]));
            assert_eq!((rx.start, rx.buf.len()), (start, buffer), "{name}");
        }
    }

    #[test]
    fn rx_trim_releases_memory_and_nothing_else() {
        let mut rx = Rx::new();
        rx.append(&[7; 10]);
        rx.consume(10);
        rx.hold_back(5);
        rx.await_up_to(1 << 20);
        rx.trim();
        assert_eq!((rx.buf.capacity(), rx.allowed()), (0, 5));
        rx.mark_drained();
        assert_eq!(rx.space_up_to(usize::MAX).len(), CHUNK, "room for the awaited bytes");
    }

    #[test]
    fn rx_without_bytes_has_nothing_fresh() {
        let mut rx = Rx::new();
        rx.hold_back(usize::MAX);
        assert!(!rx.has_fresh());
        rx.append(&[7]);
        rx.hold_back(usize::MAX);
        assert!(rx.has_fresh());
    }

    #[test]
    fn tx_counts_and_compacts() {
        let mut tx = Tx::new(8);
        tx.buffer().extend_from_slice(&[7; 3 * CHUNK]);
        assert!(tx.is_full());
        let end = tx.position();
        tx.sent(2 * CHUNK);
        assert_eq!(tx.buffer().len(), CHUNK, "the written bytes are dropped");
        assert_eq!(tx.pending(), [7; CHUNK]);
        tx.sent(usize::MAX);
        assert_eq!(tx.written(), end);
        assert!(tx.pending().is_empty() && !tx.is_full());
    }

    #[test]
    fn tx_moves_its_content_if_that_is_needed_and_cheap() {
        // The length of the buffer, the bytes sent, and the length after that.
        let rows = [
            ("few bytes", CHUNK, CHUNK - 1, CHUNK),
            ("less than half", 4 * CHUNK, 2 * CHUNK - 1, 4 * CHUNK),
            ("half", 4 * CHUNK, 2 * CHUNK, 2 * CHUNK),
        ];
        for (name, len, sent, then) in rows {
            let mut tx = Tx::new(1);
            tx.buffer().resize(len, 7);
            tx.sent(sent);
            assert_eq!((tx.buffer().len(), tx.pending().len()), (then, len - sent), "{name}");
        }
    }

    #[test]
    fn tx_takes_a_short_frame_into_its_memory() {
        let mut tx = Tx::new(100);
        assert!(!tx.push_short([1, 2], b"ab"), "there is no memory");
        *tx.buffer() = Vec::with_capacity(7);
        assert_eq!(tx.buffer().capacity(), 7);
        let pushed =
            [tx.push_short([1, 2], b"ab"), tx.push_short([3, 4], b"cd"), tx.push_short([5, 6], b"e")];
        assert_eq!((pushed, tx.pending()), ([true, false, true], &[1, 2, b'a', b'b', 5, 6, b'e'][..]));
        let mut tx = Tx::new(5);
        tx.buffer().reserve(100);
        assert!(!tx.push_short([1, 2], b"abc") && tx.push_short([1, 2], b"ab"), "the mark");
    }

    #[test]
    fn tx_mark_counts_from_the_unwritten_bytes() {
        const MARK: usize = 3 * CHUNK;
        let mut tx = Tx::new(MARK);
        let fill = |tx: &mut Tx, len: usize| {
            let missing = len - tx.pending().len();
            tx.buffer().extend(core::iter::repeat_n(7, missing));
        };
        // A single byte; enough bytes for the buffer to move the rest; all bytes; each twice.
        for sent in [1, 1, 2 * CHUNK, 2 * CHUNK, usize::MAX, usize::MAX, 1] {
            fill(&mut tx, MARK);
            tx.sent(sent);
            fill(&mut tx, MARK - 1);
            assert!(!tx.is_full(), "after {sent}");
            fill(&mut tx, MARK);
            assert!(tx.is_full(), "after {sent}");
        }
    }
}
