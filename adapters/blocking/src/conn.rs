//! A machine on a socket of the standard library.
//!
//! While all is calm (little to write, nothing due) an exchange is one write and one read that waits, as it would be
//! without a machine. Otherwise the socket is read and written without blocking, and blocks only to wait.

use ide_mcp::{Clock, Machine, Time, Wire};
use ide_mcp_link::{BUDGET, Conn as Inner, Link, refuse_itself};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Duration;

/// The longest time for which a write waits for room, on systems where only a write can wait for room. After this time
/// the connection looks at its input and its timers again, so a peer that itself waits for us to read waits no longer
/// than that.
const WRITE_TIMEOUT: Duration = Duration::from_millis(20);

/// The shortest wait for input: a read timeout of zero would mean none.
const SHORTEST: Duration = Duration::from_millis(1);

/// The longest wait for input in one piece; some systems refuse timeouts of months.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// What is written while the socket blocks is no more than this; there nearly always is room for it.
const LITTLE: usize = 16 * 1024;

/// One connection.
///
/// [`next_event`](Conn::next_event) waits; what the machine was made to send goes out with the next call. Call it until
/// it returns `None`, or the farewell may be lost.
///
/// ```no_run
/// use ide_mcp::{Time, ws};
/// use ide_mcp_blocking::Conn;
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
    /// There was no room for all that waits to be written.
    congested: bool,
    /// Whether reads and writes of the socket wait now.
    blocks: bool,
    /// For how long reads do, if they wait.
    read_timeout: Duration,
}

impl<M: Wire + Machine> Conn<M> {
    /// Connects, and drives the machine on the connection.
    ///
    /// # Errors
    /// Whatever connecting, or preparing the socket, reports.
    pub fn connect(addr: impl ToSocketAddrs, machine: M) -> io::Result<Self> {
        let stream = TcpStream::connect(addr)?;
        refuse_itself(stream.local_addr(), stream.peer_addr())?;
        Self::from_stream(stream, machine)
    }

    /// Drives the machine on a connected socket, whose modes and timeouts are the connection's from here on.
    ///
    /// Its clock starts now: a machine that is told the time when it is made is told [`Time::ZERO`]. Where it has
    /// another clock, hand that over with [`with_clock`](Conn::with_clock).
    ///
    /// # Errors
    /// Whatever preparing the socket reports.
    pub fn from_stream(stream: TcpStream, machine: M) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        stream.set_write_timeout(Some(WRITE_TIMEOUT))?;
        // A turn writes all it has at once; holding it back would only add delay.
        stream.set_nodelay(true)?;
        let inner = Inner::new(machine, Link::new(stream));
        Ok(Self { inner, clock: Clock::new(), congested: false, blocks: false, read_timeout: Duration::ZERO })
    }

    /// Uses this clock, the one the machine was made with.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The time now, for methods of the machine that want it.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    ide_mcp_link::hand_over!();

    /// The socket, to ask for its addresses.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        self.inner.link().socket()
    }

    /// Waits for the next event. `None` once the last one was delivered and the connection has ended in order, which
    /// takes no longer than the last bytes may take to be written, and a second.
    pub fn next_event(&mut self) -> Option<M::Event> {
        loop {
            let event = self.poll(LONGEST);
            if event.is_some() || self.is_over() {
                return event;
            }
        }
    }

    /// Waits for the next event, but not longer than about `at_most`; zero looks at what is there. `None` if there was
    /// none in time, or if all [is over](Conn::is_over).
    pub fn poll(&mut self, at_most: Duration) -> Option<M::Event> {
        let mut now = self.now();
        let until = now.saturating_add(at_most);
        loop {
            if let Some(event) = self.machine_mut().poll_event() {
                return Some(event);
            }
            if !self.exchange(now, until) {
                // Its write may have waited for room.
                now = self.now();
                if let Some(event) = self.turn(now) {
                    return Some(event);
                }
                if self.is_over() || until <= now {
                    return None;
                }
                self.wait(now, until);
            }
            now = self.now();
        }
    }

    /// Writes what waits to be written, for at most about `at_most`. Input is taken meanwhile as far as there is room
    /// for it, and its events come later. True if nothing waits any more.
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
            self.wait(now, until);
        }
    }

    /// While all is calm: one write, and one read that waits. Whether it was. What came of it is for the machine to say.
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
        // Room in the output may have made more due.
        let wait = self.until_due(now, until);
        if wait < SHORTEST || !self.set_read_timeout(wait) {
            return false;
        }
        self.read_until(now.saturating_add(wait));
        true
    }

    /// One read, which waits for as long as the socket was told to. Of what has come in time nothing may count as late:
    /// there may be more, which is read before time passes.
    fn read_until(&mut self, due: Time) {
        let (machine, link) = self.inner.parts_mut();
        link.ready();
        link.read_waiting(machine, || self.clock.now().min(due), 1);
    }

    /// How long it is until the machine or the link is due.
    fn until_due(&self, now: Time, until: Time) -> Duration {
        let due = self.machine().deadline().into_iter().chain(self.inner.link().deadline(now));
        due.fold(until, Time::min).saturating_since(now)
    }

    /// Reads all there is, lets time pass, and writes, without waiting.
    fn turn(&mut self, now: Time) -> Option<M::Event> {
        if !self.set_blocking(false) {
            let machine = self.machine_mut();
            machine.tick(now);
            return machine.poll_event();
        }
        // What has arrived comes before what is due: the caller may have been away for long.
        self.inner.ready();
        let event = self.inner.step(now);
        if event.is_none() {
            self.congested = !self.machine().outgoing().is_empty();
        }
        event
    }

    /// Waits until there is something to do, at the longest until `until`.
    fn wait(&mut self, now: Time, until: Time) {
        let (machine, link) = self.inner.parts_mut();
        let hears = machine.wants_input();
        let is_ending = link.is_ending();
        let waits_for_room = !is_ending && link.error().is_none() && !machine.outgoing().is_empty();
        let wait = if cfg!(not(unix)) && waits_for_room {
            // There was no room for it. Input waits for a moment; most often the room comes sooner.
            SHORTEST
        } else {
            self.inner.deadline(now).map_or(until, |deadline| deadline.min(until)).saturating_since(now)
        };
        if wait.is_zero() {
            return;
        }
        #[cfg(unix)]
        if waits_for_room {
            return self.wait_for_room(hears, wait);
        }
        if !self.set_blocking(true) || !self.set_read_timeout(wait) {
            // The socket cannot wait for us; at least nothing spins until it is found out what is wrong with it.
            return thread::park_timeout(SHORTEST);
        }
        let (machine, link) = self.inner.parts_mut();
        if waits_for_room {
            link.ready();
            link.write(machine, now, 1);
        } else if is_ending {
            // What comes is discarded by the read that follows.
            let _ = link.socket().peek(&mut [0]);
        } else if hears {
            // To look at it without reading would take the error of the socket away.
            self.read_until(now.saturating_add(wait));
        } else {
            // The machine waits for its caller, or for time alone.
            thread::park_timeout(wait.min(LONGEST));
        }
    }

    /// Waits until the peer has read or sent something, but no longer than this time. So a peer that does not read
    /// does not wake the thread.
    #[cfg(unix)]
    fn wait_for_room(&self, hears: bool, wait: Duration) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let input = if hears { PollFlags::IN } else { PollFlags::empty() };
        let timeout = Timespec::try_from(wait.min(LONGEST)).ok();
        // If the wait fails, the next turn finds out what is wrong with the socket. A signal ends the wait early.
        let _ = poll(&mut [PollFd::new(self.stream(), PollFlags::OUT | input)], timeout.as_ref());
    }

    /// Makes reads and writes wait, or not. Whether that worked.
    fn set_blocking(&mut self, blocks: bool) -> bool {
        let is_set = self.blocks == blocks || self.stream().set_nonblocking(!blocks).is_ok();
        if is_set {
            self.blocks = blocks;
        }
        is_set
    }

    /// How long a read waits. Waits that follow one another are nearly the same, and the same one will do for them: it
    /// may end early, and late by less than a timer of the system would. Whether that worked.
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
