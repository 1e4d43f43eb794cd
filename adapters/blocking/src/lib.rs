//! [`ide_mcp`] on blocking sockets of the standard library, where a thread may wait for the next event.
//!
//! - [`Conn`] is one connection, of either role, with its machine, on one thread: for command lines and tests.
//! - [`Server`] is what an editor needs: the listener, the lock file, the sockets and an
//!   [`ide::Host`](ide_mcp::ide::Host).
//! - [`Waker`] is how another thread says to a [`Server`] that there is something in a queue.
//!
//! There is no poll in the standard library. A [`Conn`] waits in a read whose timeout is the machine's deadline; it
//! never waits in a write for more than a moment. It cannot be woken out of that read: where another thread has
//! something to send, wait in slices with [`Conn::poll`], or use another adapter. A [`Server`] has threads that wait
//! for it.
//!
//! How this adapter compares with the others stands in [`ide_mcp_server`].

mod acceptor;
mod conn;
mod inbound;
mod outbound;
mod parking;
mod pipe;
mod server;
mod sockets;

pub use conn::Conn;
pub use ide_mcp_link::Waker;
pub use ide_mcp_server::{Bind, GuardMode, Guarding, Wake};
pub use server::Server;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what is whole at any time, even if the last holder panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
