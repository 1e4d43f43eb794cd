//! Scripts for a client session: messages of a server, operations of the application, and steps of
//! the clock, in any order.

use super::acts::{Habits, Operation, Pace, Peer, What, random_script};
use super::oracle::{self, Hits, Oracle, RequestKind};
use super::roles::Any;
use crate::model::roots;
use ide_mcp::mcp::{Client, ClientConfig, Implementation, List, ProtocolVersion, Timeout};
use ide_mcp::rpc::{NotSent, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{PeerText, Random, Span};
use serde_json::json;
use std::time::Duration;

#[derive(Arbitrary, Debug)]
enum Act {
    Receive(PeerText),
    /// A valid handshake.
    Open,
    Start,
    /// A response to a request of ours.
    Answer(u8, Kind),
    Wait(Span),
    Due,
    Poll,
    Ask(Pace),
    Call,
    List,
    Ping,
    Cancel(u8),
    Notify,
    Full(bool),
    Close(u8),
    /// The settings, which only the first step of a script changes.
    With(Setup),
    /// A handshake in one of the versions.
    OpenAs(u8),
    Operation(Operation),
    Peer(Peer),
    Lists(u8, Pace),
    /// A response to a request, counted back from the last one: the number of items, and the next
    /// cursor.
    Page(u8, u8, u8),
    CallWith(What),
    /// The client works in the other folders, or again in those of the beginning.
    Roots(bool),
}

#[derive(Arbitrary, Debug, Default)]
struct Setup {
    habits: Habits,
    declares: bool,
}

#[derive(Arbitrary, Debug)]
enum Kind {
    Result,
    Text,
    Error,
    Nothing,
}

/// Checks that every request of ours has one outcome and every request of the server one answer, that a request is
/// cancelled at most once and the handshake is never cancelled, that memory stays limited, and that nothing is sent
/// after the end.
pub fn client_script(data: &[u8]) -> Hits {
    let mut script = Unstructured::new(data);
    let mut run = Run::new(&Setup::default());
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        run.play(&act);
    }
    run.close();
    run.oracle.hits
}

/// Returns a random script. Most scripts open the session first, and few end it early.
pub fn random_client_script(random: &mut Random) -> Vec<u8> {
    let steps = 10 + random.below(80);
    let (is_set, is_open) = (random.one_in(2), !random.one_in(8));
    random_script(random, steps, |act, step, random| match act {
        _ if step == 0 && is_set => matches!(act, Act::With(_)),
        _ if step < 2 && is_open => matches!(act, Act::Open | Act::OpenAs(_)),
        Act::Close(_) | Act::Full(true) | Act::Open | Act::OpenAs(_) | Act::With(_) => random.one_in(16),
        Act::Operation(act) => act.is_wanted(random),
        Act::Wait(span) => span.duration() < Duration::from_secs(9) || random.one_in(8),
        Act::Peer(act) => act.is_wanted(random),
        _ => random.one_in(3),
    })
}

struct Run {
    oracle: Oracle<Client>,
    /// True before the first step.
    fresh: bool,
    started: bool,
}

impl Run {
    fn new(setup: &Setup) -> Self {
        let mut config = ClientConfig::new(Implementation::new("c", "1"));
        // These limits are small enough for scripts to reach.
        config.limits.requests = 4;
        (config.limits.open_calls, config.limits.faults) = (4, 3);
        (config.list_pages, config.list_bytes) = (3, 16);
        config.forward = setup.habits.forward();
        config.keepalive = setup.habits.keepalive();
        if setup.declares {
            config.capabilities = serde_json::from_str(r#"{"roots":{}}"#).ok();
        } else {
            (config.roots, config.elicitation) = (Some(roots(false).0), true);
        }
        let known = oracle::Setup {
            limits: config.limits.clone(),
            keepalive: config.keepalive,
            forward: config.forward.clone(),
            call: (config.call_deadline, config.longest_call),
            request: config.request_timeout,
            pages: config.list_pages,
            serves: !setup.declares,
        };
        let client = Client::new(config, SessionId::new(1));
        Self { oracle: Oracle::new(client, known), fresh: true, started: false }
    }

    fn play(&mut self, act: &Act) {
        let oracle = &mut self.oracle;
        match act {
            Act::Receive(message) => drop(oracle.receive(message.text())),
            Act::Open => self.open("2025-11-25"),
            Act::Start => self.start(),
            Act::Answer(id, kind) => {
                let (answer, kind) = match kind {
                    Kind::Result => (r#""result":{"tools":[]}"#, "Result"),
                    Kind::Text => (r#""result":"x""#, "Result"),
                    Kind::Error => (r#""error":{"code":1,"message":"m"}"#, "Error"),
                    Kind::Nothing => (r#""result":{},"error":{"code":1,"message":"m"}"#, "Malformed"),
                };
                oracle.receive_answer((id % 16).into(), answer, kind);
            }
            Act::Wait(span) => oracle.tick(oracle.now.saturating_add(span.duration())),
            Act::Due => oracle.tick(oracle.session.deadline().unwrap_or(oracle.now)),
            Act::Poll => oracle.settle(),
            Act::Ask(pace) => oracle.request("x/ask", Some(&Any::Value(json!({"a": 1}))), pace.timeout()),
            Act::Call => oracle.send_request(Timeout::Default, RequestKind::Any, |client, timeout, out| {
                client.call_tool("t", &(), timeout, out)
            }),
            Act::List => {
                oracle.send_request(Timeout::Default, RequestKind::List, |client, _, out| {
                    client.list(List::Tools, Timeout::Default, out)
                });
            }
            Act::Ping => oracle.request("ping", None, Timeout::Default),
            Act::Cancel(which) => oracle.cancel(*which, None),
            Act::Notify => oracle.notify(&Any::Value(json!({}))),
            Act::Full(full) => oracle.out.full = *full,
            Act::Close(0..=31) => oracle.end(),
            Act::Close(_) => {}
            Act::With(setup) => {
                if self.fresh {
                    *self = Self::new(setup);
                }
            }
            Act::OpenAs(version) => self.open(VERSIONS[usize::from(*version) % VERSIONS.len()]),
            Act::Operation(act) => oracle.play(act),
            Act::Peer(act) => oracle.play_peer(act),
            Act::Lists(list, pace) => {
                let list = LISTS[usize::from(*list) % LISTS.len()];
                oracle.send_request(pace.timeout(), RequestKind::List, |client, timeout, out| {
                    client.list(list, timeout, out)
                });
            }
            Act::Page(back, items, next) => {
                const NEXT: [&str; 5] = ["null", "\"a\"", "\"b\"", "\"c\"", "1"];
                oracle.receive_page(oracle.back(*back), usize::from(items % 8), NEXT[usize::from(*next) % 5]);
            }
            Act::CallWith(what) => {
                let (arguments, is_good) = match what {
                    What::Ping | What::Object => (Any::Value(json!({"a": 1})), true),
                    What::Array => (Any::Value(json!([1])), false),
                    What::Unwritable => (Any::Unwritable, false),
                };
                oracle.send_request(Timeout::Never, RequestKind::Any, |client, timeout, out| {
                    let request = client.call_tool("t", &arguments, timeout, out);
                    assert!(is_good || request == Err(NotSent::Unserializable));
                    request
                });
            }
            Act::Roots(is_other) => self.set_roots(*is_other),
        }
        self.fresh = false;
    }

    fn open(&mut self, version: &str) {
        self.start();
        self.oracle.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","capabilities":{{}},"instructions":"","serverInfo":{{"name":"n","version":"1"}}}}}}"#
        ));
        let spoken = self.oracle.session.protocol_version().map(ProtocolVersion::as_str);
        assert!(!self.oracle.session.is_ready() || spoken.is_some());
    }

    fn set_roots(&mut self, is_other: bool) {
        let Oracle { session: client, out, has_other_roots, .. } = &mut self.oracle;
        let is_declared = client.roots().is_some();
        let (is_change, is_ready) = (is_declared && is_other != *has_other_roots, client.is_ready());
        let changed = client.set_roots(roots(is_other).0, out);
        assert_eq!(changed == Err(NotSent::Undeclared), !is_declared);
        assert!(!is_ready || out.full || !is_declared || changed == Ok(()), "{changed:?}");
        let is_reported = is_change && is_ready && changed.is_ok();
        *has_other_roots = if is_declared && changed.is_ok() { is_other } else { *has_other_roots };
        assert!(out.sent.iter().all(|text| text.contains(r#""notifications/roots/list_changed""#)));
        assert_eq!(self.oracle.record_sent(), usize::from(is_reported));
    }

    fn start(&mut self) {
        let Oracle { session: client, now, out, .. } = &mut self.oracle;
        let started = client.start(*now, out).is_ok();
        assert!(!started || !self.started, "it starts twice");
        self.started |= started;
        assert_eq!(self.oracle.record_sent(), usize::from(started));
    }

    fn close(&mut self) {
        self.oracle.close();
        let ends = self.oracle.ready + self.oracle.failed;
        assert_eq!(ends, usize::from(self.started), "the handshake ends once");
        self.start();
        assert!(!self.oracle.session.is_ready());
    }
}

const LISTS: [List; 4] = [List::Tools, List::Resources, List::ResourceTemplates, List::Prompts];

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
