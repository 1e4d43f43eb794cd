//! Scripts for a server session: messages of a client, operations of the application, and steps of
//! the clock, in any order.

use super::acts::{Habits, OPENED, Operation, Pace, Peer, random_script};
use super::oracle::{self, Hits, Oracle, RequestKind};
use super::roles::{Any, check_error_text};
use crate::model::{CAPABILITIES, context, form};
use ide_mcp::mcp::{
    Implementation, LogLevel, ProtocolVersion, Server, ServerConfig, Timeout, ToolResult, ToolSpec, Tools,
};
use ide_mcp::rpc::{ErrorObject, NotSent, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{PeerText, Random, Span};
use serde::{Deserialize, Deserializer};
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Duration;

#[derive(Arbitrary, Debug)]
enum Act {
    Receive(PeerText),
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
    /// The settings, which only the first step of a script changes.
    With(Setup),
    /// A handshake in one of the versions, with some capabilities.
    OpenAs(u8, u8),
    Operation(Operation),
    Peer(Peer),
    Log(u8, bool),
    SetLevel(u8),
    /// Sets the number of additional tools.
    Tools(u8),
    Elicit(Pace),
    /// Offers the prompts and resources with a template or without one.
    Context(bool),
}

#[derive(Arbitrary, Debug, Default)]
struct Setup {
    habits: Habits,
    logging: Option<u8>,
    /// True if the list of tools cannot change.
    fixed: bool,
    /// True if the application declares capabilities of its own, which the session does not
    /// implement.
    declares: bool,
}

#[derive(Arbitrary, Debug)]
enum End {
    Not,
    NotYet,
    Drain,
    ShutDown,
    Close,
}

/// Checks that every request ends once, that nothing else is answered, that memory stays limited, that the clock moves
/// on, and that nothing is sent after the end.
pub fn server_script(data: &[u8]) -> Hits {
    let mut script = Unstructured::new(data);
    let mut run = Run::new(&Setup::default());
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        run.play(act);
    }
    run.oracle.close();
    run.oracle.hits
}

/// Returns a random script. Most scripts open the session first, and few end it early.
pub fn random_server_script(random: &mut Random) -> Vec<u8> {
    let steps = 10 + random.below(80);
    let (is_set, is_open) = (random.one_in(2), !random.one_in(8));
    random_script(random, steps, |act, step, random| match act {
        _ if step == 0 && is_set => matches!(act, Act::With(_)),
        _ if step < 2 && is_open => matches!(act, Act::Open | Act::OpenAs(..)),
        Act::End(_) | Act::Full(true) | Act::Open | Act::OpenAs(..) | Act::With(_) => random.one_in(16),
        Act::Operation(act) => act.is_wanted(random),
        Act::Wait(span) => span.duration() < Duration::from_secs(9) || random.one_in(8),
        Act::Peer(act) => act.is_wanted(random),
        Act::Elicit(_) => true,
        _ => random.one_in(3),
    })
}

struct Run {
    oracle: Oracle<Server<Timed>>,
    /// True before the first step.
    fresh: bool,
    /// How often the list of tools had been requested at the last `tools/list_changed`.
    reported: Option<usize>,
}

impl Run {
    fn new(setup: &Setup) -> Self {
        let mut config = ServerConfig::new(Implementation::new("s", "1"));
        // These limits are small enough for scripts to reach.
        (config.limits.open_calls, config.limits.requests) = (4, 3);
        (config.limits.open_bytes, config.limits.faults) = (256, 3);
        config.tools_list_changed = !setup.fixed;
        config.logging = setup.logging.map(level);
        config.forward = setup.habits.forward();
        config.keepalive = setup.habits.keepalive();
        if setup.declares {
            let declared = [("resources", r#"{"subscribe":true}"#), ("prompts", "no JSON"), ("tools", "{}")];
            config.capabilities = declared.map(|(name, value)| (name.into(), value.into())).into();
            config.instructions = Some("be brief".into());
        } else {
            config.context = context(false).into();
        }
        let known = oracle::Setup {
            limits: config.limits.clone(),
            keepalive: config.keepalive,
            forward: config.forward.clone(),
            call: (config.call_deadline, config.longest_call),
            request: config.request_timeout,
            pages: 0,
            serves: !setup.declares,
        };
        let server = Server::new(config, Timed::new(), SessionId::new(1));
        Self { oracle: Oracle::new(server, known), fresh: true, reported: None }
    }

    fn play(&mut self, act: Act) {
        let oracle = &mut self.oracle;
        match act {
            Act::Receive(message) => drop(oracle.receive(message.text())),
            Act::Open => self.open("2025-03-26", 0),
            Act::Wait(span) => oracle.tick(oracle.now.saturating_add(span.duration())),
            Act::Due => oracle.tick(oracle.session.deadline().unwrap_or(oracle.now)),
            Act::Poll => oracle.settle(),
            Act::Respond(which) => oracle.respond(which, &Any::Result(ToolResult::text(""))),
            Act::Fail(which) => {
                oracle.answer(which, true, |server, call, out| {
                    server.fail(call, ErrorObject::new(-1, "no"), out)
                });
            }
            Act::Answer(which) => {
                oracle.receive(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, which % 8));
            }
            Act::Request => oracle.request("x/ask", None, Timeout::Default),
            Act::Cancel(which) => oracle.cancel(which, Some("why")),
            Act::Notify => oracle.notify(&Any::Value(json!({}))),
            Act::ListChanged => self.list_changed(),
            Act::Full(full) => oracle.out.full = full,
            Act::End(End::Not | End::NotYet) => {}
            Act::End(End::Drain) => oracle.drain(),
            Act::End(End::ShutDown) => oracle.shutdown(),
            Act::End(End::Close) => oracle.end(),
            Act::With(setup) => {
                if self.fresh {
                    *self = Self::new(&setup);
                }
            }
            Act::OpenAs(version, capabilities) => {
                self.open(VERSIONS[usize::from(version) % VERSIONS.len()], capabilities.into());
            }
            Act::Operation(act) => oracle.play(&act),
            Act::Peer(act) => oracle.play_peer(&act),
            Act::Log(severity, is_named) => self.log(level(severity), is_named.then_some("l")),
            Act::SetLevel(severity) => self.set_level(severity),
            Act::Tools(many) => {
                let specs = &mut oracle.session.tools_mut().0;
                specs.truncate(PLAIN.len());
                specs.extend((0..many % 4).map(|_| ToolSpec::new("more", "of it", "no JSON")));
                assert!(oracle.session.tools().specs().len() < 8);
            }
            Act::Elicit(pace) => {
                oracle.send_request(pace.timeout(), RequestKind::Form, |server, timeout, out| {
                    server.elicit(form(), timeout, out)
                })
            }
            Act::Context(has_template) => self.set_context(has_template),
        }
        self.fresh = false;
    }

    fn open(&mut self, version: &str, capabilities: usize) {
        let before = self.oracle.session.protocol_version();
        let (capabilities, shows_forms) = CAPABILITIES[capabilities % CAPABILITIES.len()];
        self.oracle.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"n","version":"1"}}}}}}"#
        ));
        self.oracle.receive(OPENED[1]);
        let server = &self.oracle.session;
        let spoken = server.protocol_version().map(ProtocolVersion::as_str);
        if let (None, Some(spoken)) = (before, spoken) {
            assert!(spoken == version || version == "2026-07-28" && spoken == "2025-11-25", "{spoken}");
            assert_eq!(server.client(), Some(&Implementation::new("n", "1")));
            assert_eq!(server.client_capabilities().map(RawValue::get), Some(capabilities));
            self.oracle.shows_forms = shows_forms;
        }
    }

    fn set_context(&mut self, has_template: bool) {
        let Oracle { session: server, out, has_template: known, .. } = &mut self.oracle;
        if server.context().listed_prompts().is_some() {
            server.set_context(context(has_template));
            *known = has_template;
        }
        let changed = server.context_changed(out);
        let again = if changed == Ok(true) { server.context_changed(out) } else { Ok(false) };
        assert_eq!(again, Ok(false), "a second one without a request");
        assert!(out.sent.iter().all(|text| text.contains(r#""notifications/resources/list_changed""#)));
        assert_eq!(self.oracle.record_sent(), usize::from(changed == Ok(true)));
        if changed == Ok(true) {
            self.oracle.hit("context changed");
        }
    }

    fn list_changed(&mut self) {
        // Poll first, because requests for the list are reported as events.
        self.oracle.settle();
        let sent = self.oracle.session.tools_list_changed(&mut self.oracle.out);
        assert_eq!(self.oracle.record_sent(), usize::from(sent == Ok(true)));
        if sent == Ok(true) {
            let lists = self.oracle.lists;
            assert!(self.reported.is_none_or(|before| before < lists), "a second one without a request");
            self.reported = Some(lists);
        }
        if let Err(error) = sent {
            check_error_text(&error);
        }
    }

    fn log(&mut self, level: LogLevel, logger: Option<&str>) {
        let Oracle { session: server, out, closed, .. } = &mut self.oracle;
        let logged = server.log(level, logger, "text", out);
        let is_offered = server.log_level().is_some_and(|lowest| level >= lowest);
        assert_eq!(server.log_level().is_none(), logged == Err(NotSent::Undeclared));
        assert_eq!(logged == Err(NotSent::Closed), server.log_level().is_some() && *closed);
        let may_be = server.protocol_version().is_some() && !*closed;
        assert!(logged.is_err() || may_be, "{level} in this state");
        assert!(logged != Ok(true) || is_offered && !out.full, "{level} was logged");
        assert!(logged != Ok(false) || !is_offered, "{level} was not sent");
        let expected = format!(r#""level":"{level}""#);
        assert!(out.sent.iter().all(|message| message.contains(&expected)));
        assert_eq!(self.oracle.record_sent(), usize::from(logged == Ok(true)));
    }

    fn set_level(&mut self, severity: u8) {
        let before = self.oracle.session.log_level();
        let name = if severity % 9 == 8 { "verbose" } else { level(severity).as_str() };
        let sent = self.oracle.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{{"level":"{name}"}}}}"#
        ));
        let is_set = sent.iter().any(|message| message.contains("result"));
        let after = if is_set { LogLevel::from_name(name) } else { before };
        assert_eq!(self.oracle.session.log_level(), after);
        assert!(!is_set || before.is_some() && after.is_some());
    }
}

fn level(severity: u8) -> LogLevel {
    const LEVELS: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    LogLevel::from_name(LEVELS[usize::from(severity) % LEVELS.len()]).expect("a level")
}

const VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

const PLAIN: [&str; 4] = ["plain", "typed", "never", "soon"];

/// Tools with every kind of timeout; the decoded call is the timeout.
#[derive(Debug)]
struct Timed(Vec<ToolSpec>);

impl Timed {
    fn new() -> Self {
        Self(PLAIN.map(|name| ToolSpec::new(name, "", "{}")).into())
    }
}

#[derive(Deserialize)]
struct Typed {
    n: u32,
}

#[derive(Deserialize)]
struct Nothing {}

impl Tools for Timed {
    type Call = Timeout;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Timeout, D::Error> {
        let after = |millis| Timeout::After(Duration::from_millis(millis));
        if name == "typed" {
            return Typed::deserialize(arguments).map(|typed| after(typed.n.into()));
        }
        Nothing::deserialize(arguments)?;
        Ok(match name {
            "never" => Timeout::Never,
            "soon" => after(400),
            _ => Timeout::Default,
        })
    }

    fn timeout(&self, call: &Timeout) -> Timeout {
        *call
    }

    fn result_when_late(&self, call: &Timeout) -> Option<&'static str> {
        matches!(call, Timeout::After(_)).then_some("{}")
    }
}
