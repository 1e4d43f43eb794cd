//! The memory that `trim` releases: after a busy time, a connection holds about as much as before.

use crate::support::cost;
use crate::support::ide::{
    Editor, HEAD, INITIALIZE, INITIALIZED, PORT, call, config, drain, open_diff, text, token, written,
};
use crate::support::passes::{events, read_by};
use ide_mcp::ide::{Client, ClientConfig, Connection, GetDiagnostics, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Implementation, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Pair, Random};
use ide_mcp::{Time, Wire as _};

/// The number of calls in a busy time: as many as can be open at once.
const CALLS: u32 = 256;

/// The bytes that a connection can hold in addition, for the ends of its last calls.
const MORE: i64 = 512;

fn asking() -> ServerConfig {
    let mut config = config();
    config.asks_for_consent = true;
    config
}

fn attached(config: ServerConfig) -> Editor {
    let mut editor = Editor::open(config);
    for text in [INITIALIZE, INITIALIZED] {
        editor.say(text);
    }
    editor.written();
    editor
}

/// Opens diffs, which the client then closes.
fn open_diffs(editor: &mut Editor) {
    for id in 0..CALLS {
        assert_eq!(editor.say(&open_diff(id, "tab")).len(), 1);
    }
    assert_eq!(editor.say(&call(CALLS, "closeAllDiffTabs", "{}")).len(), CALLS as usize);
}

/// Announces edits, and then ends them all.
fn announce_edits(editor: &mut Editor) {
    let uris = (0..CALLS).map(|id| format!(r#"{{"uri":"file:///w/{id}"}}"#));
    for (id, arguments) in (0..).zip(uris.chain(["{}".into()])) {
        for event in editor.say(&call(id, "getDiagnostics", &arguments)) {
            if let ServerEvent::Call { call, .. } = event {
                editor.server.call(call.id()).respond(&ToolResult::diagnostics(&[])).unwrap();
            }
        }
        editor.written();
    }
}

/// Holds calls until the consent.
fn hold_calls(editor: &mut Editor) {
    for id in 0..CALLS {
        assert!(editor.say(&open_diff(id, "tab")).is_empty());
    }
    assert!(editor.server.allow());
    assert_eq!(drain(&mut editor.server).len(), 1 + CALLS as usize);
    editor.say(&call(CALLS, "closeAllDiffTabs", "{}"));
}

#[test]
fn trimmed_server_holds_nothing_of_a_busy_time() {
    let rows: [(&str, ServerConfig, fn(&mut Editor)); 3] = [
        ("open diffs", config(), open_diffs),
        ("announced edits", config(), announce_edits),
        ("calls that wait for the consent", asking(), hold_calls),
    ];
    for (name, config, busy) in rows {
        let mut editor = attached(config);
        editor.server.trim();
        let cost = cost::of(|| {
            busy(&mut editor);
            written(&mut editor.server);
            editor.server.trim();
        });
        assert!(cost.peak > 8 * 1024 && cost.kept <= MORE, "{name}: {cost:?}");
    }
}

#[test]
fn connection_of_a_host_is_trimmed_as_a_server() {
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    let feed = |server: &mut Server, bytes: &[u8]| {
        server.feed(Time::ZERO, conn, bytes);
        events(server, Time::ZERO);
    };
    for bytes in [HEAD.into(), text(INITIALIZE), text(INITIALIZED)].iter().map(AsRef::<[u8]>::as_ref) {
        feed(&mut server, bytes);
    }
    read_by(&mut server, conn);
    server.trim(conn);
    let cost = cost::of(|| {
        feed(&mut server, &text(&call(1, "x", &format!(r#"{{"x":"{}"}}"#, "x".repeat(16_000)))));
        read_by(&mut server, conn);
        server.trim(conn);
    });
    assert!(cost.peak > 16 * 1024 && cost.kept <= MORE, "{cost:?}");
}

#[test]
fn trimmed_client_holds_nothing_of_a_busy_time() {
    let agent = ClientConfig::new(Implementation::new("agent", "2.0"), PORT, Some(token()));
    let mut pair = Pair::new(
        Connection::new(config(), SessionId::new(1), Time::ZERO),
        Client::new(agent, Random::new(1), SessionId::new(2), Time::ZERO).unwrap(),
        Time::ZERO,
    );
    pair.settle();
    pair.client.trim();
    let cost = cost::of(|| {
        for _ in 0..CALLS {
            pair.client.call(&GetDiagnostics::default()).unwrap();
        }
        written(&mut pair.client);
        // The end of the transport ends each request.
        pair.client.feed_eof(Time::ZERO);
        assert_eq!(drain(&mut pair.client).len(), 1 + CALLS as usize);
        pair.client.trim();
    });
    assert!(cost.peak > 8 * 1024 && cost.kept <= MORE, "{cost:?}");
}
