//! Removes tokens from recorded bytes: in a head or in a message, masked or not, fragmented or not, and wherever a
//! read ends.
//!
//! A star replaces each byte of a token, so that the length stays. The redactor holds back what may be the beginning
//! of a token until the next bytes arrive. These are few bytes, and most often none.

mod secret;

use ide_mcp::ws::frame::{Header, Opcode, mask};
use secret::Secret;
use std::collections::VecDeque;

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct Redactor {
    secrets: Vec<Secret>,
    /// True if the frames are masked, as those of an agent are.
    masked: bool,
    walk: Walk,
    /// The bytes that the redactor holds back.
    held: Vec<u8>,
    data: Search,
    control: Search,
}

/// The position in the stream.
#[derive(Debug)]
enum Walk {
    /// In a head: its first bytes, and the number of bytes of [`END`] that match so far.
    Head { first: Vec<u8>, end: usize },
    /// In the header of a frame.
    Frame { header: Vec<u8> },
    /// In the payload of a frame.
    Payload { header: Header, done: u64 },
    /// In other bytes, up to the end.
    Plain,
    /// In a head without an end, up to the end of the stream: the tokens in it are unknown.
    Hidden,
}

/// The search for the secrets in the data frames or in the control frames.
#[derive(Debug, Default)]
struct Search {
    /// The number of matched bytes of each secret.
    matched: Vec<usize>,
    /// The most recent bytes in `held`, as many as the longest match.
    trail: VecDeque<Trace>,
}

/// A byte in `held` that may belong to a secret.
#[derive(Clone, Copy, Debug)]
struct Trace {
    at: usize,
    /// The byte that is a star after unmasking. Two secrets may overlap, so the byte in `held` may already be this
    /// one.
    star: u8,
}

/// At least this many bytes that begin like a token are taken for a part of it.
const SUSPICIOUS: usize = 8;

const SWITCHING: &[u8] = b"HTTP/1.1 101";
const END: &[u8] = b"\r\n\r\n";

impl Redactor {
    /// Creates a redactor for the bytes of an agent after the head of its request. `whole` is true
    /// if the head was complete.
    pub(crate) fn of_agent(secrets: &[&[u8]], whole: bool) -> Self {
        let walk = if whole { Walk::Frame { header: Vec::new() } } else { Walk::Plain };
        Self::new(secrets, true, walk)
    }

    /// Creates a redactor for the bytes of an editor, from the head of its answer on.
    pub(crate) fn of_editor(secrets: &[&[u8]]) -> Self {
        Self::new(secrets, false, Walk::Head { first: Vec::new(), end: 0 })
    }

    /// Creates a redactor for the remaining bytes of a head that is too long. It hides everything.
    pub(crate) fn of_endless_head() -> Self {
        Self::new(&[], true, Walk::Hidden)
    }

    fn new(secrets: &[&[u8]], masked: bool, walk: Walk) -> Self {
        let secrets: Vec<Secret> = secrets.iter().map(|bytes| Secret::new(bytes)).collect();
        let search = || Search { matched: vec![0; secrets.len()], trail: VecDeque::new() };
        let (data, control) = (search(), search());
        Self { secrets, masked, walk, held: Vec::new(), data, control }
    }

    /// Takes these bytes, and returns those that can be recorded now.
    pub(crate) fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut rest = bytes;
        while let [first, after @ ..] = rest {
            rest = match &mut self.walk {
                Walk::Payload { header, done } => {
                    let left = usize::try_from(header.len.saturating_sub(*done)).unwrap_or(usize::MAX);
                    let (piece, after) = rest.split_at(left.min(rest.len()));
                    let (header, from) = (*header, *done);
                    *done = done.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
                    if *done >= header.len {
                        self.walk = Walk::Frame { header: Vec::new() };
                    }
                    self.payload(header, from, piece);
                    after
                }
                Walk::Plain => {
                    self.search(Opcode::Text, rest, rest);
                    &[]
                }
                Walk::Hidden => {
                    self.held.resize(self.held.len().saturating_add(rest.len()), b'-');
                    &[]
                }
                Walk::Head { .. } | Walk::Frame { .. } => {
                    self.single(*first);
                    after
                }
            };
        }
        let known = self.data.trail.iter().chain(&self.control.trail).map(|trace| trace.at).min();
        let known = known.unwrap_or(self.held.len());
        for trace in self.data.trail.iter_mut().chain(&mut self.control.trail) {
            trace.at = trace.at.saturating_sub(known);
        }
        let rest = self.held.split_off(known.min(self.held.len()));
        std::mem::replace(&mut self.held, rest)
    }

    /// Returns the held bytes at the end. The beginning of a token, from [`SUSPICIOUS`] bytes on, is as secret as the
    /// token, and becomes stars too.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        for search in [&mut self.data, &mut self.control] {
            let longest = search.matched.iter().max().copied().unwrap_or_default();
            if longest >= SUSPICIOUS {
                hide(&mut self.held, &search.trail, longest);
            }
            search.trail.clear();
        }
        std::mem::take(&mut self.held)
    }

    /// Returns true between two frames, and before the first.
    pub(crate) fn is_between_frames(&self) -> bool {
        matches!(&self.walk, Walk::Frame { header } if header.is_empty())
    }

    /// Takes a byte of a head or of the header of a frame.
    fn single(&mut self, byte: u8) {
        match &mut self.walk {
            Walk::Head { first, end } => {
                if first.len() < SWITCHING.len() {
                    first.push(byte);
                }
                *end = match END.get(*end) {
                    Some(next) if *next == byte => end.saturating_add(1),
                    _ => usize::from(byte == b'\r'),
                };
                if *end == END.len() {
                    let frames = first == SWITCHING;
                    self.walk = if frames { Walk::Frame { header: Vec::new() } } else { Walk::Plain };
                }
                self.search(Opcode::Text, &[byte], &[byte]);
            }
            Walk::Frame { header } => {
                header.push(byte);
                let parsed = Header::parse(header, self.masked);
                self.held.push(byte);
                match parsed {
                    Ok(None) => {}
                    Ok(Some((header, _))) if header.len == 0 => {
                        self.walk = Walk::Frame { header: Vec::new() };
                    }
                    Ok(Some((header, _))) => self.walk = Walk::Payload { header, done: 0 },
                    // The receiver of an invalid header ends the connection.
                    Err(_) => self.walk = Walk::Plain,
                }
            }
            Walk::Payload { .. } | Walk::Plain | Walk::Hidden => {}
        }
    }

    fn payload(&mut self, header: Header, from: u64, piece: &[u8]) {
        let mut plain = piece.to_vec();
        if let Some(key) = header.key {
            // Only the position within the key matters.
            mask(key, usize::try_from(from % 4).unwrap_or_default(), &mut plain);
        }
        if header.opcode.is_control() && from == 0 {
            self.control.matched.fill(0);
            self.control.trail.clear();
        }
        self.search(header.opcode, piece, &plain);
    }

    /// Holds these bytes, `raw` as received, and replaces the tokens in them by stars.
    fn search(&mut self, opcode: Opcode, raw: &[u8], plain: &[u8]) {
        let search = if opcode.is_control() { &mut self.control } else { &mut self.data };
        for (raw, byte) in raw.iter().zip(plain) {
            search.trail.push_back(Trace { at: self.held.len(), star: raw ^ byte ^ b'*' });
            self.held.push(*raw);
            for (secret, matched) in self.secrets.iter().zip(&mut search.matched) {
                *matched = secret.step(*matched, *byte);
                if *matched == secret.len() {
                    *matched = secret.after_whole();
                    hide(&mut self.held, &search.trail, secret.len());
                }
            }
            let keep = search.matched.iter().max().copied().unwrap_or_default();
            search.trail.drain(..search.trail.len().saturating_sub(keep));
        }
    }
}

/// Replaces the last `len` bytes of `trail` by stars.
fn hide(held: &mut [u8], trail: &VecDeque<Trace>, len: usize) {
    for trace in trail.iter().rev().take(len) {
        if let Some(raw) = held.get_mut(trace.at) {
            *raw = trace.star;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"aabaaac";
    const OTHER: &[u8] = b"zz";

    fn frame(first: u8, key: Option<[u8; 4]>, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first, u8::try_from(payload.len()).unwrap()];
        let start = bytes.len() + key.map_or(0, |_| 4);
        if let Some(key) = key {
            bytes[1] |= 0x80;
            bytes.extend(key);
        }
        bytes.extend(payload);
        if let Some(key) = key {
            mask(key, 0, &mut bytes[start..]);
        }
        bytes
    }

    /// Checks that the size of the reads does not matter: all bytes, one byte, and three bytes at a time.
    fn check(name: &str, new: impl Fn() -> Redactor, bytes: &[u8], expected: &[u8]) {
        for size in [bytes.len(), 1, 3] {
            let mut redactor = new();
            let mut out: Vec<u8> = bytes.chunks(size).flat_map(|chunk| redactor.pass(chunk)).collect();
            out.extend(redactor.finish());
            assert_eq!(out, expected, "{name} in pieces of {size}");
        }
    }

    #[test]
    fn tokens_become_stars_in_all_places() {
        let texts: &[(&str, &[u8], &[u8])] = &[
            ("none", b"aabaaab", b"aabaaab"),
            ("alone", SECRET, b"*******"),
            ("after its own beginning", b"aabaaabaaac", b"aaba*******"),
            ("twice", b"aabaaacaabaaac", b"**************"),
            ("the other, which overlaps itself", b"xzzzx", b"x***x"),
            ("both", b"zzaabaaaczz", b"***********"),
            ("cut off", b"xaabaaa", b"xaabaaa"),
        ];
        for (name, text, expected) in texts {
            let key = Some([1, 2, 3, 4]);
            let agent = || Redactor::of_agent(&[SECRET, OTHER], true);
            let ping = frame(0x89, key, b"aab");
            let masked = |text: &[u8]| [frame(0x81, key, text), ping.clone()].concat();
            check(name, agent, &masked(text), &masked(expected));
            let fragments = |text: &[u8]| {
                let (a, b) = text.split_at(2);
                let (first, last) = (frame(0x01, key, a), frame(0x80, Some([9, 9, 0, 0]), b));
                [first, ping.clone(), last].concat()
            };
            check(name, agent, &fragments(text), &fragments(expected));

            let editor = || Redactor::of_editor(&[SECRET, OTHER]);
            let head = b"HTTP/1.1 101 Switching Protocols\r\nA: b\r\n\r\n".as_slice();
            let plain = |text: &[u8]| {
                [head, &frame(0x82, None, text), &frame(0x8a, None, text), &frame(0x88, None, b"")].concat()
            };
            check(name, editor, &plain(text), &plain(expected));
            let refusal = |text: &[u8]| [b"HTTP/1.1 401 No\r\nA: b\r\n\r\n", text].concat();
            check(name, editor, &refusal(text), &refusal(expected));
            let garbage = |text: &[u8]| [b"\xff\xff", text].concat();
            check(name, agent, &garbage(text), &garbage(expected));
            check(name, || Redactor::of_agent(&[SECRET, OTHER], false), text, expected);
        }
    }

    #[test]
    fn overlapping_tokens_stay_hidden() {
        let cases: &[(&str, &[&[u8]], &[u8], &[u8])] = &[
            ("one inside the other", &[SECRET, b"aa"], b"xaabaaacx", b"x*******x"),
            ("the shorter first", &[b"aa", SECRET], b"xaabaaacx", b"x*******x"),
            ("the same twice", &[SECRET, SECRET], b"xaabaaacx", b"x*******x"),
            ("one that overlaps itself", &[b"abab"], b"xabababx", b"x******x"),
            ("the end of one begins the other", &[b"abcd", b"cdef"], b"xabcdefx", b"x******x"),
        ];
        for (name, secrets, text, expected) in cases {
            for key in [None, Some([1, 2, 3, 4])] {
                let whole = key.is_some();
                let new =
                    || if whole { Redactor::of_agent(secrets, true) } else { Redactor::of_editor(secrets) };
                let head = if whole { &b""[..] } else { b"HTTP/1.1 101 Switching Protocols\r\n\r\n" };
                let framed = |text: &[u8]| [head, &frame(0x81, key, text)].concat();
                check(name, new, &framed(text), &framed(expected));
            }
        }
    }

    #[test]
    fn only_beginning_of_token_is_held_back() {
        let mut redactor = Redactor::of_agent(&[SECRET], true);
        let key = Some([0; 4]);
        let bytes = frame(0x01, key, b"xyaab");
        assert_eq!(redactor.pass(&bytes), bytes[..bytes.len() - 3]);
        assert!(redactor.is_between_frames());
        let ping = frame(0x89, key, b"");
        assert_eq!(redactor.pass(&ping), b"", "the bytes after a held beginning are held too");
        let rest = frame(0x80, key, b"x");
        assert_eq!(redactor.pass(&rest), [b"aab", &ping[..], &rest].concat());
        assert!(!Redactor::of_editor(&[SECRET]).is_between_frames());
    }

    #[test]
    fn cut_token_is_hidden_from_eight_bytes() {
        let (one, two) = (b"0123456789abcdef".as_slice(), b"0123-editor-1".as_slice());
        let cases: &[(&[u8], &[u8])] = &[
            (b"x01234567", b"x********"),
            (b"x0123456789abcde", b"x***************"),
            (b"x0123456", b"x0123456"),
            (b"x0123-editor-", b"x************"),
        ];
        for (text, expected) in cases {
            let key = Some([1, 2, 3, 4]);
            let agent = || Redactor::of_agent(&[one, two], true);
            check("masked", agent, &frame(0x01, key, text), &frame(0x01, key, expected));
            check("plain", || Redactor::of_agent(&[one, two], false), text, expected);
        }
    }

    #[test]
    fn endless_head_is_hidden_completely() {
        let text = b"X-Claude-Code-Ide-Authorization: foreign\r\n\r\n";
        check("endless", Redactor::of_endless_head, text, &vec![b'-'; text.len()]);
        assert!(!Redactor::of_endless_head().is_between_frames());
    }
}
