//! Random commands, right and wrong: no command panics, and each has one effect or one error.

use crate::support::Room;
use arbitrary::Unstructured;
use ide_mcp::Output;
use ide_mcp::ide::ClientEvent;
use ide_mcp::ide::tool::{GetDiagnostics, GetOpenEditors, OpenDiff};
use ide_mcp_embed::{COMMANDS, Row};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn random_commands_have_one_effect() {
    arbtest::arbtest(|u| {
        let mut room = Room::new(r#","prompts":[{"name":"p"}]"#);
        room.attach();
        let mut calls = 0;
        for _ in 0..u.int_in_range(1..=24)? {
            match u.int_in_range(0..=9)? {
                0 => calls += usize::from(room.client(0).call_tool(&OpenDiff::new("/w/a", "x", "t")).is_ok()),
                1 => calls += usize::from(room.client(0).call_tool(&GetOpenEditors).is_ok()),
                2 if u.arbitrary()? => {
                    let file = GetDiagnostics::new(Some("file:///w/a".into()));
                    calls += usize::from(room.client(0).call_tool(&file).is_ok());
                }
                2 => drop(room.wait(u.int_in_range(0..=400)?)),
                _ => act(&mut room, u)?,
            }
            room.settle();
        }
        let mut ends = BTreeMap::new();
        for event in &room.agents[0].events {
            if let ClientEvent::Outcome { request, .. } = event {
                *ends.entry(*request).or_insert(0) += 1;
            }
        }
        assert!(ends.len() <= calls && ends.values().all(|count| *count == 1), "{ends:?} of {calls}");
        Ok(())
    })
    .budget_ms(4_000);
}

/// Events that report an end, and may come in addition to the effect of a command.
const ENDS: &[&str] = &["call_ended", "closed", "diff_closed", "form_answer", "over"];

/// Runs a random command, and compares the state before and after.
fn act(room: &mut Room, u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let command = command(u)?;
    if room.editor.is_over() {
        return Ok(());
    }
    room.settle();
    let before = state(room);
    room.editor.command_line(room.now, 7, command.as_bytes());
    let has_output = room.agents.iter().any(|agent| room.editor.wants_output(agent.conn));
    let mut events = Vec::new();
    while let Output::Event(event) = room.editor.poll(room.now) {
        events.push(crate::support::checked(&event));
    }
    let errors = events.iter().filter(|event| event["event"] == "error").count();
    match errors {
        0 => {
            let own = events.iter().filter(|event| !ENDS.iter().any(|end| event["event"] == *end)).count();
            assert!(own <= 1, "{command}: {events:?}");
            room.settle();
        }
        1 => {
            assert_eq!((events.len(), &events[0]["line"]), (1, &json!(7)), "{command}: {events:?}");
            assert!(!has_output || command.contains(r#""cmd":"respond""#), "{command}: {events:?}");
            room.settle();
            let mut after = state(room);
            // A result that cannot be used ends its call.
            if command.contains(r#""cmd":"respond""#) && after != before {
                let ended = |state: &Value| state["calls"].as_array().map_or(0, Vec::len);
                assert_eq!(ended(&after) + 1, ended(&before), "{command}: {events:?}");
                after["calls"] = before["calls"].clone();
            }
            assert_eq!(after, before, "{command}: {events:?}");
        }
        _ => panic!("{command}: {events:?}"),
    }
    Ok(())
}

fn state(room: &mut Room) -> Value {
    room.command(r#"{"cmd":"status"}"#).map_or(Value::Null, |mut events| {
        let mut status = events.pop().unwrap_or_default();
        status["line"] = Value::Null;
        status
    })
}

/// Returns a command whose members usually have the right kind.
fn command(u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    if u.ratio(1, 16)? {
        return Ok(String::from_utf8_lossy(u.bytes(u.len().min(20))?).into_owned());
    }
    let row = u.choose(COMMANDS)?;
    // `quit` would end most scripts too early.
    let row = if row.name == "quit" && u.ratio(3, 4)? { &COMMANDS[0] } else { row };
    let mut members = vec![format!(r#""cmd":"{}""#, row.name)];
    for name in chosen(row, u)? {
        members.push(format!(r#""{name}":{}"#, value(row, name, u)?));
    }
    Ok(format!("{{{}}}", members.join(",")))
}

fn chosen(row: &Row, u: &mut Unstructured<'_>) -> arbitrary::Result<Vec<&'static str>> {
    let mut names = Vec::new();
    for member in row.members {
        if member.is_required && !u.ratio(1, 32)? || u.ratio(1, 2)? {
            names.push(member.name);
        }
    }
    if u.ratio(1, 32)? {
        names.push("unknown");
    }
    Ok(names)
}

fn value(row: &Row, name: &str, u: &mut Unstructured<'_>) -> arbitrary::Result<String> {
    const ANY: &[&str] = &[
        "null",
        "true",
        "-1",
        "18446744073709551616",
        "1e999",
        "\"\\u0000\\u2028𝒳\"",
        "[]",
        "[[[]]]",
        "{}",
        "{\"a\":{\"b\":[1]}}",
    ];
    let kind = row.members.iter().find(|member| member.name == name).map_or("", |member| member.kind);
    if kind.is_empty() || u.ratio(1, 12)? {
        return Ok((*u.choose(ANY)?).to_owned());
    }
    Ok(match kind {
        "a string" => (*u.choose(&[r#""/w/a""#, r#""/w/.env""#, r#""""#, r#""x\u2028\n""#, r#""/w/\ud800""#])?).into(),
        "a number" => u.int_in_range(0..=9)?.to_string() + ".5",
        "a list of a line and a UTF-16 column, from 0" | "a list of the first and the last line, from 0" => {
            format!("[{},{}]", u.arbitrary::<u32>()?, u.arbitrary::<u8>()?)
        }
        "a list of strings" => r#"["/w","file:///w/a"]"#.into(),
        "a list of objects" => (*u.choose(&["[]", r#"[{"name":"n"}]"#, r#"[{"uri":"u"}]"#])?).into(),
        "a list of tool names" => r#"["openDiff","getOpenEditors"]"#.into(),
        "`accept` or `reject`" => (*u.choose(&[r#""accept""#, r#""reject""#])?).into(),
        "JSON" => (*u.choose(&[
            r#""OK""#,
            r#"{"tabs":[]}"#,
            r#"{"kind":"full","items":[]}"#,
            r#"[{"uri":"file:///w/a","diagnostics":[{"message":"\ud800","code":{"value":7.0},"range":{"start":{"line":0.0,"character":1},"end":{"line":0,"character":1e0}}}]}]"#,
            r#"[{"uri":"file:///w/a","diagnostics":[{"message":"m"}]}]"#,
            r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#,
        ])?)
        .into(),
        _ => u.int_in_range(0..=6)?.to_string() + u.choose(&["", "", ".0", "e0"])?,
    })
}
