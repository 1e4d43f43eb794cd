//! The limits of a WebSocket connection.

use crate::Keepalive;
use core::time::Duration;

/// What a connection takes and how long it waits. Every limit has a default that suits an editor.
///
/// `head`, `message` or `outgoing` of 0 is an error: a client is not made
/// ([`InvalidClientRequest::ZeroLimit`](super::InvalidClientRequest::ZeroLimit)), a server ends at once
/// ([`Closed::ZeroLimit`](super::Closed::ZeroLimit)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the head of a handshake, with its final empty line. Default 8 KiB: the real client sends less than
    /// 1 KiB. At it: 431.
    pub head: usize,
    /// How long a handshake may take from the first moment on; no byte prolongs it. Default 5 s. At it: 408.
    pub handshake: Duration,
    /// Bytes of a message, or of the sum of its fragments. Default 64 MiB: a proposed change carries a whole file.
    /// Above it: close code 1009.
    pub message: usize,
    /// Empty fragments that do not end their message. Default 1,024: they cost work and bring nothing. Above it:
    /// close code 1008.
    pub empty_fragments: u32,
    /// The high-water mark of the send buffer. Default 8 MiB. At it nothing but answers can be sent, and what is received
    /// is kept undelivered: one message and the mark, behind the message in progress. Then the connection stops
    /// reading. So at most two messages and the mark are held of what a peer sent.
    pub outgoing: usize,
    /// The time in which the peer has to read [`outgoing`](Limits::outgoing) bytes while that many or more wait to be
    /// written. Default 30 s: a suspended peer. At it the connection ends ([`Closed::Stalled`](super::Closed::Stalled)).
    pub stalled: Duration,
    /// Whether a silent peer is pinged, and how long it may stay silent. Default every 30 s and 60 s, as the reference
    /// editors have it; `None` for never.
    pub keepalive: Option<Keepalive>,
    /// The time in which the peer has to answer our close frame, once that was written. Default 2 s. Until then, the time
    /// from one write to the next, within [`stalled`](Limits::stalled) for each [`outgoing`](Limits::outgoing) bytes.
    pub close: Duration,
    /// How long the last bytes may take to be written once the connection has ended. Default 2 s.
    pub drain: Duration,
}

impl Limits {
    /// Returns the name of the first limit that is 0 and under which no connection can be opened.
    pub(crate) fn first_zero(&self) -> Option<&'static str> {
        let needed = [("head", self.head), ("message", self.message), ("outgoing", self.outgoing)];
        needed.into_iter().find(|(_, limit)| *limit == 0).map(|(name, _)| name)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: 8 * 1024,
            handshake: Duration::from_secs(5),
            message: 64 * 1024 * 1024,
            empty_fragments: 1024,
            outgoing: 8 * 1024 * 1024,
            stalled: Duration::from_secs(30),
            keepalive: Some(Keepalive::default()),
            close: Duration::from_secs(2),
            drain: Duration::from_secs(2),
        }
    }
}
