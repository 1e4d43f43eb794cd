//! Edits that a client announces with `getDiagnostics`: each has a hint before the call, and exactly one end.

use crate::support::ide::{CLOSE, Editor, HEAD, INITIALIZE, INITIALIZED, call, config, masked, shown};
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::{
    Time,
    ide::{EditEnd, ServerEvent},
    mcp::ToolResult,
    rpc::CallId,
};
use std::collections::BTreeMap;
use std::sync::Arc;

const ALL: &str = "{}";

fn one(file: &str) -> String {
    format!(r#"{{"uri":"file:///w/{file}"}}"#)
}

/// Calls `getDiagnostics`, answers the call, and returns the events as short texts.
fn asks(editor: &mut Editor, id: u32, arguments: &str) -> Vec<String> {
    let events = editor.receive(&call(id, "getDiagnostics", arguments));
    for event in &events {
        if let ServerEvent::Call { call, .. } = event {
            editor.server.call(call.id()).respond(&ToolResult::text("[]")).unwrap();
        }
    }
    editor.written();
    short(&events)
}

fn short(events: &[ServerEvent]) -> Vec<String> {
    let short = |event: &ServerEvent| match event {
        ServerEvent::EditExpected { path, .. } => format!("expected {path}"),
        ServerEvent::EditEnded { path, reason, .. } => format!("{reason:?} {path}"),
        ServerEvent::Call { .. } => "call".into(),
        event => shown(std::slice::from_ref(event)).remove(0),
    };
    events.iter().map(short).collect()
}

#[test]
fn hint_comes_before_its_call() {
    let long = format!(r#"{{"uri":"/{}"}}"#, "x".repeat(4096));
    let longest = format!("/{}", "x".repeat(4095));
    let cases = [
        ("a URI", one("a"), Some("/w/a")),
        ("nothing is decoded", one("a%20b"), Some("/w/a%20b")),
        ("a path", r#"{"uri":"/w/a"}"#.into(), Some("/w/a")),
        ("the longest path", format!(r#"{{"uri":"{longest}"}}"#), Some(&*longest)),
        ("a longer one", long, None),
        ("a URI without a path", r#"{"uri":"file://"}"#.into(), None),
        ("the side of a diff", r#"{"uri":"_claude_fs_right:/w/a"}"#.into(), None),
        ("a relative path", r#"{"uri":"a"}"#.into(), None),
        ("an empty URI", r#"{"uri":""}"#.into(), None),
        ("all files", ALL.into(), None),
    ];
    for (name, arguments, path) in cases {
        let mut editor = Editor::attached(config());
        let expected = path.map(|path| format!("expected {path}")).into_iter().chain(["call".into()]);
        assert_eq!(asks(&mut editor, 1, &arguments), expected.collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn calls_of_the_model_announce_nothing() {
    let cases = [
        ("of the client", r#""name":"getDiagnostics""#, r#"{"progressToken":4}"#, true),
        ("of the model", r#""name":"getDiagnostics""#, r#"{"claudecode/toolUseId":"toolu_1"}"#, false),
        (
            "with a token",
            r#""name":"getDiagnostics""#,
            r#"{"progressToken":4,"claudecode/toolUseId":"t"}"#,
            false,
        ),
        (
            "read from raw parameters",
            r#""name":"getDi\u0061gnostics""#,
            r#"{"claudecode/toolUseId":"t"}"#,
            false,
        ),
        ("of the client, from raw ones", r#""name":"getDi\u0061gnostics""#, r#"{"progressToken":4}"#, true),
        ("no object", r#""name":"getDiagnostics""#, r#"["claudecode/toolUseId"]"#, true),
        ("another mark", r#""name":"getDiagnostics""#, r#"{"toolUseId":"t"}"#, true),
    ];
    for (name, tool, meta, is_hint) in cases {
        let mut editor = Editor::attached(config());
        let params = |arguments: &str| format!(r#"{{{tool},"arguments":{arguments},"_meta":{meta}}}"#);
        let message = |id: u32, arguments: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{}}}"#, params(arguments))
        };
        let expected: &[&str] = if is_hint { &["expected /w/a", "call"] } else { &["call"] };
        assert_eq!(short(&editor.receive(&message(1, &one("a")))), expected, "{name}");
        assert_eq!(asks(&mut editor, 2, &one("b")), ["expected /w/b", "call"], "{name}");
        let ends: &[&str] = if is_hint { &["TurnDone /w/a", "TurnDone /w/b", "call"] } else { &["call"] };
        assert_eq!(short(&editor.receive(&message(3, ALL))), ends, "{name}");
    }
}

#[test]
fn late_problems_are_unknown_except_before_an_edit() {
    const NONE: &str = r#"{"content":[{"type":"text","text":"[]"}]}"#;
    const UNKNOWN: &str = r#"{"content":[{"type":"text","text":"unknown: the editor has not reported the problems in time"}],"isError":true}"#;
    let (step, model) = (r#"{"progressToken":4}"#, r#"{"progressToken":4,"claudecode/toolUseId":"t"}"#);
    let (agent, models) = ("GET / ", "GET /models ");
    let cases = [
        ("before an edit", agent, "claude-code", step, one("a"), NONE),
        ("after an edit", agent, "claude-code", step, ALL.into(), UNKNOWN),
        ("of the model, for a file", agent, "claude-code", model, one("a"), UNKNOWN),
        ("of the model, for all files", agent, "claude-code", model, ALL.into(), UNKNOWN),
        ("at the target for models", models, "claude-code", step, one("a"), UNKNOWN),
        ("of a client that announces no edits", agent, "ide-mcp bridge", step, one("a"), UNKNOWN),
    ];
    for (name, target, client, meta, arguments, late) in cases {
        let mut config = config();
        config.tools = Arc::new(ToolSet::from([Tool::GetDiagnostics]).offer_to_models("getDiagnostics"));
        let mut editor = Editor::new(config);
        editor.feed(HEAD.replace("GET / ", target).as_bytes());
        editor.receive(&INITIALIZE.replace("claude-code", client));
        editor.receive(INITIALIZED);
        let params = format!(r#"{{"name":"getDiagnostics","arguments":{arguments},"_meta":{meta}}}"#);
        editor.receive(&format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{params}}}"#));
        editor.written();
        editor.at(1_900);
        assert_eq!(editor.texts(), [format!(r#"{{"jsonrpc":"2.0","id":7,"result":{late}}}"#)], "{name}");
    }
}

#[test]
fn turn_ends_its_edits() {
    let mut editor = Editor::attached(config());
    for turn in 0..2 {
        let id = turn * 10;
        assert_eq!(asks(&mut editor, id, ALL), ["call"], "nothing is expected yet");
        assert_eq!(asks(&mut editor, id + 1, &one("a")), ["expected /w/a", "call"]);
        assert_eq!(asks(&mut editor, id + 2, &one("b")), ["expected /w/b", "call"]);
        let next = asks(&mut editor, id + 3, &one("a"));
        assert_eq!(next, ["NextEdit /w/a", "expected /w/a", "call"], "the file was written once");
        assert_eq!(asks(&mut editor, id + 4, ALL), ["TurnDone /w/b", "TurnDone /w/a", "call"]);
        assert_eq!(asks(&mut editor, id + 5, ALL), ["call"]);
    }
}

#[test]
fn resource_read_ends_no_edit() {
    let mut config = config();
    config.tool_resources = true;
    let mut editor = Editor::attached(config);
    for id in [10, 20] {
        assert_eq!(asks(&mut editor, id, &one("a")), ["expected /w/a", "call"]);
        let params = r#"{"uri":"ide://diagnostics"}"#;
        let read =
            format!(r#"{{"jsonrpc":"2.0","id":{},"method":"resources/read","params":{params}}}"#, id + 1);
        assert_eq!(short(&editor.receive(&read)), ["call"], "{id}");
        assert_eq!(asks(&mut editor, id + 2, ALL), ["TurnDone /w/a", "call"], "{id}");
    }
}

#[test]
fn edit_ends_after_five_seconds() {
    let mut editor = Editor::attached(config());
    for begin in [0, 10_000] {
        let id = u32::try_from(begin).unwrap();
        editor.at(begin);
        asks(&mut editor, id, &one("a"));
        editor.at(begin + 1_000);
        asks(&mut editor, id + 1, &one("b"));
        assert_eq!(short(&editor.at(begin + 4_999)), [""; 0]);
        assert_eq!(short(&editor.at(begin + 5_000)), ["Expired /w/a"]);
        assert_eq!(asks(&mut editor, id + 2, ALL), ["TurnDone /w/b", "call"]);
        assert_eq!(short(&editor.at(begin + 6_000)), [""; 0], "it has ended already");
    }
}

#[test]
fn oldest_of_257_edits_ends() {
    let mut editor = Editor::attached(config());
    for id in 0..256 {
        assert_eq!(
            asks(&mut editor, id, &one(&id.to_string())),
            [format!("expected /w/{id}"), "call".into()]
        );
    }
    assert_eq!(asks(&mut editor, 256, &one("256")), ["TooMany /w/0", "expected /w/256", "call"]);
    assert_eq!(asks(&mut editor, 257, &one("256")), ["NextEdit /w/256", "expected /w/256", "call"]);
    assert_eq!(asks(&mut editor, 258, &one("258")), ["TooMany /w/1", "expected /w/258", "call"]);
}

#[test]
fn every_end_of_connection_ends_edits() {
    let ends: [(&str, fn(&mut Editor) -> Vec<ServerEvent>); 3] = [
        ("the transport is gone", Editor::eof),
        ("the client closes", |editor| {
            let mut events = editor.feed(&masked(CLOSE, &[0x03, 0xe8]));
            editor.written();
            events.extend(editor.eof());
            events
        }),
        ("the editor shuts down", |editor| {
            editor.server.shutdown(Time::ZERO);
            editor.eof()
        }),
    ];
    for (name, end) in ends {
        let mut editor = Editor::attached(config());
        asks(&mut editor, 1, &one("a"));
        asks(&mut editor, 2, &one("b"));
        let events = short(&end(&mut editor));
        assert_eq!(&events[..2], ["Disconnected /w/a", "Disconnected /w/b"], "{name}");
        assert!(events[2].starts_with("Closed") && events.len() == 3, "{name}: {events:?}");
    }
}

#[test]
fn hint_needs_a_handled_tool() {
    let cases = [
        ("listed", ToolSet::new().handle(Tool::GetDiagnostics), true),
        ("handled, not listed", ToolSet::new().handle_unlisted(Tool::GetDiagnostics), true),
        ("not handled", ToolSet::new(), false),
        ("a tool of the application", ToolSet::new().custom("getDiagnostics", "", "{}"), false),
    ];
    for (name, tools, is_hint) in cases {
        let mut config = config();
        config.tools = tools.into();
        let events = asks(&mut Editor::attached(config), 1, &one("a"));
        assert_eq!(events.contains(&"expected /w/a".to_owned()), is_hint, "{name}: {events:?}");
    }
}

/// Runs random calls of a client at random times, and ends the connection.
#[test]
fn each_expected_edit_ends_once() {
    arbtest::arbtest(|u| {
        let mut editor = Editor::attached(config());
        let mut open: BTreeMap<CallId, (Arc<str>, u64)> = BTreeMap::new();
        let mut now = 0;
        let mut events = Vec::new();
        for id in 0..u.int_in_range(0..=30)? {
            now += *u.choose(&[0, 1, 399, 2_000, 4_999, 5_000])?;
            events.extend(editor.at(now));
            let arguments = match u.int_in_range(0..=3)? {
                0 => ALL.into(),
                file => one(&file.to_string()),
            };
            events.extend(editor.receive(&call(id, "getDiagnostics", &arguments)));
            editor.written();
            check(&mut open, &events, now);
            events.clear();
            assert!(open.values().all(|(_, begin)| now < begin + 5_000), "an edit is overdue");
            if arguments == ALL {
                assert!(open.is_empty(), "{open:?}");
            }
        }
        events.extend(editor.eof());
        assert!(matches!(events.last(), Some(ServerEvent::Closed { .. })));
        check(&mut open, &events, now);
        assert!(open.is_empty(), "{open:?}");
        Ok(())
    })
    .budget_ms(500);
}

/// Takes the begins and ends of edits among these events. Checks that an edit is expected right
/// before its call, and that the edits of a file do not overlap.
fn check(open: &mut BTreeMap<CallId, (Arc<str>, u64)>, events: &[ServerEvent], now: u64) {
    for (at, event) in events.iter().enumerate() {
        match event {
            ServerEvent::EditExpected { edit, path, .. } => {
                assert!(matches!(&events[at + 1], ServerEvent::Call { call, .. } if call.id() == *edit));
                assert!(open.values().all(|(other, _)| other != path), "two edits of {path}");
                assert_eq!(open.insert(*edit, (path.clone(), now)), None);
            }
            ServerEvent::EditEnded { edit, path, reason, .. } => {
                let begun = open.remove(edit).unwrap_or_else(|| panic!("{event:?} has not begun"));
                assert_eq!(begun.0, *path);
                assert!(
                    *reason != EditEnd::Expired
                        || Time::from_millis(begun.1 + 5_000) <= Time::from_millis(now)
                );
            }
            _ => {}
        }
    }
}
