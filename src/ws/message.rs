//! Assembles a message from fragments (RFC 6455 section 5.4), or from the pieces of one frame.

use super::frame::Opcode;
use super::utf8::Carry;
use super::{Limits, ProtocolError};
use alloc::{string::String, vec::Vec};

/// The two kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Binary,
}

#[derive(Debug, Default)]
pub(crate) struct Message {
    /// The kind of the message; `None` before any part of it has arrived, and after it was dropped.
    pub(super) kind: Option<Kind>,
    content: Content,
    /// The length of all fragments so far. The last one counts in full, even if it has not arrived in full.
    len: usize,
    empty_fragments: u32,
    carry: Carry,
    /// True if the message was lent: [`Message::renew`] drops it.
    lent: bool,
}

/// The content of a message. A new message reuses the memory of the old one, whatever their kinds.
#[derive(Debug)]
enum Content {
    Text(String),
    Binary(Vec<u8>),
}

impl Message {
    /// Returns the kind of message that a frame with this opcode belongs to, or `None` for a control frame. The error
    /// names the rule that such a frame would break at this point.
    pub(crate) const fn admit(&self, opcode: Opcode) -> Result<Option<Kind>, ProtocolError> {
        match (opcode, self.kind) {
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => Ok(None),
            (Opcode::Continuation, Some(kind)) => Ok(Some(kind)),
            (Opcode::Continuation, None) => Err(ProtocolError::StrayContinuation),
            (Opcode::Text | Opcode::Binary, Some(_)) => Err(ProtocolError::InterleavedMessage),
            (Opcode::Text, None) => Ok(Some(Kind::Text)),
            (Opcode::Binary, None) => Ok(Some(Kind::Binary)),
        }
    }

    /// Returns the number of bytes of all fragments so far.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Begins another fragment of `len` bytes, or the only one.
    pub(crate) fn begin_fragment(
        &mut self,
        kind: Kind,
        len: usize,
        fin: bool,
        limits: &Limits,
    ) -> Result<(), ProtocolError> {
        if self.kind.is_none() {
            self.kind = Some(kind);
            self.content.begin(kind);
        }
        self.len = self.len.saturating_add(len);
        if len == 0 && !fin {
            self.empty_fragments = self.empty_fragments.saturating_add(1);
            if self.empty_fragments > limits.empty_fragments {
                return Err(ProtocolError::TooManyEmptyFragments);
            }
        }
        Ok(())
    }

    /// Appends a piece of a fragment; `rest` bytes of it are still to come. `fin` is true for the last fragment.
    pub(crate) fn push(&mut self, piece: &[u8], rest: usize, fin: bool) -> Result<(), ProtocolError> {
        self.content.make_room(piece.len().saturating_add(self.carry.len()), rest, fin);
        match &mut self.content {
            Content::Text(text) => self.carry.push(piece, text).map_err(|_| ProtocolError::InvalidUtf8),
            Content::Binary(bytes) => {
                bytes.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    /// Ends the message after its last fragment, and lends it until the next [`Message::renew`].
    pub(crate) fn finish(&mut self) -> Result<Option<Kind>, ProtocolError> {
        self.lent = true;
        self.carry.finish().map_err(|_| ProtocolError::InvalidUtf8)?;
        Ok(self.kind)
    }

    /// Returns the text of the message.
    pub(crate) fn text(&self) -> &str {
        match &self.content {
            Content::Text(text) => text,
            Content::Binary(_) => "",
        }
    }

    /// Returns the bytes of the message.
    pub(crate) fn binary(&self) -> &[u8] {
        match &self.content {
            Content::Text(text) => text.as_bytes(),
            Content::Binary(bytes) => bytes,
        }
    }

    /// Drops a message that was lent, and keeps its memory for the next one.
    pub(crate) fn renew(&mut self) {
        if self.lent {
            let content = core::mem::take(&mut self.content);
            *self = Self { content, ..Self::default() };
        }
    }

    /// Releases memory that is not in use.
    pub(crate) fn trim(&mut self) {
        if self.kind.is_none() || self.lent {
            *self = Self::default();
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Binary(Vec::new())
    }
}

impl Content {
    /// Begins new content in the memory of the old.
    fn begin(&mut self, kind: Kind) {
        let mut memory = core::mem::take(self).into_memory();
        memory.clear();
        *self = match kind {
            Kind::Text => Self::Text(String::from_utf8(memory).unwrap_or_default()),
            Kind::Binary => Self::Binary(memory),
        };
    }

    fn into_memory(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Binary(bytes) => bytes,
        }
    }

    /// Makes room for a piece and for missing bytes, but for no more missing bytes than have arrived. So the capacity
    /// is at most twice the received bytes.
    fn make_room(&mut self, piece: usize, rest: usize, fin: bool) {
        let (held, room) = match self {
            Self::Text(text) => (text.len(), text.capacity()),
            Self::Binary(bytes) => (bytes.len(), bytes.capacity()),
        };
        if room.saturating_sub(held) >= piece {
            return;
        }
        let more = piece.saturating_add(rest.min(held.saturating_add(piece)));
        // If this neither doubles the content nor completes it, more fragments of this size may follow, so grow ahead
        // of them.
        let exact = fin || more >= held;
        match (self, exact) {
            (Self::Text(text), true) => text.reserve_exact(more),
            (Self::Text(text), false) => text.reserve(more),
            (Self::Binary(bytes), true) => bytes.reserve_exact(more),
            (Self::Binary(bytes), false) => bytes.reserve(more),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a frame to `message` in pieces. Returns the largest excess of the capacity over twice the
    /// received bytes.
    fn receive(message: &mut Message, kind: Kind, bytes: &[u8], piece: usize, fin: bool) -> usize {
        let limits = Limits::default();
        message.begin_fragment(kind, bytes.len(), fin, &limits).unwrap();
        let (mut rest, mut most) = (bytes.len(), 0);
        for piece in bytes.chunks(piece) {
            rest -= piece.len();
            message.push(piece, rest, fin).unwrap();
            let capacity = match &message.content {
                Content::Text(text) => text.capacity(),
                Content::Binary(bytes) => bytes.capacity(),
            };
            most = most.max(capacity.saturating_sub(2 * (bytes.len() - rest)));
        }
        most
    }

    #[test]
    fn frame_reserves_at_most_twice_received_bytes() {
        let bytes = alloc::vec![b'x'; 1 << 20];
        for kind in [Kind::Text, Kind::Binary] {
            for piece in [1000, 4096, 1 << 18] {
                let mut message = Message::default();
                assert_eq!(receive(&mut message, kind, &bytes, piece, true), 0, "in pieces of {piece}");
                assert_eq!(message.finish(), Ok(Some(kind)));
                assert_eq!(message.binary(), bytes);
            }
        }
    }

    #[test]
    fn many_fragments_cause_few_reallocations() {
        let mut message = Message::default();
        let mut capacities = alloc::collections::BTreeSet::new();
        for _ in 0..1000 {
            receive(&mut message, Kind::Binary, &[7; 100], 100, false);
            if let Content::Binary(bytes) = &message.content {
                capacities.insert(bytes.capacity());
            }
        }
        assert!(capacities.len() < 20, "{capacities:?}");
    }

    #[test]
    fn both_kinds_use_the_same_memory() {
        let mut message = Message::default();
        receive(&mut message, Kind::Binary, &[0xff; 5000], 5000, true);
        message.finish().unwrap();
        message.renew();
        receive(&mut message, Kind::Text, b"text", 4, true);
        assert!(matches!(&message.content, Content::Text(text) if text == "text" && text.capacity() >= 5000));
        message.finish().unwrap();
        message.trim();
        assert_eq!(message.binary(), b"");
        assert!(message.kind.is_none());
    }
}
