//! An editor's application for the laws: it answers at once, later, or never.

use super::client_messages::{PORT, attached, open_diff, text, token};
use super::law::{Law, broken};
use super::sockets::limits;
use ide_mcp::Time;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    Answer, CodeOutput, CurrentSelection, CursorPosition, Diagnostic, Diagnostics, DiffOutcome, DirectAnswer,
    DirectRequest, DocumentSaved, DocumentState, Done, EditorTab, FileDiagnostics, FilePaths,
    LatestSelection, OpenEditors, OpenedFile, OpenedFiles, OutputBlock, Reformatted, Severity, TabClosed,
    Tool, ToolCall, ToolSet, WorkspaceFolder, WorkspaceFolders, WorkspaceInfo,
};
use ide_mcp::ide::{Auth, Dialect, OpenCall, Policy, Selection, Server, ServerConfig, ServerEvent};
use ide_mcp::mcp::{Timeout, ToolResult};
use ide_mcp::rpc::{CallId, NotAnswered, NotSent, RequestId};
use ide_mcp::testing::{Random, pass};
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
    let mut config =
        ServerConfig::new("editor", "1").policy(Policy::new(PORT, Auth::Token(token()))).tools(tools);
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
        let mut other = Server::new(server_config(tools()));
        // The first connections of a server have the numbers of those under test.
        let conn = (0..99).map(|_| other.connect(Time::ZERO)).last().unwrap();
        other.feed(Time::ZERO, conn, &[attached(), text(&open_diff("1", "a"))].concat());
        let call = pass(&mut other, Time::ZERO, 0).events.into_iter().find_map(|event| match event {
            ServerEvent::Call { call, .. } => Some(call.id()),
            _ => None,
        });
        let pending = other.agent_mut(conn.into()).request("roots/list", None::<&()>, Timeout::Never);
        (call.unwrap(), pending.unwrap())
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
#[derive(Clone, Copy)]
pub struct Standing {
    pub is_open: bool,
    pub is_full: bool,
}

impl Editor {
    /// The allowed errors of an answer to a call that has ended.
    pub const ENDED: &[NotAnswered] =
        &[NotAnswered::Answered, NotAnswered::Cancelled, NotAnswered::Expired, NotAnswered::Closed];

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

    /// Reacts to an event. `respond` answers the calls.
    pub fn on_event(
        &mut self,
        event: &ServerEvent,
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), NotAnswered>,
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
        respond: &mut dyn FnMut(CallId, &ToolResult<'_>) -> Result<(), NotAnswered>,
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
        ToolCall::CloseTab(..) => encoded(&TabClosed { found: false }, dialect),
        ToolCall::GetDiagnostics(_, query) => {
            let problem = Diagnostic::new(Severity::Error, Range::default(), "problem");
            let of = |uri: &String| vec![FileDiagnostics::new(uri, vec![problem.clone(); uri.len()])];
            encoded(&Diagnostics { files: query.uri.as_ref().map(of).unwrap_or_default() }, dialect)
        }
        ToolCall::OpenFile(..) => encoded(&OpenedFile::unfocused("/a", "rust", 3), dialect),
        ToolCall::OpenFiles(_, pending) => {
            encoded(&OpenedFiles { opened_files: pending.file_paths.clone() }, dialect)
        }
        ToolCall::GetAllOpenedFilePaths(..) => encoded(&FilePaths { paths: vec![path()] }, dialect),
        ToolCall::GetOpenEditors(..) => {
            encoded(&OpenEditors { tabs: vec![EditorTab::new("file:///a", "a", "rust")] }, dialect)
        }
        ToolCall::GetWorkspaceFolders(..) => {
            encoded(&WorkspaceFolders { folders: vec![WorkspaceFolder::new("/")] }, dialect)
        }
        ToolCall::GetCurrentSelection(..) => encoded(&CurrentSelection(Some(selection(9))), dialect),
        ToolCall::GetLatestSelection(..) => encoded(&LatestSelection(None), dialect),
        ToolCall::GetCursorPosition(..) => encoded(&CursorPosition::new("/a", Position::new(1, 2)), dialect),
        ToolCall::CheckDocumentDirty(_, pending) => {
            let file_path = pending.file_path.clone();
            encoded(&DocumentState::Open { file_path, is_dirty: true, is_untitled: false }, dialect)
        }
        ToolCall::SaveDocument(_, pending) => {
            encoded(&DocumentSaved::NotOpen { file_path: pending.file_path.clone() }, dialect)
        }
        ToolCall::ReformatFile(..) => encoded(&Reformatted { found: true }, dialect),
        ToolCall::ExecuteCode(_, pending) => {
            encoded(&CodeOutput { blocks: vec![OutputBlock::Text(pending.code.clone())] }, dialect)
        }
        ToolCall::SetCursorPosition(..) | ToolCall::SetSelection(..) => encoded(&Done, dialect),
        _ => ToolResult::text("text"),
    }
}

/// Answers a call with an untyped result.
pub fn respond(call: OpenCall<'_>, result: &ToolResult<'_>) -> Result<(), NotAnswered> {
    let answered = call.respond(result);
    assert!(answered.is_ok() || answered.is_err_and(NotAnswered::is_over), "{result:?}: {answered:?}");
    answered
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
        DirectRequest::ReadFile(pending) => DirectAnswer::Contents(pending.path.clone()),
        DirectRequest::WriteFile(_) => DirectAnswer::Written,
        DirectRequest::GetWorkspaceInfo => {
            DirectAnswer::Workspace(WorkspaceInfo::new("a", "/a", 1, "obsidian-vault"))
        }
        DirectRequest::GetCurrentFile => DirectAnswer::CurrentFile(None),
        _ => DirectAnswer::Files(vec!["a".into()]),
    }
}
