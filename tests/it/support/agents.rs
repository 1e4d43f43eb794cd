//! `ide::Client` as a subject of the laws (see `laws.rs`): an agent that sends requests.

use super::calls;
use super::client_messages::{BINARY, CLOSE, PORT, TEXT, token};
use super::editors::{MARK, MESSAGE, Unwritable, foreign};
use super::frames::plain;
use super::laws::{Calls, Record, Subject};
use super::servers::IdeServer;
use super::sockets::limits;
use super::subject::Refusals;
use ide_mcp::ide::tool::{CloseAllDiffTabs, CloseTab, GetDiagnostics, OpenDiff};
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{Implementation, Timeout};
use ide_mcp::rpc::{NotSent, RequestId, SessionId};
use ide_mcp::testing::{Random, pass};
use ide_mcp::{Machine as _, Time};
use std::time::Duration;

/// `ide::Client` with an application that sends requests.
#[derive(Debug)]
pub struct IdeClient;

/// The application of an agent: its requests so far, and the state of the connection as the events
/// have reported it.
pub struct Agent {
    random: Option<Random>,
    pending: Vec<RequestId>,
    ended: Vec<RequestId>,
    /// True after `Ready`.
    ready: bool,
    /// True after the application has closed the connection.
    closing: bool,
    closed: bool,
}

/// The answer of an editor to `initialize`.
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"}}}"#;

/// Returns the answer of an editor to the opening handshake that the client makes with its fixed seed.
pub fn accepted() -> Vec<u8> {
    let request = pass(&mut IdeClient.make(Time::ZERO), Time::ZERO, usize::MAX).written_bytes();
    let mut server = IdeServer::default().make(Time::ZERO);
    server.feed(Time::ZERO, (), &request);
    let passed = pass(&mut server, Time::ZERO, usize::MAX);
    assert!(passed.events.is_empty());
    passed.written_bytes()
}

impl Subject for IdeClient {
    type Machine = Client;
    type App = Agent;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ide::Client".into()
    }

    fn make(&self, now: Time) -> Client {
        let mut config = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token()));
        config.pid = Some(7);
        config.ws = limits(MARK, MESSAGE);
        config.mcp.initialize_timeout = Duration::from_secs(17);
        config.mcp.request_timeout = Duration::from_secs(53);
        config.mcp.call_deadline = Duration::from_secs(29);
        config.mcp.longest_call = Duration::from_secs(310);
        Client::new(config, Random::new(7).source(), SessionId::new(1), now).unwrap()
    }

    fn app(&self, seed: u64) -> Agent {
        Agent {
            random: (seed != 0).then(|| Random::new(seed)),
            pending: Vec::new(),
            ended: Vec::new(),
            ready: false,
            closing: false,
            closed: false,
        }
    }

    fn react(&self, app: &mut Agent, machine: &mut Client, event: &ClientEvent) {
        match event {
            ClientEvent::Ready(_) => {
                app.ready = true;
                app.pending.extend(machine.list_tools().map(|pending| pending.id()));
            }
            ClientEvent::Outcome { request, .. } => {
                app.pending.retain(|pending| pending != request);
                app.ended.push(*request);
            }
            ClientEvent::Closed(_) => app.closed = true,
            _ => {}
        }
        let choice = app.random.as_mut().map_or(0, |random| random.below(8));
        let pending = match choice {
            1 => machine.call_tool(&OpenDiff::new("/a", "x", "t")).map(|pending| pending.id()),
            2 => machine.call_tool(&GetDiagnostics::new(None)).map(|pending| pending.id()),
            3 => machine.call_tool(&CloseTab::new("t")).map(|pending| pending.id()),
            4 => machine.request("ping", None::<&()>, Timeout::Never),
            5 => {
                if let Some(request) = app.pending.pop() {
                    machine.cancel(request, Some("never mind"));
                }
                return;
            }
            // Before `Ready` there are few events. The application then closes without a second draw,
            // since it would otherwise hardly ever close this early.
            6 if !app.ready || app.random.as_mut().is_some_and(|random| random.one_in(8)) => {
                app.closing = true;
                return machine.close();
            }
            _ => return,
        };
        app.pending.extend(pending);
    }

    fn is_closed(event: &ClientEvent) -> bool {
        matches!(event, ClientEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        let text = |text: &str| plain(TEXT, text.as_bytes());
        let early = text(r#"{"jsonrpc":"2.0","method":"notifications/early"}"#);
        let ready = [accepted(), early, text(INITIALIZED)].concat();
        let answer = |id: u32| text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
        let pushes = |round: u32| {
            [
                text(
                    r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"s","filePath":"/a"}}"#,
                ),
                text(r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/a"}}"#),
                text(&format!(r#"{{"jsonrpc":"2.0","id":90{round}1,"method":"ping"}}"#)),
                text(&format!(
                    r#"{{"jsonrpc":"2.0","id":"90{round}","method":"nonexistent/method","params":{{}}}}"#
                )),
            ]
            .concat()
        };
        let error = text(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#);
        let refused = text(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#);
        let unknown = text(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01"}}"#);
        let without_mcp =
            String::from_utf8(accepted()).unwrap().replace("\r\nSec-WebSocket-Protocol: mcp", "");
        let page = |id: u32, next: &str| {
            text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[],"nextCursor":{next}}}}}"#))
        };
        let answers = |ids: &[u32]| ids.iter().flat_map(|id| answer(*id)).collect::<Vec<_>>();
        vec![
            [ready.clone(), answer(2), pushes(0), answers(&[4, 3, 3, 5]), pushes(4), answers(&[7, 6, 6, 8])]
                .concat(),
            [ready.clone(), pushes(1), error, answers(&[2, 77]), pushes(2), answers(&[6, 78])].concat(),
            [ready.clone(), page(2, r#""a""#), pushes(5), page(3, r#""b""#), page(4, "null"), answer(5)]
                .concat(),
            [ready.clone(), pushes(3), plain(BINARY, b"[]"), answer(2), pushes(6), plain(BINARY, b"[]")]
                .into_iter()
                .chain([plain(CLOSE, b"\x03\xe9"), plain(CLOSE, b"")])
                .collect::<Vec<_>>()
                .concat(),
            [ready, (0..9).flat_map(|_| text("no")).collect(), answer(2)].concat(),
            [accepted(), refused].concat(),
            [accepted(), unknown, answer(2)].concat(),
            without_mcp.into(),
            b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ]
    }

    fn opening(&self) -> Vec<u8> {
        [accepted(), plain(TEXT, INITIALIZED.as_bytes())].concat()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        let padding = "p".repeat(len.saturating_sub(100));
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":"same","method":"ping","params":{{"padding":"{padding}"}}}}"#);
        plain(TEXT, text.as_bytes())
    }

    fn refuse(&self, app: &Agent, machine: &mut Client, is_full: bool, refusals: &mut Refusals) {
        refusals.expect("cancelling a request of another session", !machine.cancel(foreign().1, None));
        for request in &app.ended {
            refusals.expect("cancelling an ended request", !machine.cancel(*request, None));
        }
        // The connection can have ended before the application has polled the end.
        let (name, allowed): (_, &[NotSent]) = match () {
            () if app.closed || app.ready && app.closing => ("after the end", &[NotSent::Closed]),
            () if !app.ready => ("before it is attached", &[NotSent::NotReady, NotSent::Closed]),
            () if is_full => ("above the mark", &[NotSent::Full, NotSent::Closed]),
            () => ("", &[NotSent::Unserializable, NotSent::Closed]),
        };
        refusals.expect_err("an unserializable value", machine.notify("x", Some(&Unwritable)), allowed);
        let pending = machine.request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", pending, allowed);
        if !name.is_empty() {
            refusals.expect_err(name, machine.notify("x", None::<&()>), allowed);
            refusals.expect_err(name, machine.list_tools(), allowed);
            refusals.expect_err(name, machine.call_tool(&CloseAllDiffTabs), allowed);
        }
        // A ping is allowed before the session is open, and refused after the end.
        if app.closing || app.closed {
            let allowed = [NotSent::NotReady, NotSent::Closed];
            refusals.expect_err(
                "after the end",
                machine.request("ping", None::<&()>, Timeout::Never),
                &allowed,
            );
        }
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "cancelling a request of another session",
            "cancelling an ended request",
            "before it is attached",
            "an unserializable value",
            "above the mark",
            "after the end",
        ]
    }

    fn copied(event: &ClientEvent) -> Option<ClientEvent> {
        Some(event.clone())
    }

    fn calls(&self, record: &Record<ClientEvent>) -> Calls {
        calls::of_agent(record)
    }

    fn ends_a_call(event: &ClientEvent) -> bool {
        matches!(event, ClientEvent::Outcome { .. })
    }
}
