//! What the session tests share: an outbox that keeps lines, tools with each kind of timeout, a server and a client.

use std::time::Duration;

use ide_mcp::Keepalive;
pub use ide_mcp::testing::Messages;
use ide_mcp::{
    Time,
    mcp::{
        CallEnd, Client, ClientConfig, ClientEvent, Implementation, Outcome, PeerFault, Served, Server,
        ServerConfig, ServerEvent, ServerInfo, Timeout, ToolSpec, Tools,
    },
    rpc::{CallId, ErrorObject, SessionId},
};
use serde::{Deserialize, Deserializer};

/// Tools with each kind of timeout. A call has the name of its tool; `typed` requires
/// `{"n": number}`.
pub struct TestTools(Vec<ToolSpec>);

#[derive(Debug, PartialEq, Eq)]
pub enum TestCall {
    Plain,
    Never,
    Soon,
    SoonWithoutResult,
    SoonWithBadResult,
    SoonWithList,
    Typed(u32),
}

#[derive(Deserialize)]
struct Any {}

#[derive(Deserialize)]
struct Typed {
    n: u32,
}

impl Default for TestTools {
    fn default() -> Self {
        Self(vec![
            ToolSpec::new("plain", "does nothing", r#"{"type":"object"}"#),
            ToolSpec::new("typed", "", "{}"),
        ])
    }
}

impl TestTools {
    /// Adds a tool to the list.
    pub fn add(&mut self, name: &'static str) {
        self.0.push(ToolSpec::new(name, "", "{}"));
    }
}

impl Tools for TestTools {
    type Call = TestCall;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        match name {
            "plain"
            | "never"
            | "soon"
            | "soon_without_result"
            | "soon_with_bad_result"
            | "soon_with_list"
            | "typed" => Ok(Served::Later),
            _ => Err(ErrorObject::invalid_params(format!("tool {name} not found"))),
        }
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<TestCall, D::Error> {
        if name == "typed" {
            return Typed::deserialize(arguments).map(|typed| TestCall::Typed(typed.n));
        }
        Any::deserialize(arguments)?;
        Ok(match name {
            "never" => TestCall::Never,
            "soon" => TestCall::Soon,
            "soon_without_result" => TestCall::SoonWithoutResult,
            "soon_with_bad_result" => TestCall::SoonWithBadResult,
            "soon_with_list" => TestCall::SoonWithList,
            _ => TestCall::Plain,
        })
    }

    fn timeout(&self, call: &TestCall) -> Timeout {
        match call {
            TestCall::Plain | TestCall::Typed(_) => Timeout::Default,
            TestCall::Never => Timeout::Never,
            TestCall::Soon
            | TestCall::SoonWithoutResult
            | TestCall::SoonWithBadResult
            | TestCall::SoonWithList => Timeout::After(Duration::from_millis(400)),
        }
    }

    fn result_when_late(&self, call: &TestCall) -> Option<&'static str> {
        match call {
            TestCall::Soon => Some(r#" {"content":[]}"#),
            TestCall::SoonWithBadResult => Some(r#"{"content":"#),
            TestCall::SoonWithList => Some(r#"[{"content":[]}]"#),
            TestCall::Plain | TestCall::Typed(_) | TestCall::Never | TestCall::SoonWithoutResult => None,
        }
    }
}

/// A server and its output.
pub struct Bench {
    pub server: Server<TestTools>,
    pub out: Messages,
    pub now: Time,
}

/// The version that [`INITIALIZE`] offers.
pub const NEWEST: &str = "2025-11-25";
pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"agent","version":"2"}}}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

pub fn config() -> ServerConfig {
    ServerConfig::new(Implementation::new("editor", "1"))
}

impl Bench {
    pub fn new() -> Self {
        Self::with(config())
    }

    pub fn with(config: ServerConfig) -> Self {
        Self::numbered(config, 1)
    }

    pub fn numbered(config: ServerConfig, session: u64) -> Self {
        let server = Server::new(config, TestTools::default(), SessionId::new(session));
        Self { server, out: Messages::default(), now: Time::ZERO }
    }

    pub fn initializing() -> Self {
        let mut bench = Self::new();
        bench.receive(INITIALIZE);
        bench
    }

    /// Returns a server that a client of this version has opened.
    pub fn opened(config: ServerConfig, version: &str) -> Self {
        let mut bench = Self::with(config);
        bench.receive(&INITIALIZE.replace(NEWEST, version));
        bench.receive(INITIALIZED);
        assert_eq!(bench.events(), ["ready"]);
        bench
    }

    pub fn ready() -> Self {
        Self::opened(config(), NEWEST)
    }

    /// Returns a server that is ready and pings its client.
    pub fn pinging() -> Self {
        let mut config = config();
        config.keepalive = Some(Keepalive::JSON_RPC);
        Self::opened(config, NEWEST)
    }

    /// Receives a message. Returns the answers that the server sends at once.
    pub fn receive(&mut self, text: &str) -> Vec<String> {
        self.server.receive(self.now, text, &mut self.out);
        self.out.take()
    }

    /// Receives a request. Returns the answers that the server sends at once. `id` is a token.
    pub fn ask(&mut self, id: &str, method: &str) -> Vec<String> {
        self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#))
    }

    /// Receives a call of a tool, which the server must accept.
    pub fn call(&mut self, id: &str, name: &str) -> CallId {
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}"}}}}"#);
        assert_eq!(self.receive(&text), [""; 0], "{name}");
        match self.poll() {
            Some(ServerEvent::Call { call, .. }) => call,
            other => panic!("{name}: {other:?}"),
        }
    }

    /// Cancels the request with this id, which is a token.
    pub fn cancel(&mut self, token: &str) -> Vec<String> {
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{token},"reason":"why"}}}}"#
        ))
    }

    pub fn poll(&mut self) -> Option<ServerEvent<TestCall>> {
        self.server.poll(self.now, &mut self.out)
    }

    /// Returns all events, one line each.
    pub fn events(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.poll()).map(|event| describe(&event)).collect()
    }

    /// Advances the time to `millis` after the start. Returns the events and the messages that the
    /// server sends.
    pub fn at(&mut self, millis: u64) -> (Vec<String>, Vec<String>) {
        self.now = Time::from_millis(millis);
        let events = self.events();
        (events, self.out.take())
    }
}

/// A client and its output.
pub struct Agent {
    pub client: Client,
    pub out: Messages,
    pub now: Time,
}

/// The answer to the `initialize` of [`Agent`].
pub const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"editor","version":"1"},"instructions":"be kind"}}"#;

pub fn client_config() -> ClientConfig {
    ClientConfig::new(Implementation::new("agent", "2"))
}

impl Agent {
    pub fn new() -> Self {
        Self::with(client_config())
    }

    pub fn with(config: ClientConfig) -> Self {
        Self { client: Client::new(config, SessionId::new(1)), out: Messages::default(), now: Time::ZERO }
    }

    pub fn negotiating() -> Self {
        let mut agent = Self::new();
        agent.client.start(agent.now, &mut agent.out).unwrap();
        agent.out.take();
        agent
    }

    pub fn ready() -> Self {
        let mut agent = Self::negotiating();
        agent.receive(HELLO);
        assert_eq!(agent.events(), ["ready editor 2025-11-25"]);
        agent
    }

    pub fn receive(&mut self, text: &str) -> Vec<String> {
        self.client.receive(self.now, text, &mut self.out);
        self.out.take()
    }

    pub fn events(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(event) = self.client.poll(self.now, &mut self.out) {
            events.push(describe_of_client(&event, self.client.server()));
        }
        events
    }

    pub fn at(&mut self, millis: u64) -> (Vec<String>, Vec<String>) {
        self.now = Time::from_millis(millis);
        let events = self.events();
        (events, self.out.take())
    }
}

fn describe_of_client(event: &ClientEvent, server: Option<&ServerInfo>) -> String {
    match event {
        ClientEvent::Ready => {
            let server = server.unwrap();
            let name = server.info.as_ref().map_or("-", |info| info.name.as_str());
            format!("ready {name} {}", server.protocol_version)
        }
        ClientEvent::Failed(failure) => format!("failed: {failure}"),
        ClientEvent::Outcome { outcome, .. } => outcome_text(outcome),
        ClientEvent::Notification { method, params } => {
            format!("notification {method} {}", params.as_ref().map_or("-", |p| p.get()))
        }
        ClientEvent::PeerError(error) => format!("peer error {error}"),
        ClientEvent::PeerFault(violation) => violation_text(violation),
        ClientEvent::CallEnded { reason: how, .. } => format!("ended {how:?}"),
        ClientEvent::TooManyFaults => "too many faults".into(),
        other => panic!("unknown event {other:?}"),
    }
}

fn describe(event: &ServerEvent<TestCall>) -> String {
    match event {
        ServerEvent::Ready => "ready".into(),
        ServerEvent::ToolsListed => "tools listed".into(),
        ServerEvent::Call { tool, .. } => format!("call {tool:?}"),
        ServerEvent::GetPrompt { prompt, .. } => format!("prompt {}", prompt.name),
        ServerEvent::ReadResource { resource, .. } => format!("resource {}", resource.uri),
        ServerEvent::CallEnded { reason: CallEnd::Cancelled { reason }, .. } => {
            format!("ended Cancelled {}", reason.as_deref().unwrap_or("-"))
        }
        ServerEvent::CallEnded { reason: how, .. } => format!("ended {how:?}"),
        ServerEvent::Notification { method, params } => {
            format!("notification {method} {}", params.as_ref().map_or("-", |p| p.get()))
        }
        ServerEvent::Outcome { outcome, .. } => outcome_text(outcome),
        ServerEvent::PeerError(error) => format!("peer error {error}"),
        ServerEvent::PeerFault(violation) => violation_text(violation),
        ServerEvent::TooManyFaults => "too many faults".into(),
        ServerEvent::PingTimeout => "unresponsive".into(),
        ServerEvent::Request { method, .. } => format!("request {method}"),
        ServerEvent::Progress { progress, .. } => format!("progress {}", progress.progress),
        other => panic!("unknown event {other:?}"),
    }
}

fn violation_text(violation: &PeerFault) -> String {
    match violation {
        PeerFault::Message(violation) => format!("violation {violation:?}"),
        other => format!("violation {other:?}"),
    }
}

fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Result(result) => format!("result {}", result.get()),
        Outcome::Error(error) => format!("error {error}"),
        other => format!("outcome {other:?}"),
    }
}
