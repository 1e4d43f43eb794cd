//! One direction of a connection in memory.

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;

use super::Change;
use crate::{Machine, Time};

/// How many bytes a link holds: about as many as a socket takes while its peer reads nothing.
const CAPACITY: usize = 64 * 1024;

/// One direction between two machines, instead of a socket: one machine [writes](Link::write), the other
/// [reads](Link::deliver). Bytes can be cut, delayed or lost on the way.
///
/// ```text
///  Open ──finish, or the writer closes──▶ Finishing ──all has arrived──▶ Ended
///    └──────────────────────cut────────────────────────────────────────▶ Cut ── feed_eof to the reader ──▶ Ended
/// ```
#[derive(Debug)]
pub struct Link {
    /// How many bytes may arrive at a time. Default: no limit.
    pub piece: usize,
    /// How long bytes are on the way. Default zero. Bytes always arrive in the order in which they were written.
    pub delay: Duration,
    /// The shortest time from one piece to the next, for a slow reader. Default zero.
    pub pace: Duration,
    /// Nothing arrives before this time.
    stalled: Time,
    on_the_way: VecDeque<Portion>,
    held: usize,
    state: State,
    /// True if its reader is gone.
    is_abandoned: bool,
    carried: Vec<u8>,
}

/// The bytes of one write.
#[derive(Debug)]
struct Portion {
    /// When the bytes arrive.
    at: Time,
    bytes: Vec<u8>,
    /// How many bytes the reader has read.
    read: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Finishing,
    Cut,
    Ended,
}

impl Default for Link {
    /// Creates a link that carries everything at once.
    fn default() -> Self {
        Self {
            piece: usize::MAX,
            delay: Duration::ZERO,
            pace: Duration::ZERO,
            stalled: Time::ZERO,
            on_the_way: VecDeque::new(),
            held: 0,
            state: State::Open,
            is_abandoned: false,
            carried: Vec::new(),
        }
    }
}

impl Link {
    /// Holds all bytes back until the time `until`. Up to 64 KiB that are written before then wait in the link.
    pub fn stall(&mut self, until: Time) {
        self.stalled = self.stalled.max(until);
    }

    /// Ends the link after the bytes that are on the way: they arrive, and then the end. Later writes are lost.
    pub fn finish(&mut self) {
        if self.state == State::Open {
            self.state = State::Finishing;
        }
    }

    /// Drops the bytes on the way. The reader gets the end with the next [`deliver`](Link::deliver), without delay.
    pub fn cut(&mut self) {
        if self.state != State::Ended {
            self.state = State::Cut;
            self.drop_all();
        }
    }

    /// Tells the link that its reader is gone: all bytes that are on the way, or written from now on, are lost. Call it
    /// when the reading machine is [closed](crate::Output::Close).
    pub fn abandon(&mut self) {
        self.is_abandoned = true;
        self.drop_all();
    }

    fn drop_all(&mut self) {
        self.on_the_way.clear();
        self.held = 0;
    }

    /// Changes the link at the time `now`.
    pub(super) fn change(&mut self, change: Change, now: Time) {
        match change {
            Change::Piece(piece) => self.piece = piece.get().into(),
            Change::Delay(span) => self.delay = span.duration(),
            Change::Stall(span) => self.stall(now.saturating_add(span.duration())),
            Change::Clear => {
                self.piece = usize::MAX;
                self.delay = Duration::ZERO;
            }
            Change::Finish => self.finish(),
            Change::Cut => self.cut(),
        }
    }

    /// Returns true if the link takes bytes.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Returns true if the reader is gone ([`abandon`](Link::abandon)).
    #[must_use]
    pub const fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    /// Returns true if no bytes are on the way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.on_the_way.is_empty()
    }

    /// Returns the bytes that have arrived so far, or since [`forget`](Link::forget).
    #[must_use]
    pub fn carried(&self) -> &[u8] {
        &self.carried
    }

    /// Forgets the bytes that have arrived, for long runs.
    pub fn forget(&mut self) {
        self.carried = Vec::new();
    }

    /// Takes the bytes of a write, as far as there is room: up to 64 KiB can be on the way. Returns how many it took. A
    /// link that is finished, cut or abandoned takes all of them, and they are lost.
    pub fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        if self.state != State::Open || self.is_abandoned {
            return bytes.len();
        }
        let bytes: Vec<u8> = bytes.iter().take(CAPACITY.saturating_sub(self.held)).copied().collect();
        let taken = bytes.len();
        if taken > 0 {
            // Bytes arrive in order even if the delay has become shorter.
            let last = self.on_the_way.back().map_or(Time::ZERO, |portion| portion.at);
            let at = now.saturating_add(self.delay).max(last);
            self.on_the_way.push_back(Portion { at, bytes, read: 0 });
            self.held = self.held.saturating_add(taken);
        }
        taken
    }

    /// Feeds a machine the bytes that have arrived by now, and the end. Returns true if there were any.
    pub fn deliver<M: Machine>(&mut self, now: Time, machine: &mut M, conn: M::Conn) -> bool {
        let mut room = self.piece;
        while room > 0 && machine.wants_input(conn) {
            let n = self.take(now, room, machine.space(conn));
            if n == 0 {
                break;
            }
            machine.filled(now, conn, n);
            room = room.saturating_sub(n);
        }
        self.rest_after(now, room);
        let ends = self.take_end();
        if ends {
            machine.feed_eof(now, conn);
        }
        ends || room < self.piece
    }

    /// Returns when the next bytes arrive, if that is later than `now`.
    #[must_use]
    pub fn next_arrival(&self, now: Time) -> Option<Time> {
        let at = self.on_the_way.front()?.at.max(self.stalled);
        Some(at).filter(|at| *at > now)
    }

    /// Reads one piece of what has arrived by now into `space`, for a reader that is not a machine. Returns how many
    /// bytes it has read.
    pub fn read(&mut self, now: Time, space: &mut [u8]) -> usize {
        let (mut n, mut room) = (0, self.piece);
        while let Some(rest) = space.get_mut(n..) {
            let taken = self.take(now, room, rest);
            if taken == 0 {
                break;
            }
            n = n.saturating_add(taken);
            room = room.saturating_sub(taken);
        }
        self.rest_after(now, room);
        n
    }

    /// Returns true, once, if the end has arrived, for a reader that is not a machine.
    pub fn take_end(&mut self) -> bool {
        let has_arrived = match self.state {
            State::Finishing => self.on_the_way.is_empty(),
            State::Cut => true,
            State::Open | State::Ended => false,
        };
        if has_arrived {
            self.state = State::Ended;
        }
        has_arrived
    }

    /// Takes bytes of one write that have arrived: at most `room`, and no more than `space` holds.
    fn take(&mut self, now: Time, room: usize, space: &mut [u8]) -> usize {
        if now < self.stalled || room == 0 {
            return 0;
        }
        let Some(portion) = self.on_the_way.front_mut().filter(|portion| portion.at <= now) else { return 0 };
        let waiting = portion.bytes.get(portion.read..).unwrap_or_default();
        let taken = waiting.len().min(space.len()).min(room);
        for (into, byte) in space.iter_mut().zip(waiting.iter().take(taken)) {
            *into = *byte;
        }
        self.carried.extend(waiting.iter().take(taken));
        portion.read = portion.read.saturating_add(taken);
        if taken == waiting.len() {
            self.on_the_way.pop_front();
        }
        self.held = self.held.saturating_sub(taken);
        taken
    }

    /// Pauses as the pace of the link demands, if a piece has arrived; `room` is what the piece left of the room for
    /// one piece.
    fn rest_after(&mut self, now: Time, room: usize) {
        if room < self.piece {
            self.stalled = self.stalled.max(now.saturating_add(self.pace));
        }
    }
}
