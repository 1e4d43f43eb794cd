//! The receive half of an open connection: bytes in, whole messages and control frames out.
//!
//! A frame that lies whole in the buffer is unmasked in place and lent from there. A frame that came in part is
//! worked on as far as it is there: its bytes are unmasked, checked and moved into one contiguous message buffer, in
//! which fragments meet as well. Nothing is reserved for what a header merely claims.

use super::frame::{self, Opcode};
use super::utf8::Carry;
use super::{Limits, Violation};
use crate::buf::Rx;
use alloc::{string::String, vec::Vec};

/// The two kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Binary,
}

/// Something whole has come. What it holds is found in the receiver until the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A message of one frame, the last `len` bytes consumed from the buffer; text is not yet checked.
    Whole { kind: Kind, len: usize },
    /// A message in the message buffer; text is checked.
    Assembled(Kind),
    /// A control frame, the last `len` bytes consumed from the buffer.
    Control { opcode: Opcode, len: usize },
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) rx: Rx,
    /// The transport has ended.
    pub(crate) eof: bool,
    /// Whether the peer owes a mask: clients do (RFC 6455 section 5.1).
    masked: bool,
    /// The data frame that has come in part.
    frame: Option<Body>,
    message: Message,
}

/// The rest of a data frame.
#[derive(Clone, Copy, Debug)]
struct Body {
    remaining: usize,
    /// How much of it has come: where the mask goes on.
    offset: usize,
    key: Option<[u8; 4]>,
    fin: bool,
}

/// The message that is being put together.
#[derive(Debug, Default)]
struct Message {
    kind: Option<Kind>,
    text: String,
    carry: Carry,
    binary: Vec<u8>,
    len: usize,
    empty_fragments: u32,
    /// It was lent: the next call begins anew.
    lent: bool,
}

impl Receiver {
    pub(crate) fn new(masked: bool) -> Self {
        Self { rx: Rx::default(), eof: false, masked, frame: None, message: Message::default() }
    }

    /// Works on until something is whole; `None` if more bytes are needed. With `discard`, messages are checked for
    /// their framing and dropped (after our own close frame, RFC 6455 section 5.5.1).
    pub(crate) fn next(&mut self, limits: &Limits, discard: bool) -> Result<Option<Item>, Violation> {
        if self.message.lent {
            self.message.clear();
        }
        if let Some(item) = self.common(limits) {
            return Ok(Some(item));
        }
        loop {
            if self.frame.is_some() {
                match self.body(discard)? {
                    Progress::NeedsMore => return Ok(None),
                    Progress::Fragment => {}
                    Progress::Message(kind) => return Ok(Some(Item::Assembled(kind))),
                }
            } else {
                match self.header(limits)? {
                    Header::NeedsMore => return Ok(None),
                    Header::Begun => {}
                    Header::Whole(item) => return Ok(Some(item)),
                }
            }
        }
    }

    /// The checked text of [`Item::Assembled`].
    pub(crate) fn text(&self) -> &str {
        &self.message.text
    }

    /// The bytes of [`Item::Assembled`].
    pub(crate) fn binary(&self) -> &[u8] {
        &self.message.binary
    }

    /// Drops everything that was received: the connection has ended.
    pub(crate) fn discard(&mut self) {
        self.rx.discard();
        self.frame = None;
        self.message = Message::default();
    }

    /// Gives back what is not in use.
    pub(crate) fn trim(&mut self) {
        self.rx.trim();
        if self.message.kind.is_none() || self.message.lent {
            self.message = Message::default();
        }
    }

    /// The frame that nearly every client sends: a whole message of less than 126 bytes or less than 64 KiB, there from
    /// its first byte to its last. Anything else is left to [`Receiver::header`], which judges it.
    fn common(&mut self, limits: &Limits) -> Option<Item> {
        if self.frame.is_some() || self.message.kind.is_some() || !self.masked {
            return None;
        }
        let (first, len, key, rest) = match self.rx.bytes_mut() {
            [first, 0xfe, high, low, a, b, c, d, rest @ ..] => {
                let len = usize::from(u16::from_be_bytes([*high, *low]));
                // A length that is not in its shortest form is for `header` to refuse.
                (*first, if len < 126 { return None } else { len }, [*a, *b, *c, *d], rest)
            }
            [first, second @ 0x80..=0xfd, a, b, c, d, rest @ ..] => {
                (*first, usize::from(*second & 0x7f), [*a, *b, *c, *d], rest)
            }
            _ => return None,
        };
        let kind = match first {
            0x81 => Kind::Text,
            0x82 => Kind::Binary,
            _ => return None,
        };
        if len > limits.message {
            return None;
        }
        let header = if len < 126 { 6 } else { 8 };
        frame::mask(key, 0, rest.get_mut(..len)?);
        self.rx.consume(header);
        self.rx.consume(len);
        Some(Item::Whole { kind, len })
    }

    /// Reads the next header, and the whole frame where that can be lent or has to be there.
    fn header(&mut self, limits: &Limits) -> Result<Header, Violation> {
        let bytes = self.rx.bytes();
        let Some(first) = bytes.first() else { return Ok(Header::NeedsMore) };
        let (_, opcode) = frame::opening(*first)?;
        let kind = self.message.admit(opcode)?;
        let Some(prefix) = frame::prefix(bytes, self.masked)? else { return Ok(Header::NeedsMore) };
        let room = limits.message.saturating_sub(self.message.len);
        let len = usize::try_from(prefix.len).ok().filter(|len| *len <= room || opcode.is_control());
        let len = len.ok_or(Violation::MessageTooBig)?;
        let (key, size) = if self.masked {
            let key = bytes.get(prefix.size..).and_then(<[u8]>::first_chunk::<4>);
            let Some(key) = key else { return Ok(Header::NeedsMore) };
            (Some(*key), prefix.size.saturating_add(4))
        } else {
            (None, prefix.size)
        };
        let is_whole = bytes.len().saturating_sub(size) >= len;
        if let Some(kind) = kind {
            if !(is_whole && prefix.fin && opcode != Opcode::Continuation) {
                self.rx.consume(size);
                self.message.begin_fragment(kind, len, prefix.fin, limits)?;
                self.frame = Some(Body { remaining: len, offset: 0, key, fin: prefix.fin });
                return Ok(Header::Begun);
            }
        } else if !is_whole {
            return Ok(Header::NeedsMore);
        }
        self.rx.consume(size);
        self.take(len, key, 0);
        Ok(Header::Whole(match kind {
            Some(kind) => Item::Whole { kind, len },
            None => Item::Control { opcode, len },
        }))
    }

    /// Takes what is there of the frame that has begun.
    fn body(&mut self, discard: bool) -> Result<Progress, Violation> {
        let Self { rx, frame, message, .. } = self;
        let Some(body) = frame else { return Ok(Progress::Fragment) };
        let bytes = rx.bytes_mut();
        let len = bytes.len().min(body.remaining);
        if len == 0 && body.remaining > 0 {
            return Ok(Progress::NeedsMore);
        }
        if let (Some(key), Some(bytes)) = (body.key, bytes.get_mut(..len)) {
            frame::mask(key, body.offset, bytes);
        }
        rx.consume(len);
        if !discard {
            message.push(rx.consumed(len))?;
        }
        body.remaining = body.remaining.saturating_sub(len);
        body.offset = body.offset.saturating_add(len);
        if body.remaining > 0 {
            return Ok(Progress::NeedsMore);
        }
        let fin = body.fin;
        self.frame = None;
        if !fin {
            return Ok(Progress::Fragment);
        }
        if !discard {
            self.message.carry.finish().map_err(|_| Violation::InvalidUtf8)?;
        }
        self.message.lent = true;
        Ok(self.message.kind.map_or(Progress::Fragment, Progress::Message))
    }

    /// Unmasks and consumes the next `len` bytes, which are there.
    fn take(&mut self, len: usize, key: Option<[u8; 4]>, offset: usize) {
        if let (Some(key), Some(bytes)) = (key, self.rx.bytes_mut().get_mut(..len)) {
            frame::mask(key, offset, bytes);
        }
        self.rx.consume(len);
    }
}

enum Header {
    NeedsMore,
    Begun,
    Whole(Item),
}

enum Progress {
    NeedsMore,
    Fragment,
    Message(Kind),
}

impl Message {
    /// Whether a frame with this opcode may come now, and the kind of message it belongs to; `None` for control
    /// frames (RFC 6455 section 5.4).
    const fn admit(&self, opcode: Opcode) -> Result<Option<Kind>, Violation> {
        match (opcode, self.kind) {
            (Opcode::Close | Opcode::Ping | Opcode::Pong, _) => Ok(None),
            (Opcode::Continuation, Some(kind)) => Ok(Some(kind)),
            (Opcode::Continuation, None) => Err(Violation::StrayContinuation),
            (Opcode::Text | Opcode::Binary, Some(_)) => Err(Violation::InterleavedMessage),
            (Opcode::Text, None) => Ok(Some(Kind::Text)),
            (Opcode::Binary, None) => Ok(Some(Kind::Binary)),
        }
    }

    fn begin_fragment(
        &mut self,
        kind: Kind,
        len: usize,
        fin: bool,
        limits: &Limits,
    ) -> Result<(), Violation> {
        self.kind = Some(kind);
        self.len = self.len.saturating_add(len);
        if len == 0 && !fin {
            self.empty_fragments = self.empty_fragments.saturating_add(1);
            if self.empty_fragments > limits.empty_fragments {
                return Err(Violation::TooManyEmptyFragments);
            }
        }
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), Violation> {
        match self.kind {
            Some(Kind::Text) => {
                self.carry.push(bytes, &mut self.text).map_err(|_| Violation::InvalidUtf8)?;
            }
            Some(Kind::Binary) => self.binary.extend_from_slice(bytes),
            None => {}
        }
        Ok(())
    }

    /// Begins anew and keeps the memory.
    fn clear(&mut self) {
        let (mut text, mut binary) = (core::mem::take(&mut self.text), core::mem::take(&mut self.binary));
        text.clear();
        binary.clear();
        *self = Self { text, binary, ..Self::default() };
    }
}
