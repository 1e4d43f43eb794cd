//! The reasons why something is not sent on a connection.

use core::fmt;

/// Why something was not sent. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The opening handshake is not over.
    NotOpen,
    /// A close frame was sent, or the connection has ended.
    Closed,
    /// The send buffer is at the high-water mark ([`Limits::outgoing`](super::Limits::outgoing)).
    Full,
    /// A fragmented message is in progress.
    Unfinished,
    /// The payload of a control frame has more than 125 bytes.
    TooLong,
    /// The source of randomness failed; the connection ends.
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
