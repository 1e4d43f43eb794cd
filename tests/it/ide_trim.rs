//! What `trim` releases: after a busy time, a connection holds about as much memory as before.

use crate::support::cost;
use crate::support::ide::{HEAD, INITIALIZE, INITIALIZED, PORT, call, config, open_diff, text, token};
use crate::support::passes::{events, read_by};
use ide_mcp::Time;
use ide_mcp::ide::tool::GetDiagnostics;
use ide_mcp::ide::{Client, ClientConfig, ConnId, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Implementation, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::{Random, pass};

/// The number of calls in a busy time: as many as can be open at once.
const CALLS: u32 = 256;

/// The bytes that a connection can hold in addition, for the ends of its last calls.
const MORE: i64 = 512;

fn asking() -> ServerConfig {
    let mut config = config();
    config.asks_for_consent = true;
    config
}

/// An editor with one connection.
struct Editor {
    server: Server,
    conn: ConnId,
}

impl Editor {
    fn attached(config: ServerConfig) -> Self {
        let mut server = Server::new(config);
        let conn = server.connect(Time::ZERO);
        let mut editor = Self { server, conn };
        for bytes in [HEAD.into(), text(INITIALIZE), text(INITIALIZED)] {
            editor.feed(&bytes);
        }
        editor.write();
        editor
    }

    fn feed(&mut self, bytes: &[u8]) -> Vec<ServerEvent> {
        self.server.feed(Time::ZERO, self.conn, bytes);
        events(&mut self.server, Time::ZERO)
    }

    fn receive(&mut self, input: &str) -> Vec<ServerEvent> {
        self.feed(&text(input))
    }

    fn write(&mut self) {
        read_by(&mut self.server, self.conn);
    }
}

/// Sends a large message.
fn send_much(editor: &mut Editor) {
    let large = format!(r#"{{"x":"{}"}}"#, "x".repeat(16_000));
    assert!(editor.receive(&call(1, "x", &large)).is_empty(), "there is no such tool");
}

/// Opens diffs, which the client then closes.
fn open_diffs(editor: &mut Editor) {
    for id in 0..CALLS {
        assert_eq!(editor.receive(&open_diff(id, "tab")).len(), 1);
    }
    assert_eq!(editor.receive(&call(CALLS, "closeAllDiffTabs", "{}")).len(), CALLS as usize);
}

/// Announces edits, and then ends them all.
fn announce_edits(editor: &mut Editor) {
    let uris = (0..CALLS).map(|id| format!(r#"{{"uri":"file:///w/{id}"}}"#));
    for (id, arguments) in (0..).zip(uris.chain(["{}".into()])) {
        for event in editor.receive(&call(id, "getDiagnostics", &arguments)) {
            if let ServerEvent::Call { call, .. } = event {
                editor.server.call(call.id()).respond(&ToolResult::text("[]")).unwrap();
            }
        }
        editor.write();
    }
}

/// Holds calls until the consent.
fn hold_calls(editor: &mut Editor) {
    for id in 0..CALLS {
        assert!(editor.receive(&open_diff(id, "tab")).is_empty());
    }
    assert!(editor.server.agent_mut(editor.conn.into()).allow());
    assert_eq!(events(&mut editor.server, Time::ZERO).len(), 1 + CALLS as usize);
    editor.receive(&call(CALLS, "closeAllDiffTabs", "{}"));
}

#[test]
fn trimmed_server_holds_nothing_of_a_busy_time() {
    let rows: [(&str, ServerConfig, fn(&mut Editor)); 4] = [
        ("a large message", config(), send_much),
        ("open diffs", config(), open_diffs),
        ("announced edits", config(), announce_edits),
        ("calls that wait for the consent", asking(), hold_calls),
    ];
    for (name, config, busy) in rows {
        let mut editor = Editor::attached(config);
        editor.server.trim(editor.conn);
        let cost = cost::of(|| {
            busy(&mut editor);
            editor.write();
            editor.server.trim(editor.conn);
        });
        assert!(cost.peak > 8 * 1024 && cost.kept <= MORE, "{name}: {cost:?}");
    }
}

#[test]
fn trimmed_client_holds_nothing_of_a_busy_time() {
    let agent = ClientConfig::new(Implementation::new("agent", "2.0"), PORT, Some(token()));
    let mut client = Client::new(agent, Random::new(1).source(), SessionId::new(2), Time::ZERO).unwrap();
    let mut server = Server::new(config());
    let conn = server.connect(Time::ZERO);
    while !client.is_ready() {
        server.feed(Time::ZERO, conn, &pass(&mut client, Time::ZERO, usize::MAX).written_bytes());
        client.feed(Time::ZERO, &pass(&mut server, Time::ZERO, usize::MAX).written_bytes());
        pass(&mut client, Time::ZERO, 0);
    }
    pass(&mut client, Time::ZERO, usize::MAX);
    client.trim();
    let cost = cost::of(|| {
        for _ in 0..CALLS {
            client.call_tool(&GetDiagnostics::default()).unwrap();
        }
        pass(&mut client, Time::ZERO, usize::MAX);
        // The end of the transport ends each request.
        client.feed_eof(Time::ZERO);
        assert_eq!(pass(&mut client, Time::ZERO, 0).events.len(), 1 + CALLS as usize);
        client.trim();
    });
    assert!(cost.peak > 8 * 1024 && cost.kept <= MORE, "{cost:?}");
}
