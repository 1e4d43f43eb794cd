#![doc = include_str!("../README.md")]
//!
//! ## Contents
//!
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an [`ide::Server`].
//! - [`NestedServer`] is such a server behind one descriptor, for loops that are not built on `mio`.
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Waker`] tells your loop from another thread that a queue of yours has an entry.
//!
//! Apart from [`NestedServer`], nothing here polls or reads a clock. You wait in your `Poll`, but no longer
//! than until the earliest `deadline`, pass the events to `handle_event`, and then take a `turn` of each
//! connection or server. Readiness is edge-triggered. If a turn stops at its budget and leaves work, the next
//! `deadline` is `now`.
//!
//! ## What is underneath
//! These few hundred lines register sockets, give each its token, and set the timer of a [`NestedServer`].
//! Whatever is the same on every kind of loop is in [`ide_mcp_driver`], which also compares this adapter with
//! the others: when a socket is read, how much a turn moves, how a connection ends, and when an agent tries
//! again. Lock files and the owners of sockets are in [`ide_mcp_lockfile`], and the protocol, without a
//! socket, in [`ide_mcp`].
//!
//! You need no other dependency: this crate re-exports [`mio`], the modules of [`ide_mcp`], and [`lockfile`].

mod agent;
mod conn;
mod nested;
mod server;
mod sockets;
#[cfg(not(windows))]
mod timer;
mod waker;

pub use agent::Agent;
pub use conn::Conn;
pub use ide_mcp_driver::{
    AgentError, AgentOptions, AgentSession, Bind, ConnectError, EditorLock, GuardMode, Guarding, Handle,
    HandleError, NotAdmitted, StartError, StartOptions, Trust, Wake, address_of,
};
pub use nested::NestedServer;
pub use server::Server;
pub use waker::Waker;

#[doc(no_inline)]
pub use ide_mcp::{Clock, Keepalive, Machine, Output, Time, ide, mcp, rpc, ws};
#[doc(no_inline)]
pub use ide_mcp_lockfile as lockfile;
#[doc(no_inline)]
pub use mio;
