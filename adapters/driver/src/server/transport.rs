//! The differences between the adapters.

use super::guarding::Guarding;
use crate::socket::Shutdown;
use ide_mcp_lockfile::{Guard, GuardMode};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// The pause before accepting is tried again after it failed for lack of file descriptors or memory.
/// No readiness announces that the system has some again.
pub const RETRY: Duration = Duration::from_millis(100);

/// A listener and non-blocking sockets, whose readiness the adapter reports.
///
/// The contract is that of edge-triggered readiness. After a call that would have blocked, the
/// adapter calls [`Server::acceptable`](crate::Server::acceptable) or
/// [`Server::ready`](crate::Server::ready) as soon as the call would block no longer. A wake-up
/// without readiness costs one try, and does no harm.
pub trait Transport {
    /// A connection as it is accepted.
    type Incoming;

    /// A connection after [`adopt`](Transport::adopt).
    type Socket: Read + Write + Shutdown;

    /// Returns the next connection that waits.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if none waits; otherwise the error of the system.
    fn accept(&mut self) -> io::Result<Self::Incoming>;

    /// Prepares a connection, whose readiness is reported under this number from now on. Only
    /// lingering connections can have the same number at the same time.
    ///
    /// # Errors
    /// The error of the system; the server then gives the connection up.
    fn adopt(&mut self, number: usize, incoming: Self::Incoming) -> io::Result<Self::Socket>;

    /// Returns both addresses of a connection: ours, and that of the peer. The server looks up the
    /// owner of the peer's socket by them ([`Bind::Resume`](crate::Bind::Resume)).
    ///
    /// # Errors
    /// The error of the system, such as for a peer that has left.
    fn ends(socket: &Self::Socket) -> io::Result<(SocketAddr, SocketAddr)>;

    /// Releases a socket. By default it is dropped.
    fn release(&mut self, _socket: Self::Socket) {}

    /// Returns where the guard of a lock file runs unless the application chooses otherwise.
    fn guarding(&self) -> Guarding {
        Guarding::InLoop(GuardMode::default())
    }

    /// Begins to wait for the descriptor of a guard. When it is readable, the adapter calls
    /// [`lock_ready`](crate::Server::lock_ready). Returns false if nothing can wait for the
    /// descriptor.
    fn watch(&mut self, _guard: &Guard) -> bool {
        false
    }

    /// Waits for the descriptor once more, after its notifications were taken. Returns true if more
    /// notifications have arrived.
    fn watch_again(&mut self) -> bool {
        false
    }

    /// Stops waiting for the descriptor.
    fn unwatch(&mut self) {}

    /// Stops listening; [`accept`](Transport::accept) is not called any more. The system refuses
    /// clients that connect from now on.
    fn close(&mut self);
}
