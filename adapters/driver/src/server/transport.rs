//! The differences between the adapters.

use super::guarding::Guarding;
use crate::socket::Shutdown;
use ide_mcp_lockfile::{Guard, GuardMode};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// The time that the server waits before it accepts again, after accepting has failed for lack of
/// file descriptors or memory. The system does not report when descriptors or memory are free again.
pub const RETRY: Duration = Duration::from_millis(100);

/// A listener and non-blocking sockets, whose readiness the adapter reports.
///
/// The contract is that of edge-triggered readiness. After an accept, a read or a write has returned
/// [`WouldBlock`](io::ErrorKind::WouldBlock), or a read has left room where
/// [`SHORT_READS_DRAIN`](Transport::SHORT_READS_DRAIN), the adapter must call
/// [`Server::acceptable`](crate::Server::acceptable) or [`Server::ready`](crate::Server::ready) as soon
/// as a retry can succeed. A call without readiness costs one try, and does no harm.
pub trait Transport {
    /// A connection as it is accepted.
    type Incoming;

    /// A connection after [`adopt`](Transport::adopt).
    type Socket: Read + Write + Shutdown;

    /// True if the adapter waits by level, as poll(2) does: it reports a socket again as long as it has input.
    const IS_LEVEL_TRIGGERED: bool = false;

    /// True if a read that leaves room has emptied the socket, see
    /// [`Link::short_reads_drain`](crate::Link::short_reads_drain).
    /// An adapter that waits by edge then reports an end by [`Server::report_end`](crate::Server::report_end).
    const SHORT_READS_DRAIN: bool = Self::IS_LEVEL_TRIGGERED;

    /// Returns the next connection that waits.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if none waits; otherwise the error of the system.
    fn accept(&mut self) -> io::Result<Self::Incoming>;

    /// Prepares a connection. The adapter reports its readiness under this number from now on. A new
    /// connection can share its number with old connections that still linger: they are closed, but
    /// their last bytes have not arrived yet.
    ///
    /// # Errors
    /// The error of the system; the server then gives the connection up.
    fn adopt(&mut self, number: usize, incoming: Self::Incoming) -> io::Result<Self::Socket>;

    /// Returns both addresses of a connection: ours, and that of the peer. From these addresses the
    /// server finds out which user owns the peer's socket ([`Bind::Resume`](crate::Bind::Resume)).
    ///
    /// # Errors
    /// The error of the system, such as for a peer that has left.
    fn ends(socket: &Self::Socket) -> io::Result<(SocketAddr, SocketAddr)>;

    /// Releases a socket. By default it is dropped.
    fn release(&mut self, _socket: Self::Socket) {}

    /// Returns the default place for the guard, which restores a deleted lock file. With
    /// [`publish_guarded`](crate::EditorLock::publish_guarded) the application chooses the place itself.
    fn guarding(&self) -> Guarding {
        Guarding::InLoop(GuardMode::default())
    }

    /// Begins to wait for the descriptor of a guard. When it is readable, the adapter calls
    /// [`lock_ready`](crate::Server::lock_ready). Returns false if nothing can wait for the
    /// descriptor.
    fn watch(&mut self, _guard: &Guard) -> bool {
        false
    }

    /// Arms the watch again after the server has read the notifications. Returns true if more
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
