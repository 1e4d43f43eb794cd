//! What differs between the adapters.

use super::guarding::Guarding;
use crate::socket::Shutdown;
use ide_mcp_lockfile::{Guard, GuardMode};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// How long the server waits before it accepts again, after accepting has failed for lack of file descriptors
/// or memory. The system does not report when there are enough again.
pub const RETRY: Duration = Duration::from_millis(100);

/// A listener and non-blocking sockets, whose readiness the adapter reports.
///
/// The contract is that of edge-triggered readiness. Once an accept, a read or a write has returned
/// [`WouldBlock`](io::ErrorKind::WouldBlock) (or, with [`SHORT_READS_DRAIN`](Transport::SHORT_READS_DRAIN), a
/// read has left room), you must call [`Server::acceptable`](crate::Server::acceptable) or
/// [`Server::ready`](crate::Server::ready) as soon as a retry can succeed. An unneeded call costs one try and
/// does no harm.
pub trait Transport {
    /// A connection that was accepted.
    type Incoming;

    /// A connection after [`adopt`](Transport::adopt).
    type Socket: Read + Write + Shutdown;

    /// True if the adapter is level-triggered, as poll(2) is: it reports a socket again and again while the
    /// socket has input.
    const IS_LEVEL_TRIGGERED: bool = false;

    /// True if a read that leaves room has emptied the socket, see
    /// [`Link::short_reads_drain`](crate::Link::short_reads_drain). An edge-triggered adapter must then
    /// report an end by [`Server::report_end`](crate::Server::report_end).
    const SHORT_READS_DRAIN: bool = Self::IS_LEVEL_TRIGGERED;

    /// Returns the next waiting connection.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if none waits; otherwise the error of the system.
    fn accept(&mut self) -> io::Result<Self::Incoming>;

    /// Prepares a connection. From now on, report its readiness under this number. Old connections that
    /// linger may have the same number: they are closed, but their last bytes have not arrived yet.
    ///
    /// # Errors
    /// The error of the system; the server then gives up the connection.
    fn adopt(&mut self, number: usize, incoming: Self::Incoming) -> io::Result<Self::Socket>;

    /// Returns both addresses of a connection, ours first. From them the server finds out which user owns the
    /// peer's socket ([`Bind::Resume`](crate::Bind::Resume)).
    ///
    /// # Errors
    /// The error of the system, for example because the peer has left.
    fn ends(socket: &Self::Socket) -> io::Result<(SocketAddr, SocketAddr)>;

    /// Releases a socket. The default drops it.
    fn release(&mut self, _socket: Self::Socket) {}

    /// Returns where the guard, which restores a deleted lock file, runs by default. The application can
    /// choose with [`publish_guarded`](crate::EditorLock::publish_guarded).
    fn guarding(&self) -> Guarding {
        Guarding::InLoop(GuardMode::default())
    }

    /// Begins to wait for the descriptor of a guard. Call [`lock_ready`](crate::Server::lock_ready) when it
    /// is readable. Returns false if nothing can wait for it.
    fn watch(&mut self, _guard: &Guard) -> bool {
        false
    }

    /// Arms the watch again after the server has read the notifications. Returns true if more have arrived.
    fn watch_again(&mut self) -> bool {
        false
    }

    /// Stops waiting for the descriptor.
    fn unwatch(&mut self) {}

    /// Stops listening, so that the system refuses further clients. [`accept`](Transport::accept) is not
    /// called again.
    fn close(&mut self);
}
