//! A machine on a socket of the standard library.
//!
//! If there is little to write and no timer is due, an exchange is one write and one read that waits, as in
//! a program without a machine. Otherwise the connection reads and writes the socket without blocking, and
//! blocks only to wait.

use ide_mcp::{Clock, Machine, Time, Wire};
use ide_mcp_driver::{BUDGET, Conn as Inner, Link, refuse_itself};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// The longest time for which a write in blocking mode waits for room in the socket. After this time the
/// connection handles its input and its timers again. So a peer that reads nothing until we have read its
/// bytes waits no longer than this time. On Unix only an exchange writes so; else `poll` waits for room.
const WRITE_TIMEOUT: Duration = Duration::from_millis(20);

/// The shortest wait for input. The standard library refuses a read timeout of zero.
const SHORTEST: Duration = Duration::from_millis(1);

/// The longest single wait for input. Some systems refuse timeouts of months.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// The largest send buffer of an exchange, which writes in blocking mode. The socket nearly always has room
/// for so few bytes.
const LITTLE: usize = 16 * 1024;

/// One connection.
///
/// [`next_event`](Conn::next_event) waits. The output that the application has given to the machine is sent
/// by the next call of `next_event`. Call it until it returns `None`, or the last bytes can be lost.
///
/// ```no_run
/// use ide_mcp_blocking::{Conn, Time, ws};
///
/// # fn main() -> std::io::Result<()> {
/// let (stream, _) = std::net::TcpListener::bind("127.0.0.1:0")?.accept()?;
/// let mut conn = Conn::from_stream(stream, ws::Server::new(ws::Limits::default(), Time::ZERO))?;
/// while let Some(event) = conn.next_event() {
///     match event {
///         ws::OwnedEvent::Upgrade(_) => conn.machine_mut().accept(None).unwrap_or_default(),
///         ws::OwnedEvent::Text(text) => conn.machine_mut().sender().text(&text).unwrap_or_default(),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Conn<M> {
    inner: Inner<M, TcpStream>,
    clock: Clock,
    /// True if the last write left a part of the send buffer unwritten.
    congested: bool,
    /// True if the socket is in blocking mode.
    blocks: bool,
    /// The read timeout of the socket in blocking mode.
    read_timeout: Duration,
}

impl<M: Wire + Machine> Conn<M> {
    /// Connects, and drives the machine on the connection.
    ///
    /// # Errors
    /// The error of connecting, or of preparing the socket; `ConnectionRefused` if the system has connected
    /// the socket to itself.
    pub fn connect(addr: impl ToSocketAddrs, machine: M) -> io::Result<Self> {
        let stream = TcpStream::connect(addr)?;
        refuse_itself(stream.local_addr(), stream.peer_addr())?;
        Self::from_stream(stream, machine)
    }

    /// Drives the machine on a connected socket. The connection sets the modes and timeouts of the socket
    /// from now on.
    ///
    /// The clock of the connection starts now, which fits a machine that was made at [`Time::ZERO`]. If the
    /// machine was made with another clock, pass that clock to [`with_clock`](Conn::with_clock).
    ///
    /// # Errors
    /// The error of preparing the socket.
    pub fn from_stream(stream: TcpStream, machine: M) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        // A turn writes all of its output at once, so Nagle's algorithm would only add delay.
        stream.set_nodelay(true)?;
        let inner = Inner::new(machine, Link::new(stream));
        Ok(Self { inner, clock: Clock::new(), congested: false, blocks: false, read_timeout: Duration::ZERO })
    }

    /// Replaces the clock of the connection by the clock with which the machine was made.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the current time, for methods of the machine that take a time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    ide_mcp_driver::delegate_conn!();

    /// Returns the socket, for its addresses.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        self.inner.link().socket()
    }

    /// Waits for the next event. Returns `None` once the connection [is over](Conn::is_over): the last event
    /// was delivered, and nothing is left to do. The end takes at most the timeout for writing the last
    /// bytes, plus one second.
    pub fn next_event(&mut self) -> Option<M::Event> {
        loop {
            let event = self.poll(LONGEST);
            if event.is_some() || self.is_over() {
                return event;
            }
        }
    }

    /// Waits for the next event, for at most about `at_most`. If `at_most` is zero, returns an event only if
    /// one is ready, without waiting. Returns `None` if there was no event in time, or if the connection [is
    /// over](Conn::is_over).
    pub fn poll(&mut self, at_most: Duration) -> Option<M::Event> {
        let mut now = self.now();
        let until = now.saturating_add(at_most);
        loop {
            if let Some(event) = self.machine_mut().poll_event() {
                return Some(event);
            }
            if !self.exchange(now, until) {
                // The write of the exchange can have waited for room.
                now = self.now();
                if let Some(event) = self.turn(now) {
                    return Some(event);
                }
                if self.is_over() || until <= now {
                    return None;
                }
                self.wait(now, self.inner.deadline(now).map_or(until, |deadline| deadline.min(until)));
            }
            now = self.now();
        }
    }

    /// Writes the send buffer, for at most about `at_most`. Reads input meanwhile, as far as the machine has
    /// room; the events of this input follow later. Returns true if the send buffer is empty.
    pub fn flush(&mut self, at_most: Duration) -> bool {
        let until = self.now().saturating_add(at_most);
        loop {
            let now = self.now();
            self.set_blocking(false);
            let (machine, link) = self.inner.parts_mut();
            link.ready();
            link.read(machine, now, BUDGET);
            link.write(machine, now, BUDGET);
            if machine.outgoing().is_empty() || link.error().is_some() || until <= now {
                return machine.outgoing().is_empty();
            }
            // A deadline of the machine does not end the wait: its timers run in the next poll.
            self.wait(now, until);
        }
    }

    /// Does one write, and one read that waits, if there is little to write and no timer is due. Returns true
    /// if the read was done. The machine reports the result of the read by its events.
    fn exchange(&mut self, now: Time, until: Time) -> bool {
        let calm =
            !self.congested && !self.inner.link().is_ending() && self.machine().outgoing().len() <= LITTLE;
        if !calm || self.until_due(now, until) < SHORTEST || !self.set_blocking(true) {
            return false;
        }
        let (machine, link) = self.inner.parts_mut();
        link.ready();
        link.write(machine, now, 1);
        self.congested = !machine.outgoing().is_empty();
        if self.congested || !machine.wants_input() || link.is_ending() {
            return false;
        }
        // The write has made room in the send buffer, which can have moved the machine's deadline.
        let wait = self.until_due(now, until);
        if wait < SHORTEST || !self.set_read_timeout(wait) {
            return false;
        }
        self.read_until(now.saturating_add(wait));
        true
    }

    /// Reads once, and waits for at most the read timeout. The machine gets the current time with the input,
    /// but no time after `due`: more input that arrived in time can still be in the socket, and the next read
    /// takes that input before any timer runs.
    fn read_until(&mut self, due: Time) {
        let (machine, link) = self.inner.parts_mut();
        link.ready();
        link.read_waiting(machine, || self.clock.now().min(due), 1);
    }

    /// Returns the duration from `now` to the earliest of `until` and the deadlines of the machine and the
    /// link.
    fn until_due(&self, now: Time, until: Time) -> Duration {
        let due = self.machine().deadline().into_iter().chain(self.inner.link().deadline(now));
        due.fold(until, Time::min).saturating_since(now)
    }

    /// Takes a step without waiting: writes, reads the available input, ticks, and writes the resulting
    /// output. An event ends the step early.
    fn turn(&mut self, now: Time) -> Option<M::Event> {
        if !self.set_blocking(false) {
            let machine = self.machine_mut();
            machine.tick(now);
            return machine.poll_event();
        }
        // The step reads input before it runs timers, because input that has arrived since the last call
        // can prevent a timeout that is due.
        self.inner.ready();
        let event = self.inner.step(now);
        if event.is_none() {
            self.congested = !self.machine().outgoing().is_empty();
        }
        event
    }

    /// Waits until the socket is ready, or until `until` at the latest.
    fn wait(&mut self, now: Time, until: Time) {
        let (machine, link) = self.inner.parts_mut();
        let wants_input = machine.wants_input();
        let is_ending = link.is_ending();
        let waits_for_room = !is_ending && link.error().is_none() && !machine.outgoing().is_empty();
        // Elsewhere the write below waits for at most `WRITE_TIMEOUT`, and no input is read meanwhile.
        let is_short = cfg!(not(unix)) && waits_for_room;
        let wait = if is_short { SHORTEST } else { until.saturating_since(now) };
        if wait.is_zero() {
            return;
        }
        #[cfg(unix)]
        if waits_for_room {
            return self.wait_for_room(wants_input, wait);
        }
        if !self.set_blocking(true) || !self.set_read_timeout(wait) {
            // The socket refuses the blocking mode or the timeout. This pause prevents a busy loop until a read
            // or a write reports the error.
            return thread::park_timeout(SHORTEST);
        }
        let (machine, link) = self.inner.parts_mut();
        if waits_for_room {
            link.ready();
            link.write(machine, now, 1);
        } else if is_ending {
            // The peek only waits. The next read discards the input.
            let _ = link.socket().peek(&mut [0]);
        } else if wants_input {
            // This is a read, because a peek would clear the error of the socket.
            self.read_until(now.saturating_add(wait));
        } else {
            // The machine takes no input now: it waits for its caller, or for a timer.
            thread::park_timeout(wait.min(LONGEST));
        }
    }

    /// Waits for at most `wait` until the socket has room, or has input if `wants_input` is true. So a peer
    /// that does not read does not wake the thread.
    #[cfg(unix)]
    fn wait_for_room(&self, wants_input: bool, wait: Duration) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let input = if wants_input { PollFlags::IN } else { PollFlags::empty() };
        let timeout = Timespec::try_from(wait.min(LONGEST)).ok();
        // If the wait fails, the next turn gets the error of the socket. A signal ends the wait early.
        let _ = poll(&mut [PollFd::new(self.stream(), PollFlags::OUT | input)], timeout.as_ref());
    }

    /// Puts the socket into blocking or non-blocking mode. Returns true if the socket is in the requested
    /// mode.
    fn set_blocking(&mut self, blocks: bool) -> bool {
        let is_set = self.blocks == blocks || self.stream().set_nonblocking(!blocks).is_ok();
        if is_set {
            self.blocks = blocks;
        }
        is_set
    }

    /// Sets the read timeout to about `wait`. Successive waits are nearly equal, so the previous timeout
    /// stays if it is at least half of `wait`, and at most [`SHORTEST`] longer than `wait`. Returns false if
    /// the system refuses the timeout.
    fn set_read_timeout(&mut self, wait: Duration) -> bool {
        let wait = wait.clamp(SHORTEST, LONGEST);
        if self.read_timeout < wait / 2 || self.read_timeout > wait.saturating_add(SHORTEST) {
            if self.stream().set_read_timeout(Some(wait)).is_err() {
                return false;
            }
            self.read_timeout = wait;
        }
        true
    }
}
