//! Turns the bytes of a terminal into events.
//!
//! terminput knows what a sequence means; this file finds where each one begins and ends. A sequence that has no end
//! must not hold up the keys after it, so silence ends it:
//!
//! ```text
//!           ESC            [ O              0x40–0x7e
//! Ground ────────▶ Escape ─────▶ Sequence ────────────▶ Ground: a key, the mouse, or nothing that we know
//!   ▲                │  │            │ ESC [ 200 ~                 ESC [ 201 ~, or silence
//!   │  a character   │  │ ] P X ^ _  └─────────────▶ Paste ───────────────────────────────▶ Ground: the text
//!   ├────────────────┘  │        BEL, ESC \, or a key with Ctrl
//!   │                   └─▶ String ─────────────────▶ Ground: the terminal's answer to another program, dropped
//!   └─ silence: Escape is the key Esc or a key with Alt, and what else has begun is dropped
//! ```
//! Keys count as silence too: otherwise a user who presses Ctrl+Q again and again would never leave a paste.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use std::mem;
use std::time::Duration;
use terminput_crossterm::to_crossterm;

/// The maximum length of the sequence of a key or of the mouse. Terminals send at most about 20 bytes.
const MAX_SEQUENCE: usize = 64;
/// The maximum length of a terminal's string that is dropped as a whole: enough for the answer with a large clipboard
/// (OSC 52). Bytes after it are read as keys.
const MAX_STRING: usize = 1 << 20;
/// From this length on, a paste arrives in several events, so that one without an end does not fill the memory.
const MAX_PASTE: usize = 1 << 20;
/// The silence after which ESC is the key Esc: what a terminal sends as one sequence arrives together.
const AFTER_ESCAPE: Duration = Duration::from_millis(50);
/// The silence that ends any other unfinished sequence, even over a slow connection.
const AFTER_BEGINNING: Duration = Duration::from_millis(500);
/// The silence that ends a paste.
const AFTER_PASTE: Duration = Duration::from_secs(1);
/// Fewer bytes than this do not interrupt a silence. A terminal sends faster, and nobody types so fast.
const MIN_PACE: usize = 64;

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// The bytes that have arrived and are not an event yet.
#[derive(Debug, Default)]
pub(crate) struct Bytes {
    pending: Vec<u8>,
    is_pasting: bool,
    /// How many bytes of the paste or string have been searched for its end.
    searched: usize,
    /// The number of bytes since the silence began; `None` if it begins now.
    since: Option<usize>,
}

/// What the bytes begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A key, the mouse or another sequence, with this number of bytes.
    Whole(usize),
    /// This number of bytes that mean nothing to a user.
    Dropped(usize),
    /// The beginning of something that is not complete yet.
    Begun,
}

impl Bytes {
    /// Takes bytes, and sends each event that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut send: impl FnMut(Event)) {
        if !self.is_pasting && matches!(self.pending.as_slice(), [] | [0x1b]) {
            self.since = None;
        }
        self.since =
            self.since.map(|since| since.saturating_add(bytes.len())).filter(|since| *since < MIN_PACE);
        self.pending.extend(bytes);
        let mut at = 0;
        loop {
            if self.is_pasting {
                self.pending.drain(..mem::take(&mut at));
                if !self.take_pasted(&mut send) {
                    return;
                }
                self.since = None;
            }
            let rest = self.pending.get(at..).unwrap_or_default();
            let found = first(rest, self.searched);
            self.searched = if found == Found::Begun { rest.len() } else { 0 };
            if found != Found::Begun {
                self.since = None;
            }
            match found {
                Found::Begun => break,
                Found::Dropped(length) => at = at.saturating_add(length),
                Found::Whole(length) => {
                    at = at.saturating_add(length);
                    match rest.get(..length) {
                        Some(PASTE_BEGINS) => self.is_pasting = true,
                        Some(whole) => event(whole).map_or((), &mut send),
                        None => {}
                    }
                }
            }
        }
        self.pending.drain(..at);
    }

    /// Returns true if the last bytes have interrupted the silence, so that it begins anew.
    pub(crate) fn begins_silence(&mut self) -> bool {
        self.since.replace(self.since.unwrap_or_default()).is_none()
    }

    /// Returns how long a silence must be to end the unfinished sequence or paste; `None` if there is none.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match self.pending.as_slice() {
            _ if self.is_pasting => Some(AFTER_PASTE),
            [] => None,
            b"\x1b" => Some(AFTER_ESCAPE),
            _ => Some(AFTER_BEGINNING),
        }
    }

    /// Ends the unfinished sequence or paste after a silence. A paste without an end keeps its text.
    pub(crate) fn silence(&mut self, mut send: impl FnMut(Event)) {
        let pending = mem::take(&mut self.pending);
        (self.searched, self.since) = (0, None);
        match pending.as_slice() {
            text if mem::take(&mut self.is_pasting) => send(pasted(text)),
            b"\x1b" => send(Event::Key(KeyCode::Esc.into())),
            // The beginning of a sequence is also what a key with Alt sends.
            [0x1b, key] if key.is_ascii() => {
                send(Event::Key(KeyEvent::new(KeyCode::Char(char::from(*key)), KeyModifiers::ALT)));
            }
            _ => {}
        }
    }

    /// Passes on the pasted text, in pieces if it is long. Returns false if its end has not arrived.
    fn take_pasted(&mut self, send: &mut impl FnMut(Event)) -> bool {
        let from = self.searched.saturating_sub(PASTE_ENDS.len());
        let unsearched = self.pending.get(from..).unwrap_or_default();
        let end = unsearched.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        if let Some(end) = end.map(|end| from.saturating_add(end)) {
            let text: Vec<u8> = self.pending.drain(..end).collect();
            self.pending.drain(..PASTE_ENDS.len());
            (self.is_pasting, self.searched) = (false, 0);
            send(pasted(&text));
            return true;
        }
        self.searched = self.pending.len();
        if self.pending.len() >= MAX_PASTE {
            let text: Vec<u8> = self.pending.drain(..piece(&self.pending)).collect();
            self.searched = self.pending.len();
            send(pasted(&text));
        }
        false
    }
}

/// Returns how much of a long paste can be passed on: up to the last line end, or else up to the last character. A
/// line end of two bytes is not split, nor is an end of the paste that has arrived in part.
fn piece(text: &[u8]) -> usize {
    let text = text.get(..text.len().saturating_sub(PASTE_ENDS.len())).unwrap_or_default();
    match text.iter().rposition(|byte| matches!(byte, b'\r' | b'\n')) {
        Some(line) if line.saturating_add(1) < text.len() => line.saturating_add(1),
        _ => std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len).max(1),
    }
}

fn pasted(text: &[u8]) -> Event {
    Event::Paste(String::from_utf8_lossy(text).into_owned())
}

/// Returns the event of a whole sequence, or `None` if it is nothing that a user did.
fn event(whole: &[u8]) -> Option<Event> {
    // A key in the form of xterm's modifyOtherKeys, which another program may have left on: terminput knows another
    // form.
    if let [0x1b, b'[', b'2', b'7', b';', held @ b'0'..=b'9', b';', key @ .., b'~'] = whole {
        return event(&[b"\x1b[", key, b";", &[*held], b"u"].concat());
    }
    // A report of the cursor's position looks like F3. But in F3 the first number is 1, and the second one is at most
    // 16: 1, and four bits of modifiers.
    let numbers = whole.strip_prefix(b"\x1b[").and_then(|rest| rest.strip_suffix(b"R"));
    if numbers.is_some_and(|numbers| numbers.len() > 4 || !numbers.is_empty() && !numbers.starts_with(b"1;"))
    {
        return None;
    }
    if is_outside(whole) {
        return None;
    }
    let event = to_crossterm(terminput::Event::parse_from(whole).ok()??).ok()?;
    // The number of a key (CSI u) can be that of a control character, which no key types.
    let is_control =
        matches!(event, Event::Key(KeyEvent { code: KeyCode::Char(key), .. }) if key.is_control());
    (!is_control).then_some(event)
}

/// Returns true for a mouse event in column or row 0. They count from 1, and terminput subtracts 1 without a check.
fn is_outside(whole: &[u8]) -> bool {
    match whole {
        [0x1b, b'[', b'M', _, column, row] => *column <= 32 || *row <= 32,
        [0x1b, b'[', numbers @ .., b'M' | b'm'] => {
            let mut numbers = numbers.split(|byte| *byte == b';').skip(1);
            numbers.any(|number| number.iter().all(|digit| *digit == b'0'))
        }
        _ => false,
    }
}

/// Finds what these bytes begin with. The first `searched` of them contain no end of a string.
fn first(bytes: &[u8], searched: usize) -> Found {
    match bytes {
        [] | [0x1b] => Found::Begun,
        [0x1b, b'[', b'M', place @ ..] => sized(bytes, place, 3),
        // The function keys of the Linux console.
        [0x1b, b'[', b'[', key @ ..] => sized(bytes, key, 1),
        [0x1b, b'[', sequence @ ..] => control_sequence(sequence),
        [0x1b, b'O', key @ ..] => sized(bytes, key, 1),
        [0x1b, b']' | b'P' | b'X' | b'^' | b'_', string @ ..] => {
            control_string(string, searched.saturating_sub(3))
        }
        // The key Esc, before another sequence.
        [0x1b, 0x1b, ..] => Found::Whole(1),
        [0x1b, key @ ..] => match character(key) {
            Found::Whole(length) => Found::Whole(length.saturating_add(1)),
            Found::Dropped(length) => Found::Dropped(length.saturating_add(1)),
            Found::Begun => Found::Begun,
        },
        _ => character(bytes),
    }
}

/// Finds a sequence that ends with a fixed number of bytes, `end`.
const fn sized(bytes: &[u8], end: &[u8], length: usize) -> Found {
    if end.len() < length {
        Found::Begun
    } else {
        Found::Whole(bytes.len().saturating_sub(end.len()).saturating_add(length))
    }
}

/// Finds the end of a sequence after its `ESC [` (ECMA-48 section 5.4). A byte that no sequence contains ends it
/// without being part of it: it is a key that was pressed meanwhile.
fn control_sequence(sequence: &[u8]) -> Found {
    let is_inside = |byte: &u8| (0x20..=0x3f).contains(byte);
    let inside = sequence.iter().take_while(|byte| is_inside(byte)).count();
    let length = inside.saturating_add(2);
    match sequence.get(inside) {
        Some(0x40..=0x7e) if length < MAX_SEQUENCE => Found::Whole(length.saturating_add(1)),
        Some(_) => Found::Dropped(length),
        None if length >= MAX_SEQUENCE => Found::Dropped(length),
        None => Found::Begun,
    }
}

/// Finds the end of a string after its first two bytes: BEL or ESC \. Any other ESC begins something new, and any other
/// control character is a key, since no answer contains one.
fn control_string(string: &[u8], searched: usize) -> Found {
    let unsearched = string.iter().enumerate().skip(searched);
    let end = unsearched.filter(|(_, byte)| byte.is_ascii_control()).map(|(at, _)| at).next();
    match (end, end.and_then(|end| string.get(end..))) {
        (Some(end), Some([0x1b])) if end < MAX_STRING => Found::Begun,
        (Some(end), Some([0x1b, b'\\', ..])) => Found::Dropped(end.saturating_add(4)),
        (Some(end), Some([0x1b, ..])) => Found::Dropped(end.saturating_add(2)),
        (Some(end), Some([0x07 | 0x18 | 0x1a, ..])) => Found::Dropped(end.saturating_add(3)),
        (Some(end), _) => Found::Dropped(end.saturating_add(2)),
        (None, _) if string.len() >= MAX_STRING => Found::Dropped(string.len().saturating_add(2)),
        (None, _) => Found::Begun,
    }
}

/// Finds a character in UTF-8.
fn character(bytes: &[u8]) -> Found {
    let length = match bytes.first() {
        None => return Found::Begun,
        Some(..0x80) => 1,
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) => return Found::Dropped(1),
    };
    let begin = bytes.get(..length).unwrap_or(bytes);
    match std::str::from_utf8(begin) {
        Ok(_) => Found::Whole(length),
        Err(error) if error.error_len().is_none() => Found::Begun,
        Err(error) => Found::Dropped(error.error_len().unwrap_or(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the events of bytes that arrive in these pieces, with silence at the end: keys by their character or
    /// name, a paste by its text.
    fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let (mut bytes, mut events) = (Bytes::default(), Vec::new());
        for piece in pieces {
            bytes.feed(piece, |event| events.push(event));
        }
        bytes.silence(|event| events.push(event));
        assert_eq!((bytes.patience(), bytes.pending.len()), (None, 0), "nothing is left after silence");
        let named = events.into_iter().map(|event| match event {
            Event::Key(KeyEvent { code: KeyCode::Char(key), modifiers: KeyModifiers::NONE, .. }) => {
                key.to_string()
            }
            Event::Key(key) => format!("{:?} {:?}", key.modifiers, key.code).to_lowercase(),
            Event::Paste(text) => format!("paste {text}"),
            other => format!("{other:?}"),
        });
        named.collect()
    }

    const QUIT: &str = "keymodifiers(control) char('q')";
    const ESCAPE: &str = "keymodifiers(0x0) esc";

    /// What a terminal sends by itself, and sequences that do not end: name, bytes, and their events.
    const OTHER: &[(&str, &[u8], &[&str])] = &[
        ("a report of a mode", b"\x1b[?2026;2$y", &[]),
        ("attributes of the terminal", b"\x1b[?62;22c\x1b[>41;354;0c", &[]),
        ("positions of the cursor", b"\x1b[12;40R\x1b[2;2R\x1b[1;140R", &[]),
        ("shift and F3", b"\x1b[1;2R", &["keymodifiers(shift) f(3)"]),
        ("a colour that ends with BEL", b"\x1b]11;rgb:0000/0000/0000\x07", &[]),
        ("a colour that ends with ST", b"\x1b]11;rgb:0000/0000/0000\x1b\\", &[]),
        ("a capability", b"\x1bP1+r544e=78\x1b\\", &[]),
        ("a version", b"\x1bP>|XTerm(370)\x1b\\", &[]),
        ("an answer about an image", b"\x1b_Gi=31;OK\x1b\\", &[]),
        ("a broken sequence", b"\x1b[1;\x11", &[QUIT]),
        ("a string that another sequence interrupts", b"\x1b]11;rgb\x1b[200~p\x1b[201~", &["paste p"]),
        ("a key within an OSC string", b"\x1b]11;rgb\x11", &[QUIT]),
        ("a key within a DCS string", b"\x1bP1+r\x11", &[QUIT]),
        ("a key as modifyOtherKeys", b"\x1b[27;5;113~", &[QUIT]),
        ("a cancelled string", b"\x1b]11;rgb\x18", &[]),
        (
            "a mouse click in the oldest encoding",
            b"\x1b[M !!",
            &["Mouse(MouseEvent { kind: Down(Left), column: 0, row: 0, modifiers: KeyModifiers(0x0) })"],
        ),
        ("bytes that are not UTF-8", b"\xff\xc0\xed\xa0\x80\x80", &[]),
        ("an unknown key", b"\x1b[99;5~\x1bOz", &[]),
        ("only the end of a paste", b"\x1b[201~", &[]),
        (
            "the mouse in column or row 0",
            b"\x1b[<0;0;1M\x1b[<0;1;0m\x1b[<0;00;5M\x1b[32;0;1M\x1b[M  !\x1b[M ! \x1b[<0;;1M",
            &[],
        ),
        ("control characters by number", b"\x1b[10u\x1b[0u\x1b[155u", &[]),
    ];

    #[test]
    fn answers_of_the_terminal_are_not_typed() {
        for (name, bytes, expected) in OTHER {
            let typed: Vec<u8> = [b"a", *bytes, b"\x11"].concat();
            let expected: Vec<&str> = [&["a"], *expected, &[QUIT]].concat();
            assert_eq!(events([typed.as_slice()]), expected, "{name}");
        }
    }

    #[test]
    fn silence_ends_an_unfinished_sequence() {
        let beginnings: &[(&str, &[u8], &[&str])] = &[
            ("escape", b"\x1b", &[ESCAPE]),
            ("escape twice", b"\x1b\x1b", &[ESCAPE, ESCAPE]),
            ("alt with an opening bracket", b"\x1b[", &["keymodifiers(alt) char('[')"]),
            ("alt with a closing bracket", b"\x1b]", &["keymodifiers(alt) char(']')"]),
            ("alt with o", b"\x1bO", &["keymodifiers(alt) char('o')"]),
            ("part of a sequence", b"\x1b[?2026;2$", &[]),
            ("part of a string", b"\x1b]11;rgb", &[]),
            ("a string with half of its end", b"\x1b]11;rgb\x1b", &[]),
            ("part of a character", b"\xe2\x9c", &[]),
            ("part of a mouse click", b"\x1b[M !", &[]),
            ("a paste without an end", b"\x1b[200~one\rtwo", &["paste one\rtwo"]),
            ("a paste with half of its end", b"\x1b[200~one\x1b[20", &["paste one\x1b[20"]),
        ];
        for (name, beginning, expected) in beginnings {
            let (mut bytes, mut seen) = (Bytes::default(), 0);
            bytes.feed(beginning, |_| seen += 1);
            assert!(bytes.patience().is_some(), "{name}: silence has to end it");
            assert_eq!(events([*beginning]), *expected, "{name}");
            // The key also gets through in the state that the silence has left.
            bytes.silence(|_| {});
            let mut quits = Vec::new();
            bytes.feed(b"\x11", |event| quits.push(event));
            assert_eq!(
                quits,
                [Event::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL))],
                "{name}"
            );
        }
    }

    /// Feeds pieces one after another, and checks which of them restart the silence.
    #[test]
    fn a_terminal_interrupts_a_silence_but_keys_do_not() {
        for begin in [PASTE_BEGINS, b"\x1b]11;"] {
            let mut bytes = Bytes::default();
            let mut is_new = |piece: &[u8]| {
                bytes.feed(piece, |_| {});
                bytes.begins_silence()
            };
            assert!(is_new(b"\x1b"), "ESC alone");
            assert!(is_new(&begin[1..]), "what it begins");
            assert!(!is_new(b"x"), "a key");
            assert!(!is_new(&[b'x'; MIN_PACE - 2]), "the most bytes that count as keys");
            assert!(is_new(b"x"), "one byte more");
            assert!(is_new(&[b'x'; MIN_PACE]), "a terminal");
            assert!(!is_new(b"x"), "a key after it");
        }
        let mut bytes = Bytes::default();
        bytes.feed(b"\x1b]1\x07\x1b]", |_| {});
        assert!(bytes.begins_silence() && !bytes.begins_silence());
        bytes.feed(b"1\x07\x1b]", |_| {});
        assert!(bytes.begins_silence(), "another string has begun");
    }

    #[test]
    fn input_can_be_cut_anywhere() {
        let all: Vec<u8> = OTHER.iter().flat_map(|(_, bytes, _)| bytes.iter().copied()).collect();
        let pasted =
            [b"\x1b[200~".as_slice(), "p\u{1f980}\u{e9}\r\n".repeat(3).as_bytes(), b"\x1b[201~"].concat();
        let stream = [&all, "x\u{1f980}".as_bytes(), &pasted, b"\x1b[A\x1bx\x1b[<0;5;2M", &all].concat();
        let expected = events([stream.as_slice()]);
        assert!(
            expected
                .contains(&"paste p\u{1f980}\u{e9}\r\np\u{1f980}\u{e9}\r\np\u{1f980}\u{e9}\r\n".to_owned())
        );
        for at in 0..stream.len() {
            let (one, other) = stream.split_at(at);
            assert_eq!(events([one, other]), expected, "cut at {at}");
        }
        arbtest::arbtest(|u| {
            let (mut rest, mut pieces) = (stream.as_slice(), Vec::new());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(u.int_in_range(1..=rest.len().min(40))?);
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(events(pieces), expected);
            Ok(())
        })
        .budget_ms(300);
    }

    /// Whatever bytes come, the next key gets through after a silence, and nothing else comes with it.
    #[test]
    fn any_bytes_let_the_next_key_through() {
        arbtest::arbtest(|u| {
            let (mut bytes, mut count) = (Bytes::default(), 0);
            for _ in 0..u.int_in_range(0..=6)? {
                let piece: &[u8] = match u.int_in_range(0..=2)? {
                    0 => u.arbitrary()?,
                    1 => u.choose(OTHER)?.1,
                    _ => u.choose(&[PASTE_BEGINS, PASTE_ENDS, b"\x1b", b"\x1b[", b"\x1bP", b"\x1b]"])?,
                };
                bytes.feed(piece, |_| count += 1);
            }
            bytes.silence(|_| count += 1);
            let mut events = Vec::new();
            bytes.feed(b"\x11", |event| events.push(event));
            assert_eq!(events, [Event::Key(KeyEvent::new(KeyCode::Char('q'), KeyModifiers::CONTROL))]);
            Ok(())
        })
        .budget_ms(300);
    }

    #[test]
    fn endless_sequences_and_strings_are_dropped_at_their_limit() {
        for (name, begin, fill, limit) in
            [("sequence", &b"\x1b["[..], b'1', MAX_SEQUENCE - 2), ("string", b"\x1b]", b'x', MAX_STRING)]
        {
            for (length, is_kept) in [(limit - 1, true), (limit, false)] {
                let mut bytes = Bytes::default();
                bytes.feed(begin, |event| panic!("{name}: {event:?}"));
                bytes.feed(&vec![fill; length], |event| panic!("{name}: {event:?}"));
                assert_eq!(bytes.patience().is_some(), is_kept, "{name} of {length}");
            }
        }
        // A sequence may end at the limit. One byte later, its end is read as a key.
        for (length, expected) in [(MAX_SEQUENCE - 3, vec!["q"]), (MAX_SEQUENCE - 2, vec!["~", "q"])] {
            let sequence = [b"\x1b[", vec![b'1'; length].as_slice(), b"~q"].concat();
            assert_eq!(events([sequence.as_slice()]), expected, "{length}");
        }
    }

    #[test]
    fn long_paste_arrives_in_pieces_without_a_loss() {
        for (name, line) in [
            ("lines", "some words\r"),
            ("lines that end with two bytes", "some words\r\n"),
            ("one line", "\u{1f980}"),
            ("replacement characters", "\u{fffd}"),
        ] {
            let text = line.repeat(3 * MAX_PASTE / line.len());
            let (mut bytes, mut pieces) = (Bytes::default(), Vec::new());
            let all = [PASTE_BEGINS, text.as_bytes(), PASTE_ENDS].concat();
            for piece in all.chunks(4096) {
                bytes.feed(piece, |event| match event {
                    Event::Paste(text) => pieces.push(text),
                    other => panic!("{name}: {other:?}"),
                });
                assert!(bytes.pending.len() < MAX_PASTE + 4096, "{name}");
            }
            assert!(pieces.len() > 2 && pieces.concat() == text, "{name}");
            let cut_line_end =
                pieces.windows(2).any(|two| two[0].ends_with('\r') && two[1].starts_with('\n'));
            assert!(!cut_line_end, "{name}: a line end is cut");
        }
    }
}
