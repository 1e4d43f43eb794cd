//! The commands: the error for a wrong command names the member, and each valid command has its effect.

use crate::support::{Room, names};
use ide_mcp::ide::tool::{GetOpenEditors, OpenDiff};
use ide_mcp::ide::{ClientEvent, Push};
use ide_mcp_embed::{COMMANDS, CommandErrorKind, Event, MAX_COMMAND};
use serde_json::json;

#[test]
fn wrong_command_names_its_member() {
    let rows = [
        (
            "a word that is not JSON",
            "quit",
            "a command is a JSON object such as {\"cmd\":\"quit\"} (expected value at column 1)",
        ),
        ("a list", r#"["quit"]"#, "(invalid type: sequence, expected an object at column 0)"),
        ("two objects", r#"{"cmd":"quit"} {}"#, "(trailing characters at column 16)"),
        ("no command name", "{}", "`cmd` is missing: it must be a string"),
        (
            "an unknown name",
            r#"{"cmd":"dance"}"#,
            "`cmd` \"dance\" is not a command; the commands are select, clear",
        ),
        (
            "an unknown member",
            r#"{"cmd":"clear","x\n":1}"#,
            "clear: `x\n` is not a member of clear, which has none",
        ),
        ("no path", r#"{"cmd":"select"}"#, "select: `path` is missing: it must be a string"),
        (
            "a number as a place",
            r#"{"cmd":"select","path":"a","start":0}"#,
            "select: `start` must be a list of a line and",
        ),
        (
            "a negative line",
            r#"{"cmd":"select","path":"a","start":[-1,0]}"#,
            "select: `start` must be a list",
        ),
        (
            "a relative path",
            r#"{"cmd":"select","path":"a","start":[0,0],"end":[0,0]}"#,
            "select: `path` is not an absolute path",
        ),
        ("an empty path", r#"{"cmd":"mention","path":""}"#, "mention: `path` is not an absolute path"),
        ("a URI", r#"{"cmd":"mention","path":"scp://h//a"}"#, "mention: `path` is not an absolute path"),
        ("a member twice", r#"{"cmd":"allow","conn":1,"conn":2}"#, "allow: `conn` is given twice"),
        (
            "another verdict",
            r#"{"cmd":"answer","call":1,"verdict":"yes"}"#,
            "answer: `verdict` must be `accept` or `reject`",
        ),
        (
            "an unknown tool",
            r#"{"cmd":"tools","offer":["x"]}"#,
            "tools: `offer` has \"x\", which is not one of the tools openDiff",
        ),
        (
            "a number in a list of strings",
            r#"{"cmd":"folders","folders":[1]}"#,
            "folders: `folders` must be a list of strings",
        ),
        ("no form", r#"{"cmd":"form","form":{}}"#, "`form` is not a form: "),
        (
            "a number as parameters",
            r#"{"cmd":"notify","method":"m","params":1}"#,
            "the parameters cannot be written as a JSON object",
        ),
    ];
    for (name, command, expected) in rows {
        let mut room = Room::new("");
        room.attach();
        let error = room.command(command).unwrap_err();
        assert!(error.to_string().contains(expected), "{name}: {error}");
        assert_eq!(error.kind(), CommandErrorKind::Invalid, "{name}");
        assert_eq!(room.settle(), [json!(null); 0], "{name}: nothing has changed");
    }
}

#[test]
fn every_command_of_the_table_succeeds() {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let mut room = Room::new(r#","consent":true"#);
    room.attach();
    let succeeds = |room: &mut Room, members: &str| {
        let command = format!(r#"{{"cmd":{members}}}"#);
        let name = members.split('"').nth(1).unwrap().to_owned();
        room.command(&command).map(|_| name).unwrap_or_else(|error| panic!("{command}: {error}"))
    };
    let mut done = vec![succeeds(&mut room, r#""allow","conn":1"#)];
    for _ in 0..3 {
        room.client(0).call_tool(&OpenDiff::new("/w/a", "x", "t")).unwrap();
        room.client(0).call_tool(&GetOpenEditors).unwrap();
    }
    room.settle();
    for members in [
        r#""select","path":"/w/a","start":[0,0],"end":[0,1]"#,
        r#""clear""#,
        r#""mention","path":"/w/a","line_count":3"#,
        r#""timeout","call":2,"within":18446744073709551615"#,
        r#""progress","call":2,"progress":1"#,
        r#""answer","call":1,"verdict":"accept""#,
        r#""respond","call":2,"result":"{\"tabs\":[]}""#,
        r#""fail","call":4,"message":"m""#,
        r#""diagnostics_changed","uris":["file:///w/a"]"#,
        r#""folders","folders":[]"#,
        r#""tools","offer":[]"#,
        r#""context""#,
        &format!(r#""form","form":{form}"#),
        r#""cancel","line":14"#,
        r#""notify","method":"m""#,
        r#""pause""#,
        r#""resume""#,
        r#""status""#,
        r#""disconnect","conn":1"#,
        r#""quit""#,
    ] {
        done.push(succeeds(&mut room, members));
    }
    done.sort_unstable();
    let mut all: Vec<&str> = COMMANDS.iter().map(|row| row.name).collect();
    all.sort_unstable();
    assert_eq!(done, all);
}

#[test]
fn numbers_are_judged_by_value() {
    let mut room = Room::new("");
    room.attach();
    room.client(0).call_tool(&GetOpenEditors).unwrap();
    room.settle();
    for (command, is_right) in [
        (r#"{"cmd":"select","path":"/w/a","start":[0.0,3.0],"end":[1e0,3],"text":"x"}"#, true),
        (r#"{"cmd":"select","path":"/w/a","start":[0.5,3],"end":[1,3]}"#, false),
        (r#"{"cmd":"mention","path":"/w/a","lines":[1.0,2.0],"line_count":3.0,"conn":1.0}"#, true),
        (r#"{"cmd":"timeout","call":1.0,"within":60000.0}"#, true),
        (r#"{"cmd":"timeout","call":1.5,"within":60000}"#, false),
        (r#"{"cmd":"progress","call":1.00,"progress":1,"total":2.0}"#, true),
        (r#"{"cmd":"select","path":"/w/a\ud800","start":[0,0],"end":[0,0],"text":"\udc00"}"#, true),
    ] {
        assert_eq!(room.command(command).is_ok(), is_right, "{command}");
    }
}

#[test]
fn command_for_a_missing_agent_or_form_is_refused() {
    let rows = [
        (r#"{"cmd":"mention","path":"/w/a","conn":9}"#, "`conn` 9 is not attached"),
        (r#"{"cmd":"allow","conn":9}"#, "`conn` 9 is not attached"),
        (r#"{"cmd":"disconnect","conn":9}"#, "`conn` 9 is not attached"),
        (r#"{"cmd":"notify","method":"m","conn":9}"#, "`conn` 9 is not attached"),
        (
            r#"{"cmd":"form","form":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
            "no agent is attached",
        ),
        (r#"{"cmd":"cancel","line":3}"#, "`line` 3 has no open form"),
    ];
    for (command, expected) in rows {
        let error = Room::new("").command(command).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, CommandErrorKind::Gone),
            "{command}"
        );
    }
    let mut room = Room::new("");
    room.attach();
    room.cut(0);
    assert_eq!(room.refused(r#"{"cmd":"mention","path":"/w/a","conn":1}"#), "`conn` 1 is not attached");
    let mut room = Room::new("");
    room.attach();
    assert_eq!(room.refused(r#"{"cmd":"allow","conn":1}"#), "`conn` 1 does not wait for consent");
    room.one(r#"{"cmd":"pause"}"#);
    let error = room.command(r#"{"cmd":"mention","path":"/w/a"}"#).unwrap_err();
    assert!(error.to_string().contains("paused"), "{error}");
    assert_eq!(error.kind(), CommandErrorKind::Refused, "the agent is there");
}

#[test]
fn pushes_reach_the_agent() {
    let mut room = Room::new("");
    room.attach();
    room.wait(2_000);
    room.agents[0].events.clear();
    room.no_event(r#"{"cmd":"select","path":"/w/a","start":[2,1],"end":[0,3],"text":"𝒳\u0000"}"#);
    room.wait(60);
    room.no_event(r#"{"cmd":"mention","path":"/w/a","lines":[4,2],"conn":1}"#);
    room.no_event(r#"{"cmd":"diagnostics_changed","uris":["file:///w/a"]}"#);
    room.no_event(r#"{"cmd":"notify","method":"m","params":{"a":1}}"#);
    room.no_event(r#"{"cmd":"notify","method":"n","conn":1}"#);
    room.no_event(r#"{"cmd":"tools","offer":["openFile"],"own":[{"name":"o"}]}"#);
    room.no_event(r#"{"cmd":"context","prompts":[{"name":"p"}]}"#);
    let seen: Vec<String> = room.agents[0].events.iter().map(described).collect();
    let expected = [
        "selection /w/a 0:3 2:1 \"𝒳\\0\"",
        "mention /w/a Some((2, 4))",
        "diagnostics",
        "m",
        "n",
        "tools",
        "notifications/resources/list_changed",
        "notifications/prompts/list_changed",
    ];
    assert_eq!(seen.iter().take(expected.len()).collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());
    room.agents[0].events.clear();
    room.no_event(r#"{"cmd":"clear"}"#);
    room.wait(3_000);
    assert!(room.agents[0].events.iter().any(|event| described(event).starts_with("selection  0:0")));
}

fn described(event: &ClientEvent) -> String {
    match event {
        ClientEvent::Pushed(Push::SelectionChanged(selection)) => {
            let (start, end) = (selection.range.start, selection.range.end);
            let at = format!("{}:{} {}:{}", start.line, start.character, end.line, end.character);
            format!("selection {} {at} {:?}", selection.file_path, selection.text)
        }
        ClientEvent::Pushed(Push::AtMentioned(mention)) => {
            format!("mention {} {:?}", mention.file_path, mention.lines)
        }
        ClientEvent::Pushed(_) => "diagnostics".into(),
        ClientEvent::Notification { method, .. } => method.to_string(),
        ClientEvent::ToolsChanged => "tools".into(),
        other => format!("{other:?}"),
    }
}

#[test]
fn command_size_is_limited() {
    let mut room = Room::new("");
    let head = r#"{"cmd":"select","path":"/w/a","start":[0,0],"end":[0,0],"text":""#;
    let command = |len: usize| [head, &"x".repeat(len - head.len() - 2), r#""}"#].concat();
    assert_eq!(room.one(&command(MAX_COMMAND))["event"], json!("truncated"));
    let message = room.refused(&command(MAX_COMMAND + 1));
    assert_eq!(message, "the command has 100728833 bytes, more than 100728832");
}

#[test]
fn error_has_the_line_of_its_command() {
    let mut room = Room::new("");
    room.editor.command_line(room.now, 41, b"\xff");
    room.editor.command_line(room.now, 42, b"{}");
    let lines: Vec<_> =
        room.settle().iter().map(|event| (event["event"].clone(), event["line"].clone())).collect();
    assert_eq!(lines, [(json!("error"), json!(41)), (json!("error"), json!(42))]);
}

#[test]
fn last_event_is_over() {
    let mut room = Room::new("");
    room.attach();
    let events = room.command(r#"{"cmd":"quit"}"#).unwrap();
    assert_eq!(names(&events), ["stopping", "closed", "over"]);
    assert_eq!(events[0]["reason"], json!("quit"));
    assert!(room.editor.is_over());
    let mut room = Room::new("");
    room.attach();
    room.editor.shutdown(room.now, "quit");
    assert!(!room.editor.is_over(), "the connection is still there");
    room.settle();
    assert_eq!(room.refused(r#"{"cmd":"clear"}"#), "the editor is ending");
}

#[test]
fn event_has_its_members_by_name() {
    let event = Event::Closed { conn: 3, reason: "r".into() };
    assert!(matches!(event.member("conn"), Some(ide_mcp_embed::Value::Number(3))));
    assert!(matches!(event.member("reason"), Some(ide_mcp_embed::Value::Text("r"))));
    assert!(event.member("event").is_none() && event.member("line").is_none());
    assert_eq!(event.to_json(), r#"{"event":"closed","conn":3,"reason":"r"}"#);
}

#[test]
fn status_lists_agents_and_models() {
    let mut room = Room::new("");
    room.attach();
    room.attach_at("/models");
    let conns = |status: &serde_json::Value| -> Vec<(u64, bool)> {
        let agents = status["agents"].as_array().unwrap().iter();
        agents.map(|agent| (agent["conn"].as_u64().unwrap(), agent["model"] == json!(true))).collect()
    };
    let (first, second) = (room.agents[0].conn, room.agents[1].conn);
    assert_eq!(conns(&room.one(r#"{"cmd":"status"}"#)), [(first, false), (second, true)]);
    room.cut(0);
    assert_eq!(conns(&room.one(r#"{"cmd":"status"}"#)), [(second, true)]);
}

#[test]
fn end_of_input_ends_the_connection() {
    let mut room = Room::new("");
    room.attach();
    let conn = room.agents[0].conn;
    assert!(room.editor.wants_input(conn));
    room.editor.feed_eof(room.now, conn);
    assert_eq!(names(&room.settle()), ["closed"]);
    assert!(!room.editor.wants_input(conn));
    room.editor.feed_eof(room.now, conn);
    assert_eq!(names(&room.settle()), [""; 0], "the connection was removed");
}
