//! Raw forwarding: messages that this crate does not model pass through in both directions and keep
//! their correlation. The tests put a bridge, made of a server and a client, between a client and a
//! server; neither notices the bridge.

use crate::support::CALL;
use std::{collections::BTreeMap, time::Duration};

use crate::mcp_support::{Bench, INITIALIZE, INITIALIZED, Messages, NEWEST, config};
use ide_mcp::{
    Time,
    mcp::{
        CallEnd, Client, ClientConfig, ClientEvent, Context, Forward, Implementation, LogLevel, Outcome,
        PromptSpec, RawTools, ResourceSpec, Served, Server, ServerConfig, ServerEvent, Timeout, ToolSpec,
        Tools,
    },
    rpc::{CallId, ErrorObject, RequestId, SessionId},
};
use serde::Deserializer;

/// A bridge. Its client forwards to the editor everything that its server receives, and the
/// reverse.
struct Bridge {
    server: Server<RawTools>,
    client: Client,
    /// `down`: the requests of the bridge's client, and the calls of the agent that they forward.
    /// `up`: the requests of the bridge's server, and the calls of the editor that they forward.
    down: BTreeMap<RequestId, CallId>,
    up: BTreeMap<RequestId, CallId>,
    to_agent: Messages,
    to_editor: Messages,
}

const LONG: Timeout = Timeout::Progress { idle: Duration::from_secs(60), total: Duration::from_secs(600) };

impl Bridge {
    /// Returns a bridge with both sessions open.
    fn open() -> Self {
        let mut server = ServerConfig::new(Implementation::new("bridge", "1"));
        server.forward = Forward::All;
        let mut client = ClientConfig::new(Implementation::new("bridge", "1"));
        client.forward = Forward::Unmodelled;
        let mut bridge = Self {
            server: Server::new(server, RawTools(vec![]), SessionId::new(1)),
            client: Client::new(client, SessionId::new(2)),
            down: BTreeMap::new(),
            up: BTreeMap::new(),
            to_agent: Messages::default(),
            to_editor: Messages::default(),
        };
        bridge.agent_sends(INITIALIZE);
        bridge.agent_sends(INITIALIZED);
        bridge.client.start(Time::ZERO, &mut bridge.to_editor).unwrap();
        bridge.editor_sends(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#);
        bridge.to_agent.take();
        bridge.to_editor.take();
        bridge
    }

    /// Receives a message from the agent. Returns the messages that the bridge then sends to the
    /// agent and to the editor.
    fn agent_sends(&mut self, text: &str) -> (Vec<String>, Vec<String>) {
        self.server.receive(Time::ZERO, text, &mut self.to_agent);
        self.work();
        (self.to_agent.take(), self.to_editor.take())
    }

    fn editor_sends(&mut self, text: &str) -> (Vec<String>, Vec<String>) {
        self.client.receive(Time::ZERO, text, &mut self.to_editor);
        self.work();
        (self.to_agent.take(), self.to_editor.take())
    }

    fn work(&mut self) {
        while let Some(event) = self.server.poll(Time::ZERO, &mut self.to_agent) {
            match event {
                ServerEvent::Request { call, method, params } => {
                    let pending = self.client.request(&method, params.as_deref(), LONG, &mut self.to_editor);
                    self.down.insert(pending.unwrap(), call);
                }
                ServerEvent::CallEnded { call, reason: CallEnd::Cancelled { reason } } => {
                    let (request, _) = self.down.iter().find(|(_, waiting)| **waiting == call).unwrap();
                    self.client.cancel(*request, reason.as_deref(), &mut self.to_editor);
                }
                ServerEvent::Notification { method, params } => {
                    self.client.notify(&method, params.as_deref(), &mut self.to_editor).unwrap();
                }
                ServerEvent::Outcome { request, outcome } => {
                    if let Some(call) = self.up.remove(&request) {
                        match outcome {
                            Outcome::Result(result) => {
                                self.client.respond_with(call, &result, &mut self.to_editor)
                            }
                            Outcome::Error(error) => self.client.fail(call, error, &mut self.to_editor),
                            other => panic!("{other:?}"),
                        }
                        .unwrap();
                    }
                }
                ServerEvent::Ready | ServerEvent::PeerFault(_) => {}
                other => panic!("{other:?}"),
            }
        }
        while let Some(event) = self.client.poll(Time::ZERO, &mut self.to_editor) {
            match event {
                ClientEvent::Request { call, method, params } => {
                    let pending =
                        self.server.request(&method, params.as_deref(), Timeout::Default, &mut self.to_agent);
                    self.up.insert(pending.unwrap(), call);
                }
                ClientEvent::Progress { request, progress } => {
                    let call = self.down.get(&request).unwrap();
                    self.server.progress(*call, &progress, &mut self.to_agent).unwrap();
                }
                ClientEvent::Notification { method, params } => {
                    self.server.notify(&method, params.as_deref(), &mut self.to_agent).unwrap();
                }
                ClientEvent::Outcome { request, outcome } => {
                    let call = self.down.remove(&request).unwrap();
                    let _ = match outcome {
                        Outcome::Result(result) => {
                            self.server.respond_with(call, &result, &mut self.to_agent)
                        }
                        Outcome::Error(error) => self.server.fail(call, error, &mut self.to_agent),
                        _ => continue,
                    };
                }
                ClientEvent::Ready | ClientEvent::PeerFault(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

fn nothing() -> Vec<String> {
    Vec::new()
}

#[test]
fn bridge_forwards_everything_under_its_own_ids() {
    let mut bridge = Bridge::open();
    for method in ["x/raw", "tools/call", "tools/list", "resources/list"] {
        let down = bridge.agent_sends(&format!(
            r#"{{"jsonrpc":"2.0","id":"é-7.0","method":"{method}","params":{{"b":[1.50, "\u00e9"],"_meta":{{"progressToken":"t","x":1}},"a":{{}}}}}}"#
        ));
        let id = bridge.down.keys().next().copied().unwrap();
        let serial: u64 = down.1[0].split([':', ',']).nth(3).unwrap().parse().unwrap();
        assert_eq!(
            down,
            (
                nothing(),
                vec![format!(
                    r#"{{"jsonrpc":"2.0","id":{serial},"method":"{method}","params":{{"b":[1.50, "\u00e9"],"a":{{}},"_meta":{{"x":1,"progressToken":{serial}}}}}}}"#
                )]
            ),
            "the parameters pass through unchanged, but for the token, which is the bridge's"
        );
        let progress = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{serial},"progress":0.5,"message":"m"}}}}"#
        );
        assert_eq!(
            bridge.editor_sends(&progress).0,
            [
                r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.5,"message":"m"}}"#
            ]
        );
        let up =
            bridge.editor_sends(&format!(r#"{{"jsonrpc":"2.0","id":{serial},"result":{{"x": [1.0]}}}}"#));
        assert_eq!(up, (vec![r#"{"jsonrpc":"2.0","id":"é-7.0","result":{"x": [1.0]}}"#.into()], nothing()));
        assert!(!bridge.down.contains_key(&id));
    }
}

#[test]
fn bridge_forwards_error_data_and_cancellations() {
    let mut bridge = Bridge::open();
    let down = bridge.agent_sends(r#"{"jsonrpc":"2.0","id":5,"method":"x/fails"}"#).1;
    assert_eq!(
        down,
        [r#"{"jsonrpc":"2.0","id":2,"method":"x/fails","params":{"_meta":{"progressToken":2}}}"#]
    );
    let error = r#""error":{"code":-32042,"message":"m","data":{"a": 1}}}"#;
    let up = bridge.editor_sends(&format!(r#"{{"jsonrpc":"2.0","id":2,{error}"#)).0;
    assert_eq!(up, [format!(r#"{{"jsonrpc":"2.0","id":5,{error}"#)]);

    bridge.agent_sends(r#"{"jsonrpc":"2.0","id":6,"method":"x/waits"}"#);
    let cancel = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"r"}}}}"#
        )
    };
    assert_eq!(bridge.agent_sends(&cancel(6)), (nothing(), vec![cancel(3)]));
    assert_eq!(
        bridge.editor_sends(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#),
        (nothing(), nothing()),
        "the late answer is dropped"
    );
}

#[test]
fn bridge_forwards_requests_of_the_editor() {
    let mut bridge = Bridge::open();
    let pending = bridge.editor_sends(
        r#"{"jsonrpc":"2.0","id":"s","method":"sampling/createMessage","params":{"maxTokens":1}}"#,
    );
    assert_eq!(
        pending,
        (
            vec![
                r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"maxTokens":1}}"#
                    .into()
            ],
            nothing()
        )
    );
    let answered = bridge.agent_sends(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#);
    assert_eq!(
        answered,
        (nothing(), vec![r#"{"jsonrpc":"2.0","id":"s","error":{"code":-1,"message":"no"}}"#.into()])
    );
    for (input, to_agent) in [("x/one", true), ("x/two", false)] {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"{input}","params":{{"a": 1}}}}"#);
        let received = if to_agent { bridge.editor_sends(&text).0 } else { bridge.agent_sends(&text).1 };
        assert_eq!(received, [text]);
    }
}

fn forwarding(forward: Forward) -> Bench {
    let mut config = config();
    config.forward = forward;
    Bench::opened(config, NEWEST)
}

#[test]
fn unforwarded_methods_are_answered_at_once() {
    let named = || {
        Forward::Methods(vec![
            "prompts/list".into(),
            "tools/list".into(),
            "ping".into(),
            "server/discover".into(),
        ])
    };
    // The methods, and whether `Nothing`, the named methods, `Everything` and `All` forward them.
    let rows = [
        ("x/y", [false, false, true, true]),
        ("prompts/list", [false, true, true, true]),
        ("logging/setLevel", [false, false, true, true]),
        ("tools/list", [false, true, false, true]),
        ("tools/call", [false, false, false, true]),
        ("ping", [false; 4]),
        ("server/discover", [false; 4]),
        ("initialize", [false; 4]),
    ];
    for (method, forwarded) in rows {
        let all = [Forward::Nothing, named(), Forward::Unmodelled, Forward::All];
        for (forward, expected) in all.into_iter().zip(forwarded) {
            let mut bench = forwarding(forward.clone());
            let sent = bench.ask("5", method);
            assert_eq!(sent.is_empty(), expected, "{method} with {forward:?}: {sent:?}");
            let events = bench.events();
            assert_eq!(
                events == [format!("request {method}")],
                expected,
                "{method} with {forward:?}: {events:?}"
            );
        }
    }
}

#[test]
fn change_after_forwarded_list_is_announced() {
    let mut bench = forwarding(Forward::All);
    let change = |bench: &mut Bench, tool: &'static str| {
        bench.server.tools_mut().add(tool);
        bench.server.tools_list_changed(&mut bench.out)
    };
    for (first, second, id) in [("a", "b", "5"), ("c", "d", "6")] {
        assert_eq!(change(&mut bench, first), Ok(true), "{first}");
        assert_eq!(change(&mut bench, second), Ok(false), "{second}: one notification until the list");
        bench.ask(id, "tools/list");
        assert_eq!(bench.events(), ["request tools/list"]);
    }
}

#[test]
fn forwarded_call_of_a_known_tool_is_a_request() {
    for (forward, event) in [(Forward::All, "request tools/call"), (Forward::Nothing, "call Plain")] {
        let mut bench = forwarding(forward);
        for id in [5, 6] {
            bench.receive(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"plain","arguments":{{}}}}}}"#
            ));
            assert_eq!(bench.events(), [event]);
        }
    }
}

#[test]
fn level_of_the_log_is_not_forwarded_with_everything_else() {
    let mut config = config();
    (config.forward, config.logging) = (Forward::Unmodelled, Some(LogLevel::Info));
    let mut bench = Bench::opened(config, NEWEST);
    let answers =
        bench.receive(r#"{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}"#);
    assert_eq!((answers.len(), bench.events().len()), (1, 0), "{answers:?}");
    let mut bench = forwarding(Forward::Unmodelled);
    bench.ask("5", "logging/setLevel");
    assert_eq!(bench.events(), ["request logging/setLevel"], "without a log");
}

#[test]
fn change_after_forwarded_context_list_is_announced() {
    let prompts = |name: &'static str| Context::new().prompt(PromptSpec::new(name, ""));
    let resources = |name: &'static str| Context::new().resource(ResourceSpec::new(name, ""));
    let rows: [(&str, &dyn Fn(&'static str) -> Context); 2] =
        [("prompts/list", &prompts), ("resources/list", &resources)];
    for (method, of) in rows {
        let mut config = config();
        (config.forward, config.context) = (Forward::All, of("a").into());
        let mut bench = Bench::opened(config, NEWEST);
        for (id, first, second) in [("5", "b", "c"), ("6", "d", "e")] {
            bench.ask(id, method);
            assert_eq!(bench.events(), [format!("request {method}")]);
            for (name, is_announced) in [(first, true), (second, false)] {
                bench.server.set_context(of(name));
                assert_eq!(bench.server.context_changed(&mut bench.out), Ok(is_announced), "{method} {name}");
            }
        }
    }
}

/// The tools of another server: `end` is answered at once, the others later.
struct Ending;

impl Tools for Ending {
    type Call = ();

    fn specs(&self) -> &[ToolSpec] {
        &[]
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, _: D) -> Result<(), D::Error> {
        panic!("{name} is forwarded")
    }

    fn check(&self, name: &str) -> Result<Served, ErrorObject> {
        Ok(if name == "end" { Served::AtOnce } else { Served::Later })
    }
}

#[test]
fn forwarded_instant_calls_fit_beside_waiting_calls() {
    let mut config = ServerConfig::new(Implementation::new("bridge", "1"));
    config.forward = Forward::All;
    config.at_once = vec!["x/at_once".into()];
    config.limits.open_calls = 2;
    let mut out = Messages::default();
    let mut server = Server::new(config, Ending, SessionId::new(1));
    let mut ask_by = |method: &str, id: u32, name: &str| {
        let params = format!(r#"{{"arguments":{{}},"name":"{name}"}}"#);
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        for text in [INITIALIZE, INITIALIZED, &text].into_iter().skip(if id == 0 { 0 } else { 2 }) {
            server.receive(Time::ZERO, text, &mut out);
        }
        let mut events = std::iter::from_fn(|| server.poll(Time::ZERO, &mut out));
        let is_let_in = events.any(|event| matches!(event, ServerEvent::Request { .. }));
        let input = out.take();
        let is_refused = input.iter().any(|answer| answer.contains("-32603"));
        assert_ne!(is_let_in, is_refused, "{name}: {input:?}");
        is_let_in
    };
    assert!(ask_by("tools/call", 0, "wait") && ask_by("tools/call", 1, "end"));
    assert!(!ask_by("x/own", 2, "end"), "another method has no tool");
    assert!(ask_by("x/at_once", 70, ""), "a method that is answered at once");
    let mut ask = |id: u32, name: &str| ask_by("tools/call", id, name);
    assert!(!ask(2, "wait"), "the table is full");
    for id in 3..66 {
        assert!(ask(id, "end"), "{id}");
    }
    assert!(!ask(66, "end"), "64 calls that are answered at once fit beside the full table");
}

#[test]
fn unanswered_forwarded_request_ends_with_an_error() {
    let mut bench = forwarding(Forward::Unmodelled);
    bench.ask("5", "x/y");
    bench.events();
    let (events, sent) = bench.at(CALL);
    assert_eq!(events, ["ended Expired"]);
    assert_eq!(
        sent,
        [format!(
            r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":-32603,"message":"no answer to this call within {:?}"}}}}"#,
            Timeout::CALL
        )]
    );
    bench.ask("6", "x/y");
    bench.server.shutdown("going", &mut bench.out);
    assert_eq!(bench.out.take(), [r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32603,"message":"going"}}"#]);
}
