//! One socket, and the steps that move bytes between it and a [`Wire`].
//!
//! ```text
//!  Moving ──the wire is done──▶ Discarding ──end, error, 64 KiB, 1 s──▶ Over
//!     │                                                                 ▲
//!     └──the wire is done, and the transport ended or carried nothing───┘
//! ```
//!
//! A link does not poll the machine and does not interpret the bytes that it moves.

use super::idleness::Idleness;
use super::shutdown::Shutdown;
use ide_mcp::{Time, Wire};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// The number of bytes that a step moves at most, so that no connection keeps the others waiting: 256 KiB, as
/// many as a connection takes between two polls.
pub const BUDGET: usize = 256 * 1024;

/// The limit of discarded bytes: enough for those in flight, and too few to keep the socket busy.
const DISCARD: usize = 64 * 1024;

/// The limit of the time for which bytes are discarded.
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// One socket, non-blocking or with timeouts.
///
/// A turn has three steps: [`read`](Link::read), poll the machine to `None`, [`write`](Link::write). Once the
/// machine is done, the link ends the connection cleanly and needs the [`Wire`] no longer: call
/// [`discard`](Link::discard) until [`is_over`](Link::is_over), then drop the link. [`is_due`](Link::is_due)
/// and [`deadline`](Link::deadline) report when the steps are due.
///
/// A link counts as readable until a read would block, and as writable until a write would block. After that
/// the caller reports by [`ready`](Link::ready) that the socket is worth another try. So a link suits
/// edge-triggered readiness, and it remembers the work that a budget left over.
///
/// The end of the peer's stream is one [`Wire::feed_eof`], and the link goes on to write. An error is a second one.
/// After a failed write, the link first reads at most 256 KiB of the bytes that arrived before the failure, and then
/// reports the end. The events of the machine report the meaning of the end.
#[derive(Debug)]
pub struct Link<S> {
    io: S,
    stage: Stage,
    /// True until a read would block.
    readable: bool,
    /// True until a write would block.
    writable: bool,
    /// True once the wire knows that the peer's stream has ended.
    ended: bool,
    /// True once the wire knows that nothing can be written.
    severed: bool,
    /// True if bytes were written. The link then discards input before it ends, so that the last written
    /// bytes arrive.
    has_written: bool,
    idleness: Idleness,
    /// The error that the owner of the socket has reported, until the transport has ended by it.
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
    /// Creates a link for a connected socket, which can be read and written at once.
    #[must_use]
    pub fn new(io: S) -> Self {
        let mut link = Self::connecting(io);
        link.ready();
        link
    }

    /// Creates a link for a socket that is still connecting. Nothing is tried before [`ready`](Link::ready).
    #[must_use]
    pub const fn connecting(io: S) -> Self {
        Self {
            io,
            stage: Stage::Moving,
            readable: false,
            writable: false,
            ended: false,
            severed: false,
            has_written: false,
            idleness: Idleness::new(),
            failed: None,
            error: None,
        }
    }

    /// Notes that the socket can be readable, writable, or broken. Both directions are tried again.
    pub const fn ready(&mut self) {
        self.readable = true;
        self.writable = true;
    }

    /// Ends the transport with an error that the owner of the socket has found. The next [`read`](Link::read)
    /// reports it and does not use the socket.
    pub fn fail(&mut self, error: io::Error) {
        self.failed = Some(error);
    }

    /// Returns true if a step on this wire would move bytes or begin the end. A loop then does not wait.
    pub fn is_due(&self, wire: &(impl Wire + ?Sized)) -> bool {
        self.stage == Stage::Moving
            && (self.failed.is_some()
                || self.may_read() && wire.wants_input()
                || self.may_write() && !wire.outgoing().is_empty()
                || wire.is_done())
    }

    /// Returns the time at which the link itself needs a step: to discard (`now`, while there is input), to
    /// end, or to free memory. `None` if it waits for the socket or the wire alone.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self.stage {
            Stage::Moving => self.idleness.deadline(),
            Stage::Discarding { .. } if self.readable => Some(now),
            Stage::Discarding { until, .. } => Some(until),
            Stage::Over => None,
        }
    }

    /// Returns true if the machine is done. [`discard`](Link::discard) takes the remaining steps without the
    /// wire.
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.stage != Stage::Moving
    }

    /// Returns true if nothing is left to do and the socket can be dropped.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Returns the error that ended the transport, if an error ended it.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Returns the socket.
    #[must_use]
    pub const fn socket(&self) -> &S {
        &self.io
    }

    /// Returns the socket, to set its options or to register it. The link loses bytes that bypass it.
    pub const fn socket_mut(&mut self) -> &mut S {
        &mut self.io
    }

    /// Returns the socket of a link that is to move no more bytes.
    #[must_use]
    pub fn into_socket(self) -> S {
        self.io
    }

    /// Returns true if a read can find input. If not, nothing is read before [`ready`](Link::ready).
    #[must_use]
    pub const fn may_read(&self) -> bool {
        self.readable && !self.ended
    }

    fn may_write(&self) -> bool {
        self.writable && self.error.is_none()
    }

    /// Reports the end of the peer's stream to the wire, once. After an error, also that nothing can be written.
    /// Keeps the first error.
    fn end(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, error: Option<io::Error>) {
        if self.error.is_none() {
            self.error = error;
        }
        if !self.ended {
            self.ended = true;
            wire.feed_eof(now);
        }
        if self.error.is_some() && !self.severed {
            self.severed = true;
            wire.feed_eof(now);
        }
    }
}

impl<S: Read + Write + Shutdown> Link<S> {
    /// Reads into the wire until the socket would block, the wire takes no more, or `budget` bytes have been
    /// read. The last read can exceed the budget, so a budget of 1 is a single read. Returns the number of
    /// bytes.
    pub fn read(&mut self, wire: &mut (impl Wire + ?Sized), now: Time, budget: usize) -> usize {
        self.read_waiting(wire, || now, budget)
    }

    /// Reads as [`read`](Link::read) does, from a socket that waits. `now` returns the time after a read.
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
                // A read into an empty buffer would look like the end of the transport.
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

    /// Writes the send buffer of the wire until it is empty, the socket would block, or `budget` bytes have
    /// been written. The last write can exceed the budget, so a budget of 1 is a single write. Begins the end
    /// if the wire is done.
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

    /// Discards about `budget` bytes of input at most, after the machine is done. A socket that is closed
    /// with unread input sends a reset, which can overtake the last bytes that were written.
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

    /// Ends the transport after a failed write. First, the wire takes the input that has arrived before it.
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

/// Returns true if the socket is healthy and only not ready. On Windows a timeout of a blocking socket has a
/// kind of its own; on other systems that kind means a connection that died.
fn would_block(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || cfg!(windows) && error.kind() == ErrorKind::TimedOut
}
