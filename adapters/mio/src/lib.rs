//! [`ide_mcp`] in an application's own `mio::Poll`: everything on one thread, which is the application's.
//!
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is what an editor needs: the listener, the lock file, the sockets and an
//!   [`ide::Host`](ide_mcp::ide::Host).
//! - [`Waker`] is how another thread says that there is something in a queue.
//!
//! None of them polls and none reads a clock. The application waits in its `Poll` for no longer than the earliest
//! `deadline`, hands the events over with `handle`, and then gives everyone a `turn`. Readiness is edge-triggered:
//! what a turn's budget leaves over is remembered, and makes the next `deadline` now.

mod conn;
mod server;
mod sockets;
mod waker;

pub use conn::Conn;
pub use ide_mcp_server::{Bind, GuardMode, Guarding, Wake};
pub use server::Server;
pub use waker::Waker;
