//! A decoder for the input from a terminal: keys, mouse and pasted text.
//!
//! The caller passes the bytes with the time, as for every machine of this crate, so nothing here ever
//! waits. The reader of crossterm, in contrast, waits until a sequence is complete, and loops forever if
//! the terminal is gone. The sequences are those of xterm (ctlseqs: "PC-Style Function Keys", "Mouse
//! Tracking", mode 1006 for the mouse, 2004 for pasted text), which all current terminals send.
//!
//! ```text
//!            ESC [ 2 0 0 ~
//!   keys  ─────────────────▶  pasting
//!     ▲                          │ ESC [ 2 0 1 ~
//!     └──────────────────────────┘
//! ```
//! Time matters only for incomplete input. If the missing bytes do not arrive within [`ESCAPE`], the
//! decoder takes the bytes as they are: a lone ESC is the key.

use ide_mcp::Time;
use std::str;
use std::time::Duration;

/// The time limit for the missing bytes of a sequence. A terminal writes a sequence in one piece, but a
/// slow line can cut it.
const ESCAPE: Duration = Duration::from_millis(50);
/// The length that no sequence with a meaning here exceeds. If a sequence becomes longer and has no end,
/// the bytes that have arrived are dropped.
const LONGEST: usize = 32;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    Mouse(Mouse),
    /// A piece of pasted text. Its lines end with `\n`.
    Paste {
        text: String,
        /// True if the piece before belongs to the same paste.
        continues: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    /// False for a character, since Shift makes it another character.
    pub(crate) shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Char(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Insert,
    Esc,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    F(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mouse {
    pub(crate) what: MouseKind,
    /// The column, from 0.
    pub(crate) column: u16,
    /// The row, from 0.
    pub(crate) row: u16,
    pub(crate) shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MouseKind {
    Press,
    Drag,
    Release,
    WheelUp,
    WheelDown,
}

impl Key {
    pub(crate) const fn plain(code: Code) -> Self {
        Self { code, ctrl: false, alt: false, shift: false }
    }

    pub(crate) const fn ctrl(character: char) -> Self {
        Self { ctrl: true, ..Self::plain(Code::Char(character)) }
    }

    pub(crate) const fn alt(character: char) -> Self {
        Self { alt: true, ..Self::plain(Code::Char(character)) }
    }

    #[cfg(test)]
    pub(crate) const fn with(code: Code, ctrl: bool, shift: bool) -> Self {
        Self { code, ctrl, alt: false, shift }
    }
}

/// A decoder, with the bytes that it has not decoded yet.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    bytes: Vec<u8>,
    pasting: bool,
    /// True if a piece of the paste was returned.
    continues: bool,
    /// True if the last byte of a pasted text was `\r`: a `\n` after the `\r` is a part of its line end.
    after_return: bool,
    /// The time of the last bytes.
    fed: Time,
}

/// The decoding of the first bytes.
enum First {
    /// A number of bytes, and the input that they mean, if any.
    Whole(usize, Option<Input>),
    /// The beginning of an input.
    Part,
}

impl Decoder {
    pub(crate) fn feed(&mut self, now: Time, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.bytes.extend_from_slice(bytes);
            self.fed = now;
        }
    }

    /// Returns the next input of the person.
    pub(crate) fn next(&mut self, now: Time) -> Option<Input> {
        while !self.bytes.is_empty() {
            if !self.pasting && self.bytes.starts_with(PASTE_BEGIN) {
                self.bytes.drain(..PASTE_BEGIN.len());
                (self.pasting, self.continues) = (true, false);
                continue;
            }
            let is_late = self.fed.saturating_add(ESCAPE) <= now;
            let first = if self.pasting { self.pasted(is_late) } else { key(&self.bytes, is_late) };
            let First::Whole(length, input) = first else { return None };
            self.bytes.drain(..length.min(self.bytes.len()));
            if input.is_some() {
                return input;
            }
        }
        None
    }

    /// Returns the time at which incomplete input is taken as it is.
    pub(crate) fn deadline(&self) -> Option<Time> {
        (!self.bytes.is_empty()).then(|| self.fed.saturating_add(ESCAPE))
    }

    fn pasted(&mut self, is_late: bool) -> First {
        let bytes = self.bytes.as_slice();
        let end = bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        let text = match end {
            Some(0) => {
                self.pasting = false;
                self.after_return = false;
                return First::Whole(PASTE_END.len(), None);
            }
            Some(length) => bytes.get(..length).unwrap_or_default(),
            // The end of the paste has possibly begun.
            None => {
                let begun = (1..PASTE_END.len())
                    .rev()
                    .find(|length| PASTE_END.get(..*length).is_some_and(|begin| bytes.ends_with(begin)));
                let length = bytes.len().saturating_sub(begun.filter(|_| !is_late).unwrap_or_default());
                bytes.get(..length).unwrap_or_default()
            }
        };
        let (text, length) = match str::from_utf8(text) {
            Ok(text) => (text.to_owned(), text.len()),
            // An incomplete character waits for its missing bytes.
            Err(error) if error.error_len().is_none() && !is_late && end.is_none() => {
                let valid = text.get(..error.valid_up_to()).unwrap_or_default();
                (String::from_utf8_lossy(valid).into_owned(), valid.len())
            }
            Err(_) => (String::from_utf8_lossy(text).into_owned(), text.len()),
        };
        if length == 0 {
            return First::Part;
        }
        let starts_in_line_end = self.after_return && text.starts_with('\n');
        self.after_return = text.ends_with('\r');
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = if starts_in_line_end { text.get(1..).unwrap_or_default().to_owned() } else { text };
        let continues = self.continues;
        self.continues |= !text.is_empty();
        First::Whole(length, (!text.is_empty()).then_some(Input::Paste { text, continues }))
    }
}

/// Decodes the first bytes outside of a pasted text.
fn key(bytes: &[u8], is_late: bool) -> First {
    match bytes {
        [0x1b, b'[', rest @ ..] => sequence(rest, is_late),
        [0x1b, b'O', rest @ ..] => match rest.first() {
            Some(last) => First::Whole(3, cursor_key(*last, 0)),
            None if is_late => First::Whole(2, Some(Input::Key(alt(Key::plain(Code::Char('O')))))),
            None => First::Part,
        },
        [0x1b, 0x1b, ..] => First::Whole(1, Some(Input::Key(Key::plain(Code::Esc)))),
        [0x1b] if !is_late => First::Part,
        [0x1b] => First::Whole(1, Some(Input::Key(Key::plain(Code::Esc)))),
        [0x1b, rest @ ..] => match character(rest, is_late) {
            First::Whole(length, input) => First::Whole(
                length.saturating_add(1),
                input.map(|input| match input {
                    Input::Key(key) => Input::Key(alt(key)),
                    other => other,
                }),
            ),
            First::Part => First::Part,
        },
        _ => character(bytes, is_late),
    }
}

const fn alt(key: Key) -> Key {
    Key { alt: true, ..key }
}

/// Decodes a character, or the byte that a terminal sends for a key with Ctrl.
fn character(bytes: &[u8], is_late: bool) -> First {
    let key = |key: Key| First::Whole(1, Some(Input::Key(key)));
    match bytes {
        [] => First::Part,
        [0, ..] => key(Key::ctrl(' ')),
        [b'\r' | b'\n', ..] => key(Key::plain(Code::Enter)),
        [b'\t', ..] => key(Key::plain(Code::Tab)),
        [0x08 | 0x7f, ..] => key(Key::plain(Code::Backspace)),
        [byte @ 0x01..=0x1a, ..] => key(Key::ctrl(char::from(byte | 0x60))),
        [byte @ 0x1c..=0x1f, ..] => key(Key::ctrl(char::from(byte | 0x40))),
        [byte @ 0x20..=0x7e, ..] => key(Key::plain(Code::Char(char::from(*byte)))),
        _ => {
            let longest = bytes.get(..bytes.len().min(4)).unwrap_or_default();
            let valid = match str::from_utf8(longest) {
                Ok(text) => text,
                Err(error) => match (error.valid_up_to(), error.error_len()) {
                    (0, None) if !is_late => return First::Part,
                    (0, wrong) => return First::Whole(wrong.unwrap_or(longest.len()), None),
                    (length, _) => {
                        str::from_utf8(longest.get(..length).unwrap_or_default()).unwrap_or_default()
                    }
                },
            };
            match valid.chars().next() {
                Some(character) => {
                    First::Whole(character.len_utf8(), Some(Input::Key(Key::plain(Code::Char(character)))))
                }
                None => First::Part,
            }
        }
    }
}

/// Decodes the bytes after ESC and [.
fn sequence(rest: &[u8], is_late: bool) -> First {
    let Some(end) = rest.iter().position(|byte| matches!(byte, 0x40..=0x7e)) else {
        return match rest {
            // No terminal sends such a long sequence. Its end will be decoded as keys.
            _ if rest.len() > LONGEST => First::Whole(rest.len().saturating_add(2), None),
            [] if is_late => First::Whole(2, Some(Input::Key(alt(Key::plain(Code::Char('[')))))),
            _ if is_late => First::Whole(rest.len().saturating_add(2), None),
            _ => First::Part,
        };
    };
    let length = end.saturating_add(3);
    let (Some(parameters), Some(last)) = (rest.get(..end), rest.get(end)) else { return First::Part };
    let input = match (parameters, last) {
        ([b'<', parameters @ ..], b'M' | b'm') => mouse(parameters, *last == b'm'),
        ([], b'Z') => Some(Input::Key(Key { shift: true, ..Key::plain(Code::Tab) })),
        // The Linux console: ESC [ [ A to E.
        ([], b'[') => match rest.get(1) {
            Some(which @ b'A'..=b'E') => {
                let key = Key::plain(Code::F(which.saturating_sub(b'A').saturating_add(1)));
                return First::Whole(4, Some(Input::Key(key)));
            }
            None if !is_late => return First::Part,
            _ => None,
        },
        (parameters, b'~') => {
            let numbers = numbers(parameters);
            let modifiers = numbers.get(1).copied().unwrap_or_default();
            numbers.first().and_then(|number| editing_key(*number)).map(|code| modified(code, modifiers))
        }
        (parameters, last) => cursor_key(*last, numbers(parameters).get(1).copied().unwrap_or_default()),
    };
    First::Whole(length, input)
}

/// Returns the numbers between semicolons. A part that is not a number counts as 0.
fn numbers(parameters: &[u8]) -> Vec<u16> {
    let number = |digits: &[u8]| str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
    parameters.split(|byte| *byte == b';').map(|digits| number(digits).unwrap_or_default()).collect()
}

fn modified(code: Code, modifiers: u16) -> Input {
    // xterm sends 1 plus the sum of Shift 1, Alt 2, Ctrl 4.
    let bits = modifiers.saturating_sub(1);
    Input::Key(Key { code, shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 })
}

fn cursor_key(last: u8, modifiers: u16) -> Option<Input> {
    let code = match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(last.saturating_sub(b'P').saturating_add(1)),
        _ => return None,
    };
    Some(modified(code, modifiers))
}

const fn editing_key(number: u16) -> Option<Code> {
    Some(match number {
        1 | 7 => Code::Home,
        2 => Code::Insert,
        3 => Code::Delete,
        4 | 8 => Code::End,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11 => Code::F(1),
        12 => Code::F(2),
        13 => Code::F(3),
        14 => Code::F(4),
        15 => Code::F(5),
        17 => Code::F(6),
        18 => Code::F(7),
        19 => Code::F(8),
        20 => Code::F(9),
        21 => Code::F(10),
        23 => Code::F(11),
        24 => Code::F(12),
        _ => return None,
    })
}

fn mouse(parameters: &[u8], is_release: bool) -> Option<Input> {
    let numbers = numbers(parameters);
    let [buttons, column, row] = numbers.as_slice() else { return None };
    let what = match (buttons & 0b1110_0011, is_release) {
        (64, _) => MouseKind::WheelUp,
        (65, _) => MouseKind::WheelDown,
        (0, false) => MouseKind::Press,
        (0, true) => MouseKind::Release,
        (32, _) => MouseKind::Drag,
        _ => return None,
    };
    let shift = buttons & 4 != 0;
    Some(Input::Mouse(Mouse { what, column: column.checked_sub(1)?, row: row.checked_sub(1)?, shift }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the input from pieces that arrive at once, followed by the timeout.
    fn decoded(pieces: &[&[u8]]) -> Vec<Input> {
        let (mut decoder, mut all) = (Decoder::default(), Vec::new());
        for piece in pieces {
            decoder.feed(Time::ZERO, piece);
            all.extend(std::iter::from_fn(|| decoder.next(Time::ZERO)));
        }
        let late = Time::ZERO.saturating_add(ESCAPE);
        all.extend(std::iter::from_fn(|| decoder.next(late)));
        assert_eq!(decoder.deadline(), None, "{:?}", decoder.bytes);
        // The pieces of a paste are joined, since their boundaries do not matter.
        let mut joined: Vec<Input> = Vec::new();
        for input in all {
            match (joined.last_mut(), input) {
                (Some(Input::Paste { text, .. }), Input::Paste { text: more, continues: true }) => {
                    text.push_str(&more)
                }
                (_, input) => joined.push(input),
            }
        }
        joined
    }

    fn key(code: Code, modifiers: &str) -> Input {
        let has = |letter| modifiers.contains(letter);
        Input::Key(Key { code, ctrl: has('c'), alt: has('a'), shift: has('s') })
    }

    fn char(character: char) -> Input {
        key(Code::Char(character), "")
    }

    fn mouse(what: MouseKind, column: u16, row: u16) -> Input {
        Input::Mouse(Mouse { what, column, row, shift: false })
    }

    fn cases() -> Vec<(&'static str, Vec<u8>, Vec<Input>)> {
        let paste = |text: &str| Input::Paste { text: text.into(), continues: false };
        let of = |text: &str| text.as_bytes().to_vec();
        vec![
            ("letters", of("aB?"), vec![char('a'), char('B'), char('?')]),
            ("many bytes", of("\u{e9}\u{1f980}"), vec![char('\u{e9}'), char('\u{1f980}')]),
            ("no UTF-8", vec![0xff, b'a', 0xe2, 0x28], vec![char('a'), char('(')]),
            ("a character without its end", vec![0xe2, 0x9c], vec![]),
            (
                "enter, tab, backspace",
                of("\r\t\x7f\x08"),
                [Code::Enter, Code::Tab, Code::Backspace, Code::Backspace].map(|code| key(code, "")).into(),
            ),
            (
                "control",
                vec![0, 1, 26, 31],
                [' ', 'a', 'z', '_'].map(|letter| key(Code::Char(letter), "c")).into(),
            ),
            (
                "arrows",
                of("\x1b[A\x1b[B\x1bOC\x1bOD"),
                [Code::Up, Code::Down, Code::Right, Code::Left].map(|code| key(code, "")).into(),
            ),
            (
                "with modifiers",
                of("\x1b[1;2A\x1b[1;5C\x1b[1;6H\x1b[1;3D"),
                vec![key(Code::Up, "s"), key(Code::Right, "c"), key(Code::Home, "cs"), key(Code::Left, "a")],
            ),
            (
                "editing keys",
                of("\x1b[3~\x1b[5~\x1b[6;5~\x1b[1~\x1b[4~\x1b[2~"),
                vec![
                    key(Code::Delete, ""),
                    key(Code::PageUp, ""),
                    key(Code::PageDown, "c"),
                    key(Code::Home, ""),
                    key(Code::End, ""),
                    key(Code::Insert, ""),
                ],
            ),
            (
                "function keys",
                of("\x1bOP\x1bOR\x1b[15~\x1b[19~\x1b[24~\x1b[[B\x1b[1;2S"),
                vec![
                    key(Code::F(1), ""),
                    key(Code::F(3), ""),
                    key(Code::F(5), ""),
                    key(Code::F(8), ""),
                    key(Code::F(12), ""),
                    key(Code::F(2), ""),
                    key(Code::F(4), "s"),
                ],
            ),
            ("shift and tab", of("\x1b[Z"), vec![key(Code::Tab, "s")]),
            ("escape", of("\x1b"), vec![key(Code::Esc, "")]),
            ("escape twice", of("\x1b\x1b"), vec![key(Code::Esc, ""), key(Code::Esc, "")]),
            (
                "alt",
                of("\x1bx\x1b\r\x1b\u{e9}"),
                vec![key(Code::Char('x'), "a"), key(Code::Enter, "a"), key(Code::Char('\u{e9}'), "a")],
            ),
            ("alt and what begins sequences", of("\x1b["), vec![key(Code::Char('['), "a")]),
            ("alt and O", of("\x1bO"), vec![key(Code::Char('O'), "a")]),
            (
                "the mouse",
                of("\x1b[<0;1;1M\x1b[<32;5;2M\x1b[<0;5;2m\x1b[<64;9;9M\x1b[<65;300;200M"),
                vec![
                    mouse(MouseKind::Press, 0, 0),
                    mouse(MouseKind::Drag, 4, 1),
                    mouse(MouseKind::Release, 4, 1),
                    mouse(MouseKind::WheelUp, 8, 8),
                    mouse(MouseKind::WheelDown, 299, 199),
                ],
            ),
            (
                "other buttons, and nowhere",
                of("\x1b[<2;1;1M\x1b[<0;0;1M\x1b[<0;1M\x1b[<;;Ma"),
                vec![char('a')],
            ),
            ("what is unknown is passed over", of("\x1b[99~\x1b[?1;2cx"), vec![char('x')]),
            ("a sequence that is broken off", of("\x1b[1;"), vec![]),
            (
                "pasted",
                of("a\x1b[200~b\r\nc\rd\n\x1b[A\x1b[201~e"),
                vec![char('a'), paste("b\nc\nd\n\x1b[A"), char('e')],
            ),
            ("pasted, nothing", of("\x1b[200~\x1b[201~x"), vec![char('x')]),
            ("pasted, many bytes", of("\x1b[200~\u{1f980}\u{e9}\x1b[201~"), vec![paste("\u{1f980}\u{e9}")]),
        ]
    }

    #[test]
    fn input_does_not_depend_on_cuts() {
        for (name, bytes, expected) in cases() {
            assert_eq!(decoded(&[&bytes]), expected, "{name}");
            let bytewise: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(decoded(&bytewise), expected, "{name}, bytewise");
            let pairs: Vec<&[u8]> = bytes.chunks(2).collect();
            assert_eq!(decoded(&pairs), expected, "{name}, in pairs");
        }
    }

    #[test]
    fn escape_waits_50_ms_for_more() {
        let at = |millis| Time::ZERO.saturating_add(Duration::from_millis(millis));
        let mut decoder = Decoder::default();
        decoder.feed(at(100), b"\x1b");
        assert_eq!(decoder.next(at(149)), None);
        assert_eq!(decoder.deadline(), Some(at(150)));
        assert_eq!(decoder.next(at(150)), Some(key(Code::Esc, "")));
        decoder.feed(at(200), b"\x1b");
        assert_eq!(decoder.next(at(249)), None);
        decoder.feed(at(249), b"[");
        assert_eq!(decoder.next(at(298)), None);
        decoder.feed(at(298), b"A");
        assert_eq!(decoder.next(at(298)), Some(key(Code::Up, "")));
    }

    #[test]
    fn undecoded_bytes_are_bounded() {
        let mut decoder = Decoder::default();
        for _ in 0..1000 {
            decoder.feed(Time::ZERO, b"\x1b[1111111111111111111111111111111111111111111");
            while decoder.next(Time::ZERO).is_some() {}
            assert!(decoder.bytes.len() < 128);
        }
        decoder = Decoder::default();
        decoder.feed(Time::ZERO, PASTE_BEGIN);
        for _ in 0..1000 {
            decoder.feed(Time::ZERO, b"pasted\x1b[2");
            while decoder.next(Time::ZERO).is_some() {}
            assert!(decoder.bytes.len() < 128);
        }
    }

    #[test]
    fn any_bytes_are_decoded() {
        arbtest::arbtest(|u| {
            let pieces: Vec<Vec<u8>> = u.arbitrary()?;
            let whole = pieces.concat();
            let cut = decoded(&pieces.iter().map(Vec::as_slice).collect::<Vec<_>>());
            // The length limit of a sequence depends on the bytes that have arrived.
            if whole.len() < LONGEST && !whole.contains(&0xff) {
                assert_eq!(cut, decoded(&[&whole]), "{whole:?}");
            }
            Ok(())
        });
    }
}
