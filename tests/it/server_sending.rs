//! Broadcasts of a server, its filter, its pings of either kind, and a computer that sleeps.

use std::time::Duration;

use crate::support::ide::{
    ACCEPTED, CONNECTED, HEAD, INITIALIZE, INITIALIZED, PING, at, config, read, selection, text, texts,
};
use crate::support::passes::{events, lose, read_by};
use ide_mcp::Keepalive;
use ide_mcp::Time;
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::tool::{
    CurrentSelection, Diagnostics, EditorTab, FileDiagnostics, FilePaths, LatestSelection, OpenEditors, Tool,
    ToolCall, ToolSet,
};
use ide_mcp::ide::{
    ConnId, DiagnosticsChanged, Dialect, Filter, Mention, MentionError, Selected, Selection, Server,
    ServerConfig, ServerEvent,
};
use ide_mcp::rpc::NotSent;

fn open(server: &mut Server, input: &[&str]) -> ConnId {
    open_and_read(server, Time::ZERO, input).0
}

/// Opens a connection whose client sends these messages, and returns the messages of the server.
fn open_and_read(server: &mut Server, now: Time, input: &[&str]) -> (ConnId, Vec<String>) {
    let conn = server.connect(now);
    server.feed(now, conn, HEAD.as_bytes());
    for input in input {
        server.feed(now, conn, &text(input));
    }
    events(server, now);
    let bytes = read_by(server, conn);
    (conn, texts(bytes.strip_prefix(ACCEPTED.as_bytes()).unwrap()))
}

pub fn attach(server: &mut Server) -> ConnId {
    attach_and_read(server, Time::ZERO).0
}

/// Attaches a client, and returns the messages of the server to it.
pub fn attach_and_read(server: &mut Server, now: Time) -> (ConnId, Vec<String>) {
    open_and_read(server, now, &[INITIALIZE, INITIALIZED, CONNECTED])
}

pub fn messages_to(server: &mut Server, conn: ConnId) -> Vec<String> {
    texts(&read_by(server, conn))
}

#[test]
fn broadcast_returns_the_ready_clients_that_it_did_not_reach() {
    let mut config = config();
    config.ws.outgoing = 1_000;
    let mut server = Server::new(config);
    let (one, full) = (attach(&mut server), attach(&mut server));
    let (deaf, gone) = (open(&mut server, &[INITIALIZE]), attach(&mut server));
    lose(&mut server, Time::ZERO, gone);
    events(&mut server, Time::ZERO);
    while server.agent_mut(full.into()).notify("diagnostics_other_", None::<&()>).is_ok() {}
    assert_eq!(server.notify_all("diagnostics_changed", None::<&()>), Ok(vec![full.into()]));
    let changed = r#"{"jsonrpc":"2.0","method":"diagnostics_changed"}"#;
    assert_eq!(messages_to(&mut server, one), [changed]);
    assert!(messages_to(&mut server, full).iter().all(|text| text != changed));
    assert_eq!(messages_to(&mut server, deaf), [""; 0]);
    assert_eq!(server.notify_all("diagnostics_changed", None::<&()>), Ok(vec![]));
    assert_eq!(
        (messages_to(&mut server, one), messages_to(&mut server, full)),
        (vec![changed.into()], vec![changed.into()])
    );
}

#[test]
fn unserializable_broadcast_is_refused() {
    let mut server = Server::new(config());
    assert_eq!(server.notify_all("x", Some(&[1])), Ok(vec![]), "no client is attached");
    let conn = attach(&mut server);
    assert_eq!(server.notify_all("x", Some(&[1])), Err(NotSent::Unserializable));
    assert_eq!(messages_to(&mut server, conn), [""; 0]);
    server.feed_eof(Time::ZERO, conn);
    assert_eq!(
        server.notify_all("x", Some(&[1])),
        Ok(vec![]),
        "the connection has ended, and the application has not polled its end"
    );
}

#[test]
fn hidden_files_do_not_leave_the_editor() {
    let mut config = config();
    config.debounce = Duration::ZERO;
    config.filter = Filter::new().hide(|path| path.ends_with(".env")).max_text(8);
    assert_eq!(format!("{:?}", config.filter), r#"Filter { hides: "some", most: 8 }"#);
    let mut server = Server::new(config);
    let conn = attach(&mut server);
    let of = |path: &str, text: &str| Selection::new(path, Range::default(), text);
    let mut select = |selection| {
        let selected = server.select(Time::ZERO, selection);
        events(&mut server, Time::ZERO);
        (selected, texts(&read_by(&mut server, conn)))
    };
    let (selected, received) = select(of("/w/a", "12345678"));
    assert!(selected == Selected::Whole && received[0].contains(r#""text":"12345678""#), "{received:?}");
    let (selected, received) = select(of("/w/a", "1234567é"));
    assert!(selected == Selected::Truncated && received[0].contains(r#""text":"1234567""#), "{received:?}");
    // The client receives an empty selection, and nothing of the file.
    let (selected, received) = select(of("/w/.env", "secret"));
    assert_eq!((selected, received.len()), (Selected::Hidden, 1));
    assert!(received[0].contains(r#"{"text":"","filePath":"","fileUrl":"","#), "{received:?}");
    let (selected, received) = select(of("/w/.env", "secret too"));
    assert_eq!(
        (selected, received.len()),
        (Selected::Hidden, 0),
        "the client has the empty selection already"
    );
    let (selected, received) = select(Selection::cleared());
    assert_eq!((selected, received.len()), (Selected::Whole, 0), "a cleared selection is the empty one");
    let mention = |path: &str| Mention::new(path, None);
    assert_eq!(server.mention(Time::ZERO, mention("/w/.env"), None), Err(MentionError::Hidden));
    assert_eq!(server.mention(Time::ZERO, mention("/w/a"), None), Ok(()));
    assert_eq!(messages_to(&mut server, conn).len(), 1);
    // Diagnostics and the active editor do not reveal the file either.
    let stale =
        |uris: &[&str]| DiagnosticsChanged::Stale { uris: uris.iter().map(|&uri| uri.into()).collect() };
    assert_eq!(server.diagnostics_changed(stale(&["file:///w/.env", "file:///w/a"])), []);
    assert_eq!(
        messages_to(&mut server, conn),
        [r#"{"jsonrpc":"2.0","method":"diagnostics_changed","params":{"uris":["file:///w/a"]}}"#]
    );
    server.diagnostics_changed(stale(&["file:///w/.env"]));
    server.diagnostics_changed(DiagnosticsChanged::Now(FileDiagnostics::new("file:///w/%2Eenv", vec![])));
    assert_eq!(messages_to(&mut server, conn), [""; 0]);
    // An editor can spell a URI in several ways, and a URI that cannot be decoded can be a plain path.
    let odd = ["file:///w/%2Eenv", "file:///w/100%/.env", "file:///w/a#b/.env", "/w/.env", "untitled:.env"];
    server.diagnostics_changed(stale(&odd));
    assert_eq!(messages_to(&mut server, conn), [""; 0]);
    assert_eq!(server.active_editor_changed(of("/w/.env", "secret")), []);
    let received = messages_to(&mut server, conn);
    assert!(
        received.len() == 1 && !received[0].contains("env") && !received[0].contains("secret"),
        "{received:?}"
    );
}

/// Checks paths that only their normal form shows to be hidden, for an editor on any system.
#[test]
fn file_of_another_system_is_hidden() {
    let mut config = config();
    config.filter =
        Filter::new().hide(|path| path.starts_with("/w/secret/") || path.starts_with(r"C:\w\secret\"));
    let mut server = Server::new(config);
    attach(&mut server);
    let names =
        ["/w/x/../secret/a", "file:///w/x/../secret/a", r"c:\w\x\..\secret\a", "file:///c%3A/w/./secret/a"];
    for name in names {
        let selection = Selection::new(name, Range::default(), "secret");
        assert_eq!(server.select(Time::ZERO, selection), Selected::Hidden, "{name}");
    }
    let shown = Selection::new(r"C:\w\secret\..\a", Range::default(), "");
    assert_eq!(server.select(Time::ZERO, shown), Selected::Hidden, "the path as it is written counts too");
}

/// Checks two filters: one matches the end of a path, the other its beginning.
#[test]
fn file_is_hidden_under_every_name() {
    let names = [
        "/w/secret/.env",
        "file:///w/secret/.env",
        "FILE:///w/secret/.env",
        "file:/w/secret/.env",
        "file://localhost/w/secret/.env",
        "file:///w/secret/%2Eenv",
        "file:///w/%73ecret/%2eenv",
        "file:///w/secret/%FF/.env",
        "file:///w/secret/100%/.env",
        "file:///w/secret/100%/%2Eenv",
        "file:///w/secret/.env#L3",
        "file:///w/secret/.env?a=b",
        "file:///w/secret/a#b/.env",
        "file:///w/x/../secret/.env",
        "/w/x/../secret//.env",
        "vscode-remote://ssh/w/secret/%2Eenv",
        "_claude_fs_right:/w/secret/.env",
    ];
    let filters = [
        Filter::new().hide(|path| path.ends_with(".env")),
        Filter::new().hide(|path| path.starts_with("/w/secret/")),
        Filter::secrets(),
        // Both filters count, in either order.
        Filter::secrets().hide(|path| path.ends_with(".txt")),
        Filter::new().hide(|path| path.ends_with(".env")).hide(|path| path.ends_with(".txt")),
    ];
    for (at, filter) in filters.into_iter().enumerate() {
        let mut config = config();
        config.debounce = Duration::ZERO;
        config.filter = filter;
        let mut server = Server::new(config);
        let conn = attach(&mut server);
        for name in names {
            let by_path = Selection::new(name, Range::default(), "secret");
            let mut by_url = Selection::new("/w/a", Range::default(), "secret");
            by_url.file_url = Some(name.into());
            for selection in [by_path, by_url] {
                assert_eq!(server.select(Time::ZERO, selection.clone()), Selected::Hidden, "{at}: {name}");
                server.active_editor_changed(selection);
            }
            let mention = server.mention(Time::ZERO, Mention::new(name, None), None);
            assert_eq!(mention, Err(MentionError::Hidden), "{at}: {name}");
            server.diagnostics_changed(DiagnosticsChanged::Stale { uris: vec![name.into()] });
            events(&mut server, Time::ZERO);
            for input in messages_to(&mut server, conn) {
                assert!(!input.contains("env") && !input.contains("secret"), "{at}: {name}: {input}");
            }
        }
        for shown in ["/w/a", "file:///w/a%20b", "untitled:a"] {
            let selection = Selection::new(shown, Range::default(), "");
            assert_eq!(server.select(Time::ZERO, selection), Selected::Whole, "{at}: {shown}");
        }
    }
}

#[test]
fn answers_name_no_hidden_file() {
    let tools = [
        Tool::GetCurrentSelection,
        Tool::GetLatestSelection,
        Tool::GetDiagnostics,
        Tool::GetOpenEditors,
        Tool::GetAllOpenedFilePaths,
    ];
    let mut config = config();
    config.tools = tools.into_iter().fold(ToolSet::new(), ToolSet::handle).into();
    config.tool_resources = true;
    config.filter = Filter::secrets();
    let mut server = Server::new(config);
    let conn = attach(&mut server);
    let (hidden, shown) = ("/w/.env", "/w/a.rs");
    let reads = ["ide://selection", "ide://diagnostics", "ide://open-editors"];
    let mut pending: Vec<String> = tools
        .iter()
        .map(|tool| {
            let name = tool.name(Dialect::VsCode);
            format!(r#""method":"tools/call","params":{{"name":"{name}","arguments":{{}}}}"#)
        })
        .collect();
    pending.extend(reads.map(|uri| format!(r#""method":"resources/read","params":{{"uri":"{uri}"}}"#)));
    for (id, ask) in pending.iter().enumerate() {
        let message = text(&format!(r#"{{"jsonrpc":"2.0","id":{id},{ask}}}"#));
        server.feed(Time::ZERO, conn, &message);
        let call = events(&mut server, Time::ZERO).into_iter().find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call),
            _ => None,
        });
        let selection = || Some(Selection::new(hidden, Range::default(), "token"));
        let problems = |path: &str| FileDiagnostics::new(path, Vec::new());
        let tab = |path: &str| EditorTab::new(format!("file://{path}"), path, "text");
        let answered = match call.unwrap() {
            ToolCall::GetCurrentSelection(call, _) => server.answer(call, CurrentSelection(selection())),
            ToolCall::GetLatestSelection(call, _) => server.answer(call, LatestSelection(selection())),
            ToolCall::GetDiagnostics(call, _) => {
                server.answer(call, Diagnostics { files: vec![problems(hidden), problems(shown)] })
            }
            ToolCall::GetOpenEditors(call, _) => {
                server.answer(call, OpenEditors { tabs: vec![tab(hidden), tab(shown)] })
            }
            ToolCall::GetAllOpenedFilePaths(call, _) => {
                server.answer(call, FilePaths { paths: vec![hidden.into(), shown.into()] })
            }
            call => panic!("{call:?}"),
        };
        answered.unwrap();
        let sent = messages_to(&mut server, conn).concat();
        assert!(!sent.contains(".env") && !sent.contains("token"), "{ask}: {sent}");
        let has_others = !ask.contains("election");
        assert_eq!(sent.contains(shown), has_others, "{ask}: {sent}");
    }
}

#[test]
fn filter_truncates_text_at_256_kib() {
    let mut server = Server::new(config());
    assert_eq!(server.select(at(0), selection(&"x".repeat(256 * 1024))), Selected::Whole);
    let mut wide = config();
    wide.filter = Filter::default().max_text(usize::MAX);
    let mut server = Server::new(wide.clone());
    assert_eq!(server.select(at(0), selection(&"x".repeat(256 * 1024 + 1))), Selected::Truncated);
    wide.content_limits.selection = 256 * 1024 + 1;
    let mut server = Server::new(wide);
    assert_eq!(server.select(at(0), selection(&"x".repeat(256 * 1024 + 1))), Selected::Whole);
    assert_eq!(server.select(at(0), selection(&"x".repeat(256 * 1024 + 2))), Selected::Truncated);
}

/// Returns the times of the pings to a silent client, and the time at which the server ends the
/// connection, in milliseconds. The server sleeps until `sleep_until`.
fn pings(config: ServerConfig, sleep_until: u64) -> (Vec<u64>, u64) {
    let mut server = Server::new(config);
    let conn = attach(&mut server);
    let (mut pinged, mut now) = (Vec::new(), sleep_until.max(1));
    loop {
        let ended =
            events(&mut server, at(now)).into_iter().any(|event| matches!(event, ServerEvent::Closed { .. }));
        if ended {
            return (pinged, now);
        }
        let bytes = read_by(&mut server, conn);
        let names_ping = |payload: &[u8]| payload.windows(6).any(|text| text == b"\"ping\"");
        if read(&bytes).iter().any(|frame| frame.first == PING || names_ping(&frame.payload)) {
            pinged.push(now);
        }
        let due = server.deadline().unwrap().saturating_since(Time::ZERO).as_millis().try_into().unwrap();
        assert!(due > now, "law 4 at {now} ms");
        now = due;
    }
}

#[test]
fn i34_silent_client_is_pinged_before_the_timeout() {
    let websocket = config();
    assert_eq!(pings(websocket.clone(), 0), (vec![30_000], 60_000));
    // The editor sleeps for eight hours: it did not read, which does not make the client silent.
    let hours = 8 * 3600 * 1000;
    assert_eq!(pings(websocket, hours), (vec![hours], hours + 30_000));

    let mut json = config();
    json.ws.keepalive = None;
    json.mcp.keepalive = Some(Keepalive::JSON_RPC);
    // A ping every 5 s, and 3 s for the answer.
    assert_eq!(pings(json.clone(), 0), (vec![5_000], 8_000));
    assert_eq!(pings(json, hours), (vec![hours], hours + 3_000));

    let mut off = config();
    off.ws.keepalive = None;
    let mut server = Server::new(off);
    attach(&mut server);
    assert_eq!(server.deadline(), None, "both can be off");
}
