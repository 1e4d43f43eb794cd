//! Sessions of the Model Context Protocol, both roles: text in, text out, over any framing.
//!
//! The supported versions are those with a handshake, 2024-11-05 to 2025-11-25. [`Server`] and
//! [`Client`] take the messages of the peer with `receive`, write their own through an
//! [`Outbox`](crate::Outbox), and report events to the application with `poll`. They read no clock and
//! own no socket.
//!
//! Over pipes, as MCP's stdio transport has them, the outbox is [`Lines`], and this is the loop:
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
//!             // An error means that the call has ended meanwhile.
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
//! It answers every call at once, so it waits for lines alone. The examples `stdio_server` and
//! `stdio_client` wait for the [`deadline`](Server::deadline) too.
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
//! Both roles send and receive requests: either side sends `ping`, cancels, and reports progress. A
//! notification that the session does not handle itself reaches the application as method and raw
//! parameters. So does a request that the configuration forwards ([`Forward`]), with the handle by
//! which the application answers it. Version 2026-07-28, which has no session, is not supported:
//! `server/discover` is refused at once, so that a client that tries it falls back.
//!
//! | to do | call |
//! | --- | --- |
//! | pass a received text | `receive` |
//! | receive the events, and let the timers run | `poll`, until it returns `None` |
//! | answer a call | `respond`, `respond_with`, `fail`; meanwhile `progress`, `set_call_timeout` |
//! | offer prompts and resources | [`ServerConfig::context`], `set_context`; answer with `respond_with` |
//! | ask the person at the client | `Server::elicit`; `respond_with` with a [`FormAnswer`] |
//! | send a message unasked | `notify`, `request`, `cancel` |
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
