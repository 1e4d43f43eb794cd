//! A machine on a non-blocking socket of std. The connection waits with poll(2).

use crate::readiness::{LONGEST, interest, wait};
use ide_mcp::{Clock, Machine, Time};
use ide_mcp_driver::{Conn as Inner, Link, refuse_itself};
use rustix::event::PollFd;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// One connection.
///
/// [`next_event`](Conn::next_event) waits, and sends what you have given to the machine. Call it until it
/// returns `None`, or the last bytes may be lost.
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
pub struct Conn<M: Machine> {
    inner: Inner<M, TcpStream>,
    clock: Clock,
}

impl<M: Machine<Conn = ()>> Conn<M> {
    /// Connects, and runs the machine on the connection.
    ///
    /// # Errors
    /// The error of connecting or of preparing the socket; `ConnectionRefused` if the system has connected
    /// the socket to itself.
    pub fn connect(addr: impl ToSocketAddrs, machine: M) -> io::Result<Self> {
        let stream = TcpStream::connect(addr)?;
        refuse_itself(stream.local_addr(), stream.peer_addr())?;
        Self::from_stream(stream, machine)
    }

    /// Runs the machine on a connected socket, which becomes non-blocking.
    ///
    /// The clock of the connection starts now. That is right for a machine made at [`Time::ZERO`]; if you
    /// made it with another clock, pass that one to [`with_clock`](Conn::with_clock).
    ///
    /// # Errors
    /// The error of preparing the socket.
    pub fn from_stream(stream: TcpStream, machine: M) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        // A turn writes all of its output at once, so Nagle's algorithm would only add delay.
        stream.set_nodelay(true)?;
        Ok(Self { inner: Inner::new(machine, Link::new(stream).short_reads_drain()), clock: Clock::new() })
    }

    /// Uses the clock with which the machine was made.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the current time, for methods of the machine that take one.
    #[must_use]
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Returns the machine.
    #[must_use]
    pub const fn machine(&self) -> &M {
        self.inner.machine()
    }

    /// Returns the machine, so that you can send something. The next turn writes it.
    pub const fn machine_mut(&mut self) -> &mut M {
        self.inner.machine_mut()
    }

    /// Returns the error that ended the transport, if there was one.
    #[must_use]
    pub const fn error(&self) -> Option<&io::Error> {
        self.inner.link().error()
    }

    /// Returns true if the last event was delivered and nothing is left to do.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.inner.is_over()
    }

    /// Returns the socket, for its addresses.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        self.inner.link().socket()
    }

    /// Waits for the next event. Returns `None` once the connection [is over](Conn::is_over): the last event
    /// was delivered, and nothing is left to do. After the last event, this takes at most the timeout for
    /// writing the last bytes, plus one second.
    pub fn next_event(&mut self) -> Option<M::Event> {
        loop {
            let event = self.poll(LONGEST);
            if event.is_some() || self.is_over() {
                return event;
            }
        }
    }

    /// Waits for the next event, but for about `at_most`; with zero, it only returns what is ready. `None` if
    /// there was no event in time, or if the connection [is over](Conn::is_over).
    pub fn poll(&mut self, at_most: Duration) -> Option<M::Event> {
        let mut now = self.now();
        let until = now.saturating_add(at_most);
        if let Some(event) = self.inner.rest_of_turn(now) {
            return Some(event);
        }
        loop {
            if self.is_over() {
                return None;
            }
            // Write at once what was given to the machine, and wait afterwards.
            let due = self.inner.deadline(now);
            if self.inner.has_due_timer(now) || due.is_none_or(|due| due > now) || at_most.is_zero() {
                self.wait(now, due.map_or(until, |due| due.min(until)));
                now = self.now();
            }
            let event = self.inner.event_of_turn(now);
            if event.is_some() || until <= now {
                return event;
            }
        }
    }

    /// Writes the send buffer, for about `at_most`. Returns true if it is empty. Meanwhile this also reads
    /// what the machine has room for; later calls return the events of that input.
    pub fn flush(&mut self, at_most: Duration) -> bool {
        let until = self.now().saturating_add(at_most);
        loop {
            let now = self.now();
            self.inner.flush(now);
            let is_empty = !self.machine().wants_output(());
            if is_empty || self.error().is_some() || self.is_over() || until <= now {
                return is_empty;
            }
            self.wait(now, until);
        }
    }

    /// Waits until the socket is ready, or until `until` at the latest.
    fn wait(&mut self, now: Time, until: Time) {
        let (input, output) = self.inner.awaits();
        let Some(flags) = interest(input, output) else { return wait(&mut [], now, Some(until)) };
        let mut socket = [PollFd::new(self.inner.link().socket(), flags)];
        wait(&mut socket, now, Some(until));
        if socket.iter().any(|socket| !socket.revents().is_empty()) {
            self.inner.ready();
        }
    }
}
