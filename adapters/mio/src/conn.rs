//! One connection in a `Poll`.

use ide_mcp::{Machine, Time, Wire};
use ide_mcp_link::{Conn as Inner, Link, refuse_itself};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io;
use std::net::SocketAddr;

/// One connection: a machine on a socket that is registered in the application's `Poll`, under a token of its own.
///
/// After every wait: [`handle`](Conn::handle) each event, then take a [`turn`](Conn::turn). Wait for no longer than
/// until [`deadline`](Conn::deadline), until [`is_over`](Conn::is_over); then drop it.
#[derive(Debug)]
pub struct Conn<M> {
    inner: Inner<M, TcpStream>,
    registry: Registry,
    token: Token,
    connecting: bool,
}

impl<M: Wire + Machine> Conn<M> {
    /// Drives the machine on a socket that is connected, such as one that was accepted.
    ///
    /// # Errors
    /// Whatever registering the socket reports.
    pub fn new(stream: TcpStream, machine: M, registry: &Registry, token: Token) -> io::Result<Self> {
        Self::register(Link::new(stream), machine, registry, token, false)
    }

    /// Connects, without waiting, and drives the machine on the connection. If nobody answers, the machine hears that
    /// the transport ended, and [`error`](Conn::error) says why.
    ///
    /// # Errors
    /// Whatever creating and registering the socket reports.
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
        Ok(Self { inner: Inner::new(machine, link), registry, token, connecting })
    }

    /// Takes note of an event of the `Poll`; whether it was for this connection.
    pub fn handle(&mut self, event: &Event) -> bool {
        if event.token() != self.token {
            return false;
        }
        if self.connecting {
            // Some systems report readiness before it is decided whether the connection stands.
            let failed = event.is_error() || event.is_read_closed() || event.is_write_closed();
            if !failed && self.stream().peer_addr().is_err() {
                return true;
            }
            self.connecting = false;
            let stream = self.stream();
            match refuse_itself(stream.local_addr(), stream.peer_addr()) {
                Err(refused) if !failed => self.inner.link_mut().fail(refused),
                _ => {}
            }
        }
        self.inner.ready();
        true
    }

    /// One turn: reads, ticks, hands every event to `on`, and writes what that provoked. Moves about 256 KiB a
    /// direction at most, so that connections beside it get their turn.
    pub fn turn(&mut self, now: Time, on: impl FnMut(&mut M, M::Event)) {
        self.inner.turn(now, on);
    }

    /// The same, event by event: the next of this turn, or `None` at its end. The call after that begins another.
    /// Nothing is lost or done twice if a call comes later than it could.
    pub fn next_event(&mut self, now: Time) -> Option<M::Event> {
        self.inner.event_of_turn(now)
    }

    /// When the next turn is due at the latest: `now` while there is something to do.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        self.inner.deadline(now)
    }

    ide_mcp_link::hand_over!();

    /// The socket, to ask for its addresses.
    #[must_use]
    pub const fn stream(&self) -> &TcpStream {
        self.inner.link().socket()
    }

    /// The token that it is registered under.
    #[must_use]
    pub const fn token(&self) -> Token {
        self.token
    }
}

impl<M> Drop for Conn<M> {
    fn drop(&mut self) {
        // It fails if the `Poll` has gone, and then nothing is registered.
        let _ = self.registry.deregister(self.inner.link_mut().socket_mut());
    }
}

/// Registers a socket for both directions.
pub(crate) fn prepare(stream: &mut TcpStream, registry: &Registry, token: Token) -> io::Result<()> {
    // A turn writes all it has at once; holding it back would only add delay. A socket that refuses still works.
    let _ = stream.set_nodelay(true);
    registry.register(stream, token, Interest::READABLE | Interest::WRITABLE)
}

#[cfg(all(test, unix))]
mod tests;
