//! What all adapters of ide-mcp share, and what you build on if you write another one: a connection on one
//! socket, and the server of an editor, without a way to wait.
//!
//! If your program only needs an adapter, use `ide-mcp-mio`, `ide-mcp-smol` or `ide-mcp-blocking`. Each of
//! them adds a [`Transport`] and its own way to wait; everything else is here.
//!
//! | module | contents |
//! | --- | --- |
//! | sockets | [`Link`] moves bytes between a socket and a machine ([`Machine`](ide_mcp::Machine)) that it borrows for each step. [`Conn`] is a link that owns its machine. A socket is any type that reads and writes without blocking and can [shut its write side down](Shutdown). |
//! | waiting | [`WakeSet`] collects the wake-ups of sockets and other threads for a loop that waits, [`Next`] is what a step of such a loop returns, and [`Bell`] ends the wait of a loop that waits for sockets only. |
//! | agent | [`AgentSession`]: the search for the editor, the attempts to attach, and the events of an agent. |
//! | server | [`Server`]: where to listen ([`Bind`]), how many connections to accept at a time, how many bytes a turn reads and writes, how long closed connections linger, the lock file and its guard, and the order of the shutdown. |
//!
//! [`ide::Server`](ide_mcp::ide::Server) decides what a message means and whom it admits. This crate has no
//! protocol, no clock and no poll: you pass the time, and report when a socket may be ready.
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
//! All three take the same options ([`ServerConfig`](ide_mcp::ide::ServerConfig)) and return the same events
//! ([`ServerEvent`](ide_mcp::ide::ServerEvent)). Their agents return
//! [`ClientEvent`](ide_mcp::ide::ClientEvent)s, and an [`AgentError`] when they end.
//!
//! # Writing another adapter
//! Implement [`Transport`] and call [`Server::turn`]. If your loop learns of readiness only through wakers,
//! use those of a [`WakeSet`] and call [`Server::next`]. If your loop is level-triggered, as poll(2) is, ask
//! [`Server::awaited`] what to wait for.

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
