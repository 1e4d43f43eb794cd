//! What a WebSocket connection reports: lent, so that it costs no copy, or owned.

use super::{CloseCode, ProtocolError, Refusal, Request, ResponseError};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

/// Something that happened, lent until the next call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A server only: a valid request to open. Nothing goes on until
    /// [`Server::accept`](super::Server::accept) or [`Server::reject`](super::Server::reject) has decided it.
    Upgrade(Request<'a>),
    /// A client only: the server has accepted, with this sub-protocol.
    Open {
        /// One of those that were offered, or none.
        subprotocol: Option<&'a str>,
    },
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message.
    Binary(&'a [u8]),
    /// A ping, already answered; at most 125 bytes.
    Ping(&'a [u8]),
    /// A pong; at most 125 bytes.
    Pong(&'a [u8]),
    /// The end. Comes exactly once and last.
    Closed(Closed),
}

impl Event<'_> {
    /// The same, independent of the connection.
    #[must_use]
    pub fn into_owned(self) -> OwnedEvent {
        match self {
            Self::Upgrade(request) => OwnedEvent::Upgrade(Upgrade(request.head().into())),
            Self::Open { subprotocol } => OwnedEvent::Open { subprotocol: subprotocol.map(Into::into) },
            Self::Text(text) => OwnedEvent::Text(text.into()),
            Self::Binary(bytes) => OwnedEvent::Binary(bytes.into()),
            Self::Ping(bytes) => OwnedEvent::Ping(bytes.into()),
            Self::Pong(bytes) => OwnedEvent::Pong(bytes.into()),
            Self::Closed(closed) => OwnedEvent::Closed(closed),
        }
    }
}

/// [`Event`] with its own data.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedEvent {
    /// See [`Event::Upgrade`].
    Upgrade(Upgrade),
    /// See [`Event::Open`].
    Open {
        /// One of those that were offered, or none.
        subprotocol: Option<Box<str>>,
    },
    /// See [`Event::Text`].
    Text(String),
    /// See [`Event::Binary`].
    Binary(Vec<u8>),
    /// See [`Event::Ping`].
    Ping(Box<[u8]>),
    /// See [`Event::Pong`].
    Pong(Box<[u8]>),
    /// See [`Event::Closed`].
    Closed(Closed),
}

/// A request to open that owns its head.
#[derive(Clone, PartialEq, Eq)]
pub struct Upgrade(Box<[u8]>);

impl Upgrade {
    /// The request.
    #[must_use]
    pub fn request(&self) -> Request<'_> {
        Request::new(&self.0)
    }
}

impl fmt::Debug for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.request().fmt(f)
    }
}

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// The peer closed; its close frame has been answered.
    Remote {
        /// The code; `None` where the frame had none (RFC 6455 calls that 1005).
        code: Option<CloseCode>,
        /// The reason, often empty.
        reason: Box<str>,
    },
    /// We closed.
    Local {
        /// Whether the peer answered with its own close frame in time.
        clean: bool,
    },
    /// The transport ended without a close frame (RFC 6455 calls that 1006): the process is gone, or the line is.
    Abnormal,
    /// The peer broke a rule; our close frame names it.
    ProtocolError(ProtocolError),
    /// A server refused the request to open.
    Refused(Refusal),
    /// A client got an answer that opens no WebSocket.
    NotAccepted(ResponseError),
    /// The peer was silent for too long ([`Limits::keepalive`](super::Limits::keepalive)).
    TimedOut,
    /// The peer read less than [`Limits::outgoing`](super::Limits::outgoing) within
    /// [`Limits::stalled`](super::Limits::stalled), while more than that waited to be written.
    Stalled,
    /// The caller fed bytes while [`wants_input`](crate::Wire::wants_input) was false, or filled more than
    /// [`space`](crate::Wire::space) had offered.
    InputOverflow,
    /// The source of randomness failed: a client cannot mask what it sends.
    Entropy,
    /// The limit of a server with this name is 0: nothing could be received or sent.
    ZeroLimit(&'static str),
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote { code: Some(code), reason } if reason.is_empty() => {
                write!(f, "the peer closed with {code}")
            }
            Self::Remote { code: Some(code), reason } => write!(f, "the peer closed with {code}: {reason}"),
            Self::Remote { code: None, .. } => f.write_str("the peer closed"),
            Self::Local { clean: true } => f.write_str("closed"),
            Self::Local { clean: false } => f.write_str("closed; no close frame from the peer"),
            Self::Abnormal => f.write_str("the connection ended without a close frame"),
            Self::ProtocolError(error) => write!(f, "the peer broke a rule: {error}"),
            Self::Refused(refusal) => write!(f, "refused with {refusal}"),
            Self::NotAccepted(error) => write!(f, "not accepted: {error}"),
            Self::TimedOut => f.write_str("the peer has been silent for too long"),
            Self::Stalled => f.write_str("the peer read too little for too long"),
            Self::InputOverflow => f.write_str("more bytes were fed than the connection wanted"),
            Self::Entropy => f.write_str("the source of randomness failed"),
            Self::ZeroLimit(name) => write!(f, "a limit must be greater than 0: {name}"),
        }
    }
}
