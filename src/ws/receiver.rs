//! The receive half of an open connection: bytes in, whole messages and control frames out.
//!
//! A frame that is complete in the receive buffer is unmasked in place and lent from there. A partial single-frame
//! message stays in the buffer until it is complete, as long as it is binary or pure ASCII. The bytes of every other
//! partial frame are unmasked, checked and moved into one contiguous message buffer, which also joins fragments.
//!
//! Either way, text is checked as it arrives, and fails at the first invalid byte. Memory is reserved in proportion to
//! the bytes that have arrived, whatever length a header claims.
//!
//! ```text
//!                ┌────────────────── whole: lent from the buffer ◀──┐
//!                ▼                                                  │
//!  Nothing ── a message of one frame, incomplete ─────────▶ Held ───┤
//!   │    ▲                                                          │ not ASCII, or discarded
//!   │    └── whole: the fragment joins, or the message is lent ◀┐   ▼
//!   └─────── a fragment ──────────────────────────────────────▶ Moved
//! ```

use super::frame::{self, Opcode};
use super::message::{Kind, Message};
use super::{Limits, ProtocolError};
use crate::buf::Rx;

/// A complete message or control frame. The receiver keeps its content until the next call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A message of one frame: the last `len` bytes consumed from the buffer. Text is not checked yet.
    Whole { kind: Kind, len: usize },
    /// A message in the message buffer. Text is checked.
    Assembled(Kind),
    /// A control frame: the last `len` bytes consumed from the buffer.
    Control { opcode: Opcode, len: usize },
}

/// Where a message lies in the receive buffer, if it has arrived complete in one masked frame, see
/// [`Receiver::common`].
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
    /// True if the peer must mask its frames, as clients must (RFC 6455 section 5.1).
    masked: bool,
    /// The data frame that has arrived in part, without its header.
    part: Option<Part>,
    message: Message,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    /// Bytes of the payload of the frame.
    len: usize,
    /// How many bytes of the payload are processed: the offset for the mask of the next byte.
    done: usize,
    key: Key,
    place: Place,
}

/// Above this many held bytes, the receive buffer releases its memory once non-ASCII text forces a move to the message
/// buffer.
const LONG: usize = 16_384;

/// The masking key of a frame; the frames of a server have none.
type Key = Option<[u8; 4]>;

/// Where the payload of a frame is.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In the receive buffer, from its beginning; the frame is the only one of its message. If it is text, the
    /// processed bytes are unmasked and ASCII; if binary, none are processed.
    Held(Kind),
    /// In the message buffer, as far as processed. `fin` is true if the frame ends its message.
    Moved { fin: bool },
}

impl Receiver {
    pub(crate) fn new(masked: bool) -> Self {
        Self { rx: Rx::new(), masked, part: None, message: Message::default() }
    }

    /// Continues until a message or a control frame is complete; returns `None` if more bytes are needed. With
    /// `discard`, checks only the framing of messages and drops their content (after our own close frame, RFC 6455
    /// section 5.5.1).
    pub(crate) fn next(&mut self, limits: &Limits, discard: bool) -> Result<Option<Item>, ProtocolError> {
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

    /// Returns where the next message is, if it has arrived complete in one masked frame of less than 64 KiB and at
    /// most `limit` bytes, as nearly every message does. [`Receiver::next`] handles and checks everything else.
    #[inline]
    pub(crate) fn common(&self, limit: usize) -> Option<Common> {
        if self.part.is_some() || self.message.kind.is_some() {
            return None;
        }
        let bytes = self.rx.held()?;
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

    /// Consumes the message and lends its payload, unmasked.
    #[inline]
    pub(crate) fn take_common(&mut self, common: Common) -> &[u8] {
        let masked = self.rx.lend(common.prefix, common.len.wrapping_add(4));
        let Some((key, payload)) = masked.split_first_chunk_mut::<4>() else { return &[] };
        frame::mask_whole(*key, payload);
        payload
    }

    /// Returns true if the partial frame stays in the buffer.
    #[inline]
    pub(crate) fn is_holding(&self) -> bool {
        matches!(self.part, Some(Part { place: Place::Held(_), .. }))
    }

    /// Returns true if a frame that stays in the buffer is incomplete, and breaks no rule so far. This runs for each of
    /// the bytes that arrive one at a time, so it must cost next to nothing. [`Receiver::next`] handles everything
    /// else.
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
        self.rx.mark_drained();
        true
    }

    /// Returns the checked text of [`Item::Assembled`].
    pub(crate) fn text(&self) -> &str {
        self.message.text()
    }

    /// Returns the bytes of [`Item::Assembled`].
    pub(crate) fn binary(&self) -> &[u8] {
        self.message.binary()
    }

    /// Keeps the received bytes for later, because the send buffer is above its high-water mark.
    ///
    /// After the frame in progress the receiver accepts one message and one high-water mark of bytes. A peer with the
    /// same limits has at most that many bytes unwritten. So it can empty its send buffer and read again, and then this
    /// side can empty its own.
    pub(crate) fn hold_back(&mut self, limits: &Limits) {
        let in_progress = self.part.map_or(0, |part| match part.place {
            Place::Held(_) => part.len,
            Place::Moved { .. } => part.len.saturating_sub(part.done),
        });
        self.rx.hold_back(in_progress.saturating_add(limits.read_ahead()));
    }

    /// Drops everything that was received, because the connection has ended.
    pub(crate) fn discard(&mut self) {
        self.rx.discard();
        self.part = None;
        self.message = Message::default();
    }

    /// Releases memory that is not in use.
    pub(crate) fn trim(&mut self) {
        self.rx.trim();
        self.message.trim();
    }

    /// Reads the next header. If the frame has arrived complete and is a control frame or the only frame of its
    /// message, takes all of it.
    fn header(&mut self, limits: &Limits) -> Result<Step, ProtocolError> {
        let bytes = self.rx.bytes();
        let Some(first) = bytes.first() else { return Ok(Step::NeedsMore) };
        let (_, opcode) = frame::opening(*first)?;
        let kind = self.message.admit(opcode)?;
        let Some(prefix) = frame::prefix(bytes, self.masked)? else { return Ok(Step::NeedsMore) };
        let room = limits.message.saturating_sub(self.message.len());
        let len = usize::try_from(prefix.len).ok().filter(|len| *len <= room || opcode.is_control());
        let len = len.ok_or(ProtocolError::MessageTooBig)?;
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

    /// Processes the bytes of a frame that stays in the buffer.
    fn hold(
        &mut self,
        kind: Kind,
        part: Part,
        limits: &Limits,
        discard: bool,
    ) -> Result<Step, ProtocolError> {
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
            // The message buffer gets no room for the missing bytes yet, because the received ones exist twice at this
            // moment.
            self.message.push(self.rx.bytes(), 0, true)?;
        }
        self.rx.consume(self.rx.len());
        if done > LONG {
            self.rx.trim();
        }
        self.part = Some(Part { done: there, place: Place::Moved { fin: true }, ..part });
        Ok(Step::NeedsMore)
    }

    /// Takes the received bytes of a frame that goes into the message buffer.
    fn move_on(&mut self, fin: bool, part: Part, discard: bool) -> Result<Step, ProtocolError> {
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

    /// Unmasks and consumes the next `len` bytes. The caller has checked that they have arrived.
    fn take(&mut self, len: usize, key: Key, offset: usize) {
        if let (Some(key), Some(bytes)) = (key, self.rx.bytes_mut().get_mut(..len)) {
            frame::mask(key, offset, bytes);
        }
        self.rx.consume(len);
    }
}

/// The result of one step of the receiver.
enum Step {
    NeedsMore,
    /// A header or a fragment ended.
    On,
    Whole(Item),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ws::frame::Header;
    use alloc::{format, string::String, vec, vec::Vec};

    const KEY: [u8; 4] = [0x12, 0xb4, 0x56, 0xf8];

    fn frame(first: u8, payload: &[u8], masked: bool) -> Vec<u8> {
        let (fin, opcode) = frame::opening(first).unwrap();
        let key = masked.then_some(KEY);
        let header = Header { fin, opcode, len: u64::try_from(payload.len()).unwrap(), key };
        let mut bytes = payload.to_vec();
        frame::mask(key.unwrap_or_default(), 0, &mut bytes);
        [header.encode().bytes(), &bytes].concat()
    }

    fn holding(bytes: &[u8]) -> Receiver {
        let mut receiver = Receiver::new(true);
        assert!(receiver.rx.append(bytes));
        receiver
    }

    /// Returns the items of bytes that arrive in pieces of `cut`, as strings. Takes the same steps as the machines.
    fn received(bytes: &[u8], cut: usize, masked: bool, limit: usize, discard: bool) -> Vec<String> {
        let limits = Limits { message: limit, ..Limits::default() };
        let (mut receiver, mut found) = (Receiver::new(masked), Vec::new());
        for piece in bytes.chunks(cut) {
            assert!(receiver.rx.append(piece));
            if receiver.is_holding() && receiver.awaits_more() {
                continue;
            }
            loop {
                match receiver.next(&limits, discard) {
                    Ok(None) => break,
                    Ok(Some(item)) => found.push(shown(&receiver, item)),
                    Err(error) => {
                        found.push(format!("{error:?}"));
                        return found;
                    }
                }
            }
            receiver.rx.mark_drained();
        }
        found
    }

    fn shown(receiver: &Receiver, item: Item) -> String {
        match item {
            Item::Whole { kind, len } => format!("{kind:?} {}", receiver.rx.consumed(len).escape_ascii()),
            Item::Assembled(Kind::Text) => format!("Text {}", receiver.text().as_bytes().escape_ascii()),
            Item::Assembled(Kind::Binary) => format!("Binary {}", receiver.binary().escape_ascii()),
            Item::Control { opcode, len } => {
                format!("{opcode:?} {}", receiver.rx.consumed(len).escape_ascii())
            }
        }
    }

    /// Name, first bytes and payloads of frames, and their items with a limit of 12 bytes.
    const CASES: &[(&str, &[(u8, &[u8])], &[&str])] = &[
        ("text", &[(0x81, b"Hello")], &["Text Hello"]),
        ("without content", &[(0x81, b""), (0x82, b""), (0x89, b"")], &["Text ", "Binary ", "Ping "]),
        (
            "text at the limit, not ASCII",
            &[(0x81, b"a\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9ebc")],
            &["Text a\\xc3\\xa9\\xe2\\x82\\xac\\xf0\\x9d\\x84\\x9ebc"],
        ),
        (
            "binary, and another after it",
            &[(0x82, b"\xff\x80a\0"), (0x81, b"b")],
            &["Binary \\xff\\x80a\\x00", "Text b"],
        ),
        (
            "fragments",
            &[(1, b"a\xc3"), (0, b""), (0x8a, b"p"), (0, b"\xa9b"), (0x80, b"c"), (0x81, b"d")],
            &["Pong p", "Text a\\xc3\\xa9bc", "Text d"],
        ),
        (
            "binary fragments",
            &[(2, b"\xff"), (0, b"\xfe"), (0x80, b""), (0x82, b"e")],
            &["Binary \\xff\\xfe", "Binary e"],
        ),
        ("longer than the limit", &[(0x81, b"ok"), (0x82, b"thirteen byte")], &["Text ok", "MessageTooBig"]),
        (
            "fragments that exceed the limit together",
            &[(2, b"seven b"), (0x80, b"six by")],
            &["MessageTooBig"],
        ),
        (
            "fragments that reach the limit together",
            &[(2, b"six by"), (0x80, b"six by")],
            &["Binary six bysix by"],
        ),
        (
            "a long ping",
            &[(0x89, b"it is longer than messages are")],
            &["Ping it is longer than messages are"],
        ),
        ("a continuation of nothing", &[(0x80, b"a")], &["StrayContinuation"]),
        ("a message between fragments", &[(1, b"a"), (0x81, b"b")], &["InterleavedMessage"]),
        ("fragments that are not UTF-8", &[(1, b"a\xc3"), (0x80, b"b")], &["InvalidUtf8"]),
        ("fragments that end inside a character", &[(1, b"a"), (0x80, b"\xc3")], &["InvalidUtf8"]),
    ];

    #[test]
    fn received_messages_do_not_depend_on_cuts() {
        for (name, frames, expected) in CASES {
            for masked in [true, false] {
                let bytes: Vec<u8> =
                    frames.iter().flat_map(|(first, payload)| frame(*first, payload, masked)).collect();
                for cut in 1..=bytes.len() {
                    assert_eq!(
                        received(&bytes, cut, masked, 12, false),
                        *expected,
                        "{name}, in pieces of {cut}"
                    );
                }
            }
        }
        // More than this, and the receiver releases its buffer.
        let text = "x".repeat(LONG + 1) + "\u{e9}" + &"y".repeat(3000);
        for cut in [1, 7, 1000, LONG + 9, LONG + 10, 30_000] {
            let found = received(&frame(0x81, text.as_bytes(), true), cut, true, 1 << 20, false);
            assert_eq!(found, [format!("Text {}", text.as_bytes().escape_ascii())], "in pieces of {cut}");
        }
    }

    #[test]
    fn text_fails_at_its_first_invalid_byte() {
        let mut bytes = frame(0x81, b"ab\xffdefgh", true);
        bytes.truncate(bytes.len() - 5);
        for cut in 1..=bytes.len() {
            assert_eq!(received(&bytes, cut, true, 12, false), ["InvalidUtf8"], "in pieces of {cut}");
        }
    }

    #[test]
    fn dropped_messages_are_still_framed() {
        let frames: [(u8, &[u8]); 6] =
            [(0x81, b"\xff\xfe"), (0x82, b"bin"), (1, b"a"), (0, b"\xff"), (0x80, b"c"), (0x88, b"")];
        let bytes: Vec<u8> =
            frames.iter().flat_map(|(first, payload)| frame(*first, payload, true)).collect();
        for cut in 1..=bytes.len() {
            let mut found = received(&bytes, cut, true, 12, true);
            // The machines drop messages that are lent from the buffer.
            found.retain(|item| !matches!(item.as_str(), "Text \\xff\\xfe" | "Binary bin"));
            assert_eq!(found, ["Close "], "in pieces of {cut}");
        }
    }

    #[test]
    fn messages_stay_in_the_receive_buffer_if_possible() {
        let limits = Limits::default();
        for (name, first, payload, held) in [
            ("ASCII", 0x81, &b"abc"[..], true),
            ("text", 0x81, b"a\xc3\xa9", false),
            ("binary", 0x82, b"\xff\xfe\xfd", true),
            ("a fragment", 0x02, b"abc", false),
        ] {
            let bytes = frame(first, payload, true);
            let (last, others) = bytes.split_last().unwrap();
            let mut receiver = holding(others);
            assert!(!receiver.is_holding() && !receiver.awaits_more(), "{name}");
            assert_eq!(receiver.next(&limits, false), Ok(None), "{name}");
            assert_eq!((receiver.is_holding(), receiver.awaits_more()), (held, held), "{name}");
            receiver.rx.append(&[*last]);
            assert!(!receiver.awaits_more(), "{name}");
            let whole = holding(&bytes).next(&limits, false).unwrap();
            assert_eq!(matches!(whole, Some(Item::Whole { .. })), first != 0x02, "{name}");
        }
        let bytes = frame(0x82, b"\x01\x02\x03\x04", true);
        let mut receiver = holding(&bytes[..7]);
        assert_eq!(receiver.next(&limits, false), Ok(None));
        receiver.rx.append(&bytes[7..9]);
        assert!(receiver.awaits_more(), "two bytes of a binary message");
    }

    #[test]
    fn discarded_and_lent_messages_leave_nothing() {
        let limits = Limits::default();
        let mut receiver = holding(&frame(1, b"a", true));
        assert_eq!(receiver.next(&limits, false), Ok(None));
        receiver.rx.append(&frame(0x80, b"b", true)[..6]);
        assert_eq!(receiver.next(&limits, false), Ok(None));
        receiver.discard();
        receiver.rx.append(&frame(0x81, b"c", true));
        assert!(matches!(receiver.next(&limits, false), Ok(Some(Item::Whole { len: 1, .. }))));

        receiver.rx.append(&[frame(1, b"a", true), frame(0x80, b"b", true)].concat());
        assert_eq!(receiver.next(&limits, false), Ok(Some(Item::Assembled(Kind::Text))));
        assert_eq!(receiver.text(), "ab");
        receiver.trim();
        assert_eq!(receiver.text(), "");
    }

    #[test]
    fn fast_path_takes_only_common_frames() {
        for len in [0_usize, 1, 125, 126, 127, 300, 65_535, 65_536] {
            let payload = vec![b'a'; len];
            for first in [0x81, 0x82, 0x01, 0x80, 0x89, 0xc1] {
                let mut whole = frame(0x81, &payload, true);
                whole[0] = first;
                let all = whole.len();
                for (there, limit) in
                    [(all, len), (all, len + 1), (all, len.saturating_sub(1)), (all - 1, len)]
                {
                    let is_common =
                        matches!(first, 0x81 | 0x82) && len < 65_536 && there == all && len <= limit;
                    let mut receiver = holding(&whole[..there]);
                    let found = receiver.common(limit);
                    assert_eq!(
                        found.is_some(),
                        is_common,
                        "{first:x} of {len}, {there} there, limit {limit}"
                    );
                    if let Some(common) = found {
                        assert_eq!(common.kind, if first == 0x81 { Kind::Text } else { Kind::Binary });
                        assert_eq!(receiver.take_common(common), payload);
                        assert_eq!(receiver.rx.len(), 0);
                    }
                }
            }
        }
        let not_minimal = [&b"\x81\xfe\x00\x7d"[..], &[0; 129]].concat();
        let unmasked = [&b"\x81\x01"[..], &[b'a'; 9]].concat();
        for (name, bytes) in [("not minimal", not_minimal), ("not masked", unmasked)] {
            assert!(holding(&bytes).common(1000).is_none(), "{name}");
        }

        let limits = Limits::default();
        let mut receiver = holding(&frame(1, b"a", true));
        assert_eq!(receiver.next(&limits, false), Ok(None));
        receiver.rx.append(&frame(0x81, b"b", true));
        assert!(receiver.common(1000).is_none(), "between fragments");
        // These bytes lie within a frame, and look like a frame.
        let mut receiver = holding(b"\x82\x8a\0\0\0\0\x81\x80\0\0\0\0");
        assert_eq!(receiver.next(&limits, false), Ok(None));
        assert!(receiver.is_holding() && receiver.common(1000).is_none());
    }

    #[test]
    fn received_bytes_are_held_back_within_limits() {
        let limits = Limits { message: 100, outgoing: 50, ..Limits::default() };
        // Three of ten bytes of the payload have arrived.
        let cut = |first| frame(first, &[0; 10], true)[..9].to_vec();
        for (name, bytes, missing) in
            [("nothing", vec![], 0), ("a message", cut(0x82), 7), ("a fragment", cut(0x02), 7)]
        {
            let mut receiver = holding(&bytes);
            assert_eq!(receiver.next(&limits, false), Ok(None), "{name}");
            receiver.hold_back(&limits);
            assert_eq!(receiver.rx.allowed(), missing + 100 + 50 + frame::MAX_HEADER, "{name}");
        }
    }
}
