//! One socket, and the steps that move bytes between it and a machine.
//!
//! ```text
//!  Moving ──close──▶ Discarding ──end, error, 64 KiB, 1 s──▶ Over
//!     │                                                      ▲
//!     └──close, and the transport ended or carried nothing───┘
//! ```
//!
//! A link does not poll the machine and does not interpret the bytes that it moves.

use super::idleness::Idleness;
use super::shutdown::Shutdown;
use ide_mcp::{Machine, Time};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// How many bytes a step moves at most, so that no connection keeps the others waiting: 256 KiB, as many as a
/// connection takes between two polls.
pub const BUDGET: usize = 256 * 1024;

/// How many bytes are discarded at most: enough for those in flight, too few to keep the socket busy.
const DISCARD: usize = 64 * 1024;

/// How long bytes are discarded at most.
const DISCARD_TIME: Duration = Duration::from_secs(1);

/// One non-blocking socket.
///
/// A turn begins with [`read`](Link::read). Then poll the machine: pass the bytes of each
/// [`Output::Write`](ide_mcp::Output::Write) to [`write`](Link::write) and its result to the machine, and
/// [`close`](Link::close) the link at [`Output::Close`](ide_mcp::Output::Close). End the turn with
/// [`rest`](Link::rest). [`is_due`](Link::is_due) and [`deadline`](Link::deadline) tell when the next turn is
/// due. A closed link no longer needs the machine: call [`discard`](Link::discard) until
/// [`is_over`](Link::is_over), then drop the link.
///
/// A link counts as readable until a read would block (or leaves room, with
/// [`short_reads_drain`](Link::short_reads_drain)), and as writable until a write would block. After that,
/// call [`ready`](Link::ready) when the socket is worth another try. So a link suits edge-triggered
/// readiness, and it remembers the work that a budget left over.
///
/// At the end of the peer's stream the link calls [`Machine::feed_eof`] once, and still writes. After an
/// error it calls it a second time. After a failed write, the link first reads at most 256 KiB of what
/// arrived before the failure, and then reports the end. The machine's events say what the end means.
#[derive(Debug)]
pub struct Link<S> {
    io: S,
    stage: Stage,
    /// True until a read would block, or has drained the socket.
    readable: bool,
    /// True until a write would block.
    writable: bool,
    /// True if a read that leaves room has emptied the socket; the caller reports when there is more.
    short_reads_drain: bool,
    /// True once the caller has reported the end of the stream or an error. It will report nothing more, so
    /// go on reading until a read finds it.
    end_reported: bool,
    /// True once the machine knows that the peer's stream has ended.
    ended: bool,
    /// True once the machine knows that nothing can be written.
    severed: bool,
    /// True if bytes were written. The link then discards input before it ends, so that the last bytes
    /// arrive.
    has_written: bool,
    /// How many bytes this turn may still write.
    left: usize,
    idleness: Idleness,
    /// The error that the owner of the socket has reported, until it has ended the transport.
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
    /// Takes a connected socket, which may be read and written at once.
    #[must_use]
    pub fn new(io: S) -> Self {
        let mut link = Self::connecting(io);
        link.ready();
        link
    }

    /// Takes a socket that is still connecting. Nothing is tried before [`ready`](Link::ready).
    #[must_use]
    pub const fn connecting(io: S) -> Self {
        Self {
            io,
            stage: Stage::Moving,
            readable: false,
            writable: false,
            short_reads_drain: false,
            end_reported: false,
            ended: false,
            severed: false,
            has_written: false,
            left: BUDGET,
            idleness: Idleness::new(),
            failed: None,
            error: None,
        }
    }

    /// Saves the read that finds nothing: after a read that leaves room, nothing is read until you report
    /// readiness again. Right for poll(2), and for epoll and kqueue if you call
    /// [`report_end`](Link::report_end) at the end of a stream.
    #[must_use]
    pub const fn short_reads_drain(mut self) -> Self {
        self.short_reads_drain = true;
        self
    }

    /// Call this when the socket may be readable, writable, or broken. Both directions are tried again.
    pub const fn ready(&mut self) {
        self.readable = true;
        self.writable = true;
    }

    /// Call this when the socket has room but no new input: only writing is tried again. Where edges are
    /// emulated, as by mio on Windows, a read that finds nothing makes the system report the room again, and
    /// a loop would never rest.
    pub const fn report_room(&mut self) {
        self.writable = true;
    }

    /// Call this when the peer's stream has ended or the socket has failed. The link reads until it finds
    /// that.
    pub const fn report_end(&mut self) {
        self.ready();
        self.end_reported = true;
    }

    /// Ends the transport with an error that you found yourself. The next [`read`](Link::read) reports it,
    /// and does not use the socket.
    pub fn fail(&mut self, error: io::Error) {
        self.failed = Some(error);
    }

    /// Returns true if a turn would move bytes, so that a loop must not wait.
    pub fn is_due<M: Machine + ?Sized>(&self, machine: &M, conn: M::Conn) -> bool {
        self.stage == Stage::Moving
            && (self.failed.is_some()
                || self.may_read() && machine.wants_input(conn)
                || self.may_write() && machine.wants_output(conn))
    }

    /// Returns when the link itself needs a step: to discard (`now`, while there is input), to end, or to
    /// free memory. `None` if it only waits for the socket or the machine.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self.stage {
            Stage::Moving => self.idleness.deadline(),
            Stage::Discarding { .. } if self.readable => Some(now),
            Stage::Discarding { until, .. } => Some(until),
            Stage::Over => None,
        }
    }

    /// Returns true if the link is [closed](Link::close).
    #[must_use]
    pub fn is_ending(&self) -> bool {
        self.stage != Stage::Moving
    }

    /// Returns true if nothing is left to do and you can drop the socket.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Returns the error that ended the transport, if there was one.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }

    /// Returns the socket.
    #[must_use]
    pub const fn socket(&self) -> &S {
        &self.io
    }

    /// Returns the socket, so that you can register it or set its options. Bytes that bypass the link are
    /// lost to it.
    pub const fn socket_mut(&mut self) -> &mut S {
        &mut self.io
    }

    /// Returns the socket of a link that must not move any more bytes.
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

    /// Tells the machine, once, that the peer's stream has ended; after an error, also that nothing can be
    /// written. Keeps the first error.
    fn end<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        conn: M::Conn,
        now: Time,
        error: Option<io::Error>,
    ) {
        if self.error.is_none() {
            self.error = error;
        }
        if !self.ended {
            self.ended = true;
            machine.feed_eof(now, conn);
        }
        if self.error.is_some() && !self.severed {
            self.severed = true;
            machine.feed_eof(now, conn);
        }
    }
}

impl<S: Read + Write + Shutdown> Link<S> {
    /// Reads into the machine until the socket would block, the machine takes no more, or `budget` bytes have
    /// been read. The last read may exceed the budget, so a budget of 1 is a single read. Returns the number
    /// of bytes.
    pub fn read<M: Machine + ?Sized>(
        &mut self,
        machine: &mut M,
        conn: M::Conn,
        now: Time,
        budget: usize,
    ) -> usize {
        if self.stage != Stage::Moving {
            return 0;
        }
        if let Some(error) = self.failed.take() {
            self.end(machine, conn, now, Some(error));
            return 0;
        }
        let mut total = 0_usize;
        while total < budget && self.may_read() && machine.wants_input(conn) {
            let space = machine.space(conn);
            let room = space.len();
            if room == 0 {
                // A read into an empty buffer would look like the end of the stream.
                break;
            }
            match self.io.read(space) {
                Ok(0) => self.end(machine, conn, now, None),
                Ok(n) => {
                    machine.filled(now, conn, n);
                    total = total.saturating_add(n);
                    self.idleness.moved(now, n);
                    self.readable = !self.short_reads_drain || self.end_reported || n == room;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => break,
                Err(error) => self.end(machine, conn, now, Some(error)),
            }
        }
        total
    }

    /// Writes bytes that the machine offers: once, and at most [`BUDGET`] in a turn. Returns what you pass to
    /// [`Machine::written`]: how many bytes the socket took, or 0 if it would block or the budget is spent.
    /// `None` means that nothing can be written any more; then call [`sever`](Link::sever).
    pub fn write(&mut self, bytes: &[u8], now: Time) -> Option<usize> {
        let bytes = bytes.get(..self.left).unwrap_or(bytes);
        if self.stage != Stage::Moving || !self.may_write() || bytes.is_empty() {
            return Some(0);
        }
        let error = loop {
            match self.io.write(bytes) {
                Ok(0) => break ErrorKind::WriteZero.into(),
                Ok(n) => {
                    self.has_written = true;
                    self.left = self.left.saturating_sub(n);
                    self.idleness.moved(now, n);
                    return Some(n);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.writable = false;
                    return Some(0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break error,
            }
        };
        self.error = Some(error);
        None
    }

    /// Ends the transport after a failed write. First the machine takes the input that had arrived.
    pub fn sever<M: Machine + ?Sized>(&mut self, machine: &mut M, conn: M::Conn, now: Time) {
        self.readable = true;
        self.read(machine, conn, now, BUDGET);
        self.end(machine, conn, now, None);
    }

    /// Begins to end the connection. Call this once the machine has nothing more to write.
    pub fn close(&mut self, now: Time) {
        let pointless = self.ended || !self.has_written;
        self.stage = if pointless || self.io.shutdown_write().is_err() {
            Stage::Over
        } else {
            Stage::Discarding { until: now.saturating_add(DISCARD_TIME), left: DISCARD }
        };
    }

    /// Ends a turn. An idle connection frees the memory that it does not need.
    pub fn rest<M: Machine + ?Sized>(&mut self, machine: &mut M, conn: M::Conn, now: Time) {
        self.left = BUDGET;
        let is_idle = !self.readable && !machine.wants_output(conn);
        if self.stage == Stage::Moving && self.idleness.is_due(now, is_idle) {
            machine.trim(conn);
        }
    }

    /// Discards about `budget` bytes of input, after the machine is done. Closing a socket with unread input
    /// sends a reset, which can overtake the last bytes that we wrote.
    pub fn discard(&mut self, now: Time, budget: usize) {
        let Stage::Discarding { until, left } = self.stage else { return };
        let mut scrap = [0; 4096];
        let mut spent = 0_usize;
        while self.readable && spent < budget.min(left) && now < until {
            match self.io.read(&mut scrap) {
                Ok(n) if n > 0 => spent = spent.saturating_add(n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
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
}
