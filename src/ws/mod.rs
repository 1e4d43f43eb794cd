//! WebSockets (RFC 6455), both roles: strict, and independent of the protocol above.
//!
//! You feed a [`Server`] or a [`Client`] bytes, and it gives you [`Event`]s and bytes to write. You decide which
//! clients to accept. Extensions are never negotiated.
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
//! While Closing, the machine drops messages (RFC 6455 section 5.5.1) and does not answer pings.
//!
//! # Flow control
//!
//! ```text
//!  Flowing ──send buffer at the mark──▶ Full ──room full───▶ Full, not reading
//!     ▲                                  │                       │
//!     └────── send buffer below the mark ┴───────────────────────┘
//! ```
//!
//! | | Flowing | Full | Full, not reading |
//! | --- | --- | --- | --- |
//! | reads | yes | into the receive buffer | no |
//! | delivers | yes | only after the end of the transport | only after the end of the transport |
//! | sends | yes | answers, pongs and the close frame; after the end of the transport no answers | as Full |
//! | ends | | after 30 s in which less than the mark was written | as Full |
//!
//! *Mark* is the high-water mark of the send buffer ([`Limits::outgoing`]). *Room* is space in the receive buffer,
//! after the message in progress, for one message ([`Limits::message`]) and one mark of bytes. A peer with the same
//! limits has at most this many bytes unwritten, because at its own mark it sends only answers. So if both ends are
//! Full, one of them can write its whole send buffer into the room of the other. Then it is no longer Full, delivers
//! the messages it has read, and reads on.

mod client;
mod close;
mod connection;
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
pub use connection::Connection;
pub use event::{Closed, Event, OwnedEvent, Upgrade};
pub use head::HeaderField;
pub use limits::Limits;
pub use protocol_error::ProtocolError;
pub use request::{Refusal, Request};
pub use response::{ClientRequest, InvalidClientRequest, NotAccepted};
pub use send_error::SendError;
pub use sender::{Part, Sender};
pub use server::Server;
pub use status::Status;
#[cfg(feature = "ide")]
pub(crate) use {
    mask::{Masked, Masking, Unmasked},
    output::Output,
};
