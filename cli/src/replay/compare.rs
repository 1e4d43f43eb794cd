//! Compares recorded units with those of the replay, by their bytes or by their meaning.
//!
//! By meaning, JSON is compared as values, the replayed side may choose other ids, and only those fields of a
//! handshake count that RFC 6455 or the editor reads.

use crate::replay::ids::Ids;
use crate::replay::script::{Comparison, Expected, field};
use crate::support::difference::{Extent, Place, difference, quote};
use crate::support::message::{Fault, Kind};
use crate::support::units::Unit;
use ide_mcp::ws::frame::Opcode;
use serde_json::Value;

/// Returns the first difference, if there is one. `ids` are those of the connection.
pub(crate) fn compare(recorded: &Expected, now: &Expected, by: Comparison, ids: &Ids) -> Option<Place> {
    if recorded.unit == now.unit {
        return None;
    }
    let whole = || Place { path: "the message".into(), recorded: show(&recorded.unit), now: show(&now.unit) };
    match (by, &recorded.unit, &now.unit) {
        (Comparison::Bytes, Unit::Head(recorded), Unit::Head(now)) => Some(in_lines(recorded, now)),
        (Comparison::Meaning, Unit::Head(recorded), Unit::Head(now)) => in_fields(recorded, now),
        (
            _,
            Unit::Frame { opcode: Opcode::Close, payload: recorded, .. },
            Unit::Frame { opcode: Opcode::Close, payload: now, .. },
        ) if by == Comparison::Meaning && recorded.first_chunk::<2>() == now.first_chunk::<2>() => None,
        (
            Comparison::Bytes,
            Unit::Frame { fin, opcode, payload: recorded },
            Unit::Frame { fin: now_fin, opcode: now_opcode, payload: now },
        ) if (fin, opcode) == (now_fin, now_opcode) && !opcode.is_control() => {
            Some(in_values(recorded, now).unwrap_or_else(|| in_bytes(recorded, now)))
        }
        (Comparison::Meaning, Unit::Frame { payload: a, .. }, Unit::Frame { payload: b, .. })
            if corresponds(recorded, now) =>
        {
            match (serde_json::from_slice(a), serde_json::from_slice(b)) {
                (Ok(a), Ok(mut b)) => {
                    ids.adopt(&a, &mut b);
                    adopt_text(&a, &mut b);
                    difference(&a, &b, Extent::Whole)
                }
                _ => Some(whole()),
            }
        }
        _ => Some(whole()),
    }
}

/// If only the code of an error has a meaning, replaces the text in the replay by the recorded one.
fn adopt_text(recorded: &Value, now: &mut Value) {
    let code = |message: &Value| message.pointer("/error/code").and_then(Value::as_i64);
    let is_free = code(recorded).is_some_and(Fault::has_free_text) && code(recorded) == code(now);
    if let (true, Some(recorded), Some(now)) =
        (is_free, recorded.pointer("/error/message"), now.pointer_mut("/error/message"))
    {
        *now = recorded.clone();
    }
}

/// Returns true if the units are the same message in two runs: answers to the same request, or requests or
/// notifications with the same method.
pub(crate) fn corresponds(recorded: &Expected, now: &Expected) -> bool {
    match (class(recorded), class(now)) {
        (Class::Barrier, Class::Barrier) => recorded.message.is_some() == now.message.is_some(),
        (a, b) => a == b,
    }
}

/// Returns true if the protocol leaves the order of the two units open. Answers may come in any order, and so may requests
/// and notifications of different methods. MCP's own notifications, such as progress, keep their order with answers
/// and requests.
pub(crate) fn are_independent(a: &Expected, b: &Expected) -> bool {
    let of_session = |method: &str| method.starts_with("notifications/");
    match (class(a), class(b)) {
        (Class::Barrier, _) | (_, Class::Barrier) => false,
        (Class::Notification(a), Class::Notification(b)) => a != b,
        (Class::Request(a), Class::Request(b)) => a != b,
        (Class::Notification(method), Class::Answer(_) | Class::Request(_))
        | (Class::Answer(_) | Class::Request(_), Class::Notification(method)) => !of_session(&method),
        (a, b) => a != b,
    }
}

/// What a unit is, as far as the order of messages depends on it.
#[derive(Debug, PartialEq, Eq)]
enum Class {
    /// A head, a close frame, the handshake of the session, or bytes that are not a message: nothing may pass it.
    Barrier,
    Request(String),
    Notification(String),
    Answer(Value),
    Ping,
    Pong,
}

fn class(unit: &Expected) -> Class {
    match &unit.unit {
        Unit::Frame { opcode: Opcode::Ping, .. } => return Class::Ping,
        Unit::Frame { opcode: Opcode::Pong, .. } => return Class::Pong,
        _ => {}
    }
    match unit.parsed().as_ref().and_then(|message| message.kind()) {
        Some(
            Kind::Request { method: "initialize", .. }
            | Kind::Notification { method: "notifications/initialized" },
        )
        | None => Class::Barrier,
        Some(Kind::Request { method, .. }) => Class::Request(method.into()),
        Some(Kind::Notification { method }) => Class::Notification(method.into()),
        Some(Kind::Answer { id }) => Class::Answer(serde_json::from_str(id).unwrap_or_default()),
    }
}

/// Describes a unit for a user.
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

fn in_lines(recorded: &[u8], now: &[u8]) -> Place {
    let lines = |head: &[u8]| -> Vec<String> {
        head.split(|byte| *byte == b'\n').map(|line| quote(line.trim_ascii_end())).collect()
    };
    let (recorded, now) = (lines(recorded), lines(now));
    let same = recorded.iter().zip(&now).take_while(|(a, b)| a == b).count();
    let line = |lines: &[String]| lines.get(same).map_or_else(|| "nothing".into(), Clone::clone);
    let number = same.saturating_add(1);
    Place { path: format!("line {number} of the head"), recorded: line(&recorded), now: line(&now) }
}

/// The fields of a handshake that are compared. The values of the first two may differ in the case of letters.
const FIELDS: [&str; 9] = [
    "upgrade",
    "connection",
    "host",
    "sec-websocket-version",
    "sec-websocket-key",
    "sec-websocket-accept",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
    "x-claude-code-ide-authorization",
];

fn in_fields(recorded: &[u8], now: &[u8]) -> Option<Place> {
    // The reason phrase after the status code is only for people.
    let line = |head: &[u8]| {
        let first = head.split(|byte| *byte == b'\r').next().map(quote).unwrap_or_default();
        let is_answer = first.starts_with("HTTP/");
        first.split(' ').take(if is_answer { 2 } else { 3 }).collect::<Vec<_>>().join(" ")
    };
    let [a, b] = [line(recorded), line(now)];
    if a != b {
        return Some(Place { path: "the first line of the head".into(), recorded: a, now: b });
    }
    FIELDS.iter().enumerate().find_map(|(index, name)| {
        let value = |head| {
            let value = field(head, name);
            value.map(|value| if index < 2 { value.to_ascii_lowercase() } else { value })
        };
        let [a, b] = [value(recorded), value(now)];
        let shown =
            |value: Option<String>| value.map_or_else(|| "nothing".into(), |value| quote(value.as_bytes()));
        (a != b).then(|| Place { path: format!("{name} in the head"), recorded: shown(a), now: shown(b) })
    })
}

fn in_values(recorded: &[u8], now: &[u8]) -> Option<Place> {
    let (Ok(a), Ok(b)) = (serde_json::from_slice(recorded), serde_json::from_slice(now)) else { return None };
    difference(&a, &b, Extent::Whole)
}

/// Returns the first difference between two texts that are not JSON, or are the same JSON value in different spellings.
fn in_bytes(recorded: &[u8], now: &[u8]) -> Place {
    let same = recorded.iter().zip(now).take_while(|(a, b)| a == b).count();
    let around = |text: &[u8]| quote(text.get(same.saturating_sub(20)..).unwrap_or_default());
    Place { path: format!("byte {same} of the text"), recorded: around(recorded), now: around(now) }
}

#[cfg(test)]
mod tests;
