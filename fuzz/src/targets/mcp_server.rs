//! Scripts for a server session: what a client says, what the application does, what the clock does, in any order.

use super::ledger::Ledger;
use ide_mcp::Time;
use ide_mcp::mcp::{
    CallEnd, Implementation, Outcome, Patience, ProtocolVersion, Server, ServerConfig, ServerEvent, Timeout,
    ToolResult, ToolSpec, Tools,
};
use ide_mcp::rpc::{CallId, Gone, Limits, RequestId, SendError, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Messages, Said, Span};
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

#[derive(Arbitrary, Debug)]
enum Act {
    Hear(Said),
    Open,
    Wait(Span),
    Due,
    Poll,
    Respond(u8),
    Fail(u8),
    /// A response to a request of ours.
    Answer(u8),
    Request,
    Cancel(u8),
    Notify,
    ListChanged,
    Full(bool),
    End(End),
}

#[derive(Arbitrary, Debug)]
enum End {
    Not,
    NotYet,
    Drain,
    ShutDown,
    Close,
}

/// Every request ends once, nothing else is answered, nothing grows, the clock moves on, and silence after the end.
pub fn mcp_server_script(data: &[u8]) {
    let mut script = Unstructured::new(data);
    let mut run = Run::new();
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        run.play(act);
    }
    run.close();
}

struct Run {
    server: Server<Patiences>,
    limits: Limits,
    out: Messages,
    now: Time,
    ledger: Ledger,
    /// Ids of calls whose event has not been polled.
    unpolled: VecDeque<String>,
    /// All calls ever: the id, and how it ended.
    calls: Vec<(CallId, String, Option<Gone>)>,
    requests: BTreeMap<RequestId, usize>,
    closed: bool,
}

/// Small, so that they are reached.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.open_calls, limits.requests) = (4, 3);
    limits
}

impl Run {
    fn new() -> Self {
        let mut config = ServerConfig::new(Implementation::new("s", "1"));
        config.limits = limits();
        Self {
            server: Server::new(config, Patiences::new(), SessionId::new(1)),
            limits: limits(),
            out: Messages::default(),
            now: Time::ZERO,
            ledger: Ledger::default(),
            unpolled: VecDeque::new(),
            calls: Vec::new(),
            requests: BTreeMap::new(),
            closed: false,
        }
    }

    fn play(&mut self, act: Act) {
        match act {
            Act::Hear(said) => self.hear(said.text()),
            Act::Open => {
                self.hear(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#);
                self.hear(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            }
            Act::Wait(span) => self.tick(self.now.after(span.duration())),
            Act::Due => self.tick(self.server.deadline().unwrap_or(self.now)),
            Act::Poll => self.settle(),
            Act::Respond(which) => self.respond(which, false),
            Act::Fail(which) => self.respond(which, true),
            Act::Answer(which) => {
                self.hear(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, which % 8));
            }
            Act::Request => self.request(),
            Act::Cancel(which) => {
                let Some(request) = self.requests.keys().nth(usize::from(which)).copied() else { return };
                let waited = self.server.cancel(request, Some("why"), &mut self.out);
                assert_eq!(
                    self.said(),
                    usize::from(waited),
                    "a request is cancelled once, and the client told"
                );
            }
            Act::Notify => {
                let sent = self.server.notify("x/said", None::<&()>, &mut self.out);
                assert_eq!(self.said(), usize::from(sent.is_ok()));
                assert!(sent.is_err() || self.server.is_ready() && !self.out.full);
            }
            Act::ListChanged => {
                let told = self.server.tools_list_changed(&mut self.out);
                assert_eq!(self.said(), usize::from(told == Ok(true)));
            }
            Act::Full(full) => self.out.full = full,
            Act::End(End::Not | End::NotYet) => {}
            Act::End(End::Drain) => self.server.drain(),
            Act::End(End::ShutDown) => {
                self.server.shut_down("over", &mut self.out);
                self.said();
                assert_eq!(self.server.open_calls(), 0);
            }
            Act::End(End::Close) => {
                self.server.close();
                self.closed = true;
            }
        }
        assert!(self.server.open_calls() <= self.limits.open_calls);
    }

    fn hear(&mut self, text: &str) {
        let batches = self.server.protocol_version() == Some(ProtocolVersion::V2025_03_26);
        self.server.receive(self.now, text, &mut self.out);
        let sent = self.out.take();
        if self.closed {
            assert!(sent.is_empty(), "after the end: {sent:?}");
            return;
        }
        self.unpolled.extend(self.ledger.heard(text, &self.limits, batches, &sent).open);
    }

    fn tick(&mut self, at: Time) {
        self.now = self.now.max(at);
        self.server.tick(self.now);
        self.settle();
        let deadline = self.server.deadline();
        assert!(
            deadline.is_none_or(|due| due > self.now) || self.now == Time::new(Duration::MAX),
            "{deadline:?}"
        );
    }

    fn settle(&mut self) {
        while let Some(event) = self.server.poll_event(&mut self.out) {
            self.said();
            self.on(event);
        }
        assert!(self.unpolled.is_empty(), "neither answered nor handed over: {:?}", self.unpolled);
    }

    fn on(&mut self, event: ServerEvent<Patience>) {
        match event {
            ServerEvent::Call { call, .. } => {
                let id = self.unpolled.pop_front().expect("a call that nobody made");
                assert!(self.calls.iter().all(|(other, ..)| *other != call), "a handle comes once");
                self.calls.push((call, id, None));
            }
            ServerEvent::CallEnded { call, how } => {
                let (_, id, end) = self.calls.iter_mut().find(|(open, ..)| *open == call).expect("it began");
                assert_eq!(*end, None, "a call ends once");
                *end = Some(match how {
                    CallEnd::Cancelled { .. } => Gone::Cancelled,
                    CallEnd::Expired => Gone::Expired,
                    CallEnd::ShutDown => Gone::Answered,
                    _ => Gone::Closed,
                });
                if matches!(how, CallEnd::Cancelled { .. } | CallEnd::Closed) {
                    self.ledger.forgiven(id);
                }
            }
            ServerEvent::Outcome { request, outcome } => {
                let outcomes = self.requests.get_mut(&request).expect("we asked that");
                *outcomes += 1;
                assert_eq!(*outcomes, 1, "{outcome:?}");
                assert!(self.closed || !matches!(outcome, Outcome::Closed));
            }
            _ => {}
        }
    }

    fn respond(&mut self, which: u8, fails: bool) {
        // How the others ended is told by events that have to be polled first.
        self.settle();
        let Some((call, id, end)) = self.calls.get_mut(usize::from(which)) else { return };
        let (server, out) = (&mut self.server, &mut self.out);
        let answered = if fails {
            server.fail(*call, -1, "no", out)
        } else {
            server.respond(*call, &ToolResult::text(""), out)
        };
        // What ended long ago is forgotten.
        assert!(
            matches!(answered, Err(Gone::Unknown)) || answered.err() == *end,
            "{id}: {answered:?}, {end:?}"
        );
        if answered.is_ok() {
            *end = Some(Gone::Answered);
        }
        assert_eq!(self.said(), usize::from(answered.is_ok()));
    }

    fn request(&mut self) {
        let asked = self.server.request("x/ask", None::<&()>, Timeout::Default, &mut self.out);
        assert_eq!(self.said(), usize::from(asked.is_ok()));
        match asked {
            Ok(request) => assert_eq!(self.requests.insert(request, 0), None, "a handle comes once"),
            Err(SendError::TooManyInFlight) => assert!(self.requests.len() >= self.limits.requests),
            Err(error) => assert!(self.out.full || !self.server.is_ready(), "{error}"),
        }
    }

    /// What was said beside what a text provoked; how many messages it was.
    fn said(&mut self) -> usize {
        let sent = self.out.take();
        self.ledger.said(&sent);
        sent.len()
    }

    fn close(&mut self) {
        self.server.close();
        self.closed = true;
        self.settle();
        self.ledger.is_settled();
        assert!(self.calls.iter().all(|(.., end)| end.is_some()), "{:?}", self.calls);
        assert!(self.requests.values().all(|outcomes| *outcomes == 1), "{:?}", self.requests);
        self.hear(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        self.tick(self.now.after(Duration::from_secs(3600)));
        self.respond(0, false);
        self.request();
        assert_eq!(self.server.deadline(), None);
    }
}

/// Tools of every patience.
struct Patiences([ToolSpec; 4]);

impl Patiences {
    fn new() -> Self {
        Self(["plain", "typed", "never", "soon"].map(|name| ToolSpec::new(name, "", "{}")))
    }
}

#[derive(Deserialize)]
struct Typed {
    n: u32,
}

#[derive(Deserialize)]
struct Any {}

impl Tools for Patiences {
    type Call = Patience;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Patience, D::Error> {
        let after = |millis| Patience::After { span: Duration::from_millis(millis), result: Some("{}") };
        if name == "typed" {
            return Typed::deserialize(arguments).map(|typed| after(typed.n.into()));
        }
        Any::deserialize(arguments)?;
        Ok(match name {
            "never" => Patience::Unlimited,
            "soon" => after(400),
            _ => Patience::Default,
        })
    }

    fn patience(&self, call: &Patience) -> Patience {
        *call
    }
}
