//! What differs between the adapters.

use crate::Guarding;
use ide_mcp_link::Shutdown;
use ide_mcp_lockfile::{Guard, GuardMode};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// After this long it is tried again, where accepting failed for want of file descriptors or memory: no readiness
/// announces that there are some again.
pub const RETRY: Duration = Duration::from_millis(100);

/// A listener, and sockets that never block, of which somebody else says when to try them again.
///
/// The contract is that of edge-triggered readiness: after a call that would have blocked, and before it would not
/// any more, the server is told ([`Server::acceptable`](crate::Server::acceptable),
/// [`Server::ready`](crate::Server::ready)). A wake-up with nothing there costs a try, and does no harm.
pub trait Transport {
    /// A connection as it is accepted.
    type Incoming;

    /// The same, once it is known which one it is.
    type Socket: Read + Write + Shutdown;

    /// The next connection that waits.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if none does; else whatever the system reports.
    fn accept(&mut self) -> io::Result<Self::Incoming>;

    /// Prepares a connection, which is ready under this number from now on. No other has it at the same time but
    /// those that linger.
    ///
    /// # Errors
    /// Whatever the system reports; the connection is given up.
    fn adopt(&mut self, number: usize, incoming: Self::Incoming) -> io::Result<Self::Socket>;

    /// Returns both addresses of a connection: ours, and that of the peer. By these the server asks whose socket the peer has
    /// ([`Bind::Resume`](crate::Bind::Resume)).
    ///
    /// # Errors
    /// The error of the system, such as for a peer that has left.
    fn ends(socket: &Self::Socket) -> io::Result<(SocketAddr, SocketAddr)>;

    /// Lets a socket go. By default it is dropped.
    fn release(&mut self, _socket: Self::Socket) {}

    /// Returns where the guard of a lock file runs unless the application says otherwise.
    fn guarding(&self) -> Guarding {
        Guarding::InLoop(GuardMode::default())
    }

    /// Begins to wait for the descriptor of a guard: the server is told by
    /// [`lock_ready`](crate::Server::lock_ready). Returns false if nothing can wait for it.
    fn watch(&mut self, _guard: &Guard) -> bool {
        false
    }

    /// Waits for the descriptor once more, after its notifications were taken. Returns true if there are more by now.
    fn watch_again(&mut self) -> bool {
        false
    }

    /// Stops waiting for the descriptor.
    fn unwatch(&mut self) {}

    /// Stops listening; [`accept`](Transport::accept) is not called any more. The system turns away
    /// clients that connect from now on.
    fn close(&mut self);
}
