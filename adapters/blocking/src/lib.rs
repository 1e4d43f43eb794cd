//! [`ide_mcp`] on blocking sockets of the standard library, for a thread that can wait for the next
//! event.
//!
//! - [`Conn`] is one connection, of either role, with its machine, on one thread: for command lines
//!   and tests.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Host`].
//! - [`Waker`] notifies a [`Server`] from another thread that a queue of the application has an
//!   entry.
//!
//! The standard library has no poll. A [`Conn`] waits in a read whose timeout is the machine's
//! deadline; it never waits in a write for more than a moment. A wake-up cannot end that read. If
//! another thread has something to send, wait in slices with [`Conn::poll`], or use another adapter.
//! A [`Server`] has threads that wait for its sockets.
//!
//! This crate is the one dependency of an editor: it re-exports the modules of [`ide_mcp`], and
//! [`lockfile`]. [`ide_mcp_driver`] compares this adapter with the others.

mod acceptor;
mod conn;
mod inbound;
mod outbound;
mod parking;
mod pipe;
mod server;
mod sockets;
mod spawn;

pub use conn::Conn;
pub use ide_mcp_driver::{
    Bind, EditorOptions, GuardMode, Guarding, Handle, HandleError, StartError, Wake, Waker,
};
pub use server::Server;
pub use spawn::spawn;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Time, Wire, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose value is consistent at any time, even if the last holder panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
