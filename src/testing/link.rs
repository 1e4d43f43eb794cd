//! One direction of a connection in memory.

use alloc::{collections::VecDeque, vec::Vec};
use core::time::Duration;

use super::Change;
use crate::{Time, Wire};

/// The capacity of a link, in bytes: about as many as a socket takes before its reader has read any.
const CAPACITY: usize = 64 * 1024;

/// The bytes that travel in one direction, with the delays and the end of that direction.
///
/// ```text
///  Open ──finish, or the writer is done──▶ Finishing ──all has arrived──▶ Ended
///    └──────────────────────cut─────────────────────────────────────────▶ Cut ── feed_eof to the reader ──▶ Ended
/// ```
#[derive(Debug)]
pub struct Link {
    /// The maximum number of bytes that arrive at a time. Default: no bound.
    pub piece: usize,
    /// The time that bytes are on the way. Default zero. Bytes never overtake earlier bytes.
    pub delay: Duration,
    /// The minimum time from one piece to the next, for a slow reader. Default zero.
    pub pace: Duration,
    /// The time before which nothing arrives.
    stalled: Time,
    on_the_way: VecDeque<Portion>,
    held: usize,
    state: State,
    carried: Vec<u8>,
}

/// The bytes of one write.
#[derive(Debug)]
struct Portion {
    /// The time at which the bytes arrive.
    at: Time,
    bytes: Vec<u8>,
    /// The number of bytes that the reader has read.
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
    fn default() -> Self {
        Self::new()
    }
}

impl Link {
    /// Creates a link that carries everything at once.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            piece: usize::MAX,
            delay: Duration::ZERO,
            pace: Duration::ZERO,
            stalled: Time::ZERO,
            on_the_way: VecDeque::new(),
            held: 0,
            state: State::Open,
            carried: Vec::new(),
        }
    }

    /// Holds all bytes back until the time `until`. Bytes that are written meanwhile wait, up to 64
    /// KiB of them.
    pub fn stall(&mut self, until: Time) {
        self.stalled = self.stalled.max(until);
    }

    /// Takes no more bytes. The bytes on the way arrive, and then the end.
    pub fn finish(&mut self) {
        if self.state == State::Open {
            self.state = State::Finishing;
        }
    }

    /// Drops the bytes on the way. The next [`carry`](Link::carry) passes the end to the reader,
    /// without a delay.
    pub fn cut(&mut self) {
        if self.state != State::Ended {
            self.state = State::Cut;
            self.on_the_way.clear();
            self.held = 0;
        }
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

    /// Returns true if no bytes are on the way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.on_the_way.is_empty()
    }

    /// Returns the bytes that have arrived, since the start or since [`forget`](Link::forget).
    #[must_use]
    pub fn carried(&self) -> &[u8] {
        &self.carried
    }

    /// Drops the record of the bytes that have arrived, for long runs.
    pub fn forget(&mut self) {
        self.carried = Vec::new();
    }

    /// Takes the bytes that one side wrote, and gives the other side the bytes that have arrived by
    /// now. Returns true if bytes moved or the link ended.
    pub fn carry(&mut self, from: &mut impl Wire, to: &mut impl Wire, now: Time) -> bool {
        let taken = self.take(from, to.is_done(), now);
        let given = self.give(to, now);
        taken || given
    }

    /// Returns the time at which the next bytes on the way arrive, if that time is later than
    /// `now`.
    #[must_use]
    pub fn next_arrival(&self, now: Time) -> Option<Time> {
        let at = self.on_the_way.front()?.at.max(self.stalled);
        Some(at).filter(|at| *at > now)
    }

    fn take(&mut self, from: &mut impl Wire, nobody_reads: bool, now: Time) -> bool {
        let waiting = from.outgoing();
        if self.state != State::Open || nobody_reads {
            // The bytes are lost: the link takes no more, or its reader is done.
            let some = !waiting.is_empty();
            from.sent(usize::MAX);
            return some;
        }
        let bytes: Vec<u8> = waiting.iter().take(CAPACITY.saturating_sub(self.held)).copied().collect();
        let taken = bytes.len();
        if taken > 0 {
            // Bytes arrive in order even if the delay has become shorter.
            let last = self.on_the_way.back().map_or(Time::ZERO, |portion| portion.at);
            self.on_the_way.push_back(Portion {
                at: now.saturating_add(self.delay).max(last),
                bytes,
                read: 0,
            });
            self.held = self.held.saturating_add(taken);
            from.sent(taken);
        }
        if from.is_done() {
            self.finish();
        }
        taken > 0
    }

    fn give(&mut self, to: &mut impl Wire, now: Time) -> bool {
        let mut room = self.piece;
        while room > 0 && now >= self.stalled && to.wants_input() {
            let Some(portion) = self.on_the_way.front_mut().filter(|portion| portion.at <= now) else {
                break;
            };
            let waiting = portion.bytes.get(portion.read..).unwrap_or_default();
            let space = to.space();
            let given = waiting.len().min(space.len()).min(room);
            for (into, byte) in space.iter_mut().zip(waiting.iter().take(given)) {
                *into = *byte;
            }
            self.carried.extend(waiting.iter().take(given));
            portion.read = portion.read.saturating_add(given);
            if given == waiting.len() {
                self.on_the_way.pop_front();
            }
            to.filled(now, given);
            self.held = self.held.saturating_sub(given);
            room = room.saturating_sub(given);
        }
        if room < self.piece {
            self.stalled = self.stalled.max(now.saturating_add(self.pace));
        }
        let is_over = match self.state {
            State::Finishing => self.on_the_way.is_empty() || to.is_done(),
            State::Cut => true,
            State::Open | State::Ended => false,
        };
        if is_over {
            self.state = State::Ended;
            to.feed_eof(now);
        }
        is_over || room < self.piece
    }
}
