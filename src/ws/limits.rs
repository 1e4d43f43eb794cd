//! The limits of a WebSocket connection.

use super::frame;
use crate::Keepalive;
#[cfg(feature = "ide")]
use crate::buf::Rx;
use core::time::Duration;

/// The limits of a connection: sizes and times. Every limit has a default that suits an editor.
///
/// `head`, `message` or `outgoing` of 0 is an error: [`Client::new`](super::Client::new) fails
/// ([`InvalidClientRequest::ZeroLimit`](super::InvalidClientRequest::ZeroLimit)), and a server ends at
/// once ([`Closed::ZeroLimit`](super::Closed::ZeroLimit)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of the head of an opening handshake, with its final empty line. Default 8 KiB: the real
    /// client sends less than 1 KiB. Above it, a server answers 431.
    pub head: usize,
    /// The time within which the head of the opening handshake has to arrive, from the creation of the
    /// connection; no byte prolongs it. Default 5 s. After it, a server answers 408.
    pub handshake: Duration,
    /// Bytes of a message, or of the sum of its fragments. Default 64 MiB: a proposed change contains a
    /// whole file. Above it, the close code is 1009.
    pub message: usize,
    /// The number of empty fragments in a message, its last fragment excepted. Default 1,024: empty
    /// fragments cost work and carry no data. Above it, the close code is 1008.
    pub empty_fragments: u32,
    /// The high-water mark of the send buffer. Default 8 MiB. At the mark the connection sends only
    /// answers, and reads without delivering. It stops reading after one message and one mark of bytes
    /// behind the message in progress. So it holds at most two messages and one mark of bytes from a
    /// peer, and the 256 KiB of the last piece that you feed.
    pub outgoing: usize,
    /// The time within which the peer has to read [`outgoing`](Limits::outgoing) bytes, while at least
    /// [`outgoing`](Limits::outgoing) bytes wait in the send buffer. Default 30 s: a peer that reads
    /// less counts as suspended. After it, the connection ends
    /// ([`Closed::Stalled`](super::Closed::Stalled)).
    pub stalled: Duration,
    /// The silence after which a peer is pinged, and the whole silence after which the connection ends.
    /// Default 30 s and 60 s, as in the reference editors; `None` for no keepalive.
    pub keepalive: Option<Keepalive>,
    /// The time within which the peer has to answer our close frame, from the moment at which the close
    /// frame was written. Default 2 s. Until that moment, this limit is the longest time between two
    /// writes, and [`stalled`](Limits::stalled) applies as well.
    pub close: Duration,
    /// The time for writing the last bytes after the connection has ended. Default 2 s.
    pub drain: Duration,
}

impl Limits {
    /// Returns the name of the first limit that is 0 and under which no connection can be opened.
    pub(crate) fn first_zero(&self) -> Option<&'static str> {
        let needed = [("head", self.head), ("message", self.message), ("outgoing", self.outgoing)];
        needed.into_iter().find(|(_, limit)| *limit == 0).map(|(name, _)| name)
    }

    /// Returns the greatest number of bytes that a connection has received and not delivered: the message in progress,
    /// what may come behind it at the high-water mark or between two polls, and the piece that goes beyond that.
    #[cfg(feature = "ide")]
    pub(crate) const fn max_received(&self) -> usize {
        let (at_the_mark, unpolled) = (self.behind(), Rx::UNPOLLED_LIMIT.saturating_add(frame::MAX_HEADER));
        let behind = if at_the_mark > unpolled { at_the_mark } else { unpolled };
        self.message.saturating_add(behind).saturating_add(Rx::UNPOLLED_LIMIT - 1)
    }

    /// Returns the number of bytes that a connection at its high-water mark accepts behind the message in progress.
    pub(super) const fn behind(&self) -> usize {
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
