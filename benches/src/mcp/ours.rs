//! This crate: the session alone, which receives text; and the session with WebSocket and dialect, which
//! receives frames.

use super::calls::{INITIALIZE, INITIALIZED, TAB, check, frame};
#[cfg(feature = "check")]
use ide_mcp::ide::Selection;
#[cfg(feature = "check")]
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{Diagnostics, DiffOutcome, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{self, Auth, ConnId, Policy, ServerConfig, ServerEvent};
use ide_mcp::mcp::{self, Content, Implementation, ToolResult, ToolSpec, Tools};
use ide_mcp::rpc::{CallId, NotSent, SessionId};
use ide_mcp::{Outbox, Output, Time, To};
use serde::{Deserialize, Deserializer};
use std::hint::black_box;
#[cfg(feature = "check")]
use std::time::Duration;

/// The time of every step: in these measurements no time passes.
const NOW: Time = Time::ZERO;

/// The outbox of the session alone: a buffer that is reused.
#[derive(Default)]
struct Text(Vec<u8>);

impl Outbox for Text {
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        write(&mut self.0);
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }
}

/// The tools of the session alone.
struct Typed([ToolSpec; 2]);

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is only decoded")]
pub struct OpenDiff {
    old_file_path: String,
    new_file_path: String,
    new_file_contents: String,
    pub tab_name: String,
}

#[derive(Deserialize)]
#[allow(dead_code, reason = "it is only decoded")]
struct GetDiagnostics {
    uri: Option<String>,
}

enum BenchCall {
    OpenDiff(OpenDiff),
    #[allow(dead_code, reason = "it is only decoded")]
    GetDiagnostics(GetDiagnostics),
}

impl Tools for Typed {
    type Call = BenchCall;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<BenchCall, D::Error> {
        match name {
            "openDiff" => OpenDiff::deserialize(arguments).map(BenchCall::OpenDiff),
            _ => GetDiagnostics::deserialize(arguments).map(BenchCall::GetDiagnostics),
        }
    }
}

/// The session alone, after the handshake.
pub struct Session {
    server: mcp::Server<Typed>,
    out: Text,
}

impl Session {
    pub fn open() -> Self {
        let tools = Typed(["openDiff", "getDiagnostics"].map(|name| ToolSpec::new(name, "", "{}")));
        let config = mcp::ServerConfig::new(Implementation::new("editor", "1"));
        let mut session =
            Self { server: mcp::Server::new(config, tools, SessionId::new(1)), out: Text::default() };
        for text in [INITIALIZE, INITIALIZED] {
            session.server.receive(NOW, text, &mut session.out);
        }
        while session.server.poll(NOW, &mut session.out).is_some() {}
        session.out.0.clear();
        session
    }

    /// Receives a call and answers it.
    pub fn serve(&mut self, text: &str) {
        let (call, arguments) = self.take(text);
        match black_box(arguments) {
            BenchCall::OpenDiff(diff) => {
                let blocks = vec![Content::text("DIFF_REJECTED"), Content::text(diff.tab_name)];
                self.server.respond(call, &ToolResult::new(blocks), &mut self.out).expect("it is open");
            }
            BenchCall::GetDiagnostics(_) => {
                self.server.respond(call, &ToolResult::text("[]"), &mut self.out).expect("it is open");
            }
        }
        black_box(&self.out.0);
        self.out.0.clear();
    }

    /// Receives a call and leaves it open.
    #[cfg(feature = "check")]
    pub fn leave_open(&mut self, text: &str) {
        drop(self.take(text));
    }

    fn take(&mut self, text: &str) -> (CallId, BenchCall) {
        self.server.receive(NOW, text, &mut self.out);
        match self.server.poll(NOW, &mut self.out) {
            Some(mcp::ServerEvent::Call { call, tool }) => (call, tool),
            other => panic!("{}", other.map_or("nothing came", |_| "another event came")),
        }
    }
}

/// After this many calls every table of a session has its full size, because a session remembers 256 ended
/// calls.
const WARM: usize = 300;

/// Answers calls that all have this text.
pub fn session(text: String) -> impl FnMut(usize) {
    let mut session = Session::open();
    let small = super::calls::open_diff(7, 0);
    (0..WARM).for_each(|_| session.serve(&small));
    move |times| {
        for _ in 0..times {
            session.serve(&text);
        }
    }
}

/// Returns an editor with one connection, which admits every client.
fn editor() -> (ide::Server, ConnId) {
    let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
    let tools = tools.custom_typed::<OpenDiff>(super::calls::OWN_TOOL, "", "{}");
    let mut server = ide::Server::new(config(tools));
    let conn = server.connect(NOW);
    (server, conn)
}

pub fn config(tools: ToolSet) -> ServerConfig {
    let port = crate::handshake::request_port();
    ServerConfig::new("editor", "1").policy(Policy::new(port, Auth::Disabled)).tools(tools)
}

/// Handles an event as an application does. A disconnected agent needs no answer.
pub fn on(server: &mut ide::Server, event: ServerEvent) {
    let ServerEvent::Call { call, .. } = event else { return };
    match call {
        ToolCall::OpenDiff(call, diff) => {
            let _ = server.answer(call, reject(diff));
        }
        ToolCall::GetDiagnostics(call, arguments) => {
            black_box(arguments);
            let _ = server.answer(call, Diagnostics::default());
        }
        ToolCall::Other(call, own) => {
            let arguments: OpenDiff = own.into_arguments().expect("it is one");
            black_box(arguments);
            let _ = server.answer(call, &ToolResult::text("[]"));
        }
        _ => {}
    }
}

/// Rejects a proposal.
pub fn reject(diff: ide::tool::OpenDiff) -> DiffOutcome {
    black_box(diff);
    DiffOutcome::Rejected { tab_name: TAB.into() }
}

/// Answers calls as an editor. Each call is a frame with this text.
pub fn frames(text: &str) -> impl FnMut(usize) + use<> {
    let (mut server, conn) = editor();
    for bytes in [crate::handshake::request(), &frame(INITIALIZE), &frame(INITIALIZED)] {
        serve(&mut server, conn, bytes);
    }
    let (call, small) = (frame(text), frame(&super::calls::open_diff(7, 0)));
    let mut answer = move |bytes: &[u8]| assert!(serve(&mut server, conn, bytes) > 0, "it was answered");
    (0..WARM).for_each(|_| answer(&small));
    move |times| (0..times).for_each(|_| answer(&call))
}

/// Answers calls as an editor with many clients, which make the same call one after the other.
#[cfg(feature = "check")]
pub fn server(clients: usize, text: String) -> impl FnMut(usize) {
    let (mut server, conns) = attached(clients, ToolSet::new().handle(Tool::GetDiagnostics));
    let (call, mut at) = (frame(&text), 0);
    move |times| {
        for _ in 0..times {
            server.feed(NOW, conns[at % clients], &call);
            turn(&mut server, NOW);
            at += 1;
        }
    }
}

/// Returns an editor whose clients are idle: each has received the answer to a call, and a selection.
#[cfg(feature = "check")]
pub fn resting(clients: usize) -> ide::Server {
    let (mut server, conns) = attached(clients, ToolSet::new().handle(Tool::GetDiagnostics));
    server.select(NOW, selections(40)[0].clone());
    for conn in conns {
        let call = frame(&super::calls::get_diagnostics(7));
        server.feed(NOW, conn, &call);
        turn(&mut server, NOW);
        server.trim(conn);
    }
    server
}

/// Sends selections with a text of this many bytes to clients that accept pushes.
#[cfg(feature = "check")]
pub fn select(clients: usize, bytes: usize) -> impl FnMut(usize) {
    let (mut server, _) = attached(clients, ToolSet::new());
    // At this time the clients have settled, and a ping is not due yet.
    let now = Time::from_millis(10_000);
    turn(&mut server, now);
    let selections = selections(bytes);
    move |times| {
        for at in 0..times {
            server.select(now, selections[at % 2].clone());
            assert!(turn(&mut server, now) > clients * bytes, "each client receives it");
        }
    }
}

/// Returns two selections with a text of this many bytes: an editor does not send the same selection twice in
/// a row.
#[cfg(feature = "check")]
fn selections(bytes: usize) -> [Selection; 2] {
    let mut text = "let value = 12345;\n".repeat(bytes / 19 + 1);
    text.truncate(bytes);
    let range = Range::new(Position::new(10, 4), Position::new(12, 8));
    ["/home/user/project/src/main.rs", "/home/user/project/src/case.rs"]
        .map(|path| Selection::new(path, range, text.as_str()))
}

/// Returns an editor with clients whose session is ready, which sends selections without a debounce.
#[cfg(feature = "check")]
fn attached(clients: usize, tools: ToolSet) -> (ide::Server, Vec<ConnId>) {
    let mut settings = config(tools);
    settings.max_clients = clients;
    settings.debounce = Duration::ZERO;
    let mut server = ide::Server::new(settings);
    let attach = |_| {
        let conn = server.connect(NOW);
        for bytes in [crate::handshake::request(), &frame(INITIALIZE), &frame(INITIALIZED)] {
            server.feed(NOW, conn, bytes);
            turn(&mut server, NOW);
        }
        conn
    };
    let conns = (0..clients).map(attach).collect();
    (server, conns)
}

/// Runs a pass of an editor, as its loop does. Returns how many bytes it wrote.
#[cfg(feature = "check")]
fn turn(server: &mut ide::Server, now: Time) -> usize {
    let mut written = 0;
    loop {
        match server.poll(now) {
            Output::Event(ServerEvent::Call { call: ToolCall::GetDiagnostics(call, _), .. }) => {
                server.answer(call, Diagnostics::default()).expect("it is open");
            }
            Output::Event(_) | Output::Close(_) => {}
            Output::Write { conn, bytes } => {
                let n = black_box(bytes).len();
                server.written(conn, n);
                written += n;
            }
            Output::Wait(until) => {
                black_box(until);
                return written;
            }
        }
    }
}

/// Reads bytes, answers the calls in them, and writes. Returns how many bytes it wrote.
fn serve(server: &mut ide::Server, conn: ConnId, mut rest: &[u8]) -> usize {
    let mut written = 0;
    while !rest.is_empty() {
        let space = server.space(conn);
        let n = rest.len().min(space.len());
        space[..n].copy_from_slice(&rest[..n]);
        server.filled(NOW, conn, n);
        rest = &rest[n..];
        loop {
            match server.poll(NOW) {
                Output::Event(event) => on(server, event),
                Output::Write { conn, bytes } => {
                    let n = black_box(bytes).len();
                    server.written(conn, n);
                    written += n;
                }
                Output::Close(_) => {}
                Output::Wait(_) => break,
            }
        }
    }
    written
}

/// Checks that the answer is correct.
pub fn prove(text: &str, id: u32) {
    let mut session = Session::open();
    let (call, arguments) = session.take(text);
    let BenchCall::OpenDiff(diff) = arguments else { panic!("another tool") };
    let blocks = vec![Content::text("DIFF_REJECTED"), Content::text(diff.tab_name)];
    session.server.respond(call, &ToolResult::new(blocks), &mut session.out).expect("it is open");
    check(std::str::from_utf8(&session.out.0).expect("JSON is text"), id);
}
