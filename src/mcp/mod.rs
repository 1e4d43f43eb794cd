//! Sessions of the Model Context Protocol (MCP), both roles: text in, text out, over any framing.
//!
//! You pass what the peer sends to a [`Server`] or a [`Client`] with `receive`, and get events from `poll`. The session
//! writes its own messages through an [`Outbox`](crate::Outbox). It reads no clock and owns no socket. The supported
//! versions are those with a handshake, 2024-11-05 to 2025-11-25.
//!
//! Over pipes (MCP's stdio transport) the outbox is [`Lines`], and this is the loop:
//!
//! ```no_run
//! use ide_mcp::mcp::{Implementation, Lines, RawTools, Server, ServerConfig, ServerEvent, ToolResult, ToolSpec};
//! use ide_mcp::{Clock, rpc::SessionId};
//! use std::io::{self, Write as _};
//!
//! # fn main() -> io::Result<()> {
//! let tools = RawTools(vec![ToolSpec::new("greet", "Says hello.", r#"{"type":"object"}"#)]);
//! let config = ServerConfig::new(Implementation::new("demo", "1.0"));
//! let mut server = Server::new(config, tools, SessionId::new(1));
//! let (clock, mut out) = (Clock::new(), Lines::new());
//! for line in io::stdin().lines() {
//!     let now = clock.now();
//!     server.receive(now, &line?, &mut out);
//!     while let Some(event) = server.poll(now, &mut out) {
//!         if let ServerEvent::Call { call, .. } = event {
//!             // An error means that the call has ended in the meantime.
//!             let _ = server.respond(call, &ToolResult::text("hello"), &mut out);
//!         }
//!     }
//!     io::stdout().write_all(out.outgoing())?;
//!     out.written(usize::MAX);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! This server answers every call at once, so it only waits for lines. The examples `stdio_server` and `stdio_client`
//! also wait for the [`deadline`](Server::deadline).
//!
//! ```text
//! Server                                            Client
//!  AwaitingInitialize                                Idle
//!    │ initialize answered                             │ start: initialize sent
//!    ▼                                                 ▼
//!  Initializing ── requests are served               Negotiating ──error, timeout, unknown version──▶ Failed
//!    │ notifications/initialized                       │ answer with a known version, initialized sent
//!    ▼                                                 ▼
//!  Ready ── our notifications and requests too       Ready
//!    │ drain                                           │ drain
//!    ▼                                                 ▼
//!  Draining ── open requests can be answered         Draining ── as in a server
//!    │                                                 │
//!    └── close, in any state ──▶ Closed ◀──────────────┘
//! ```
//!
//! Either side may send requests, `ping`, cancel, and report progress. If the session does not handle a notification
//! itself, you get its method and raw parameters; the same goes for requests that you [`Forward`] to yourself, with an
//! id to answer them. Version 2026-07-28 has no sessions and is not supported: `server/discover` is refused at once, so
//! that a client that tries it falls back to `initialize`.
//!
//! | to do | call |
//! | --- | --- |
//! | pass on what the peer sent | `receive` |
//! | get the events, and let the timers run | `poll`, until it returns `None` |
//! | answer a call | `respond`, `respond_with`, `fail`; meanwhile `progress`, `set_call_timeout` |
//! | offer prompts and resources | [`ServerConfig::context`], `set_context`; answer with `respond_with` |
//! | ask the person at the client | `Server::elicit`; `respond_with` with a [`FormAnswer`] |
//! | send a message of your own | `notify`, `request`, `cancel` |
//! | wait | until `deadline`, then `poll` |
//! | end the session | `drain`, `shutdown`, `close` |

mod batch;
mod client;
mod content;
pub(crate) mod context;
mod endpoint;
mod event;
mod form;
mod forward;
mod implementation;
mod inbound;
mod incoming;
mod lines;
mod listing;
mod logging;
mod outgoing;
mod params;
mod peer_fault;
mod progress;
mod root;
mod server;
mod session;
mod table;
mod timeout;
mod tools;
mod version;

pub use client::{Client, ClientConfig, Failure, ServerInfo};
pub use content::{Content, ToolResult};
pub use context::{
    Context, GetPrompt, PromptArgument, PromptMessage, PromptResult, PromptRole, PromptSpec, ReadResource,
    ResourceBody, ResourceContents, ResourceResult, ResourceSpec, ResourceTemplate,
};
pub use endpoint::Endpoint;
pub use event::{ClientEvent, ServerEvent};
pub use form::{FieldChoice, FieldError, FieldFault, FieldKind, FieldValue, Form, FormAnswer, FormField};
pub use forward::Forward;
pub use implementation::Implementation;
pub use incoming::CallEnd;
pub use lines::Lines;
pub use listing::List;
pub use logging::LogLevel;
pub use outgoing::Outcome;
pub use peer_fault::PeerFault;
pub use progress::Progress;
pub use root::Root;
pub use server::{Server, ServerConfig};
pub use timeout::Timeout;
pub use tools::{RawCall, RawTools, Served, ToolSpec, Tools};
pub use version::ProtocolVersion;
