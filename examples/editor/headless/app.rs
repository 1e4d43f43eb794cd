//! The editor without a screen: what happens comes out as lines of JSON, what to do comes in as lines of JSON.
//!
//! It never writes a file: the agent writes what was accepted.

use super::command::{Command, range};
use super::report::{Event, Report};
use crate::diffs::{Diffs, Proposal, Verdict, diff_end};
use crate::options::OnDiff;
use crate::workspace::{Workspace, missing_note};
use ide_mcp::Time;
use ide_mcp::ide::{
    Answer, ConnId, Dialect, Host, HostEvent, LockFileEvent, OpenFile, OpenedFile, Range, Selected,
    Selection, ServerEvent, Tool, ToolRequest, ToolSet,
};
use ide_mcp::mcp::ToolResult;

#[derive(Debug)]
pub(crate) struct Headless {
    workspace: Workspace,
    on_diff: OnDiff,
    diffs: Diffs,
    report: Report,
}

/// Whether the editor goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Quit,
}

impl Headless {
    pub(crate) fn new(workspace: Workspace, on_diff: OnDiff, report: Report) -> Self {
        Self { workspace, on_diff, diffs: Diffs::default(), report }
    }

    pub(crate) const fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    /// At the end there is nothing left but what is still to be read.
    pub(crate) fn into_report(self) -> Report {
        self.report
    }

    /// Something happened at the host.
    pub(crate) fn event(&mut self, host: &mut Host, now: Time, event: HostEvent) {
        match event {
            HostEvent::Connection { conn, event } => self.connection(host, now, conn, event),
            HostEvent::MentionExpired { mention } => {
                self.report.error(&format!("nobody was there to be told of {}", mention.file_path));
            }
            HostEvent::LockFile(event) => self.lock_file(&event),
            _ => {}
        }
    }

    fn lock_file(&mut self, event: &LockFileEvent) {
        let (state, problem) = match event {
            LockFileEvent::Lost => ("lost", None),
            LockFileEvent::Restored => ("restored", None),
            LockFileEvent::Taken => ("taken", None),
            LockFileEvent::Failed { error } => ("failed", Some(error.as_str())),
            _ => return,
        };
        self.report.tell(&Event::LockFile { state, problem });
    }

    /// A line came on standard input; no text if it is not UTF-8. One that is no command changes nothing.
    pub(crate) fn line(&mut self, host: &mut Host, now: Time, number: u64, text: Option<&str>) -> Flow {
        let command = text.ok_or_else(|| "it is not UTF-8".into()).and_then(Command::parse);
        let done = match command {
            Ok(Command::Quit {}) => return Flow::Quit,
            Ok(command) => self.obey(host, now, command),
            Err(problem) => Err(format!("line {number} is no command: {problem}")),
        };
        if let Err(message) = done {
            self.report.tell(&Event::Error { line: Some(number), message: &message });
        }
        Flow::GoOn
    }

    fn connection(&mut self, host: &mut Host, now: Time, id: ConnId, event: ServerEvent) {
        let conn = id.number();
        match event {
            ServerEvent::Ready { client } => {
                let (client, version) = client.map(|client| (client.name, client.version)).unzip();
                self.report.tell(&Event::Connected { conn, client, version });
            }
            ServerEvent::IdeConnected { pid, .. } => self.report.tell(&Event::IdeConnected { conn, pid }),
            ServerEvent::Call { call, request: ToolRequest::OpenDiff(diff) } => {
                self.proposed(host, Proposal { conn: id, call, diff });
            }
            ServerEvent::Call { call, request } => {
                self.report.tell(&Event::Call { conn, tool: request.name(), arguments: &request });
                let answer = self.answer(host, now, &request).unwrap_or_else(ToolResult::error);
                // Where the connection has ended by now, nobody wants to know.
                let _ = host.respond(call, &answer);
            }
            ServerEvent::DiffClosed { call, tab_name, why } => {
                self.diffs.forget(call);
                self.report.tell(&Event::DiffClosed { conn, tab: &tab_name, why: diff_end(why) });
            }
            ServerEvent::Closed(why) => self.report.tell(&Event::Closed { conn, why: why.to_string() }),
            _ => {}
        }
    }

    /// The answer to a call, or why there is none.
    fn answer(
        &mut self,
        host: &mut Host,
        now: Time,
        request: &ToolRequest,
    ) -> Result<ToolResult<'static>, String> {
        match request {
            ToolRequest::GetDiagnostics(asked) => {
                Ok(ToolResult::diagnostics(&self.workspace.diagnostics(asked.uri.as_deref())?))
            }
            ToolRequest::OpenFile(file) => self.open_file(host, now, file),
            other => Err(format!("{} is not served by this editor", other.name())),
        }
    }

    /// Without the focus nothing is selected either: agents open files in the background while the person is elsewhere.
    fn open_file(
        &mut self,
        host: &mut Host,
        now: Time,
        file: &OpenFile,
    ) -> Result<ToolResult<'static>, String> {
        let opened = self.workspace.open_file(file)?;
        let answer = if file.make_frontmost {
            self.select(host, now, opened.selection);
            OpenedFile::in_front(opened.path, missing_note(opened.missing))
        } else {
            OpenedFile::in_background(opened.path, "plaintext", opened.lines)
        };
        Ok(answer.result(Dialect::VsCode).into_owned())
    }

    fn proposed(&mut self, host: &mut Host, proposal: Proposal) {
        let diff = &proposal.diff;
        let is_outside = |path: &str| self.workspace.is_outside(path);
        self.report.tell(&Event::Diff {
            conn: proposal.conn.number(),
            tab: &diff.tab_name,
            path: &diff.new_file_path,
            outside: is_outside(&diff.new_file_path) || is_outside(&diff.old_file_path),
            contents: &diff.new_file_contents,
        });
        match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => self.diffs.push(proposal),
            OnDiff::Accept => self.decide(host, proposal, Verdict::Accept, None),
            OnDiff::Reject => self.decide(host, proposal, Verdict::Reject, None),
        }
    }

    fn obey(&mut self, host: &mut Host, now: Time, command: Command) -> Result<(), String> {
        match command {
            Command::Open { path } => {
                let selection = self.workspace.select(&path, Range::default())?;
                self.select(host, now, selection);
            }
            Command::Select { path, start, end } => {
                let selection = self.workspace.select(&path, range(start, end))?;
                self.select(host, now, selection);
            }
            Command::Mention { path, lines, conn } => {
                let to = addressee(host, conn)?;
                let mention = self.workspace.mention(&path, lines)?;
                host.mention(now, mention, to).map_err(|error| error.to_string())?;
            }
            Command::Clear {} => self.select(host, now, Selection::cleared()),
            Command::Tools { offer } => host.set_tools(tool_set(&offer)?),
            Command::Answer { tab, verdict, contents, conn } => {
                let proposal = self.diffs.take(tab.as_deref(), conn)?;
                self.decide(host, proposal, verdict, contents);
            }
            Command::Quit {} => {}
        }
        Ok(())
    }

    fn select(&mut self, host: &mut Host, now: Time, selection: Selection) {
        if host.select(now, selection) == Selected::Cut {
            self.report.error("the selected text is longer than 256 KiB and was cut");
        }
    }

    fn decide(&mut self, host: &mut Host, proposal: Proposal, verdict: Verdict, contents: Option<String>) {
        let (conn, call, tab) = (proposal.conn.number(), proposal.call, proposal.diff.tab_name.clone());
        match host.decide(call, &proposal.outcome(verdict, contents)) {
            Ok(()) => self.report.tell(&Event::DiffClosed { conn, tab: &tab, why: verdict.done() }),
            Err(gone) => self.report.error(&format!("the verdict about {tab:?} came too late: {gone}")),
        }
    }
}

/// The tools that this editor can answer, in the order in which it offers them.
const TOOLS: [Tool; 3] = [Tool::OpenDiff, Tool::GetDiagnostics, Tool::OpenFile];

/// Returns all tools of this editor.
pub(crate) fn all_tools() -> ToolSet {
    TOOLS.into_iter().fold(ToolSet::new(), ToolSet::handle)
}

/// Returns the tools with these names.
fn tool_set(names: &[String]) -> Result<ToolSet, String> {
    names.iter().try_fold(ToolSet::new(), |tools, name| {
        let tool = TOOLS.into_iter().find(|tool| tool.name(Dialect::VsCode) == name);
        tool.map(|tool| tools.handle(tool)).ok_or_else(|| {
            let known = TOOLS.map(|tool| tool.name(Dialect::VsCode)).join(", ");
            format!("{name:?} is not a tool of this editor; its tools are {known}")
        })
    })
}

/// Whom a mention is for: the connection that is named, or the only one.
fn addressee(host: &Host, conn: Option<u64>) -> Result<Option<ConnId>, String> {
    let attached: Vec<ConnId> =
        host.connections().filter(|(_, server)| server.is_open()).map(|(id, _)| id).collect();
    let numbers: Vec<u64> = attached.iter().map(|id| id.number()).collect();
    match conn {
        Some(number) => match attached.into_iter().find(|id| id.number() == number) {
            Some(id) => Ok(Some(id)),
            None if numbers.is_empty() => {
                Err(format!("there is no connection {number}: no agent is attached"))
            }
            None => Err(format!("there is no connection {number}, only {numbers:?}")),
        },
        None if attached.len() > 1 => {
            Err(format!("several agents are attached: say which conn of {numbers:?}"))
        }
        None => Ok(None),
    }
}
