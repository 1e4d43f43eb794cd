//! [`ide_mcp`] in an application's own `mio::Poll`, on the application's own thread.
//!
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Host`].
//! - [`Waker`] notifies the loop from another thread that a queue of the application has an entry.
//!
//! No type of this crate polls or reads a clock. The application waits in its `Poll` until the earliest
//! `deadline` at the latest, passes the events to `handle_event`, and then takes a `turn` of each connection or
//! server. Readiness is edge-triggered. If the budget of a turn leaves work over, the next `deadline` is
//! `now`.
//!
//! This crate is the one dependency of an editor: it re-exports [`mio`], the modules of [`ide_mcp`],
//! and [`lockfile`]. [`ide_mcp_driver`] compares this adapter with the others.

mod conn;
mod nested;
mod server;
mod sockets;
mod timer;
mod waker;

pub use conn::Conn;
pub use ide_mcp_driver::{Bind, EditorOptions, GuardMode, Guarding, Handle, HandleError, StartError, Wake};
pub use nested::NestedServer;
pub use server::Server;
pub use waker::Waker;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Time, Wire, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
#[doc(no_inline)]
pub use mio;
