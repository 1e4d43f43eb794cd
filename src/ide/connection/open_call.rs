//! An open call by its name.

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

/// The message of the error in place of the text of a hidden file.
const HIDDEN: &str = "failed to read file: the file may not leave the editor";

/// The time after which Claude Code gives up on a call of its model, which no message says (measured).
const GIVES_UP: Timeout = Timeout::Progress { idle: Duration::from_secs(300), total: Duration::MAX };

/// An open call by its name, as [`Server::call`] returns it.
/// This type answers the call with something else than [the answer of its tool](Server::answer),
/// reports its progress and changes its deadline. An application that cannot keep a
/// [`Call`](crate::ide::tool::Call), such as one in another language, answers its calls by this type.
///
/// If the send buffer has [`max_unwritten`](crate::ide::ServerConfig::max_unwritten) bytes or more, the
/// client receives a short error in place of any answer.
#[must_use = "nothing is sent yet"]
pub struct OpenCall<'a> {
    server: &'a mut Server,
    call: CallId,
}

/// The output has the call alone. With the server, every program that answers a call by its name would contain
/// the `Debug` of a whole server.
impl fmt::Debug for OpenCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenCall").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<'a> OpenCall<'a> {
    pub(crate) const fn new(server: &'a mut Server, call: CallId) -> Self {
        Self { server, call }
    }

    /// Returns the tool of the protocol that is called. `None` for a tool of the application's own, for
    /// a request that is no call of a tool, and for a call that is not open.
    #[must_use]
    pub fn tool(&self) -> Option<Tool> {
        match self.kind()? {
            CallKind::Tool(tool) => Some(tool),
            CallKind::OwnTool | CallKind::Prompt | CallKind::Resource | CallKind::Request => None,
        }
    }

    /// Answers with a result, which is sent unchanged: the [`Answer`](crate::ide::tool::Answer) of a tool of
    /// the protocol in any dialect, or a [failure](ToolResult::error). Problems as LSP has them are sent in the
    /// dialect of the session. If the
    /// [`Filter`](crate::ide::Filter) of a server hides a file of the answer, the client receives the rest
    /// of the answer in the dialect of its session.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::NotAnAnswer`] for the answer of another tool, and for a prompt or a resource that
    /// no tool reads; the call is still open then. Nothing is sent.
    pub fn respond(self, result: &ToolResult<'_>) -> Result<(), NotAnswered> {
        let shown = self.shown(result, false)?;
        self.send(shown.as_ref().unwrap_or(result))
    }

    /// Answers a call of a tool with the text that VS Code answers with, which is JSON for most tools:
    /// `{"tabs":[]}` for `getOpenEditors`, `OK` for `setSelection`. An answer of several blocks is
    /// given as the whole result, `{"content":[{"type":"text","text":…},…]}`. For `getDiagnostics` the text
    /// can be what a language server wrote ([`Diagnostics`](crate::ide::tool::Diagnostics) has the shapes). The client
    /// receives the answer in the dialect of its session.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::NotAnAnswer`] if the text isn't an answer of the tool, or has a member that the
    /// answer does not have, and for a prompt or a resource that no tool reads; the call is still open
    /// then. Nothing is sent.
    pub fn answer_json(self, text: &str) -> Result<(), NotAnswered> {
        let raw = serde_json::from_str::<&RawValue>(text).ok();
        let result = raw.and_then(ToolResult::read_whole).unwrap_or_else(|| ToolResult::text(text));
        let shown = self.shown(&result, true)?;
        self.send(shown.as_ref().unwrap_or(&result))
    }

    /// Answers with a JSON object: a [`Request`](crate::ide::ServerEvent::Request) with its result, a
    /// call of a tool with the object of a [`ToolResult`].
    ///
    /// # Errors
    ///
    /// The errors of [`respond`](Self::respond), and [`NotAnswered::Unserializable`] if the result
    /// isn't an object, in which case the call is still open.
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
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::NotAnAnswer`] for any other call; the call is still open then. Nothing is sent.
    pub fn respond_prompt(self, result: &PromptResult<'_>) -> Result<(), NotAnswered> {
        self.respond_to(CallKind::Prompt, result)
    }

    /// Answers a [`ReadResource`](crate::ide::ServerEvent::ReadResource) with the contents of the
    /// resource.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::NotAnAnswer`] for any other call; the call is still open then. Nothing is sent.
    pub fn respond_resource(self, result: &ResourceResult<'_>) -> Result<(), NotAnswered> {
        self.respond_to(CallKind::Resource, result)
    }

    /// Answers a [`Direct`](crate::ide::ServerEvent::Direct) request. If the
    /// [`Filter`](crate::ide::Filter) of a server hides a file of the answer, the client receives the rest
    /// of the answer, and the error -32603 in place of the text of a hidden file.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::NotAnAnswer`] for a call of a tool, a prompt or a resource; the call is still
    /// open then. Nothing is sent.
    pub fn respond_direct(self, answer: &DirectAnswer) -> Result<(), NotAnswered> {
        if self.kind().is_some_and(|kind| kind != CallKind::Request) {
            return Err(NotAnswered::NotAnAnswer);
        }
        let asked = self.server.connection_of(self.call).and_then(|server| server.open_calls.file(self.call));
        let Ok(shown) = answer.without_hidden(asked.as_deref(), &|text| self.server.hides(text)) else {
            return self.fail(HIDDEN);
        };
        let raw = shown.as_ref().unwrap_or(answer).to_raw();
        self.with(|server, call| server.end(call, |mcp, out| mcp.respond_with_any(call, &raw, out)))
    }

    /// Answers with a JSON-RPC error: a text is a failure of the editor (-32603), and [`ErrorObject`] has the other
    /// codes, and data. A tool that failed answers [`ToolResult::error`]. The codes from -32020 to -32099, but for
    /// -32042, belong to a later version of MCP, and are sent as
    /// [`INTERNAL_ERROR`](crate::rpc::code::INTERNAL_ERROR).
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open. Nothing is sent.
    pub fn fail(self, error: impl Into<ErrorObject>) -> Result<(), NotAnswered> {
        self.with(|server, call| server.end(call, |mcp, out| mcp.fail(call, error, out)))
    }

    /// Reports the progress of the call, and puts its deadline off as far as its [`Timeout`] permits.
    /// Returns true if the client receives the report: it asked for reports, and the send buffer is not
    /// full.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open. Nothing is sent.
    pub fn progress(self, said: &Progress<'_>) -> Result<bool, NotAnswered> {
        self.with(|server, call| {
            let (session, mut out) = server.session();
            session.progress(call, said, &mut out)
        })
    }

    /// Sets the time for which the call waits from now on. So a `getDiagnostics` can wait for more than
    /// its 400 ms or 1.9 s, and an `openDiff` can get a deadline.
    ///
    /// Claude Code fails a call of its model after 300 s without an answer or [`progress`](Self::progress), and says
    /// nothing to the editor (measured). So on a connection [for models](crate::ide::MODELS_TARGET) a call without a timeout
    /// ends 300 s after its last progress. A tool that waits for a person should report progress, say each minute.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
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

    /// Returns the answer without the hidden files, in the dialect of the session; `None` if the result
    /// can be sent: no file is hidden, and `translates` is false. Refuses the answer of another tool. A
    /// failure is an answer of every tool.
    fn shown(
        &self,
        result: &ToolResult<'_>,
        translates: bool,
    ) -> Result<Option<ToolResult<'static>>, NotAnswered> {
        let tool = self.tool().filter(|_| !result.is_error);
        let server = self.server.connection_of(self.call);
        let (Some(tool), Some(Connection { config, .. })) = (tool, server) else { return Ok(None) };
        let form = (config.dialect, &config.content_limits);
        let asked = server.and_then(|server| server.open_calls.file(self.call));
        let shown = tool.shown(result, asked.as_deref(), form, &|text| self.server.hides(text), translates);
        shown.ok_or(NotAnswered::NotAnAnswer)
    }

    /// Answers with the result of a tool, without a check of which tool.
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
