//! Scripts for a connection of an agent: what an unknown editor writes (heads, answers, pushes, requests, lists in
//! pages, endings, in every dialect, correct or changed), what the agent does, and steps of the clock, in any order.
//! Each script runs several times: its bytes arrive in one piece, one by one, and with the clock moved in between.

use super::foreign::{Change, PUSHES, Reader, call_tool, push, result_of_tool, tool_index, typed};
use crate::model::{Message, SERVED, is_served, roots};
use crate::sessions::{Hits, Pace, name_of, random_script};
use crate::support::agents;
use crate::support::client_messages::{BINARY, CLOSE, PING, PORT, TEXT, TOKEN, token};
use crate::support::editors::{MARK, MESSAGE, Unwritable};
use crate::support::frames::{head_len, plain, whole};
use crate::support::laws::{Record, Subject};
use crate::support::run::Run;
use crate::support::sockets::limits;
use crate::support::subject::Refusals;
use ide_mcp::ide::tool::{DirectRequest, OtherTool, ReadFile, Tool, WriteFile};
use ide_mcp::ide::{Client, ClientConfig, ClientEvent, Dialect, EditorNotification, RequestError};
use ide_mcp::mcp::{
    CallEnd, FormAnswer, Forward, GetPrompt, Implementation, List, Outcome, Progress, ReadResource, Timeout,
};
use ide_mcp::rpc::{CallId, ErrorObject, NotAnswered, NotSent, RequestId, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary, Unstructured};
use ide_mcp::testing::{Random, Span};
use ide_mcp::{Keepalive, Time};
use serde_json::Value;
use serde_json::value::RawValue;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

#[derive(Arbitrary, Clone, Debug, Default)]
struct Setup {
    dialect: u8,
    version: u8,
    /// Selects the answer to the opening handshake if this is a multiple of four; otherwise the session is already
    /// open.
    opens: u8,
    /// The bits of the habits of the application.
    habits: u8,
    forwards: u8,
    raw: bool,
    declares: bool,
    has_pid: bool,
    pings: bool,
    /// True if output is written only when the script says so.
    holds: bool,
}

impl Setup {
    fn dialect(&self) -> Dialect {
        Dialect::ALL[usize::from(self.dialect) % Dialect::ALL.len()]
    }

    const fn has(&self, habit: u8) -> bool {
        self.habits & habit != 0
    }
}

/// The application lists the tools when it is ready.
const LISTS: u8 = 1;
/// It answers forms as soon as it gets their event.
const ANSWERS: u8 = 2;
/// It lists the tools again when they have changed.
const FOLLOWS: u8 = 4;

#[derive(Arbitrary, Debug)]
enum Act {
    /// The editor sends a message.
    Send(EditorMessage, Framing),
    Ask(Ask),
    Reply(Reply),
    Link(Link),
}

/// What the agent sends.
#[derive(Arbitrary, Debug)]
enum Ask {
    Tool(u8, Pace),
    List(u8, Pace),
    Prompt,
    Resource,
    Direct(u8),
    /// A tool or a method that is not part of the protocol.
    Own(bool, Pace),
    Ping,
    Cancel(u8),
    Roots(bool),
    Notify,
    /// The agent closes; one number in sixteen takes effect.
    Leave(u8),
}

/// What the agent does with one of the open requests of the editor.
#[derive(Arbitrary, Debug)]
enum Reply {
    Answer(u8, u8),
    Wait(u8, Pace),
    Progress(u8, u8),
}

/// What happens to the bytes on their way, and to the clock.
#[derive(Arbitrary, Debug)]
enum Link {
    /// The editor sends two messages in a batch.
    Batch(EditorMessage, EditorMessage),
    Raw(Bytes),
    Frame(u8, Bytes),
    Head(u8),
    /// The editor closes with one of some codes; one number in eight takes effect.
    Close(u8),
    Write(u16),
    Wait(Span),
    Due,
    Trim,
    Refuse,
    /// The transport ends; one number in sixteen takes effect.
    Eof(u8),
}

/// A message of the editor.
#[derive(Arbitrary, Debug)]
enum EditorMessage {
    /// The answer to `initialize`: its version and capabilities.
    Initialized(u8, u8, Change),
    /// The correct answer to a request, counted back from the last one, in this dialect.
    Right(u8, u8, Change),
    /// A page of a requested list: the items, and the next cursor.
    Page(u8, u8, u8, Change),
    Error(u8, u8, Change),
    /// An answer of some kind, with any of our ids.
    Any(u8, u8),
    Push(u8, u8, bool, Change),
    /// A message of some kind with a long text.
    Long(u16, u8),
    Progress(u8, u8, Change),
    /// A request for what a client serves.
    Served(u8, u8, Change),
    Ask(u8, u8),
    Cancelled(u8),
    Notice(u8, Change),
    Text(Bytes),
}

/// How a text becomes frames.
#[derive(Debug)]
enum Framing {
    Text,
    Binary,
    /// In two fragments with a ping between them.
    Fragments(u8),
    /// A frame that is cut off after some bytes.
    Cut(u8),
}

impl<'a> Arbitrary<'a> for Framing {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(match u.int_in_range(0..=31)? {
            0 => Self::Cut(u.arbitrary()?),
            1..=3 => Self::Binary,
            4..=7 => Self::Fragments(u.arbitrary()?),
            _ => Self::Text,
        })
    }
}

/// Up to 63 bytes, read from the front.
#[derive(Debug)]
struct Bytes(Vec<u8>);

impl<'a> Arbitrary<'a> for Bytes {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let len = usize::from(u.arbitrary::<u8>()? & 63);
        Ok(Self(u.bytes(len.min(u.len()))?.to_vec()))
    }
}

const VERSIONS: [&str; 6] =
    ["2025-11-25", "2025-03-26", "2024-11-05", "2025-06-18", "2099-01-01", "2025-11-25"];

const CAPABILITIES: [&str; 3] = [
    r#"{"tools":{"listChanged":true},"prompts":{},"resources":{}}"#,
    "{}",
    r#"{"tools":{},"logging":{},"experimental":{"a":[1]}}"#,
];

const METHODS: [&str; 5] = ["ping", "sampling/createMessage", "x/ask", "tools/call", "tools/list"];

const NOTICES: [&str; 8] = [
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"ide://a"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":{"a":1},"logger":"l"}}"#,
    r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"},"id":null}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"never","progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"x/news","params":{"a":[{}]}}"#,
];

const FAILED: &str = r#"{"content":[{"type":"text","text":"why"}],"isError":true}"#;

const CURSORS: [&str; 5] = ["null", r#""a""#, r#""b""#, r#""""#, "1"];

const KINDS: [List; 4] = [List::Tools, List::Resources, List::ResourceTemplates, List::Prompts];

/// Returns the answer to the opening handshake of the client, whose keys have the same seed as those of the agent.
fn accepted() -> &'static str {
    static ACCEPTED: OnceLock<String> = OnceLock::new();
    ACCEPTED.get_or_init(|| String::from_utf8(agents::accepted()).expect("a head is ASCII"))
}

/// Returns the answer to the opening handshake, correct or with a fault.
fn head(of: u8) -> String {
    let accepted = accepted();
    match of % 12 {
        0 => accepted.replace("Sec-WebSocket-Protocol: mcp\r\n", ""),
        1 => accepted.replace("101 Switching Protocols", "401 Unauthorized"),
        2 => accepted.replace("101 Switching Protocols", "302 Found\r\nLocation: http://evil.example/"),
        3 => accepted.replace("\r\n\r\n", &format!("\r\nX: {}\r\n\r\n", "x".repeat(4000))),
        4 => accepted.replace("Accept: ", "Accept: x"),
        5 => format!("HTTP/1.1 103 Early Hints\r\n\r\n{accepted}"),
        6 => "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nno\n".into(),
        7 => accepted.replace("Protocol: mcp", "Protocol: mcp, x"),
        8 => accepted.replace("\r\n", "\n"),
        _ => accepted.to_owned(),
    }
}

fn initialized(id: impl std::fmt::Display, version: u8, capabilities: u8) -> String {
    let version = VERSIONS[usize::from(version) % VERSIONS.len()];
    let capabilities = CAPABILITIES[usize::from(capabilities) % CAPABILITIES.len()];
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{{"name":"e","version":"1"}},"instructions":"i"}}}}"#
    )
}

/// The agent, as a subject of the laws that can be checked in a single step.
struct Foreign {
    setup: Setup,
    ledger: Rc<RefCell<Ledger>>,
}

/// What was requested and how it ended, in both directions.
#[derive(Default)]
struct Ledger {
    open: BTreeMap<RequestId, Open>,
    /// How each of our requests ended, in a word or two.
    ended: BTreeMap<RequestId, String>,
    /// The requests that were sent: their ids, and what they are for.
    wire: Vec<(String, Kind)>,
    /// The requests of the application by their ids.
    names: BTreeMap<String, RequestId>,
    /// The open requests of the editor.
    calls: BTreeSet<CallId>,
    /// How many requests of the editor became an event.
    begun: usize,
    /// How many answers we have given, including those that the session gave at a deadline.
    given: usize,
    /// How many answers were sent, and the id of the last one.
    answers: usize,
    last_answer: String,
    /// How many pushes arrived, and the last one.
    pushed: usize,
    last_push: Option<EditorNotification>,
    notified: usize,
    is_ready: bool,
    /// True if the agent has closed, or the session has failed.
    is_closing: bool,
    is_closed: bool,
    /// The bytes of the contents of all events.
    content: usize,
    /// The answers and errors, as the application shows them.
    shown: Vec<String>,
    hits: Hits,
}

struct Open {
    reader: Option<Reader>,
    reached: f64,
    has_progress: bool,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tool(usize),
    List(List),
    Prompt,
    Resource,
    Other,
}

impl Kind {
    /// Returns the correct result; `None` for a list, which has pages.
    fn result(self, dialect: Dialect) -> Option<String> {
        Some(match self {
            Self::Tool(which) => result_of_tool(which, dialect),
            Self::List(_) => return None,
            Self::Prompt => {
                r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}}]}"#
                    .into()
            }
            Self::Resource => r#"{"contents":[{"uri":"ide://a","mimeType":"text/plain","text":"t"}]}"#.into(),
            Self::Other => r#"{"a":1}"#.into(),
        })
    }
}

impl Foreign {
    fn new(setup: Setup) -> Self {
        Self { setup, ledger: Rc::default() }
    }
}

impl Subject for Foreign {
    type Machine = Client;
    type App = ();
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ide::Client with an unknown editor".into()
    }

    fn make(&self, now: Time) -> Client {
        let Setup { raw, declares, has_pid, pings, .. } = self.setup;
        let info = Implementation::new("agent", "1");
        let mut config = ClientConfig::for_dialect(self.setup.dialect(), info, PORT, Some(token()));
        config.target = "/".into();
        config.pid = has_pid.then_some(7);
        config.raw_notifications = raw;
        config.ws = limits(MARK, MESSAGE);
        let mcp = &mut config.mcp;
        if declares {
            (mcp.roots, mcp.elicitation) = (Some(roots(false).0), true);
        }
        mcp.forward = match self.setup.forwards % 4 {
            0 => Forward::Methods(vec!["x/ask".into(), "tools/call".into()]),
            1 => Forward::Unmodelled,
            _ => Forward::Nothing,
        };
        mcp.keepalive = pings.then(|| Keepalive::new(Duration::from_secs(5), Duration::from_secs(3)));
        mcp.initialize_timeout = Duration::from_secs(17);
        mcp.request_timeout = Duration::from_secs(53);
        mcp.call_deadline = Duration::from_secs(29);
        mcp.longest_call = Duration::from_secs(310);
        // These limits are small enough for scripts to reach.
        (mcp.limits.requests, mcp.limits.open_calls, mcp.limits.faults) = (6, 4, 5);
        (mcp.list_pages, mcp.list_bytes) = (3, 64);
        Client::new(config, Random::new(7).source(), SessionId::new(1), now).expect("a good request")
    }

    fn app(&self, _: u64) {}

    fn react(&self, (): &mut (), client: &mut Client, event: &ClientEvent) {
        let mut ledger = self.ledger.borrow_mut();
        ledger.record(event);
        match event {
            ClientEvent::Ready(_) if self.setup.has(LISTS) => ledger.list(client, List::Tools),
            ClientEvent::ToolsChanged if self.setup.has(FOLLOWS) => ledger.list(client, List::Tools),
            ClientEvent::Form { call, .. } if self.setup.has(ANSWERS) => {
                ledger.answer(client, *call, 0, true);
            }
            _ => {}
        }
    }

    fn is_closed(event: &ClientEvent) -> bool {
        matches!(event, ClientEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn opening(&self) -> Vec<u8> {
        let mut bytes = accepted().as_bytes().to_vec();
        bytes.extend(plain(TEXT, initialized(1, self.setup.version, self.setup.opens / 4).as_bytes()));
        bytes
    }

    fn message(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }

    fn refuse(&self, (): &(), client: &mut Client, _is_full: bool, refusals: &mut Refusals) {
        let ledger = self.ledger.borrow();
        for request in ledger.ended.keys() {
            refusals.expect("cancelling an ended request", !client.cancel(*request, None));
        }
        let allowed = [
            NotSent::Unserializable,
            NotSent::NotReady,
            NotSent::Closed,
            NotSent::Full,
            NotSent::TooManyInFlight,
        ];
        refusals.expect_err("an unserializable value", client.notify("x", Some(&Unwritable)), &allowed);
        let sent = client.request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", sent, &allowed);
        if ledger.is_closed {
            refusals.expect_err("after the end", client.list_tools(), &[NotSent::Closed]);
        }
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[]
    }

    fn copied(event: &ClientEvent) -> Option<ClientEvent> {
        Some(event.clone())
    }
}

impl Ledger {
    const fn pushes(&self) -> (usize, usize) {
        (self.pushed, self.notified)
    }

    fn hit(&mut self, what: String) {
        *self.hits.entry(what).or_default() += 1;
    }

    /// Records an event of the client.
    fn record(&mut self, event: &ClientEvent) {
        let (shown, content) = (format!("{event:?}"), event.content_len());
        assert!(
            shown.len() <= 12 * content + 800,
            "{} of {} bytes count: {shown:.200}",
            content,
            shown.len()
        );
        self.content += content;
        self.hit(format!("event {}", name_of(event)));
        match event {
            ClientEvent::Ready(_) => {
                assert!(!self.is_ready, "it becomes ready twice");
                self.is_ready = true;
            }
            ClientEvent::SubprotocolMissing | ClientEvent::Failed(_) => self.is_closing = true,
            ClientEvent::Outcome { request, outcome } => self.outcome(*request, outcome.clone()),
            ClientEvent::Progress { request, progress } => {
                let open = self.open.get_mut(request).expect("only an open request has progress");
                assert!(open.has_progress, "progress that was not asked for");
                assert!(progress.progress > open.reached, "{progress:?} after {}", open.reached);
                open.reached = progress.progress;
            }
            ClientEvent::Form { call, .. } | ClientEvent::Request { call, .. } => {
                assert!(self.calls.insert(*call), "two requests of the editor have the same handle");
                self.begun += 1;
                assert!(self.calls.len() <= 4, "more requests wait than the limit allows");
            }
            ClientEvent::CallEnded { call, reason } => {
                assert!(self.calls.remove(call), "{call:?} ended twice, or after our answer");
                self.hit(format!("call ended {}", name_of(reason)));
                self.given += usize::from(matches!(reason, CallEnd::Expired));
            }
            ClientEvent::Pushed(push) => {
                self.pushed += 1;
                self.last_push = Some(push.notification());
                self.hit(format!("pushed {:?}", push.notification()));
            }
            ClientEvent::Notification { .. } => self.notified += 1,
            ClientEvent::PeerFault(fault) => {
                self.hit(format!("fault {}", name_of(fault)));
                self.shown.push(fault.to_string());
            }
            ClientEvent::PeerError(error) => self.shown.push(error.to_string()),
            ClientEvent::Closed(closed) => {
                assert!(self.open.is_empty(), "{} requests have no outcome at the end", self.open.len());
                assert!(self.calls.is_empty(), "{} requests of the editor have no end", self.calls.len());
                self.is_closed = true;
                self.hit(format!("closed {}", name_of(closed)));
                self.shown.push(closed.to_string());
            }
            ClientEvent::ToolsChanged => {}
            other => panic!("{other:?} is new"),
        }
    }

    fn outcome(&mut self, request: RequestId, outcome: Outcome) {
        let open = self.open.remove(&request).expect("each request has one outcome");
        let word = name_of(&outcome);
        self.hit(format!("outcome {word}"));
        let word = match open.reader.map(|read| read(outcome)) {
            None => word,
            Some(Ok(answer)) => {
                self.shown.push(answer);
                "Ok".into()
            }
            Some(Err(error)) => {
                self.shown.push(error.to_string());
                match error {
                    RequestError::Refused(_) => "Error".into(),
                    error => name_of(&error),
                }
            }
        };
        self.hit(format!("read {word}"));
        self.ended.insert(request, word);
    }

    fn list(&mut self, client: &mut Client, list: List) {
        let sent = client.list(list, Timeout::Default).map(|request| (request, None));
        self.record_request(sent, false);
    }

    /// Records a request of the application.
    fn record_request(&mut self, sent: Result<(RequestId, Option<Reader>), NotSent>, has_progress: bool) {
        match sent {
            Ok((request, reader)) => {
                let open = Open { reader, reached: f64::NEG_INFINITY, has_progress };
                // The number of a request is its id on the wire.
                let shown = format!("{request:?}");
                let id = shown.rsplit(|c: char| !c.is_ascii_digit()).find(|id| !id.is_empty());
                self.names.insert(id.unwrap_or_default().to_owned(), request);
                assert!(!self.ended.contains_key(&request), "a name of a request is used once");
                assert!(self.open.insert(request, open).is_none(), "a name of a request is used once");
                assert!(self.open.len() <= 6, "more requests than the limit allows");
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                self.hit(format!("not sent {error:?}"));
            }
        }
    }

    /// Answers a request of the editor, or tries to answer with something that is not an object, which leaves the
    /// request open. If `in_turn` is true, its event has just come, and the rest of a batch may already have cancelled
    /// the request.
    fn answer(&mut self, client: &mut Client, call: CallId, framing: u8, in_turn: bool) {
        let raw = |text: &str| RawValue::from_string(text.into()).expect("it is JSON");
        let answered = match framing % 8 {
            0 => client.answer_form(call, &FormAnswer::Declined),
            1 => client.answer_form(call, &FormAnswer::Cancelled),
            2 => client.respond_raw(call, &raw(r#"{"action":"accept","content":{"a":"x"}}"#)),
            3 => client.respond_raw(call, &raw("[1]")),
            4 => client.fail(call, ErrorObject::from("from elsewhere")),
            _ => client.fail(call, ErrorObject::new(-1, "no")),
        };
        match answered {
            Ok(()) => {
                self.given += 1;
                assert!(self.calls.remove(&call), "{call:?} is answered twice");
            }
            Err(NotAnswered::Unserializable) => {
                assert!(framing % 8 == 3, "{framing}");
            }
            Err(gone) => {
                let is_cancelled = in_turn && gone == NotAnswered::Cancelled;
                assert!(is_cancelled || self.is_closing, "{call:?}: {gone:?}");
            }
        }
    }
}

/// How bytes arrive and time passes. The results must not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Whole,
    /// A byte at a time, up to 4,096 of them.
    Bytewise,
    /// In pieces of seven bytes, read into the `space` of the machine, with a clock that moves more often.
    Ticked,
}

/// A script on its way through a client.
struct Play<'a> {
    run: Run<'a, Foreign>,
    setup: Setup,
    ledger: Rc<RefCell<Ledger>>,
    arrival: Arrival,
    /// The length of the output that has been read.
    read: usize,
    /// The bytes of the editor.
    fed: usize,
    /// True as long as all bytes of the editor were complete frames after a valid head.
    is_framed: bool,
    /// True as long as each request of the editor was counted.
    is_counted: bool,
    /// How many requests of the editor must be answered or become an event.
    wanted: usize,
    /// How many had become an event before this step.
    begun: usize,
    has_ended: bool,
}

/// What a message must cause.
#[derive(Debug)]
enum Effect {
    /// Anything that the laws allow.
    Any,
    Nothing,
    /// One answer to a request, or its event.
    Request(String),
    /// The end of our request, described by this word.
    End(RequestId, &'static str),
    Push(EditorNotification),
}

/// Checks that no bytes of an editor break a law or a promise of a client.
pub fn ide_client_script(data: &[u8]) {
    ide_client_script_hits(data);
}

/// Plays a script, and returns the count of each situation.
pub fn ide_client_script_hits(data: &[u8]) -> Hits {
    let mut script = Unstructured::new(data);
    let setup = Setup::arbitrary(&mut script).unwrap_or_default();
    let mut acts = Vec::new();
    while let (false, Ok(act)) = (script.is_empty(), Act::arbitrary(&mut script)) {
        acts.push(act);
    }
    let knows_token = data.windows(8).any(|part| part == &TOKEN.as_bytes()[4..12]);
    let subject = Foreign::new(setup.clone());
    let whole = play(&subject, &acts, Arrival::Whole, knows_token);
    // Above the high-water mark, how much input there is room for depends on the pieces.
    if !setup.holds {
        for arrival in [Arrival::Bytewise, Arrival::Ticked] {
            let subject = Foreign::new(setup.clone());
            let cut = play(&subject, &acts, arrival, knows_token);
            let differs = whole.shown.iter().zip(&cut.shown).find(|(one, two)| one != two);
            assert!(differs.is_none(), "{arrival:?}: {differs:?}");
            assert_eq!(whole.shown.len(), cut.shown.len(), "{arrival:?}: another number of events");
            assert!(whole.output == cut.output, "{arrival:?}: another output");
        }
    }
    whole.hits
}

struct Played {
    shown: Vec<String>,
    output: Vec<u8>,
    hits: Hits,
}

fn play(subject: &Foreign, acts: &[Act], arrival: Arrival, knows_token: bool) -> Played {
    let mut play = Play {
        run: Run::new(subject, 2, 0),
        setup: subject.setup.clone(),
        ledger: subject.ledger.clone(),
        arrival,
        read: 0,
        fed: 0,
        is_framed: true,
        is_counted: true,
        wanted: 0,
        begun: 0,
        has_ended: false,
    };
    if !knows_token {
        play.run.act(holds_no_token);
    }
    // The client sends `initialize` before an editor can answer.
    play.run.settle();
    match subject.setup.opens {
        opens if opens % 4 == 0 => play.feed(head(opens / 4).as_bytes()),
        _ => play.feed(&subject.opening()),
    }
    play.rest(&Effect::Any, (0, 0));
    for act in acts {
        play.act(act);
    }
    play.run.finish();
    play.read_output();
    if !knows_token {
        play.run.act(holds_no_token);
    }
    let Play { run, ledger, read, fed, .. } = play;
    let Record { events, output, .. } = run.record();
    assert_eq!(read, output.len(), "the last frame is cut off");
    let mut ledger = ledger.borrow_mut();
    assert!(ledger.is_closed);
    // An event takes at least two bytes of the editor, or a step of ours.
    assert!(events.len() <= fed / 2 + acts.len() * 4 + 200, "{} events of {fed} bytes", events.len());
    assert!(ledger.content <= fed * 20 + 1000, "{} bytes in the events of {fed} bytes", ledger.content);
    if !knows_token {
        for text in run.shown().iter().chain(&ledger.shown) {
            assert!(!text.contains(TOKEN), "the token is in {text}");
        }
    }
    Played { shown: run.shown().to_vec(), output: output.clone(), hits: std::mem::take(&mut ledger.hits) }
}

fn holds_no_token(client: &mut Client) {
    let shown = format!("{client:?}");
    let numbers: Vec<String> = TOKEN[..12].bytes().map(|byte| byte.to_string()).collect();
    assert!(!shown.contains(TOKEN) && !shown.contains(&numbers.join(", ")), "the token is in {shown}");
}

impl Play<'_> {
    fn act(&mut self, act: &Act) {
        let before = self.ledger.borrow().pushes();
        let effect = match act {
            Act::Send(message, framing) => self.send(message, framing),
            Act::Ask(ask) => {
                self.ask(ask);
                Effect::Nothing
            }
            Act::Reply(reply) => {
                self.reply(reply);
                Effect::Nothing
            }
            Act::Link(link) => self.link(link),
        };
        self.rest(&effect, before);
    }

    fn link(&mut self, link: &Link) -> Effect {
        let is_ready = self.ledger.borrow().is_ready;
        match link {
            Link::Batch(one, two) => {
                let batch = format!("[{},{}]", self.text(one).0, self.text(two).0);
                self.feed(&plain(TEXT, batch.as_bytes()));
            }
            Link::Raw(bytes) => {
                self.is_framed = false;
                self.feed(&bytes.0);
            }
            Link::Frame(first, payload) => {
                self.is_framed &= is_ready && matches!(*first, TEXT | BINARY | PING);
                self.feed(&plain(*first, &payload.0));
            }
            Link::Head(of) => {
                self.is_framed &= !is_ready;
                self.feed(head(*of).as_bytes());
            }
            Link::Close(code) if code % 8 == 0 => {
                let code: &[u8] = [b"\x03\xe8".as_slice(), b"", b"\x03\xf1go", b"\x03\xed", b"\x03"]
                    [usize::from(code / 8) % 5];
                self.has_ended = true;
                self.feed(&plain(CLOSE, code));
            }
            Link::Eof(number) if number % 16 == 0 => {
                self.has_ended = true;
                self.run.eof(self.run.now());
            }
            Link::Write(most) => {
                self.run.write(usize::from(*most));
                return Effect::Nothing;
            }
            Link::Wait(span) => {
                self.wait(self.run.now().saturating_add(span.duration()));
                return Effect::Nothing;
            }
            Link::Due => {
                self.wait(self.run.deadline().unwrap_or_else(|| self.run.now()));
                return Effect::Nothing;
            }
            Link::Trim => self.run.trim(),
            Link::Refuse => self.run.refuse(),
            Link::Close(_) | Link::Eof(_) => {}
        }
        Effect::Any
    }

    fn ask(&mut self, ask: &Ask) {
        let timed = |pace: &Pace| matches!(pace, Pace::Progress(..));
        match ask {
            Ask::Tool(which, pace) => self.request(timed(pace), |client| {
                let timeout = Some(pace.timeout()).filter(|timeout| *timeout != Timeout::Default);
                call_tool(client, tool_index(*which), timeout).map(with)
            }),
            Ask::List(of, pace) => {
                let list = KINDS[usize::from(*of) % KINDS.len()];
                if of / 4 % 2 == 0 {
                    return self.request(timed(pace), |client| client.list(list, pace.timeout()).map(bare));
                }
                self.request(false, |client| match list {
                    List::Tools => client.list_tools().map(typed).map(with),
                    List::Resources => client.list_resources().map(typed).map(with),
                    List::ResourceTemplates => client.list_resource_templates().map(typed).map(with),
                    _ => client.list_prompts().map(typed).map(with),
                });
            }
            Ask::Prompt => {
                let prompt = GetPrompt::new("p").argument("a", "b");
                self.request(false, |client| client.get_prompt(&prompt).map(typed).map(with));
            }
            Ask::Resource => {
                let resource = ReadResource::new("ide://a");
                self.request(false, |client| client.read_resource(&resource).map(typed).map(with));
            }
            Ask::Direct(of) => {
                let sent = match of % 3 {
                    0 => DirectRequest::ReadFile(ReadFile::new("a")),
                    1 => DirectRequest::WriteFile(WriteFile::new("a", "b")),
                    _ => DirectRequest::GetCurrentFile,
                };
                self.request(false, |client| client.request_direct(&sent).map(bare));
            }
            Ask::Own(true, pace) => {
                let arguments = RawValue::from_string("{}".into()).expect("it is JSON");
                let tool = OtherTool::new("own", arguments);
                self.request(timed(pace), |client| {
                    client.call_tool_within(&tool, pace.timeout()).map(typed).map(with)
                });
            }
            Ask::Own(false, pace) => self.request(timed(pace), |client| {
                client.request("x/ask", None::<&()>, pace.timeout()).map(bare)
            }),
            Ask::Ping => {
                self.request(false, |client| client.request("ping", None::<&()>, Timeout::Default).map(bare))
            }
            Ask::Cancel(which) => self.cancel(*which),
            Ask::Roots(other) => self.run.act(|client| {
                let _ = client.set_roots(roots(*other).0);
            }),
            Ask::Notify => self.run.act(|client| {
                let _ = client.notify("x/news", None::<&()>);
            }),
            Ask::Leave(number) => {
                if number % 16 == 0 {
                    self.ledger.borrow_mut().is_closing = true;
                    self.run.act(Client::close);
                }
            }
        }
    }

    fn cancel(&mut self, which: u8) {
        let ledger = Rc::clone(&self.ledger);
        let at = usize::from(which).checked_rem(ledger.borrow().open.len());
        let Some(request) = at.and_then(|at| ledger.borrow().open.keys().nth(at).copied()) else { return };
        self.run.act(|client| assert!(client.cancel(request, Some("never mind")), "it is open"));
        self.run.settle();
        let has_ended = ledger.borrow().ended.contains_key(&request);
        assert!(has_ended || !self.delivers(), "{request:?} has no outcome");
    }

    fn reply(&mut self, reply: &Reply) {
        let ledger = Rc::clone(&self.ledger);
        let (Reply::Answer(which, _) | Reply::Wait(which, _) | Reply::Progress(which, _)) = reply;
        let at = usize::from(*which).checked_rem(ledger.borrow().calls.len());
        let Some(call) = at.and_then(|at| ledger.borrow().calls.iter().nth(at).copied()) else { return };
        self.run.act(|client| match reply {
            Reply::Answer(_, framing) => ledger.borrow_mut().answer(client, call, *framing, false),
            Reply::Wait(_, pace) => {
                let waits = client.set_call_timeout(call, pace.timeout());
                assert!(waits.is_ok() || ledger.borrow().is_closing, "{waits:?}");
            }
            Reply::Progress(_, to) => {
                let reported = client.progress(call, &Progress::new(f64::from(*to)));
                assert!(reported.is_ok() || ledger.borrow().is_closing, "{reported:?}");
            }
        });
    }

    /// Returns true if a message of the editor is delivered at once.
    fn delivers(&self) -> bool {
        let ledger = self.ledger.borrow();
        self.is_framed
            && ledger.is_ready
            && !ledger.is_closing
            && !self.has_ended
            && !self.run.has_closed()
            && self.run.unwritten() < MARK
    }

    /// Sends a message of the editor, and returns what it must cause.
    fn send(&mut self, message: &EditorMessage, framing: &Framing) -> Effect {
        let (text, effect) = self.text(message);
        let delivers = self.delivers();
        let bytes = match framing {
            Framing::Text => plain(TEXT, text.as_bytes()),
            Framing::Binary => plain(BINARY, text.as_bytes()),
            Framing::Fragments(at) => {
                let (one, two) = text.as_bytes().split_at(usize::from(*at).min(text.len()));
                [plain(TEXT & 0x7f, one), plain(PING, b"p"), plain(0x80, two)].concat()
            }
            Framing::Cut(at) => {
                self.is_framed = false;
                let bytes = plain(TEXT, text.as_bytes());
                bytes[..usize::from(*at).min(bytes.len())].to_vec()
            }
        };
        self.feed(&bytes);
        match effect {
            _ if !self.is_framed || !delivers => Effect::Any,
            effect => effect,
        }
    }

    /// Returns the text of a message, and what it must cause in an open session.
    fn text(&self, message: &EditorMessage) -> (String, Effect) {
        let ledger = self.ledger.borrow();
        let back = |back: &u8| {
            let len = ledger.wire.len();
            let at = len.checked_sub(1 + usize::from(*back) % len.max(1));
            at.map_or(("1", Kind::Other, None), |at| {
                let (id, kind) = &ledger.wire[at];
                let request = ledger.names.get(id).copied();
                (id.as_str(), *kind, request.filter(|request| ledger.open.contains_key(request)))
            })
        };
        // A changed message may be anything.
        let if_same = |change: &Change, effect| if change.is_none() { effect } else { Effect::Any };
        match message {
            EditorMessage::Initialized(version, capabilities, change) => {
                (change.of(initialized(1, *version, *capabilities)), Effect::Any)
            }
            EditorMessage::Right(of, dialect, change) => {
                let (id, kind, request) = back(of);
                let fails = dialect & 0xe0 == 0;
                let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
                let result = match kind.result(dialect) {
                    Some(_) if fails && matches!(kind, Kind::Tool(_)) => FAILED.into(),
                    Some(result) => result,
                    None => r#"{"tools":[]}"#.into(),
                };
                let text = change.of(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
                let effect = match (kind, request) {
                    (Kind::List(_), _) | (_, None) => Effect::Any,
                    (Kind::Other, Some(request)) => Effect::End(request, "Result Ok"),
                    (Kind::Tool(_), Some(request)) if fails => Effect::End(request, "Failed"),
                    (_, Some(request)) => Effect::End(request, "Ok"),
                };
                (text, if_same(change, effect))
            }
            EditorMessage::Page(of, items, next, change) => {
                let (id, kind, _) = back(of);
                let (member, item) = match kind {
                    Kind::List(List::Resources) => ("resources", r#"{"uri":"u","name":"n"}"#),
                    Kind::List(List::ResourceTemplates) => {
                        ("resourceTemplates", r#"{"uriTemplate":"u","name":"n"}"#)
                    }
                    Kind::List(List::Prompts) => ("prompts", r#"{"name":"n"}"#),
                    _ => ("tools", r#"{"name":"n","inputSchema":{}}"#),
                };
                let items = vec![item; usize::from(items & 3)].join(",");
                let next = CURSORS[usize::from(*next) % CURSORS.len()];
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"{member}":[{items}],"nextCursor":{next}}}}}"#
                );
                (change.of(text), Effect::Any)
            }
            EditorMessage::Error(of, code, change) => {
                let (id, kind, request) = back(of);
                let code = [-32601, -32602, -32603, -1, 0, -32800][usize::from(*code) % 6];
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"m","data":{{"a":1}}}}}}"#
                );
                let effect = match (kind, request) {
                    (Kind::List(_), _) | (_, None) => Effect::Any,
                    (_, Some(request)) => Effect::End(request, "Error"),
                };
                (change.of(text), if_same(change, effect))
            }
            EditorMessage::Any(id, what) => {
                let what = [
                    r#""result":{}"#,
                    r#""result":null"#,
                    r#""result":{"content":[],"isError":true}"#,
                    r#""result":{"content":[{"type":"text","text":"\ud83d"}]}"#,
                    r#""error":null"#,
                    r#""error":{"code":1e3,"message":null}"#,
                    r#""result":{},"error":{"code":1,"message":"m"}"#,
                ][usize::from(*what) % 7];
                (format!(r#"{{"jsonrpc":"2.0","id":{},{what}}}"#, id % 16), Effect::Any)
            }
            EditorMessage::Push(of, form, is_prefixed, change) => {
                let (name, forms) = PUSHES[usize::from(*of) % PUSHES.len()];
                let text = push(name, *is_prefixed, forms[usize::from(*form) % forms.len()], "s");
                let notice = EditorNotification::from_name(name).expect("it is the name of a push");
                (change.of(text), if_same(change, Effect::Push(notice)))
            }
            EditorMessage::Long(len, of) => {
                let long = "\u{e9}".repeat(usize::from(*len) / 2);
                let form = |message: &str, value: &str| {
                    format!(
                        r#"{{"message":"{message}","requestedSchema":{{"type":"object","properties":{{"a":{{"type":"string","enum":["{value}"]}}}}}}}}"#
                    )
                };
                let request = |method: &str, params: &str| {
                    let id = format!("\"e{}\"", of / 16 % 8);
                    let text =
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
                    (text, Effect::Request(id))
                };
                let notice = |method: &str, params: &str| {
                    let text = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
                    (text, Effect::Nothing)
                };
                match of % 8 {
                    0 => request("elicitation/create", &form(&long, "v")),
                    1 => request("elicitation/create", &form("m", &long)),
                    2 => request("x/ask", &format!(r#"{{"a":"{long}"}}"#)),
                    3 => notice(
                        "notifications/cancelled",
                        &format!(r#"{{"requestId":"e{}","reason":"{long}"}}"#, of / 16 % 8),
                    ),
                    4 => notice("x/news", &format!(r#"["{long}"]"#)),
                    5 => (
                        format!(
                            r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"{long}","data":["{long}"]}}}}"#
                        ),
                        Effect::Nothing,
                    ),
                    _ => {
                        let (name, forms) = PUSHES[0];
                        let text = push(name, false, forms[0], &long);
                        (text, Effect::Push(EditorNotification::SelectionChanged))
                    }
                }
            }
            EditorMessage::Progress(of, to, change) => {
                // Most reports belong to a request that wants them.
                let is_watched = |request| ledger.open.get(request).is_some_and(|open| open.has_progress);
                let watched: Vec<&String> = ledger
                    .names
                    .iter()
                    .filter(|(_, request)| is_watched(request))
                    .map(|(id, _)| id)
                    .collect();
                let at = usize::from(of / 4).checked_rem(watched.len()).filter(|_| of % 4 != 0);
                let id = at.map_or_else(|| back(of).0, |at| watched[at]);
                let text = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{to},"total":9,"message":"m"}}}}"#
                );
                (change.of(text), if_same(change, Effect::Nothing))
            }
            EditorMessage::Served(id, of, change) => {
                let rows: Vec<_> = SERVED.iter().filter(|row| is_served(false, row.method)).collect();
                let row = rows[usize::from(*of) % rows.len()];
                let params = if row.params.is_empty() { "{}" } else { row.params };
                let id = format!("\"e{}\"", id & 7);
                let text =
                    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{}","params":{params}}}"#, row.method);
                (change.of(text), if_same(change, Effect::Request(id)))
            }
            EditorMessage::Ask(id, method) => {
                let method = METHODS[usize::from(*method) % METHODS.len()];
                let id = format!("\"e{}\"", id & 7);
                (format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#), Effect::Request(id))
            }
            EditorMessage::Cancelled(id) => (
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"e{}","reason":"r"}}}}"#,
                    id & 7
                ),
                Effect::Nothing,
            ),
            EditorMessage::Notice(of, change) => (
                change.of(NOTICES[usize::from(*of) % NOTICES.len()].into()),
                if_same(change, Effect::Nothing),
            ),
            EditorMessage::Text(bytes) => (String::from_utf8_lossy(&bytes.0).into_owned(), Effect::Any),
        }
    }

    fn request(
        &mut self,
        has_progress: bool,
        ask: impl FnOnce(&mut Client) -> Result<(RequestId, Option<Reader>), NotSent>,
    ) {
        let ledger = Rc::clone(&self.ledger);
        self.run.act(|client| {
            let sent = ask(client);
            ledger.borrow_mut().record_request(sent, has_progress);
        });
    }

    fn feed(&mut self, bytes: &[u8]) {
        // A script stays below the mark. Above it, the room depends on the pieces.
        if self.run.unwritten() >= MARK && !self.setup.holds {
            self.run.write(usize::MAX);
            self.run.settle();
        }
        self.fed += bytes.len();
        let mut rest = bytes;
        while !rest.is_empty() {
            let len = match self.arrival {
                Arrival::Whole => rest.len(),
                Arrival::Bytewise if bytes.len() - rest.len() < 4096 => 1,
                Arrival::Bytewise => rest.len(),
                Arrival::Ticked => rest.len().min(7.max(bytes.len() / 64)),
            };
            let (piece, behind) = rest.split_at(len);
            rest = behind;
            match self.arrival {
                Arrival::Whole => self.run.feed_wanted(self.run.now(), piece),
                Arrival::Bytewise => {
                    self.run.feed_wanted(self.run.now(), piece);
                    self.run.settle();
                }
                Arrival::Ticked => {
                    self.run.read_all(self.run.now(), piece);
                    self.run.trim();
                }
            }
        }
        self.run.settle();
    }

    /// Lets time pass, and each timer fire when it is due.
    fn wait(&mut self, until: Time) {
        for _ in 0..10_000 {
            let due = self.run.deadline().filter(|due| *due <= until).unwrap_or(until);
            if self.arrival == Arrival::Ticked {
                let now = self.run.now();
                let half = due.since_start().saturating_sub(now.since_start()) / 2;
                self.run.tick(now.saturating_add(half));
            }
            self.run.tick(due);
            self.read_output();
            if !self.setup.holds {
                self.run.write(usize::MAX);
                self.run.settle();
            }
            if due >= until {
                return;
            }
        }
    }

    /// Delivers everything, and checks the effect of the last step.
    fn rest(&mut self, effect: &Effect, before: (usize, usize)) {
        self.run.settle();
        self.read_output();
        self.check(effect, before);
        if !self.setup.holds {
            self.run.write(usize::MAX);
            self.run.settle();
            self.read_output();
        }
    }

    fn check(&mut self, effect: &Effect, (pushed, notified): (usize, usize)) {
        let delivers = self.delivers();
        self.is_counted &= self.run.unwritten() < MARK;
        let ledger = self.ledger.borrow();
        let by_itself =
            ledger.answers.checked_sub(ledger.given).expect("the application has given every answer");
        let found = by_itself + ledger.begun;
        match effect {
            Effect::Request(id) => {
                self.wanted += 1;
                let is_answered = ledger.begun == self.begun;
                assert!(!delivers || !is_answered || ledger.last_answer == *id, "{id} has no answer");
            }
            Effect::Any => self.wanted = found,
            Effect::End(request, end) if delivers => {
                let word = ledger.ended.get(request).map(String::as_str);
                assert!(
                    word.is_some_and(|word| end.split(' ').any(|end| end == word)),
                    "{request:?} is {word:?} instead of {end}"
                );
            }
            Effect::Push(_) if delivers && self.setup.raw => assert_eq!(ledger.notified, notified + 1),
            Effect::Push(notice) if delivers => {
                assert_eq!((ledger.pushed, ledger.last_push), (pushed + 1, Some(*notice)));
            }
            Effect::Push(_) | Effect::End(..) | Effect::Nothing => {}
        }
        if delivers && self.is_counted {
            assert_eq!(found, self.wanted, "the requests of the editor, and their answers and events");
        }
        self.begun = ledger.begun;
    }

    /// Reads the new output: our requests, and our answers.
    fn read_output(&mut self) {
        let output = &self.run.record().output;
        if self.read == 0 {
            self.read = head_len(output);
        }
        let (frames, rest) = whole(&output[self.read..]);
        self.read = output.len() - rest.len();
        for frame in frames {
            assert!(frame.key.is_some(), "a client masks");
            if frame.first == TEXT {
                self.wrote(&frame.text());
            }
        }
    }

    fn wrote(&mut self, text: &str) {
        let mut ledger = self.ledger.borrow_mut();
        for message in Message::sent(text).unwrap_or_else(|fault| panic!("{fault}")) {
            if let Some(answer) = message.answer() {
                ledger.answers += 1;
                ledger.last_answer = answer.id;
            } else if let (Some(method), Some(id)) = (message.method(), message.get("id")) {
                assert!(ledger.wire.iter().all(|(known, _)| known != id), "{id} is used twice");
                ledger.wire.push((id.to_owned(), kind(method, message.get("params").unwrap_or("{}"))));
            }
        }
    }
}

fn bare(request: RequestId) -> (RequestId, Option<Reader>) {
    (request, None)
}

fn with((request, reader): (RequestId, Reader)) -> (RequestId, Option<Reader>) {
    (request, Some(reader))
}

fn kind(method: &str, params: &str) -> Kind {
    match method {
        "tools/list" => Kind::List(List::Tools),
        "resources/list" => Kind::List(List::Resources),
        "resources/templates/list" => Kind::List(List::ResourceTemplates),
        "prompts/list" => Kind::List(List::Prompts),
        "prompts/get" => Kind::Prompt,
        "resources/read" => Kind::Resource,
        "tools/call" => {
            let params: Value = serde_json::from_str(params).expect("they are JSON");
            let tool = params["name"].as_str().and_then(Tool::from_name);
            let at = Tool::ALL.iter().position(|other| Some(*other) == tool);
            at.map_or(Kind::Other, Kind::Tool)
        }
        _ => Kind::Other,
    }
}

/// Returns a random script with few acts that end the connection.
pub fn random_ide_client_script(random: &mut Random) -> Vec<u8> {
    let mut script = random.bytes(10);
    let steps = 10 + random.below(60);
    script.extend(random_script(random, steps, |act: &Act, _, random| match act {
        Act::Send(_, Framing::Cut(_)) => random.one_in(4),
        Act::Send(EditorMessage::Initialized(..) | EditorMessage::Text(_) | EditorMessage::Any(..), _) => {
            random.one_in(8)
        }
        Act::Send(..) | Act::Reply(_) => true,
        Act::Ask(Ask::Tool(_, Pace::Progress(..))) => true,
        Act::Ask(Ask::Tool(..)) => random.one_in(2),
        Act::Ask(_) => random.one_in(6),
        Act::Link(Link::Wait(span)) => span.duration() < Duration::from_secs(3) || random.one_in(16),
        Act::Link(Link::Raw(_) | Link::Frame(..) | Link::Head(_)) => random.one_in(32),
        Act::Link(_) => random.one_in(4),
    }));
    script
}
