//! The comparison of recorded units with those of the replay, and the place of a difference.

use crate::support::units::Unit;
use ide_mcp::ide::display_safe;
use ide_mcp::ws::frame::Opcode;
use serde_json::Value;

/// The first place at which two units differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// A path such as `$.result.tools[2].name`, or another description of the place.
    pub(crate) path: String,
    pub(crate) recorded: String,
    pub(crate) now: String,
}

/// Returns the first difference; `None` if there is none.
pub(crate) fn compare(recorded: &Unit, now: &Unit) -> Option<Place> {
    if recorded == now {
        return None;
    }
    let whole = || Place { path: "what is said".into(), recorded: show(recorded), now: show(now) };
    Some(match (recorded, now) {
        (Unit::Head(recorded), Unit::Head(now)) => in_heads(recorded, now),
        (
            Unit::Frame { fin, opcode, payload: recorded },
            Unit::Frame { fin: now_fin, opcode: now_opcode, payload: now },
        ) if (fin, opcode) == (now_fin, now_opcode) && !opcode.is_control() => in_texts(recorded, now),
        _ => whole(),
    })
}

/// Describes a unit for a person.
pub(crate) fn show(unit: &Unit) -> String {
    match unit {
        Unit::Head(head) => format!("the head {}", quote(head)),
        Unit::Frame { opcode: Opcode::Close, payload, .. } => match payload.first_chunk::<2>() {
            Some(code) => {
                let reason = payload.get(2..).unwrap_or_default();
                format!("a close frame with {} {}", u16::from_be_bytes(*code), quote(reason))
            }
            None => "a close frame without a code".into(),
        },
        Unit::Frame { opcode: Opcode::Ping, payload, .. } => format!("a ping {}", quote(payload)),
        Unit::Frame { opcode: Opcode::Pong, payload, .. } => format!("a pong {}", quote(payload)),
        Unit::Frame { fin: true, opcode: Opcode::Text, payload } => format!("the message {}", quote(payload)),
        Unit::Frame { fin, opcode, payload } => {
            let last = if *fin { "the last " } else { "a " };
            format!("{last}frame {opcode:?} {}", quote(payload))
        }
        Unit::Junk(bytes) => format!("the bytes {}", quote(bytes)),
    }
}

/// The maximum number of characters that are shown of a text.
const SHOWN: usize = 300;

fn quote(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.trim_ascii_end()).replace("\r\n", " | ");
    let short: String = text.chars().take(SHOWN).collect();
    let more = if short.len() < text.len() { " …" } else { "" };
    format!("{}{more}", display_safe(&short))
}

fn in_heads(recorded: &[u8], now: &[u8]) -> Place {
    let lines = |head: &[u8]| -> Vec<String> {
        head.split(|byte| *byte == b'\n').map(|line| quote(line.trim_ascii_end())).collect()
    };
    let (recorded, now) = (lines(recorded), lines(now));
    let same = recorded.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let line = |lines: &[String]| lines.get(same).map_or_else(|| "nothing".into(), Clone::clone);
    let number = same.saturating_add(1);
    Place { path: format!("line {number} of the head"), recorded: line(&recorded), now: line(&now) }
}

fn in_texts(recorded: &[u8], now: &[u8]) -> Place {
    let (a, b) = (serde_json::from_slice::<Value>(recorded), serde_json::from_slice::<Value>(now));
    if let (Ok(a), Ok(b)) = (a, b) {
        if let Some(place) = in_values("$", Some(&a), Some(&b)) {
            return place;
        }
    }
    // The text is the same value in another spelling, or no JSON.
    let same = recorded.iter().zip(now).take_while(|(a, b)| a == b).count();
    let around = |text: &[u8]| quote(text.get(same.saturating_sub(20)..).unwrap_or_default());
    Place { path: format!("byte {same} of the text"), recorded: around(recorded), now: around(now) }
}

/// Returns the first difference of two values, in the order of names and of elements.
fn in_values(path: &str, recorded: Option<&Value>, now: Option<&Value>) -> Option<Place> {
    match (recorded, now) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let path = if plain { format!("{path}.{name}") } else { format!("{path}[{name:?}]") };
                in_values(&path, a.get(name), b.get(name))
            })
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => (0..a.len().max(b.len()))
            .find_map(|index| in_values(&format!("{path}[{index}]"), a.get(index), b.get(index))),
        (a, b) if a == b => None,
        (a, b) => {
            let show = |value: Option<&Value>| {
                value.map_or_else(|| "nothing".into(), |value| quote(value.to_string().as_bytes()))
            };
            Some(Place { path: path.into(), recorded: show(a), now: show(b) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Unit {
        Unit::Frame { fin: true, opcode: Opcode::Text, payload: text.into() }
    }

    #[test]
    fn the_first_difference_has_a_place() {
        let close =
            |payload: &[u8]| Unit::Frame { fin: true, opcode: Opcode::Close, payload: payload.into() };
        let head = |text: &str| Unit::Head(text.into());
        let cases: &[(&str, Unit, Unit, Option<(&str, &str, &str)>)] = &[
            ("the same", text("x"), text("x"), None),
            (
                "a member",
                text(r#"{"a":[1,{"b":2}]}"#),
                text(r#"{"a":[1,{"b":3}]}"#),
                Some(("$.a[1].b", "2", "3")),
            ),
            ("a missing one", text(r#"{"a":1}"#), text("{}"), Some(("$.a", "1", "nothing"))),
            ("one too many", text("[]"), text("[null]"), Some(("$[0]", "nothing", "null"))),
            ("an odd name", text(r#"{"a b":1}"#), text(r#"{"a b":2}"#), Some((r#"$["a b"]"#, "1", "2"))),
            ("another kind", text(r#"{"a":{}}"#), text(r#"{"a":[]}"#), Some(("$.a", "{}", "[]"))),
            ("spelled otherwise", text("[1]"), text("[ 1]"), Some(("byte 1 of the text", "[1]", "[ 1]"))),
            ("no JSON", text("abc"), text("abd"), Some(("byte 2 of the text", "abc", "abd"))),
            (
                "a close code",
                close(b"\x03\xe8"),
                close(b"\x03\xe9bye"),
                Some(("what is said", "a close frame with 1000 ", "a close frame with 1001 bye")),
            ),
            (
                "another frame",
                text("x"),
                close(b""),
                Some(("what is said", "the message x", "a close frame without a code")),
            ),
            (
                "a head",
                head("A\r\nB: 1\r\n"),
                head("A\r\nB: 2\r\n"),
                Some(("line 2 of the head", "B: 1", "B: 2")),
            ),
            ("a shorter head", head("A\r\nB"), head("A"), Some(("line 2 of the head", "B", "nothing"))),
        ];
        for (name, recorded, now, expected) in cases {
            let place = compare(recorded, now);
            let place = place.as_ref().map(|place| (&*place.path, &*place.recorded, &*place.now));
            assert_eq!(place, *expected, "{name}");
        }
    }

    #[test]
    fn long_or_unsafe_text_is_shown_safely() {
        let place = compare(&text(&"x".repeat(1000)), &text("\u{1b}[2J")).unwrap();
        assert!(place.recorded.chars().count() < 310 && place.recorded.ends_with('…'), "{}", place.recorded);
        assert!(!place.now.contains('\u{1b}'), "{}", place.now);
    }
}
