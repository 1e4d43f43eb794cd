//! The calls of agents, their numbers, and their answers.

use crate::support::{Room, names, native};
use ide_mcp::ide::Client;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    CheckDocumentDirty, ExecuteCode, GetCurrentSelection, GetDiagnostics, GetLatestSelection, GetOpenEditors,
    GetWorkspaceFolders, OpenDiff, OpenFile, OtherTool, ReformatFile, SaveDocument, SetCursorPosition,
    SetSelection,
};
use ide_mcp::mcp::{GetPrompt, ReadResource, Timeout};
use ide_mcp::rpc::RequestId;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Duration;

fn diff(room: &mut Room, text: &str) -> serde_json::Value {
    room.client(0).call_tool(&OpenDiff::new("/w/a", text, "t")).unwrap();
    room.settle().pop().unwrap()
}

#[test]
fn diff_is_answered_once_with_its_verdict() {
    let text = "\0\u{2028}𝒳\"\n";
    let edited = serde_json::to_string("edited \u{2029}").unwrap();
    let rows = [
        ("accepted", r#""verdict":"accept""#.into(), json!(["FILE_SAVED", text])),
        (
            "edited",
            format!(r#""verdict":"accept","contents":{edited}"#),
            json!(["FILE_SAVED", "edited \u{2029}"]),
        ),
        ("rejected", r#""verdict":"reject""#.into(), json!(["DIFF_REJECTED", "t"])),
    ];
    for (name, verdict, expected) in rows {
        let mut room = Room::new("");
        room.attach();
        let event = diff(&mut room, text);
        assert_eq!(
            (&event["event"], &event["contents"], &event["call"]),
            (&json!("diff"), &json!(text), &json!(1))
        );
        assert_eq!(
            (&event["path"], &event["old_path"], &event["tab"]),
            (&json!(native("/w/a")), &json!(native("/w/a")), &json!("t"))
        );
        assert_eq!(event["outside"], json!(false));
        let command = format!(r#"{{"cmd":"answer","call":1,{verdict}}}"#);
        room.no_event(&command);
        let answer: serde_json::Value = serde_json::from_str(&room.outcome(0)).unwrap();
        let texts: Vec<_> =
            answer["content"].as_array().unwrap().iter().map(|block| block["text"].clone()).collect();
        assert_eq!(json!(texts), expected, "{name}");
        assert_eq!(room.refused(&command), "`call` 1 has ended", "{name}: twice");
        assert_eq!(diff(&mut room, text)["call"], json!(2), "{name}: a number is given once");
    }
}

#[test]
fn calls_take_only_their_own_answers() {
    let mut room = Room::new(r#","prompts":[{"name":"p"}],"resources":[{"uri":"n://1"}]"#);
    room.attach();
    diff(&mut room, "");
    room.client(0).call_tool(&GetOpenEditors).unwrap();
    assert_eq!(names(&room.settle()), ["call"]);
    let rows = [
        (r#"{"cmd":"respond","call":1}"#, "`call` 1 is a diff: use the command answer"),
        (
            r#"{"cmd":"answer","call":2,"verdict":"accept"}"#,
            "`call` 2 is not a diff: use the command respond",
        ),
        (r#"{"cmd":"answer","call":1,"verdict":"reject","contents":""}"#, "leave `contents` out"),
        (r#"{"cmd":"respond","call":3}"#, "`call` 3 is not a call"),
        (r#"{"cmd":"respond","call":0}"#, "`call` 0 is not a call"),
    ];
    for (command, expected) in rows {
        let message = room.refused(command);
        assert!(message.contains(expected), "{command}: {message}");
    }
    assert_eq!(room.one(r#"{"cmd":"status"}"#)["calls"], json!([1, 2]), "all are still open");
    room.no_event(r#"{"cmd":"respond","call":2,"result":{"tabs":[]}}"#);
    assert!(room.outcome(0).contains(r#"{\"tabs\":[]}"#), "{}", room.outcome(0));
    room.no_event(r#"{"cmd":"fail","call":1,"message":"no view"}"#);
    assert!(room.outcome(0).contains("-32601"), "{}", room.outcome(0));
}

const PROBLEM: &str = r#"{"message":"m","severity":1,"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}MORE}"#;

#[test]
fn diagnostics_of_language_servers_are_taken() {
    let problems = [
        ("", ""),
        ("a code of TypeScript", r#","code":2304"#),
        ("a code with a page", r#","code":{"value":"E1","target":"https://e"}"#),
        ("tags", r#","tags":[1]"#),
        ("related information", r#","relatedInformation":[]"#),
        ("a description of the code", r#","codeDescription":{"href":"x"}"#),
        ("data", r#","data":{"a":"\ud800"}"#),
        ("no severity", r#","severity":null"#),
        ("a string as severity", r#","severity":"Warning""#),
    ];
    let shapes = [
        ("files", r#"[{"uri":"file:///w/a","diagnostics":[PROBLEM]}]"#),
        ("a file by its path", r#"[{"filePath":"/w/a","diagnostics":[PROBLEM]}]"#),
        ("a version", r#"{"uri":"file:///w/a","version":3.0,"diagnostics":[PROBLEM]}"#),
        ("a report", r#"{"kind":"full","items":[PROBLEM]}"#),
    ];
    for (problem, more) in problems {
        for (shape, files) in shapes {
            let json = files.replace("PROBLEM", &PROBLEM.replace("MORE", more));
            for result in [json.clone(), serde_json::to_string(&json).unwrap()] {
                let mut room = Room::new("");
                room.attach();
                room.client(0).call_tool(&GetDiagnostics::new(Some("file:///w/a".into()))).unwrap();
                room.settle();
                room.no_event(&format!(r#"{{"cmd":"respond","call":1,"result":{result}}}"#));
                let outcome = room.outcome(0);
                assert!(outcome.contains(r#"\"message\":\"m\""#), "{problem}, {shape}: {outcome}");
                assert!(outcome.contains(r#"\"uri\":\"file:///w/a\""#), "{problem}, {shape}: {outcome}");
            }
        }
    }
}

#[test]
fn unusable_result_names_its_member_and_ends_the_call() {
    let list = |problem: &str| format!(r#"[{{"uri":"file:///w/a","diagnostics":[{problem}]}}]"#);
    let diagnostics = [
        (
            "no range",
            list(r#"{"message":"m"}"#),
            "`result[0].diagnostics[0].range` must be a start and an end",
        ),
        (
            "no message",
            list(&PROBLEM.replace("\"m\"", "7").replace("MORE", "")),
            "`result[0].diagnostics[0].message` must be a string",
        ),
        (
            "no list",
            r#"{"uri":"file:///w/a","diagnostics":{}}"#.into(),
            "`result.diagnostics` must be a list",
        ),
        (
            "no diagnostics",
            r#"[{"uri":"file:///w/a","problems":[]}]"#.into(),
            "`result[0].diagnostics` must be a list",
        ),
        (
            "a string",
            serde_json::to_string(&list("{}")).unwrap(),
            "`result[0].diagnostics[0].message` must be",
        ),
        ("null in a string", r#""null""#.into(), "`result` must be a list of files"),
        ("an object", "{}".into(), "`result` must be a list of files"),
        (
            "a string that is not JSON",
            r#""none""#.into(),
            "`result` cannot be used: the result does not answer",
        ),
    ];
    let editors = [
        ("another answer", r#"{"tabs":1}"#.into(), "`result` cannot be used: the result does not answer"),
        (
            "a string that is not JSON",
            r#""FILE_SAVED""#.into(),
            "`result` cannot be used: the result does not answer",
        ),
    ];
    let rows =
        diagnostics.into_iter().map(|row| (true, row)).chain(editors.into_iter().map(|row| (false, row)));
    for (of_diagnostics, (name, result, expected)) in rows {
        let mut room = Room::new("");
        room.attach();
        match of_diagnostics {
            true => drop(room.client(0).call_tool(&GetDiagnostics::new(Some("file:///w/a".into()))).unwrap()),
            false => drop(room.client(0).call_tool(&GetOpenEditors).unwrap()),
        }
        room.settle();
        let command = format!(r#"{{"cmd":"respond","call":1,"result":{result}}}"#);
        let message = room.refused(&command);
        assert!(message.starts_with(expected), "{name}: {message}");
        room.settle();
        let outcome = room.outcome(0);
        assert!(outcome.contains(r#""isError":true"#) && outcome.contains(&message), "{name}: {outcome}");
        assert_eq!(room.refused(&command), "`call` 1 has ended", "{name}");
    }
}

#[test]
fn unusable_prompt_and_resource_end_their_calls() {
    let mut room = Room::new(r#","prompts":[{"name":"p"}],"resources":[{"uri":"n://1"}]"#);
    room.attach();
    room.client(0).get_prompt(&GetPrompt::new("p")).unwrap();
    room.client(0).read_resource(&ReadResource::new("n://1")).unwrap();
    room.settle();
    for (call, code) in [(1, "-32603"), (2, "-32002")] {
        let command = format!(r#"{{"cmd":"respond","call":{call},"result":{{"tabs":[]}}}}"#);
        assert!(room.refused(&command).starts_with("`result` cannot be used"), "{call}");
        room.settle();
        assert!(room.outcome(0).contains(code), "{}", room.outcome(0));
        assert_eq!(room.refused(&command), format!("`call` {call} has ended"));
    }
}

#[test]
fn events_have_no_lone_surrogates() {
    let mut room = Room::new(r#","own":[{"name":"count"}]"#);
    room.attach();
    let arguments = r#"{"a":["x\ud800","\ud83d\ude00"],"\udc00":1.0}"#;
    room.client(0).call_tool(&OtherTool::new("count", serde_json::from_str(arguments).unwrap())).unwrap();
    let event = room.settle().pop().unwrap();
    assert_eq!(event["arguments"], json!({"a": ["x\u{fffd}", "😀"], "\u{fffd}": 1}));
    room.no_event(r#"{"cmd":"respond","call":1.0,"result":"y\ud800"}"#);
    assert!(room.outcome(0).contains("y\u{fffd}"), "{}", room.outcome(0));
    let event = diff(&mut room, "text");
    room.no_event(&format!(
        r#"{{"cmd":"answer","call":{}.0,"verdict":"accept","contents":"z\udc00"}}"#,
        event["call"]
    ));
    assert!(room.outcome(0).contains("z\u{fffd}"), "{}", room.outcome(0));
}

#[test]
fn selection_and_folders_are_answered_without_the_editor() {
    let mut room = Room::new("");
    room.attach();
    room.command(
        r#"{"cmd":"tools","offer":["getCurrentSelection","getLatestSelection","getWorkspaceFolders"]}"#,
    )
    .unwrap();
    let none = [r"No active editor found", r"No selection available"];
    let rows = [
        ("nothing yet", "", none),
        (
            "a selection",
            r#"{"cmd":"select","path":"/w/a","start":[0,3],"end":[0,1],"text":"𝒳"}"#,
            [r#"\"text\":\"𝒳\",\"filePath\":\"/w/a\",\"selection\":{\"start\":{\"line\":0,\"character\":1}"#;
                2],
        ),
        ("no focus", r#"{"cmd":"clear"}"#, [none[0], "/w/a"]),
        ("a cursor", r#"{"cmd":"select","path":"/w/b","start":[2,0],"end":[2,0]}"#, ["/w/b"; 2]),
        ("a hidden file", r#"{"cmd":"select","path":"/w/.env","start":[0,0],"end":[0,1],"text":"k"}"#, none),
    ];
    for (name, command, [current, latest]) in rows {
        if !command.is_empty() {
            room.command(command).unwrap();
        }
        room.client(0).call_tool(&GetCurrentSelection).unwrap();
        assert_eq!(names(&room.settle()), [""; 0], "{name}");
        assert!(room.outcome(0).contains(current), "{name}: {}", room.outcome(0));
        room.client(0).call_tool(&GetLatestSelection).unwrap();
        assert_eq!(names(&room.settle()), [""; 0], "{name}");
        assert!(room.outcome(0).contains(latest), "{name}: {}", room.outcome(0));
    }
    for (command, folder) in [("", "/w"), (r#"{"cmd":"folders","folders":["/v"]}"#, "/v")] {
        if !command.is_empty() {
            room.no_event(command);
        }
        room.client(0).call_tool(&GetWorkspaceFolders).unwrap();
        room.settle();
        assert!(room.outcome(0).contains(&format!(r#"\"rootPath\":\"{folder}\""#)), "{}", room.outcome(0));
    }
}

#[test]
fn outside_is_relative_to_the_current_folders() {
    let mut room = Room::new("");
    room.attach();
    for (folders, expected) in [("", false), (r#""/v""#, true), (r#""/v","/w""#, false)] {
        if !folders.is_empty() {
            room.no_event(&format!(r#"{{"cmd":"folders","folders":[{folders}]}}"#));
        }
        assert_eq!(diff(&mut room, "x")["outside"], json!(expected), "[{folders}]");
    }
}

#[test]
fn call_has_the_path_of_its_file() {
    let rows = [
        (Some("file:///w/a b"), json!(native("/w/a b"))),
        (Some("file:///w/a%20b"), json!(native("/w/a b"))),
        (Some("/w/./a"), json!(native("/w/a"))),
        (None, json!(null)),
    ];
    for (uri, path) in rows {
        let mut room = Room::new("");
        room.attach();
        room.client(0).call_tool(&GetDiagnostics::new(uri.map(Into::into))).unwrap();
        let event = room.settle().pop().unwrap();
        assert_eq!((&event["event"], &event["path"]), (&json!("call"), &path), "{uri:?}");
    }
}

#[test]
fn every_tool_with_a_file_has_its_path() {
    let mut at = SetCursorPosition::new(Position::new(1, 2));
    at.file_path = Some("/w/./a".into());
    let mut selected = SetSelection::new(Range::default());
    selected.file_path = Some("/w/./a".into());
    let mut room = Room::new("");
    room.attach();
    let offer = r#""openFile","checkDocumentDirty","saveDocument","reformat_file","set_cursor_position","set_selection","getOpenEditors""#;
    room.no_event(&format!(r#"{{"cmd":"tools","offer":[{offer}]}}"#));
    let mut requests: Vec<ToolRequest> = vec![
        ("openFile", Box::new(|client| client.call_tool(&OpenFile::new("/w/./a")).unwrap().id())),
        (
            "checkDocumentDirty",
            Box::new(|client| client.call_tool(&CheckDocumentDirty::new("/w/./a")).unwrap().id()),
        ),
        ("saveDocument", Box::new(|client| client.call_tool(&SaveDocument::new("/w/./a")).unwrap().id())),
        ("reformat_file", Box::new(|client| client.call_tool(&ReformatFile::new("/w/./a")).unwrap().id())),
        ("set_cursor_position", Box::new(move |client| client.call_tool(&at).unwrap().id())),
        ("set_selection", Box::new(move |client| client.call_tool(&selected).unwrap().id())),
    ];
    for (name, request) in &mut requests {
        request(room.client(0));
        let event = room.settle().pop().unwrap();
        assert_eq!((&event["tool"], &event["path"]), (&json!(name), &json!(native("/w/a"))), "{name}");
    }
    room.client(0).call_tool(&GetOpenEditors).unwrap();
    assert_eq!(room.settle().pop().unwrap()["path"], json!(null), "no file");
}

/// The name of a tool, and its call.
type ToolRequest = (&'static str, Box<dyn FnMut(&mut Client) -> RequestId>);

#[test]
fn prompt_and_resource_are_answered() {
    let mut room = Room::new(
        r#","prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}],"resources":[{"uri":"n://1"}]"#,
    );
    room.attach();
    room.client(0).get_prompt(&GetPrompt::new("p").argument("a", "x")).unwrap();
    let event = room.settle().pop().unwrap();
    assert_eq!((&event["event"], &event["arguments"]), (&json!("prompt"), &json!({"a": "x"})));
    assert_eq!(room.refused(r#"{"cmd":"respond","call":1}"#), "respond: `result` is missing");
    room.no_event(r#"{"cmd":"respond","call":1,"result":"the text"}"#);
    assert!(room.outcome(0).contains("the text"));
    room.client(0).read_resource(&ReadResource::new("n://1")).unwrap();
    assert_eq!(room.settle().pop().unwrap()["uri"], json!("n://1"));
    let raw = r#"{"contents":[{"uri":"n://1","text":"whole"}]}"#;
    room.no_event(&format!(r#"{{"cmd":"respond","call":2,"result":{raw}}}"#));
    assert_eq!(room.outcome(0), raw);
    room.client(0).read_resource(&ReadResource::new("n://1")).unwrap();
    room.settle();
    room.no_event(r#"{"cmd":"fail","call":3,"message":"gone"}"#);
    assert!(room.outcome(0).contains("gone"));
}

#[test]
fn own_tool_takes_any_answer() {
    let mut room = Room::new(r#","own":[{"name":"count","models":true}]"#);
    room.attach_at("/models");
    let arguments = OtherTool::new("count", serde_json::from_str("{\n\"a\":[1]}").unwrap());
    room.client(0).call_tool(&arguments).unwrap();
    let event = room.settle().pop().unwrap();
    assert_eq!((&event["tool"], &event["arguments"]), (&json!("count"), &json!({"a": [1]})));
    room.no_event(r#"{"cmd":"respond","call":1,"result":{"lines":[{"n":7}]}}"#);
    assert!(room.outcome(0).contains(r#"{\"lines\":[{\"n\":7}]}"#), "{}", room.outcome(0));
}

#[test]
fn timeout_command_moves_the_deadline() {
    let mut room = Room::new("");
    room.attach();
    let call = |room: &mut Room| {
        room.client(0).call_tool(&GetDiagnostics::new(Some("/w/a".into()))).unwrap();
        room.settle();
    };
    call(&mut room);
    assert_eq!(room.one(r#"{"cmd":"status"}"#)["calls"], json!([1]));
    assert_eq!(names(&room.wait(399)), [""; 0]);
    assert_eq!(room.wait(1).pop().unwrap()["reason"], json!("expired"));
    call(&mut room);
    room.no_event(r#"{"cmd":"timeout","call":2,"within":900}"#);
    assert_eq!(names(&room.wait(899)), [""; 0]);
    assert_eq!(names(&room.wait(1)), ["call_ended"]);
    assert_eq!(room.refused(r#"{"cmd":"timeout","call":2,"within":1}"#), "`call` 2 has ended");
    let timeout = Timeout::Progress { idle: Duration::from_secs(60), total: Duration::from_secs(600) };
    room.client(0).call_tool_within(&ExecuteCode::new("1"), timeout).unwrap();
    room.settle();
    room.agents[0].events.clear();
    room.no_event(r#"{"cmd":"progress","call":3,"progress":0.5,"total":1,"message":"half"}"#);
    let shown = format!("{:?}", room.agents[0].events);
    assert!(shown.contains("Progress") && shown.contains("0.5") && shown.contains("half"), "{shown}");
    room.client(0).call_tool(&GetDiagnostics::default()).unwrap();
    room.settle();
    assert_eq!(names(&room.cut(0)).iter().filter(|name| **name == "call_ended").count(), 2);
    assert_eq!(room.one(r#"{"cmd":"status"}"#)["calls"], json!([]));
}

#[test]
fn calls_that_the_filter_does_not_cover_fail_during_a_pause() {
    let mut room =
        Room::new(r#","own":[{"name":"count"}],"prompts":[{"name":"p"}],"resources":[{"uri":"n://1"}]"#);
    room.attach();
    let calls: [(&str, fn(&mut Client) -> RequestId, &str); 6] = [
        ("call", |client| client.call_tool(&ExecuteCode::new("1")).unwrap().id(), "paused"),
        (
            "call",
            |client| client.call_tool(&OtherTool::new("count", RawValue::NULL.to_owned())).unwrap().id(),
            "paused",
        ),
        ("prompt", |client| client.get_prompt(&GetPrompt::new("p")).unwrap().id(), "paused"),
        ("resource", |client| client.read_resource(&ReadResource::new("n://1")).unwrap().id(), "paused"),
        // The text of a diff is the agent's own, and the server filters the answers of its own tools.
        ("diff", |client| client.call_tool(&OpenDiff::new("/w/a", "x", "t")).unwrap().id(), ""),
        ("call", |client| client.call_tool(&GetOpenEditors).unwrap().id(), ""),
    ];
    // The second time is like the first.
    for round in 0..2 {
        for is_paused in [true, false] {
            room.command(if is_paused { r#"{"cmd":"pause"}"# } else { r#"{"cmd":"resume"}"# }).unwrap();
            for (event, call, refusal) in &calls {
                call(room.client(0));
                let events = room.settle();
                if is_paused && !refusal.is_empty() {
                    assert_eq!(names(&events), [""; 0], "{event} in round {round}");
                    assert!(room.outcome(0).contains(refusal), "{event}: {}", room.outcome(0));
                } else {
                    assert_eq!(names(&events), [*event], "round {round}");
                }
            }
        }
    }
}
