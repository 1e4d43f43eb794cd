//! The editor without a screen: what happens comes out as lines of JSON, what to do comes in as lines of JSON.
//!
//! It never writes a file: the agent writes what was accepted.

use crate::command::{Command, Verdict, range};
use crate::options::OnDiff;
use crate::workspace::Workspace;
use ide_mcp::Time;
use ide_mcp::ide::{
    ConnId, DiffEnd, DiffOutcome, Host, HostEvent, Mention, OpenDiff, OpenFile, Range, ServerEvent,
    ToolRequest,
};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::CallId;
use ide_mcp_examples::say_json;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Headless {
    workspace: Workspace,
    on_diff: OnDiff,
    /// The proposed changes that wait for a verdict.
    diffs: Vec<Proposal>,
}

#[derive(Debug)]
struct Proposal {
    conn: ConnId,
    call: CallId,
    diff: OpenDiff,
}

/// Whether the editor goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    Quit,
}

impl Headless {
    pub(crate) fn new(workspace: Workspace, on_diff: OnDiff) -> Self {
        Self { workspace, on_diff, diffs: Vec::new() }
    }

    /// Something happened at the host.
    pub(crate) fn event(&mut self, host: &mut Host, event: HostEvent) {
        match event {
            HostEvent::Connection { conn, event } => self.connection(host, conn, event),
            HostEvent::MentionExpired { mention } => {
                error(&format!("nobody was there to be told of {}", mention.file_path));
            }
            _ => {}
        }
    }

    /// A line came on standard input. One that is no command changes nothing.
    pub(crate) fn line(&mut self, host: &mut Host, now: Time, line: &str) -> Flow {
        match Command::parse(line) {
            Ok(Command::Quit) => return Flow::Quit,
            Ok(command) => {
                if let Err(problem) = self.obey(host, now, command) {
                    error(&problem);
                }
            }
            Err(problem) => error(&problem),
        }
        Flow::GoOn
    }

    fn connection(&mut self, host: &mut Host, conn: ConnId, event: ServerEvent) {
        let number = conn.number();
        match event {
            ServerEvent::Ready { client } => {
                let (name, version) = client.map(|client| (client.name, client.version)).unzip();
                tell(&json!({"event": "connected", "conn": number, "client": name, "version": version}));
            }
            ServerEvent::IdeConnected { pid } => {
                tell(&json!({"event": "ide_connected", "conn": number, "pid": pid}));
            }
            ServerEvent::Call { call, request: ToolRequest::OpenDiff(diff) } => {
                self.proposed(host, Proposal { conn, call, diff });
            }
            ServerEvent::Call { call, request } => {
                let tool = request.name();
                tell(&json!({"event": "call", "conn": number, "tool": tool, "arguments": request}));
                // Where the connection has ended by now, nobody wants to know.
                let _ = host.respond(call, &self.answer(&request));
            }
            ServerEvent::DiffClosed { call, tab_name, why } => {
                self.diffs.retain(|proposal| proposal.call != call);
                closed(conn, &tab_name, diff_end(why));
            }
            ServerEvent::Closed(why) => {
                tell(&json!({"event": "closed", "conn": number, "why": why.to_string()}));
            }
            _ => {}
        }
    }

    fn answer(&mut self, request: &ToolRequest) -> ToolResult<'static> {
        match request {
            ToolRequest::GetDiagnostics(asked) => {
                ToolResult::diagnostics(&self.workspace.diagnostics(asked.uri.as_deref()))
            }
            ToolRequest::OpenFile(file) => self.open_file(file).unwrap_or_else(ToolResult::error),
            other => ToolResult::error(format!("{} is not served by this editor", other.name())),
        }
    }

    fn open_file(&mut self, file: &OpenFile) -> Result<ToolResult<'static>, String> {
        let (path, text) = self.workspace.open(&file.file_path)?;
        let path = path.display().to_string();
        Ok(if file.make_frontmost {
            ToolResult::opened_file(&path)
        } else {
            ToolResult::opened_in_background(&path, "plaintext", text.lines().count())
        })
    }

    fn proposed(&mut self, host: &mut Host, proposal: Proposal) {
        let Proposal { conn, diff, .. } = &proposal;
        tell(&json!({
            "event": "diff",
            "conn": conn.number(),
            "tab": diff.tab_name,
            "path": diff.new_file_path,
            "contents": diff.new_file_contents,
        }));
        match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => self.diffs.push(proposal),
            OnDiff::Accept => decide(host, proposal, Verdict::Accept, None),
            OnDiff::Reject => decide(host, proposal, Verdict::Reject, None),
        }
    }

    fn obey(&mut self, host: &mut Host, now: Time, command: Command) -> Result<(), String> {
        match command {
            Command::Open { path } => {
                let selection = self.workspace.select(&path, Range::default())?;
                host.select(now, selection);
            }
            Command::Select { path, start, end } => {
                let selection = self.workspace.select(&path, range(start, end))?;
                if host.select(now, selection) {
                    error("the selected text is longer than 256 KiB and was cut");
                }
            }
            Command::Mention { path, lines, conn } => {
                let to = addressee(host, conn)?;
                let mention = Mention::new(self.workspace.existing(&path)?, lines);
                host.mention(now, mention, to).map_err(|error| error.to_string())?;
            }
            Command::Answer { tab, verdict, contents, conn } => {
                let index = self.find(&tab, conn)?;
                let proposal = self.diffs.remove(index);
                decide(host, proposal, verdict, contents);
            }
            Command::Quit => {}
        }
        Ok(())
    }

    /// The open diff with this tab; tabs are unlike within one connection only.
    fn find(&self, tab: &str, conn: Option<u32>) -> Result<usize, String> {
        let fits = |proposal: &Proposal| {
            proposal.diff.tab_name == tab && conn.is_none_or(|number| proposal.conn.number() == number)
        };
        let places: Vec<usize> =
            (0..self.diffs.len()).filter(|index| self.diffs.get(*index).is_some_and(fits)).collect();
        match places.as_slice() {
            [] => Err(format!("no open diff has the tab {tab:?}")),
            [first, rest @ ..] => {
                let conns: Vec<u32> =
                    places.iter().filter_map(|i| self.diffs.get(*i)).map(|p| p.conn.number()).collect();
                let one = conns.iter().all(|number| Some(number) == conns.first());
                if rest.is_empty() || one {
                    Ok(*first)
                } else {
                    Err(format!("several connections have the tab {tab:?}: say which conn of {conns:?}"))
                }
            }
        }
    }
}

/// Whom a mention is for: the connection that is named, or the only one.
fn addressee(host: &Host, conn: Option<u32>) -> Result<Option<ConnId>, String> {
    let attached: Vec<ConnId> =
        host.connections().filter(|(_, server)| server.is_open()).map(|(id, _)| id).collect();
    let numbers: Vec<u32> = attached.iter().map(|id| id.number()).collect();
    match conn {
        Some(number) => match attached.into_iter().find(|id| id.number() == number) {
            Some(id) => Ok(Some(id)),
            None => Err(format!("there is no connection {number}, only {numbers:?}")),
        },
        None if attached.len() > 1 => {
            Err(format!("several agents are attached: say which conn of {numbers:?}"))
        }
        None => Ok(None),
    }
}

fn decide(host: &mut Host, proposal: Proposal, verdict: Verdict, contents: Option<String>) {
    let Proposal { conn, call, diff } = proposal;
    let tab = diff.tab_name;
    let (outcome, word) = match verdict {
        Verdict::Accept => {
            let contents = contents.unwrap_or(diff.new_file_contents);
            (DiffOutcome::Saved { contents }, "accepted")
        }
        Verdict::Reject => (DiffOutcome::Rejected { tab_name: tab.clone() }, "rejected"),
    };
    match host.decide(call, &outcome) {
        Ok(()) => closed(conn, &tab, word),
        Err(gone) => error(&format!("the verdict about {tab:?} came too late: {gone}")),
    }
}

fn closed(conn: ConnId, tab: &str, why: &str) {
    tell(&json!({"event": "diff_closed", "conn": conn.number(), "tab": tab, "why": why}));
}

fn diff_end(why: DiffEnd) -> &'static str {
    match why {
        DiffEnd::TabClosed => "close_tab",
        DiffEnd::AllClosed => "closeAllDiffTabs",
        DiffEnd::ShutDown => "shutdown",
        DiffEnd::Cancelled => "cancelled",
        DiffEnd::Disconnected => "disconnected",
        _ => "ended",
    }
}

/// Something went wrong that whoever sends the commands should know.
pub(crate) fn error(message: &str) {
    tell(&json!({"event": "error", "message": message}));
}

/// Where nobody reads the events any more, the commands end too, and with them the editor.
pub(crate) fn tell(event: &Value) {
    say_json(event);
}
