//! [`ide_mcp`] on sockets of the standard library, for a thread that can wait for the next event, and for loops that
//! cannot wait for sockets.
//!
//! # An editor
//! ```no_run
//! use ide_mcp_blocking::ide::{ServerConfig, ServerEvent, Tool, ToolCall};
//! use ide_mcp_blocking::Server;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = [Tool::OpenDiff];
//! let mut server = Server::start(ServerConfig::new("My Editor", "1.0").folder(".").tools(tools))?;
//!
//! // For other threads: `handle.select(…)`, `handle.answer(…)`, `handle.shutdown()`.
//! let _handle = server.handle();
//!
//! while !server.is_over() {
//!     let Some(call) = server.next_event().and_then(ServerEvent::into_call) else { continue };
//!     let machine = server.machine_mut();
//!     // An error means that the agent has gone, or has cancelled the call.
//!     let _ = match call {
//!         // Ask the person, and answer later. The agent writes the file.
//!         ToolCall::OpenDiff(call, diff) => machine.answer(call, &diff.accept()),
//!         other => machine.call(other).fail(-32601, "this editor does not have the tool"),
//!     };
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`spawn`] runs such a server on a thread of its own, for winit, crossterm and other loops that cannot
//! wait for sockets.
//!
//! # Contents
//!
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine, on one thread: for command lines
//!   and tests.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Server`].
//! - [`Waker`] notifies a [`Server`] from another thread that a queue of the application has an
//!   entry.
//!
//! All of them wait by poll(2), which is `WSAPoll` on Windows, and have no threads of their own: only the guard of a lock
//! file has one. A wake-up does not end the wait of a [`Conn`]. If another thread has something to send, wait in slices
//! with [`Conn::poll`], or use another adapter.
//!
//! This crate is the one dependency of an editor or an agent: it re-exports the modules of [`ide_mcp`], and
//! [`lockfile`]. [`ide_mcp_driver`] compares this adapter with the others.

mod agent;
mod conn;
mod connect;
mod readiness;
mod server;
mod sockets;
mod spawn;

pub use agent::Agent;
pub use conn::Conn;
pub use connect::connect_checked;
pub use ide_mcp_driver::{
    AgentError, AgentOptions, Bind, CallError, ConnectError, GuardMode, Guarding, Handle, HandleError,
    NotAdmitted, StartError, StartOptions, Trust, Wake, Waker,
};
pub use server::Server;
pub use spawn::spawn;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Output, Time, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
