//! Three recorded sessions of the real client, replayed with their times: whole, byte by byte, and
//! cut at random in 1,000 ways. Each replay runs against 50 applications, which answer at once,
//! later, in another order or never.
//!
//! The recordings are in `fixtures/`, with a line of JSON for each message. The replay feeds the
//! messages of the client. From the messages of the recording editor it takes the times at which a
//! selection or a mention was sent; it does not compare the answers of that editor.

use std::{fmt::Write as _, time::Duration};

use crate::model::{Message, Open};
use crate::support::ide::{PORT, TEXT, at, frame, read, selection, token};
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::tool::{
    Diagnostic, Diagnostics, DiffOutcome, FileDiagnostics, Severity, Tool, ToolCall, ToolSet,
};
use ide_mcp::testing::Random;
use ide_mcp::{
    Output, Time,
    ide::{Auth, ConnId, DiffEnd, Mention, Policy, Selection, Server, ServerConfig, ServerEvent},
    mcp::{CallEnd, ToolResult},
    rpc::{CallId, ErrorObject, NotAnswered},
};
use serde::Deserialize;
use serde_json::Value;

const OLD: &str = include_str!("fixtures/claude-code-1.0.51.jsonl");
const NEW: &str = include_str!("fixtures/claude-code-2.1.330.jsonl");
const AGAIN: &str = include_str!("fixtures/claude-code-2.1.330-reconnect.jsonl");

const APPLICATIONS: u64 = 50;
const CUTS: u64 = 1_000;

#[test]
fn version_1_0_51() {
    replay(OLD);
}

#[test]
fn version_2_1_330_terminal_decision() {
    replay(NEW);
}

#[test]
fn version_2_1_330_with_two_connections() {
    replay(AGAIN);
}

#[test]
fn open_diff_ends_with_its_tab() {
    let session = Session::new(NEW);
    let run = session.play(&Application::never(), Cut::Whole);
    let ended = run.log.lines().find(|line| line.contains("DiffClosed")).unwrap();
    assert!(ended.starts_with("24590 ") && ended.contains("TabClosed"), "{ended}");
    let texts = run.texts(0);
    let at = texts.iter().position(|(_, text)| text.contains("DIFF_REJECTED")).unwrap();
    assert_eq!(texts[at].0, 24_590);
    assert!(texts[at].1.starts_with(r#"{"jsonrpc":"2.0","id":6,"#), "the diff first");
    assert!(texts[at + 1].1.starts_with(r#"{"jsonrpc":"2.0","id":7,"#), "then the tab");
}

fn replay(recording: &str) {
    let session = Session::new(recording);
    let mut run = Run::default();
    for seed in 0..APPLICATIONS {
        let application = Application::new(seed);
        let whole = session.play(&application, Cut::Whole);
        session.check(&whole);
        session.play_into(&application, Cut::Bytes, &mut run);
        assert!(run == whole, "application {seed}, byte by byte\n{}\n{}", whole.log, run.log);
        for cut in 0..CUTS {
            session.play_into(&application, Cut::Random(seed * CUTS + cut), &mut run);
            assert!(run == whole, "application {seed}, cut {cut}\n{}\n{}", whole.log, run.log);
        }
    }
}

#[derive(Deserialize)]
struct Line {
    ms: u64,
    from: String,
    http: Option<String>,
    text: Option<String>,
}

/// The steps of a recording, with their times.
struct Session {
    steps: Vec<(u64, Step)>,
    /// The ids of the client's requests, for each connection.
    pending: Vec<Vec<String>>,
    /// The notifications that the recording editor pushed, with their times, for each connection.
    pushed: Vec<Vec<(u64, String)>>,
    /// When the client sent `initialized`, for each connection.
    initialized: Vec<u64>,
}

enum Step {
    /// A new connection, after the end of the connection before it.
    Connect,
    Bytes(Vec<u8>),
    Select(Selection),
    Mention(Mention),
    NotOpen,
}

impl Session {
    fn new(recording: &str) -> Self {
        let mut random = Random::new(7);
        let mut session = Self { steps: vec![], pending: vec![], pushed: vec![], initialized: vec![] };
        let mut last = 0;
        for line in recording.lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            last = line.ms;
            match (line.from.as_str(), line.http, line.text) {
                ("client", Some(head), _) => {
                    if !session.pending.is_empty() {
                        session.steps.push((line.ms, Step::NotOpen));
                    }
                    session.steps.push((line.ms, Step::Connect));
                    session.steps.push((line.ms, Step::Bytes(head.into_bytes())));
                    session.pending.push(vec![]);
                    session.pushed.push(vec![]);
                }
                ("client", _, Some(text)) => session.add_message(line.ms, &text, &mut random),
                (_, _, text) => session.push(line.ms, text.unwrap()),
            }
        }
        session.steps.push((last + 50, Step::NotOpen));
        session
    }

    fn add_message(&mut self, ms: u64, text: &str, random: &mut Random) {
        let input: Value = serde_json::from_str(text).unwrap();
        match (input.get("id"), input.get("method")) {
            (Some(id), Some(_)) => self.pending.last_mut().unwrap().push(id.to_string()),
            (None, Some(method)) if method == "notifications/initialized" => self.initialized.push(ms),
            _ => {}
        }
        let key = random.number().to_le_bytes();
        let bytes = frame(TEXT, key.first_chunk().copied(), text.as_bytes());
        match self.steps.last_mut() {
            Some((before, Step::Bytes(together))) if *before == ms => together.extend(bytes),
            _ => self.steps.push((ms, Step::Bytes(bytes))),
        }
    }

    fn push(&mut self, ms: u64, text: String) {
        let input: Value = serde_json::from_str(&text).unwrap();
        let params = input.get("params").cloned().unwrap_or_default();
        let step = match input.get("method").and_then(Value::as_str) {
            Some("selection_changed") => {
                let mut selection: Selection = serde_json::from_value(params).unwrap();
                selection.file_url = None;
                Step::Select(selection)
            }
            Some("at_mentioned") => Step::Mention(serde_json::from_value(params).unwrap()),
            _ => return,
        };
        self.steps.push((ms, step));
        self.pushed.last_mut().unwrap().push((ms, text));
    }

    fn play(&self, application: &Application, cut: Cut) -> Run {
        let mut run = Run::default();
        self.play_into(application, cut, &mut run);
        run
    }

    fn play_into(&self, application: &Application, cut: Cut, run: &mut Run) {
        run.log.clear();
        run.output.clear();
        run.ends.clear();
        let mut player = Player::new(application, run);
        let mut random = Random::new(if let Cut::Random(seed) = cut { seed } else { 0 });
        let mut connections = 0;
        for (ms, step) in &self.steps {
            player.wait(*ms);
            match step {
                Step::Connect => {
                    connections += 1;
                    player.connect(*ms, connections);
                }
                Step::Bytes(bytes) => player.feed(bytes, cut, &mut random),
                Step::Select(selection) => {
                    let (server, _) = player.server.as_mut().unwrap();
                    server.select(at(*ms), selection.clone());
                }
                Step::Mention(mention) => {
                    let (server, conn) = player.server.as_mut().unwrap();
                    server.mention(at(*ms), mention.clone(), Some((*conn).into())).unwrap();
                }
                Step::NotOpen => player.gone(),
            }
            player.settle();
        }
    }

    /// Checks the rules that hold for every application.
    fn check(&self, run: &Run) {
        let silent =
            run.log.matches("reason: Closed }").count() + run.log.matches("reason: Disconnected").count();
        let mut unanswered = 0;
        for (conn, pending) in self.pending.iter().enumerate() {
            let texts = run.texts(conn);
            let (mut open, mut questions) = (Open::default(), 0);
            pending.iter().for_each(|id| open.ask(id, ()));
            for (_, text) in &texts {
                assert!(!has_null(&serde_json::from_str(text).unwrap()), "a member is null: {text}");
                for message in Message::sent(text).unwrap() {
                    if let Some(answer) = message.answer() {
                        open.answer(&answer.id, |()| true).unwrap();
                    } else if message.get("id").is_some() {
                        assert_eq!(message.method(), Some("roots/list"), "{text}");
                        questions += 1;
                    }
                }
            }
            unanswered += open.iter().count();
            assert_eq!(questions, 1, "the editor asks for the folders of the client");

            // The recorded client was not asked for its folders, so it does not answer.
            let is_push = |text: &str| !text.contains("\"id\":") && !text.contains("notifications/cancelled");
            let mut pushed: Vec<_> = texts.into_iter().filter(|(_, text)| is_push(text)).collect();
            // The server repeats a selection, after the list of tools and later.
            let mut last = String::new();
            pushed.retain(|(_, text)| {
                let is_selection = text.contains("selection_changed");
                !is_selection || std::mem::replace(&mut last, text.clone()) != *text
            });
            let (early, rest) = pushed.split_first().unwrap();
            assert!(early.1.contains(EARLY) && early.0 == self.initialized[conn], "{early:?}");
            assert_eq!(rest, self.pushed[conn]);
        }
        assert_eq!(unanswered, silent, "the server reported each unanswered call as ended");
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(elements) => elements.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The text that an editor has selected before a client connects.
const EARLY: &str = "selected early";

#[derive(Clone, Copy)]
enum Cut {
    Whole,
    Bytes,
    Random(u64),
}

/// The observable result of a replay.
#[derive(Default, PartialEq)]
struct Run {
    /// A line for each event and each answer.
    log: String,
    /// The bytes that were written on all connections.
    output: Vec<u8>,
    /// For each write: the connection, the time, and the length of the output up to there.
    ends: Vec<(usize, u64, usize)>,
}

impl Run {
    /// Returns the messages that were written on a connection, with their times.
    fn texts(&self, conn: usize) -> Vec<(u64, String)> {
        let mut from = 0;
        let mut texts = Vec::new();
        for (of, ms, to) in &self.ends {
            if *of == conn + 1 {
                let frames = read(&self.output[from..*to]).into_iter();
                texts.extend(frames.filter(|frame| frame.first == TEXT).map(|frame| (*ms, frame.text())));
            }
            from = *to;
        }
        texts
    }
}

/// An application that decides what to do at each event by random numbers.
struct Application {
    seed: u64,
    config: ServerConfig,
    /// The number of cases in eight in which a call is answered at once, and later.
    at_once: usize,
    later: usize,
}

impl Application {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5eed);
        // The application with seed 0 handles every tool, the others handle some.
        let tools = [Tool::OpenDiff, Tool::GetDiagnostics, Tool::OpenFile];
        let handled = tools.into_iter().filter(|_| seed == 0 || !random.one_in(5));
        Self::with(seed, handled.fold(ToolSet::new(), ToolSet::handle), random.below(9), random.below(9))
    }

    /// Returns an application that handles diffs and diagnostics, and answers nothing.
    fn never() -> Self {
        let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics);
        Self::with(0, tools, 0, 0)
    }

    fn with(seed: u64, tools: ToolSet, at_once: usize, later: usize) -> Self {
        let mut config =
            ServerConfig::new("editor", "1.0").policy(Policy::new(PORT, Auth::Token(token()))).tools(tools);
        // The recordings have the times at which a selection was sent.
        config.debounce = Duration::ZERO;
        Self { seed, config, at_once, later }
    }
}

/// An application with one connection after the other.
struct Player<'a> {
    application: &'a Application,
    run: &'a mut Run,
    random: Random,
    server: Option<(Server, ConnId)>,
    conn: usize,
    now: u64,
    open: Vec<CallId>,
    /// The calls that are answered at a later event.
    postponed: Vec<ToolCall>,
}

impl<'a> Player<'a> {
    fn new(application: &'a Application, run: &'a mut Run) -> Self {
        let random = Random::new(application.seed);
        Self { application, run, random, server: None, conn: 0, now: 0, open: vec![], postponed: vec![] }
    }

    fn connect(&mut self, ms: u64, conn: usize) {
        let mut server = Server::new(self.application.config.clone());
        server.select(at(ms), selection(EARLY));
        let id = server.connect(at(ms));
        (self.server, self.conn) = (Some((server, id)), conn);
    }

    /// Advances the time, and makes a pass at each deadline on the way.
    fn wait(&mut self, ms: u64) {
        let due = |(server, _): &(Server, ConnId)| server.deadline();
        while let Some(due) = self.server.as_ref().and_then(due).filter(|due| *due < at(ms)) {
            self.now = u64::try_from(due.since_start().as_millis()).unwrap();
            self.settle();
        }
        self.now = ms;
    }

    fn feed(&mut self, bytes: &[u8], cut: Cut, random: &mut Random) {
        let now: Time = at(self.now);
        let mut rest = bytes;
        // One input in four is cut into short pieces, also within a frame header or a character.
        let most = if random.one_in(4) { 24 } else { bytes.len() };
        while !rest.is_empty() {
            let len = match cut {
                Cut::Whole => rest.len(),
                Cut::Bytes => 1,
                Cut::Random(_) => 1 + random.below(rest.len().min(most)),
            };
            let (piece, behind) = rest.split_at(len);
            rest = behind;
            let (server, conn) = self.server.as_mut().unwrap();
            let read = matches!(cut, Cut::Random(_)) && random.one_in(4);
            if read && server.space(*conn).len() >= len {
                server.space(*conn)[..len].copy_from_slice(piece);
                server.filled(now, *conn, len);
            } else {
                server.feed(now, *conn, piece);
            }
            if matches!(cut, Cut::Bytes) || random.one_in(2) {
                self.pass(false);
            }
        }
    }

    fn gone(&mut self) {
        for _ in 0..2 {
            let (server, conn) = self.server.as_mut().unwrap();
            server.feed_eof(at(self.now), *conn);
        }
        self.settle();
        assert!(self.open.is_empty(), "calls without an end");
        assert!(self.server.is_none(), "the connection is not closed");
        self.postponed.clear();
    }

    /// Handles all events of this time, and writes the output.
    fn settle(&mut self) {
        let before = self.run.output.len();
        self.pass(true);
        if self.run.output.len() > before {
            self.run.ends.push((self.conn, self.now, self.run.output.len()));
        }
    }

    /// Makes a pass, in which the socket has room for everything or for nothing.
    fn pass(&mut self, has_room: bool) {
        while let Some((server, _)) = &mut self.server {
            match server.poll(at(self.now)) {
                Output::Event(event) => {
                    writeln!(self.run.log, "{} {event:?}", self.now).unwrap();
                    self.on_event(event);
                }
                Output::Write { conn, bytes } => {
                    let n = if has_room { bytes.len() } else { 0 };
                    self.run.output.extend_from_slice(&bytes[..n]);
                    server.written(conn, n);
                }
                Output::Close(_) => self.server = None,
                Output::Wait(_) => return,
            }
        }
    }

    fn on_event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Call { call, .. } => {
                self.open.push(call.id());
                let drawn = self.random.below(8);
                if drawn < self.application.at_once {
                    self.answer(call);
                } else if drawn < self.application.at_once + self.application.later {
                    self.postponed.push(call);
                }
            }
            ServerEvent::CallEnded { call, reason: how, .. } => {
                self.end(call);
                assert!(matches!(how, CallEnd::Expired | CallEnd::Closed), "{how:?}");
            }
            ServerEvent::DiffClosed { call, reason: why, .. } => {
                self.end(call);
                assert!(
                    matches!(why, DiffEnd::TabClosed | DiffEnd::AllClosed | DiffEnd::Disconnected),
                    "{why:?}"
                );
            }
            _ => {}
        }
        while !self.postponed.is_empty() && self.random.one_in(3) {
            let call = self.postponed.swap_remove(self.random.below(self.postponed.len()));
            self.answer(call);
        }
    }

    fn end(&mut self, call: CallId) {
        let at = self.open.iter().position(|open| *open == call);
        self.open.swap_remove(at.unwrap());
    }

    fn answer(&mut self, call: ToolCall) {
        let drawn = self.random.below(6);
        let (server, _) = self.server.as_mut().unwrap();
        let id = call.id();
        let accept = |contents: String| DiffOutcome::Accepted { contents };
        let answered = match (call, drawn) {
            (_, 0) => server.call(id).fail(ErrorObject::new(-32000, "out of order")),
            (_, 1) => server.call(id).respond(&ToolResult::error("out of order")),
            (ToolCall::OpenDiff(call, diff), 2 | 3) => server.answer(call, accept(diff.new_file_contents)),
            (ToolCall::OpenDiff(call, _), 4) => server.answer(call, accept("edited \u{1f600}\n\"".into())),
            (ToolCall::OpenDiff(call, diff), _) => server.answer(call, diff.reject()),
            (ToolCall::GetDiagnostics(call, pending), _) => {
                let problem = Diagnostic::new(Severity::Warning, Range::default(), "unused");
                let uri = pending.uri.unwrap_or_else(|| "file:///w/a.txt".into());
                let files = vec![FileDiagnostics::new(uri, vec![problem])];
                server.answer(call, Diagnostics { files })
            }
            (call, _) => server.call(call).respond(&ToolResult::text("done")),
        };
        writeln!(self.run.log, "{} {answered:?}", self.now).unwrap();
        if answered.is_ok() {
            assert_eq!(server.call(id).respond(&ToolResult::text("again")), Err(NotAnswered::Answered));
            self.end(id);
        }
    }
}
