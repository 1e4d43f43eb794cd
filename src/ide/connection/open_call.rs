//! An open call, by its id.

use super::Connection;
use super::open_calls::CallKind;
use crate::ide::AgentId;
use crate::ide::Server;
use crate::ide::tool::{DirectAnswer, Tool};
use crate::mcp::{Progress, PromptResult, ResourceResult, Timeout, ToolResult};
use crate::rpc::{CallId, ErrorObject, NotAnswered, is_object};
use core::fmt;
use core::time::Duration;
use serde::Serialize;
use serde_json::value::RawValue;

/// The error that replaces the text of a hidden file.
const HIDDEN: &str = "failed to read file: the file may not leave the editor";

/// When Claude Code gives up on a call of its model, without telling us (measured).
const GIVES_UP: Timeout = Timeout::Progress { idle: Duration::from_secs(300), total: Duration::MAX };

/// A call, for what [`Server::answer`] does not do: fail it, report its progress, change its deadline, or answer it if
/// you cannot keep a [`Call`](crate::ide::tool::Call), as in a binding to another language. [`Server::call`] returns
/// it.
///
/// ```
/// use ide_mcp::ide::{Server, tool::ToolCall};
///
/// /// Refuses a call that this editor cannot serve. The model reads the reason.
/// fn refuse(server: &mut Server, call: &ToolCall) {
///     // An error means that the agent no longer waits.
///     let _ = server.call(call.id()).respond(&ide_mcp::mcp::ToolResult::error("no file is open"));
/// }
/// ```
///
/// If the send buffer has [`max_unwritten`](crate::ide::ServerConfig::max_unwritten) bytes or more, the client gets a
/// short error instead of any answer.
#[must_use = "nothing is sent yet"]
pub struct OpenCall<'a> {
    server: &'a mut Server,
    call: CallId,
}

/// Shows only the call. If it showed the server, every program that answers by id would contain the code to show a
/// whole server.
impl fmt::Debug for OpenCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCall").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<'a> OpenCall<'a> {
    pub(crate) const fn new(server: &'a mut Server, call: CallId) -> Self {
        Self { server, call }
    }

    /// Returns the tool of the protocol that is called. `None` for a tool of your own, for a request other than a tool
    /// call, and for a call that is not open.
    #[must_use]
    pub fn tool(&self) -> Option<Tool> {
        match self.kind()? {
            CallKind::Tool(tool) => Some(tool),
            CallKind::OwnTool | CallKind::Prompt | CallKind::Resource | CallKind::Request => None,
        }
    }

    /// Answers with a result, which is sent unchanged: the [`Answer`](crate::ide::tool::Answer) of a tool of the
    /// protocol in any dialect, or a [failure](ToolResult::error). Problems as LSP writes them are sent in the dialect
    /// of the session. If the [`Filter`](crate::ide::Filter) hides a file of the answer, the client gets the rest of
    /// the answer in the dialect of its session.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::NotAnAnswer`] for the answer of
    /// another tool, and for a prompt or a resource that no tool reads; the call is still open then. Nothing is sent.
    pub fn respond(self, result: &ToolResult<'_>) -> Result<(), NotAnswered> {
        let shown = self.shown(result, false)?;
        self.send(shown.as_ref().unwrap_or(result))
    }

    /// Answers a tool call with the text that VS Code would answer, which is JSON for most tools: `{"tabs":[]}` for
    /// `getOpenEditors`, `OK` for `set_selection`. For an answer of several blocks, pass the whole result,
    /// `{"content":[{"type":"text","text":…},…]}`. For `getDiagnostics` you may pass what a language server wrote
    /// ([`Diagnostics`](crate::ide::tool::Diagnostics) has the shapes). The client gets the answer in the dialect of
    /// its session.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::NotAnAnswer`] if the text isn't an
    /// answer of the tool, or has a member that the answer does not have, and for a prompt or a resource that no tool
    /// reads; the call is still open then. Nothing is sent.
    pub fn answer_json(self, text: &str) -> Result<(), NotAnswered> {
        let raw = serde_json::from_str::<&RawValue>(text).ok();
        let result = raw.and_then(ToolResult::read_whole).unwrap_or_else(|| ToolResult::text(text));
        let shown = self.shown(&result, true)?;
        self.send(shown.as_ref().unwrap_or(&result))
    }

    /// Answers with a JSON object: the result of a [`Request`](crate::ide::ServerEvent::Request), or the object of a
    /// [`ToolResult`] for a tool call.
    ///
    /// # Errors
    ///
    /// The errors of [`respond`](Self::respond), and [`NotAnswered::Unserializable`] if the result isn't an object; the
    /// call is still open then.
    pub fn respond_raw(self, result: &RawValue) -> Result<(), NotAnswered> {
        let is_answer = match self.kind().filter(|_| is_object(result)) {
            Some(CallKind::Tool(_) | CallKind::OwnTool) => {
                let result = ToolResult::read_whole(result).ok_or(NotAnswered::NotAnAnswer)?;
                if let Some(shown) = self.shown(&result, false)? {
                    return self.send(&shown);
                }
                true
            }
            Some(CallKind::Prompt) => PromptResult::read(result).is_some(),
            Some(CallKind::Resource) => ResourceResult::read(result).is_some(),
            Some(CallKind::Request) | None => true,
        };
        if !is_answer {
            return Err(NotAnswered::NotAnAnswer);
        }
        self.with(|server, call| server.end(call, |mcp, out| mcp.respond_with(call, result, out)))
    }

    /// Answers a [`GetPrompt`](crate::ide::ServerEvent::GetPrompt) with the messages of the prompt.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::NotAnAnswer`] for any other call; the
    /// call is still open then. Nothing is sent.
    pub fn respond_prompt(self, result: &PromptResult<'_>) -> Result<(), NotAnswered> {
        self.respond_to(CallKind::Prompt, result)
    }

    /// Answers a [`ReadResource`](crate::ide::ServerEvent::ReadResource) with the contents of the resource.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::NotAnAnswer`] for any other call; the
    /// call is still open then. Nothing is sent.
    pub fn respond_resource(self, result: &ResourceResult<'_>) -> Result<(), NotAnswered> {
        self.respond_to(CallKind::Resource, result)
    }

    /// Answers a [`Direct`](crate::ide::ServerEvent::Direct) request. If the [`Filter`](crate::ide::Filter) hides a
    /// file of the answer, the client gets the rest of the answer, or the error -32603 instead of the text of a hidden
    /// file.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::NotAnAnswer`] for a call of a tool, a
    /// prompt or a resource; the call is still open then. Nothing is sent.
    pub fn respond_direct(self, answer: &DirectAnswer) -> Result<(), NotAnswered> {
        if self.kind().is_some_and(|kind| kind != CallKind::Request) {
            return Err(NotAnswered::NotAnAnswer);
        }
        let call_file =
            self.server.connection_of(self.call).and_then(|server| server.open_calls.file(self.call));
        let Ok(shown) = answer.without_hidden(call_file.as_deref(), &|text| self.server.hides(text)) else {
            return self.fail(HIDDEN);
        };
        let raw = shown.as_ref().unwrap_or(answer).to_raw();
        self.with(|server, call| server.end(call, |mcp, out| mcp.respond_with_any(call, &raw, out)))
    }

    /// Answers with a JSON-RPC error. A plain string means that the editor failed (-32603); pass an [`ErrorObject`] for
    /// another code, or data. If a tool failed, [respond](Self::respond) with a [`ToolResult::error`] instead, which
    /// the model can read. The codes from -32020 to -32099, except -32042, belong to a later version of MCP, and are
    /// sent as [`INTERNAL_ERROR`](crate::rpc::code::INTERNAL_ERROR).
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. Nothing is sent.
    pub fn fail(self, error: impl Into<ErrorObject>) -> Result<(), NotAnswered> {
        self.with(|server, call| server.end(call, |mcp, out| mcp.fail(call, error, out)))
    }

    /// Reports the progress of the call, and extends its deadline as far as its [`Timeout`] permits. Returns true if
    /// the report was sent: the client wants reports, and the send buffer is not full.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. Nothing is sent.
    pub fn progress(self, progress: &Progress<'_>) -> Result<bool, NotAnswered> {
        self.with(|server, call| {
            let (session, mut out) = server.session();
            session.progress(call, progress, &mut out)
        })
    }

    /// Sets how long the call may wait from now on. Use it to give a `getDiagnostics` more than its 400 ms or 1.9 s,
    /// for example, or to give an `openDiff` a deadline.
    ///
    /// Claude Code fails a call of its model after 300 s without an answer or [`progress`](Self::progress), without
    /// telling the editor (measured). So on a connection [for models](crate::ide::MODELS_TARGET), a call without a
    /// timeout ends 300 s after its last progress. If your tool waits for a person, report progress, say, every minute.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open.
    pub fn set_timeout(self, timeout: Timeout) -> Result<(), NotAnswered> {
        self.with(|server, call| {
            let waits_for_ever = timeout == Timeout::Never && server.is_for_models();
            let timeout = if waits_for_ever { GIVES_UP } else { timeout };
            server.session().0.set_call_timeout(call, timeout)
        })
    }

    /// Answers a call of this kind with an object.
    fn respond_to<R: Serialize>(self, kind: CallKind, result: &R) -> Result<(), NotAnswered> {
        if self.kind().is_some_and(|open| open != kind) {
            return Err(NotAnswered::NotAnAnswer);
        }
        self.with(|server, call| server.end(call, |mcp, out| mcp.respond_with(call, result, out)))
    }

    /// Returns the kind of the call while it is open.
    fn kind(&self) -> Option<CallKind> {
        let server = self.server.connection_of(self.call)?;
        server.may_answer(self.call).ok()?;
        server.open_calls.kind(self.call).filter(|_| server.mcp.is_open(self.call))
    }

    /// Returns the answer without the hidden files, in the dialect of the session; `None` if the result can be sent as
    /// it is: no file is hidden, and `translates` is false. Refuses the answer of another tool. Every tool may fail.
    fn shown(
        &self,
        result: &ToolResult<'_>,
        translates: bool,
    ) -> Result<Option<ToolResult<'static>>, NotAnswered> {
        let tool = self.tool().filter(|_| !result.is_error);
        let server = self.server.connection_of(self.call);
        let (Some(tool), Some(Connection { config, .. })) = (tool, server) else { return Ok(None) };
        let form = (config.dialect, &config.content_limits);
        let call_file = server.and_then(|server| server.open_calls.file(self.call));
        let shown =
            tool.shown(result, call_file.as_deref(), form, &|text| self.server.hides(text), translates);
        shown.ok_or(NotAnswered::NotAnAnswer)
    }

    /// Answers with the result of a tool, without checking which tool.
    fn send(self, result: &ToolResult<'_>) -> Result<(), NotAnswered> {
        self.with(|server, call| server.end(call, |mcp, out| mcp.respond(call, result, out)))
    }

    fn with<T>(
        self,
        act: impl FnOnce(&mut Connection, CallId) -> Result<T, NotAnswered>,
    ) -> Result<T, NotAnswered> {
        let Self { server, call } = self;
        let done = server.with(AgentId::of_call(call), |connection| {
            connection.may_answer(call)?;
            act(connection, call)
        });
        done.unwrap_or(Err(NotAnswered::Closed))
    }
}
