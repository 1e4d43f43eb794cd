//! Random messages from the peer of a session: JSON-RPC, most of it valid.

use alloc::{
    borrow::ToOwned,
    format,
    string::{String, ToString},
    vec::Vec,
};

use arbitrary::{Arbitrary, Result, Unstructured};

/// A text from a peer: a request, a notification, a response or a batch, often with a fault, and sometimes not a
/// message at all.
///
/// Ids, methods and tools come from short lists, so that messages refer to each other: for example two requests with
/// the same id, or a cancellation of an open call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerText(String);

impl PeerText {
    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// The ids. Some of them are equal, and some are invalid.
const IDS: &[&str] = &[
    "1",
    "2",
    "3",
    "4",
    "5",
    "6",
    "7",
    "7.0",
    "\"7\"",
    "0",
    "\"\"",
    "-1",
    "9007199254740993",
    "\"\\u0041\"",
    "\"A\"",
    "18446744073709551616",
    "null",
    "1.5",
    "true",
    "{}",
];

const REQUESTS: &[&str] = &[
    "tools/call",
    "tools/call",
    "tools/call",
    "tools/call",
    "initialize",
    "ping",
    "tools/list",
    "server/discover",
    "resources/list",
    "prompts/list",
    "resources/read",
    "logging/setLevel",
    "x/unknown",
    "",
];

const NOTIFICATIONS: &[&str] = &[
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "ide_connected",
    "tools/call",
    "ping",
];

const VERSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", ""];

/// The names of tools in tests.
const TOOLS: &[&str] = &["plain", "typed", "never", "soon", "openDiff", "nobody"];

impl<'a> Arbitrary<'a> for PeerText {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(match u.int_in_range(0..=15)? {
            0 => u.arbitrary::<&str>()?.to_owned(),
            1 => {
                let many = u.int_in_range(0..=4)?;
                let parts: Result<Vec<String>> = (0..many).map(|_| message(u)).collect();
                format!("[{}]", parts?.join(","))
            }
            _ => message(u)?,
        }))
    }
}

fn message(u: &mut Unstructured<'_>) -> Result<String> {
    let mut members: Vec<(&str, String)> = Vec::new();
    match u.int_in_range(0..=7)? {
        0..=3 => {
            let method = *u.choose(REQUESTS)?;
            members.push(("method", format!("\"{method}\"")));
            members.extend(params(u, method)?.map(|params| ("params", params)));
            members.push(("id", id(u)?));
        }
        4 | 5 => {
            let method = *u.choose(NOTIFICATIONS)?;
            members.push(("method", format!("\"{method}\"")));
            members.extend(params(u, method)?.map(|params| ("params", params)));
        }
        6 => {
            members.push(("id", id(u)?));
            members.push(("result", value(u)?));
        }
        _ => {
            members.push(("id", id(u)?));
            members.push(("error", format!(r#"{{"code":{},"message":"no"}}"#, u.arbitrary::<i16>()?)));
        }
    }
    members.insert(0, ("jsonrpc", "\"2.0\"".to_owned()));
    // About one message in three has a fault or an unusual order of members.
    match u.int_in_range(0..=19)? {
        0 => members.rotate_left(1),
        1 => members.reverse(),
        2 => drop(members.remove(0)),
        3 => members.push(("id", id(u)?)),
        4 => members.extend(members.last().cloned()),
        5 => members.push(("result", value(u)?)),
        6 => members.push(("unknown", value(u)?)),
        _ => {}
    }
    let written: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    Ok(format!("{{{}}}", written.join(",")))
}

fn id(u: &mut Unstructured<'_>) -> Result<String> {
    Ok(u.choose(IDS)?.to_string())
}

fn params(u: &mut Unstructured<'_>, method: &str) -> Result<Option<String>> {
    if u.ratio(1, 8)? {
        return Ok(if u.arbitrary()? { None } else { Some(value(u)?) });
    }
    Ok(match method {
        "tools/call" => {
            let name = *u.choose(TOOLS)?;
            let arguments = match u.int_in_range(0..=7)? {
                0 => value(u)?,
                1 => "{}".to_owned(),
                _ => format!(r#"{{"n":{}}}"#, u.arbitrary::<u16>()?),
            };
            let meta = if u.ratio(1, 4)? {
                format!(r#","_meta":{{"progressToken":{}}}"#, id(u)?)
            } else {
                String::new()
            };
            Some(format!(r#"{{"name":"{name}","arguments":{arguments}{meta}}}"#))
        }
        "initialize" => Some(format!(
            r#"{{"protocolVersion":"{}","capabilities":{{}},"clientInfo":{{"name":"n","version":"1"}}}}"#,
            u.choose(VERSIONS)?
        )),
        "notifications/cancelled" => Some(format!(r#"{{"requestId":{},"reason":"why"}}"#, id(u)?)),
        "notifications/progress" => {
            Some(format!(r#"{{"progressToken":{},"progress":{}}}"#, id(u)?, u.arbitrary::<u8>()?))
        }
        _ => None,
    })
}

fn value(u: &mut Unstructured<'_>) -> Result<String> {
    const VALUES: &[&str] = &[
        "{}",
        "null",
        "[]",
        "1",
        "\"x\"",
        "{\"content\":[]}",
        "{\"content\":[{\"type\":\"text\",\"text\":\"\\ud83d\"}]}",
        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}",
        "{\"protocolVersion\":\"1999-01-01\"}",
        "{\"tools\":[],\"nextCursor\":\"c\"}",
        "{\"nextCursor\":\"c\"}",
    ];
    if u.ratio(1, 32)? {
        let depth = usize::from(u.arbitrary::<u8>()?);
        return Ok(["[".repeat(depth), "]".repeat(depth)].concat());
    }
    Ok(u.choose(VALUES)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{Message, SessionLimits, classify};
    use crate::testing::Random;

    #[test]
    fn most_messages_are_valid_and_every_kind_occurs() {
        let mut random = Random::new(1);
        let mut seen = [0_usize; 6];
        for _ in 0..2000 {
            let bytes = random.bytes(64);
            let text = PeerText::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
            seen[match classify(text.text(), &SessionLimits::default()) {
                Message::Request { .. } => 0,
                Message::Notification { .. } => 1,
                Message::Response { .. } => 2,
                Message::Batch(_) => 3,
                Message::Invalid { answer: Some(_), .. } => 4,
                Message::Invalid { answer: None, .. } | Message::PeerError(_) => 5,
            }] += 1;
        }
        assert!(seen.iter().all(|many| *many > 20), "{seen:?}");
        assert!(seen[0] + seen[1] + seen[2] > 1200, "{seen:?}");
    }
}
