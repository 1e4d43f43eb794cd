//! An editor with one client, from the bytes of the client to the events for the application:
//! diffs and their ends, timeouts, the selection, mentions, and clients that break the rules.

use crate::support::CALL;
use std::time::Duration;

use crate::support::ide::{
    BINARY, CLOSE, CONNECTED, Editor, INITIALIZE, INITIALIZED, PING, TEXT, answer, at, call, called,
    cancelled, close_tab, config, frames::plain, masked, open_diff, read, request, save, selection, settling,
    shown, text,
};
use ide_mcp::Keepalive;
use ide_mcp::ide::tool::{DiffOutcome, DirectAnswer, Tool, ToolCall, ToolSet};
use ide_mcp::{
    Output, Time,
    ide::{Dialect, Mention, MentionError, Selected, ServerConfig, ServerEvent},
    mcp::{CallEnd, Context, Forward, Outcome, PromptSpec, Timeout, ToolResult},
    rpc::{CallId, ErrorObject, NotAnswered, NotSent},
    ws::{CloseCode, ProtocolError},
};

const NOTHING: [&str; 0] = [];

fn rejected(id: u32, tab: &str) -> String {
    answer(id, &["DIFF_REJECTED", tab])
}

fn tab_closed(id: u32) -> String {
    answer(id, &["TAB_CLOSED"])
}

fn open(editor: &mut Editor, id: u32, tab: &str) -> CallId {
    let call = called(&editor.receive(&open_diff(id, tab)));
    assert_eq!(editor.texts(), NOTHING, "a diff waits for a person");
    call
}

fn selection_changed(text: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"selection_changed","params":{{"text":"{text}","filePath":"/w/a.txt","fileUrl":"file:///w/a.txt","selection":{{"start":{{"line":0,"character":0}},"end":{{"line":0,"character":5}},"isEmpty":false}}}}}}"#
    )
}

#[test]
fn verdict_is_sent_once_and_ends_diff() {
    let saved = |contents: &str| DiffOutcome::Accepted { contents: contents.into() };
    let cases = [
        ("accepted", saved("new"), answer(5, &["FILE_SAVED", "new"])),
        ("edited", saved("newer"), answer(5, &["FILE_SAVED", "newer"])),
        ("emptied", saved(""), answer(5, &["FILE_SAVED", ""])),
        ("rejected", DiffOutcome::Rejected { tab_name: "✻ t ⧉".into() }, rejected(5, "✻ t ⧉")),
    ];
    for (name, outcome, expected) in cases {
        let mut editor = Editor::attached(config());
        let diff = open(&mut editor, 5, "✻ t ⧉");
        assert_eq!(editor.open_diffs(), [(diff, "✻ t ⧉")], "{name}");
        assert_eq!(
            editor.server.call(diff).respond(&crate::support::ide::vs_code(&outcome)),
            Ok(()),
            "{name}"
        );
        assert_eq!(editor.texts(), [expected], "{name}");
        assert_eq!(editor.open_diffs().len(), 0, "{name}");
        assert_eq!(
            editor.server.call(diff).respond(&crate::support::ide::vs_code(&outcome)),
            Err(NotAnswered::Answered),
            "{name}"
        );
        // The next calls of the client change nothing.
        for id in [6, 7] {
            assert_eq!(shown(&editor.receive(&close_tab(id, "✻ t ⧉"))), NOTHING, "{name}");
            assert_eq!(editor.texts(), [tab_closed(id)], "{name}");
        }
    }
}

#[test]
fn diff_can_be_answered_as_failed() {
    let mut editor = Editor::attached(config());
    let (first, second) = (open(&mut editor, 5, "t"), open(&mut editor, 6, "t"));
    assert_eq!(editor.server.call(first).fail(ErrorObject::new(-32000, "no window")), Ok(()));
    assert_eq!(editor.server.call(second).respond(&ToolResult::error("no window")), Ok(()));
    assert_eq!(editor.open_diffs().len(), 0);
    assert_eq!(
        editor.texts(),
        [
            r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"no window"}}"#,
            r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"no window"}],"isError":true}}"#,
        ]
    );
    assert_eq!(shown(&editor.eof()), ["Closed(Abnormal)"]);
}

#[test]
fn i37_diff_ended_by_client_is_answered_once() {
    let attached = || Editor::attached(config());

    let mut editor = attached();
    let diff = open(&mut editor, 5, "t");
    assert_eq!(shown(&editor.receive(&close_tab(6, "t"))), ["diff t TabClosed"]);
    assert_eq!(editor.texts(), [rejected(5, "t"), tab_closed(6)]);
    assert_eq!(shown(&editor.receive(&close_tab(7, "t"))), NOTHING, "the client always closes a tab twice");
    assert_eq!(editor.texts(), [tab_closed(7)]);
    assert_eq!(save(&mut editor.server, diff, "late"), Err(NotAnswered::Answered));
    assert_eq!(editor.texts(), NOTHING);

    let mut editor = attached();
    open(&mut editor, 5, "t");
    assert_eq!(shown(&editor.receive(&close_tab(6, "T"))), NOTHING, "an unknown tab");
    assert_eq!(editor.texts(), [tab_closed(6)]);
    assert_eq!(editor.open_diffs().len(), 1);

    let mut editor = attached();
    for (id, tab) in [(5, "t"), (6, "u"), (7, "t")] {
        open(&mut editor, id, tab);
    }
    assert_eq!(shown(&editor.receive(&close_tab(8, "t"))), ["diff t TabClosed", "diff t TabClosed"]);
    assert_eq!(editor.texts(), [rejected(5, "t"), rejected(7, "t"), tab_closed(8)], "both diffs of the tab");
    assert_eq!(shown(&editor.receive(&call(9, "closeAllDiffTabs", "{}"))), ["diff u AllClosed"]);
    assert_eq!(editor.texts(), [rejected(6, "u"), answer(9, &["CLOSED_1_DIFF_TABS"])]);
    assert_eq!(shown(&editor.receive(&call(10, "closeAllDiffTabs", "{}"))), NOTHING);
    assert_eq!(editor.texts(), [answer(10, &["CLOSED_0_DIFF_TABS"])]);

    let mut editor = attached();
    for id in 5..8 {
        open(&mut editor, id, "same");
    }
    let events = editor.receive(&call(8, "closeAllDiffTabs", "{}"));
    assert_eq!(shown(&events), ["diff same AllClosed"; 3]);
    assert_eq!(editor.texts().last(), Some(&answer(8, &["CLOSED_3_DIFF_TABS"])));
}

fn offering(tools: ToolSet) -> ServerConfig {
    let mut config = config();
    config.tools = tools.into();
    config
}

/// Checks that calls that end diffs are answered even while as many diffs are open as the limit allows.
#[test]
fn i11_i37_close_tab_frees_full_diff_table() {
    let attached = |tools: ToolSet| {
        let mut editor = Editor::attached(offering(tools));
        for id in 1000..1256 {
            open(&mut editor, id, if id == 1000 { "first" } else { "t" });
        }
        editor
    };
    let busy = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"message":"busy: too many calls are open"}}}}"#
        )
    };
    let offered = || ToolSet::new().handle(Tool::OpenDiff);

    let mut editor = attached(offered());
    assert_eq!(shown(&editor.receive(&open_diff(5, "t"))), NOTHING);
    assert_eq!(editor.texts(), [busy(5)]);
    assert_eq!(shown(&editor.receive(&close_tab(6, "unknown"))), NOTHING);
    assert_eq!(editor.texts(), [tab_closed(6)]);
    let mode = call(7, "set_permission_mode", r#"{"mode":"plan"}"#);
    assert_eq!(shown(&editor.receive(&mode)).len(), 1);
    assert_eq!(editor.texts(), [answer(7, &["OK"])]);
    let connected = r#"{"jsonrpc":"2.0","id":8,"method":"ide_connected","params":{"pid":1}}"#;
    assert_eq!(shown(&editor.receive(connected)).len(), 1);
    assert_eq!(editor.texts(), [r#"{"jsonrpc":"2.0","id":8,"result":{}}"#]);
    // Members in this order are read by the other decoder.
    let close = r#"{"params":{"arguments":{"tab_name":"first"},"name":"close_tab"},"method":"tools/call","id":9,"jsonrpc":"2.0"}"#;
    assert_eq!(shown(&editor.receive(close)), ["diff first TabClosed"]);
    assert_eq!(editor.texts(), [rejected(1000, "first"), tab_closed(9)]);
    open(&mut editor, 10, "again");
    assert_eq!(shown(&editor.receive(&open_diff(11, "t"))), NOTHING);
    assert_eq!(editor.texts(), [busy(11)]);
    assert_eq!(shown(&editor.receive(&call(12, "closeAllDiffTabs", "{}"))).len(), 256);
    assert_eq!(editor.texts().last(), Some(&answer(12, &["CLOSED_256_DIFF_TABS"])));
    open(&mut editor, 13, "t");

    let mut editor = attached(offered().handle(Tool::CloseTab));
    assert_eq!(
        shown(&editor.receive(&close_tab(6, "unknown"))),
        NOTHING,
        "the application would have to answer"
    );
    assert_eq!(editor.texts(), [busy(6)]);
    assert_eq!(shown(&editor.receive(&close_tab(7, "first"))), ["diff first TabClosed"]);
    assert_eq!(editor.texts(), [rejected(1000, "first"), tab_closed(7)]);
    called(&editor.receive(&close_tab(8, "unknown")));
    assert_eq!(editor.texts(), NOTHING);
    assert_eq!(shown(&editor.receive(&open_diff(9, "t"))), NOTHING, "the call for the application counts");
    assert_eq!(editor.texts(), [busy(9)]);
}

/// Checks error messages that repeat input of the client.
#[test]
fn error_message_obeys_the_reason_limit() {
    let mut editor =
        Editor::attached(offering(ToolSet::new().handle(Tool::OpenFile)).with_dialect(Dialect::Obsidian));
    let long = "\\u001b".repeat(20_000);
    let direct = |id: u32, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"readFile","params":{params}}}"#)
    };
    let cases = [
        ("a path that is refused", direct(5, &format!(r#"{{"path":"../{long}"}}"#)), r#""code":-32603,"#),
        ("a path of another type", direct(6, &format!(r#"{{"path":["{long}"]}}"#)), r#""code":-32602,"#),
        (
            "contradicting paths",
            direct(7, &format!(r#"{{"path":"a","path":"{long}"}}"#)),
            r#""code":-32602,"#,
        ),
        (
            "arguments of another type",
            call(8, "openFile", &format!(r#"{{"filePath":"/a","preview":"{long}"}}"#)),
            r#""isError":true"#,
        ),
        ("an unknown tool", call(9, &long, "{}"), r#""code":-32602,"#),
    ];
    for (name, input, refused) in cases {
        assert_eq!(shown(&editor.receive(&input)), NOTHING, "{name}");
        let [answer] = editor.texts().try_into().unwrap();
        assert!(answer.contains(refused), "{name}: {answer:.100}");
        // An escape makes six characters of one.
        assert!(answer.len() < 6 * 4096 + 100, "{name}: {} bytes", answer.len());
    }
    let mut short = offering(ToolSet::new()).with_dialect(Dialect::Obsidian);
    short.mcp.limits.reason = 16;
    let mut editor = Editor::attached(short);
    editor.receive(&direct(5, r#"{"path":"../q"}"#));
    assert_eq!(
        editor.texts(),
        [r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"the path is refu"}}"#]
    );
}

/// A client of the Obsidian description sends its methods without a session. But an editor that asks a person about
/// each client needs the client's name, which is in `initialize`.
#[test]
fn direct_methods_need_a_session_only_for_the_consent() {
    const NOT_YET: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"not initialized"}}"#;
    const READ: &str = r#"{"jsonrpc":"2.0","method":"readFile","params":{"path":"a"},"id":1}"#;
    const LIST: &str = r#"{"jsonrpc":"2.0","method":"tools/list","id":1}"#;
    let cases = [
        ("the dialect", Dialect::Obsidian, false, READ, None),
        ("another method", Dialect::Obsidian, false, LIST, Some(NOT_YET)),
        ("with consent", Dialect::Obsidian, true, READ, Some(NOT_YET)),
        ("another dialect", Dialect::VsCode, false, READ, Some(NOT_YET)),
    ];
    for (name, dialect, consent, input, refused) in cases {
        let mut config = offering(ToolSet::new()).with_dialect(dialect);
        config.asks_for_consent = consent;
        let mut editor = Editor::open(config);
        let events = editor.receive(input);
        if let Some(refused) = refused {
            assert_eq!((shown(&events), editor.texts()), (vec![], vec![refused.to_owned()]), "{name}");
            continue;
        }
        let [ServerEvent::Direct { call, request, .. }] = &events[..] else { panic!("{name}: {events:?}") };
        assert_eq!(request.method(), "readFile");
        editor.server.call(*call).respond_direct(&DirectAnswer::Contents("x".into())).unwrap();
        assert_eq!(editor.texts(), [r#"{"jsonrpc":"2.0","id":1,"result":"x"}"#], "{name}");
        // A session can follow. Without one, the end of an open request is reported too.
        assert_eq!(editor.receive(INITIALIZE).len() + editor.receive(INITIALIZED).len(), 1, "{name}: ready");
        let mut editor = Editor::open(offering(ToolSet::new()).with_dialect(dialect));
        editor.receive(READ);
        let events = editor.at(CALL);
        assert!(
            matches!(&events[..], [ServerEvent::CallEnded { reason: CallEnd::Expired, .. }]),
            "{events:?}"
        );
    }
}

#[test]
fn latest_pid_of_client_counts() {
    let mut editor = Editor::open(config());
    for input in [INITIALIZE, INITIALIZED] {
        editor.receive(input);
    }
    assert_eq!(editor.agent().pid(), None, "before `ide_connected`");
    let cases = [
        ("the first", r#""method":"ide_connected","params":{"pid":1}"#, Some(1), Some(1)),
        ("another", r#""method":"ide_connected","params":{"pid":2}"#, Some(2), Some(2)),
        ("without a pid", r#""method":"ide_connected""#, None, Some(2)),
        ("a pid of another type", r#""method":"ide_connected","params":{"pid":"3"}"#, None, Some(2)),
        ("as a request", r#""id":5,"method":"ide_connected","params":{"pid":4}"#, Some(4), Some(4)),
    ];
    for (name, input, pid, kept) in cases {
        let events = editor.receive(&format!(r#"{{"jsonrpc":"2.0",{input}}}"#));
        let reported = format!("IdeConnected {{ pid: {pid:?}, is_version_unsupported: false }}");
        assert_eq!(shown(&events), [reported], "{name}");
        assert_eq!(editor.agent().pid(), kept, "{name}");
    }
}

#[test]
fn cancelled_diff_is_reported_and_never_answered() {
    let mut editor = Editor::attached(config());
    let diff = open(&mut editor, 5, "t");
    assert_eq!(shown(&editor.receive(&cancelled(5))), ["diff t Cancelled"]);
    assert_eq!(shown(&editor.receive(&cancelled(5))), NOTHING);
    assert_eq!(save(&mut editor.server, diff, "x"), Err(NotAnswered::Cancelled));
    assert_eq!(shown(&editor.receive(&close_tab(6, "t"))), NOTHING);
    assert_eq!(editor.texts(), [tab_closed(6)], "the cancelled diff has no answer");
}

/// Returns an editor with a client of protocol version 2025-03-26, which has batches.
fn batching() -> Editor {
    let mut editor = Editor::open(config());
    for input in [&INITIALIZE.replace("2025-11-25", "2025-03-26"), INITIALIZED, CONNECTED] {
        editor.receive(input);
    }
    editor.written();
    editor
}

#[test]
fn call_cancelled_in_its_batch_is_unanswered() {
    let pending = r#"{"jsonrpc":"2.0","id":5,"method":"ide_connected","params":{"pid":1}}"#.to_owned();
    let connected = "IdeConnected { pid: Some(1), is_version_unsupported: false }";
    let cases: &[(String, &[&str])] = &[
        (close_tab(5, "t"), &["diff t TabClosed"]),
        (call(5, "closeAllDiffTabs", "{}"), &["diff t AllClosed"]),
        (call(5, "set_permission_mode", r#"{"mode":"plan"}"#), &[r#"PermissionMode { mode: "plan" }"#]),
        (pending, &[connected]),
    ];
    for (input, expected) in cases {
        let mut editor = batching();
        open(&mut editor, 3, "t");
        assert_eq!(shown(&editor.receive(&format!("[{input},{}]", cancelled(5)))), *expected, "{input}");
        assert!(editor.texts().iter().all(|text| !text.contains(r#""id":5"#)), "{input}");
        assert_eq!(editor.receive(&request(6, "ping")).len(), 0, "{input}");
    }
}

#[test]
fn diff_cancelled_in_batch_ends_as_cancelled() {
    for (input, answer) in [
        (close_tab(5, "t"), tab_closed(5)),
        (call(5, "closeAllDiffTabs", "{}"), answer(5, &["CLOSED_0_DIFF_TABS"])),
    ] {
        let mut editor = batching();
        let diff = open(&mut editor, 3, "t");
        let events = editor.receive(&format!("[{input},{}]", cancelled(3)));
        assert_eq!(shown(&events), ["diff t Cancelled"], "{input}");
        assert_eq!(editor.texts(), [answer], "{input}");
        assert_eq!(save(&mut editor.server, diff, ""), Err(NotAnswered::Cancelled));
    }
}

#[test]
fn shutdown_in_handler_ends_remaining_calls() {
    let mut editor = batching();
    open(&mut editor, 3, "t");
    let batch = format!("[{},{}]", call(4, "countLines", "{}"), close_tab(5, "t"));
    editor.feed_unpolled(&text(&batch));
    let first = editor.server.poll(Time::ZERO);
    assert!(matches!(first, Output::Event(ServerEvent::Call { .. })), "{first:?}");
    editor.server.shutdown(Time::ZERO);
    assert_eq!(shown(&editor.events()), ["diff t ShutDown", "ended ShutDown"]);
}

#[test]
fn call_timeout_can_be_changed() {
    let mut editor = Editor::attached(without_keepalive(config()));
    let diff = open(&mut editor, 1, "t");
    let pending = called(&editor.receive(&call(2, "getDiagnostics", "{}")));
    editor.server.call(diff).set_timeout(Timeout::After(Duration::from_secs(60))).unwrap();
    editor.server.call(pending).set_timeout(Timeout::After(Duration::from_secs(2))).unwrap();
    assert_eq!(shown(&editor.at(1_999)), NOTHING);
    assert_eq!(shown(&editor.at(2_000)), ["ended Expired"]);
    let unknown = r#"{"content":[{"type":"text","text":"unknown: the editor has not reported the problems in time"}],"isError":true}"#;
    let late = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{unknown}}}"#);
    assert_eq!(editor.texts(), [late], "the answer after the timeout stays");
    assert_eq!(shown(&editor.at(60_000)), ["diff t Expired"]);
    assert_eq!(editor.server.call(diff).set_timeout(Timeout::Never), Err(NotAnswered::Expired));
    assert_eq!(editor.open_diffs().len(), 0);
}

/// Checks a client that ends its stream after its last requests but goes on reading.
#[test]
fn requests_before_the_end_of_the_stream_are_answered() {
    let mut editor = Editor::attached(config());
    let before = [text(&request(5, "ping")), text(&call(6, "getDiagnostics", "{}"))].concat();
    editor.feed_unpolled(&before);
    editor.half_eof();
    assert!(!editor.server.wants_input(editor.conn) && editor.server.space(editor.conn).is_empty());
    let events = editor.events();
    let open = called(&events);
    assert_eq!(editor.agent_mut().request("roots/list", None::<&()>, Timeout::Default), Err(NotSent::Closed));
    // The application answers in a later turn. Bytes after the end of the stream are not input.
    assert_eq!(shown(&editor.receive(&request(7, "ping"))), NOTHING);
    assert_eq!(shown(&editor.at(500)), NOTHING);
    editor.server.call(open).respond(&ToolResult::text("[]")).unwrap();
    assert_eq!(shown(&editor.events()), ["Closed(Abnormal)"]);
    assert!(!editor.is_over(), "the answers are not written");
    let output = editor.texts();
    assert!(
        matches!(&output[..], [pong, answer] if pong.contains(r#""id":5"#) && answer.contains(r#""id":6"#)),
        "{output:?}"
    );
    assert!(editor.is_over());
}

#[test]
fn end_of_the_stream_waits_for_calls_but_not_for_a_person() {
    type End = fn(&mut Editor) -> Vec<String>;
    let gone: End = |editor| shown(&editor.eof());
    let half: End = |editor| {
        editor.half_eof();
        shown(&editor.events())
    };
    let file = call(6, "openFile", r#"{"filePath":"/w/a"}"#);
    let (diff, ended, closed) = ("diff t Disconnected", "ended Closed", "Closed(Abnormal)");
    // Whether the client ends one half of the stream or both, and which call is open; then the events at once, and
    // those at 2 s, when the editor stops waiting.
    let cases: [(&str, String, End, &[&str], &[&str]); 4] = [
        ("half, a diff", open_diff(5, "t"), half, &[diff, closed], &[]),
        ("half, a call", file.clone(), half, &[], &[ended, closed]),
        ("both, a diff", open_diff(5, "t"), gone, &[diff, closed], &[]),
        ("both, a call", file, gone, &[ended, closed], &[]),
    ];
    for (name, input, end, at_once, later) in cases {
        let mut editor = Editor::attached(config());
        let events = editor.receive(&input);
        assert_eq!(events.len(), 1, "{name}");
        assert_eq!(end(&mut editor), at_once, "{name}");
        assert_eq!(shown(&editor.at(1_999)), NOTHING, "{name}");
        assert_eq!(shown(&editor.at(2_000)), later, "{name}");
        assert!(editor.is_over(), "{name}");
    }
}

#[test]
fn j08_connection_end_ends_every_call_once() {
    type Ending = fn(&mut Editor) -> Vec<ServerEvent>;
    let cases: &[(&str, Ending, &str)] = &[
        ("the transport is gone", Editor::eof, "Closed(Abnormal)"),
        (
            "the client closes",
            |editor| editor.feed(&masked(CLOSE, &[0x03, 0xe8])),
            r#"Closed(Remote { code: Some(CloseCode(1000)), reason: "" })"#,
        ),
        ("a frame that is not masked", |editor| editor.feed(&[TEXT, 0]), "Closed(ProtocolError(Unmasked))"),
    ];
    for (name, end, closed) in cases {
        let mut editor = Editor::attached(config());
        let diff = open(&mut editor, 5, "t");
        let other = called(&editor.receive(&call(6, "openFile", r#"{"filePath":"/w/a"}"#)));
        let pending = editor.agent_mut().request("roots/list", None::<&()>, Timeout::Default).unwrap();
        editor.written();
        let events = end(&mut editor);
        assert_eq!(shown(&events)[..2], ["diff t Disconnected", "ended Closed"], "{name}");
        let [_, _, ServerEvent::Outcome { request, outcome: Outcome::Closed, .. }, last] = &events[..] else {
            panic!("{name}: {events:?}")
        };
        assert_eq!((*request, crate::support::ide::show(last)), (pending, (*closed).to_owned()), "{name}");
        assert!(read(&editor.written()).iter().all(|frame| frame.first == CLOSE), "{name}");
        for call in [diff, other] {
            assert_eq!(
                editor.server.call(call).respond(&ToolResult::text("late")),
                Err(NotAnswered::Closed),
                "{name}"
            );
            assert_eq!(
                editor.server.call(call).fail(ErrorObject::new(-32000, "late")),
                Err(NotAnswered::Closed),
                "{name}"
            );
        }
        assert_eq!(editor.texts(), NOTHING, "{name}");
        assert!(editor.is_over() && editor.eof().is_empty(), "{name}");
    }
}

#[test]
fn shutdown_answers_open_calls_first() {
    let mut editor = Editor::attached(config());
    let diff = open(&mut editor, 5, "t");
    let other = called(&editor.receive(&call(6, "openFile", r#"{"filePath":"/w/a"}"#)));
    editor.server.shutdown(Time::ZERO);
    editor.server.shutdown(Time::ZERO);
    let passed = editor.pass(usize::MAX);
    let frames = read(&passed.written_bytes());
    let failed = r#"{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"the editor shuts down"}],"isError":true}}"#;
    let answers = [rejected(5, "t"), failed.to_owned()].map(|answer| (TEXT, answer.into_bytes()));
    assert_eq!(frames[..2], answers);
    assert_eq!(frames[2..], [(CLOSE, vec![0x03, 0xe9])], "1001, and nothing after it");
    assert_eq!(shown(&passed.events), ["diff t ShutDown", "ended ShutDown"]);
    for call in [diff, other] {
        assert_eq!(editor.server.call(call).respond(&ToolResult::text("late")), Err(NotAnswered::Answered));
    }
    // The editor ignores further messages of the client.
    assert_eq!(shown(&editor.receive(&open_diff(7, "u"))), NOTHING);
    assert_eq!(shown(&editor.feed(&masked(CLOSE, &[0x03, 0xe9]))), ["Closed(Local { clean: true })"]);
    assert!(editor.is_over());
}

#[test]
fn shutdown_waits_2_s_for_attached_clients() {
    let mut editor = Editor::attached(config());
    editor.server.shutdown(Time::ZERO);
    editor.written();
    assert_eq!(shown(&editor.at(1_999)), NOTHING);
    assert_eq!(shown(&editor.at(2_000)), ["Closed(Local { clean: false })"]);

    let mut editor = Editor::new(config());
    editor.feed(b"GET / HT");
    editor.server.shutdown(Time::ZERO);
    let passed = editor.pass(0);
    assert!(passed.events.is_empty() && passed.unwritten.is_empty() && editor.is_over(), "{passed:?}");
    assert_eq!(editor.server.unauthenticated().ended, 1, "a client that was not accepted is counted");
}

#[test]
fn calls_expire_after_their_default_timeouts() {
    let mut editor = Editor::attached(config());
    let diff = open(&mut editor, 1, "t");
    let problems = called(&editor.receive(&call(2, "getDiagnostics", r#"{"uri":"file:///w/a"}"#)));
    let file = called(&editor.receive(&call(3, "openFile", r#"{"filePath":"/w/a"}"#)));
    let own = called(&editor.receive(&call(4, "countLines", "{}")));
    assert_eq!(editor.server.deadline(), Some(at(400)));

    assert_eq!(shown(&editor.at(399)), NOTHING);
    assert_eq!(shown(&editor.at(400)), ["ended Expired"]);
    assert_eq!(
        editor.texts(),
        [r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"[]"}]}}"#]
    );
    assert_eq!(editor.server.call(problems).respond(&ToolResult::text("[]")), Err(NotAnswered::Expired));

    assert_eq!(shown(&editor.at(CALL - 1)), ["edit of /w/a Expired"]);
    assert_eq!(shown(&editor.at(CALL)), ["ended Expired"; 2]);
    let expired = |id: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"no answer to this call within {:?}"}}],"isError":true}}}}"#,
            Timeout::CALL
        )
    };
    assert_eq!(editor.texts(), [expired(3), expired(4)]);
    for call in [file, own] {
        assert_eq!(editor.server.call(call).respond(&ToolResult::text("late")), Err(NotAnswered::Expired));
    }

    // A diff has no timeout: a person can take days.
    assert_eq!(shown(&editor.at(1_000_000_000)), NOTHING);
    assert_eq!(save(&mut editor.server, diff, "new"), Ok(()));
    assert_eq!(editor.texts(), [answer(1, &["FILE_SAVED", "new"])]);
}

#[test]
fn calls_of_unavailable_tools_are_refused() {
    let mut config = config();
    config.tools = ToolSet::new().handle(Tool::GetDiagnostics).into();
    let mut editor = Editor::attached(config);
    let error = |id: u32, code: i32, message: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
    };
    let cases = [
        ("openDiff, not handled", open_diff(1, "t"), error(1, -32601, "tool openDiff not found")),
        ("unknown", call(2, "fly", "{}"), error(2, -32602, "tool fly not found")),
        (
            "never offered by default",
            call(3, "executeCode", "{}"),
            error(3, -32602, "tool executeCode not found"),
        ),
        (
            "not handled",
            call(4, "openFile", r#"{"filePath":"/a"}"#),
            error(4, -32602, "tool openFile not found"),
        ),
        ("unlisted and handled", close_tab(5, "t"), tab_closed(5)),
        ("unlisted and handled", call(6, "closeAllDiffTabs", "{}"), answer(6, &["CLOSED_0_DIFF_TABS"])),
        ("unknown method", request(7, "fly"), error(7, -32601, "method not found: fly")),
    ];
    for (name, input, expected) in cases {
        assert_eq!(shown(&editor.receive(&input)), NOTHING, "{name}");
        assert_eq!(editor.texts(), [expected], "{name}");
    }
}

/// A model reads results but does not see errors, so since MCP 2025-11-25 a result says which argument does not fit. In
/// earlier versions it is an error.
#[test]
fn wrong_arguments_are_named_in_a_result() {
    let rows = [
        (
            "no contents",
            "openDiff",
            r#"{"old_file_path":"/w/a","tab_name":"t"}"#,
            "new_file_contents is missing",
        ),
        (
            "no path",
            "openDiff",
            r#"{"new_file_contents":"","tab_name":"t"}"#,
            "one of old_file_path and new_file_path is needed",
        ),
        ("no tab", "close_tab", "{}", "tab_name is missing"),
        ("no object", "getDiagnostics", "[]", "arguments is not an object"),
        ("wrong type", "openFile", r#"{"filePath":1}"#, "the argument filePath: invalid type: integer `1`"),
        ("another spelling", "openFile", r#"{"path":1}"#, "the argument path: invalid type: integer `1`"),
        ("too large", "openFile", r#"{"filePath":"/a","startLine":-1}"#, "the argument startLine: invalid"),
    ];
    for (version, is_result) in [("2025-11-25", true), ("2025-06-18", false), ("2024-11-05", false)] {
        let mut editor = Editor::open(config());
        let (_, before) = INITIALIZE.split_once("2025-").unwrap();
        editor.receive(&INITIALIZE.replace(&format!("2025-{}", &before[..5]), version));
        editor.receive(INITIALIZED);
        editor.written();
        for (name, tool, arguments, reason) in rows {
            assert_eq!(shown(&editor.receive(&call(1, tool, arguments))), NOTHING, "{name}");
            let [output] = editor.texts().try_into().unwrap();
            let refused = match is_result {
                true => output.contains(r#""result":{"content":[{"type":"text","text":"Invalid arguments: "#),
                false => output.contains(r#""id":1,"error":{"code":-32602,"#),
            };
            let place = output.contains("at line");
            assert!(refused && output.contains(reason) && !place, "{version}, {name}: {output}");
        }
        assert_eq!(editor.open_diffs().len(), 0);
    }
}

#[test]
fn initialized_without_prefix_is_accepted() {
    let mut editor = Editor::open(config());
    editor.receive(INITIALIZE);
    let events = editor.receive(r#"{"jsonrpc":"2.0","method":"initialized"}"#);
    assert!(matches!(&events[..], [ServerEvent::Ready { client: Some(_), .. }]), "{events:?}");
    assert_eq!(shown(&editor.receive(INITIALIZED)), NOTHING, "a second `initialized` changes nothing");
}

#[test]
fn calls_arrive_typed() {
    let mut editor = Editor::attached(config());
    let events = editor.receive(&call(1, "getDiagnostics", r#"{"uri":"","_meta":{"progressToken":1}}"#));
    assert!(
        matches!(&events[..], [ServerEvent::Call { call: ToolCall::GetDiagnostics(_, pending), .. }] if pending.uri.is_none())
    );
    let events = editor.receive(&call(2, "countLines", r#"{"of": [1]}"#));
    assert!(
        matches!(&events[..], [ServerEvent::Call { call: ToolCall::Other(_, own), .. }] if own.raw().unwrap().get() == r#"{"of": [1]}"#)
    );
}

#[test]
fn i38_selections_are_sent_early_settled_and_late() {
    const LIST: &str = r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#;
    let rows: &[(&str, &[(u64, &str)], &[u64])] = &[
        ("initialized", &[(10, INITIALIZE), (20, INITIALIZED)], &[20, 1_620, 6_620]),
        ("ide_connected", &[(10, INITIALIZE), (20, INITIALIZED), (30, CONNECTED)], &[20, 1_620, 6_620]),
        ("ide_connected first", &[(10, INITIALIZE), (15, CONNECTED), (20, INITIALIZED)], &[20, 1_620, 6_620]),
        ("tools listed", &[(10, INITIALIZE), (20, INITIALIZED), (47, LIST)], &[20, 47, 1_647, 6_647]),
        (
            "tools listed late",
            &[(10, INITIALIZE), (20, INITIALIZED), (2_000, LIST)],
            &[20, 1_620, 2_000, 3_600, 8_600],
        ),
        ("tools listed first", &[(10, INITIALIZE), (15, LIST), (20, INITIALIZED)], &[20, 1_620, 6_620]),
    ];
    for (name, input, expected) in rows {
        let mut editor = Editor::open(without_keepalive(settling()));
        editor.select(selection("early"));
        let mut sent = Vec::new();
        for millis in 1..=20_000 {
            editor.at(millis);
            for (_, text) in input.iter().filter(|(at, _)| *at == millis) {
                editor.receive(text);
            }
            if millis == 15 {
                editor.select(selection("latest"));
            }
            let selections = editor.texts().into_iter().filter(|text| text.contains("selection_changed"));
            sent.extend(selections.map(|text| (millis, text)));
        }
        let expected: Vec<_> = expected.iter().map(|at| (*at, selection_changed("latest"))).collect();
        assert_eq!(sent, expected, "{name}");
    }
}

/// Returns the configuration without pings, for tests of other timers.
fn without_keepalive(mut config: ServerConfig) -> ServerConfig {
    config.ws.keepalive = None;
    config
}

#[test]
fn the_settle_time_is_a_deadline() {
    let mut editor = Editor::open(without_keepalive(settling()));
    editor.at(10);
    editor.receive(INITIALIZE);
    editor.receive(INITIALIZED);
    assert_eq!(editor.server.deadline(), None, "the time runs once the client can have read the answer");
    editor.written();
    assert!(!editor.agent().accepts_pushes());
    assert_eq!(editor.server.deadline(), Some(at(1_610)));
    editor.at(1_610);
    assert!(editor.agent().accepts_pushes());
    assert_eq!(editor.server.deadline(), None, "nothing is selected");
}

#[test]
fn i38_selection_is_resent_after_tools_change() {
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for listed_after in [Some(40), None] {
        let mut editor = Editor::attached(without_keepalive(settling()));
        editor.at(1_600);
        editor.select(selection("one"));
        assert_eq!(editor.texts(), [selection_changed("one")]);
        editor.at(10_000);
        editor.server.set_tools(ToolSet::new());
        assert_eq!(editor.texts(), [CHANGED]);
        assert!(!editor.agent().accepts_pushes());
        if let Some(after) = listed_after {
            editor.at(10_000 + after);
            editor.receive(&request(1, "tools/list"));
            let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
            assert_eq!(editor.texts(), [list.to_owned(), selection_changed("one")]);
        }
        let settled = 11_600 + listed_after.unwrap_or(0);
        editor.at(settled - 1);
        assert_eq!((editor.agent().accepts_pushes(), editor.texts()), (false, vec![]));
        editor.at(settled);
        assert_eq!((editor.agent().accepts_pushes(), editor.texts()), (true, vec![selection_changed("one")]));
        editor.at(settled + 5_000);
        assert_eq!(editor.texts(), [selection_changed("one")]);
        editor.at(settled + 60_000);
        assert_eq!(editor.texts(), NOTHING);
    }
}

/// Checks that the selection is sent again after a change of prompts or resources, whether the server itself notifies
/// the client of it or the application does.
#[test]
fn i38_selection_is_resent_after_context_change() {
    type Change = fn(&mut Editor, usize);
    let own: Change = |editor, round| {
        let prompt = PromptSpec::new(format!("p{round}"), "");
        editor.server.set_context(Context::new().prompt(prompt));
    };
    let raw: Change = |editor, _| {
        editor.agent_mut().notify("notifications/resources/list_changed", None::<&()>).unwrap();
    };
    for (name, change) in [("own", own), ("raw", raw)] {
        let mut settings = without_keepalive(settling());
        settings.mcp.context = Context::new().prompts([]).into();
        let mut editor = Editor::attached(settings);
        editor.at(1_600);
        editor.select(selection("one"));
        assert_eq!(editor.texts(), [selection_changed("one")], "{name}");
        for (round, at) in [(1, 10_000), (2, 100_000)] {
            editor.at(at);
            change(&mut editor, round);
            assert_eq!(editor.texts().len(), 1, "{name}: the notification");
            editor.receive(&request(round, "prompts/list"));
            assert_eq!(editor.texts().len(), 1, "{name}: the list");
            editor.at(at + 1_599);
            assert_eq!((editor.agent().accepts_pushes(), editor.texts()), (false, vec![]), "{name}");
            editor.at(at + 1_600);
            assert_eq!(editor.texts(), [selection_changed("one")], "{name}");
            editor.at(at + 6_600);
            assert_eq!(editor.texts(), [selection_changed("one")], "{name}");
        }
    }
}

/// Checks that the selection follows each list. As measured, the client forgets the selection when it receives the
/// change, no matter which of its lists the editor has answered since.
#[test]
fn i38_selection_follows_every_list_after_change() {
    for late in [false, true] {
        let mut editor = Editor::attached(without_keepalive(config()));
        editor.select(selection("x"));
        editor.server.set_tools(ToolSet::new().handle(Tool::GetDiagnostics));
        editor.texts();
        if late {
            // By now the editor assumes that the client does not list again.
            editor.at(5_000);
        } else {
            // The client sent this list before it received the change.
            editor.receive(&request(1, "tools/list"));
        }
        assert_eq!(editor.texts().last(), Some(&selection_changed("x")), "late: {late}");
        editor.receive(&request(2, "tools/list"));
        assert_eq!(editor.texts().last(), Some(&selection_changed("x")), "late: {late}");
    }
}

/// Checks a client that lists the tools between `initialize` and `initialized`. The simulation once found that such a
/// client was not notified of a later change.
#[test]
fn tools_changed_before_ready_is_announced_later() {
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let other = || ToolSet::new().handle(Tool::GetDiagnostics);
    let rows =
        [(true, vec![CHANGED.to_owned(), selection_changed("x")]), (false, vec![selection_changed("x")])];
    for (listed, record) in rows {
        for connected_first in [true, false] {
            let mut editor = Editor::open(config());
            editor.select(selection("x"));
            editor.receive(INITIALIZE);
            if listed {
                editor.receive(&request(1, "tools/list"));
            }
            let (before, after): (&[&str], &[&str]) = match connected_first {
                true => (&[CONNECTED], &[INITIALIZED]),
                false => (&[], &[INITIALIZED, CONNECTED]),
            };
            before.iter().for_each(|input| drop(editor.receive(input)));
            editor.texts();
            editor.server.set_tools(other());
            assert_eq!(editor.texts(), NOTHING, "not yet");
            after.iter().for_each(|input| drop(editor.receive(input)));
            assert_eq!(editor.texts(), record, "listed: {listed}");
            editor.receive(&request(2, "tools/list"));
            assert_eq!(editor.texts()[1..], [selection_changed("x")], "listed: {listed}");
            editor.server.set_tools(other());
            assert_eq!(editor.texts(), NOTHING, "nothing is new");
        }
    }
}

#[test]
fn tools_change_waits_for_send_buffer_room() {
    let mut config = config();
    config.ws.outgoing = 1_000;
    let mut editor = Editor::attached(config);
    let call = called(&editor.receive(&call(1, "countLines", "{}")));
    editor.server.call(call).respond(&ToolResult::text("x".repeat(1_000))).unwrap();
    let full = editor.waiting();
    editor.select(selection("one"));
    let (one, two) = (ToolSet::new().custom("one", "", "{}"), ToolSet::new().custom("two", "", "{}"));
    editor.server.set_tools(one);
    editor.server.set_tools(two);
    assert_eq!(editor.waiting(), full);
    assert_eq!(editor.pass(full - 999).written_bytes().len(), full - 999);
    let rest = editor.written();
    let changed = plain(TEXT, br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    let expected = [changed, plain(TEXT, selection_changed("one").as_bytes())].concat();
    assert_eq!(rest[999..], expected, "each once");
    editor.receive(&request(2, "tools/list"));
    let texts = editor.texts();
    assert!(texts[0].contains(r#"[{"name":"two","#) && texts[1] == selection_changed("one"), "{texts:?}");
}

#[test]
fn empty_selection_is_sent() {
    let mut editor = Editor::attached(config());
    editor.select(ide_mcp::ide::Selection::new("/w/a", ide_mcp::ide::kit::Range::default(), ""));
    assert_eq!(
        editor.texts(),
        [
            r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"","filePath":"/w/a","fileUrl":"file:///w/a","selection":{"start":{"line":0,"character":0},"end":{"line":0,"character":0},"isEmpty":true}}}"#
        ]
    );
}

#[test]
fn latest_selection_replaces_unsent_ones() {
    let mut editor = Editor::attached(config());
    let long = "x".repeat(64 * 1024);
    let call = called(&editor.receive(&call(1, "countLines", "{}")));
    editor.server.call(call).respond(&ToolResult::text(long.as_str())).unwrap();
    let before = editor.waiting();
    for index in 0..1_000 {
        editor.select(selection(&format!("{index}")));
        assert_eq!(editor.waiting(), before, "there is no room");
    }
    assert_eq!(editor.pass(before - 64 * 1024 - 1).unwritten_bytes().len(), 64 * 1024 + 1);
    assert!(editor.pass(1).unwritten_bytes().len() > 64 * 1024);
    let rest = editor.written();
    let last = selection_changed("999");
    assert!(rest.ends_with(last.as_bytes()));
    assert_eq!(rest.len(), 64 * 1024 + 4 + last.len(), "one selection and no other");
}

#[test]
fn selection_is_truncated_at_256_kib() {
    const LIMIT: usize = 262_144;
    let cases = [
        ("at the limit", "x".repeat(LIMIT), LIMIT),
        ("one more", "x".repeat(LIMIT + 1), LIMIT),
        ("a character that ends at the limit", "x".repeat(LIMIT - 2) + "é", LIMIT),
        ("a character across the limit", "x".repeat(LIMIT - 1) + "é", LIMIT - 1),
        ("a wide one across the limit", "x".repeat(LIMIT - 3) + "😀", LIMIT - 3),
    ];
    for (name, text, expected) in cases {
        let mut editor = Editor::attached(config());
        let cut = editor.select(selection(&text));
        assert_eq!(cut == Selected::Truncated, text.len() > LIMIT, "{name}");
        let sent = editor.texts();
        let text = text.get(..expected).unwrap();
        assert!(sent == [selection_changed(text)], "{name}: {} bytes", sent[0].len());
    }
}

#[test]
fn mentions_keep_settle_time_and_gap() {
    let lines = Mention::new("/w/a.txt", Some((0, 1)));
    let mut editor = Editor::new(settling());
    assert_eq!(editor.mention(lines.clone()), Err(MentionError::NoSuchAgent), "it is not let in");
    let mut editor = Editor::open(settling());
    assert_eq!(editor.mention(lines.clone()), Ok(()));
    for input in [INITIALIZE, INITIALIZED, CONNECTED] {
        editor.receive(input);
        assert!(!editor.texts().concat().contains("at_mentioned"), "{input}");
    }
    assert_eq!(shown(&editor.at(1_599)), NOTHING);
    assert_eq!(editor.waiting(), 0);
    editor.at(1_600);
    let unwritten = editor.waiting();
    assert!(unwritten > 0);
    assert_eq!(editor.mention(Mention::new("/w/b c", None).with_line_count(7)), Ok(()));
    editor.at(5_000);
    assert_eq!(editor.waiting(), unwritten, "the first mention is not written");
    let first = r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/w/a.txt","lineStart":0,"lineEnd":1}}"#;
    assert_eq!(editor.texts(), [first]);
    editor.at(5_099);
    assert_eq!(editor.texts(), NOTHING);
    editor.at(5_100);
    assert_eq!(
        editor.texts(),
        [r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"\"/w/b c\""}}"#]
    );
    editor.eof();
    assert_eq!(editor.mention(lines), Err(MentionError::NoSuchAgent));
}

#[test]
fn mention_waits_for_a_late_list() {
    let mut editor = Editor::attached(without_keepalive(settling()));
    editor.at(2_000);
    editor.select(selection("x"));
    editor.written();
    editor.receive(&request(1, "tools/list"));
    editor.at(11_000);
    assert_eq!(editor.mention(Mention::new("/w/a", None)), Ok(()));
    let texts = editor.texts();
    assert!(
        texts.len() == 2 && texts[1] == selection_changed("x"),
        "the send buffer has one selection: {texts:?}"
    );
    editor.at(12_599);
    assert!(!editor.agent().accepts_pushes());
    assert_eq!(editor.texts(), NOTHING);
    editor.at(12_600);
    assert!(editor.agent().accepts_pushes());
    let texts = editor.texts();
    assert!(texts.iter().any(|text| text.contains("at_mentioned")), "{texts:?}");
}

#[test]
fn forwarded_list_starts_the_settle_time() {
    let mut config = without_keepalive(settling());
    config.mcp.forward = Forward::All;
    let mut editor = Editor::attached(config);
    editor.at(2_000);
    assert!(editor.agent().accepts_pushes());
    assert_eq!(editor.receive(&request(1, "tools/list")).len(), 1);
    assert!(!editor.agent().accepts_pushes());
    editor.at(4_000);
    assert!(editor.agent().accepts_pushes());
    editor.agent_mut().notify("notifications/tools/list_changed", None::<&()>).unwrap();
    editor.written();
    assert!(!editor.agent().accepts_pushes());
}

#[test]
fn shutdown_leaves_no_timer_of_pushes() {
    let mut editor = Editor::attached(without_keepalive(settling()));
    editor.at(500);
    editor.select(selection("x"));
    editor.server.shutdown(Time::ZERO);
    editor.written();
    assert_eq!(editor.server.deadline(), Some(at(2_500)), "for the answer to the close frame");
}

/// Checks the mentions for opencode, which as measured counts lines from 1 and drops a mention without lines.
#[test]
fn opencode_receives_lines_in_every_mention() {
    let rows = [
        (Mention::new("/w/a", Some((0, 2))), (1, 3)),
        (Mention::new("/w/a", None).with_line_count(7), (1, 7)),
        (Mention::new("/w/a", None), (0, 0)),
    ];
    for (mention, (first, last)) in rows {
        let mut editor = Editor::open(settling());
        editor.receive(&INITIALIZE.replace("claude-code", "opencode"));
        editor.receive(INITIALIZED);
        editor.written();
        assert_eq!(editor.mention(mention.clone()), Ok(()), "opencode needs no settle time");
        let lines = format!(r#"{{"filePath":"/w/a","lineStart":{first},"lineEnd":{last}}}"#);
        assert_eq!(
            editor.texts(),
            [format!(r#"{{"jsonrpc":"2.0","method":"at_mentioned","params":{lines}}}"#)]
        );
    }
}

/// Checks that opencode receives no JSON-RPC ping. As measured, it answers no request, so such a
/// ping would end the connection.
#[test]
fn opencode_is_not_pinged_by_json_rpc() {
    for (name, is_pinged) in [("claude-code", true), ("opencode", false)] {
        let mut config = without_keepalive(config());
        config.mcp.keepalive = Some(Keepalive::JSON_RPC);
        let mut editor = Editor::open(config);
        editor.receive(&INITIALIZE.replace("claude-code", name));
        editor.receive(INITIALIZED);
        editor.written();
        editor.at(5_000);
        let pings = editor.texts().iter().filter(|text| text.contains(r#""ping""#)).count();
        assert_eq!(pings, usize::from(is_pinged), "{name}");
        editor.at(8_000);
        let is_closing = read(&editor.written()).iter().any(|frame| frame.first == CLOSE);
        assert_eq!(is_closing, is_pinged, "{name}");
    }
}

#[test]
fn close_frame_names_the_broken_rule() {
    let closed = |violation: ProtocolError| {
        let mut body = violation.close_code().get().to_be_bytes().to_vec();
        body.extend(violation.to_string().as_bytes());
        (CLOSE, body)
    };
    let mut editor = Editor::attached(config());
    open(&mut editor, 5, "t");
    let events = editor.feed(&masked(BINARY, INITIALIZED.as_bytes()));
    assert_eq!(shown(&events), ["diff t Disconnected", "Closed(ProtocolError(UnexpectedBinary))"]);
    assert_eq!(read(&editor.written()), [closed(ProtocolError::UnexpectedBinary)]);
    assert_eq!(ProtocolError::UnexpectedBinary.close_code(), CloseCode::UNSUPPORTED);

    let mut editor = Editor::attached(config());
    open(&mut editor, 5, "t");
    for _ in 0..8 {
        assert_eq!(shown(&editor.receive("not JSON")), ["PeerFault(Message(NotJson))"]);
    }
    assert_eq!(editor.written(), b"", "eight are tolerated");
    let events = editor.receive("not JSON");
    assert_eq!(
        shown(&events),
        [
            "PeerFault(Message(NotJson))",
            "diff t Disconnected",
            "Closed(ProtocolError(TooManyMalformedMessages))"
        ]
    );
    assert_eq!(read(&editor.written()), [closed(ProtocolError::TooManyMalformedMessages)]);
    assert_eq!(ProtocolError::TooManyMalformedMessages.close_code(), CloseCode::POLICY);
}

#[test]
fn binary_message_ends_every_call_once() {
    let whole = masked(BINARY, INITIALIZED.as_bytes());
    let fragments = [masked(BINARY & 0x7f, b"{"), masked(0x80, b"")].concat();
    for message in [whole, fragments] {
        for piece in 1..=message.len() + 1 {
            let mut editor = Editor::attached(config());
            for (id, tab) in [(1, "a"), (2, "b"), (3, "c")] {
                open(&mut editor, id, tab);
            }
            assert_eq!(shown(&editor.receive(&close_tab(4, "b"))), ["diff b TabClosed"]);
            // The connection ignores the call after the message.
            let bytes = [&message[..], &text(&call(5, "closeAllDiffTabs", "{}"))].concat();
            let events: Vec<_> = bytes.chunks(piece).flat_map(|piece| editor.feed(piece)).collect();
            let ends =
                ["diff a Disconnected", "diff c Disconnected", "Closed(ProtocolError(UnexpectedBinary))"];
            assert_eq!(shown(&events), ends, "in pieces of {piece}");
            assert_eq!(shown(&editor.eof()), NOTHING);
        }
    }
}

/// Checks a whole conversation in random pieces: the events and the output depend only on the bytes.
#[test]
fn i26_cuts_do_not_matter() {
    let input = [
        request(1, "tools/list"),
        call(2, "countLines", "{}"),
        open_diff(3, "t"),
        "garbage".to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned(),
        close_tab(4, "t"),
        request("\"5\"", "ping"),
    ];
    let bytes: Vec<u8> = input.iter().flat_map(|input| text(input)).collect();
    let run = |cuts: &[usize]| {
        let mut editor = Editor::attached(config());
        editor.agent_mut().request("roots/list", None::<&()>, Timeout::Default).unwrap();
        let mut events = Vec::new();
        let mut from = 0;
        for to in cuts.iter().copied().chain([bytes.len()]) {
            events.extend(editor.feed(&bytes[from..to]));
            from = to;
        }
        (shown(&events), editor.texts())
    };
    let whole = run(&[]);
    assert_eq!((whole.0.len(), whole.1.len()), (6, 5), "{whole:?}");
    arbtest::arbtest(|u| {
        let mut cuts = Vec::new();
        for _ in 0..u.int_in_range(0..=12)? {
            cuts.push(u.int_in_range(0..=bytes.len())?);
        }
        cuts.sort_unstable();
        assert_eq!(run(&cuts), whole, "{cuts:?}");
        Ok(())
    })
    .budget_ms(500);
}

/// Checks the JSON-RPC pings of another dialect: the editor pings every 5 s, and closes after 3 s without an answer.
#[test]
fn unanswered_json_rpc_ping_closes_connection() {
    let mut config = without_keepalive(config());
    config.mcp.keepalive = Some(Keepalive::JSON_RPC);
    let mut editor = Editor::attached(config);
    open(&mut editor, 1, "t");
    editor.at(5_000);
    assert_eq!(editor.texts(), [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#]);
    editor.receive(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    editor.at(10_000);
    assert_eq!(editor.texts().len(), 1);
    assert_eq!(shown(&editor.at(12_999)), NOTHING);
    let mut events = editor.at(13_000);
    let body = [CloseCode::GOING_AWAY.get().to_be_bytes().to_vec(), b"no answer to a ping".to_vec()].concat();
    assert_eq!(read(&editor.written()), [(CLOSE, body)]);
    events.extend(editor.at(15_000));
    let record = shown(&events);
    assert!(
        record.len() == 2 && record[0] == "diff t Disconnected" && record[1] == "Closed(TimedOut)",
        "{record:?}"
    );
}

#[test]
fn pings_between_fragments_are_answered() {
    let mut editor = Editor::attached(config());
    let input = request(1, "ping");
    let (first, last) = input.as_bytes().split_at(7);
    let mut bytes = masked(0x01, first);
    bytes.extend(masked(PING, b"?"));
    bytes.extend(masked(0x80, last));
    assert_eq!(shown(&editor.feed(&bytes)), NOTHING);
    let expected = vec![(0x8a, b"?".to_vec()), (TEXT, br#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_vec())];
    assert_eq!(read(&editor.written()), expected);
}

#[test]
fn unpolled_input_precedes_timers() {
    let mut editor = Editor::attached(config());
    let problems = called(&editor.receive(&call(2, "getDiagnostics", "{}")));
    editor.feed_unpolled(&text(&cancelled(2)));
    assert_eq!(shown(&editor.at(10_000)), ["ended Cancelled { reason: None }"]);
    assert_eq!(editor.server.call(problems).respond(&ToolResult::text("[]")), Err(NotAnswered::Cancelled));
    assert_eq!(editor.texts(), NOTHING);
}

#[test]
fn sends_after_unpolled_end_are_refused() {
    let mut editor = Editor::attached(config());
    let diff = open(&mut editor, 5, "t");
    // More bytes than the limit without a poll: the connection has ended, and the application has
    // not polled its end.
    for _ in 0..6 {
        editor.feed_unpolled(&masked(TEXT, &[b'x'; 60_000]));
    }
    assert_eq!(editor.mention(Mention::new("/w/a", None)), Err(MentionError::NoSuchAgent));
    assert_eq!(editor.agent_mut().notify("log", None::<&()>), Err(NotSent::Closed));
    assert_eq!(editor.agent_mut().request("ping", None::<&()>, Timeout::Default), Err(NotSent::Closed));
    editor.server.set_tools(ToolSet::new());
    assert_eq!(editor.server.call(diff).respond(&ToolResult::text("x")), Err(NotAnswered::Closed));
    assert_eq!(editor.server.call(diff).fail(ErrorObject::new(-32000, "x")), Err(NotAnswered::Closed));
    editor.select(selection("x"));
    let passed = editor.pass(usize::MAX);
    assert_eq!(shown(&passed.events), ["diff t Disconnected", "Closed(InputOverflow)"]);
    let frames = read(&passed.written_bytes());
    assert!(matches!(&frames[..], [last] if last.first == CLOSE), "{frames:?}");
}
