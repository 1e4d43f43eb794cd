//! Runs the commands of the editor.

use crate::command::{
    Answer, ChangeDiagnostics, Command, Mention as MentionFile, Notify, ReportProgress, Respond, Select,
    ShowForm, Verdict,
};
use crate::config::{context, tool_set};
use crate::core::{Core, Rest};
use crate::error::CommandError;
use crate::event::Event;
use crate::numbers::{CallKind, OpenCall};
use crate::report::{BYTE_ORDER_MARK, fail};
use ide_mcp::Time;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::paths::{LocalPath, Platform, Suspicion};
use ide_mcp::ide::tool::{Diagnostics, DiffOutcome, DirectAnswer, DirectRequest, Tool};
use ide_mcp::ide::{AgentId, DiagnosticsChanged, Mention, Selected, Selection, Server};
use ide_mcp::mcp::{Form, Progress, PromptResult, ResourceResult, Timeout};
use ide_mcp::rpc::{NotAnswered, from_json};
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;

impl Core {
    /// Runs a command; `line` is the number of its line. After an error nothing has changed, except that a
    /// result which cannot be used ends its call.
    pub(crate) fn execute(
        &mut self,
        server: &mut Server,
        now: Time,
        line: u64,
        command: Command,
    ) -> Result<Rest, CommandError> {
        match command {
            Command::Select(select) => self.select(server, now, select)?,
            Command::Clear(_) => {
                self.has_focus = false;
                let _ = server.select(now, Selection::cleared());
            }
            Command::Mention(mention) => self.mention(server, now, mention)?,
            Command::Answer(answer) => self.answer(server, answer)?,
            Command::Respond(answer) => self.respond(server, answer)?,
            Command::Fail(failure) => self.finish(failure.call, |OpenCall { id, kind, .. }| {
                fail(server, *id, kind, &failure.message).map_err(Into::into)
            })?,
            Command::SetTimeout(timeout) => {
                let within = Timeout::After(Duration::from_millis(timeout.within));
                server.call(self.call(timeout.call)?.id).set_timeout(within)?;
            }
            Command::ReportProgress(report) => self.progress(server, report)?,
            Command::ChangeDiagnostics(ChangeDiagnostics { uris }) => {
                drop(server.diagnostics_changed(DiagnosticsChanged::Stale { uris }));
            }
            Command::SetFolders(folders) => return Ok(Rest::Folders(folders.folders)),
            Command::SetTools(tools) => server.set_tools(tool_set(&tools.offer.0, &tools.own)),
            Command::SetContext(offered) => server.set_context(context(&offered.prompts, &offered.resources)),
            Command::ShowForm(show) => self.show_form(server, line, show)?,
            Command::CancelForm(cancel) => {
                let form =
                    self.forms.iter().find(|(line, _)| *line == cancel.line).map(|(_, form)| form.id());
                let is_open = form.is_some_and(|form| server.cancel(form, None));
                let gone = || CommandError::gone(format!("`line` {} has no open form", cancel.line));
                is_open.then_some(()).ok_or_else(gone)?;
            }
            Command::Allow(allow) => {
                let agent = self.agent(allow.conn)?;
                let refused =
                    || CommandError::refused(format!("`conn` {} does not wait for consent", allow.conn));
                server.agent_mut(agent).allow().then_some(()).ok_or_else(refused)?;
            }
            Command::Disconnect(disconnect) => server.agent_mut(self.agent(disconnect.conn)?).disconnect(now),
            Command::Notify(notify) => self.notify(server, &notify)?,
            Command::Pause(_) => {
                server.pause(now);
                self.put(Event::Paused {});
            }
            Command::Resume(_) => {
                server.resume(now);
                self.put(Event::Resumed {});
            }
            Command::GetStatus(_) => {
                let status = self.status(server, Some(line));
                self.put(status);
            }
            Command::Quit(_) => return Ok(Rest::Quit),
        }
        Ok(Rest::Nothing)
    }

    fn select(&mut self, server: &mut Server, now: Time, select: Select) -> Result<(), CommandError> {
        let Select { path, start, end, text } = select;
        check_absolute("select", &path)?;
        let (start, end) = (Position::new(start.0, start.1), Position::new(end.0, end.1));
        let range = Range::new(start.min(end), start.max(end));
        let selection = Selection::new(path.clone(), range, text.unwrap_or_default());
        self.selection.0 = Some(selection.clone());
        self.has_focus = true;
        #[allow(clippy::wildcard_enum_match_arm, reason = "only these changes need an event")]
        match server.select(now, selection) {
            Selected::Truncated => self.put(Event::Truncated { path }),
            Selected::Hidden if !server.is_paused() => self.put(Event::Hidden { path }),
            _ => {}
        }
        Ok(())
    }

    fn mention(&self, server: &mut Server, now: Time, mention: MentionFile) -> Result<(), CommandError> {
        check_absolute("mention", &mention.path)?;
        let lines = mention.lines.map(|lines| (lines.0.min(lines.1), lines.0.max(lines.1)));
        let to = mention.conn.map(|conn| self.agent(conn)).transpose()?;
        let mut sent = Mention::new(mention.path, lines);
        sent.line_count = mention.line_count;
        Ok(server.mention(now, sent, to)?)
    }

    fn answer(&mut self, server: &mut Server, answer: Answer) -> Result<(), CommandError> {
        let Answer { call: number, verdict, contents } = answer;
        if !matches!(self.call(number)?.kind, CallKind::Diff { .. }) {
            return Err(CommandError::invalid(format!(
                "`call` {number} is not a diff: use the command respond"
            )));
        }
        if verdict == Verdict::Reject && contents.is_some() {
            return Err(CommandError::invalid(
                "answer: leave `contents` out: only the verdict `accept` takes it",
            ));
        }
        // If the call has ended in the meantime, its event `diff_closed` is still to come.
        let id = self.call(number)?.id;
        if server.call(id).tool().is_none() {
            return Err(CommandError::gone(format!("`call` {number} has ended")));
        }
        let Some(OpenCall { kind: CallKind::Diff { call, contents: proposed, has_mark, tab, .. }, .. }) =
            self.numbers.end(number)
        else {
            return Ok(());
        };
        let outcome = match verdict {
            Verdict::Accept => {
                // The editor may have put the mark back itself.
                let lacks_mark = contents.as_ref().is_none_or(|text| !text.starts_with(BYTE_ORDER_MARK));
                // This copies the text only if the event still has it.
                let mut contents = contents.unwrap_or_else(|| Arc::unwrap_or_clone(proposed));
                if has_mark && lacks_mark {
                    contents.insert(0, BYTE_ORDER_MARK);
                }
                DiffOutcome::Accepted { contents }
            }
            Verdict::Reject => DiffOutcome::Rejected { tab_name: tab },
        };
        Ok(server.answer(call, &outcome)?)
    }

    /// Answers a call. If the result cannot be used, the call fails at once. If it stayed open until its
    /// deadline instead, an agent that asked for diagnostics would conclude that there are none.
    fn respond(&mut self, server: &mut Server, answer: Respond) -> Result<(), CommandError> {
        let Respond { call: number, result } = answer;
        let OpenCall { id, kind, .. } = self.call(number)?;
        let id = *id;
        let call = server.call(id);
        let text = result.as_deref().and_then(text_of);
        let text = text.as_deref();
        let answered = match (kind, result.as_deref()) {
            (CallKind::Diff { .. }, _) => {
                return Err(CommandError::invalid(format!(
                    "`call` {number} is a diff: use the command answer"
                )));
            }
            (CallKind::Tool | CallKind::Own, result) => {
                call.answer_json(text.unwrap_or_else(|| result.map_or("OK", RawValue::get)))
            }
            (CallKind::Direct(request), result) => match direct_answer(request, text, result) {
                Some(answer) => call.respond_direct(&answer),
                None => Err(NotAnswered::NotAnAnswer),
            },
            (_, None) => return Err(CommandError::invalid("respond: `result` is missing")),
            (CallKind::Prompt, Some(raw)) => match text {
                Some(text) => call.respond_prompt(&PromptResult::text(text)),
                None => call.respond_raw(raw),
            },
            (CallKind::Resource { uri }, Some(raw)) => match text {
                Some(text) => call.respond_resource(&ResourceResult::text(uri, "", text)),
                None => call.respond_raw(raw),
            },
        };
        let problem = match answered {
            Ok(()) => None,
            Err(error) if error.is_over() => return Err(error.into()),
            Err(error) => {
                let is_diagnostics = server.call(id).tool() == Some(Tool::GetDiagnostics);
                let problem = is_diagnostics.then(|| unusable_member(text, result.as_deref())).flatten();
                let problem = problem.unwrap_or_else(|| {
                    if let CallKind::Direct(request) = kind {
                        return format!("`result` must be {}", direct_result(request));
                    }
                    format!("`result` cannot be used: {error}")
                });
                fail(server, id, kind, &format!("the editor's answer cannot be used: {problem}"))?;
                Some(problem)
            }
        };
        self.numbers.end(number);
        problem.map_or(Ok(()), |problem| Err(CommandError::invalid(problem)))
    }

    fn progress(&self, server: &mut Server, report: ReportProgress) -> Result<(), CommandError> {
        let mut progress = Progress::new(report.progress);
        progress.total = report.total;
        progress.message = report.message.map(Into::into);
        server.call(self.call(report.call)?.id).progress(&progress)?;
        Ok(())
    }

    fn show_form(&mut self, server: &mut Server, line: u64, show: ShowForm) -> Result<(), CommandError> {
        let form = Form::read(&show.form);
        let form =
            form.map_err(|error| CommandError::invalid(format!("`form` is not a form: {}", error.message)))?;
        let agent = match show.conn {
            Some(conn) => self.agent(conn)?,
            None => only_agent(server)?,
        };
        let within =
            show.within.map_or(Timeout::Never, |within| Timeout::After(Duration::from_millis(within)));
        let request = server.agent_mut(agent).elicit_within(form, within)?;
        self.forms.push((line, request));
        Ok(())
    }

    fn notify(&self, server: &mut Server, notify: &Notify) -> Result<(), CommandError> {
        let params = notify.params.as_deref();
        match notify.conn {
            Some(conn) => Ok(server.agent_mut(self.agent(conn)?).notify(&notify.method, params)?),
            // An agent that does not read loses this notification, like any other.
            None => Ok(server.notify_all(&notify.method, params).map(drop)?),
        }
    }

    /// Runs `act` on an open call, and ends the call if that succeeds. If the call has already ended, its
    /// event is still to come.
    fn finish(
        &mut self,
        number: u64,
        act: impl FnOnce(&OpenCall) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        act(self.call(number)?)?;
        self.numbers.end(number);
        Ok(())
    }

    fn call(&self, number: u64) -> Result<&OpenCall, CommandError> {
        self.numbers.get(number).ok_or_else(|| match self.numbers.was_given(number) {
            true => CommandError::gone(format!("`call` {number} has ended")),
            false => CommandError::gone(format!("`call` {number} is not a call")),
        })
    }

    fn agent(&self, number: u64) -> Result<AgentId, CommandError> {
        let gone = || CommandError::gone(format!("`conn` {number} is not attached"));
        self.conns.iter().find(|agent| agent.number() == number).copied().ok_or_else(gone)
    }
}

/// Refuses a relative path, because an agent would resolve it in its own working directory.
fn check_absolute(command: &str, path: &str) -> Result<(), CommandError> {
    match LocalPath::from_bytes(path.as_bytes(), Platform::native()) {
        // On Windows, a URL is refused for its colon.
        Err(Suspicion::Empty | Suspicion::NotAbsolute | Suspicion::Stream) => {
            Err(CommandError::invalid(format!("{command}: `path` is not an absolute path")))
        }
        _ => Ok(()),
    }
}

/// Returns the only attached agent.
fn only_agent(server: &Server) -> Result<AgentId, CommandError> {
    let mut agents = server.agents().map(|agent| agent.id());
    match (agents.next(), agents.next()) {
        (Some(agent), None) => Ok(agent),
        (None, _) => Err(CommandError::gone("no agent is attached")),
        (Some(_), Some(_)) => {
            Err(CommandError::invalid("several agents are attached: `conn` must be one of them"))
        }
    }
}

fn text_of(raw: &RawValue) -> Option<String> {
    // Do not let serde build an error for any other value, only to drop it.
    raw.get().starts_with('"').then(|| from_json(raw.get()).ok()).flatten()
}

/// Returns the answer to a request of the Obsidian dialect; `None` if the result is not an answer.
fn direct_answer(
    request: &DirectRequest,
    text: Option<&str>,
    result: Option<&RawValue>,
) -> Option<DirectAnswer> {
    let raw = result.map_or("null", RawValue::get);
    match request {
        DirectRequest::ReadFile(_) => text.map(|text| DirectAnswer::Contents(text.into())),
        DirectRequest::WriteFile(_) => {
            matches!(raw, "null" | r#"{"success":true}"#).then_some(DirectAnswer::Written)
        }
        DirectRequest::ListFiles(_) | DirectRequest::GetOpenFiles => {
            from_json(raw).ok().map(DirectAnswer::Files)
        }
        DirectRequest::GetWorkspaceInfo => from_json(raw).ok().map(DirectAnswer::Workspace),
        DirectRequest::GetCurrentFile => from_json(raw).ok().map(DirectAnswer::CurrentFile),
        _ => None,
    }
}

/// Returns what the answer to a request of the Obsidian dialect must be.
fn direct_result(request: &DirectRequest) -> &'static str {
    match request {
        DirectRequest::ReadFile(_) => "the text of the file",
        DirectRequest::WriteFile(_) => "absent: fail the call if nothing was written",
        DirectRequest::ListFiles(_) | DirectRequest::GetOpenFiles => "a list of paths",
        DirectRequest::GetWorkspaceInfo => "an object with `name`, `path`, `fileCount` and `type`",
        DirectRequest::GetCurrentFile | _ => "a path or null",
    }
}

/// Returns what is wrong with the diagnostics of an answer, with the name of the member; `None` if the answer
/// is something else.
fn unusable_member(text: Option<&str>, result: Option<&RawValue>) -> Option<String> {
    let raw: Box<RawValue> = match text {
        Some(text) => from_json(text).ok()?,
        None => result?.to_owned(),
    };
    let problem = from_json::<Diagnostics>(raw.get()).err()?.to_string();
    let of_member = |member: &str, separator: &str| format!("`result{separator}{member}");
    Some(match (problem.strip_prefix("the value"), problem.strip_prefix('`')) {
        (Some(rest), _) => of_member(rest, "`"),
        (_, Some(member)) if member.starts_with('[') => of_member(member, ""),
        (_, Some(member)) => of_member(member, "."),
        (None, None) => return None,
    })
}
