//! The events of the host as events for the editor.

use crate::core::{Core, json};
use crate::event::Event;
use crate::numbers::CallKind;
use ide_mcp::ide::paths::{LocalPath, Platform};
use ide_mcp::ide::{AgentId, CurrentSelection, Host, HostEvent, LockFileEvent, ServerEvent, Tool, ToolCall};
use ide_mcp::mcp::{CallEnd, FormAnswer, Implementation, Outcome, ToolResult};
use ide_mcp::rpc::{CallId, RequestId, RespondError, code};
use std::sync::Arc;

impl Core {
    pub(crate) fn on_host_event(&mut self, host: &mut Host, event: HostEvent) {
        match event {
            HostEvent::Agent { agent, event } => self.on_agent_event(host, agent, event),
            HostEvent::LockFile(event) => self.put(lock_file(event)),
            HostEvent::MentionExpired { mention } => {
                self.put(Event::MentionExpired { path: mention.file_path });
            }
            // An editor has no token of an earlier process without a listener that decides by itself.
            HostEvent::AdmissionPending { conn } => drop(host.admit(conn, false)),
            _ => {}
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the other events are not for editors")]
    fn on_agent_event(&mut self, host: &mut Host, agent: AgentId, event: ServerEvent) {
        let conn = agent.number();
        match event {
            ServerEvent::ConsentPending { client, is_for_models: model } => {
                self.conns.insert(conn, agent);
                let (client, version) = named(client);
                self.put(Event::Consent { conn, client, version, model });
            }
            ServerEvent::Ready { client } => {
                self.conns.insert(conn, agent);
                let (client, version) = named(client);
                self.put(Event::Connected { conn, client, version });
            }
            ServerEvent::ModelReady { client } => {
                self.conns.insert(conn, agent);
                let (client, version) = named(client);
                self.put(Event::ModelConnected { conn, client, version });
            }
            ServerEvent::IdeConnected { pid, .. } => {
                self.put(Event::IdeConnected { conn, pid: pid.map(u64::from) });
            }
            ServerEvent::RootsChanged { roots } => self.put(Event::Roots { conn, roots: json(&roots) }),
            ServerEvent::PermissionMode { mode } => self.put(Event::PermissionMode { conn, mode }),
            ServerEvent::Call(call) => self.on_call(host, conn, call),
            ServerEvent::GetPrompt { call, prompt } => {
                self.open(host, call, CallKind::Prompt, |call| Event::Prompt {
                    conn,
                    call,
                    name: prompt.name,
                    arguments: json(&prompt.arguments),
                });
            }
            ServerEvent::ReadResource { call, resource } => {
                let kind = CallKind::Resource { uri: resource.uri.clone() };
                self.open(host, call, kind, |call| Event::Resource { conn, call, uri: resource.uri });
            }
            ServerEvent::CallEnded { call, reason } => self.on_call_ended(conn, call, call_end(&reason)),
            ServerEvent::DiffClosed { call, tab_name: tab, reason } => {
                if let Some(call) = self.numbers.end_of(call) {
                    self.put(Event::DiffClosed { conn, call, tab, reason: reason.as_str().into() });
                }
            }
            ServerEvent::EditExpected { edit, path } => {
                let edit = self.numbers.expect_edit(edit);
                self.put(Event::EditExpected { conn, edit, path: path.as_ref().into() });
            }
            ServerEvent::EditEnded { edit, path, reason } => {
                if let Some(edit) = self.numbers.end_edit(edit) {
                    let (path, reason) = (path.as_ref().into(), reason.as_str().into());
                    self.put(Event::EditEnded { conn, edit, path, reason });
                }
            }
            ServerEvent::Outcome { request, outcome } => self.on_outcome(conn, request, outcome),
            ServerEvent::Notification { method, params } => {
                let (method, params) = (method.into(), params.map(|params| json(&params)));
                self.put(Event::Notification { conn, method, params });
            }
            ServerEvent::PeerError(error) => self.put(Event::Problem { conn, message: error.to_string() }),
            ServerEvent::PeerFault(fault) => self.put(Event::Problem { conn, message: fault.to_string() }),
            ServerEvent::Closed(reason) => {
                let was_reported = self.conns.remove(&conn).is_some();
                if was_reported {
                    self.put(Event::Closed { conn, reason: reason.to_string() });
                }
            }
            // No dialect of the configuration has requests of its own, and none are forwarded.
            ServerEvent::Direct { call, .. } | ServerEvent::Request { call, .. } => {
                let _ = host.call(call).fail(code::METHOD_NOT_FOUND, "the editor does not have this method");
            }
            _ => {}
        }
    }

    fn on_call(&mut self, host: &mut Host, conn: u64, call: ToolCall) {
        let Some(call) = self.answer_alone(host, call) else { return };
        let id = call.id();
        if let ToolCall::OpenDiff(call, diff) = call {
            let outside = self.is_outside(&diff.new_file_path);
            let contents = Arc::new(diff.new_file_contents);
            let kind = CallKind::Diff { call, contents: contents.clone(), tab: diff.tab_name.clone() };
            self.open(host, id, kind, |call| Event::Diff {
                conn,
                call,
                tab: diff.tab_name,
                path: diff.new_file_path,
                old_path: diff.old_file_path,
                outside,
                contents,
            });
            return;
        }
        let tool = call.name().to_owned();
        let (arguments, path) = (json(&call), file_of(&call));
        let is_filtered = call.tool().is_some_and(|tool| tool != Tool::ExecuteCode);
        let kind = if is_filtered { CallKind::Tool } else { CallKind::Own };
        self.open(host, id, kind, |call| Event::Call { conn, call, tool, arguments, path });
    }

    /// Answers a call whose answer follows from the commands so far. Returns every other call.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the editor answers the other calls")]
    fn answer_alone(&self, host: &mut Host, call: ToolCall) -> Option<ToolCall> {
        // A call that is not open any more needs no answer.
        let _ = match call {
            ToolCall::GetCurrentSelection(call, _) => {
                let current = self.selection.0.as_ref().filter(|_| self.has_focus);
                host.answer(call, &CurrentSelection(current.cloned()))
            }
            ToolCall::GetLatestSelection(call, _) => host.answer(call, &self.selection),
            ToolCall::GetWorkspaceFolders(call, _) => host.answer(call, &self.workspace),
            other => return Some(other),
        };
        None
    }

    /// Opens a call, or fails the call at once if the editor takes no events, or is paused and the host would not
    /// filter the answer.
    fn open(&mut self, host: &mut Host, id: CallId, kind: CallKind, event: impl FnOnce(u64) -> Event) {
        if let Some(gap) = &mut self.gap {
            gap.events = gap.events.saturating_add(1);
            gap.calls = gap.calls.saturating_add(1);
            // The call is open: it has just come.
            let _ = fail(host, id, &kind, "the editor does not read its events");
            return;
        }
        let is_filtered = matches!(kind, CallKind::Diff { .. } | CallKind::Tool);
        if host.is_paused() && !is_filtered {
            let _ = fail(host, id, &kind, "the person has paused the editor");
            return;
        }
        let number = self.numbers.open(id, kind);
        self.put(event(number));
    }

    fn on_call_ended(&mut self, conn: u64, call: CallId, reason: &str) {
        if let Some(call) = self.numbers.end_of(call) {
            self.put(Event::CallEnded { conn, call, reason: reason.into() });
        }
    }

    fn on_outcome(&mut self, conn: u64, request: RequestId, outcome: Outcome) {
        let Some((line, form)) = self.forms.remove(&request) else { return };
        let (action, content, error) = match form.answer(outcome) {
            Ok(FormAnswer::Accepted(values)) => (Some("accept"), Some(json(&values)), None),
            Ok(FormAnswer::Declined) => (Some("decline"), None, None),
            Ok(FormAnswer::Cancelled) => (Some("cancel"), None, None),
            Err(error) => (None, None, Some(error.to_string())),
        };
        self.put(Event::FormAnswered { line, conn, action: action.map(Into::into), content, error });
    }
}

/// Answers a call with a failure. The real client decides a diff in its terminal after the error "method not
/// found" (measured); the failure of a tool is for its model.
pub(crate) fn fail(host: &mut Host, id: CallId, kind: &CallKind, message: &str) -> Result<(), RespondError> {
    match kind {
        CallKind::Diff { .. } => Ok(host.call(id).fail(code::METHOD_NOT_FOUND, message)?),
        CallKind::Tool | CallKind::Own => host.call(id).respond(&ToolResult::error(message)),
        CallKind::Prompt => Ok(host.call(id).fail(code::INTERNAL_ERROR, message)?),
        CallKind::Resource { .. } => Ok(host.call(id).fail(code::RESOURCE_NOT_FOUND, message)?),
    }
}

/// Returns the absolute path of the file in the arguments of a call.
#[allow(clippy::wildcard_enum_match_arm, reason = "the other tools have no file")]
fn file_of(call: &ToolCall) -> Option<String> {
    let written = match call {
        ToolCall::GetDiagnostics(_, arguments) => arguments.uri.as_ref()?,
        ToolCall::OpenFile(_, arguments) => &arguments.file_path,
        ToolCall::CheckDocumentDirty(_, arguments) => &arguments.file_path,
        ToolCall::SaveDocument(_, arguments) => &arguments.file_path,
        ToolCall::ReformatFile(_, arguments) => &arguments.file_path,
        ToolCall::SetCursorPosition(_, arguments) => arguments.file_path.as_ref()?,
        ToolCall::SetSelection(_, arguments) => arguments.file_path.as_ref()?,
        _ => return None,
    };
    LocalPath::parse(written, Platform::native()).ok()?.to_str().map(Into::into)
}

fn named(client: Option<Implementation>) -> (Option<String>, Option<String>) {
    client.map(|client| (client.name, client.version)).unzip()
}

fn lock_file(event: LockFileEvent) -> Event {
    let (state, problem) = match event {
        LockFileEvent::Lost => ("lost", None),
        LockFileEvent::Restored => ("restored", None),
        LockFileEvent::Taken => ("taken", None),
        LockFileEvent::Failed { error } => ("failed", Some(error)),
        _ => ("changed", None),
    };
    Event::LockFile { state: state.into(), problem }
}

const fn call_end(reason: &CallEnd) -> &'static str {
    match reason {
        CallEnd::Cancelled { .. } => "cancelled",
        CallEnd::Expired => "expired",
        CallEnd::ShutDown => "shutdown",
        CallEnd::Closed => "disconnected",
        _ => "ended",
    }
}
