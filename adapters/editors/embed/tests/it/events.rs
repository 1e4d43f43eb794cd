//! Every event of the table can happen.

use crate::support::{Room, TOKEN, names};
use ide_mcp::ide::LockFileEvent;
use ide_mcp::ide::tool::{DirectRequest, GetDiagnostics, GetOpenEditors, OpenDiff, SetPermissionMode};
use ide_mcp::mcp::{FormAnswer, GetPrompt, ReadResource};
use ide_mcp::rpc::RequestId;
use ide_mcp_embed::EVENTS;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const FORM: &str =
    r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}"#;

/// How to cause the events: a name, the way, and the events that it must cause at least, in this order.
const WAYS: &[(&str, fn() -> Vec<Value>, &[&str])] = &[
    ("an agent attaches", || Room::new("").attach(), &["connected", "ide_connected", "roots"]),
    ("a model attaches", || Room::new("").attach_at("/models"), &["model_connected"]),
    ("an agent waits for consent", consent, &["consent", "connected", "closed"]),
    (
        "an agent asks",
        edits_and_calls,
        &[
            "permission_mode",
            "diff",
            "diff_closed",
            "edit_expected",
            "call",
            "prompt",
            "resource",
            "notification",
        ],
    ),
    ("an agent is gone", gone, &["call", "diff", "diff_closed", "call_ended", "closed"]),
    ("edits", edits, &["edit_expected", "call", "edit_ended", "call"]),
    ("a vault", vault, &["request", "call_ended", "closed"]),
    ("forms", forms, &["form_answer", "form_answer", "form_answer", "form_answer"]),
    ("the person", person, &["hidden", "truncated", "paused", "resumed", "status", "mention_expired"]),
    (
        "the loop",
        the_loop,
        &["lock_file", "lock_file", "gap", "status", "error", "problem", "stopping", "over"],
    ),
];

#[test]
fn every_event_of_the_table_happens() {
    let mut missing: BTreeSet<&str> = EVENTS.iter().map(|row| row.name).collect();
    // tests/it/listening.rs
    missing.remove("listening");
    for (name, way, expected) in WAYS {
        let events = way();
        let mut rest = names(&events).into_iter();
        for wanted in *expected {
            assert!(
                rest.any(|seen| seen == *wanted),
                "{name}: no {wanted} in its place: {:?}",
                names(&events)
            );
            missing.remove(wanted);
        }
    }
    assert_eq!(missing, BTreeSet::new(), "no way leads to these events");
}

fn consent() -> Vec<Value> {
    let mut room = Room::new(r#","consent":true"#);
    let mut events = room.attach();
    assert_eq!(names(&events).iter().filter(|name| **name == "connected").count(), 0, "it waits");
    events.extend(room.command(r#"{"cmd":"allow","conn":1}"#).unwrap());
    events.extend(room.command(r#"{"cmd":"disconnect","conn":1}"#).unwrap());
    events
}

fn vault() -> Vec<Value> {
    let mut room = Room::new(r#","dialect":"obsidian""#);
    room.attach();
    room.client(0).request_direct(&DirectRequest::GetOpenFiles).unwrap();
    let mut events = room.settle();
    events.extend(room.cut(0));
    events
}

fn edits_and_calls() -> Vec<Value> {
    let mut room = Room::new(r#","prompts":[{"name":"p"}],"resources":[{"uri":"n://1"}]"#);
    room.attach();
    let client = room.client(0);
    client.call_tool(&SetPermissionMode::new("plan")).unwrap();
    let diff = client.call_tool(&OpenDiff::new("/x/a", "", "t")).unwrap();
    client.cancel(diff.id(), None);
    client.call_tool(&diagnostics(Some("file:///w/a"))).unwrap();
    client.get_prompt(&GetPrompt::new("p")).unwrap();
    client.read_resource(&ReadResource::new("n://1")).unwrap();
    client.notify::<()>("x/y", None).unwrap();
    let events = room.settle();
    let diff = events.iter().find(|event| event["event"] == "diff").unwrap();
    assert_eq!(diff["outside"], json!(true));
    let edit = events.iter().find(|event| event["event"] == "edit_expected").unwrap();
    let call = events.iter().find(|event| event["event"] == "call").unwrap();
    assert_eq!(edit["edit"], call["call"], "the edit has the number of its call");
    events
}

fn gone() -> Vec<Value> {
    let mut room = Room::new("");
    room.attach();
    room.client(0).call_tool(&GetOpenEditors).unwrap();
    room.client(0).call_tool(&OpenDiff::new("/w/a", "", "t")).unwrap();
    let mut events = room.settle();
    let mut ends = room.cut(0);
    assert_eq!(ends.last().unwrap()["event"], json!("closed"), "the last event of an agent");
    ends.sort_by_key(|event| u8::from(event["event"] != "diff_closed"));
    events.append(&mut ends);
    events
}

fn edits() -> Vec<Value> {
    let mut room = Room::new("");
    room.attach();
    room.client(0).call_tool(&diagnostics(Some("file:///w/a"))).unwrap();
    let mut events = room.settle();
    room.no_event(r#"{"cmd":"respond","call":1,"result":[]}"#);
    room.client(0).call_tool(&diagnostics(None)).unwrap();
    events.extend(room.settle());
    assert_eq!(events.last().unwrap()["call"], json!(2));
    events
}

fn forms() -> Vec<Value> {
    let mut room = Room::new("");
    room.attach();
    room.wait(1_600); // a client shows no form before
    let form = format!(r#"{{"cmd":"form","form":{FORM},"within":1000}}"#);
    let mut events = Vec::new();
    for answer in
        [Some(FormAnswer::Accepted([("a".into(), "x".into())].into())), Some(FormAnswer::Declined), None]
    {
        room.agents[0].events.clear();
        room.no_event(&form);
        let call = room.agents[0].events.iter().find_map(|event| match event {
            ide_mcp::ide::ClientEvent::Form { call, .. } => Some(*call),
            _ => None,
        });
        match answer {
            Some(answer) => room.client(0).answer_form(call.unwrap(), &answer).unwrap(),
            None => drop(room.wait(999)),
        }
        events.extend(room.wait(1));
    }
    assert_eq!(
        (&events[0]["action"], &events[0]["content"], &events[0]["line"]),
        (&json!("accept"), &json!({"a": "x"}), &json!(1))
    );
    assert_eq!((&events[1]["action"], &events[2]["line"]), (&json!("decline"), &json!(3)));
    assert!(events[2]["error"].as_str().unwrap().contains("in time"), "{events:?}");
    room.no_event(&form);
    events.extend(room.command(r#"{"cmd":"cancel","line":4}"#).unwrap());
    assert!(events[3]["error"].as_str().unwrap().contains("cancelled"), "{events:?}");
    assert_eq!(room.refused(r#"{"cmd":"cancel","line":4}"#), "`line` 4 has no open form");
    events
}

fn person() -> Vec<Value> {
    let mut room = Room::new("");
    let select = |path: &str, len: usize| {
        format!(
            r#"{{"cmd":"select","path":"{path}","start":[0,0],"end":[0,1],"text":"{}"}}"#,
            "x".repeat(len)
        )
    };
    let mut events = vec![room.one(&select("/w/.env", 1)), room.one(&select("/w/a", (256 << 10) + 1))];
    room.no_event(&select("/w/a", 256 << 10));
    room.no_event(r#"{"cmd":"mention","path":"/w/a"}"#);
    events.push(room.one(r#"{"cmd":"pause"}"#));
    room.no_event(&select("/w/.env", 1));
    events.push(room.one(r#"{"cmd":"resume"}"#));
    events.push(room.one(r#"{"cmd":"status"}"#));
    events.extend(room.wait(31_000));
    events
}

fn the_loop() -> Vec<Value> {
    let mut room = Room::new("");
    room.attach();
    room.editor.on_lock_file(LockFileEvent::Lost);
    room.editor.on_lock_file(LockFileEvent::Failed { error: "e".into() });
    let mut events = room.settle();
    room.editor.set_taking_events(false);
    room.command(r#"{"cmd":"pause"}"#).unwrap();
    room.editor.set_taking_events(true);
    events.extend(room.settle());
    room.editor.command_line(room.now, 9, b"{");
    events.extend(room.settle());
    events.extend(invalid_message(&mut room));
    room.editor.shutdown(room.now, "SIGTERM");
    events.extend(room.settle());
    events
}

/// Connects a client by hand, which sends invalid messages.
fn invalid_message(room: &mut Room) -> Vec<Value> {
    let conn = room.editor.connect(room.now);
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:4711\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: {TOKEN}\r\n\r\n"
    );
    room.editor.feed(room.now, conn, head.as_bytes());
    room.settle();
    // Something that is not JSON, and an error of the peer, each with a mask of zeros.
    let mut events = Vec::new();
    let problems = [
        ("x", "not JSON"),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#, "no (-32600)"),
    ];
    for (text, expected) in problems {
        let len = u8::try_from(text.len()).unwrap();
        let bytes = [&[0x81, 0x80 | len, 0, 0, 0, 0], text.as_bytes()].concat();
        room.editor.feed(room.now, conn, &bytes);
        let problem = room.settle().pop().unwrap();
        assert_eq!((&problem["event"], &problem["conn"]), (&json!("problem"), &json!(conn)), "{text}");
        assert!(problem["message"].as_str().unwrap().contains(expected), "{text}: {problem}");
        events.push(problem);
    }
    room.lose(conn);
    room.settle();
    events
}

#[test]
fn agent_has_its_name_and_version() {
    let mut room = Room::new("");
    for (target, name) in [("/", "connected"), ("/models", "model_connected")] {
        let events = room.attach_at(target);
        let event = events.iter().find(|event| event["event"] == name).unwrap();
        assert_eq!((&event["client"], &event["version"]), (&json!("agent"), &json!("1")), "{name}");
    }
}

#[test]
fn lock_file_has_its_state() {
    let rows = [
        (LockFileEvent::Lost, "lost", json!(null)),
        (LockFileEvent::Restored, "restored", json!(null)),
        (LockFileEvent::Taken, "taken", json!(null)),
        (LockFileEvent::Failed { error: "full".into() }, "failed", json!("full")),
    ];
    for (event, state, problem) in rows {
        let mut room = Room::new("");
        room.editor.on_lock_file(event);
        let event = room.settle().pop().unwrap();
        assert_eq!((&event["state"], &event["problem"]), (&json!(state), &problem), "{event}");
    }
}

#[test]
fn ended_call_has_its_reason() {
    let rows: [(&str, fn(&mut Room, RequestId) -> Vec<Value>); 4] = [
        ("cancelled", |room, call| {
            room.client(0).cancel(call, None);
            room.settle()
        }),
        ("expired", |room, _| room.wait(400)),
        ("shutdown", |room, _| room.command(r#"{"cmd":"quit"}"#).unwrap()),
        ("disconnected", |room, _| room.cut(0)),
    ];
    for (reason, end) in rows {
        let mut room = Room::new("");
        room.attach();
        let call = room.client(0).call_tool(&diagnostics(Some("/w/a"))).unwrap().id();
        room.settle();
        let ends: Vec<Value> = end(&mut room, call);
        let ends: Vec<&Value> = ends.iter().filter(|event| event["event"] == "call_ended").collect();
        assert_eq!((ends.len(), &ends[0]["reason"]), (1, &json!(reason)), "{ends:?}");
    }
}

fn diagnostics(uri: Option<&str>) -> GetDiagnostics {
    GetDiagnostics::new(uri.map(Into::into))
}
