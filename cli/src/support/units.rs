//! The units of a byte stream: a head, and then frames, each with its position.

use ide_mcp::ws::frame::{Header, Opcode, mask};

/// The smallest part that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// The head of an HTTP request or response, or the part of it that came.
    Head(Vec<u8>),
    /// A frame without its mask, which is random.
    Frame { fin: bool, opcode: Opcode, payload: Vec<u8> },
    /// Other bytes.
    Junk(Vec<u8>),
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Units {
    masked: bool,
    stage: Stage,
    /// The bytes of an incomplete unit.
    buf: Vec<u8>,
    /// The message of the fragments so far.
    message: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Frames,
    Junk,
}

/// Some bytes of a chunk, and the unit that they complete.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) bytes: Vec<u8>,
    pub(crate) unit: Option<Unit>,
    /// The text message that ends here.
    pub(crate) message: Option<String>,
}

impl Units {
    /// Creates the parser for an agent, whose frames are `masked`, or for an editor.
    pub(crate) const fn new(masked: bool) -> Self {
        Self { masked, stage: Stage::Head, buf: Vec::new(), message: Vec::new() }
    }

    /// Begins after the head.
    pub(crate) const fn skip_head(&mut self) {
        self.stage = Stage::Frames;
    }

    /// Cuts a chunk at the end of each unit.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = chunk;
        while !rest.is_empty() {
            let held = self.buf.len();
            self.buf.extend_from_slice(rest);
            let Some((len, unit)) = self.first() else {
                pieces.push(Piece { bytes: rest.to_vec(), unit: None, message: None });
                break;
            };
            self.buf.clear();
            let (bytes, after) = rest.split_at(len.saturating_sub(held).min(rest.len()));
            rest = after;
            let message = self.message(&unit);
            pieces.push(Piece { bytes: bytes.to_vec(), unit: Some(unit), message });
        }
        pieces
    }

    /// Returns the bytes that are left at the end of the stream, as a unit.
    pub(crate) fn finish(&mut self) -> Option<Unit> {
        let rest = std::mem::take(&mut self.buf);
        (!rest.is_empty()).then_some(match self.stage {
            Stage::Head => Unit::Head(rest),
            Stage::Frames | Stage::Junk => Unit::Junk(rest),
        })
    }

    /// Returns the number of bytes that are not a complete unit yet.
    pub(crate) fn left(&self) -> usize {
        self.buf.len()
    }

    /// Returns the number of bytes that are held for an incomplete unit or message.
    pub(crate) fn held(&self) -> usize {
        self.buf.len().saturating_add(self.message.len())
    }

    /// Returns the length of the first unit in the buffer, and the unit, if it is complete.
    fn first(&mut self) -> Option<(usize, Unit)> {
        match self.stage {
            Stage::Head => {
                let len = self.buf.windows(4).position(|four| four == b"\r\n\r\n")?.saturating_add(4);
                let head = self.buf.get(..len)?.to_vec();
                // The body of a refusal follows its head.
                let refused = !self.masked && !head.starts_with(b"HTTP/1.1 101");
                self.stage = if refused { Stage::Junk } else { Stage::Frames };
                Some((len, Unit::Head(head)))
            }
            Stage::Frames => match Header::parse(&self.buf, self.masked) {
                Ok(None) => None,
                Ok(Some((header, size))) => {
                    let len = size.checked_add(usize::try_from(header.len).ok()?)?;
                    let mut payload = self.buf.get(size..len)?.to_vec();
                    if let Some(key) = header.key {
                        mask(key, 0, &mut payload);
                    }
                    Some((len, Unit::Frame { fin: header.fin, opcode: header.opcode, payload }))
                }
                Err(_) => {
                    self.stage = Stage::Junk;
                    self.first()
                }
            },
            Stage::Junk => Some((self.buf.len(), Unit::Junk(self.buf.clone()))),
        }
    }

    fn message(&mut self, unit: &Unit) -> Option<String> {
        let Unit::Frame { fin, opcode, payload } = unit else { return None };
        match opcode {
            Opcode::Text | Opcode::Binary => self.message = payload.clone(),
            Opcode::Continuation => self.message.extend_from_slice(payload),
            Opcode::Close | Opcode::Ping | Opcode::Pong => return None,
        }
        fin.then(|| String::from_utf8(std::mem::take(&mut self.message)).ok())?
    }
}

/// Returns the bytes of a message in one frame, masked for an agent.
pub(crate) fn frame(text: &str, masked: bool) -> Vec<u8> {
    let len = u64::try_from(text.len()).unwrap_or(u64::MAX);
    // This key does not change the text.
    let key = masked.then_some([0; 4]);
    let mut bytes = Header { fin: true, opcode: Opcode::Text, len, key }.encode().bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_do_not_depend_on_where_chunks_end() {
        let fragments = [&b"\x01\x82\x01\x02\x03\x04"[..], &[b'a' ^ 1, b'b' ^ 2]].concat();
        let text = [
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            frame("one", true),
            fragments,
            b"\x89\x80\0\0\0\0".to_vec(),
            b"\x80\x81\0\0\0\0c".to_vec(),
            b"\xff".to_vec(),
        ]
        .concat();
        let text_frame = |fin, opcode, payload: &[u8]| Unit::Frame { fin, opcode, payload: payload.to_vec() };
        let expected = [
            Unit::Head(b"GET / HTTP/1.1\r\n\r\n".to_vec()),
            text_frame(true, Opcode::Text, b"one"),
            text_frame(false, Opcode::Text, b"ab"),
            text_frame(true, Opcode::Ping, b""),
            text_frame(true, Opcode::Continuation, b"c"),
            Unit::Junk(b"\xff".to_vec()),
        ];
        for size in [text.len(), 1, 5] {
            let mut units = Units::new(true);
            let pieces: Vec<Piece> = text.chunks(size).flat_map(|chunk| units.push(chunk)).collect();
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.bytes.clone()).collect();
            assert_eq!(bytes, text, "pieces of {size}");
            let found: Vec<Unit> = pieces.iter().filter_map(|piece| piece.unit.clone()).collect();
            assert_eq!(found, expected, "pieces of {size}");
            let messages: Vec<_> = pieces.iter().filter_map(|piece| piece.message.as_deref()).collect();
            assert_eq!(messages, ["one", "abc"], "pieces of {size}");
            assert_eq!(units.finish(), None);
        }
        let mut cut = Units::new(false);
        assert!(cut.push(b"HTTP/1.1 4")[0].unit.is_none());
        assert_eq!(cut.left(), 10);
        assert_eq!(cut.finish(), Some(Unit::Head(b"HTTP/1.1 4".to_vec())));
    }
}
