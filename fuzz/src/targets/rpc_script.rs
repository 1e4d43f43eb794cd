//! Scripts of messages that are generated from the structure of JSON-RPC, for an editor over WebSocket and
//! for an agent without framing. The required answers follow from the way in which the messages were
//! generated.

use super::answers::{Serves, Trigger};
use super::expectations::{Expectations, OPEN_CALLS, WITH_BATCHES};
use super::peer_text::PeerText;
use crate::model::{Kind, context, roots};
use crate::sessions::Hits;
use crate::support::client_messages::{ACCEPTED, CLOSE, CONNECTED, HEAD, INITIALIZED, TEXT};
use crate::support::editors::server_config;
use crate::support::frames::{self, masked};
use ide_mcp::Time;
use ide_mcp::ide::tool::{Tool, ToolSet};
use ide_mcp::ide::{ConnId, Dialect, Server, ServerEvent};
use ide_mcp::mcp::{
    Client, ClientConfig, ClientEvent, Forward, Implementation, PromptResult, ResourceResult, ToolResult,
};
use ide_mcp::rpc::{CallId, ErrorObject, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Messages, Span, pass};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Act {
    Receive(PeerText),
    /// The application answers one of the calls that it has received.
    Answer(u8),
    Fail(u8),
    Wait(Span),
    Due,
}

#[derive(Arbitrary, Debug, Default)]
struct Setup {
    is_agent: bool,
    /// True if the script begins before the handshake.
    is_closed: bool,
    version: u8,
    forwards: bool,
    dialect: u8,
    /// The number of bytes in the first of two frames of a message; 0 for a single frame.
    cut: u8,
    /// The bits of the tools that are not handled.
    without: u8,
}

const VERSIONS: [&str; 4] = [WITH_BATCHES, "2025-11-25", "2024-11-05", "2025-06-18"];

impl Setup {
    fn version(&self) -> &'static str {
        VERSIONS[usize::from(self.version) % VERSIONS.len()]
    }

    fn dialect(&self) -> Dialect {
        Dialect::ALL[usize::from(self.dialect) % Dialect::ALL.len()]
    }

    fn handled(&self) -> Vec<Tool> {
        let tools = Tool::ALL.into_iter().enumerate();
        tools.filter(|(at, _)| self.without >> (at % 8) & 1 == 0).map(|(_, tool)| tool).collect()
    }

    fn tools(&self) -> ToolSet {
        // The custom tool of the application reads a resource.
        self.handled().into_iter().fold(ToolSet::new(), ToolSet::handle).custom("soon", "", "{}")
    }

    fn serves(&self) -> Serves {
        Serves::Editor {
            dialect: self.dialect(),
            handled: self.handled(),
            listed: self.tools().names(self.dialect()).map(Into::into).collect(),
            forwards: self.forwards,
        }
    }
}

/// Checks that each request is answered once, regardless of the messages around it, that nothing else is
/// answered, and that all output is JSON-RPC.
pub fn rpc_script(data: &[u8]) {
    rpc_script_hits(data);
}

/// Plays a script and returns the counts of the answers.
pub fn rpc_script_hits(data: &[u8]) -> Hits {
    let mut script = Unstructured::new(data);
    let setup = Setup::arbitrary(&mut script).unwrap_or_default();
    if setup.is_agent {
        let expectations =
            Expectations::by(Serves::Agent { forwards: setup.forwards }, Some(setup.version()));
        play(Agent::new(&setup), expectations, script)
    } else {
        let expectations = Expectations::by(setup.serves(), (!setup.is_closed).then(|| setup.version()));
        play(Editor::new(&setup), expectations, script)
    }
}

/// One of the two sides that receive messages.
trait Side {
    /// Delivers a text and returns the messages that the side sends.
    fn receive(&mut self, now: Time, text: &str) -> Vec<String>;

    /// Advances the clock and returns the messages that the side sends.
    fn tick(&mut self, now: Time) -> Vec<String>;

    fn deadline(&self) -> Option<Time>;

    /// Answers one of the open calls. Returns the messages that the side sends, and the result.
    fn answer(&mut self, which: usize, fails: bool) -> (Vec<String>, Value);

    /// Shuts down the side, which answers all open requests, and returns the messages that it
    /// sends.
    fn shutdown(&mut self) -> Vec<String>;
}

fn play<S: Side>(mut side: S, mut expectations: Expectations, mut script: Unstructured<'_>) -> Hits {
    let mut now = Time::ZERO;
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        let (sent, trigger) = match act {
            Act::Receive(peer_text) => {
                let text = peer_text.text();
                expectations.expect_answers(&peer_text);
                (side.receive(now, &text), Trigger::Message)
            }
            Act::Answer(which) => {
                let (sent, result) = side.answer(which.into(), false);
                (sent, Trigger::Result(result))
            }
            Act::Fail(which) => (side.answer(which.into(), true).0, Trigger::Failure(FAILURE)),
            Act::Wait(span) => {
                now = now.saturating_add(span.duration());
                (side.tick(now), Trigger::Nothing)
            }
            Act::Due => {
                now = side.deadline().map_or(now, |due| due.max(now));
                (side.tick(now), Trigger::Nothing)
            }
        };
        expectations.check_output(&sent, &trigger);
    }
    expectations.check_output(&side.shutdown(), &Trigger::Nothing);
    expectations.settle()
}

/// The error code of the answers with which the application fails.
const FAILURE: i64 = -1;

fn initialize(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"first","method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"n","version":"1"}}}}}}"#
    )
}

/// An editor, with all layers down to the frames.
struct Editor {
    server: Server,
    conn: ConnId,
    calls: Vec<(CallId, Kind)>,
    /// The number of bytes in the first of two frames of a message; 0 for a single frame.
    cut: u8,
    now: Time,
    is_ending: bool,
}

impl Editor {
    fn new(setup: &Setup) -> Self {
        let mut config = server_config(setup.tools()).with_dialect(setup.dialect());
        config.mcp.context = context(true).into();
        // The session processes every message: faults do not end the connection, and there is
        // always room for an answer.
        (config.mcp.limits.faults, config.ws.outgoing) = (usize::MAX - 1, usize::MAX);
        (config.ws.keepalive, config.mcp.keepalive) = (None, None);
        config.mcp.limits.open_calls = OPEN_CALLS;
        if setup.forwards {
            config.mcp.forward = Forward::Unmodelled;
        }
        let mut server = Server::new(config);
        let conn = server.connect(Time::ZERO);
        let (cut, now) = (setup.cut, Time::ZERO);
        let mut editor = Self { server, conn, calls: Vec::new(), cut, now, is_ending: false };
        editor.server.feed(Time::ZERO, conn, HEAD.as_bytes());
        let accepted = pass(&mut editor.server, Time::ZERO, usize::MAX).written_bytes();
        assert_eq!(accepted.escape_ascii().to_string(), ACCEPTED.as_bytes().escape_ascii().to_string());
        if !setup.is_closed {
            let sent = editor.receive(Time::ZERO, &initialize(setup.version()));
            assert!(matches!(&sent[..], [only] if only.contains(setup.version())), "{sent:?}");
            for text in [INITIALIZED, CONNECTED] {
                assert_eq!(editor.receive(Time::ZERO, text), [""; 0]);
            }
        }
        editor
    }

    /// Takes all events, and returns the messages that the editor sends.
    fn settle(&mut self) -> Vec<String> {
        let passed = pass(&mut self.server, self.now, usize::MAX);
        let mut sent = Vec::new();
        for frame in frames::read(&passed.written_bytes()) {
            assert!(frame.key.is_none());
            match frame.first {
                TEXT => sent.push(frame.text()),
                first => assert_eq!((first, self.is_ending), (CLOSE, true)),
            }
        }
        for event in passed.events {
            match event {
                ServerEvent::Call { call, .. } => self.calls.push((call.id(), Kind::Tool)),
                ServerEvent::GetPrompt { call, .. } => self.calls.push((call, Kind::Prompt)),
                ServerEvent::ReadResource { call, .. } => self.calls.push((call, Kind::Resource)),
                ServerEvent::Direct { call, .. } | ServerEvent::Request { call, .. } => {
                    self.calls.push((call, Kind::Request));
                }
                ServerEvent::Closed { reason: why, .. } => assert!(self.is_ending, "{why}"),
                _ => {}
            }
        }
        sent
    }
}

impl Side for Editor {
    fn receive(&mut self, now: Time, text: &str) -> Vec<String> {
        self.now = now;
        let bytes = text.as_bytes();
        let at = usize::from(self.cut).min(bytes.len());
        let (begin, end) = bytes.split_at(at);
        if self.cut == 0 {
            self.server.feed(now, self.conn, &masked(TEXT, bytes));
        } else {
            // Two frames, with the cut at any byte.
            self.server.feed(now, self.conn, &[masked(TEXT & 0x7f, begin), masked(0x80, end)].concat());
        }
        self.settle()
    }

    fn tick(&mut self, now: Time) -> Vec<String> {
        self.now = now;
        self.settle()
    }

    fn deadline(&self) -> Option<Time> {
        self.server.deadline()
    }

    fn answer(&mut self, which: usize, fails: bool) -> (Vec<String>, Value) {
        let Some((call, kind)) = which.checked_rem(self.calls.len()).map(|at| self.calls.swap_remove(at))
        else {
            return (Vec::new(), Value::Null);
        };
        // The call may have ended by now. Every tool can fail.
        let (open, failure) = (self.server.call(call), ToolResult::error("yes"));
        let (prompt, resource) = (PromptResult::text("yes"), ResourceResult::text("r://1", "", "yes"));
        let (answered, result) = match kind {
            _ if fails => (open.fail(ErrorObject::new(FAILURE, "no")).is_ok(), Ok(Value::Null)),
            Kind::Prompt => (open.respond_prompt(&prompt).is_ok(), serde_json::to_value(prompt)),
            Kind::Resource => (open.respond_resource(&resource).is_ok(), serde_json::to_value(resource)),
            _ => (open.respond(&failure).is_ok(), serde_json::to_value(failure)),
        };
        let sent = self.settle();
        assert_eq!(sent.len(), usize::from(answered), "{sent:?}");
        (sent, result.expect("a result is JSON"))
    }

    fn shutdown(&mut self) -> Vec<String> {
        self.is_ending = true;
        self.server.shutdown(self.now);
        self.settle()
    }
}

/// An agent, without frames.
struct Agent {
    client: Client,
    out: Messages,
    calls: Vec<CallId>,
    now: Time,
}

impl Agent {
    fn new(setup: &Setup) -> Self {
        let mut config = ClientConfig::new(Implementation::new("a", "1"));
        // The agent sends no requests of its own.
        config.keepalive = None;
        config.limits.open_calls = OPEN_CALLS;
        (config.roots, config.elicitation) = (Some(roots(false).0), true);
        if setup.forwards {
            config.forward = Forward::Unmodelled;
        }
        let mut agent = Self {
            client: Client::new(config, SessionId::new(1)),
            out: Messages::default(),
            calls: Vec::new(),
            now: Time::ZERO,
        };
        agent.client.start(Time::ZERO, &mut agent.out).expect("it starts once");
        let initialize: Value = serde_json::from_str(&agent.out.take().concat()).expect("one request");
        // The answer to `initialize`, which agrees on the version; it is not part of the script.
        agent.receive(
            Time::ZERO,
            &json!({"jsonrpc": "2.0", "id": initialize["id"], "result": {
                "protocolVersion": setup.version(),
                "capabilities": {},
                "serverInfo": {"name": "n", "version": "1"},
            }})
            .to_string(),
        );
        assert!(agent.client.is_ready());
        agent
    }

    fn settle(&mut self) -> Vec<String> {
        while let Some(event) = self.client.poll(self.now, &mut self.out) {
            if let ClientEvent::Request { call, .. } | ClientEvent::Form { call, .. } = event {
                self.calls.push(call);
            }
        }
        self.out.take()
    }
}

impl Side for Agent {
    fn receive(&mut self, now: Time, text: &str) -> Vec<String> {
        self.now = now;
        self.client.receive(now, text, &mut self.out);
        self.settle()
    }

    fn tick(&mut self, now: Time) -> Vec<String> {
        self.now = now;
        self.settle()
    }

    fn deadline(&self) -> Option<Time> {
        self.client.deadline()
    }

    fn answer(&mut self, which: usize, fails: bool) -> (Vec<String>, Value) {
        let Some(call) = which.checked_rem(self.calls.len()).map(|at| self.calls.swap_remove(at)) else {
            return (Vec::new(), Value::Null);
        };
        let answered = if fails {
            self.client.fail(call, ErrorObject::new(FAILURE, "no"), &mut self.out).is_ok()
        } else {
            self.client.respond_with(call, &json!({}), &mut self.out).is_ok()
        };
        let sent = self.settle();
        assert_eq!(sent.len(), usize::from(answered), "{sent:?}");
        (sent, json!({}))
    }

    fn shutdown(&mut self) -> Vec<String> {
        self.client.shutdown("it ends", &mut self.out);
        self.settle()
    }
}
