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
//!    │ drain                                           │ drain
//!    ▼                                                 ▼
//!  Draining ── what was asked may be answered        Draining ── here as well
//!    │                                                 │
//!    └── close, in any state ──▶ Closed ◀──────────────┘
//! ```
//!
//! Both roles ask and are asked: either side sends `ping`, cancels, and reports progress. What this module does not
//! model goes through as method and raw parameters, each request with the handle by which it is answered, so that an
//! application can serve or forward it. It does not speak 2026-07-28, which has no session: `server/discover` is refused
//! at once, so that a client that tries it falls back.
//!
//! | to do | call |
//! | --- | --- |
//! | say what came, or that time passed | `receive`, `tick` |
//! | find out what happened | `poll_event`, until it returns `None` |
//! | answer a call | `respond`, `respond_with`, `fail`; meanwhile `progress`, `set_call_timeout` |
//! | speak first | `notify`, `request`, `cancel` |
//! | know when to come back | `deadline` |
//! | end it | `drain`, `shutdown`, `close` |

mod batch;
mod client;
mod content;
mod event;
mod forward;
mod implementation;
mod inbound;
mod incoming;
mod listing;
mod logging;
mod outgoing;
mod params;
mod peer_fault;
mod progress;
mod server;
mod session;
mod session_methods;
mod sorted;
mod table;
mod timeout;
mod tools;
mod version;

pub use client::{Client, ClientConfig, Failure, ServerInfo};
pub use content::{Content, ToolResult};
pub use event::Event;
pub use forward::Forward;
pub use implementation::Implementation;
pub use incoming::CallEnd;
pub use listing::List;
pub use logging::LogLevel;
pub use outgoing::Outcome;
pub use peer_fault::PeerFault;
pub use progress::Progress;
pub use server::{Server, ServerConfig};
pub use timeout::Timeout;
pub use tools::{RawCall, RawTools, ToolSpec, Tools};
pub use version::ProtocolVersion;
