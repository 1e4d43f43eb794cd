//! What an application does with a session of either role, and the messages of a peer that change something.

use super::oracle::{Oracle, WATCHED};
use super::roles::{Any, Session, check_error_text};
use crate::model::{FORM_ANSWERS, SERVED, is_served};
use ide_mcp::Keepalive;
use ide_mcp::Time;
use ide_mcp::mcp::{
    Forward, Implementation, Progress, RawTools, Server, ServerConfig, ServerEvent, Timeout, ToolResult,
    ToolSpec,
};
use ide_mcp::rpc::{CallId, ErrorObject, NotAnswered, RequestId, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Messages, PeerText, Random, Span};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fmt::Debug;

/// An operation of an application on a session of either role.
#[derive(Arbitrary, Debug)]
pub enum Operation {
    Respond(u8, Reply),
    FailWith(u8),
    Progress(u8, u8),
    Wait(u8, Pace),
    Request(What, Pace),
    Notify(What),
    Elsewhere,
    /// Drains the session or shuts it down; most numbers do nothing.
    End(u8),
}

#[derive(Arbitrary, Debug)]
pub enum Reply {
    Blocks,
    Failed,
    Object,
    Unwritable,
}

#[derive(Arbitrary, Debug)]
pub enum What {
    Ping,
    Object,
    Array,
    Unwritable,
}

/// A message of a peer in either role that changes something. The peer uses few ids for its requests. It names our
/// requests by counting back from the last one.
#[derive(Arbitrary, Debug)]
pub enum Peer {
    Batch(PeerText, PeerText),
    /// A request: its id, its method, and true if it asks for progress.
    Ask(u8, u8, bool),
    List(u8, bool),
    /// A call of a tool: its id, and true if it has no arguments.
    Call(u8, bool),
    Cancel(u8),
    Progress(u8, u8),
    /// A response: the request, counted back, and true if the response is an error.
    Answer(u8, bool),
    Error,
    /// A request that a session of this role serves itself, or rarely one that the other role serves: its id, and its
    /// row in the table.
    Serve(u8, u8),
    /// An answer to a form: the form, counted back, and the row of the answer.
    AnswerForm(u8, u8),
}

/// A timeout.
#[derive(Arbitrary, Debug)]
pub enum Pace {
    Default,
    Never,
    After(Span),
    Progress(Span, Span),
}

impl Pace {
    pub const fn timeout(&self) -> Timeout {
        match self {
            Self::Default => Timeout::Default,
            Self::Never => Timeout::Never,
            Self::After(span) => Timeout::After(span.duration()),
            Self::Progress(idle, total) => {
                Timeout::Progress { idle: idle.duration(), total: total.duration() }
            }
        }
    }
}

/// The settings that both roles have.
#[derive(Arbitrary, Debug, Default)]
pub struct Habits {
    forward: u8,
    keepalive: Option<(Span, Span)>,
}

impl Habits {
    pub fn forward(&self) -> Forward {
        match self.forward % 4 {
            0 => Forward::Nothing,
            1 => Forward::Methods(vec!["x/ask".into(), "tools/call".into(), "tools/list".into()]),
            _ => Forward::Unmodelled,
        }
    }

    pub fn keepalive(&self) -> Option<Keepalive> {
        let (interval, timeout) = self.keepalive.as_ref()?;
        Some(Keepalive::new(interval.duration(), timeout.duration()))
    }
}

/// Returns a random script of `steps` acts. `is_wanted` is given each act and its number, and decides whether to keep
/// it.
pub fn random_script<A>(
    random: &mut Random,
    steps: usize,
    is_wanted: impl Fn(&A, usize, &mut Random) -> bool,
) -> Vec<u8>
where
    A: for<'a> Arbitrary<'a>,
{
    let (mut script, mut step) = (Vec::new(), 0);
    while step < steps {
        let bytes = random.bytes(96);
        let mut rest = Unstructured::new(&bytes);
        if A::arbitrary(&mut rest).is_ok_and(|act| is_wanted(&act, step, random)) {
            script.extend(&bytes[..bytes.len() - rest.len()]);
            step += 1;
        }
    }
    script
}

impl Operation {
    /// Returns true if a random script keeps this operation: few scripts should end early, and many should report
    /// progress.
    pub fn is_wanted(&self, random: &mut Random) -> bool {
        match self {
            Self::End(_) => random.one_in(8),
            Self::Progress(..) | Self::Request(_, Pace::Progress(..)) | Self::Wait(_, Pace::Progress(..)) => {
                true
            }
            _ => random.one_in(2),
        }
    }
}

impl Peer {
    pub fn is_wanted(&self, random: &mut Random) -> bool {
        matches!(self, Self::Progress(..) | Self::Cancel(_) | Self::Call(..) | Self::Serve(..))
            || random.one_in(2)
    }
}

impl<S: Session + Debug> Oracle<S> {
    /// Performs an operation of the application.
    pub fn play(&mut self, act: &Operation) {
        match act {
            Operation::Respond(which, reply) => {
                self.respond(
                    *which,
                    &match reply {
                        Reply::Blocks => {
                            let blocks = r#"[{"type":"image"},{"type":"text","text":"a\n"}]"#;
                            let text = format!(r#"{{"content":{blocks},"isError":true}}"#);
                            let raw: &RawValue = serde_json::from_str(&text).unwrap();
                            Any::Result(ToolResult::read(raw).expect("a result").into_owned())
                        }
                        Reply::Failed => Any::Result(ToolResult::error("no")),
                        Reply::Object => Any::Value(json!({"resources": [1]})),
                        Reply::Unwritable => Any::Unwritable,
                    },
                );
            }
            Operation::FailWith(which) => {
                let mut error = ErrorObject::new(-1, "no");
                error.data = serde_json::from_str("[1]").ok();
                check_error_text(&error);
                self.answer(*which, true, |session, call, out| {
                    let failed = session.fail(call, error, out);
                    assert!(failed.is_err() || out.sent.concat().contains(r#""data":[1]"#));
                    failed
                });
            }
            Operation::Progress(which, bits) => self.progress(*which, *bits),
            Operation::Wait(which, pace) => self.set_call_timeout(*which, pace.timeout()),
            Operation::Request(what, pace) => {
                let (method, params) = match what {
                    What::Ping => ("ping", None),
                    What::Object => {
                        ("x/ask", Some(Any::Value(json!({"a": 1, "_meta": {"progressToken": 0, "b": 2}}))))
                    }
                    What::Array => ("x/ask", Some(Any::Value(json!([1])))),
                    What::Unwritable => ("x/ask", Some(Any::Unwritable)),
                };
                // The session replaces the progress token of the parameters only if the request
                // asks for progress.
                match (params, pace) {
                    (Some(Any::Value(Value::Object(mut params))), pace) => {
                        if !matches!(pace, Pace::Progress(..)) {
                            params.remove("_meta");
                        }
                        self.request(method, Some(&Any::Value(params.into())), pace.timeout());
                    }
                    (params, pace) => self.request(method, params.as_ref(), pace.timeout()),
                }
            }
            Operation::Notify(what) => self.notify(&match what {
                What::Ping | What::Object => Any::Value(json!({"a": 1})),
                What::Array => Any::Value(json!([1])),
                What::Unwritable => Any::Unwritable,
            }),
            Operation::Elsewhere => self.elsewhere(),
            Operation::End(0..=15) => self.drain(),
            Operation::End(16..=31) => self.shutdown(),
            Operation::End(_) => {}
        }
    }

    /// Delivers a message of the peer to the session.
    pub fn play_peer(&mut self, act: &Peer) {
        const IDS: [&str; 6] = ["1", "2", "7.0", "\"\\u0041\"", "\"A\"", "18446744073709551616"];
        const METHODS: [&str; 6] = [
            "x/ask",
            "prompts/list",
            "resources/templates/list",
            "tools/call",
            "tools/list",
            "logging/setLevel",
        ];
        match act {
            Peer::Batch(one, other) => {
                self.receive(&format!("[{},{}]", one.text(), other.text()));
            }
            Peer::Ask(id, method, is_watched) => {
                let id = IDS[usize::from(*id) % IDS.len()];
                let method = METHODS[usize::from(*method) % METHODS.len()];
                let params = if *is_watched { format!(r#","params":{WATCHED}"#) } else { String::new() };
                self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#));
            }
            Peer::List(id, is_cursor) => {
                let id = id % 8;
                let cursor = if *is_cursor { "\"c\"" } else { "null" };
                self.receive(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list","params":{{"cursor":{cursor}}}}}"#
                ));
            }
            Peer::Call(id, is_bare) => {
                let id = id % 4;
                let arguments = if *is_bare { "" } else { r#","arguments" : {}"# };
                self.receive(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"never"{arguments},"_meta":{{"progressToken":"w"}}}}}}"#
                ));
            }
            Peer::Cancel(id) => {
                let (is_used_again, open) = (id & 0xc0 == 0xc0, self.open_id(*id).filter(|_| id & 0x80 != 0));
                let id = open.unwrap_or_else(|| IDS[usize::from(*id) % IDS.len()].into());
                self.receive(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                ));
                if is_used_again {
                    let call = r#""method":"tools/call","params":{"name":"never"}"#;
                    self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},{call}}}"#));
                }
            }
            Peer::Progress(back, to) => {
                let watched = self.watched(*back).filter(|_| back & 0x80 != 0);
                let id = watched.unwrap_or_else(|| self.back(*back));
                for _ in 0..=to >> 7 {
                    self.receive_progress(id, to % 4);
                }
            }
            Peer::Answer(back, is_error) => {
                let (answer, kind) = match is_error {
                    true => (r#""error":{"code":7,"message":"","data":{}}"#, "Error"),
                    false => (r#""result":{}"#, "Result"),
                };
                self.receive_answer(self.back(*back), answer, kind);
            }
            Peer::Serve(id, row) => {
                let own = SERVED.iter().filter(|row| is_served(S::IS_SERVER, row.method));
                let rows: Vec<_> = if *id < 240 { own.collect() } else { SERVED.iter().collect() };
                let row = rows[usize::from(*row) % rows.len()];
                let params = if row.params.is_empty() {
                    String::new()
                } else {
                    format!(r#","params":{}"#, row.params)
                };
                let (id, method) = (id % 16, row.method);
                self.receive(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#));
            }
            Peer::AnswerForm(back, row) => {
                let id = self.open_form().filter(|_| back & 0x80 != 0).unwrap_or_else(|| self.back(*back));
                let (answer, _) = FORM_ANSWERS[usize::from(*row) % FORM_ANSWERS.len()];
                self.receive_answer(id, &format!(r#""result":{answer}"#), "Result");
            }
            Peer::Error => {
                self.receive(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#);
            }
        }
    }

    /// Checks that the session refuses a call and a request of another session.
    fn elsewhere(&mut self) {
        let (call, request) = elsewhere();
        let (session, out) = (&mut self.session, &mut self.out);
        let refused = [
            session.respond_with(call, &Any::Value(json!({})), out),
            session.fail(call, ErrorObject::new(1, ""), out),
            session.progress(call, &Progress::new(1.0), out).map(|_| ()),
            session.set_call_timeout(call, Timeout::Never),
        ];
        assert_eq!(refused, [Err(NotAnswered::Unknown); 4]);
        check_error_text(&NotAnswered::Unknown);
        assert!(!session.is_open(call) && !session.cancel(request, None, out));
        assert!(out.take().is_empty());
        self.hit("refused Unknown");
    }
}

/// Returns a call and a request of another session.
fn elsewhere() -> (CallId, RequestId) {
    let tools = RawTools(vec![ToolSpec::new("t", "", "{}")]);
    let mut server = Server::new(ServerConfig::new(Implementation::new("s", "1")), tools, SessionId::new(9));
    let mut out = Messages::default();
    for text in
        OPENED.iter().chain(&[r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#])
    {
        server.receive(Time::ZERO, text, &mut out);
    }
    let request = server.request("x/ask", None::<&()>, Timeout::Default, &mut out).expect("it is ready");
    loop {
        if let ServerEvent::Call { call, .. } = server.poll(Time::ZERO, &mut out).expect("it was called") {
            assert!(server.is_open(call) && call.session().number() == 9);
            return (call, request);
        }
    }
}

/// The messages that open the session of a server.
pub const OPENED: [&str; 2] = [
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
];
