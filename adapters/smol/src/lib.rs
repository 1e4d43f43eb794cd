//! [`ide_mcp`] in a task of smol, GPUI, or any other executor. It needs only `async-io`, whose
//! reactor waits.
//!
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Host`](ide_mcp::ide::Host).
//! - [`Waker`] notifies a task from another thread that a queue of the application has an entry.
//!
//! Everything happens within `next_event`, on the task that awaits it. No task is spawned, and only
//! the notes of wake-ups are behind a lock. Each socket wakes by itself, so a turn for one connection
//! makes no system call for the others. While nothing happens, the reactor sleeps until the next
//! timer of the protocol is due.
//!
//! [`ide_mcp_server`] compares this adapter with the others.

mod conn;
mod server;
mod socket;
mod sockets;
mod waiting;

pub use conn::Conn;
pub use ide_mcp_link::Waker;
pub use ide_mcp_server::{Bind, GuardMode, Guarding, Wake};
pub use server::Server;
