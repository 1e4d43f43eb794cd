//! `ide::Connection` as a subject of the laws: an editor that answers at once, later, or never.

use super::calls;
use super::frames::{self, masked};
use super::law::{Law, broken};
use super::laws::{Calls, Record, Subject};
use super::said::{
    BINARY, CLOSE, HEAD, PORT, TOKEN, attached, call, cancelled, close_tab, open_diff, request, talk, text,
    token,
};
use super::sockets::limits;
use super::subject::Refusals;
use ide_mcp::ide::{
    Answer, CodeOutput, Connection, CurrentSelection, CursorPosition, Diagnostic, Diagnostics, Dialect,
    DiffOutcome, DirectAnswer, DirectRequest, DocumentSaved, DocumentState, Done, EditorTab, FileDiagnostics,
    FilePaths, LatestSelection, Mention, OpenCall, OpenEditors, OpenedFile, OpenedFiles, OutputBlock, Policy,
    Position, Range, Reformatted, Selection, ServerConfig, ServerEvent, Severity, TabClosed, Tool, ToolCall,
    ToolSet, WorkspaceFolder, WorkspaceFolders, WorkspaceInfo,
};
use ide_mcp::mcp::{Timeout, ToolResult};
use ide_mcp::rpc::{CallId, NotOpen, NotSent, RequestId, RespondError, SessionId};
use ide_mcp::testing::{Random, pass};
use ide_mcp::ws::frame::Header;
use ide_mcp::{Polled as _, Time};
use serde::{Serialize, Serializer, ser::Error as _};
use std::sync::OnceLock;
use std::time::Duration;

/// The high-water mark: small, so that the laws about it run quickly, and large enough for a selection.
pub const MARK: usize = 8192;

/// The limit of a message: more than the longest message of a script.
pub const MESSAGE: usize = 128 * 1024;

/// Returns the tools of most editors, and one custom tool.
pub fn tools() -> ToolSet {
    ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).custom(
        "echo",
        "",
        r#"{"type":"object"}"#,
    )
}

pub fn server_config(tools: ToolSet) -> ServerConfig {
    let mut config = ServerConfig::new("editor", "1").policy(Policy::new(PORT, token())).tools(tools);
    config.ws = limits(MARK, MESSAGE);
    config.settle = Some(Duration::from_millis(1700));
    config.mcp.call_deadline = Duration::from_secs(29);
    config.mcp.longest_call = Duration::from_secs(310);
    config.mcp.request_timeout = Duration::from_secs(53);
    config
}

pub fn selection(n: usize) -> Selection {
    Selection::new("/a", Range::default(), "s".repeat(n))
}

/// Returns a call and a request of another session.
pub fn foreign() -> (CallId, RequestId) {
    static FOREIGN: OnceLock<(CallId, RequestId)> = OnceLock::new();
    *FOREIGN.get_or_init(|| {
        let mut other = Connection::new(server_config(tools()), SessionId::new(99), Time::ZERO);
        other.feed(Time::ZERO, (), &[attached(), text(&open_diff("1", "a"))].concat());
        let call = pass(&mut other, Time::ZERO, 0).events.into_iter().find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        });
        (call.unwrap(), other.request("roots/list", None::<&()>, Timeout::Never).unwrap())
    })
}

/// Parameters that cannot be serialized. The error comes after the first member is written.
pub struct Unwritable;

impl Serialize for Unwritable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct Fails;

        impl Serialize for Fails {
            fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
                Err(S::Error::custom("planted"))
            }
        }

        serializer.collect_map([("written", None), ("not written", Some(Fails))])
    }
}

/// The application of an editor: its state after the events so far, and its source of decisions.
pub struct Editor {
    random: Option<Random>,
    dialect: Dialect,
    /// The open calls that the application answers later, with their answers.
    waiting: Vec<(CallId, ToolResult<'static>)>,
    ended: Vec<CallId>,
    /// True after `Ready`.
    ready: bool,
    closed: bool,
}

/// The state of a connection that an application can query.
pub struct Standing {
    pub is_open: bool,
    pub is_full: bool,
}

impl Editor {
    /// The allowed errors of an answer to a call that has ended.
    pub const ENDED: &[NotOpen] = &[NotOpen::Answered, NotOpen::Cancelled, NotOpen::Expired, NotOpen::Closed];

    pub fn new(seed: u64, dialect: Dialect) -> Self {
        Self {
            random: (seed != 0).then(|| Random::new(seed)),
            dialect,
            waiting: Vec::new(),
            ended: Vec::new(),
            ready: false,
            closed: false,
        }
    }

    pub fn choose(&mut self, bound: usize) -> usize {
        self.random.as_mut().map_or(0, |random| random.below(bound))
    }

    pub fn ended(&self) -> &[CallId] {
        &self.ended
    }

    pub const fn has_closed(&self) -> bool {
        self.closed
    }

    /// Reacts to an event. `respond` hides the difference between a server and a host.
    pub fn on_event(
        &mut self,
        event: &ServerEvent,
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), NotOpen>,
    ) {
        match event {
            ServerEvent::Ready { .. } => self.ready = true,
            ServerEvent::CallEnded { call, .. } | ServerEvent::DiffClosed { call, .. } => {
                self.waiting.retain(|(open, _)| open != call);
                self.ended.push(*call);
            }
            ServerEvent::Call { call, .. } => match self.choose(4) {
                0 => self.answer(call.id(), &typed(call, self.dialect), respond),
                1 => {}
                _ => self.waiting.push((call.id(), typed(call, self.dialect))),
            },
            ServerEvent::Closed { .. } => self.closed = true,
            _ => {}
        }
        if self.choose(3) == 2 && !self.waiting.is_empty() {
            let at = self.choose(self.waiting.len());
            let (call, result) = self.waiting.remove(at);
            self.answer(call, &result, respond);
        }
        if let Some(call) = self.ended.last() {
            let again = respond(*call, &ToolResult::text("too late"));
            if !again.is_err_and(|gone| Self::ENDED.contains(&gone)) {
                broken(Law::AnsweredOnce, format_args!("{call:?} has ended, and answering it was {again:?}"));
            }
        }
    }

    /// Returns the answer to a method of the Obsidian dialect, if the application answers it.
    pub fn direct_answer(&mut self, event: &ServerEvent) -> Option<(CallId, DirectAnswer)> {
        let ServerEvent::Direct { call, request, .. } = event else { return None };
        if self.choose(3) == 1 {
            return None;
        }
        self.ended.push(*call);
        Some((*call, direct(request)))
    }

    /// Returns the name of a state in which every send is refused, and the allowed errors. Without
    /// a name, only a value that cannot be serialized is refused.
    pub fn refused_with(&self, standing: Standing) -> (Option<&'static str>, &'static [NotSent]) {
        match standing {
            _ if self.closed => (Some("after the end"), &[NotSent::Closed]),
            // The connection can have ended before the application has polled the end.
            _ if !self.ready => (Some("before it is ready"), &[NotSent::NotReady, NotSent::Closed]),
            Standing { is_open: false, .. } => {
                (Some("while it closes"), &[NotSent::NotReady, NotSent::Closed])
            }
            Standing { is_full: true, .. } => (Some("above the mark"), &[NotSent::Full]),
            Standing { .. } => (None, &[NotSent::Unserializable]),
        }
    }

    fn answer(
        &mut self,
        call: CallId,
        result: &ToolResult<'_>,
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), NotOpen>,
    ) {
        if respond(call, result).is_ok() {
            self.ended.push(call);
        }
    }
}

/// Returns the typed answer to a call.
fn typed(call: &ToolCall, dialect: Dialect) -> ToolResult<'static> {
    let path = || "/a".to_owned();
    match call {
        ToolCall::OpenDiff(..) => encoded(&DiffOutcome::Accepted { contents: "edited".into() }, dialect),
        ToolCall::CloseTab(..) => encoded(&TabClosed::new(false), dialect),
        ToolCall::GetDiagnostics(_, ask) => {
            let problem = Diagnostic::new(Severity::Error, Range::default(), "problem");
            let of = |uri: &String| vec![FileDiagnostics::new(uri, vec![problem.clone(); uri.len()])];
            encoded(&Diagnostics::new(ask.uri.as_ref().map(of).unwrap_or_default()), dialect)
        }
        ToolCall::OpenFile(..) => encoded(&OpenedFile::unfocused("/a", "rust", 3), dialect),
        ToolCall::OpenFiles(_, asked) => encoded(&OpenedFiles::new(asked.file_paths.clone()), dialect),
        ToolCall::GetAllOpenedFilePaths(..) => encoded(&FilePaths::new(vec![path()]), dialect),
        ToolCall::GetOpenEditors(..) => {
            encoded(&OpenEditors::new(vec![EditorTab::new("file:///a", "a", "rust")]), dialect)
        }
        ToolCall::GetWorkspaceFolders(..) => {
            encoded(&WorkspaceFolders::new(vec![WorkspaceFolder::new("/")]), dialect)
        }
        ToolCall::GetCurrentSelection(..) => encoded(&CurrentSelection(Some(selection(9))), dialect),
        ToolCall::GetLatestSelection(..) => encoded(&LatestSelection(None), dialect),
        ToolCall::GetCursorPosition(..) => encoded(&CursorPosition::new("/a", Position::new(1, 2)), dialect),
        ToolCall::CheckDocumentDirty(_, asked) => {
            let file_path = asked.file_path.clone();
            encoded(&DocumentState::Open { file_path, is_dirty: true, is_untitled: false }, dialect)
        }
        ToolCall::SaveDocument(_, asked) => {
            encoded(&DocumentSaved::NotOpen { file_path: asked.file_path.clone() }, dialect)
        }
        ToolCall::ReformatFile(..) => encoded(&Reformatted::new(true), dialect),
        ToolCall::ExecuteCode(_, asked) => {
            encoded(&CodeOutput::new(vec![OutputBlock::Text(asked.code.clone())]), dialect)
        }
        ToolCall::SetCursorPosition(..) | ToolCall::SetSelection(..) => encoded(&Done, dialect),
        _ => ToolResult::text("text"),
    }
}

/// Answers a call with an untyped result.
pub fn respond(call: OpenCall<'_>, result: &ToolResult<'_>) -> Result<(), NotOpen> {
    call.respond(result).map_err(|error| match error {
        RespondError::NotOpen(reason) => reason,
        error => panic!("{result:?}: {error}"),
    })
}

/// Returns the messages of each script for one round, whose ids begin with `round`.
fn rounds(round: &str) -> Vec<Vec<u8>> {
    let id = |id: &str| format!("{round}{id}");
    let list = request(id("1"), "tools/list");
    let diff = |number: &str, tab: &str| open_diff(id(number), tab);
    let echo = |number: &str| call(id(number), "echo", &format!(r#"{{"id":{},"deep":[[[]]]}}"#, id(number)));
    let diagnostics =
        |number: &str| call(id(number), "getDiagnostics", &format!(r#"{{"uri":"{}"}}"#, id(number)));
    let text_id = format!("\"x{round}\"");
    vec![
        talk(&[
            &list,
            &diff("2", "a"),
            &diagnostics("3"),
            &close_tab(id("4"), "a"),
            &close_tab(id("5"), "a"),
            &call(id("6"), "closeAllDiffTabs", "{}"),
        ]),
        talk(&[
            &open_diff(&text_id, "a"),
            &diff("2", "a"),
            &diff("2.0", "b"),
            &cancelled(&text_id),
            &echo("7"),
            &request(id("8"), "ping"),
            &request(id("9"), "unknown"),
            r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
            &call(id("10"), "closeAllDiffTabs", "{}"),
        ]),
        talk(&[
            &diff("2", "left open"),
            &echo("3"),
            &call(id("4"), "nobody", "{}"),
            &call(id("5"), "openDiff", "{}"),
            "this is no message",
            &request("null", "ping"),
            &diff("6", "cancelled"),
            &echo("7"),
            &diagnostics("8"),
            &cancelled(id("7.0")),
            &cancelled(id("6")),
            &cancelled(id("5")),
        ]),
        talk(&[&diff("2", "a"), &echo("3")]),
    ]
}

/// Returns a copy of an event, for planted bugs. Returns `None` for a kind that no planted bug copies.
pub fn copied(event: &ServerEvent) -> Option<ServerEvent> {
    match event {
        ServerEvent::Ready { agent, client } => {
            Some(ServerEvent::Ready { agent: *agent, client: client.clone() })
        }
        ServerEvent::CallEnded { agent, call, reason } => {
            Some(ServerEvent::CallEnded { agent: *agent, call: *call, reason: reason.clone() })
        }
        ServerEvent::DiffClosed { agent, call, tab_name, reason } => Some(ServerEvent::DiffClosed {
            agent: *agent,
            call: *call,
            tab_name: tab_name.clone(),
            reason: *reason,
        }),
        ServerEvent::Closed { agent, reason } => {
            Some(ServerEvent::Closed { agent: *agent, reason: reason.clone() })
        }
        _ => None,
    }
}

/// Returns an answer in the form of the dialect, and checks that an agent can read the form.
fn encoded<A: Answer>(answer: &A, dialect: Dialect) -> ToolResult<'static> {
    let result = answer.result(dialect).into_owned();
    assert!(A::read(&result).is_some(), "no agent can read {result:?}");
    result
}

/// Returns the answer to a method of the Obsidian dialect.
fn direct(request: &DirectRequest) -> DirectAnswer {
    match request {
        DirectRequest::ReadFile(asked) => DirectAnswer::Contents(asked.path.clone()),
        DirectRequest::WriteFile(_) => DirectAnswer::Written,
        DirectRequest::GetWorkspaceInfo => {
            DirectAnswer::Workspace(WorkspaceInfo::new("a", "/a", 1, "obsidian-vault"))
        }
        DirectRequest::GetCurrentFile => DirectAnswer::CurrentFile(None),
        _ => DirectAnswer::Files(vec!["a".into()]),
    }
}

/// `ide::Connection` with an application that answers at once, later, or never.
#[derive(Debug)]
pub struct IdeServer {
    pub tools: ToolSet,
    pub dialect: Dialect,
}

impl Default for IdeServer {
    fn default() -> Self {
        Self { tools: tools(), dialect: Dialect::VsCode }
    }
}

impl IdeServer {
    pub fn config(&self) -> ServerConfig {
        server_config(self.tools.clone()).with_dialect(self.dialect)
    }
}

impl Subject for IdeServer {
    type Machine = Connection;
    type App = Editor;
    const MARK: usize = MARK;
    const ROOM: usize = MESSAGE + MARK;

    fn name(&self) -> String {
        "ide::Connection".into()
    }

    fn make(&self, now: Time) -> Connection {
        Connection::new(self.config(), SessionId::new(7), now)
    }

    fn app(&self, seed: u64) -> Editor {
        Editor::new(seed, self.dialect)
    }

    fn react(&self, app: &mut Editor, machine: &mut Connection, event: &ServerEvent) {
        match app.choose(12) {
            7 => drop(machine.select(selection(300))),
            8 => drop(machine.mention(&Mention::new("/a", Some((1, 2))))),
            9 => drop(machine.request("roots/list", None::<&()>, Timeout::Default)),
            10 => drop(machine.set_tools(ToolSet::new().handle(Tool::OpenDiff).custom("echo", "", "{}"))),
            11 if app.choose(3) == 2 => machine.shutdown(),
            _ => {}
        }
        if let Some((call, answer)) = app.direct_answer(event) {
            let _ = machine.call(call).respond_direct(&answer);
        }
        app.on_event(event, &mut |call, result| respond(machine.call(call), result));
    }

    fn copied(event: &ServerEvent) -> Option<ServerEvent> {
        copied(event)
    }

    fn is_closed(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::Closed { .. })
    }

    /// Returns streams of messages from a client, of every kind for which a server has an answer or an
    /// event. Each call repeats its id in its arguments.
    fn scripts(&self) -> Vec<Vec<u8>> {
        let [mut scripts, second] = ["", "10"].map(rounds);
        for (script, second) in scripts.iter_mut().zip(second) {
            script.extend(second);
        }
        let whole = |script: usize, end: &[u8]| [&attached(), &scripts[script], end].concat();
        let list = talk(&[&request(1, "tools/list")]);
        vec![
            whole(0, b""),
            whole(1, &masked(BINARY, b"binary")),
            whole(2, b""),
            whole(3, &talk(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])),
            whole(3, &[masked(CLOSE, b"\x03\xe8"), list.clone(), masked(CLOSE, b"")].concat()),
            [HEAD.replace(TOKEN, "wrong").as_bytes(), &list].concat(),
        ]
    }

    fn opening(&self) -> Vec<u8> {
        attached()
    }

    fn message(&self, len: usize) -> Vec<u8> {
        let arguments = format!(r#"{{"padding":"{}"}}"#, "p".repeat(len.saturating_sub(100)));
        text(&format!(r#"{{"jsonrpc":"2.0","id":"same","method":"ping","params":{arguments}}}"#))
    }

    fn refuse(&self, app: &Editor, machine: &mut Connection, is_full: bool, refusals: &mut Refusals) {
        let standing = Standing { is_open: machine.is_open(), is_full };
        if !standing.is_open {
            // On an open connection a ping is allowed before the session is open.
            let ping = machine.request("ping", None::<&()>, Timeout::Never);
            refusals.expect_err("a ping", ping, &[NotSent::NotReady, NotSent::Closed]);
        }
        let (name, allowed) = app.refused_with(standing);
        let text = ToolResult::text("refused");
        let foreign = foreign().0;
        let unknown = [NotOpen::Unknown, NotOpen::Closed];
        refusals.expect_err("a foreign call", respond(machine.call(foreign), &text), &unknown);
        refusals.expect_err("a foreign call", machine.call(foreign).fail(1, "refused"), &unknown);
        for call in app.ended() {
            refusals.expect_err("an ended call", respond(machine.call(*call), &text), Editor::ENDED);
            refusals.expect_err("an ended call", machine.call(*call).fail(1, "refused"), Editor::ENDED);
        }
        refusals.expect_err("an unserializable value", machine.notify("x", Some(&Unwritable)), allowed);
        let asked = machine.request("x", Some(&Unwritable), Timeout::Never);
        refusals.expect_err("an unserializable value", asked, allowed);
        if let Some(name) = name {
            refusals.expect_err(name, machine.notify("x", None::<&()>), allowed);
            refusals.expect_err(name, machine.request("x", None::<&()>, Timeout::Never), allowed);
            let mention = machine.mention(&Mention::new("/a", None));
            refusals.expect_err(name, mention, &[allowed, &[NotSent::NotReady]].concat());
        } else if !machine.accepts_pushes() {
            let mention = machine.mention(&Mention::new("/a", None));
            refusals.expect_err("a mention before the settle time", mention, &[NotSent::NotReady]);
        }
    }

    fn must_refuse(&self) -> &'static [&'static str] {
        &[
            "a ping",
            "a foreign call",
            "an ended call",
            "an unserializable value",
            "before it is ready",
            "a mention before the settle time",
            "while it closes",
            "above the mark",
            "after the end",
        ]
    }

    fn calls(&self, record: &Record<ServerEvent>) -> Calls {
        calls::of_editor(record)
    }

    fn messages(output: &[u8]) -> Vec<Vec<u8>> {
        let head = if output.starts_with(b"HTTP/") { frames::head_len(output) } else { 0 };
        let (head, mut rest) = output.split_at(head);
        let mut messages = vec![head.to_vec()];
        // The head of a refusal is followed by text, not by frames.
        while let Ok(Some((header, size))) = Header::parse(rest, false) {
            let (frame, behind) = rest.split_at(size + usize::try_from(header.len).unwrap());
            messages.push(frame.to_vec());
            rest = behind;
        }
        messages.push(rest.to_vec());
        messages
    }

    fn under_another_id(message: &[u8]) -> Option<Vec<u8>> {
        Header::parse(message, false).ok().flatten()?;
        let frame = frames::read(message).into_iter().next()?;
        calls::is_answer_to_a_call(&frame).then(|| calls::under_another_id(&frame))
    }

    fn ends_a_call(event: &ServerEvent) -> bool {
        matches!(event, ServerEvent::CallEnded { .. } | ServerEvent::DiffClosed { .. })
    }
}
