//! Pairs of units, as tables.

use super::*;
use ide_mcp::Time;

fn of(unit: Unit, message: Option<&str>) -> Expected {
    Expected { line: 1, at: Time::ZERO, unit, message: message.map(Into::into) }
}

fn text(text: &str) -> Expected {
    of(Unit::Frame { fin: true, opcode: Opcode::Text, payload: text.into() }, Some(text))
}

fn control(opcode: Opcode, payload: &[u8]) -> Expected {
    of(Unit::Frame { fin: true, opcode, payload: payload.into() }, None)
}

fn head(text: &str) -> Expected {
    of(Unit::Head(text.into()), None)
}

type Case<'a> = (&'a str, Expected, Expected, Option<(&'a str, &'a str, &'a str)>);

#[track_caller]
fn check(by: Comparison, cases: &[Case<'_>]) {
    for (name, recorded, now, expected) in cases {
        let place = compare(recorded, now, by, &Ids::default());
        let place = place.as_ref().map(|place| (&*place.path, &*place.recorded, &*place.now));
        assert_eq!(place, *expected, "{name}");
    }
}

#[test]
fn bytes_differ_in_spelling_too() {
    let cases = [
        ("the same", text("x"), text("x"), None),
        ("a member", text(r#"{"a":[1,{"b":2}]}"#), text(r#"{"a":[1,{"b":3}]}"#), Some(("a[1].b", "2", "3"))),
        ("another spelling", text("[1]"), text("[ 1]"), Some(("byte 1 of the text", "[1]", "[ 1]"))),
        ("not JSON", text("abc"), text("abd"), Some(("byte 2 of the text", "abc", "abd"))),
        (
            "a close code",
            control(Opcode::Close, b"\x03\xe8"),
            control(Opcode::Close, b"\x03\xe9bye"),
            Some(("the message", "a close frame with 1000 ", "a close frame with 1001 bye")),
        ),
        (
            "another frame",
            text("x"),
            control(Opcode::Close, b""),
            Some(("the message", "the message x", "a close frame without a code")),
        ),
        (
            "a head",
            head("A\r\nB: 1\r\n"),
            head("A\r\nB: 2\r\n"),
            Some(("line 2 of the head", "B: 1", "B: 2")),
        ),
        ("a shorter head", head("A\r\nB"), head("A"), Some(("line 2 of the head", "B", "nothing"))),
    ];
    check(Comparison::Bytes, &cases);
}

#[test]
fn meaning_differs_by_values() {
    let ask = |id: u64, method: &str| text(&format!(r#"{{"id":{id},"method":"{method}"}}"#));
    let error = |code: i64, message: &str| {
        text(&format!(r#"{{"id":1,"error":{{"code":{code},"message":"{message}"}}}}"#))
    };
    let answer = |result: &str| text(&format!(r#"{{"id":1,"result":{result}}}"#));
    let cases = [
        ("another spelling", answer("[1]"), text(r#"{"result": [1.0], "id": 1}"#), None),
        ("a value", answer(r#"{"a":[1]}"#), answer(r#"{"a":[2]}"#), Some(("result.a[0]", "1", "2"))),
        ("the id of a request of the replayed side", ask(9001, "ping"), ask(1, "ping"), None),
        ("the text of an error about an unknown method", error(-32601, "a"), error(-32601, "b"), None),
        (
            "the text of another error",
            error(-32602, "a"),
            error(-32602, "b"),
            Some(("error.message", "\"a\"", "\"b\"")),
        ),
        (
            "the code of an error",
            error(-32601, "a"),
            error(-32602, "a"),
            Some(("error.code", "-32601", "-32602")),
        ),
        (
            "another answer",
            text(r#"{"id":1,"result":1}"#),
            text(r#"{"id":2,"result":1}"#),
            Some(("the message", r#"the message {"id":1,"result":1}"#, r#"the message {"id":2,"result":1}"#)),
        ),
        (
            "the reason of a close",
            control(Opcode::Close, b"\x03\xe8a"),
            control(Opcode::Close, b"\x03\xe8"),
            None,
        ),
        (
            "the code of a close",
            control(Opcode::Close, b"\x03\xe8"),
            control(Opcode::Close, b"\x03\xe9"),
            Some(("the message", "a close frame with 1000 ", "a close frame with 1001 ")),
        ),
        (
            "the order and case of fields",
            head("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nDate: x\r\n\r\n"),
            head("HTTP/1.1 101 OK\r\nServer: y\r\nupgrade: WebSocket\r\n\r\n"),
            None,
        ),
        (
            "a field",
            head("HTTP/1.1 101 x\r\nSec-WebSocket-Protocol: mcp\r\n\r\n"),
            head("HTTP/1.1 101 x\r\n\r\n"),
            Some(("sec-websocket-protocol in the head", "mcp", "nothing")),
        ),
        (
            "a status",
            head("HTTP/1.1 101 x\r\n\r\n"),
            head("HTTP/1.1 401 x\r\n\r\n"),
            Some(("the first line of the head", "HTTP/1.1 101", "HTTP/1.1 401")),
        ),
    ];
    check(Comparison::Meaning, &cases);
}

#[test]
fn order_matters_where_protocol_requires_it() {
    let ask = |method: &str| text(&format!(r#"{{"id":1,"method":"{method}"}}"#));
    let notify = |method: &str| text(&format!(r#"{{"method":"{method}"}}"#));
    let answer = |id: u32| text(&format!(r#"{{"id":{id},"result":1}}"#));
    let cases = [
        ("two answers", answer(1), answer(2), true),
        ("an answer and a push", answer(1), notify("selection_changed"), true),
        ("two pushes", notify("selection_changed"), notify("at_mentioned"), true),
        ("pushes with the same method", notify("selection_changed"), notify("selection_changed"), false),
        ("progress and an answer", notify("notifications/progress"), answer(1), false),
        ("a request and an answer", ask("roots/list"), answer(1), true),
        ("a ping and an answer", control(Opcode::Ping, b""), answer(1), true),
        ("two pings", control(Opcode::Ping, b""), control(Opcode::Ping, b""), false),
        ("the handshake of the session", ask("initialize"), notify("selection_changed"), false),
        ("a close frame", control(Opcode::Close, b""), answer(1), false),
        ("a head", head("HTTP/1.1 101"), answer(1), false),
    ];
    for (name, a, b, expected) in cases {
        assert_eq!(are_independent(&a, &b), expected, "{name}");
        assert_eq!(are_independent(&b, &a), expected, "{name}, the other way round");
    }
}

#[test]
fn long_or_unsafe_text_is_shown_safely() {
    let place =
        compare(&text(&"x".repeat(1000)), &text("\u{1b}[2J"), Comparison::Bytes, &Ids::default()).unwrap();
    assert!(place.recorded.chars().count() < 310 && place.recorded.ends_with('…'), "{}", place.recorded);
    assert!(!place.now.contains('\u{1b}'), "{}", place.now);
}
