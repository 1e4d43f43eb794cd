//! Sessions of the Model Context Protocol, both roles: text in, text out, over any framing.
//!
//! The versions with a handshake are spoken, 2024-11-05 to 2025-11-25. [`Server`] and [`Client`] take the messages of
//! the peer with `receive`, write theirs through an [`Outbox`](crate::Outbox), and report what concerns the
//! application with `poll_event`. They read no clock and own no socket.
//!
//! ```text
//! Server                                            Client
//!  AwaitingInitialize                                Idle
//!    │ initialize answered                             │ start: initialize sent
//!    ▼                                                 ▼
//!  Initializing ── requests are served               Negotiating ──error, timeout, unknown version──▶ Failed
//!    │ notifications/initialized                       │ answer with a known version, initialized sent
//!    ▼                                                 ▼
//!  Ready ── and may be notified and asked            Ready
//!    │ drain                                           │
//!    ▼                                                 │
//!  Draining ── open calls may be answered              │
//!    │                                                 │
//!    └── close, in any state ──▶ Closed ◀──────────────┘
//! ```
//!
//! Both roles are asked and ask: either side sends `ping`, and what this module does not model goes through as method
//! and raw parameters. It does not speak 2026-07-28, which has no session: `server/discover` is refused at once, so
//! that a client that tries it falls back. Batches, progress and pagination are not handled.
//!
//! | to do | call |
//! | --- | --- |
//! | say what came, or that time passed | `receive`, `tick` |
//! | find out what happened | `poll_event`, until it returns `None` |
//! | answer a call | `respond`, `fail` |
//! | speak first | `notify`, `request`, `cancel` |
//! | know when to come back | `deadline` |
//! | end it | `close` |

pub mod client;
mod content;
mod implementation;
mod params;
pub mod server;
mod session;
mod timeout;
mod tools;
mod version;

pub use client::{Client, ClientConfig, ClientEvent, Failure, ServerInfo};
pub use content::{Content, ToolResult};
pub use implementation::Implementation;
pub use server::{CallEnd, Server, ServerConfig, ServerEvent};
pub use session::Outcome;
pub use timeout::Timeout;
pub use tools::{Patience, RawCall, RawTools, ToolSpec, Tools};
pub use version::ProtocolVersion;
