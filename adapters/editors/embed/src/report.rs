//! Turns the events of the server into events for the editor.

use crate::core::{Core, json};
use crate::event::Event;
use crate::gate;
use crate::numbers::CallKind;
use crate::old_text::Use;
use ide_mcp::ide::tool::{Call, CurrentSelection, DirectRequest, OpenDiff, Tool, ToolCall};
use ide_mcp::ide::{AgentId, LockFileEvent, Server, ServerEvent};
use ide_mcp::mcp::{CallEnd, FormAnswer, Implementation, Outcome, ToolResult};
use ide_mcp::rpc::{CallId, ErrorObject, NotAnswered, RequestId};
use std::fmt;
use std::sync::Arc;

/// The mark at the beginning of some files, which no editor shows.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

impl Core {
    #[allow(clippy::wildcard_enum_match_arm, reason = "the other events are not for editors")]
    pub(crate) fn on_event(&mut self, server: &mut Server, event: ServerEvent) {
        if let Some(agent) = event.agent() {
            return self.on_agent_event(server, agent, event);
        }
        match event {
            ServerEvent::LockFile(event) => self.put(lock_file(event)),
            ServerEvent::MentionExpired { mention } => {
                self.put(Event::MentionExpired { path: mention.file_path });
            }
            // Only the token of an earlier process needs this decision. A `NestedServer` decides by itself, and
            // an `Editor` has no such token.
            ServerEvent::AdmissionPending { conn } => drop(server.refuse(conn)),
            _ => {}
        }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "the other events are not for editors")]
    fn on_agent_event(&mut self, server: &mut Server, agent: AgentId, event: ServerEvent) {
        let conn = agent.number();
        match event {
            ServerEvent::ConsentPending { client, is_for_models: model, .. } => {
                self.announce(agent);
                let (client, version) = name_and_version(client);
                self.put(Event::Consent { conn, client, version, model });
            }
            ServerEvent::Ready { client, .. } => {
                self.announce(agent);
                let (client, version) = name_and_version(client);
                self.put(Event::Connected { conn, client, version });
            }
            ServerEvent::ModelReady { client, .. } => {
                self.announce(agent);
                let (client, version) = name_and_version(client);
                self.put(Event::ModelConnected { conn, client, version });
            }
            ServerEvent::IdeConnected { pid, .. } => {
                self.put(Event::IdeConnected { conn, pid: pid.map(u64::from) });
            }
            ServerEvent::RootsChanged { roots, .. } => self.put(Event::Roots { conn, roots: json(&roots) }),
            ServerEvent::PermissionMode { mode, .. } => {
                self.put(Event::PermissionMode { conn, mode: gate::name(&mode) });
            }
            ServerEvent::Call { call, .. } => self.on_call(server, conn, call),
            ServerEvent::GetPrompt { call, prompt, .. } => {
                self.open(server, call, CallKind::Prompt, |call| Event::Prompt {
                    conn,
                    call,
                    name: prompt.name,
                    arguments: json(&prompt.arguments),
                });
            }
            ServerEvent::ReadResource { call, resource, .. } => {
                let kind = CallKind::Resource { uri: resource.uri.clone() };
                self.open(server, call, kind, |call| Event::Resource { conn, call, uri: resource.uri });
            }
            ServerEvent::CallEnded { call, reason, .. } => self.on_call_ended(conn, call, call_end(&reason)),
            ServerEvent::DiffClosed { call, tab_name: tab, reason, .. } => {
                if let Some(call) = self.numbers.end_of(call) {
                    let (tab, reason) = (gate::name(&tab), reason.as_str().into());
                    self.put(Event::DiffClosed { conn, call, tab, reason });
                }
            }
            ServerEvent::EditExpected { edit, path, .. } => {
                // If the editor must not get the file, announce neither the edit nor its end.
                if let Ok((path, _)) = self.gate.judge(&path, Use::Query) {
                    let edit = self.numbers.expect_edit(edit, path.clone());
                    self.put(Event::EditExpected { conn, edit, path });
                }
            }
            ServerEvent::EditEnded { edit, reason, .. } => {
                if let Some((edit, path)) = self.numbers.end_edit(edit) {
                    let reason = reason.as_str().into();
                    self.put(Event::EditEnded { conn, edit, path, reason });
                }
            }
            ServerEvent::Outcome { request, outcome, .. } => self.on_outcome(conn, request, outcome),
            ServerEvent::Notification { method, params, .. } => {
                let (method, params) = (method.into(), params.map(|params| json(&params)));
                self.put(Event::Notification { conn, method, params });
            }
            ServerEvent::PeerError { error, .. } => self.put(problem(conn, &error)),
            ServerEvent::PeerFault { fault, .. } => self.put(problem(conn, &fault)),
            ServerEvent::Closed { reason, .. } => {
                if let Some(at) = self.conns.iter().position(|known| *known == agent) {
                    self.conns.remove(at);
                    self.put(Event::Closed { conn, reason: gate::message(&reason.to_string()) });
                }
            }
            ServerEvent::Direct { call, request, .. } => {
                self.announce(agent);
                self.on_direct(server, conn, call, request);
            }
            // We forward no requests.
            ServerEvent::Request { call, .. } => {
                let _ = server
                    .call(call)
                    .fail(ErrorObject::method_not_found("the editor does not have this method"));
            }
            _ => {}
        }
    }

    fn on_call(&mut self, server: &mut Server, conn: u64, call: ToolCall) {
        let Some(call) = self.answer_from_state(server, call) else { return };
        if let ToolCall::OpenDiff(call, diff) = call {
            return self.on_diff(server, conn, call, diff);
        }
        let id = call.id();
        let is_filtered = call.tool().is_some_and(|tool| tool != Tool::ExecuteCode);
        let kind = if is_filtered { CallKind::Tool } else { CallKind::Own };
        if self.fail_at_once(server, id, &kind) {
            return;
        }
        let judged = call.file().map(|written| self.gate.judge(written, purpose(&call))).transpose();
        match judged {
            Ok(file) => {
                let path = file.map(|(path, _)| path);
                let (tool, arguments) = (call.name().to_owned(), json(&call));
                let call = self.numbers.open(id, kind);
                self.put(Event::Call { conn, call, tool, arguments, path });
            }
            Err(reason) => refuse(server, id, &kind, &reason),
        }
    }

    /// Passes on a request of the Obsidian dialect, whose path is below the first folder.
    fn on_direct(&mut self, server: &mut Server, conn: u64, id: CallId, request: DirectRequest) {
        let file = match &request {
            DirectRequest::ReadFile(request) => Some((&request.path, Use::Load)),
            DirectRequest::WriteFile(request) => Some((&request.path, Use::Query)),
            DirectRequest::ListFiles(_)
            | DirectRequest::GetWorkspaceInfo
            | DirectRequest::GetOpenFiles
            | DirectRequest::GetCurrentFile
            | _ => None,
        };
        let folder = self.workspace.folders.first();
        let judged = file.map(|(below, purpose)| {
            let folder = folder.ok_or("no folder is open")?;
            let path = format!("{}/{below}", folder.path.trim_end_matches(['/', '\\']));
            // A link may lead out of the folder.
            if self.gate.is_outside(&path) {
                return Err("the path leads out of the open folders".into());
            }
            self.gate.judge(&path, purpose)
        });
        let (method, params) = (request.method(), json(&request));
        let kind = CallKind::Direct(request);
        match judged.transpose() {
            Ok(file) => self.open(server, id, kind, |call| {
                let path = file.map(|(path, _)| path);
                Event::Request { conn, call, method: method.into(), params, path }
            }),
            Err(reason) => refuse(server, id, &kind, &reason),
        }
    }

    fn on_diff(&mut self, server: &mut Server, conn: u64, call: Call<OpenDiff>, diff: OpenDiff) {
        let OpenDiff { new_file_path, old_file_path, new_file_contents, tab_name, .. } = diff;
        let id = call.id();
        let has_mark = new_file_contents.starts_with(BYTE_ORDER_MARK);
        let contents = Arc::new(match new_file_contents.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => rest.to_owned(),
            None => new_file_contents,
        });
        let tab = gate::name(&tab_name);
        let kind = CallKind::Diff {
            call,
            contents: contents.clone(),
            #[cfg(feature = "listen")]
            old: 0,
            has_mark,
            tab: tab_name,
        };
        if self.fail_at_once(server, id, &kind) {
            return;
        }
        let judge = |written: &str| self.gate.judge(written, Use::Load);
        // The two paths are nearly always the same, and then one look is enough.
        let judged = judge(&new_file_path).and_then(|new| match old_file_path == new_file_path {
            true => Ok((new.0.clone(), new)),
            false => Ok((new.0, judge(&old_file_path)?)),
        });
        let (path, (old_path, old)) = match judged {
            Ok(files) => files,
            Err(reason) => return refuse(server, id, &kind, &reason),
        };
        let outside = self.gate.is_outside(&path);
        let (label, call) = (self.gate.label(&path), self.numbers.open(id, kind));
        self.put(Event::Diff { conn, call, tab, label, path, old_path, outside, old, contents });
    }

    /// Fails an open call that the editor does not know of yet.
    #[cfg(feature = "listen")]
    pub(crate) fn fail_undelivered(&mut self, server: &mut Server, number: u64, reason: &str) {
        if let Some(open) = self.numbers.end(number) {
            refuse(server, open.id, &open.kind, reason);
        }
    }

    /// Answers a call if the commands so far have told us the answer. Returns every other call.
    #[allow(clippy::wildcard_enum_match_arm, reason = "the editor answers the other calls")]
    fn answer_from_state(&self, server: &mut Server, call: ToolCall) -> Option<ToolCall> {
        // If the call is no longer open, it needs no answer.
        let _ = match call {
            ToolCall::GetCurrentSelection(call, _) => {
                let current = self.selection.0.as_ref().filter(|_| self.has_focus);
                server.answer(call, CurrentSelection(current.cloned()))
            }
            ToolCall::GetLatestSelection(call, _) => server.answer(call, &self.selection),
            ToolCall::GetWorkspaceFolders(call, _) => server.answer(call, &self.workspace),
            other => return Some(other),
        };
        None
    }

    /// Opens a call without a file, unless it must fail at once.
    fn open(&mut self, server: &mut Server, id: CallId, kind: CallKind, event: impl FnOnce(u64) -> Event) {
        if !self.fail_at_once(server, id, &kind) {
            let number = self.numbers.open(id, kind);
            self.put(event(number));
        }
    }

    /// Fails a call if the editor takes no events, or is paused and the server would not filter the answer.
    fn fail_at_once(&mut self, server: &mut Server, id: CallId, kind: &CallKind) -> bool {
        if let Some(gap) = &mut self.gap {
            gap.events = gap.events.saturating_add(1);
            gap.calls = gap.calls.saturating_add(1);
            refuse(server, id, kind, "the editor does not read its events");
            return true;
        }
        let is_filtered = matches!(kind, CallKind::Diff { .. } | CallKind::Tool);
        if server.is_paused() && !is_filtered {
            refuse(server, id, kind, "the user has paused the editor");
            return true;
        }
        false
    }

    fn on_call_ended(&mut self, conn: u64, call: CallId, reason: &str) {
        if let Some(call) = self.numbers.end_of(call) {
            self.put(Event::CallEnded { conn, call, reason: reason.into() });
        }
    }

    fn on_outcome(&mut self, conn: u64, request: RequestId, outcome: Outcome) {
        let Some(at) = self.forms.iter().position(|(_, form)| form.id() == request) else { return };
        let (line, form) = self.forms.remove(at);
        let (action, content, error) = match form.answer(outcome) {
            Ok(FormAnswer::Accepted(values)) => (Some("accept"), Some(json(&values)), None),
            Ok(FormAnswer::Declined) => (Some("decline"), None, None),
            Ok(FormAnswer::Cancelled) => (Some("cancel"), None, None),
            Ok(_) => (None, None, Some("the answer is one of a later version of MCP: update ide-mcp".into())),
            Err(error) => (None, None, Some(gate::message(&error.to_string()))),
        };
        self.put(Event::FormAnswered { line, conn, action: action.map(Into::into), content, error });
    }
}

/// Answers a call with a failure. For a diff that is "method not found", after which the real client asks the
/// person in its terminal (measured). For a tool it is an error message for the model.
pub(crate) fn fail(
    server: &mut Server,
    id: CallId,
    kind: &CallKind,
    message: &str,
) -> Result<(), NotAnswered> {
    match kind {
        CallKind::Diff { .. } => server.call(id).fail(ErrorObject::method_not_found(message)),
        CallKind::Tool | CallKind::Own => server.call(id).respond(&ToolResult::error(message)),
        CallKind::Prompt | CallKind::Direct(_) => server.call(id).fail(message),
        CallKind::Resource { .. } => server.call(id).fail(ErrorObject::resource_not_found(message)),
    }
}

/// Fails a call that has just arrived, and so is still open.
fn refuse(server: &mut Server, id: CallId, kind: &CallKind, reason: &str) {
    let _ = fail(server, id, kind, reason);
}

/// Returns what an editor does with the file of a call. If the tool loads the file, its size is checked too.
#[allow(clippy::wildcard_enum_match_arm, reason = "the strict choice suits every other tool")]
fn purpose(call: &ToolCall) -> Use {
    match call {
        ToolCall::GetDiagnostics(..) | ToolCall::CheckDocumentDirty(..) | ToolCall::SaveDocument(..) => {
            Use::Query
        }
        _ => Use::Load,
    }
}

/// Returns the name and version of a client, for a person.
fn name_and_version(client: Option<Implementation>) -> (Option<String>, Option<String>) {
    client.map(|client| (gate::name(&client.name), gate::name(&client.version))).unzip()
}

/// Returns the event about a rule that an agent broke. Its message may quote the agent.
fn problem(conn: u64, fault: &dyn fmt::Display) -> Event {
    Event::Problem { conn, message: gate::message(&fault.to_string()) }
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
