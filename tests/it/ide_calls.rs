//! Typed calls, calls that the application answers by number, and calls of its own tools.

use crate::conformance::tools::answered;
use crate::support::ide::{
    CONNECTED, Editor, HEAD, INITIALIZE, INITIALIZED, at, call, called, cancelled, config, open_diff, text,
    texts,
};
use ide_mcp::ide::tool::{
    Diagnostics, DirectAnswer, FileDiagnostics, Tool, ToolArguments, ToolCall, ToolSet,
};
use ide_mcp::{
    Output, Time,
    ide::{AgentId, Dialect, Server, ServerEvent},
    mcp::{Content, Timeout, ToolResult},
    rpc::{CallId, ErrorObject, NotAnswered},
    testing::pass,
};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use std::collections::{BTreeMap, BTreeSet};

/// Returns an editor that handles every tool, in this dialect.
fn attached(dialect: Dialect) -> Editor {
    let tools = Tool::ALL.into_iter().fold(ToolSet::new(), ToolSet::handle);
    let mut config = config().with_dialect(dialect);
    config.tools = tools.into();
    Editor::attached(config)
}

/// Returns, for each tool, the first answer in its conformance rows, in the form of VS Code.
fn answers() -> BTreeMap<Tool, ToolResult<'static>> {
    let mut answers = BTreeMap::new();
    for row in answered() {
        let texts = row.texts.iter().map(|text| Content::text(*text)).collect();
        answers.entry(row.tool).or_insert_with(|| ToolResult::new(texts));
    }
    answers
}

/// Calls a tool with arguments that suit every tool.
fn request(id: u32, tool: Tool) -> String {
    let arguments = r#"{"filePath":"/w/a","file_path":"/w/a","new_file_contents":"x","tab_name":"t","code":"1",
        "paths":["/w/a"],"filePaths":["/w/a"],"line":1,"column":1,"character":1,
        "range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}}}"#;
    call(id, tool.name(Dialect::VsCode), arguments)
}

#[test]
fn json_answers_equal_typed_answers() {
    let mut tools = BTreeSet::new();
    for row in answered() {
        let texts = row.texts.iter().map(|text| Content::text(*text)).collect();
        let whole = serde_json::to_string(&ToolResult::new(texts)).unwrap();
        let mut forms = vec![whole.as_str()];
        if let [text] = row.texts {
            forms.push(text);
        }
        let (name, arguments) = row.call;
        for dialect in Dialect::ALL {
            // The typed answer of an editor in Rust, in the same dialect.
            let mut editor = attached(dialect);
            let events = editor.receive(&call(1, name, arguments)).into_iter();
            let calls = events.filter_map(ServerEvent::into_call).collect::<Vec<_>>();
            let [call_to_answer] = <[_; 1]>::try_from(calls).unwrap();
            (row.answer)(&mut editor.server, call_to_answer);
            let typed = editor.texts();
            for form in &forms {
                let mut editor = attached(dialect);
                let events = editor.receive(&call(1, name, arguments));
                let id = called(&events);
                assert_eq!(editor.server.call(id).tool(), Some(row.tool), "{name}");
                editor.server.call(id).answer_json(form).unwrap();
                assert_eq!(editor.server.call(id).tool(), None, "{name}: the call has ended");
                assert_eq!(editor.texts(), typed, "{name} {dialect:?}");
            }
        }
        tools.insert(row.tool);
    }
    // The machine itself answers the calls of the other two.
    assert_eq!(tools.len(), Tool::ALL.len() - 2, "each tool has an answer in its rows: {tools:?}");
}

/// A tool that takes a path or a URI must say that it is about this file, or plugins would not check and show it.
#[test]
fn each_call_names_its_file() {
    let names = ["filePath", "file_path", "new_file_path", "uri", "path"];
    let mut with_file = 0;
    for tool in Tool::ALL {
        let spec = tool.spec(Dialect::VsCode);
        let schema: serde_json::Value = serde_json::from_str(&spec.input_schema).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        let has_file = names.iter().any(|name| properties.contains_key(*name));
        let mut editor = attached(Dialect::VsCode);
        let calls = editor.receive(&request(1, tool)).into_iter().filter_map(ServerEvent::into_call);
        for call in calls {
            assert_eq!(call.file(), has_file.then_some("/w/a"), "{tool:?}");
            with_file += usize::from(has_file);
        }
    }
    assert!(with_file >= 8, "{with_file} tools have a file");
}

#[test]
fn wrong_answer_is_refused_at_run_time() {
    let tabs = ToolResult::text(r#"{"tabs":[]}"#);
    let raw = to_raw_value(&tabs).unwrap();
    let not_an_answer = Err(NotAnswered::NotAnAnswer);
    let mut editor = attached(Dialect::VsCode);
    let diff = called(&editor.receive(&open_diff(1, "t")));
    for _ in 0..2 {
        assert_eq!(editor.server.call(diff).respond(&tabs), not_an_answer);
        assert_eq!(editor.server.call(diff).respond_raw(&raw), not_an_answer);
        assert_eq!(editor.server.call(diff).answer_json(r#"{"tabs":[]}"#), not_an_answer);
        assert_eq!(editor.texts(), [""; 0]);
        assert_eq!(editor.open_diffs().len(), 1, "the diff is still open");
    }
    editor.server.call(diff).respond(&ToolResult::error("no room")).unwrap();
    assert_eq!(editor.texts().len(), 1, "every tool can fail");
    let second = called(&editor.receive(&open_diff(2, "t")));
    let failed = r#"{"content":[{"type":"text","text":"no room"}],"isError":true}"#;
    editor.server.call(second).answer_json(failed).unwrap();
    assert!(editor.texts()[0].contains(failed));
    let answered = Err(NotAnswered::Answered);
    assert_eq!(editor.server.call(diff).respond(&tabs), answered);
    assert_eq!(editor.server.call(diff).answer_json("FILE_SAVED"), answered);
}

/// Answers a call of every tool as every other tool would. The server accepts that only if both tools have the
/// same type of answer.
#[test]
fn tool_refuses_the_answer_of_another() {
    let free_text = [Tool::GetAllOpenedFilePaths, Tool::ExecuteCode];
    let answers = answers();
    for (tool, own) in answers.iter().filter(|(tool, _)| !free_text.contains(tool)) {
        for (other, answer) in answers.iter().filter(|(other, _)| *other != tool) {
            let text = serde_json::to_string(answer).unwrap();
            let is_same = text == serde_json::to_string(own).unwrap()
                || matches!(tool, Tool::CloseTab | Tool::ReformatFile | Tool::OpenFile)
                    && text.contains(r#""text":"OK""#)
                || matches!(tool, Tool::GetCurrentSelection | Tool::GetLatestSelection)
                    && matches!(other, Tool::GetCurrentSelection | Tool::GetLatestSelection);
            let mut editor = attached(Dialect::VsCode);
            let call = called(&editor.receive(&request(1, *tool)));
            let before = editor.server.deadline();
            let refused = editor.server.call(call).respond(answer);
            assert_eq!(refused.is_ok(), is_same, "{tool:?} answered as {other:?}: {refused:?}");
            if !is_same {
                let raw = to_raw_value(answer).unwrap();
                assert_eq!(editor.server.call(call).respond_raw(&raw), Err(NotAnswered::NotAnAnswer));
                assert_eq!(editor.server.call(call).answer_json(&text), Err(NotAnswered::NotAnAnswer));
                let direct = DirectAnswer::Contents("x".into());
                assert_eq!(editor.server.call(call).respond_direct(&direct), Err(NotAnswered::NotAnAnswer));
                assert_eq!((editor.texts().len(), editor.server.deadline()), (0, before), "law 8");
                editor.server.call(call).respond(own).unwrap();
            }
        }
    }
}

#[test]
fn json_answer_is_complete_or_refused() {
    let rows = [
        ("a failure as text", Tool::SetSelection, "File not found", false),
        ("the answer of another tool", Tool::ReformatFile, r#"{"tabs":[]}"#, false),
        ("the answer of another tool, for a selection", Tool::GetCurrentSelection, r#"{"tabs":[]}"#, false),
        ("a member left out", Tool::GetOpenEditors, r#"{"tabs":[{"uri":"file:///a","label":"a"}]}"#, true),
        ("a null member", Tool::GetOpenEditors, r#"{"tabs":[{"uri":"file:///a","isPinned":null}]}"#, true),
        ("an unknown member", Tool::GetOpenEditors, r#"{"tabs":[],"more":1}"#, false),
        ("white space", Tool::GetOpenEditors, "{ \"tabs\" : [ ] }", true),
        (
            "a block of a type that is not allowed",
            Tool::ExecuteCode,
            r#"{"content":[{"type":"audio","data":""},{"type":"text","text":"y"}]}"#,
            false,
        ),
    ];
    for (name, tool, text, is_taken) in rows {
        let mut editor = attached(Dialect::VsCode);
        let call = called(&editor.receive(&request(1, tool)));
        assert_eq!(editor.server.call(call).answer_json(text).is_ok(), is_taken, "{name}");
    }
    // JSON of the application's own tool is sent as text, even with a member `content`, unless it is a whole
    // result.
    let mut config = config();
    config.tools = ToolSet::new().custom("own", "", "{}").into();
    for (text, sent) in [
        (r#"{"content":null,"found":false}"#, r#"{\"content\":null,\"found\":false}"#),
        (r#"{"content":["line"]}"#, r#"{\"content\":[\"line\"]}"#),
        (r#"{"content":[{"type":"text","text":"t"}]}"#, r#"{"content":[{"type":"text","text":"t"}]}"#),
    ] {
        let mut editor = Editor::attached(config.clone());
        let call = called(&editor.receive(&call(1, "own", "{}")));
        let no_result = to_raw_value(&[("x", 1)].into_iter().collect::<BTreeMap<_, _>>()).unwrap();
        assert_eq!(editor.server.call(call).respond_raw(&no_result), Err(NotAnswered::NotAnAnswer));
        editor.server.call(call).answer_json(text).unwrap();
        let texts = editor.texts();
        assert!(texts[0].contains(sent), "{texts:?}");
    }
}

/// The events of a batch come one by one, so an application can guess the number of a call before its event. It
/// must not be able to answer that call yet.
#[test]
fn call_is_not_answered_before_its_event() {
    let mut editor = Editor::open(config());
    for text in [INITIALIZE.replace("2025-11-25", "2025-03-26"), INITIALIZED.to_owned()] {
        editor.receive(&text);
    }
    let batch = format!("[{},{}]", request(1, Tool::GetDiagnostics), open_diff(2, "t"));
    editor.feed_unpolled(&text(&batch));
    let events = std::iter::from_fn(|| match editor.server.poll(Time::ZERO) {
        Output::Event(event) => Some(event),
        _ => None,
    });
    let call = events.take(2).find_map(|event| match event {
        ServerEvent::Call { call: ToolCall::GetDiagnostics(call, _), .. } => Some(call),
        _ => None,
    });
    let first = call.unwrap();
    let next = AgentId::of_call(first.id()).call(first.id().number() + 1);
    let unknown = NotAnswered::Unknown;
    assert_eq!(editor.server.call(next).respond(&ToolResult::text("x")), Err(unknown));
    assert_eq!(editor.server.call(next).fail(ErrorObject::new(-1, "")), Err(unknown));
    assert_eq!(editor.server.call(next).set_timeout(Timeout::Never), Err(unknown));
    assert_eq!(editor.server.call(next).tool(), None);
    let Output::Event(ServerEvent::Call { call: second, .. }) = editor.server.poll(Time::ZERO) else {
        panic!("no call")
    };
    assert_eq!((second.id(), second.tool()), (next, Some(Tool::OpenDiff)));
    editor.server.call(second).fail(ErrorObject::new(-1, "")).unwrap();
    assert_eq!(editor.open_diffs().len(), 0);
}

#[test]
fn ended_call_has_no_tool() {
    type End = fn(&mut Editor, CallId);
    let rows: [(&str, End, NotAnswered); 7] = [
        (
            "answered",
            |editor, call| editor.server.call(call).fail(ErrorObject::new(-1, "")).unwrap(),
            NotAnswered::Answered,
        ),
        ("cancelled", |editor, _| drop(editor.receive(&cancelled(1))), NotAnswered::Cancelled),
        (
            "expired",
            |editor, call| {
                let timeout = Timeout::After(std::time::Duration::from_millis(1));
                editor.server.call(call).set_timeout(timeout).unwrap();
                drop(editor.at(2));
            },
            NotAnswered::Expired,
        ),
        (
            "its tab closed",
            |editor, _| drop(editor.receive(&call(2, "close_tab", r#"{"tab_name":"t"}"#))),
            NotAnswered::Answered,
        ),
        (
            "all tabs closed",
            |editor, _| drop(editor.receive(&call(2, "closeAllDiffTabs", "{}"))),
            NotAnswered::Answered,
        ),
        ("shut down", |editor, _| editor.server.shutdown(Time::ZERO), NotAnswered::Answered),
        ("cut off", |editor, _| drop(editor.eof()), NotAnswered::Closed),
    ];
    for (name, end, how) in rows {
        let mut editor = Editor::attached(config());
        let call = called(&editor.receive(&open_diff(1, "t")));
        assert_eq!(editor.server.call(call).tool(), Some(Tool::OpenDiff), "{name}");
        end(&mut editor, call);
        assert_eq!(editor.server.call(call).tool(), None, "{name}");
        assert_eq!(editor.open_diffs().len(), 0, "{name}");
        let late = editor.server.call(call).fail(ErrorObject::new(-1, ""));
        assert!(late == Err(how) || late == Err(NotAnswered::Closed), "{name}: {late:?}");
    }
}

#[derive(Debug, Deserialize, PartialEq)]
struct CountLines {
    path: String,
    blank: bool,
}

#[test]
fn own_tool_is_decoded_as_its_type() {
    let mut config = config();
    let tools = ToolSet::new().custom_typed::<CountLines>("countLines", "", "{}").custom("raw", "", "{}");
    config.tools = tools.into();
    let mut editor = Editor::attached(config);
    let mut pending = |text: &str| {
        let mut events = editor.receive(text);
        match events.pop() {
            Some(ServerEvent::Call { call: ToolCall::Other(call, own), .. }) => {
                editor.server.answer(call, &ToolResult::text("done")).unwrap();
                (Some(own), editor.texts().remove(0))
            }
            None => (None, editor.texts().remove(0)),
            other => panic!("{other:?}"),
        }
    };
    let expected = CountLines { path: "é\n".into(), blank: true };
    let arguments = r#"{"path":"\u00e9\n","blank":true,"more":[{}]}"#;
    // The single-pass decoder reads the first call. It leaves the second, whose member name has an escape, to the
    // other.
    for text in
        [call(1, "countLines", arguments), call(2, "countLines", arguments).replace("name", r"n\u0061me")]
    {
        let (own, message) = pending(&text);
        let own = own.unwrap();
        assert_eq!((&*own.name, own.raw().is_none(), own.tool()), ("countLines", true, None));
        assert_eq!(own.into_arguments::<CountLines>().unwrap(), expected, "{text}");
        assert!(message.contains("done"), "{message}");
    }
    let (own, _) = pending(&call(3, "countLines", arguments));
    assert_eq!(own.unwrap().into_arguments::<Vec<u8>>().unwrap_err().code, -32603, "another type");
    let (own, message) = pending(&call(4, "countLines", r#"{"path":"a"}"#));
    assert!(own.is_none() && message.contains("isError") && message.contains("blank"), "{message}");
    let (own, _) = pending(&call(5, "raw", arguments));
    let own = own.unwrap();
    assert_eq!(own.raw().map(|raw| raw.get()), Some(arguments));
    assert_eq!(own.into_arguments::<CountLines>().unwrap(), expected);
    let (own, _) = pending(&call(6, "raw", "{}"));
    assert_eq!(own.unwrap().into_arguments::<CountLines>().unwrap_err().code, -32602);
}

/// Checks the numbers by which an application in another language names agents and calls.
#[test]
fn agents_and_calls_are_found_by_number() {
    let mut server = Server::new(config());
    let now = at(0);
    let mut pending = Vec::new();
    for id in 1..=2 {
        let conn = server.connect(now);
        let message = [INITIALIZE, INITIALIZED, CONNECTED].map(text).concat();
        let bytes = [HEAD.as_bytes(), &message, &text(&open_diff(id, "t"))].concat();
        server.feed(now, conn, &bytes);
        for event in pass(&mut server, now, usize::MAX).events {
            if let ServerEvent::Call { agent, call } = event {
                assert_eq!(agent.conn(), Some(conn));
                pending.push((conn, agent.number(), call.id().number()));
            }
        }
    }
    assert_eq!(server.agents().count(), 2);
    for (conn, agent, number) in pending {
        let agent = server.agents().map(|known| known.id()).find(|known| known.number() == agent).unwrap();
        assert_eq!(agent, AgentId::from(conn));
        let call = agent.call(number);
        assert_eq!(AgentId::of_call(call), agent);
        assert_eq!(server.call(call).tool(), Some(Tool::OpenDiff));
        server.call(call).set_timeout(Timeout::Never).unwrap();
        server.call(call).answer_json("DIFF_REJECTED").unwrap();
        let message = texts(&pass(&mut server, now, usize::MAX).written_bytes());
        assert!(message.len() == 1 && message[0].contains("DIFF_REJECTED"), "{message:?}");
        assert_eq!(server.call(agent.call(99)).fail(ErrorObject::new(-1, "")), Err(NotAnswered::Unknown));
        assert_eq!(server.agent_mut(agent).notify("x", None::<&()>), Ok(()));
        for _ in 0..2 {
            server.feed_eof(now, conn);
        }
        pass(&mut server, now, usize::MAX);
        assert!(server.agent(agent).is_none() && server.call(call).tool().is_none());
        assert_eq!(server.call(call).fail(ErrorObject::new(-1, "")), Err(NotAnswered::Closed));
    }
}

/// Old clients accept the problems of a file only under the spelling that they asked for.
#[test]
fn problems_of_a_file_come_back_in_the_spelling_of_the_call() {
    const SAME: &str = "file:///w/a%20b";
    let rows = [
        ("as it is", SAME, SAME, SAME),
        ("a path", "/w/a b", SAME, "/w/a b"),
        ("not encoded", "file:///w/a b", SAME, "file:///w/a b"),
        ("another file stays", "/w/a b", "file:///w/other", "file:///w/other"),
    ];
    for (name, pending, given, written) in rows {
        let mut editor = attached(Dialect::VsCode);
        let events = editor.receive(&call(5, "getDiagnostics", &format!(r#"{{"uri":"{pending}"}}"#)));
        let Some(ToolCall::GetDiagnostics(call, _)) = events.into_iter().find_map(ServerEvent::into_call)
        else {
            panic!("{name}: no call")
        };
        editor
            .server
            .answer(call, Diagnostics { files: vec![FileDiagnostics::new(given, Vec::new())] })
            .unwrap();
        let sent = editor.texts().concat();
        assert!(sent.contains(&format!(r#"\"uri\":\"{written}\""#)), "{name}: {sent}");
    }
}
