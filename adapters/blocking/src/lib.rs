#![doc = include_str!("../README.md")]
//!
//! ## Contents
//!
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an [`ide::Server`].
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine, on one thread: for command lines and
//!   tests.
//! - [`Waker`] tells a [`Server`] from another thread that a queue of yours has an entry.
//!
//! All of them wait with poll(2), which is `WSAPoll` on Windows. They have no threads of their own, except
//! for the guard of a lock file. A wake-up does not end the wait of a [`Conn`]: if another thread has
//! something to send, wait in slices with [`Conn::poll`], or use another adapter.
//!
//! ## What is underneath
//! These few hundred lines wait with poll(2), wake a waiting thread, and start the thread of [`spawn`].
//! Whatever is the same on every kind of loop is in [`ide_mcp_driver`], which also compares this adapter with
//! the others: when a socket is read, how much a turn moves, how a connection ends, and when an agent tries
//! again. Lock files and the owners of sockets are in [`ide_mcp_lockfile`], and the protocol, without a
//! socket, in [`ide_mcp`].
//!
//! You need no other dependency: this crate re-exports the modules of [`ide_mcp`], and [`lockfile`].

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
    AgentError, AgentOptions, AgentSession, Bind, CallError, ConnectError, EditorLock, GuardMode, Guarding,
    Handle, HandleError, NotAdmitted, StartError, StartOptions, Trust, Wake, Waker,
};
pub use server::Server;
pub use spawn::spawn;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Output, Time, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
