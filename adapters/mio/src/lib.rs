//! [`ide_mcp`] in an application's own `mio::Poll`, on the application's own thread; and in loops that wait
//! for one descriptor, or draw frames.
//!
//! # An editor
//! ```no_run
//! use ide_mcp_mio::ide::kit::{Range, display_line};
//! use ide_mcp_mio::ide::tool::{Diagnostic, Diagnostics, FileDiagnostics, Severity, Tool, ToolCall};
//! use ide_mcp_mio::ide::ServerConfig;
//! use ide_mcp_mio::rpc::ErrorObject;
//! use ide_mcp_mio::{Clock, Server, Waker, mio};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut poll = mio::Poll::new()?;
//! let tools = [Tool::OpenDiff, Tool::GetDiagnostics];
//! let editor = ServerConfig::new("My Editor", "1.0").folder(".").tools(tools);
//! let mut server = Server::start(editor, poll.registry(), mio::Token(1))?;
//!
//! // A handle selects, answers and ends the editor from other threads. Here Enter ends it.
//! let handle = server.handle(&Waker::new(poll.registry(), mio::Token(0))?);
//! std::thread::spawn(move || std::io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));
//!
//! let (clock, mut events) = (Clock::new(), mio::Events::with_capacity(64));
//! while !server.is_over() {
//!     let wait = clock.until(server.deadline(clock.now()));
//!     match poll.poll(&mut events, wait) {
//!         Err(error) if error.kind() != std::io::ErrorKind::Interrupted => return Err(error.into()),
//!         _ => {}
//!     }
//!     for event in &events {
//!         server.handle_event(event);
//!     }
//!     server.turn(clock.now(), |machine, event| {
//!         let Some(call) = event.into_call() else { return };
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
//!     });
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`NestedServer`] is for a loop without a `Poll`: GLib, Qt, libuv, calloop, or frames.
//!
//! # Contents
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
//! # What lies below
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
