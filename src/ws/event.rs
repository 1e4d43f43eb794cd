//! What happens on a WebSocket connection: as borrowed events, which need no copy, or as owned ones.

use super::{CloseCode, NotAccepted, ProtocolError, Refusal, Request};
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt;

/// What happened on a connection, borrowed from it until the next call.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client asks to open the connection (server only). It waits until you call
    /// [`Server::accept`](super::Server::accept) or [`Server::reject`](super::Server::reject).
    Upgrade(Request<'a>),
    /// The server has accepted (client only).
    Open {
        /// The sub-protocol that the server chose, if any.
        subprotocol: Option<&'a str>,
    },
    /// A whole text message.
    Text(&'a str),
    /// A whole binary message.
    Binary(&'a [u8]),
    /// A ping of at most 125 bytes. It is answered already.
    Ping(&'a [u8]),
    /// A pong of at most 125 bytes.
    Pong(&'a [u8]),
    /// The connection has ended. Comes exactly once, and last.
    Closed(Closed),
}

impl Event<'_> {
    /// Returns the event with its own data, so that you can keep it.
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

/// An [`Event`] that you can keep.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnedEvent {
    /// A client asks to open the connection, see [`Event::Upgrade`].
    Upgrade(Upgrade),
    /// The server has accepted, see [`Event::Open`].
    Open {
        /// The sub-protocol that the server chose, if any.
        subprotocol: Option<Box<str>>,
    },
    /// A text message, see [`Event::Text`].
    Text(String),
    /// A binary message, see [`Event::Binary`].
    Binary(Vec<u8>),
    /// A ping, see [`Event::Ping`].
    Ping(Box<[u8]>),
    /// A pong, see [`Event::Pong`].
    Pong(Box<[u8]>),
    /// The connection has ended, see [`Event::Closed`].
    Closed(Closed),
}

/// An opening request that owns its head.
#[derive(Clone, PartialEq, Eq)]
pub struct Upgrade(Box<[u8]>);

impl Upgrade {
    /// Returns the request.
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
///
/// [Causes and reactions](crate::guide::errors#a-connection-ended).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// The peer sent a close frame, and this side answered it.
    Remote {
        /// The code, or `None` if the frame had none (RFC 6455 calls that 1005).
        code: Option<CloseCode>,
        /// The reason, often empty.
        reason: Box<str>,
    },
    /// This side closed.
    Local {
        /// True if the peer answered with its own close frame in time.
        clean: bool,
    },
    /// The transport ended without a close frame (RFC 6455 calls that 1006): the process of the peer is gone, or the
    /// network failed.
    Abnormal,
    /// The peer broke this rule. If the connection was open, its close frame named the rule to the peer.
    ProtocolError(ProtocolError),
    /// The server refused the opening request.
    Refused(Refusal),
    /// The answer of the server did not open a WebSocket.
    NotAccepted(NotAccepted),
    /// The peer was silent for too long ([`Limits::keepalive`](super::Limits::keepalive)).
    TimedOut,
    /// The peer read less than [`Limits::outgoing`](super::Limits::outgoing) bytes within
    /// [`Limits::stalled`](super::Limits::stalled), while at least that many waited in the send buffer.
    Stalled,
    /// A mistake of the caller: it passed more bytes to [`feed`](super::Server::feed) or
    /// [`filled`](super::Server::filled) than they accept.
    InputOverflow,
    /// The source of randomness failed, so a client cannot mask its frames.
    Entropy,
    /// This limit of a server is 0, so it could receive or send nothing.
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
            Self::InputOverflow => {
                f.write_str("more bytes were fed than the connection wanted: feed only while it wants input")
            }
            Self::Entropy => f.write_str("the source of randomness failed"),
            Self::ZeroLimit(name) => write!(f, "a limit must be greater than 0: {name}"),
        }
    }
}
