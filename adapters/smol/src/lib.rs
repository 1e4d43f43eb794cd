//! [`ide_mcp`] in a task of smol, GPUI, tokio, or any other executor. This crate needs only `async-io`,
//! whose reactor waits.
//!
//! # An editor
//! ```no_run
//! use ide_mcp_smol::ide::kit::{Range, display_line};
//! use ide_mcp_smol::ide::tool::{Diagnostic, Diagnostics, FileDiagnostics, Severity, Tool, ToolCall};
//! use ide_mcp_smol::ide::{ServerConfig, ServerEvent};
//! use ide_mcp_smol::Server;
//! use ide_mcp_smol::rpc::ErrorObject;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tools = [Tool::OpenDiff, Tool::GetDiagnostics];
//! let mut server = Server::start(ServerConfig::new("My Editor", "1.0").folder(".").tools(tools))?;
//!
//! // A handle selects, answers and ends the editor from other threads and tasks. Here Enter ends it.
//! let handle = server.handle();
//! std::thread::spawn(move || std::io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));
//!
//! smol::block_on(async {
//!     while !server.is_over() {
//!         let Some(call) = server.next_event().await.and_then(ServerEvent::into_call) else { continue };
//!         let machine = server.machine_mut();
//!         // An error means that the agent has gone, or has cancelled the call.
//!         let _ = match call {
//!             // Show the person both texts, and answer later. The agent writes the file.
//!             ToolCall::OpenDiff(call, diff) => {
//!                 println!("proposed: {}", display_line(&diff.new_file_path, 200));
//!                 machine.answer(call, &diff.reject())
//!             }
//!             ToolCall::GetDiagnostics(call, _) => {
//!                 let todo = Diagnostic::new(Severity::Warning, Range::default(), "the page has no title");
//!                 machine.answer(call, &Diagnostics { files: vec![FileDiagnostics::new("file:///w/a.html", vec![todo])] })
//!             }
//!             other => machine.call(other).fail(ErrorObject::method_not_found("this editor does not have the tool")),
//!         };
//!     }
//! });
//! # Ok(())
//! # }
//! ```
//!
//! # A thread of its own
//! A toolkit that cannot wait for sockets, such as most of those on Windows, lets a thread wait. The loop of the toolkit
//! gets the events by a channel, and acts through the handle.
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
//!             // Here, also wake the loop of the toolkit. Without a loop there is nobody to answer.
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
//! # Contents
//!
//! - [`Agent`] is an agent: it finds its editor, attaches, calls, and attaches again.
//! - [`Conn`] is one connection, of either role, with its machine.
//! - [`Server`] is the server of an editor: the listener, the lock file, the sockets and an
//!   [`ide::Server`].
//! - [`Waker`] notifies a task from another thread that a queue of the application has an entry.
//!
//! Everything happens within `next_event`, on the task that awaits it. No task is spawned, and only
//! the set of wake-ups is behind a lock. Each socket has a [`std::task::Waker`] of its own, so the
//! server learns which socket is ready, and a turn for one connection makes no system call for the
//! others. While nothing happens, the reactor sleeps until the next timer of the protocol is due.
//!
//! # What lies below
//! These few hundred lines put sockets and timers on the reactor, and wake the task. What is the same on every kind of
//! loop lies in [`ide_mcp_driver`]: when a socket is read, how much a turn moves, how a connection ends, and when an
//! agent tries again. [`ide_mcp_lockfile`] has the files and the owners of sockets, and [`ide_mcp`] the protocol,
//! without a socket.
//!
//! This crate is the one dependency of an editor or an agent: it re-exports the modules of [`ide_mcp`], and
//! [`lockfile`]. [`ide_mcp_driver`] compares this adapter with the others.

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
