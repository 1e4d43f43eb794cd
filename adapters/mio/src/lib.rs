#![doc = include_str!("../README.md")]
//!
//! ## Contents
//!
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Server`].
//! - [`Waker`] notifies the loop from another thread that a queue of the application has an entry.
//!
//! No type of this crate polls or reads a clock, apart from [`NestedServer`]. The application waits in its `Poll`
//! until the earliest `deadline` at the latest, passes the events to `handle_event`, and then takes a `turn` of
//! each connection or server. Readiness is edge-triggered. If the budget of a turn leaves work over, the next
//! `deadline` is `now`.
//!
//! ## What lies below
//! These few hundred lines register sockets, give each its token, and set the timer of a [`NestedServer`]. What is the
//! same on every kind of loop lies in [`ide_mcp_driver`]: when a socket is read, how much a turn moves, how a
//! connection ends, and when an agent tries again. [`ide_mcp_lockfile`] has the files and the owners of sockets, and
//! [`ide_mcp`] the protocol, without a socket.
//!
//! This crate is the one dependency of an editor or an agent: it re-exports [`mio`], the modules of [`ide_mcp`],
//! and [`lockfile`]. [`ide_mcp_driver`] compares this adapter with the others.

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
