//! One socket, and the steps that move bytes between it and a [`Wire`].
//!
//! ```text
//!  Moving ──the wire is done──▶ Discarding ──end, error, 64 KiB, 1 s──▶ Over
//!     │                                                                 ▲
//!     └──the wire is done, and the transport ended or carried nothing───┘
//! ```
//!
//! A link does not poll the machine and does not look at what it moves.

use crate::Shutdown;
use crate::idleness::Idleness;
use ide_mcp::{Time, Wire};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// How many bytes a step should move at most, so that no connection keeps the others waiting: 256 KiB, as many as a
/// connection takes between two polls.
pub const BUDGET: usize = 256 * 1024;

/// What is discarded at most after the farewell: enough for what a peer had under way, too little to feed on.
const DISCARD: usize = 64 * 1024;

/// How long it is discarded at most.
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// One socket, non-blocking or with timeouts.
///
/// A turn is: [`read`](Link::read), poll the machine to `None`, [`write`](Link::write). Once the machine is done the
/// link ends the connection in order and needs the [`Wire`] no longer: call [`discard`](Link::discard) until
/// [`is_over`](Link::is_over), then drop it. When to do so is told by [`is_due`](Link::is_due) and
/// [`deadline`](Link::deadline).
///
/// A link counts as readable until a read would have blocked, and as writable until a write would have blocked; after
/// that [`ready`](Link::ready) must say that the socket may be tried again. So it suits edge-triggered readiness, and
/// what a budget left over is not forgotten.
///
/// Every end of the transport, in order or by an error, is one [`Wire::feed_eof`]; a write that fails first reads what
/// had still arrived. The machine reports what that means.
#[derive(Debug)]
pub struct Link<S> {
    io: S,
    stage: Stage,
    /// The last read did not say that it would block.
    readable: bool,
    /// The last write did not say that it would block.
    writable: bool,
    /// The wire was told of the end of the transport.
    ended: bool,
    /// Something was written: there may be a farewell that must not be lost.
    has_written: bool,
    idleness: Idleness,
    /// What somebody else found out about the socket, until it has ended by it.
    failed: Option<io::Error>,
    error: Option<io::Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Moving,
    Discarding { until: Time, left: usize },
    Over,
}

impl<S> Link<S> {
    /// A socket that is connected, and may be read and written at once.
    #[must_use]
    pub fn new(io: S) -> Self {
        let mut link = Self::connecting(io);
        link.ready();
        link
    }

    /// A socket that is still connecting: nothing is tried before [`ready`](Link::ready).
    #[must_use]
    pub const fn connecting(io: S) -> Self {
        Self {
            io,
            stage: Stage::Moving,
            readable: false,
            writable: false,
            ended: false,
            has_written: false,
            idleness: Idleness::new(),
            failed: None,
            error: None,
        }
    }

    /// The socket may have become readable, writable, or broken: both directions are tried again.
    pub const fn ready(&mut self) {
        self.readable = true;
        self.writable = true;
    }

    /// The socket is of no use, as its owner has found out: the next [`read`](Link::read) ends the transport with
    /// this error, and tries nothing.
    pub fn fail(&mut self, error: io::Error) {
        self.failed = Some(error);
    }

    /// Whether a step on this wire could move something now, or begin the end. While this holds a loop does not wait.
    pub fn is_due(&self, wire: &(impl Wire + ?Sized)) -> bool {
        self.stage == Stage::Moving
            && (self.failed.is_some()
                || self.may_read() && wire.wants_input()
                || self.may_write() && !wire.outgoing().is_empty()
                || wire.is_done())
    }

    /// When the link wants a step for its own sake: to discard (`now`, while there is something), to end, or to have
    /// memory given back. `None` if it waits for the socket or the wire alone.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self.stage {
            Stage::Moving => self.idleness.deadline(),
            Stage::Discarding { .. } if self.readable => Some(now),
            Stage::Discarding { until, .. } => Some(until),
            Stage::Over => None,
        }
    }

    /// Whether the machine is done: the link needs its wire no longer, and [`discard`](Link::discard) does the rest.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.stage != Stage::Moving
    }

    /// Whether all is done: drop the socket.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// The error that ended the transport, if it was one.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// The socket.
    #[must_use]
    pub const fn socket(&self) -> &S {
        &self.io
    }

    /// The socket, to set its options or to register it. Bytes that are read or written past the link are lost to it.
    pub const fn socket_mut(&mut self) -> &mut S {
        &mut self.io
    }

    /// The socket, of which nothing is to be moved any more.
    #[must_use]
    pub fn into_socket(self) -> S {
        self.io
    }

    /// Whether a read may find something. If not, [`ready`](Link::ready) must say that it is worth a try.
    #[must_use]
    pub const fn may_read(&self) -> bool {
        self.readable && !self.ended
    }

    fn may_write(&self) -> bool {
        self.writable && self.error.is_none()
    }

    /// Tells the wire, once.
    fn end(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, error: Option<io::Error>) {
        if self.error.is_none() {
            self.error = error;
        }
        if !self.ended {
            self.ended = true;
            wire.feed_eof(now);
        }
    }
}

impl<S: Read + Write + Shutdown> Link<S> {
    /// Reads into the wire: until the socket would block, the wire wants no more, or `budget` bytes have come (the
    /// last read may exceed it, so a budget of 1 is a single read). Returns how many have come.
    pub fn read(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, budget: usize) -> usize {
        self.read_waiting(wire, || now, budget)
    }

    /// The same for a socket that waits for input: `now` tells what time it is once it has come.
    pub fn read_waiting(
        &mut self,
        wire: &mut (impl Wire + ?Sized),
        now: impl Fn() -> Time,
        budget: usize,
    ) -> usize {
        if self.stage != Stage::Moving {
            return 0;
        }
        if let Some(error) = self.failed.take() {
            self.end(wire, now(), Some(error));
            return 0;
        }
        let mut come = 0_usize;
        while come < budget && self.may_read() && wire.wants_input() {
            let space = wire.space();
            if space.is_empty() {
                // A read into it would look like the end of the transport.
                break;
            }
            match self.io.read(space) {
                Ok(0) => self.end(wire, now(), None),
                Ok(n) => {
                    let now = now();
                    wire.filled(now, n);
                    come = come.saturating_add(n);
                    self.idleness.moved(now, n);
                }
                Err(error) if would_block(&error) => self.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => break,
                Err(error) => self.end(wire, now(), Some(error)),
            }
        }
        come
    }

    /// Writes what the wire has: until nothing is left, the socket would block, or `budget` bytes have gone (the last
    /// write may exceed it, so a budget of 1 is a single write). Begins the end if the wire is done.
    pub fn write(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, budget: usize) {
        if self.stage != Stage::Moving {
            return;
        }
        let mut left = budget;
        while left > 0 && self.may_write() && !wire.outgoing().is_empty() {
            match self.io.write(wire.outgoing()) {
                Ok(0) => self.broken(wire, now, ErrorKind::WriteZero.into()),
                Ok(n) => {
                    wire.sent(n);
                    left = left.saturating_sub(n);
                    self.has_written = true;
                    self.idleness.moved(now, n);
                }
                Err(error) if would_block(&error) => self.writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => break,
                Err(error) => self.broken(wire, now, error),
            }
        }
        if wire.is_done() {
            self.begin_end(now);
        } else if self.idleness.is_due(now, !self.readable && wire.outgoing().is_empty()) {
            wire.trim();
        }
    }

    /// After the end of the machine: discards what still comes, at most about `budget` bytes a step, so that a reset
    /// does not overtake the farewell.
    pub fn discard(&mut self, now: Time, budget: usize) {
        let Stage::Discarding { until, left } = self.stage else { return };
        let mut scrap = [0; 4096];
        let mut spent = 0_usize;
        while self.readable && spent < budget.min(left) && now < until {
            match self.io.read(&mut scrap) {
                Ok(n) if n > 0 => spent = spent.saturating_add(n),
                Err(error) if would_block(&error) => self.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => break,
                Ok(_) | Err(_) => {
                    self.stage = Stage::Over;
                    return;
                }
            }
        }
        let left = left.saturating_sub(spent);
        self.stage = if left == 0 || until <= now { Stage::Over } else { Stage::Discarding { until, left } };
    }

    /// A write failed. What had arrived before that is the peer's last word: it is read as far as the wire takes it.
    fn broken(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, error: io::Error) {
        self.error = Some(error);
        self.readable = true;
        self.read(wire, now, BUDGET);
        self.end(wire, now, None);
    }

    fn begin_end(&mut self, now: Time) {
        let pointless = self.ended || !self.has_written;
        self.stage = if pointless || self.io.shutdown_write().is_err() {
            Stage::Over
        } else {
            Stage::Discarding { until: now.saturating_add(DISCARD_TIME), left: DISCARD }
        };
    }
}

/// Whether nothing is wrong but the moment. On Windows a read or write timeout of a blocking socket has a kind of its
/// own; elsewhere that kind is a connection that died.
fn would_block(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || cfg!(windows) && error.kind() == ErrorKind::TimedOut
}
