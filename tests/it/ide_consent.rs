//! A person's consent to each client, and disconnecting one of them.

use crate::support::ide::{
    CLOSE, CONNECTED, Editor, HEAD, INITIALIZE, INITIALIZED, answer, at, call, cancelled, close_tab, config,
    open_diff, read, request, selection, shown, text, texts,
};
use ide_mcp::ide::tool::{Tool, ToolCall, ToolSet};
use ide_mcp::ide::{AgentId, DiagnosticsChanged, MODELS_TARGET, Mention, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Context, Forward, ResourceSpec};
use ide_mcp::testing::pass;
use ide_mcp::{Output, Time};

const NOTHING: [&str; 0] = [];
const PENDING: &str = r#"ConsentPending { client: Some(Implementation { name: "claude-code""#;
const READY: &str = r#"Ready { client: Some(Implementation { name: "claude-code""#;

fn asking() -> ServerConfig {
    let mut config = config();
    config.asks_for_consent = true;
    config.mcp.context = Context::new().resource(ResourceSpec::new("notes://today", "today")).into();
    config
}

/// Returns an editor whose client has introduced itself and waits.
fn waiting() -> Editor {
    let mut editor = Editor::open(asking());
    editor.receive(INITIALIZE);
    let events = shown(&editor.receive(INITIALIZED));
    assert!(events.len() == 1 && events[0].starts_with(PENDING), "{events:?}");
    editor.written();
    editor
}

fn begin(events: &[ServerEvent]) -> Vec<String> {
    let mut events = shown(events);
    assert!(events[0].starts_with(READY), "{events:?}");
    events.remove(0);
    events
}

/// Returns a `resources/read` with this id.
fn read_notes(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/read","params":{{"uri":"notes://today"}}}}"#)
}

#[test]
fn n07_calls_follow_the_consent_in_order() {
    let mut editor = waiting();
    for message in [open_diff(1, "tab"), read_notes(2), call(3, "countLines", "{}"), open_diff(4, "other")] {
        assert_eq!(shown(&editor.receive(&message)), NOTHING, "{message}");
        assert_eq!(editor.texts(), NOTHING, "{message}");
    }
    assert!(editor.agent().waits_for_consent());
    // The handshake goes on: its answers contain nothing that the person could want to protect.
    let lists = editor.receive(&request(5, "tools/list"));
    assert!(lists.is_empty() && editor.texts().concat().contains("openDiff"));
    assert_eq!(shown(&editor.receive(CONNECTED)).len(), 1, "the process id comes before the consent");
    assert_eq!(editor.agent().client().map(|client| &*client.name), Some("claude-code"));
    assert!(editor.agent_mut().allow());
    assert!(!editor.agent_mut().allow() && !editor.agent().waits_for_consent());
    let mut events = Vec::new();
    loop {
        let due = editor.server.deadline();
        let Output::Event(event) = editor.server.poll(Time::ZERO) else { break };
        assert!(due.is_some_and(|due| due <= Time::ZERO), "law 5: {event:?}, due {due:?}");
        events.push(event);
    }
    let ids: Vec<String> = begin(&events);
    assert_eq!(ids.len(), 4, "{ids:?}");
    assert!(ids[0] == "call openDiff" && ids[1].starts_with("ReadResource") && ids[2] == "call countLines");
    let ServerEvent::Call { call: ToolCall::OpenDiff(diff, proposal), .. } =
        events.into_iter().nth(1).unwrap()
    else {
        unreachable!()
    };
    editor.server.answer(diff, proposal.accept()).unwrap();
    assert_eq!(editor.texts(), [answer(1, &["FILE_SAVED", "1"])]);
    // From now on no call waits.
    assert_eq!(shown(&editor.receive(&open_diff(7, "third"))), ["call openDiff"]);
}

#[test]
fn ends_of_waiting_calls_are_not_reported() {
    let mut editor = waiting();
    editor.receive(&open_diff(1, "cancelled"));
    editor.receive(&call(2, "getDiagnostics", r#"{"uri":"file:///w/a"}"#));
    editor.receive(&open_diff(3, "stays"));
    assert_eq!(shown(&editor.receive(&cancelled(1))), NOTHING);
    assert_eq!(shown(&editor.at(1_000)), NOTHING);
    assert_eq!(editor.texts(), [answer(2, &["[]"])], "the deadline of the call has answered it");
    assert!(editor.agent_mut().allow());
    assert_eq!(begin(&editor.events()), ["call openDiff"]);
    assert_eq!(shown(&editor.receive(&close_tab(4, "stays"))), ["diff stays TabClosed"]);
}

#[test]
fn n07_pushes_follow_the_consent() {
    let mut editor = waiting();
    editor.select(selection("secret"));
    editor.mention(Mention::new("/w/a", None)).unwrap();
    let changed = DiagnosticsChanged::Stale { uris: vec!["file:///w/a".into()] };
    for millis in [2_000, 20_000] {
        assert_eq!(shown(&editor.at(millis)), NOTHING);
        assert_eq!(editor.server.diagnostics_changed(changed.clone()), []);
        assert_eq!(editor.server.active_editor_changed(selection("x")), []);
        assert!(!editor.agent().accepts_pushes());
        assert_eq!(editor.texts(), NOTHING, "at {millis} ms");
    }
    assert!(editor.agent_mut().allow());
    begin(&editor.events());
    editor.at(20_000);
    let sent = editor.texts().concat();
    assert!(sent.contains("secret") && sent.contains("at_mentioned"), "{sent}");
    for lost in ["diagnostics_changed", "didChangeActiveEditor"] {
        assert!(!sent.contains(lost), "no client was ready for it: {sent}");
    }
}

#[test]
fn n07_refused_client_gets_every_answer() {
    let mut editor = waiting();
    editor.receive(&open_diff(1, "tab"));
    editor.receive(&read_notes(2));
    for _ in 0..2 {
        editor.agent_mut().disconnect(Time::ZERO);
        assert_eq!(shown(&editor.events()), NOTHING);
    }
    assert!(!editor.agent_mut().allow(), "the end has begun");
    let bytes = editor.written();
    let texts = texts(&bytes);
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert_eq!(texts[0], answer(1, &["DIFF_REJECTED", "tab"]));
    assert!(texts[1].contains(r#""id":2"#) && texts[1].contains("error"), "{texts:?}");
    assert!(!editor.agent().waits_for_consent());
    let last = read(&bytes).pop().unwrap();
    assert_eq!((last.first, last.payload.as_slice()), (CLOSE, [0x03, 0xf0].as_slice()), "1008, once");
    assert_eq!(shown(&editor.receive(&open_diff(3, "late"))), NOTHING);
    assert_eq!(shown(&editor.eof()).len(), 1);
    assert!(!editor.agent_mut().allow(), "the client is gone");
    assert!(editor.events().is_empty() && editor.is_over());
}

#[test]
fn connection_of_a_model_is_named() {
    for (target, want) in [("/", false), (MODELS_TARGET, true)] {
        let mut editor = Editor::new(asking());
        editor.feed(HEAD.replacen("GET / ", &format!("GET {target} "), 1).as_bytes());
        editor.receive(INITIALIZE);
        let events = editor.receive(INITIALIZED);
        let [ServerEvent::ConsentPending { is_for_models, .. }] = &events[..] else { panic!("{events:?}") };
        assert_eq!(*is_for_models, want, "{target}");
    }
}

#[test]
fn allowing_or_ending_one_client_leaves_the_other() {
    let mut config = asking();
    config.max_clients = 3;
    let mut server = Server::new(config);
    let agents: Vec<AgentId> = (0..2)
        .map(|_| {
            let conn = server.connect(Time::ZERO);
            for bytes in [HEAD.as_bytes().to_vec(), text(INITIALIZE), text(INITIALIZED)] {
                server.feed(Time::ZERO, conn, &bytes);
            }
            server.feed(Time::ZERO, conn, &text(&open_diff(1, "tab")));
            pass(&mut server, Time::ZERO, usize::MAX);
            conn.into()
        })
        .collect();
    assert!(server.agent_mut(agents[0]).allow() && !server.agent_mut(agents[0]).allow());
    let events = pass(&mut server, Time::ZERO, usize::MAX).events;
    let of: Vec<_> = events.iter().map(|event| event.agent() == Some(agents[0])).collect();
    assert_eq!(of, [true, true, false], "ready, the call, and the question about the other: {events:?}");

    // One client leaves, and the other stays.
    for _ in 0..2 {
        server.agent_mut(agents[0]).disconnect(at(0));
    }
    let passed = pass(&mut server, Time::ZERO, usize::MAX);
    let [ServerEvent::DiffClosed { .. }] = &passed.events[..] else { panic!("{passed:?}") };
    assert!(texts(&passed.written_bytes()).concat().contains("DIFF_REJECTED"));
    let conn = agents[0].conn().unwrap();
    server.feed_eof(at(1), conn);
    let passed = pass(&mut server, at(1), usize::MAX);
    assert!(matches!(&passed.events[..], [ServerEvent::Closed { .. }]), "{passed:?}");
    assert_eq!(passed.closed, [conn]);
    assert!(!server.agent_mut(agents[0]).allow());
    server.agent_mut(agents[0]).disconnect(at(0));
    assert!(server.agent_mut(agents[1]).allow());
    assert_eq!(pass(&mut server, at(1), usize::MAX).events.len(), 2);
}

/// Checks that a client that waits for the consent gets no pushes, and gets them at once when it is
/// allowed.
#[test]
fn shared_pushes_leave_waiting_clients_out() {
    let mut server = Server::new(asking());
    let conn = server.connect(Time::ZERO);
    for bytes in [HEAD.as_bytes().to_vec(), text(INITIALIZE), text(INITIALIZED)] {
        server.feed(Time::ZERO, conn, &bytes);
    }
    assert_eq!(pass(&mut server, Time::ZERO, usize::MAX).events.len(), 1);
    server.select(Time::ZERO, selection("secret"));
    server.mention(Time::ZERO, Mention::new("/w/a", None), None).unwrap();
    assert!(
        server.diagnostics_changed(DiagnosticsChanged::Stale { uris: vec!["file:///w/a".into()] }).is_empty()
    );
    let passed = pass(&mut server, at(5_000), usize::MAX);
    assert!(passed.events.is_empty() && texts(&passed.written_bytes()).is_empty(), "{passed:?}");
    assert!(server.agent_mut(conn.into()).allow());
    let sent = texts(&pass(&mut server, at(5_000), usize::MAX).written_bytes()).concat();
    assert!(sent.contains("secret") && sent.contains("at_mentioned"), "{sent}");
}

/// Checks that a client can close its tabs before the consent: the diffs end, although the application
/// never saw them.
#[test]
fn closed_tabs_end_their_waiting_diffs() {
    let mut handles = asking();
    handles.tools = ToolSet::from([Tool::OpenDiff, Tool::CloseTab]).into();
    for config in [asking(), handles] {
        let mut editor = Editor::open(config);
        editor.receive(INITIALIZE);
        editor.receive(INITIALIZED);
        editor.written();
        for (id, tab) in [(1, "a"), (2, "b"), (3, "c")] {
            editor.receive(&open_diff(id, tab));
        }
        assert_eq!(shown(&editor.receive(&close_tab(4, "b"))), NOTHING);
        assert_eq!(editor.texts(), [answer(2, &["DIFF_REJECTED", "b"]), answer(4, &["TAB_CLOSED"])]);
        let unknown = editor.receive(&close_tab(5, "b"));
        assert!(unknown.is_empty() && editor.texts().len() == 1, "the answer comes at once");
        editor.receive(&call(6, "closeAllDiffTabs", "{}"));
        let texts = editor.texts();
        assert_eq!(texts[..2], [answer(1, &["DIFF_REJECTED", "a"]), answer(3, &["DIFF_REJECTED", "c"])]);
        assert!(texts[2].contains("CLOSED_2_DIFF_TABS"), "{texts:?}");
        assert!(editor.agent_mut().allow());
        assert_eq!(begin(&editor.events()), NOTHING);
    }
}

/// Checks that the requests of the handshake do not wait, even if the application answers them itself.
#[test]
fn forwarded_handshake_does_not_wait() {
    let mut config = asking();
    config.mcp.forward = Forward::All;
    let mut editor = Editor::open(config);
    editor.receive(INITIALIZE);
    assert_eq!(shown(&editor.receive(INITIALIZED)).len(), 1);
    let as_request = CONNECTED.replacen('{', r#"{"id":2,"#, 1);
    let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
    for message in lists.map(|method| request(3, method)) {
        let events = editor.receive(&message);
        let [ServerEvent::Request { call, .. }] = &events[..] else { panic!("{message}: {events:?}") };
        editor.server.call(*call).fail("no").unwrap();
        editor.texts();
    }
    assert_eq!(shown(&editor.receive(&as_request)).len(), 1);
    assert_eq!(shown(&editor.receive(&request(4, "x/own"))), NOTHING);
    assert!(editor.agent_mut().allow());
    assert_eq!(begin(&editor.events()).len(), 1, "the request of another method waited");
}

/// Checks that calls between `initialize` and `initialized`, before anybody asks the person, wait too.
#[test]
fn n07_early_calls_wait_too() {
    let mut editor = Editor::open(asking());
    editor.receive(INITIALIZE);
    for message in [open_diff(1, "tab"), call(2, "getDiagnostics", r#"{"uri":"file:///w/a"}"#), read_notes(3)]
    {
        assert_eq!(shown(&editor.receive(&message)), NOTHING, "{message}");
    }
    assert!(!editor.agent_mut().allow() && !editor.agent().waits_for_consent(), "no consent was asked for");
    assert_eq!(shown(&editor.receive(INITIALIZED)).len(), 1);
    assert!(editor.agent_mut().allow());
    let events = begin(&editor.events());
    assert!(events[0] == "call openDiff" && events[1].starts_with("edit of"), "{events:?}");
    assert!(events[2] == "call getDiagnostics" && events[3].starts_with("ReadResource"), "{events:?}");
}

/// Checks that waiting calls are limited too, even those that an editor would otherwise answer at
/// once.
#[test]
fn waiting_calls_have_their_limits() {
    let mut config = asking();
    config.mcp.limits.open_calls = 2;
    let mut editor = Editor::open(config);
    editor.receive(INITIALIZE);
    editor.receive(INITIALIZED);
    editor.written();
    for id in 1..=4 {
        editor.receive(&call(id, "set_permission_mode", r#"{"mode":"plan"}"#));
    }
    let texts = editor.texts();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts.iter().all(|text| text.contains("busy: too many calls are open")), "{texts:?}");
    editor.receive(&call(5, "closeAllDiffTabs", "{}"));
    assert!(editor.texts().concat().contains("CLOSED_0_DIFF_TABS"), "it is answered all the same");
    assert!(editor.agent_mut().allow());
    assert_eq!(begin(&editor.events()).len(), 2);
}
