use super::sequences::LONGEST;
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
        ("other buttons, and nowhere", of("\x1b[<2;1;1M\x1b[<0;0;1M\x1b[<0;1M\x1b[<;;Ma"), vec![char('a')]),
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
