//! Let coding agents such as Claude Code attach to your editor. You feed bytes in and get events out; the sockets and
//! the loop stay yours. (The program `ide-mcp` is the crate [`ide-mcp-cli`](https://docs.rs/crate/ide-mcp-cli).)
//!
//! # An editor
//!
//! Most editors depend only on an adapter: it owns the sockets and re-exports this crate. This is a whole editor with
//! `ide-mcp-blocking`: it prints each proposal, and a person decides.
//!
//! ```rust,ignore
//! // examples/minimal_server.rs
//! use ide_mcp_blocking::ide::kit::{display_line, display_safe_lines};
//! use ide_mcp_blocking::ide::tool::{Tool, ToolCall};
//! use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
//! use ide_mcp_blocking::spawn;
//! use std::{error::Error, io, sync::mpsc, time::Duration};
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let (sender, events) = mpsc::channel();
//!     let editor = ServerConfig::new("minimal", "1.0").folder(".").tools([Tool::OpenDiff]);
//!     // The server has a thread of its own, so no connection is lost while the person reads.
//!     let server = spawn(editor, move |event| drop(sender.send(event)))?;
//!     println!("Run `claude --ide` in this folder, and let it edit a file.");
//!     for event in events {
//!         let ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } = event else { continue };
//!         let (path, text) = (&diff.new_file_path, &diff.new_file_contents);
//!         println!("{}\n{}\nAccept? [y/N]", display_line(path, 200), display_safe_lines(text));
//!         let mut answer = String::new();
//!         if io::stdin().read_line(&mut answer)? == 0 {
//!             break;
//!         }
//!         // The agent writes the file.
//!         server.answer(call, if answer.trim() == "y" { diff.accept() } else { diff.reject() })?;
//!     }
//!     server.end(Duration::from_secs(5));
//!     Ok(())
//! }
//! ```
//!
//! | your loop | adapter | how |
//! | --- | --- | --- |
//! | none: a thread may block | `ide-mcp-blocking` | `Server::start`, `next_event()` |
//! | one that cannot wait for sockets: winit, crossterm, ratatui, iced, a plugin in somebody else's loop; a GUI on Windows | `ide-mcp-blocking` | `spawn` a thread; use its `Handle` from any thread |
//! | tokio, smol, async-io, GPUI | `ide-mcp-smol` | `next_event().await` in a task, or on a thread of its own |
//! | one that waits for descriptors: GLib, GTK, Qt, libuv, calloop, polling | `ide-mcp-mio` | `NestedServer`: wait for its one descriptor, then `dispatch` |
//! | frames: egui, bevy, imgui, a game | `ide-mcp-mio` | `NestedServer::dispatch` in each frame |
//! | that of an editor not written in Rust | `ide-mcp sidecar` | a process that exchanges lines of JSON; Neovim, Vim and Emacs have plugins |
//! | your own, on mio | `ide-mcp-mio` | `Server` in your `Poll` |
//! | that of an editor in C, C++, or a language that calls C | `ide-mcp-capi` | a C library: wait for its descriptor, or pass it the bytes of your sockets |
//! | none of these | `ide-mcp` | the state machines |
//!
//! [`guide::embedding`] has the code for each.
//!
//! # An agent
//!
//! It finds the editor of its folder, attaches, lists the tools, and calls one:
//!
//! ```rust,ignore
//! // examples/agent.rs
//! use ide_mcp_blocking::ide::kit::display_safe;
//! use ide_mcp_blocking::ide::tool::GetDiagnostics;
//! use ide_mcp_blocking::{Agent, AgentOptions};
//! // …
//! let mut agent = Agent::attach(AgentOptions::new("example-agent", "1.0"))?;
//! // …
//! for tool in agent.list_tools()? {
//!     println!("{}: {}", display_safe(&tool.name), display_safe(&tool.description));
//! }
//! for file in agent.call_tool(&GetDiagnostics::default())?.files {
//!     for problem in file.diagnostics {
//!         println!("{}: {}", display_safe(&file.uri), display_safe(&problem.message));
//!     }
//! }
//! agent.detach();
//! ```
//!
//! # Bytes in, events and bytes out
//!
//! Inside every adapter is a state machine without sockets, clock or threads. You feed it bytes, and poll it for what
//! to do next. Here an agent connects and proposes a change, and the editor accepts it:
//!
//! ```
//! use ide_mcp::ide::discovery::AuthToken;
//! use ide_mcp::ide::tool::{Tool, ToolCall};
//! use ide_mcp::ide::{Server, ServerConfig, ServerEvent};
//! use ide_mcp::{Output, Time};
//!
//! // What an agent sends: the opening request with the token, and two frames with masks of zero, to be readable here.
//! const HELLO: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:41111\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
//!     Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\
//!     X-Claude-Code-Ide-Authorization: 550e8400-e29b-41d4-a716-446655440000\r\n\r\n";
//! const INITIALIZE: &[u8] = b"\x81\xfe\0\x96\0\0\0\0{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":\
//!     {\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"agent\",\"version\":\"1\"}}}";
//! const CALL: &[u8] = b"\x81\xfe\0\xab\0\0\0\0{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":\
//!     {\"name\":\"openDiff\",\"arguments\":{\"old_file_path\":\"/a\",\"new_file_path\":\"/a\",\
//!     \"new_file_contents\":\"Hi\",\"tab_name\":\"a\"}}}";
//!
//! let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
//! let config = ServerConfig::new("my editor", "1.0").listening(41111, token).tools([Tool::OpenDiff]);
//! let (mut server, now) = (Server::new(config), Time::ZERO);
//!
//! let conn = server.connect(now);
//! server.feed(now, conn, &[HELLO, INITIALIZE, CALL].concat());
//! match server.poll(now) {
//!     Output::Event(ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. }) => {
//!         server.answer(call, &diff.accept()).unwrap();
//!     }
//!     other => panic!("{other:?}"),
//! }
//! let Output::Write { bytes, .. } = server.poll(now) else { panic!("nothing to write") };
//! assert!(bytes.starts_with(b"HTTP/1.1 101 Switching Protocols\r\n"));
//! assert!(bytes.ends_with(b"\x81\x6f{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":\
//!     [{\"type\":\"text\",\"text\":\"FILE_SAVED\"},{\"type\":\"text\",\"text\":\"Hi\"}]}}"));
//! let n = bytes.len();
//! server.written(conn, n);
//! assert!(matches!(server.poll(now), Output::Wait(Some(_))));
//! ```
//!
//! [`ide::Server`] shows the loop that does this with real sockets, in 20 lines. You drive all machines of [`ide`] and
//! [`ws`] in this way: [`Output`] says what to do next and has six rules for your loop, and [`Machine`] has the eleven
//! laws that you can rely on. A session of [`mcp`] takes whole messages instead of bytes, and writes its own to an
//! [`Outbox`].
//!
//! | machine | what it is | what you feed it |
//! | --- | --- | --- |
//! | [`ide::Server`] | an editor with all its agents: who may connect, tools, diffs, selection, mentions, limits | the bytes of each socket |
//! | [`ide::Client`] | an agent: its calls, and what the editor pushes | bytes |
//! | [`mcp::Server`], [`mcp::Client`] | one session of MCP over WebSocket or any [`Outbox`]: handshake, calls, cancellation, progress, deadlines | the text of each message |
//! | [`ws::Server`], [`ws::Client`] | RFC 6455 alone, without serde: handshake, frames, ping, close | bytes |
//!
//! [`rpc`] reads and writes JSON-RPC for the sessions. No machine uses a file or an environment variable; clients draw
//! random bytes from a source that you pass in.
//!
//! [`guide`] goes on from here: [your first editor](guide::first_editor), [diffs](guide::diffs),
//! [selections](guide::selections), [problems](guide::problems), [prompts, resources, forms](guide::context),
//! [tests](guide::testing), [security](guide::safety), [errors and what to do then](guide::errors), and [the
//! protocol](guide::protocol) as real clients speak it.
//!
//! # Features
//!
//! - `std` (default): [`Clock`]; sessions write JSON straight into the send buffer.
//! - `ide` (default): module [`ide`]; implies `mcp`.
//! - `simd`: unmasks frames and checks UTF-8 with the widest vectors of the processor, chosen at run time; brings
//!   fearless_simd and simdutf8, implies `std`, and needs Rust 1.89.
//! - `mcp`: modules [`mcp`] and [`rpc`]; brings serde and serde_json.
//! - `testing`: module `testing`, with which we test this crate and you can test your program; brings arbitrary, and
//!   implies `std`.
//!
//! Features add API and never change behavior. The crate is `no_std` and needs `alloc`.
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
mod pass;
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
pub use machine::{Machine, Output};
#[cfg(feature = "mcp")]
pub use outbox::{Outbox, To};
#[cfg(feature = "std")]
pub use time::Clock;
pub use time::Time;
