//! Scripts of messages, written by their structure, for an editor over WebSocket and for an agent as texts. What has to
//! be answered is known from how it was written.

use super::answers::{Serves, Upon};
use super::owed::{OPEN_CALLS, Owed, WITH_BATCHES};
use super::speech::Speech;
use crate::support::editors::server_config;
use crate::support::frames::{self, masked};
use crate::support::said::{ACCEPTED, CLOSE, CONNECTED, HEAD, INITIALIZED, TEXT};
use ide_mcp::ide::{Dialect, Server, ServerEvent, Tool, ToolSet};
use ide_mcp::mcp::{Client, ClientConfig, Event, Forward, Implementation, ToolResult};
use ide_mcp::rpc::{CallId, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Messages, Span};
use ide_mcp::{Machine as _, Time, Wire as _};
use serde_json::{Value, json};

#[derive(Arbitrary, Debug)]
enum Act {
    Say(Speech),
    /// The application answers one of the calls that it has heard of.
    Answer(u8),
    Fail(u8),
    Wait(Span),
    Due,
}

#[derive(Arbitrary, Debug, Default)]
struct Setup {
    is_agent: bool,
    /// There was no handshake.
    is_closed: bool,
    version: u8,
    forwards: bool,
    dialect: u8,
    /// How many bytes the first of two frames of a message has; with none there is one.
    cut: u8,
    /// Which tools are not handled.
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
        self.handled().into_iter().fold(ToolSet::new(), ToolSet::handle)
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

/// Each request is answered once, whatever stands around it, and nothing else is; all that is said is JSON-RPC.
pub fn rpc_script(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let setup = Setup::arbitrary(&mut script).unwrap_or_default();
    if setup.is_agent {
        let owed = Owed::by(Serves::Agent { forwards: setup.forwards }, Some(setup.version()));
        play(Agent::new(&setup), owed, script);
    } else {
        let owed = Owed::by(setup.serves(), (!setup.is_closed).then(|| setup.version()));
        play(Editor::new(&setup), owed, script);
    }
}

/// One of the two that are spoken to.
trait Side {
    /// It hears a text; what it says to that.
    fn hear(&mut self, now: Time, text: &str) -> Vec<String>;

    /// Time passes; what it says.
    fn tick(&mut self, now: Time) -> Vec<String>;

    fn deadline(&self) -> Option<Time>;

    /// The result that its application answers with.
    fn result() -> Value;

    /// Its application answers one of the calls that it knows; what it says then.
    fn answer(&mut self, which: usize, fails: bool) -> Vec<String>;

    /// It ends, and answers whatever is open.
    fn shutdown(&mut self) -> Vec<String>;
}

fn play<S: Side>(mut side: S, mut owed: Owed, mut script: Unstructured<'_>) {
    let mut now = Time::ZERO;
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        let (said, upon) = match act {
            Act::Say(speech) => {
                let text = speech.text();
                owed.will_hear(&speech);
                (side.hear(now, &text), Upon::Words)
            }
            Act::Answer(which) => (side.answer(which.into(), false), Upon::Result(S::result())),
            Act::Fail(which) => (side.answer(which.into(), true), Upon::Failure(FAILURE)),
            Act::Wait(span) => {
                now = now.saturating_add(span.duration());
                (side.tick(now), Upon::Nothing)
            }
            Act::Due => {
                now = side.deadline().map_or(now, |due| due.max(now));
                (side.tick(now), Upon::Nothing)
            }
        };
        owed.said(&said, &upon);
    }
    owed.said(&side.shutdown(), &Upon::Nothing);
    owed.settle();
}

/// The code with which the application fails.
const FAILURE: i64 = -1;

fn initialize(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"first","method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"n","version":"1"}}}}}}"#
    )
}

/// An editor, with all layers down to the frames.
struct Editor {
    server: Server,
    calls: Vec<CallId>,
    /// How many bytes the first frame of a message has; with none the message is one.
    cut: u8,
    is_ending: bool,
}

impl Editor {
    fn new(setup: &Setup) -> Self {
        let mut config = server_config(setup.tools()).with_dialect(setup.dialect());
        // All that is said is looked at: nothing ends the connection, and there always is room for an answer.
        (config.mcp.limits.faults, config.ws.outgoing) = (usize::MAX - 1, usize::MAX);
        (config.ws.keepalive, config.mcp.keepalive) = (None, None);
        config.mcp.limits.open_calls = OPEN_CALLS;
        if setup.forwards {
            config.mcp.forward = Forward::Everything;
        }
        let server = Server::new(config, SessionId::new(1), Time::ZERO);
        let mut editor = Self { server, calls: Vec::new(), cut: setup.cut, is_ending: false };
        editor.server.feed(Time::ZERO, HEAD.as_bytes());
        while editor.server.poll_event().is_some() {}
        assert_eq!(
            editor.server.outgoing().escape_ascii().to_string(),
            ACCEPTED.as_bytes().escape_ascii().to_string()
        );
        editor.server.sent(ACCEPTED.len());
        if !setup.is_closed {
            let said = editor.hear(Time::ZERO, &initialize(setup.version()));
            assert!(matches!(&said[..], [only] if only.contains(setup.version())), "{said:?}");
            for text in [INITIALIZED, CONNECTED] {
                assert_eq!(editor.hear(Time::ZERO, text), [""; 0]);
            }
        }
        editor
    }

    /// Polls it to the end; what it says.
    fn settle(&mut self) -> Vec<String> {
        let mut said = Vec::new();
        loop {
            let event = self.server.poll_event();
            for frame in frames::read(self.server.outgoing()) {
                assert!(frame.key.is_none());
                match frame.first {
                    TEXT => said.push(frame.text()),
                    first => assert_eq!((first, self.is_ending), (CLOSE, true)),
                }
            }
            self.server.sent(self.server.outgoing().len());
            match event {
                Some(ServerEvent::Call(call)) => self.calls.push(call.id()),
                Some(ServerEvent::Direct { call, .. } | ServerEvent::Request { call, .. }) => {
                    self.calls.push(call)
                }
                Some(ServerEvent::Closed(why)) => assert!(self.is_ending, "{why}"),
                Some(_) => {}
                None => return said,
            }
        }
    }
}

impl Side for Editor {
    fn result() -> Value {
        json!({"content": [{"type": "text", "text": "yes"}], "isError": true})
    }

    fn hear(&mut self, now: Time, text: &str) -> Vec<String> {
        let bytes = text.as_bytes();
        let at = usize::from(self.cut).min(bytes.len());
        let (begin, end) = bytes.split_at(at);
        if self.cut == 0 {
            self.server.feed(now, &masked(TEXT, bytes));
        } else {
            // In two frames, wherever that is.
            self.server.feed(now, &[masked(TEXT & 0x7f, begin), masked(0x80, end)].concat());
        }
        self.settle()
    }

    fn tick(&mut self, now: Time) -> Vec<String> {
        self.server.tick(now);
        self.settle()
    }

    fn deadline(&self) -> Option<Time> {
        self.server.deadline()
    }

    fn answer(&mut self, which: usize, fails: bool) -> Vec<String> {
        let Some(call) = which.checked_rem(self.calls.len()).map(|at| self.calls.swap_remove(at)) else {
            return Vec::new();
        };
        // It may have ended by now. A failure is a result of every tool.
        let answered = if fails {
            self.server.call(call).fail(FAILURE, "no").is_ok()
        } else {
            self.server.call(call).respond(&ToolResult::error("yes")).is_ok()
        };
        let said = self.settle();
        assert_eq!(said.len(), usize::from(answered), "{said:?}");
        said
    }

    fn shutdown(&mut self) -> Vec<String> {
        self.is_ending = true;
        self.server.shutdown();
        self.settle()
    }
}

/// An agent, without frames.
struct Agent {
    client: Client,
    out: Messages,
    calls: Vec<CallId>,
}

impl Agent {
    fn new(setup: &Setup) -> Self {
        let mut config = ClientConfig::new(Implementation::new("a", "1"));
        // It asks nothing of its own accord.
        config.keepalive = None;
        config.limits.open_calls = OPEN_CALLS;
        if setup.forwards {
            config.forward = Forward::Everything;
        }
        let mut agent = Self {
            client: Client::new(config, SessionId::new(1)),
            out: Messages::default(),
            calls: Vec::new(),
        };
        agent.client.start(Time::ZERO, &mut agent.out).expect("it starts once");
        let asked: Value = serde_json::from_str(&agent.out.take().concat()).expect("one request");
        // Its version, in place of an answer to a request of the script.
        agent.hear(
            Time::ZERO,
            &json!({"jsonrpc": "2.0", "id": asked["id"], "result": {
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
        while let Some(event) = self.client.poll_event(&mut self.out) {
            if let Event::Request { call, .. } = event {
                self.calls.push(call);
            }
        }
        self.out.take()
    }
}

impl Side for Agent {
    fn result() -> Value {
        json!({})
    }

    fn hear(&mut self, now: Time, text: &str) -> Vec<String> {
        self.client.receive(now, text, &mut self.out);
        self.settle()
    }

    fn tick(&mut self, now: Time) -> Vec<String> {
        self.client.tick(now);
        self.settle()
    }

    fn deadline(&self) -> Option<Time> {
        self.client.deadline()
    }

    fn answer(&mut self, which: usize, fails: bool) -> Vec<String> {
        let Some(call) = which.checked_rem(self.calls.len()).map(|at| self.calls.swap_remove(at)) else {
            return Vec::new();
        };
        let answered = if fails {
            self.client.fail(call, FAILURE, "no", &mut self.out).is_ok()
        } else {
            self.client.respond_with(call, &json!({}), &mut self.out).is_ok()
        };
        let said = self.settle();
        assert_eq!(said.len(), usize::from(answered), "{said:?}");
        said
    }

    fn shutdown(&mut self) -> Vec<String> {
        self.client.shutdown("it ends", &mut self.out);
        self.settle()
    }
}
