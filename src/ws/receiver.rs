//! The receive half of an open connection: bytes in, whole messages and control frames out.
//!
//! A frame that lies whole in the buffer is unmasked in place and lent from there. A message of one frame that came
//! in part stays there until it is whole, if it is binary or, so far, ASCII. Of every other frame that came in part the
//! bytes are unmasked, checked and moved into one contiguous message buffer, in which fragments meet as well. Either
//! way text is looked at as it comes and fails at once, and for what a header merely claims no more is reserved than has
//! come.
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
use super::message::{Kind, Message};
use super::{Limits, Violation};
use crate::buf::Rx;

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
    /// The data frame that has come in part, behind its header.
    part: Option<Part>,
    message: Message,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    /// Bytes of its payload.
    len: usize,
    /// How many of them are dealt with: where the mask goes on.
    done: usize,
    key: Key,
    place: Place,
}

/// A beginning up to here is copied: the buffer that it lies in is worth more than the copy.
const LONG: usize = 16 * 1024;

/// A server's frames have none.
type Key = Option<[u8; 4]>;

/// Where the payload is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the buffer, from its beginning: the only frame of its message. What is done of a text is unmasked, and known
    /// to be ASCII; of a binary message nothing is.
    Held(Kind),
    /// What is done is in the message, which the frame ends or not.
    Moved { fin: bool },
}

impl Receiver {
    pub(crate) fn new(masked: bool) -> Self {
        Self { rx: Rx::new(), eof: false, masked, part: None, message: Message::default() }
    }

    /// Works on until something is whole; `None` if more bytes are needed. With `discard`, messages are checked for
    /// their framing and dropped (after our own close frame, RFC 6455 section 5.5.1).
    pub(crate) fn next(&mut self, limits: &Limits, discard: bool) -> Result<Option<Item>, Violation> {
        self.message.renew();
        loop {
            let step = match self.part {
                None => self.header(limits)?,
                Some(part) => match part.place {
                    Place::Held(kind) => self.hold(kind, part, limits, discard)?,
                    Place::Moved { fin } => self.move_on(fin, part, discard)?,
                },
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
        if self.part.is_some() || self.message.is_begun() {
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
        let masked = self.rx.lend(common.prefix, common.len.wrapping_add(4));
        let Some((key, payload)) = masked.split_first_chunk_mut::<4>() else { return &[] };
        frame::mask_whole(*key, payload);
        payload
    }

    /// Whether the frame that has come in part stays in the buffer.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        matches!(self.part, Some(Part { place: Place::Held(_), .. }))
    }

    /// Whether such a frame is not yet whole, and nothing speaks against it: so it goes for bytes that come one
    /// at a time, which shall cost next to nothing. Anything else is left to [`Receiver::next`].
    #[inline]
    pub(crate) fn awaits_more(&mut self) -> bool {
        let Some(Part { len, done, key, place: Place::Held(kind) }) = &mut self.part else { return false };
        let there = self.rx.len();
        if there >= *len {
            return false;
        }
        if *kind == Kind::Text && there != *done {
            let Some(last) = self.rx.last_mut().filter(|_| there == done.wrapping_add(1)) else {
                return false;
            };
            let plain = *last ^ key.map_or(0, |key| frame::key_byte(key, *done));
            if !plain.is_ascii() {
                return false;
            }
            *last = plain;
            *done = there;
        }
        self.rx.polled_dry();
        true
    }

    /// The checked text of [`Item::Assembled`].
    pub(crate) fn text(&self) -> &str {
        self.message.text()
    }

    /// The bytes of [`Item::Assembled`].
    pub(crate) fn binary(&self) -> &[u8] {
        self.message.binary()
    }

    /// Drops everything that was received: the connection has ended.
    pub(crate) fn discard(&mut self) {
        self.rx.discard();
        self.part = None;
        self.message = Message::default();
    }

    /// Gives back what is not in use.
    pub(crate) fn trim(&mut self) {
        self.rx.trim();
        self.message.trim();
    }

    /// Reads the next header, and the whole frame where that can be lent or has to be there.
    fn header(&mut self, limits: &Limits) -> Result<Step, Violation> {
        let bytes = self.rx.bytes();
        let Some(first) = bytes.first() else { return Ok(Step::NeedsMore) };
        let (_, opcode) = frame::opening(*first)?;
        let kind = self.message.admit(opcode)?;
        let Some(prefix) = frame::prefix(bytes, self.masked)? else { return Ok(Step::NeedsMore) };
        let room = limits.message.saturating_sub(self.message.len());
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
                self.part = Some(Part { len, done: 0, key, place: Place::Moved { fin: prefix.fin } });
                return Ok(Step::On);
            }
            Some(kind) if !is_whole => {
                self.rx.consume(size);
                self.rx.await_up_to(len);
                self.part = Some(Part { len, done: 0, key, place: Place::Held(kind) });
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
    fn hold(&mut self, kind: Kind, part: Part, limits: &Limits, discard: bool) -> Result<Step, Violation> {
        let Part { len, done, key, .. } = part;
        let there = self.rx.len().min(len);
        let is_whole = there == len;
        if kind == Kind::Binary && !is_whole && !discard {
            return Ok(Step::NeedsMore);
        }
        let fresh = self.rx.bytes_mut().get_mut(done..there).unwrap_or_default();
        let is_ascii = match key {
            Some(key) => frame::unmask(key, done, fresh),
            None => fresh.is_ascii(),
        };
        if is_ascii && !is_whole && !discard {
            self.part = Some(Part { done: there, ..part });
            return Ok(Step::NeedsMore);
        }
        if is_whole {
            self.rx.await_up_to(0);
            self.rx.consume(there);
            self.part = None;
            return Ok(Step::Whole(Item::Whole { kind, len }));
        }
        self.message.begin_fragment(kind, len, true, limits)?;
        self.rx.await_up_to(0);
        if !discard {
            if done > LONG {
                // The memory goes along, so that a long beginning is neither copied nor there twice.
                let front = self.rx.split_front(done, self.message.take_memory());
                self.message.begin_with(front)?;
            }
            self.message.push(self.rx.bytes(), len.saturating_sub(there), true)?;
        }
        self.rx.consume(self.rx.len());
        self.part = Some(Part { done: there, place: Place::Moved { fin: true }, ..part });
        Ok(Step::NeedsMore)
    }

    /// Takes what is there of a frame that is moved into the message.
    fn move_on(&mut self, fin: bool, part: Part, discard: bool) -> Result<Step, Violation> {
        let rest = part.len.saturating_sub(part.done);
        let there = self.rx.len().min(rest);
        if there == 0 && rest > 0 {
            return Ok(Step::NeedsMore);
        }
        self.take(there, part.key, part.done);
        let rest = rest.saturating_sub(there);
        if !discard {
            self.message.push(self.rx.consumed(there), rest, fin)?;
        }
        if rest > 0 {
            self.part = Some(Part { done: part.done.saturating_add(there), ..part });
            return Ok(Step::NeedsMore);
        }
        self.part = None;
        if !fin {
            return Ok(Step::On);
        }
        if discard {
            self.message = Message::default();
            return Ok(Step::On);
        }
        Ok(self.message.finish()?.map_or(Step::On, |kind| Step::Whole(Item::Assembled(kind))))
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
