//! Scripts for a client session: what a server says, what the application does, what the clock does, in any order.

use super::ledger::Ledger;
use ide_mcp::Time;
use ide_mcp::mcp::{
    Client, ClientConfig, ClientEvent, Failure, Implementation, Outcome, ProtocolVersion, Timeout,
};
use ide_mcp::rpc::{Limits, Message, RequestId, SendError, SessionId, classify};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Messages, Said, Span};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Arbitrary, Debug)]
enum Act {
    Hear(Said),
    /// The handshake as it should be.
    Open,
    Start,
    /// A response to a request of ours.
    Answer(u8, Kind),
    Wait(Span),
    Due,
    Poll,
    Ask(Patience),
    Call,
    List,
    Ping,
    Cancel(u8),
    Notify,
    Full(bool),
    Close(u8),
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Result,
    Text,
    Error,
    Nothing,
}

#[derive(Arbitrary, Debug)]
enum Patience {
    Default,
    Never,
    After(Span),
}

/// Every request of ours has one outcome, those of the server have one answer each, a request is cancelled at most once
/// and the handshake never, nothing grows, and silence after the end.
pub fn mcp_client_script(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let mut run = Run::new();
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        run.play(&act);
    }
    run.close();
}

struct Run {
    client: Client,
    limits: Limits,
    out: Messages,
    now: Time,
    ledger: Ledger,
    requests: BTreeMap<RequestId, usize>,
    /// Ids that went out, each with how often it was cancelled. The first is that of the handshake.
    sent: BTreeMap<u64, usize>,
    /// How the handshake ended, if it did.
    ready: usize,
    failed: usize,
    started: bool,
    closed: bool,
}

/// Small, so that they are reached.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.requests = 4;
    limits
}

impl Run {
    fn new() -> Self {
        let mut config = ClientConfig::new(Implementation::new("c", "1"));
        config.limits = limits();
        Self {
            client: Client::new(config, SessionId::new(1)),
            limits: limits(),
            out: Messages::default(),
            now: Time::ZERO,
            ledger: Ledger::default(),
            requests: BTreeMap::new(),
            sent: BTreeMap::new(),
            ready: 0,
            failed: 0,
            started: false,
            closed: false,
        }
    }

    fn play(&mut self, act: &Act) {
        match act {
            Act::Hear(said) => self.hear(said.text()),
            Act::Open => {
                self.start();
                self.hear(
                    r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
                );
            }
            Act::Start => self.start(),
            Act::Answer(id, kind) => {
                let answer = match kind {
                    Kind::Result => r#""result":{"tools":[]}"#,
                    Kind::Text => r#""result":"x""#,
                    Kind::Error => r#""error":{"code":1,"message":"m"}"#,
                    Kind::Nothing => r#""result":{},"error":{"code":1,"message":"m"}"#,
                };
                self.hear(&format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, id % 16));
            }
            Act::Wait(span) => self.tick(self.now.after(span.duration())),
            Act::Due => self.tick(self.client.deadline().unwrap_or(self.now)),
            Act::Poll => self.settle(),
            Act::Ask(patience) => {
                let timeout = match patience {
                    Patience::Default => Timeout::Default,
                    Patience::Never => Timeout::Never,
                    Patience::After(span) => Timeout::After(span.duration()),
                };
                let asked =
                    self.client.request("x/ask", Some(&BTreeMap::from([("a", 1)])), timeout, &mut self.out);
                self.asked(asked);
            }
            Act::Call => {
                let asked = self.client.call_tool("t", &(), Timeout::Default, &mut self.out);
                self.asked(asked);
            }
            Act::List => {
                let asked = self.client.list_tools(&mut self.out);
                self.asked(asked);
            }
            Act::Ping => {
                let asked = self.client.request("ping", None::<&()>, Timeout::Default, &mut self.out);
                self.asked(asked);
            }
            Act::Cancel(which) => {
                let Some(request) = self.requests.keys().nth(usize::from(*which)).copied() else { return };
                let waited = self.client.cancel(request, None, &mut self.out);
                assert_eq!(
                    self.said(),
                    usize::from(waited),
                    "a request is cancelled once, and the server told"
                );
            }
            Act::Notify => {
                let sent = self.client.notify("x/said", None::<&()>, &mut self.out);
                assert_eq!(self.said(), usize::from(sent.is_ok()));
                assert!(sent.is_err() || self.client.is_ready() && !self.out.full);
            }
            Act::Full(full) => self.out.full = *full,
            Act::Close(0..=31) => {
                self.client.close();
                self.closed = true;
            }
            Act::Close(_) => {}
        }
    }

    fn start(&mut self) {
        let started = self.client.start(self.now, &mut self.out).is_ok();
        assert!(!started || !self.started, "it starts once");
        self.started |= started;
        assert_eq!(self.said(), usize::from(started));
    }

    fn asked(&mut self, asked: Result<RequestId, SendError>) {
        assert_eq!(self.said(), usize::from(asked.is_ok()), "{asked:?}");
        match asked {
            Ok(request) => assert_eq!(self.requests.insert(request, 0), None, "a handle comes once"),
            Err(SendError::TooManyInFlight) => assert!(self.requests.len() + 1 >= self.limits.requests),
            Err(error) => assert!(self.out.full || !self.client.is_ready(), "{error}"),
        }
    }

    fn hear(&mut self, text: &str) {
        let batches = self.client.protocol_version() == Some(ProtocolVersion::V2025_03_26);
        self.client.receive(self.now, text, &mut self.out);
        let sent = self.note();
        if self.closed {
            assert!(sent.is_empty(), "after the end: {sent:?}");
            return;
        }
        let heard = self.ledger.heard(text, &self.limits, batches, &sent);
        assert!(heard.open.is_empty(), "{text} is never answered");
    }

    fn tick(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.client.tick(self.now);
        self.settle();
        let deadline = self.client.deadline();
        assert!(
            deadline.is_none_or(|due| due > self.now) || self.now == Time::new(Duration::MAX),
            "{deadline:?}"
        );
    }

    fn settle(&mut self) {
        while let Some(event) = self.client.poll_event(&mut self.out) {
            self.said();
            match event {
                ClientEvent::Outcome { request, outcome } => {
                    let outcomes = self.requests.get_mut(&request).expect("we asked that");
                    *outcomes += 1;
                    assert_eq!(*outcomes, 1, "{outcome:?}");
                    assert!(self.closed || !matches!(outcome, Outcome::Closed));
                }
                ClientEvent::Ready(_) => self.ready += 1,
                ClientEvent::Failed(failure) => {
                    assert!(self.closed || !matches!(failure, Failure::Closed));
                    self.failed += 1;
                }
                _ => {}
            }
        }
    }

    /// What was said beside what a text provoked; how many messages it was.
    fn said(&mut self) -> usize {
        let sent = self.note();
        self.ledger.said(&sent);
        sent.len()
    }

    /// Notes what requests and cancellations went out.
    fn note(&mut self) -> Vec<String> {
        let sent = self.out.take();
        for message in &sent {
            match classify(message, &Limits::default()) {
                Message::Request { id, .. } => {
                    let id = super::ledger::token(&id).parse().expect("ours are numbers");
                    assert_eq!(self.sent.insert(id, 0), None, "an id is used once: {message}");
                }
                Message::Notification { method, params } if method == "notifications/cancelled" => {
                    let params: serde_json::Value = serde_json::from_str(params.unwrap().get()).unwrap();
                    let id = params["requestId"].as_u64().unwrap();
                    let cancelled =
                        self.sent.get_mut(&id).unwrap_or_else(|| panic!("{message} names nothing"));
                    *cancelled += 1;
                    assert!(id != 1 && *cancelled == 1, "{message}");
                }
                _ => {}
            }
        }
        sent
    }

    fn close(&mut self) {
        self.client.close();
        self.closed = true;
        self.settle();
        self.ledger.is_settled();
        assert!(self.requests.values().all(|outcomes| *outcomes == 1), "{:?}", self.requests);
        assert_eq!(self.ready + self.failed, usize::from(self.started), "the handshake ends once");
        self.hear(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        self.tick(self.now.after(Duration::from_secs(3600)));
        self.start();
        assert_eq!(self.client.deadline(), None);
        assert!(!self.client.is_ready());
    }
}
