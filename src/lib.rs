//! The protocol by which a coding agent on the command line (Claude Code, and others with the same
//! protocol) attaches to an editor: both sides, as sans-IO state machines, which any event loop can drive.
//!
//! # An editor
//!
//! An application with a usual loop needs an adapter, which re-exports this crate: `ide-mcp-blocking` here.
//!
//! ```rust,ignore
//! // examples/minimal_server.rs
//! use ide_mcp_blocking::ide::{ServerEvent, Tool, ToolCall};
//! use ide_mcp_blocking::{EditorOptions, Connection};
//! // …
//! // Add `Tool::GetDiagnostics` only if the editor knows problems.
//! let tools = [Tool::OpenDiff];
//! let mut server = Connection::start(EditorOptions::new("minimal", "1.0").folder(".").tools(tools))?;
//! // …
//! while !server.is_over() {
//!     let Some(call) = server.next_event().and_then(ServerEvent::into_call) else { continue };
//!     let host = server.machine_mut();
//!     let _ = match call {
//!         ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
//!         other => host.call(other).fail(-32601, "this editor does not have the tool"),
//!     };
//! }
//! ```
//!
//! # An agent
//!
//! ```rust,ignore
//! // examples/agent.rs
//! use ide_mcp_blocking::ide::{GetDiagnostics, display_safe};
//! use ide_mcp_blocking::{Agent, AgentOptions};
//! // …
//! let mut agent = Agent::attach(AgentOptions::new("example-agent", "1.0"))?;
//! // …
//! for tool in agent.list_tools()? {
//!     println!("{}: {}", display_safe(&tool.name), display_safe(&tool.description));
//! }
//! // …
//! agent.detach();
//! ```
//!
//! # Your loop
//!
//! | your loop | adapter | how |
//! | --- | --- | --- |
//! | none: a thread can wait | `ide-mcp-blocking` | `Connection::start`, `next_event()` |
//! | one that cannot wait for sockets: winit, crossterm, ratatui, iced, a plug-in; a GUI on Windows | `ide-mcp-blocking` | `spawn` a thread; a `Handle` from any thread |
//! | tokio, smol, async-io, GPUI | `ide-mcp-smol` | `next_event().await` in a task, or on a thread of its own |
//! | one that waits for descriptors: GLib, GTK, Qt, libuv, calloop, polling | `ide-mcp-mio` | `NestedServer`: one descriptor, `dispatch` |
//! | frames: egui, bevy, imgui, a game | `ide-mcp-mio` | `NestedServer::dispatch` in each frame |
//! | an editor that is not written in Rust | `ide-mcp sidecar` | a process that exchanges lines of JSON; plugins for Neovim, Vim and Emacs |
//! | your own, on mio | `ide-mcp-mio` | `Connection` in your `Poll` |
//! | one in C, C++, or a language that calls C | `ide-mcp-capi` | a C library: one descriptor, or bytes |
//! | none of these | `ide-mcp` | the state machines |
//!
//! [`guide::embedding`] has each of them with its code.
//!
//! # The state machines
//!
//! ```text
//!  ide::Server ─ ide::Connection ┬ ws::Server    RFC 6455                 the editor
//!                          └ mcp::Server ─ rpc  JSON-RPC 2.0
//!
//!              ide::Client ┬ ws::Client                             the agent
//!                          └ mcp::Client ─ rpc
//! ```
//!
//! No machine of this crate uses a socket, a file, a clock or an environment variable. A client draws
//! random bytes from a source that the application passes in. The application hands in bytes and time,
//! and takes out events and bytes, through two traits: [`Wire`] is the interface of a socket,
//! [`Machine`] is the interface of a loop. Ten laws hold for every machine; they are listed at [`Wire`].
//!
//! | layer | contains | input |
//! | --- | --- | --- |
//! | [`ide::Server`] | all agents of an editor: limits, selection, mentions; its documentation has the loop | bytes of each socket, time |
//! | [`ide::Connection`], [`ide::Client`] | one connection of the dialect: admission of clients, tools, diffs, notifications | bytes, time |
//! | [`mcp::Server`], [`mcp::Client`] | one session of MCP, over WebSocket or any [`Outbox`]: handshake, calls, cancellation, progress, deadlines | texts, time |
//! | [`rpc`] | the classification of JSON-RPC texts, ids, the writing of messages | texts |
//! | [`ws::Server`], [`ws::Client`] | RFC 6455 alone, without serde: handshake, frames, ping, close | bytes, time |
//!
//! A loop takes these steps for each machine: it reads, passes the time, takes the events, writes, and
//! waits.
//!
//! ```
//! use ide_mcp::{Machine, Time, Wire};
//! use std::io::{ErrorKind, Read, Write};
//!
//! /// Takes one turn for a non-blocking socket, and returns the deadline of the machine. Until the machine is done, take
//! /// the next turn when the socket is ready, or at the deadline.
//! fn turn<M: Machine + Wire>(
//!     machine: &mut M,
//!     socket: &mut (impl Read + Write),
//!     now: Time,
//!     mut handle: impl FnMut(&mut M, M::Event),
//! ) -> Option<Time> {
//!     while machine.wants_input() {
//!         match socket.read(machine.space()) {
//!             Ok(0) => machine.feed_eof(now),
//!             Ok(n) => machine.filled(now, n),
//!             Err(error) if error.kind() == ErrorKind::WouldBlock => break,
//!             Err(error) if error.kind() == ErrorKind::Interrupted => {}
//!             Err(_) => machine.feed_eof(now),
//!         }
//!     }
//!     machine.tick(now);
//!     while let Some(event) = machine.poll_event() {
//!         handle(machine, event);
//!     }
//!     while !machine.outgoing().is_empty() {
//!         match socket.write(machine.outgoing()) {
//!             Ok(n) if n > 0 => machine.sent(n),
//!             Err(error) if error.kind() == ErrorKind::WouldBlock => break,
//!             Err(error) if error.kind() == ErrorKind::Interrupted => {}
//!             // The rest cannot be written; the next turn returns the last events.
//!             Ok(_) | Err(_) => {
//!                 let rest = machine.outgoing().len();
//!                 machine.feed_eof(now);
//!                 machine.sent(rest);
//!             }
//!         }
//!     }
//!     machine.deadline()
//! }
//! ```
//!
//! The loop of an [`ide::Server`] has one more step: the host names each connection that has new output.
//!
//! [`guide`] contains the pages beside the reference: [embedding](guide::embedding), [prompts, resources and
//! forms](guide::agent), [language servers](guide::lsp), [errors and the reactions to them](guide::errors),
//! [questions](guide::questions), [the evidence](guide::evidence), and [the protocol row by
//! row](guide::conformance).
//!
//! # Features
//!
//! - `std` (default): [`Clock`]; sessions write JSON straight into the send buffer.
//! - `ide` (default): module [`ide`]; implies `mcp`.
//! - `simd`: unmasks frames and checks UTF-8 with the widest vectors of the processor, chosen at run
//!   time; brings fearless_simd and simdutf8, needs `std` and Rust 1.89.
//! - `mcp`: modules [`mcp`] and [`rpc`]; brings serde and serde_json.
//! - `testing`: module `testing`, the tools with which this crate is tested, for tests of other crates;
//!   brings arbitrary, and needs `std`.
//!
//! A feature adds API and never changes behavior. The crate is `no_std` and needs `alloc`.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![warn(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]
// The documentation above links to items of these features.
#![cfg_attr(not(all(feature = "std", feature = "ide")), allow(rustdoc::broken_intra_doc_links))]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod buf;
mod keepalive;
mod machine;
#[cfg(feature = "mcp")]
mod outbox;
mod output;
mod text;
mod time;

pub mod guide;
#[cfg(feature = "ide")]
pub mod ide;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "mcp")]
pub mod rpc;
#[cfg(feature = "testing")]
pub mod testing;
pub mod ws;

pub use keepalive::Keepalive;
pub use machine::{Machine, Wire};
#[cfg(feature = "mcp")]
pub use outbox::{Outbox, OutboxClosed, To};
pub use output::{Output, Polled};
#[cfg(feature = "std")]
pub use time::Clock;
pub use time::Time;

/// The README, whose code the doc tests compile.
#[cfg(all(doctest, feature = "std", feature = "ide"))]
#[doc = include_str!("../README.md")]
struct Readme;
