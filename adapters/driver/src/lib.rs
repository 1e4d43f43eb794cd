//! The code that all adapters of ide-mcp share, and that a new adapter can build on: a connection on
//! one socket, and the server of an editor, without a way to wait.
//!
//! An application uses `ide-mcp-mio`, `ide-mcp-smol` or `ide-mcp-blocking`. Each adapter has a
//! [`Transport`] and its own way to wait. This crate has all other code of an adapter.
//!
//! | module | contents |
//! | --- | --- |
//! | sockets | [`Link`] moves the bytes between a socket and a machine ([`Machine`](ide_mcp::Machine)) that it borrows in each step. [`Conn`] is a link that owns its protocol state machine. A socket is any type that reads, writes and can [shut its write side down](Shutdown); it does not block. |
//! | waiting | [`Bell`] ends the wait of a loop for sockets. [`WakeSet`] collects the wake-ups of sockets and other threads for a loop that waits, and [`Next`] is the outcome of a step of such a loop. |
//! | agent | [`AgentSession`]: the search for the editor, the attempts to attach, and the events of an agent. |
//! | server | [`Server`]: the address of the listener ([`Bind`]), the number of connections that are accepted at a time, the number of bytes that a turn reads and writes, the lingering of closed connections, the lock file and its guard, and the order of the shutdown. |
//!
//! The [`ide::Server`](ide_mcp::ide::Server) decides about messages and about admission. This crate has
//! no protocol, no clock and no poll: the caller passes the time, and reports when a socket can be
//! ready.
//!
//! # The adapters
//! | | `ide-mcp-mio` | `ide-mcp-smol` | `ide-mcp-blocking` |
//! | --- | --- | --- | --- |
//! | who waits | the application, in its `Poll` | a task, on the reactor of `async-io` | the calling thread, in poll(2) |
//! | threads | none; on Windows that of a `NestedServer` | that of the reactor | that of the guard of a lock file |
//! | a turn | `handle_event` for each event, then `turn(now, \|machine, event\| …)` | `next_event().await` | `next_event()`, or `poll(at_most)` |
//! | the time | the application's: `deadline(now)` | its own clock: `now()` | its own clock: `now()` |
//! | another thread | `Waker::new(registry, token)` | `waker()`; after a wake `next_event` returns `None` | `waker()`; after a wake `next_event` returns `None` |
//! | an agent | `Agent`: `handle_event` for each event, then `next_event(now)` until `None` | `Agent`: `attach(options).await`, `call_tool(&arguments).await` | `Agent`: `attach(options)`, `call_tool(&arguments)` |
//! | one connection | `Conn`: `handle_event`, `turn` | `Conn`: `next_event().await` | `Conn`: `next_event()`, `poll(at_most)`; no waker |
//! | connections | 1,022 | as many as there are file descriptors | as many as there are file descriptors |
//! | the same in all | `Server::start`, `bind`, `handle`, `machine`, `machine_mut`, `lock_file`, `lock_file_mut`, `local_addr`, `shutdown`, `is_over`; `Agent::session`, `client_mut`, `is_over`; `Conn::machine`, `machine_mut`, `error`, `is_over` | | |
//!
//! All three return the events of the editor ([`ServerEvent`](ide_mcp::ide::ServerEvent)), and take its
//! options ([`ServerConfig`](ide_mcp::ide::ServerConfig)). Their agents return the events of a client
//! ([`ClientEvent`](ide_mcp::ide::ClientEvent)), and the end of an agent is an [`AgentError`].
//!
//! # Another adapter
//! A new adapter implements [`Transport`] and calls [`Server::turn`]. An adapter that learns of
//! readiness only through wakers uses the wakers of a [`WakeSet`], and calls [`Server::next`]. An adapter that waits by
//! level, as poll(2) does, asks [`Server::awaited`] for what to wait for.

mod agent;
mod server;
mod socket;
mod sync;
mod waiting;

pub use agent::{
    AgentError, AgentOptions, AgentSession, AgentStep, CallError, ConnectError, NotAdmitted, Trust,
    address_of,
};
pub use ide_mcp_lockfile::GuardMode;
pub use server::{
    Bind, EditorLock, Guarding, Handle, HandleError, RETRY, Server, StartError, StartOptions, Transport, Wake,
};
pub use socket::{BUDGET, Conn, Link, Shutdown, refuse_itself};
pub use waiting::{Bell, Next, Readiness, WakeSet, Waker};

/// The code of the README, which is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
