//! One connection in a `Poll`.

use crate::sockets::SHORT_READS_DRAIN;
use ide_mcp::{Machine, Time};
use ide_mcp_driver::{Conn as Inner, Link, refuse_itself};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io;
use std::net::SocketAddr;

/// One connection: a machine on a socket that is registered in your `Poll`, under a token of its own.
///
/// After every wait, pass each event to [`handle_event`](Conn::handle_event), then take a
/// [`turn`](Conn::turn). Wait until [`deadline`](Conn::deadline) at the latest. Continue until
/// [`is_over`](Conn::is_over), then drop the connection.
#[derive(Debug)]
pub struct Conn<M: Machine> {
    inner: Inner<M, TcpStream>,
    registry: Registry,
    token: Token,
    connecting: bool,
}

impl<M: Machine<Conn = ()>> Conn<M> {
    /// Runs the machine on a connected socket, such as an accepted one.
    ///
    /// # Errors
    /// The error of registering the socket.
    pub fn new(stream: TcpStream, machine: M, registry: &Registry, token: Token) -> io::Result<Self> {
        Self::register(Link::new(stream), machine, registry, token, false)
    }

    /// Begins to connect, and runs the machine on the connection. If connecting fails, the machine reports
    /// the end of the transport, and [`error`](Conn::error) returns the reason.
    ///
    /// # Errors
    /// The error of creating or registering the socket.
    pub fn connect(addr: SocketAddr, machine: M, registry: &Registry, token: Token) -> io::Result<Self> {
        let stream = TcpStream::connect(addr)?;
        Self::register(Link::connecting(stream), machine, registry, token, true)
    }

    fn register(
        mut link: Link<TcpStream>,
        machine: M,
        registry: &Registry,
        token: Token,
        connecting: bool,
    ) -> io::Result<Self> {
        let registry = registry.try_clone()?;
        prepare(link.socket_mut(), &registry, token)?;
        let link = if SHORT_READS_DRAIN { link.short_reads_drain() } else { link };
        Ok(Self { inner: Inner::new(machine, link), registry, token, connecting })
    }

    /// Takes an event of the `Poll`. Returns true if it was for this connection.
    pub fn handle_event(&mut self, event: &Event) -> bool {
        if event.token() != self.token {
            return false;
        }
        let report = Report::of(event);
        if self.connecting {
            let stream = self.stream();
            let checked = match connected(stream) {
                Some(peer) => refuse_itself(stream.local_addr(), peer),
                // The next read finds out why.
                None if matches!(report, Report::End) => Ok(()),
                None => return true,
            };
            self.connecting = false;
            if let Err(error) = checked {
                self.inner.link_mut().fail(error);
            }
        }
        match report {
            Report::Input => self.inner.ready(),
            Report::Room => self.inner.report_room(),
            Report::End => self.inner.report_end(),
        }
        true
    }

    /// Takes one turn: reads, runs timers, passes every event to `on`, and writes the output. Moves at most
    /// about 256 KiB in each direction, so that other connections get their turn.
    pub fn turn(&mut self, now: Time, on: impl FnMut(&mut M, M::Event)) {
        self.inner.turn(now, on);
    }

    /// Returns the next event of a turn, or `None` at its end; the call after that begins another turn. You
    /// may call it later: nothing is lost or done twice.
    pub fn next_event(&mut self, now: Time) -> Option<M::Event> {
        self.inner.event_of_turn(now)
    }

    /// Returns when the next turn is due at the latest: `now` while there is work.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        self.inner.deadline(now)
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

    /// Returns the token of the socket.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }
}

impl<M: Machine> Drop for Conn<M> {
    fn drop(&mut self) {
        // An error means that the `Poll` is gone, so nothing is registered any more.
        let _ = self.registry.deregister(self.inner.link_mut().socket_mut());
    }
}

/// What an event says about a socket.
pub(crate) enum Report {
    /// Input, and perhaps room.
    Input,
    /// Room only.
    Room,
    /// The stream has ended or failed, or has urgent data (RFC 9293 section 3.8.5). A read stops before
    /// urgent data, so a read that leaves room no longer shows that there is nothing more.
    End,
}

impl Report {
    pub(crate) fn of(event: &Event) -> Self {
        let has_ended = event.is_read_closed() || event.is_write_closed() || event.is_error();
        match event.is_readable() {
            _ if has_ended || event.is_priority() => Self::End,
            true => Self::Input,
            false => Self::Room,
        }
    }
}

/// Returns the address to which a socket has connected, or why it could not; `None` while it connects,
/// because some systems report a socket too early. On Windows only the socket itself has the error, and a
/// read would find the end of a stream.
pub(crate) fn connected(stream: &TcpStream) -> Option<io::Result<SocketAddr>> {
    match (stream.take_error(), stream.peer_addr()) {
        (Ok(Some(error)) | Err(error), _) => Some(Err(error)),
        (Ok(None), Err(error)) if error.kind() == io::ErrorKind::NotConnected => None,
        (Ok(None), peer) => Some(peer),
    }
}

/// Registers a socket for both directions.
pub(crate) fn prepare(stream: &mut TcpStream, registry: &Registry, token: Token) -> io::Result<()> {
    // A turn writes all of its output at once, so Nagle's algorithm would only add delay. A socket that
    // refuses the option still works.
    let _ = stream.set_nodelay(true);
    let interest = Interest::READABLE | Interest::WRITABLE;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let interest = interest | Interest::PRIORITY;
    registry.register(stream, token, interest)
}

#[cfg(all(test, unix))]
mod tests;
