#![doc = include_str!("../README.md")]
//!
//! ## Contents
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
//! ## What lies below
//! These few hundred lines wait by poll(2), ring the bell of a waiting thread, and start the thread of [`spawn`]. What
//! is the same on every kind of loop lies in [`ide_mcp_driver`]: when a socket is read, how much a turn moves, how a
//! connection ends, and when an agent tries again. [`ide_mcp_lockfile`] has the files and the owners of sockets, and
//! [`ide_mcp`] the protocol, without a socket.
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
    AgentError, AgentOptions, AgentSession, Bind, CallError, ConnectError, EditorLock, GuardMode, Guarding,
    Handle, HandleError, NotAdmitted, StartError, StartOptions, Trust, Wake, Waker,
};
pub use server::Server;
pub use spawn::spawn;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Output, Time, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
