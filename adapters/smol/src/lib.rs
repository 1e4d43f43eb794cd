//! [`ide_mcp`] in a task of smol, GPUI, or any other executor: it needs `async-io` alone, whose reactor waits.
//!
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is what an editor needs: the listener, the lock file, the sockets and an
//!   [`ide::Host`](ide_mcp::ide::Host).
//! - [`Waker`] is how another thread says that there is something in a queue.
//!
//! Everything happens within `next_event`, on the task that awaits it: no task is spawned, nothing is behind a lock
//! but the note of which sockets woke it. Each socket wakes by itself, so a turn for one connection makes no system call
//! for the others; while nothing happens the reactor sleeps until the next timer of the protocol is due.
//!
//! How this adapter compares with the others stands in [`ide_mcp_server`].

mod conn;
mod server;
mod socket;
mod sockets;
mod waiting;

pub use conn::Conn;
pub use ide_mcp_link::Waker;
pub use ide_mcp_server::{Bind, GuardMode, Guarding, Wake};
pub use server::Server;
