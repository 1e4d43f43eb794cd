//! The reasons for which a connection does not send a frame.

use core::fmt;

/// The reason why a frame was not sent. Nothing has changed, unless the reason is
/// [`SendError::Entropy`].
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
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotOpen => "the connection is not open yet",
            Self::Closed => "the connection is closed",
            Self::Full => "the send buffer is full: the peer does not read",
            Self::Unfinished => "a fragmented message is in progress",
            Self::TooLong => "a control frame holds at most 125 bytes",
            Self::Entropy => "the source of randomness failed",
        })
    }
}

impl core::error::Error for SendError {}
