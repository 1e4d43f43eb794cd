//! The limits of a WebSocket connection.

use super::frame;
use crate::Keepalive;
#[cfg(feature = "ide")]
use crate::buf::Rx;
use core::time::Duration;

/// How much a connection accepts, and how long it waits. The defaults suit an editor.
///
/// `head`, `message` and `outgoing` must not be 0. If one is, [`Client::new`](super::Client::new) fails
/// ([`InvalidClientRequest::ZeroLimit`](super::InvalidClientRequest::ZeroLimit)), and a server ends at once
/// ([`Closed::ZeroLimit`](super::Closed::ZeroLimit)).
///
/// ```
/// let mut limits = ide_mcp::ws::Limits::default();
/// limits.message = 1024 * 1024; // a megabyte is enough here
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The maximum size of the head of an opening handshake, in bytes, including its final empty line. Default 8 KiB;
    /// the real client sends less than 1 KiB. A server answers a longer head with 431.
    pub head: usize,
    /// How long the head of the opening handshake may take to arrive, counted from the creation of the connection, even
    /// if bytes keep trickling in. Default 5 s. After that a server answers 408.
    pub handshake: Duration,
    /// The maximum size of a message in bytes, with all its fragments. Default 64 MiB, because a proposed change
    /// contains a whole file. A longer message ends the connection with 1009.
    pub message: usize,
    /// How many empty fragments a message may have, not counting its last. Default 1,024: they cost work and carry no
    /// data. With more, the connection is closed with 1008.
    pub empty_fragments: u32,
    /// The high-water mark of the send buffer. Default 8 MiB. At the mark the connection sends only answers, and reads
    /// without delivering. It stops reading once it holds one message and one mark of bytes after the message in
    /// progress. So it never holds more than two messages and one mark of bytes from a peer, plus the 256 KiB of the
    /// last piece that you feed.
    pub outgoing: usize,
    /// How long the peer may take to read [`outgoing`](Limits::outgoing) bytes while at least that many wait in the
    /// send buffer. Default 30 s: a slower peer counts as suspended, and the connection ends
    /// ([`Closed::Stalled`](super::Closed::Stalled)).
    pub stalled: Duration,
    /// How long a peer may be silent before it is pinged, and before the connection ends. Default 30 s and 60 s, as in
    /// the reference editors; `None` for no keepalive.
    pub keepalive: Option<Keepalive>,
    /// How long the peer may take to answer our close frame once it is written. Default 2 s. Until it is written, this
    /// is also the longest time that may pass between two writes, and [`stalled`](Limits::stalled) applies as well.
    pub close: Duration,
    /// How long the last bytes may take to be written after the connection has ended. Default 2 s.
    pub drain: Duration,
}

impl Limits {
    /// Returns the name of the first limit that must not be 0 and is.
    pub(crate) fn first_zero(&self) -> Option<&'static str> {
        let required = [("head", self.head), ("message", self.message), ("outgoing", self.outgoing)];
        required.into_iter().find(|(_, limit)| *limit == 0).map(|(name, _)| name)
    }

    /// Returns the maximum number of bytes that a connection may have received and not delivered: the message in
    /// progress, what may follow it at the high-water mark or between two polls, and the piece that exceeds that.
    #[cfg(feature = "ide")]
    pub(crate) const fn max_received(&self) -> usize {
        let (at_the_mark, unpolled) =
            (self.read_ahead(), Rx::UNPOLLED_LIMIT.saturating_add(frame::MAX_HEADER));
        let ahead = if at_the_mark > unpolled { at_the_mark } else { unpolled };
        self.message.saturating_add(ahead).saturating_add(Rx::UNPOLLED_LIMIT - 1)
    }

    /// Returns how many bytes a connection at its high-water mark accepts after the message in progress.
    pub(super) const fn read_ahead(&self) -> usize {
        self.message.saturating_add(self.outgoing).saturating_add(frame::MAX_HEADER)
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
