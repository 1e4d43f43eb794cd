//! Handles the events of agents: they attach, propose, call, and leave.

use super::app::App;
use super::disk::{self, Disk};
use super::model::proposal::Proposed;
use super::model::{Agent, Tone};
use crate::editor::diffs::{Proposal, Verdict};
use crate::editor::edits::FollowEdits as _;
use crate::editor::options::OnDiff;
use crate::support::ended::detached;
use ide_mcp::Time;
use ide_mcp::ide::kit::display_safe;
use ide_mcp::ide::tool::ToolCall;
use ide_mcp::ide::{AgentId, DiffEnd, LockFileEvent, Server, ServerEvent};
use std::path::Path;

/// The maximum number of characters of a peer's name or text that are shown: as many as fit on a
/// screen.
const LONGEST: usize = 200;

impl App {
    /// Handles an event of the server.
    pub(crate) fn event(&mut self, server: &mut Server, now: Time, event: ServerEvent) {
        self.model.now = now;
        self.stale = true;
        if let Some(agent) = event.agent() {
            return self.agent(server, now, agent, event);
        }
        match event {
            ServerEvent::MentionExpired { mention } => {
                let label = self.folders.label(Path::new(&mention.file_path));
                self.model.report(Tone::Bad, format!("no agent received the mention of {label}"));
            }
            ServerEvent::LockFile(event) => self.lock_file(event),
            _ => {}
        }
    }

    fn lock_file(&mut self, event: LockFileEvent) {
        let (tone, text, is_problem) = match event {
            LockFileEvent::Lost => {
                (Tone::Plain, "the lock file is missing: agents do not find this editor".to_owned(), false)
            }
            LockFileEvent::Restored => {
                (Tone::Good, "the lock file is back: agents find this editor".into(), false)
            }
            LockFileEvent::Taken => (
                Tone::Bad,
                "another program replaced the lock file: agents do not find this editor".into(),
                true,
            ),
            LockFileEvent::Failed { error } => {
                (Tone::Bad, format!("agents may not find this editor: {}", of_peer(&error)), true)
            }
            _ => return,
        };
        self.lock_problem = is_problem.then(|| text.clone());
        self.model.report(tone, text);
    }

    fn agent(&mut self, server: &mut Server, now: Time, id: AgentId, event: ServerEvent) {
        match event {
            ServerEvent::Ready { client, .. } => {
                let name = client.map(|client| format!("{} {}", client.name, client.version));
                let name = name.map_or_else(|| format!("agent {}", id.number()), |name| of_peer(&name));
                self.model.record(&name, "attached".into());
                self.model.agents.push(Agent { id, name, pid: None });
            }
            ServerEvent::IdeConnected { pid, .. } => {
                let agent = self.model.agents.iter_mut().find(|agent| agent.id == id);
                if let Some(agent) = agent {
                    agent.pid = pid;
                }
            }
            ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
                self.proposed(server, Proposal { agent: id, call, diff });
            }
            ServerEvent::Call { call, .. } => self.called(server, id, call),
            ServerEvent::GetPrompt { call, prompt, .. } => {
                let who = self.model.agent(id);
                self.model.record(&who, format!("prompt {}", of_peer(&prompt.name)));
                self.answer_prompt(server, call, &prompt);
            }
            ServerEvent::Outcome { request, outcome, .. } => self.answered(request, outcome),
            ServerEvent::EditExpected { edit, path, .. } => self.edit_expected(edit, path),
            ServerEvent::EditEnded { edit, path, reason, .. } => self.end_edit(now, edit, path, reason),
            ServerEvent::CallEnded { call, .. } => self.disk.cancel(call),
            ServerEvent::DiffClosed { call, reason, .. } => {
                self.disk.cancel(call);
                // The agent may have written the file.
                self.look();
                if let Some(closed) = self.model.take_proposal(call) {
                    let edited = if closed.is_edited() || closed.editing.is_some() {
                        "; your edit is lost"
                    } else {
                        ""
                    };
                    let text = format!("{}{edited}: {}", ended(reason), closed.label);
                    self.model.report(Tone::Bad, text);
                }
            }
            ServerEvent::Closed { reason, .. } => {
                let at = self.model.agents.iter().position(|agent| agent.id == id);
                if let Some(agent) = at.map(|at| self.model.agents.remove(at)) {
                    self.model.happened(of_peer(&detached(&agent.name, &reason)));
                }
            }
            _ => {}
        }
    }

    fn proposed(&mut self, server: &mut Server, proposal: Proposal) {
        let label = of_peer(&self.folders.label(Path::new(&proposal.diff.new_file_path)));
        let verdict = match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => return self.read_old_text(proposal, label),
            OnDiff::Accept => Verdict::Accept,
            OnDiff::Reject => Verdict::Reject,
        };
        let (call, outcome) = proposal.decided(verdict, None);
        if server.answer(call, &outcome).is_ok() {
            self.model.decided(&label, verdict, "");
        }
    }

    /// Shows a proposal after its files have been read.
    fn read_old_text(&mut self, proposal: Proposal, label: String) {
        let (who, call, seen) = (self.model.agent(proposal.agent), proposal.call.id(), self.seen());
        let read = move |disk: &mut Disk| {
            let found = disk::look(&disk.folders, seen);
            let files = disk::files_of(&disk.folders, &proposal.diff);
            (found, Proposed::new(proposal, who, label, files))
        };
        self.disk.run(Some(call), read, |app, _, _, (found, proposed)| {
            app.stale = true;
            app.found(found);
            app.model.propose(proposed);
        });
    }
}

/// Returns a peer's string, safe to display and not longer than [`LONGEST`].
pub(crate) fn of_peer(text: &str) -> String {
    let safe = display_safe(text);
    match safe.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", safe.get(..at).unwrap_or_default()),
        None => safe.into_owned(),
    }
}

const fn ended(reason: DiffEnd) -> &'static str {
    match reason {
        DiffEnd::TabClosed => "the proposal was decided at the agent",
        DiffEnd::AllClosed => "the agent closed all its proposals",
        DiffEnd::ShutDown => "the proposal was rejected, because the editor ends",
        DiffEnd::Cancelled => "the agent withdrew the proposal",
        DiffEnd::Disconnected => "the agent detached before your decision",
        _ => "the proposal has ended",
    }
}
