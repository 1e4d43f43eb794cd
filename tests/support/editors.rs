//! The IDE layer as subjects of the laws: one connection of an editor, an agent, and a host seen through one of its
//! connections.

use super::frames::{frame, head_len, masked, read};
use super::laws::{Calls, Record, Subject};
use super::random::Random;
use ide_mcp::ide::{
    AuthToken, Client, ClientConfig, ClientEvent, CloseTab, ConnId, DiffEnd, DiffOutcome, GetDiagnostics,
    Host, HostConfig, HostEvent, HostWire, Mention, OpenDiff, Policy, Range, Selection, Server, ServerConfig,
    ServerEvent, Tool, ToolRequest, ToolSet,
};
use ide_mcp::mcp::{CallEnd, Implementation, Timeout, ToolResult};
use ide_mcp::rpc::{CallId, Gone, RequestId, SessionId};
use ide_mcp::{Machine, Time, Wire};
use serde_json::Value;
use std::collections::BTreeMap;

/// Small enough that the laws about it are quick, large enough that a selection finds room.
const MARK: usize = 8192;
const PORT: u16 = 41111;
const TOKEN: &str = "tok-0123456789abcdef0123456789abcdef";

fn token() -> AuthToken {
    AuthToken::from_text(TOKEN).unwrap()
}

fn server_config() -> ServerConfig {
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).own(
        "echo",
        "",
        r#"{"type":"object"}"#,
    );
    let mut config = ServerConfig::new(Implementation::new("editor", "1"), Policy::new(PORT, token()), tools);
    config.limits.outgoing = MARK;
    config
}

fn head(token: &str) -> String {
    format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
         Sec-WebSocket-Protocol: mcp\r\nX-Claude-Code-Ide-Authorization: {token}\r\n\r\n"
    )
}

const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}},"jsonrpc":"2.0","id":0}"#;
const INITIALIZED: &str = r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#;
const CONNECTED: &str = r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":24316}}"#;

fn call(id: &str, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

fn open_diff(id: &str, tab: &str) -> String {
    let arguments = format!(
        r#"{{"old_file_path":"/a","new_file_path":"/a","new_file_contents":"x\ny","tab_name":"{tab}"}}"#
    );
    call(id, "openDiff", &arguments)
}

fn talk(texts: &[&str]) -> Vec<u8> {
    texts.iter().flat_map(|text| masked(0x81, text.as_bytes())).collect()
}

/// What a client says, of everything that a server has an answer or an event for.
fn client_scripts() -> Vec<Vec<u8>> {
    let opening = [head(TOKEN).into_bytes(), talk(&[INITIALIZE, INITIALIZED, CONNECTED])].concat();
    let with = |texts: &[&str]| [&opening[..], &talk(texts)].concat();
    let list = r#"{"method":"tools/list","jsonrpc":"2.0","id":1}"#;
    let close_tab = |id: &str, tab: &str| call(id, "close_tab", &format!(r#"{{"tab_name":"{tab}"}}"#));
    vec![
        with(&[
            list,
            &open_diff("2", "a"),
            &call("3", "getDiagnostics", "{}"),
            &close_tab("4", "a"),
            &close_tab("5", "a"),
            &call("6", "closeAllDiffTabs", "{}"),
        ]),
        with(&[
            &open_diff("\"x\"", "a"),
            &open_diff("2", "a"),
            &open_diff("2", "b"),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x","reason":"no"}}"#,
            &call("7", "echo", r#"{"deep":[[[]]]}"#),
            r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":"unknown"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
            &call("10", "closeAllDiffTabs", "{}"),
        ]),
        with(&[
            &open_diff("2", "left open"),
            &call("3", "echo", "{}"),
            &call("4", "nobody", "{}"),
            &call("5", "openDiff", "{}"),
            "this is no message",
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        ]),
        with(&["1", "2", "3", "4", "5", "6", "7", "8", "9", &call("3", "echo", "{}")]),
        [&opening[..], &talk(&[&open_diff("2", "a")]), &masked(0x88, b"\x03\xe8"), &talk(&[list])].concat(),
        [&opening[..], &talk(&[&open_diff("2", "a")]), &masked(0x82, b"binary")].concat(),
        [head("wrong").into_bytes(), talk(&[INITIALIZE])].concat(),
    ]
}

/// An application of an editor: what it knows, and a source of decisions.
pub struct Editor {
    random: Option<Random>,
    waiting: Vec<(CallId, ToolRequest)>,
    ended: Vec<CallId>,
}

impl Editor {
    fn new(seed: u64) -> Self {
        Self { random: (seed != 0).then(|| Random::new(seed)), waiting: Vec::new(), ended: Vec::new() }
    }

    fn choose(&mut self, bound: usize) -> usize {
        self.random.as_mut().map_or(0, |random| random.below(bound))
    }

    /// What to do about an event, through functions that are the same for a server and a host.
    fn hears(
        &mut self,
        event: &ServerEvent,
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), Gone>,
    ) {
        if let ServerEvent::CallEnded { call, .. } | ServerEvent::DiffClosed { call, .. } = event {
            self.waiting.retain(|(open, _)| open != call);
            self.ended.push(*call);
        }
        if let Some(call) = self.ended.last() {
            assert!(respond(*call, &ToolResult::text("too late")).is_err(), "an ended call was answered");
        }
        if let ServerEvent::Call { call, request } = event {
            match self.choose(4) {
                0 => self.answer(*call, request, respond),
                1 => {}
                _ => self.waiting.push((*call, request.clone())),
            }
        }
        if self.choose(3) == 2 && !self.waiting.is_empty() {
            let at = self.choose(self.waiting.len());
            let (call, request) = self.waiting.remove(at);
            self.answer(call, &request, respond);
        }
    }

    fn answer(
        &mut self,
        call: CallId,
        request: &ToolRequest,
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), Gone>,
    ) {
        let saved = DiffOutcome::Saved { contents: "edited".into() };
        let result = match request {
            ToolRequest::OpenDiff(_) => ToolResult::diff(&saved),
            ToolRequest::GetDiagnostics(_) => ToolResult::diagnostics(&[]),
            _ => ToolResult::text("text"),
        };
        if respond(call, &result).is_ok() {
            self.ended.push(call);
        }
    }
}

fn selection(n: usize) -> Selection {
    Selection::new("/a", Range::default(), "s".repeat(n))
}

/// The calls that a client made and how they ended: by an answer on the wire, or by an event that says that there is
/// none.
fn calls_of<'a>(events: impl Iterator<Item = &'a ServerEvent>, output: &[u8]) -> Calls {
    let (mut calls, mut open) = (Calls::default(), BTreeMap::new());
    let mut unanswered = 0;
    for event in events {
        match event {
            ServerEvent::Call { call, .. } => {
                open.insert(*call, ());
                calls.begun.push("call".into());
            }
            ServerEvent::CallEnded { how: CallEnd::Cancelled { .. } | CallEnd::Closed, .. }
            | ServerEvent::DiffClosed { why: DiffEnd::Cancelled | DiffEnd::Disconnected, .. } => {
                unanswered += 1;
            }
            _ => {}
        }
    }
    // Only answers to calls that became events count: results of tools have `content`. What the machine answers by
    // itself is told apart by its text.
    let answered = texts(output)
        .iter()
        .filter_map(|message| message["result"]["content"][0]["text"].as_str().map(str::to_owned))
        .filter(|text| text != "TAB_CLOSED" && !text.starts_with("CLOSED_"))
        .count();
    calls.ended = vec!["call".into(); answered + unanswered];
    calls
}

/// The texts of the frames behind the head of an answer.
fn texts(output: &[u8]) -> Vec<Value> {
    if !output.starts_with(b"HTTP/1.1 101") {
        return Vec::new();
    }
    read(&output[head_len(output)..])
        .into_iter()
        .filter(|frame| frame.first == 0x81)
        .map(|frame| serde_json::from_slice(&frame.payload).unwrap())
        .collect()
}

/// `ide::Server` with an application that answers at once, later, or never.
#[derive(Debug)]
pub struct IdeServer;

impl Subject for IdeServer {
    type Machine = Server;
    type App = Editor;

    fn name(&self) -> String {
        "ide::Server".into()
    }

    fn make(&self, now: Time) -> Server {
        Server::new(server_config(), SessionId::new(7), now)
    }

    fn app(&self, seed: u64) -> Editor {
        Editor::new(seed)
    }

    fn react(&self, app: &mut Editor, machine: &mut Server, event: &ServerEvent) {
        match app.choose(12) {
            7 => drop(machine.select(selection(300))),
            8 => drop(machine.mention(&Mention::new("/a", Some((1, 2))))),
            9 => drop(machine.request("roots/list", None::<&()>, Timeout::Default)),
            10 => drop(machine.set_tools(ToolSet::new().handle(Tool::OpenDiff).own("echo", "", "{}"))),
            11 if app.choose(3) == 2 => machine.shutdown(),
            _ => {}
        }
        app.hears(event, &mut |call, result| machine.respond(call, result));
    }

    fn is_closed(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        client_scripts()
    }

    fn opening(&self) -> Vec<u8> {
        [head(TOKEN).into_bytes(), talk(&[INITIALIZE, INITIALIZED, CONNECTED])].concat()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        let arguments = format!(r#"{{"padding":"{}"}}"#, "p".repeat(len.saturating_sub(100)));
        talk(&[&format!(r#"{{"jsonrpc":"2.0","id":"same","method":"ping","params":{arguments}}}"#)])
    }

    fn mark(&self) -> usize {
        MARK
    }

    fn refused(&self, machine: &mut Server) -> bool {
        refused(machine)
    }

    fn calls(&self, record: &Record<ServerEvent>) -> Calls {
        calls_of(record.events.iter(), &record.output)
    }
}

/// Answers to calls of others and of nobody, and pushes that cannot be heard.
fn refused(machine: &mut Server) -> bool {
    let hears = machine.is_hearing();
    let other = other_call();
    machine.respond(other, &ToolResult::text("x")).is_err()
        && machine.fail(other, 1, "x").is_err()
        && (hears || machine.mention(&Mention::new("/a", None)).is_err())
}

/// A call of another session.
fn other_call() -> CallId {
    let mut other = Server::new(server_config(), SessionId::new(99), Time::ZERO);
    other.feed(Time::ZERO, head(TOKEN).as_bytes());
    other.feed(Time::ZERO, &talk(&[INITIALIZE, INITIALIZED, &open_diff("1", "a")]));
    loop {
        match other.poll_event() {
            Some(ServerEvent::Call { call, .. }) => return call,
            Some(_) => {}
            None => panic!("there was no call"),
        }
    }
}

/// An `ide::Host` with a second client attached, seen through the connection of the first.
#[derive(Debug)]
pub struct IdeHost;

/// The host as the `Wire` of one of its connections. What `HostWire` shows is kept, since a guard cannot be lent from.
#[derive(Debug)]
pub struct OneOfHost {
    host: Host,
    conn: ConnId,
    space: Vec<u8>,
    outgoing: Vec<u8>,
    wants_input: bool,
    is_done: bool,
}

impl OneOfHost {
    fn new(now: Time) -> Self {
        let mut config = HostConfig::new(server_config());
        config.strangers = 2;
        let mut host = Host::new(config);
        let other = host.connect(now);
        host.wire(other).unwrap().feed(now, &IdeServer.opening());
        while host.poll_event().is_some() {}
        let conn = host.connect(now);
        while host.poll_transmit().is_some() {}
        let mut machine =
            Self { host, conn, space: Vec::new(), outgoing: Vec::new(), wants_input: true, is_done: false };
        machine.look();
        machine
    }

    /// Does something with the wire, if it is still there, and keeps what it shows then.
    fn with(&mut self, act: impl FnOnce(&mut HostWire<'_>)) {
        if let Some(mut wire) = self.host.wire(self.conn) {
            act(&mut wire);
        }
        self.look();
    }

    fn look(&mut self) {
        let Some(mut wire) = self.host.wire(self.conn) else { return };
        self.space.resize(wire.space().len(), 0);
        self.outgoing.clear();
        self.outgoing.extend_from_slice(wire.outgoing());
        self.wants_input = wire.wants_input();
        self.is_done = wire.is_done();
    }
}

impl Wire for OneOfHost {
    fn space(&mut self) -> &mut [u8] {
        &mut self.space
    }

    fn filled(&mut self, now: Time, n: usize) {
        let filled = std::mem::take(&mut self.space);
        self.with(|wire| {
            wire.space().copy_from_slice(&filled);
            wire.filled(now, n);
        });
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.with(|wire| wire.feed(now, bytes));
    }

    fn feed_eof(&mut self, now: Time) {
        self.with(|wire| wire.feed_eof(now));
    }

    fn outgoing(&self) -> &[u8] {
        &self.outgoing
    }

    fn sent(&mut self, n: usize) {
        self.with(|wire| wire.sent(n));
    }

    fn wants_input(&self) -> bool {
        self.wants_input
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn trim(&mut self) {
        self.with(|wire| wire.trim());
    }
}

impl Machine for OneOfHost {
    type Event = ServerEvent;

    fn tick(&mut self, now: Time) {
        self.host.tick(now);
        self.look();
    }

    /// The events of this connection; those of the other are of no interest.
    fn poll_event(&mut self) -> Option<ServerEvent> {
        let found = loop {
            match self.host.poll_event() {
                Some(HostEvent::Connection { conn, event }) if conn == self.conn => break Some(event),
                Some(_) => {}
                None => break None,
            }
        };
        self.look();
        found
    }

    fn deadline(&self) -> Option<Time> {
        self.host.deadline()
    }
}

impl Subject for IdeHost {
    type Machine = OneOfHost;
    type App = Editor;

    fn name(&self) -> String {
        "ide::Host".into()
    }

    fn make(&self, now: Time) -> OneOfHost {
        OneOfHost::new(now)
    }

    fn app(&self, seed: u64) -> Editor {
        Editor::new(seed)
    }

    fn react(&self, app: &mut Editor, machine: &mut OneOfHost, event: &ServerEvent) {
        let (host, conn) = (&mut machine.host, machine.conn);
        match app.choose(12) {
            7 | 8 => drop(host.select(Time::ZERO, selection(app.choose(300)))),
            9 => drop(host.mention(Time::ZERO, Mention::new("/a", None), Some(conn))),
            10 => drop(host.mention(Time::ZERO, Mention::new("/b", Some((1, 2))), None)),
            11 if app.choose(3) == 2 => host.shutdown(Time::ZERO),
            _ => {}
        }
        app.hears(event, &mut |call, result| host.respond(call, result));
        machine.look();
    }

    fn is_closed(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        client_scripts()
    }

    fn opening(&self) -> Vec<u8> {
        IdeServer.opening()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        IdeServer.message(len)
    }

    fn mark(&self) -> usize {
        MARK
    }

    fn refused(&self, machine: &mut OneOfHost) -> bool {
        let other = other_call();
        machine.host.respond(other, &ToolResult::text("x")).is_err()
            && machine.host.fail(other, 1, "x").is_err()
            && machine
                .host
                .mention(Time::ZERO, Mention::new("/a", None), Some(ConnId::of_call(other)))
                .is_err()
    }

    fn transmit(&self, machine: &mut OneOfHost) -> bool {
        machine.host.poll_transmit().is_some()
    }

    fn calls(&self, record: &Record<ServerEvent>) -> Calls {
        calls_of(record.events.iter(), &record.output)
    }
}

/// `ide::Client` with an application that asks.
#[derive(Debug)]
pub struct IdeClient;

/// What an agent asked so far.
pub struct Agent {
    random: Option<Random>,
    asked: Vec<RequestId>,
}

impl Subject for IdeClient {
    type Machine = Client<Random>;
    type App = Agent;

    fn name(&self) -> String {
        "ide::Client".into()
    }

    fn make(&self, now: Time) -> Client<Random> {
        let mut config = ClientConfig::new(Implementation::new("agent", "1"), PORT, Some(token()));
        config.pid = Some(7);
        config.limits.outgoing = MARK;
        Client::new(config, Random::new(7), SessionId::new(1), now).unwrap()
    }

    fn app(&self, seed: u64) -> Agent {
        Agent { random: (seed != 0).then(|| Random::new(seed)), asked: Vec::new() }
    }

    fn react(&self, app: &mut Agent, machine: &mut Client<Random>, event: &ClientEvent) {
        if matches!(event, ClientEvent::Ready(_)) {
            app.asked.extend(machine.list_tools());
        }
        let choice = app.random.as_mut().map_or(0, |random| random.below(8));
        let asked = match choice {
            1 => machine.call(&ToolRequest::OpenDiff(OpenDiff::new("/a", "x", "t"))),
            2 => machine.call(&ToolRequest::GetDiagnostics(GetDiagnostics::new(None))),
            3 => machine.call(&ToolRequest::CloseTab(CloseTab::new("t"))),
            4 => machine.request("ping", None::<&()>, Timeout::Never),
            5 => {
                if let Some(request) = app.asked.pop() {
                    machine.cancel(request, Some("never mind"));
                }
                return;
            }
            6 if app.random.as_mut().is_some_and(|random| random.one_in(8)) => return machine.close(),
            _ => return,
        };
        app.asked.extend(asked);
    }

    fn is_closed(event: &ClientEvent) -> bool {
        matches!(event, ClientEvent::Closed(_))
    }

    fn scripts(&self) -> Vec<Vec<u8>> {
        let text = |text: &str| frame(0x81, None, text.as_bytes());
        let initialized = text(
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"e","version":"1"}}}"#,
        );
        let ready = [self.opening(), initialized].concat();
        let answer = |id: u32| text(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#));
        let pushes = [
            text(r#"{"jsonrpc":"2.0","method":"selection_changed","params":{"text":"s","filePath":"/a"}}"#),
            text(r#"{"jsonrpc":"2.0","method":"at_mentioned","params":{"filePath":"/a"}}"#),
            text(r#"{"jsonrpc":"2.0","id":9001,"method":"ping"}"#),
            text(r#"{"jsonrpc":"2.0","id":9002,"method":"nonexistent/method","params":{}}"#),
        ]
        .concat();
        let error = text(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no"}}"#);
        let refused = text(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}"#);
        let unknown = text(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"1999-01-01"}}"#);
        let without_mcp =
            String::from_utf8(self.opening()).unwrap().replace("\r\nSec-WebSocket-Protocol: mcp", "");
        vec![
            [ready.clone(), answer(2), pushes.clone(), answer(4), answer(3), answer(3), answer(5)].concat(),
            [ready.clone(), pushes.clone(), error, answer(2), answer(77), pushes.clone(), answer(6)].concat(),
            [ready.clone(), pushes, frame(0x82, None, b"[]"), answer(2), frame(0x88, None, b"\x03\xe9")]
                .concat(),
            [ready, (0..9).flat_map(|_| text("no")).collect(), answer(2)].concat(),
            [self.opening(), refused].concat(),
            [self.opening(), unknown, answer(2)].concat(),
            without_mcp.into(),
            b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ]
    }

    /// The answer to the request that the fixed seed makes.
    fn opening(&self) -> Vec<u8> {
        let client = self.make(Time::ZERO);
        let mut server = IdeServer.make(Time::ZERO);
        server.feed(Time::ZERO, client.outgoing());
        assert!(server.poll_event().is_none());
        server.outgoing().to_vec()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        let padding = "p".repeat(len.saturating_sub(100));
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":"same","method":"ping","params":{{"padding":"{padding}"}}}}"#);
        frame(0x81, None, text.as_bytes())
    }

    fn mark(&self) -> usize {
        MARK
    }

    fn refused(&self, machine: &mut Client<Random>) -> bool {
        machine.is_ready()
            || machine.list_tools().is_err()
                && machine.notify("x", None::<&()>).is_err()
                && machine.call(&ToolRequest::CloseAllDiffTabs).is_err()
    }

    fn calls(&self, record: &Record<ClientEvent>) -> Calls {
        let mut calls = Calls::default();
        if record.output.starts_with(b"GET ") {
            for frame in read(&record.output[head_len(&record.output)..]) {
                let message = serde_json::from_slice::<Value>(&frame.payload).unwrap_or_default();
                if message["method"].is_string()
                    && message["id"].is_u64()
                    && message["method"] != "initialize"
                {
                    calls.begun.push("request".into());
                }
            }
        }
        let ended = record.events.iter().filter(|event| matches!(event, ClientEvent::Outcome { .. })).count();
        calls.ended = vec!["request".into(); ended];
        calls
    }
}
