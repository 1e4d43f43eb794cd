//! The comparison by meaning, which ignores ids and the order of independent messages. It is tried on
//! recordings of the real client, whose editor was written by hand.

use super::programs::{Tap, editor, replay};
use crate::support::Place;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ide_mcp::ws::frame::{Header, Opcode, mask};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/it/fixtures").join(name)
}

/// The recordings whose editor behaves like this library.
const EQUAL: [&str; 2] = ["claude-code-1.0.51.jsonl", "claude-code-2.1.330-reconnect.jsonl"];

#[test]
fn recorded_editors_differ_only_in_ids() {
    let place = Place::new("tap-fixtures");
    for name in EQUAL {
        let path = fixture(name);
        let path = path.to_str().unwrap();
        let (status, output) = replay(&place, &[path]);
        assert_eq!(status, Some(0), "{name}: {output}");
        // The recorded editor numbers its own requests from 9001 on.
        let (status, output) = replay(&place, &["--bytes", path]);
        assert_eq!(status, Some(1), "{name}: {output}");
        assert!(output.contains("recorded  9001") && output.contains("where     id"), "{name}: {output}");
    }
    // In this recording the editor does not answer a diff whose tab the client closes.
    let path = fixture("claude-code-2.1.330.jsonl");
    let (status, output) = replay(&place, &[path.to_str().unwrap()]);
    assert_eq!(status, Some(1), "{output}");
    assert!(output.contains("first difference: line 24,") && output.contains("DIFF_REJECTED"), "{output}");
}

#[test]
fn recorded_clients_differ_only_in_names() {
    let place = Place::new("tap-clients");
    for name in [EQUAL[0], EQUAL[1], "claude-code-2.1.330.jsonl"] {
        let text = fs::read_to_string(fixture(name)).unwrap();
        let (status, output) = replay(&place, &["--side", "agent", fixture(name).to_str().unwrap()]);
        assert!(status == Some(1) && output.contains("first difference: line 2,"), "{name}: {output}");
        assert!(
            output.contains("params.clientInfo.") || output.contains("params.protocolVersion"),
            "{name}: {output}"
        );
        let equal: String = text.lines().map(|line| as_our_client(line) + "\n").collect();
        place.write("equal.jsonl", &equal);
        let (status, output) = replay(&place, &["--side", "agent", "equal.jsonl"]);
        assert_eq!(status, Some(0), "{name}: {output}");
    }
}

/// Changes a line of a recording to what our client would have sent: with its version of the protocol, and
/// with only the name and version in `clientInfo`.
fn as_our_client(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let Some(mut message) = line["text"].as_str().map(|text| serde_json::from_str::<Value>(text).unwrap())
    else {
        return line.to_string();
    };
    if message["method"] == "initialize" {
        message["params"]["protocolVersion"] = json!("2025-11-25");
        let info = message["params"]["clientInfo"].as_object_mut().unwrap();
        info.retain(|name, _| name == "name" || name == "version");
        line["text"] = message.to_string().into();
    }
    line.to_string()
}

#[test]
fn independent_answers_come_in_any_order() {
    let place = Place::new("tap-order");
    let replay_of = |lines: &[Value]| {
        let text: String = lines.iter().map(|form| format!("{form}\n")).collect();
        place.write("moved.jsonl", &text);
        replay(&place, &["moved.jsonl"])
    };
    for name in EQUAL {
        let text = fs::read_to_string(fixture(name)).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let find =
            |part: &str| lines.iter().position(|line| line["text"].to_string().contains(part)).unwrap();
        // The requests 2 and 3, each with its answer, become both requests, and then both answers in
        // the reversed order.
        let (second, third) = (find("prompts/list"), find("resources/list"));
        assert_eq!(third, second + 2);
        let order = [second, third, third + 1, second + 1];
        let moved = lines[..second].iter().chain(order.map(|index| &lines[index])).chain(&lines[third + 2..]);
        let mut moved: Vec<Value> = moved.cloned().collect();
        moved[second..third + 2].iter_mut().for_each(|line| line["ms"] = lines[third + 1]["ms"].clone());
        let (status, output) = replay_of(&moved);
        assert_eq!(status, Some(0), "{name}: {output}");
        // One answer is missing.
        moved.remove(second + 2);
        let (status, output) = replay_of(&moved);
        assert!(status == Some(1) && output.contains("\"resources\""), "{name}: {output}");
    }
}

/// Turns a line of bytes of a transcript into a line for each complete frame: a message becomes text, with
/// `change` applied to it. A frame that a read has cut off waits for the rest in `cut`, one for each side.
fn as_texts(line: &Value, cut: &mut BTreeMap<String, Vec<u8>>, change: &dyn Fn(&mut Value)) -> Vec<Value> {
    let read = match (line["raw"].as_str(), line["base64"].as_str()) {
        (Some(raw), _) => raw.as_bytes().to_vec(),
        (None, Some(base64)) => BASE64_STANDARD.decode(base64).unwrap(),
        (None, None) => return vec![line.clone()],
    };
    if read.ends_with(b"\r\n\r\n") {
        return vec![line.clone()];
    }
    let bytes = cut.entry(line["from"].to_string()).or_default();
    bytes.extend(read);
    let (mut rest, mut lines) = (&bytes[..], Vec::new());
    while let Some((header, size)) = Header::parse(rest, line["from"] == "agent").unwrap() {
        let Some((frame, behind)) = rest.split_at_checked(size + usize::try_from(header.len).unwrap()) else {
            break;
        };
        rest = behind;
        let mut line = line.clone();
        line.as_object_mut().unwrap().retain(|name, _| name != "raw" && name != "base64");
        if header.opcode == Opcode::Text {
            let mut payload = frame[size..].to_vec();
            header.key.into_iter().for_each(|key| mask(key, 0, &mut payload));
            let mut message: Value = serde_json::from_slice(&payload).unwrap();
            change(&mut message);
            line["text"] = message.to_string().into();
        } else {
            line["base64"] = BASE64_STANDARD.encode(frame).into();
        }
        lines.push(line);
    }
    *bytes = rest.to_vec();
    lines
}

#[test]
fn ids_of_replayed_side_are_free() {
    let place = Place::new("tap-ids");
    let (mut editor, port, _) = editor(&place, &["--on-diff", "accept"]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut calls = tap.agent(&place, &["calls"]);
    editor.until("roots");
    calls.propose("t", "new");
    calls.event("outcome");
    calls.send_line("getOpenEditors");
    calls.event("outcome");
    calls.hang_up();
    assert_eq!(calls.end().0, Some(0));
    tap.stop();
    let transcript: Vec<Value> =
        place.read("t.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Gives other ids to the requests of one side, and to the answers to them.
    let with_ids = |side: &str| {
        let mut cut = BTreeMap::new();
        let lines = transcript.iter().flat_map(|line| {
            let is_own = line["from"] == side;
            as_texts(line, &mut cut, &|message| {
                if message.get("id").is_some() && message.get("method").is_some() == is_own {
                    message["id"] = json!(format!("id {}", message["id"]));
                }
            })
        });
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    for side in ["editor", "agent"] {
        place.write("ids.jsonl", &with_ids(side));
        let (status, output) = replay(&place, &["--side", side, "ids.jsonl"]);
        assert_eq!(status, Some(0), "{side}: {output}");
        let (status, output) = replay(&place, &["--bytes", "--side", side, "ids.jsonl"]);
        assert_eq!(status, Some(1), "{side}, by bytes: {output}");
    }
}
