//! Why a connection did not send.

use core::fmt;

/// Why a frame, or the answer to an opening handshake, was not sent. Nothing has changed, except after
/// [`SendError::Entropy`].
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The opening handshake has not succeeded yet.
    NotOpen,
    /// The connection has sent a close frame or has ended.
    Closed,
    /// The send buffer is at the high-water mark ([`Limits::outgoing`](super::Limits::outgoing)).
    Full,
    /// A fragmented message is in progress: end it first.
    Unfinished,
    /// The payload of a control frame may have at most 125 bytes.
    TooLong,
    /// The source of randomness failed; the connection ends.
    Entropy,
    /// No opening handshake waits for [`accept`](super::Server::accept) or [`reject`](super::Server::reject).
    NoPendingRequest,
    /// The client did not offer this sub-protocol, and would end the connection (RFC 6455 section 4.1).
    NotOffered,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOpen => "the connection is not open yet: wait for `Open`",
            Self::Closed => "the connection is closed",
            Self::Full => "the send buffer is full: the peer does not read",
            Self::Unfinished => "a fragmented message is in progress: end it first",
            Self::TooLong => "a control frame holds at most 125 bytes",
            Self::Entropy => "the source of randomness failed",
            Self::NoPendingRequest => "no handshake is pending: wait for `Upgrade`",
            Self::NotOffered => {
                "the client did not offer this sub-protocol: accept one that it offers, or none"
            }
        })
    }
}

impl core::error::Error for SendError {}
