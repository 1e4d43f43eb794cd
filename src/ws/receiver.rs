//! The receive half of an open connection: bytes in, whole messages and control frames out.
//!
//! A frame that lies whole in the buffer is unmasked in place and lent from there. A message of one frame that came
//! in part stays there until it is whole, if it is binary or, so far, ASCII. Of every other frame that came in part the
//! bytes are unmasked, checked and moved into one contiguous message buffer, in which fragments meet as well. Either
//! way text is looked at as it comes and fails at once, and nothing is reserved for what a header merely claims.
//!
//! ```text
//!                ┌────────────────── whole: lent from the buffer ◀──┐
//!                ▼                                                  │
//!  Nothing ── a message of one frame, not whole ──────────▶ Held ───┤
//!   │    ▲                                                          │ not ASCII, or discarded
//!   │    └── whole: the fragment joins, or the message is lent ◀┐   ▼
//!   └─────── a fragment ──────────────────────────────────────▶ Moved
//! ```

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

/// Where a message lies that came in one masked frame, see [`Receiver::common`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Common {
    pub(crate) kind: Kind,
    /// Bytes of the header before the masking key.
    prefix: usize,
    len: usize,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(crate) rx: Rx,
    /// The transport has ended.
    pub(crate) eof: bool,
    /// Whether the peer owes a mask: clients do (RFC 6455 section 5.1).
    masked: bool,
    part: Part,
    message: Message,
}

/// The data frame that has come in part, behind its header.
#[derive(Clone, Copy, Debug)]
enum Part {
    Nothing,
    Held(Held),
    Moved(Moved),
}

/// The only frame of a message, which lies in the buffer from its beginning.
#[derive(Clone, Copy, Debug)]
struct Held {
    kind: Kind,
    len: usize,
    key: Key,
    /// How much of it is unmasked and known to be ASCII; nothing of a binary one.
    seen: usize,
}

/// The rest of a frame whose beginning was moved into the message.
#[derive(Clone, Copy, Debug)]
struct Moved {
    remaining: usize,
    /// How much of it has come: where the mask goes on.
    offset: usize,
    key: Key,
    fin: bool,
}

/// A server's frames have none.
type Key = Option<[u8; 4]>;

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
        Self { rx: Rx::new(), eof: false, masked, part: Part::Nothing, message: Message::default() }
    }

    /// Works on until something is whole; `None` if more bytes are needed. With `discard`, messages are checked for
    /// their framing and dropped (after our own close frame, RFC 6455 section 5.5.1).
    pub(crate) fn next(&mut self, limits: &Limits, discard: bool) -> Result<Option<Item>, Violation> {
        if self.message.lent {
            self.message.clear();
        }
        loop {
            let step = match self.part {
                Part::Nothing => self.header(limits)?,
                Part::Held(held) => self.hold(held, discard)?,
                Part::Moved(moved) => self.move_on(moved, discard)?,
            };
            match step {
                Step::NeedsMore => return Ok(None),
                Step::On => {}
                Step::Whole(item) => return Ok(Some(item)),
            }
        }
    }

    /// The message that nearly every client sends: one frame of less than 64 KiB and at most `limit` bytes, there from
    /// its first byte to its last. Anything else is left to [`Receiver::next`], which judges it.
    #[inline]
    pub(crate) fn common(&self, limit: usize) -> Option<Common> {
        if !matches!(self.part, Part::Nothing) || self.message.kind.is_some() {
            return None;
        }
        let bytes = self.rx.bytes();
        let (first, len, prefix) = match bytes {
            [first, second @ 0x80..=0xfd, ..] => (*first, usize::from(*second & 0x7f), 2),
            [first, 0xfe, high, low, ..] => {
                let len = usize::from(u16::from_be_bytes([*high, *low]));
                (*first, Some(len).filter(|len| *len > 125)?, 4)
            }
            _ => return None,
        };
        let kind = match first {
            0x81 => Kind::Text,
            0x82 => Kind::Binary,
            _ => return None,
        };
        let is_whole = bytes.len() >= len.wrapping_add(prefix).wrapping_add(4);
        (is_whole && len <= limit).then_some(Common { kind, prefix, len })
    }

    /// Consumes it and lends its payload, unmasked.
    #[inline]
    pub(crate) fn take_common(&mut self, common: Common) -> &[u8] {
        let masked = self.rx.take(common.prefix, common.len.wrapping_add(4));
        let Some((key, payload)) = masked.split_first_chunk_mut::<4>() else { return &[] };
        frame::mask_whole(*key, payload);
        payload
    }

    /// Whether the frame that has come in part stays in the buffer.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        matches!(self.part, Part::Held(_))
    }

    /// Whether such a frame is not yet whole, and nothing speaks against it: so it goes for bytes that come one
    /// at a time, which shall cost next to nothing. Anything else is left to [`Receiver::next`].
    #[inline]
    pub(crate) fn awaits_more(&mut self) -> bool {
        let Part::Held(held) = &mut self.part else { return false };
        let there = self.rx.len();
        if there >= held.len {
            return false;
        }
        if held.kind == Kind::Text && there != held.seen {
            let Some(last) = self.rx.last_mut().filter(|_| there == held.seen.wrapping_add(1)) else {
                return false;
            };
            let plain = *last ^ held.key.map_or(0, |key| frame::key_byte(key, held.seen));
            if !plain.is_ascii() {
                return false;
            }
            *last = plain;
            held.seen = there;
        }
        self.rx.polled_dry();
        true
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
        self.part = Part::Nothing;
        self.message = Message::default();
    }

    /// Gives back what is not in use.
    pub(crate) fn trim(&mut self) {
        self.rx.trim();
        if self.message.kind.is_none() || self.message.lent {
            self.message = Message::default();
        }
    }

    /// Reads the next header, and the whole frame where that can be lent or has to be there.
    fn header(&mut self, limits: &Limits) -> Result<Step, Violation> {
        let bytes = self.rx.bytes();
        let Some(first) = bytes.first() else { return Ok(Step::NeedsMore) };
        let (_, opcode) = frame::opening(*first)?;
        let kind = self.message.admit(opcode)?;
        let Some(prefix) = frame::prefix(bytes, self.masked)? else { return Ok(Step::NeedsMore) };
        let room = limits.message.saturating_sub(self.message.len);
        let len = usize::try_from(prefix.len).ok().filter(|len| *len <= room || opcode.is_control());
        let len = len.ok_or(Violation::MessageTooBig)?;
        let (key, size) = if self.masked {
            let key = bytes.get(prefix.size..).and_then(<[u8]>::first_chunk::<4>);
            let Some(key) = key else { return Ok(Step::NeedsMore) };
            (Some(*key), prefix.size.saturating_add(4))
        } else {
            (None, prefix.size)
        };
        let is_whole = bytes.len().saturating_sub(size) >= len;
        let is_message = prefix.fin && opcode != Opcode::Continuation;
        let item = match kind {
            Some(kind) if !is_message => {
                self.rx.consume(size);
                self.message.begin_fragment(kind, len, prefix.fin, limits)?;
                self.part = Part::Moved(Moved { remaining: len, offset: 0, key, fin: prefix.fin });
                return Ok(Step::On);
            }
            Some(kind) if !is_whole => {
                self.rx.consume(size);
                self.rx.await_up_to(len);
                self.part = Part::Held(Held { kind, len, key, seen: 0 });
                return Ok(Step::On);
            }
            None if !is_whole => return Ok(Step::NeedsMore),
            Some(kind) => Item::Whole { kind, len },
            None => Item::Control { opcode, len },
        };
        self.rx.consume(size);
        self.take(len, key, 0);
        Ok(Step::Whole(item))
    }

    /// Looks at what came of a frame that stays in the buffer.
    fn hold(&mut self, held: Held, discard: bool) -> Result<Step, Violation> {
        let Held { kind, len, key, seen } = held;
        let there = self.rx.bytes().len().min(len);
        if there < len && kind == Kind::Binary && !discard {
            return Ok(Step::NeedsMore);
        }
        let fresh = self.rx.bytes_mut().get_mut(seen..there).unwrap_or_default();
        let ascii = match key {
            Some(key) => frame::unmask(key, seen, fresh),
            None => fresh.is_ascii(),
        };
        if there < len && ascii && !discard {
            self.part = Part::Held(Held { seen: there, ..held });
            return Ok(Step::NeedsMore);
        }
        self.rx.await_up_to(0);
        self.rx.consume(there);
        if there == len {
            self.part = Part::Nothing;
            return Ok(Step::Whole(Item::Whole { kind, len }));
        }
        let remaining = len.saturating_sub(there);
        self.message.kind = Some(kind);
        self.message.len = len;
        if !discard {
            self.message.push(self.rx.consumed(there), remaining, true)?;
        }
        self.part = Part::Moved(Moved { remaining, offset: there, key, fin: true });
        Ok(Step::NeedsMore)
    }

    /// Takes what is there of a frame that is moved into the message.
    fn move_on(&mut self, moved: Moved, discard: bool) -> Result<Step, Violation> {
        let Moved { remaining, offset, key, fin } = moved;
        let len = self.rx.bytes().len().min(remaining);
        if len == 0 && remaining > 0 {
            return Ok(Step::NeedsMore);
        }
        self.take(len, key, offset);
        let remaining = remaining.saturating_sub(len);
        if !discard {
            self.message.push(self.rx.consumed(len), remaining, fin)?;
        }
        if remaining > 0 {
            self.part = Part::Moved(Moved { remaining, offset: offset.saturating_add(len), key, fin });
            return Ok(Step::NeedsMore);
        }
        self.part = Part::Nothing;
        if !fin {
            return Ok(Step::On);
        }
        if !discard {
            self.message.carry.finish().map_err(|_| Violation::InvalidUtf8)?;
        }
        self.message.lent = true;
        Ok(self.message.kind.map_or(Step::On, |kind| Step::Whole(Item::Assembled(kind))))
    }

    /// Unmasks and consumes the next `len` bytes, which are there.
    fn take(&mut self, len: usize, key: Key, offset: usize) {
        if let (Some(key), Some(bytes)) = (key, self.rx.bytes_mut().get_mut(..len)) {
            frame::mask(key, offset, bytes);
        }
        self.rx.consume(len);
    }
}

/// How far the bytes go.
enum Step {
    NeedsMore,
    /// A header or a fragment is over.
    On,
    Whole(Item),
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

    /// Appends a piece of a frame of which `rest` bytes are to come; `fin` says whether that ends the message.
    fn push(&mut self, bytes: &[u8], rest: usize, fin: bool) -> Result<(), Violation> {
        let (held, room) = match self.kind {
            Some(Kind::Text) => (self.text.len(), self.text.capacity()),
            Some(Kind::Binary) => (self.binary.len(), self.binary.capacity()),
            None => return Ok(()),
        };
        if room.saturating_sub(held) < bytes.len() {
            self.grow(held, bytes.len(), rest, fin);
        }
        if self.kind == Some(Kind::Text) {
            self.carry.push(bytes, &mut self.text).map_err(|_| Violation::InvalidUtf8)?;
        } else {
            self.binary.extend_from_slice(bytes);
        }
        Ok(())
    }

    /// Makes room for a piece, and for as much of what is to come as has come: twice what was received at most.
    fn grow(&mut self, held: usize, piece: usize, rest: usize, fin: bool) {
        let ahead = rest.min(held.saturating_add(piece));
        let more = piece.saturating_add(ahead);
        // Where neither doubles it nor ends it, more fragments of this size may follow.
        let exact = fin || more >= held;
        match (self.kind, exact) {
            (Some(Kind::Text), true) => self.text.reserve_exact(more),
            (Some(Kind::Text), false) => self.text.reserve(more),
            (_, true) => self.binary.reserve_exact(more),
            (_, false) => self.binary.reserve(more),
        }
    }

    /// Begins anew and keeps the memory.
    fn clear(&mut self) {
        let (mut text, mut binary) = (core::mem::take(&mut self.text), core::mem::take(&mut self.binary));
        text.clear();
        binary.clear();
        *self = Self { text, binary, ..Self::default() };
    }
}
