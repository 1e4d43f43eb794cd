#![doc = include_str!("../README.md")]
//!
//! ## On its own thread
//! If your toolkit cannot wait for sockets, as most toolkits on Windows cannot, let a thread wait. The
//! toolkit's loop gets the events through a channel, and acts through the handle.
//! ```no_run
//! use ide_mcp_smol::Server;
//! use ide_mcp_smol::ide::ServerConfig;
//! use std::{sync::mpsc, thread};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut server = Server::start(ServerConfig::new("My Editor", "1.0").folder("."))?;
//! let (handle, (sender, events)) = (server.handle(), mpsc::channel());
//! let thread = thread::spawn(move || {
//!     smol::block_on(async {
//!         while !server.is_over() {
//!             let Some(event) = server.next_event().await else { continue };
//!             // Also wake the toolkit's loop here. If it has ended, nothing can answer the agents any more.
//!             if sender.send(event).is_err() {
//!                 server.shutdown();
//!             }
//!         }
//!     });
//! });
//!
//! // In the loop of the toolkit:
//! for _event in events.try_iter() { /* `handle.answer(…)` */ }
//!
//! // At its end. The server closes its connections and removes the lock file.
//! handle.shutdown();
//! # let _ = thread.join();
//! # Ok(())
//! # }
//! ```
//!
//! ## Contents
//!
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an [`ide::Server`].
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Waker`] lets another thread tell a task that a queue of yours has an entry.
//!
//! Everything happens within `next_event`, on the task that awaits it. We spawn no task, and only the set of
//! wake-ups is behind a lock. Each socket has a [`std::task::Waker`] of its own, so the server knows which
//! one is ready, and a turn for one connection makes no system call for the others. While nothing happens,
//! the reactor sleeps until the next timer of the protocol is due.
//!
//! ## What is underneath
//! These few hundred lines put sockets and timers on the reactor, and wake the task. Whatever is the same on
//! every kind of loop is in [`ide_mcp_driver`], which also compares this adapter with the others: when a
//! socket is read, how much a turn moves, how a connection ends, and when an agent tries again. Lock files
//! and the owners of sockets are in [`ide_mcp_lockfile`], and the protocol, without a socket, in [`ide_mcp`].
//!
//! You need no other dependency: this crate re-exports the modules of [`ide_mcp`], and [`lockfile`].

mod agent;
mod conn;
mod server;
mod socket;
mod sockets;
mod waiting;

pub use agent::Agent;
pub use conn::Conn;
pub use ide_mcp_driver::{
    AgentError, AgentOptions, AgentSession, Bind, CallError, ConnectError, EditorLock, GuardMode, Guarding,
    Handle, HandleError, NotAdmitted, StartError, StartOptions, Trust, Wake, Waker,
};
pub use server::Server;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Output, Time, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
