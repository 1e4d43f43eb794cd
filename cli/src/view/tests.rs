//! The rows of transcripts, in tables.

use super::*;
use crate::support::units::frame;
use std::time::Duration;

fn at(ms: u64, conn: u32, what: What) -> Line {
    Line { at: Time::new(Duration::from_millis(ms)), conn, what, by_tap: false }
}

fn bytes(ms: u64, from: Side, bytes: &[u8]) -> Line {
    at(ms, 1, What::Bytes(from, bytes.to_vec()))
}

fn text(ms: u64, from: Side, text: &str) -> Line {
    bytes(ms, from, &frame(text, from == Side::Agent))
}

/// Returns the rows of these lines, for a pipe or for a screen of this width.
fn shown(lines: &[Line], columns: Option<usize>) -> Vec<String> {
    let mut view = View::new(Filter::default());
    let screen = Screen { columns, has_colors: false };
    lines.iter().flat_map(|line| view.show(line, &screen)).collect()
}

#[test]
fn rows_name_sender_kind_and_request() {
    use Side::{Agent, Editor};
    let head = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
    let close = Line { by_tap: true, ..bytes(9_000, Editor, b"\x88\x02\x03\xe9") };
    let lines = [
        at(0, 1, What::Open),
        bytes(1, Agent, head),
        bytes(2, Editor, b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        text(5, Agent, r#"{"id":0,"method":"tools/list"}"#),
        text(12, Editor, r#"{"id":0,"result":{"tools":[]}}"#),
        text(
            20,
            Agent,
            r#"{"id":"a","method":"tools/call","params":{"name":"openDiff","arguments":{"x":1}}}"#,
        ),
        text(21, Editor, r#"{"method":"selection_changed","params":{"text":"日\u001b本"}}"#),
        text(
            3_020,
            Editor,
            r#"{"id":"a","result":{"content":[{"type":"text","text":"FILE_SAVED"},{"text":"y"}]}}"#,
        ),
        text(3_030, Agent, r#"[{"id":1,"method":"tools/call","params":{"name":"t"}},{"method":"n"}]"#),
        text(3_031, Editor, r#"{"id":1,"result":{"content":[],"isError":true}}"#),
        text(3_032, Editor, r#"{"id":7,"error":{"code":-32601,"message":"no"}}"#),
        text(3_033, Editor, "no JSON"),
        bytes(4_000, Editor, b"\x89\x01p"),
        bytes(4_001, Agent, b"\x8a\x81\0\0\0\0p"),
        close,
        at(9_001, 1, What::End(Agent, "end of the stream".into())),
    ];
    let expected = [
        "    0.000  1          open",
        "    0.001  1 agent  → handshake    GET / HTTP/1.1 | Host: a",
        "    0.002  1 editor → handshake    HTTP/1.1 101 Switching Protocols",
        "    0.005  1 agent  → request      tools/list #0",
        r#"    0.012  1 editor → answer       tools/list #0 in 7.0 ms {"tools":[]}"#,
        r##"    0.020  1 agent  → request      openDiff #"a" {"x":1}"##,
        r#"    0.021  1 editor → notification selection_changed {"text":"日\u001b本"}"#,
        r##"    3.020  1 editor → answer       openDiff #"a" in 3.0 s FILE_SAVED | y"##,
        "    3.030  1 agent  → request      t #1",
        "    3.030  1 agent  → notification n",
        r#"    3.031  1 editor → error        t #1 in 1.0 ms {"content":[],"isError":true}"#,
        "    3.032  1 editor → error        #7 -32601 no",
        "    3.033  1 editor → bytes        no JSON",
        "    4.000  1 editor → ping         p",
        "    4.001  1 agent  → pong         p",
        "    9.000  1 editor → close        (by the tap) 1001: the tap ended",
        "    9.001  1 agent  → end          end of the stream",
    ];
    assert_eq!(shown(&lines, None), expected);
}

#[test]
fn rows_are_safe_and_fit_the_screen() {
    let message = r#"{"id":1,"result":{"content":[{"text":"日\u001b[2J本語 is wide"}]}}"#;
    let lines = [at(1, 1, What::Text(Side::Editor, message.into()))];
    assert!(!shown(&lines, None)[0].contains('\u{1b}'));
    for (columns, text) in
        [(41, "日…"), (42, "日\u{fffd}…"), (46, "日\u{fffd}[2J…"), (47, "日\u{fffd}[2J本…")]
    {
        let row = format!("    0.001  1 editor → answer       #1 {text}");
        assert_eq!(shown(&lines, Some(columns)), [row], "{columns} columns");
    }
}

/// What the user must know is never cut: why a connection ended, and that a side is not shown any
/// more.
#[test]
fn ends_are_whole_on_a_narrow_screen() {
    let lost = "a message of more than 64 MiB: from here on the editor is not shown";
    let reason = "the connection broke off without a goodbye, as if the editor was killed or crashed";
    let close =
        [&b"\x88\x3a\x03\xf1"[..], "a message is longer than the 16777216 bytes of its limit".as_bytes()]
            .concat();
    let rows = [
        ("an end", vec![at(1, 1, What::End(Side::Editor, reason.into()))], reason),
        (
            "a close frame",
            vec![bytes(1, Side::Editor, b"HTTP/1.1 101 x\r\n\r\n"), bytes(2, Side::Editor, &close)],
            "1009: the editor closed the connection after a message that is too long for it: a message is longer than",
        ),
        (
            "a message that is too long",
            vec![
                bytes(1, Side::Editor, b"HTTP/1.1 101 x\r\n\r\n"),
                bytes(
                    2,
                    Side::Editor,
                    &[b"\x81\x7f\0\0\0\0\x7f\0\0\0".to_vec(), vec![b'x'; MAX_HELD]].concat(),
                ),
            ],
            lost,
        ),
    ];
    for (name, lines, expected) in rows {
        for columns in [80, 40, 24] {
            let shown = shown(&lines, Some(columns)).pop().unwrap();
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(words.join(" ").contains(expected), "{name}, {columns} columns: {shown}");
            assert!(
                shown.lines().all(|row| row.chars().count() <= columns),
                "{name}, {columns} columns: {shown}"
            );
        }
    }
}

#[test]
fn overlong_message_ends_one_side() {
    let mut view = View { max_held: 20, ..View::new(Filter::default()) };
    let screen = Screen { columns: None, has_colors: false };
    let mut show = |line: Line| view.show(&line, &screen);
    show(bytes(0, Side::Editor, b"HTTP/1.1 101 x\r\n\r\n"));
    // As many bytes as may be held, 20: the header of a frame with 30 bytes of text, and 18 of
    // these.
    let begin = [&b"\x81\x1e"[..], &[b'x'; 18]].concat();
    assert_eq!(show(bytes(1, Side::Editor, &begin)), [""; 0]);
    let rows = show(bytes(2, Side::Editor, b"x"));
    assert!(rows[0].contains("from here on the editor is not shown"), "{rows:?}");
    assert_eq!(show(bytes(3, Side::Editor, &frame("{}", false))), [""; 0]);
    assert_eq!(show(bytes(3, Side::Agent, b"GET / HTTP/1.1\r\n\r\n")).len(), 1, "the agent is shown");
}

#[test]
fn open_requests_have_a_limit() {
    let ask = |id: usize| text(0, Side::Agent, &format!(r#"{{"id":{id},"method":"m"}}"#));
    let answer = |id: usize| text(1, Side::Editor, &format!(r#"{{"id":{id},"result":1}}"#));
    let heads = [bytes(0, Side::Agent, b"GET\r\n\r\n"), bytes(0, Side::Editor, b"HTTP/1.1 101\r\n\r\n")];
    let mut lines: Vec<Line> = heads.into_iter().chain((0..=MAX_OPEN).map(ask)).collect();
    lines.extend([answer(MAX_OPEN - 1), answer(MAX_OPEN)]);
    let rows = shown(&lines, None);
    let [.., last, beyond] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(
        last.ends_with("m #1023 in 1.0 ms 1") && beyond.ends_with("answer       #1024 1"),
        "{last} {beyond}"
    );
}
