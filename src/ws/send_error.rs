//! The reasons for which a connection does not send what it is asked to.

use core::fmt;

/// The reason why a frame, or the answer to an opening handshake, was not sent. Nothing has changed, unless the reason
/// is [`SendError::Entropy`].
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// An opening handshake that has not succeeded yet.
    NotOpen,
    /// A connection that has sent a close frame or has ended.
    Closed,
    /// A send buffer at the high-water mark ([`Limits::outgoing`](super::Limits::outgoing)).
    Full,
    /// A fragmented message in progress.
    Unfinished,
    /// A payload of a control frame with more than 125 bytes.
    TooLong,
    /// A failure of the source of randomness; the connection ends.
    Entropy,
    /// No opening handshake waits for [`accept`](super::Server::accept) or [`reject`](super::Server::reject).
    NoPendingRequest,
    /// The client did not offer this sub-protocol; it would end the connection (RFC 6455 section 4.1).
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
