//! RFC 6455, both roles, strict: the WebSocket layer as a machine that knows nothing above it.
//!
//! A [`Server`] or a [`Client`] is fed bytes and reports [`Event`]s; what is to be written lies in
//! [`outgoing`](crate::Wire::outgoing). No extension is ever negotiated. Who may come in is the application's
//! decision.
//!
//! # States
//!
//! ```text
//!  Server                                              Client
//!  Reading ──head complete and good──▶ Deciding        Asking ──101, all checks hold──▶ Open
//!     │                                  │    │           │
//!     │ bad head: 400 426 431 505        │    │ accept    │ other answer, 5 s, eof
//!     │ 5 s: 408                  reject │    ▼           ▼
//!     └────────────────▶ Ended ◀─────────┘   Open       Ended
//!
//!  Both
//!  Open ──our close frame──▶ Closing ──peer's close frame, 2 s after ours was written, eof──▶ Ended
//!  Open ──peer's close frame (answered), protocol error (1002 1003 1007 1008 1009), eof, silence, stalled, overflow──▶ Ended
//!
//!  Ended: `Closed` is reported once; done when everything is written, or after 2 s.
//! ```
//!
//! While Closing, messages are dropped (RFC 6455 section 5.5.1) and pings are not answered.
//!
//! # Flow control
//!
//! ```text
//!  Flowing ──send buffer at the mark──▶ Full ──room taken──▶ Full, not reading
//!     ▲                                  │                       │
//!     └────── send buffer below the mark ┴───────────────────────┘
//! ```
//!
//! | | Flowing | Full | Full, not reading |
//! | --- | --- | --- | --- |
//! | reads | yes | into the receive buffer | no |
//! | delivers | yes | after the end of the transport alone | after the end of the transport alone |
//! | sends | yes | answers, pongs and the close frame; after the end of the transport no answers | the same |
//! | ends | | after 30 s in which less than the mark was written | the same |
//!
//! The room is one message and the mark ([`Limits::message`], [`Limits::outgoing`]) behind the message in progress. A peer
//! with the same limits has no more unwritten, since it sends nothing unasked at its own mark. So of two ends that are
//! both Full one empties its send buffer into the room of the other, delivers what it has read, and reads on.

mod client;
mod close;
mod event;
mod head;
mod limits;
mod mask;
mod message;
mod output;
mod protocol_error;
mod receiver;
mod request;
mod response;
mod send_error;
mod sender;
mod server;
mod status;
mod stream;
mod utf8;

pub mod frame;

pub use client::Client;
pub use close::CloseCode;
pub use event::{Closed, Event, OwnedEvent, Upgrade};
pub use head::HeaderField;
pub use limits::Limits;
pub use protocol_error::ProtocolError;
pub use request::{Refusal, Request};
pub use response::{ClientRequest, InvalidClientRequest, ResponseError};
pub use send_error::SendError;
pub use sender::Sender;
pub use server::{AcceptError, Server};
pub use status::Status;
