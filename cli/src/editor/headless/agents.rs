//! The events of agents and of the lock file, reported as lines of JSON.

use super::app::Headless;
use super::report::Event;
use crate::editor::diffs::{Proposal, Verdict};
use crate::editor::edits::FollowEdits as _;
use crate::editor::options::OnDiff;
use ide_mcp::Time;
use ide_mcp::ide::tool::ToolCall;
use ide_mcp::ide::{AgentId, LockFileEvent, Server, ServerEvent};
use ide_mcp::mcp::GetPrompt;

impl Headless {
    /// Handles an event of the server.
    pub(crate) fn event(&mut self, server: &mut Server, now: Time, event: ServerEvent) {
        if let Some(agent) = event.agent() {
            return self.agent(server, now, agent, event);
        }
        match event {
            ServerEvent::MentionExpired { mention } => {
                self.report.error(&format!("no agent received the mention of {}", mention.file_path));
            }
            ServerEvent::LockFile(event) => self.lock_file(&event),
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
        self.report.write(&Event::LockFile { state, problem });
    }

    fn agent(&mut self, server: &mut Server, now: Time, agent: AgentId, event: ServerEvent) {
        let conn = agent.number();
        match event {
            ServerEvent::Ready { client, .. } => {
                let (client, version) = client.map(|client| (client.name, client.version)).unzip();
                self.report.write(&Event::Connected { conn, client, version });
            }
            ServerEvent::ModelReady { client, .. } => {
                let (client, version) = client.map(|client| (client.name, client.version)).unzip();
                self.report.write(&Event::ModelConnected { conn, client, version });
            }
            ServerEvent::IdeConnected { pid, .. } => self.report.write(&Event::IdeConnected { conn, pid }),
            ServerEvent::RootsChanged { roots, .. } => {
                self.report.write(&Event::Roots { conn, roots: &roots })
            }
            ServerEvent::GetPrompt { call, prompt, .. } => {
                let GetPrompt { name, arguments, .. } = &prompt;
                self.report.write(&Event::Prompt { conn, name, arguments });
                self.context.answer_prompt(server, call, &prompt);
            }
            ServerEvent::ReadResource { call, resource, .. } => {
                self.report.write(&Event::Resource { conn, uri: &resource.uri });
                self.context.answer_resource(server, call, &resource);
            }
            ServerEvent::Outcome { request, outcome, .. } => {
                if let Some((line, end)) = self.forms.end(request, outcome) {
                    self.report.write(&Event::FormAnswer { line, conn, end });
                }
            }
            ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
                self.proposed(Proposal { agent, call, diff });
            }
            ServerEvent::Call { call, .. } => {
                self.report.write(&Event::Call { conn, tool: call.name(), arguments: &call });
                self.called(server, call);
            }
            ServerEvent::Direct { call, request, .. } => {
                self.report.write(&Event::Request { conn, method: request.method(), params: &request });
                self.answer_direct(call, request);
            }
            ServerEvent::EditExpected { edit, path, .. } => {
                self.report.write(&Event::EditExpected { conn, edit: edit.number(), path: &path });
                self.expect_edit(edit, path);
            }
            ServerEvent::EditEnded { edit, path, reason, .. } => self.end_edit(now, edit, path, reason),
            ServerEvent::CallEnded { call, .. } => {
                self.disk.cancel(call);
                self.own.cancel(call);
            }
            ServerEvent::DiffClosed { call, tab_name, reason, .. } => {
                self.disk.cancel(call);
                // A proposal whose paths are still being checked has not been reported, so neither is its end.
                if self.diffs.forget(call) {
                    self.report.write(&Event::DiffClosed { conn, tab: &tab_name, reason: reason.as_str() });
                }
            }
            ServerEvent::Closed { reason, .. } => {
                self.report.write(&Event::Closed { conn, reason: reason.to_string() })
            }
            _ => {}
        }
    }

    fn proposed(&mut self, proposal: Proposal) {
        let paths = [proposal.diff.new_file_path.clone(), proposal.diff.old_file_path.clone()];
        self.disk.run(
            Some(proposal.call.id()),
            move |workspace| paths.iter().any(|path| workspace.is_outside(path)),
            |app, server, _, outside| app.propose(server, proposal, outside),
        );
    }

    fn propose(&mut self, server: &mut Server, proposal: Proposal, outside: bool) {
        let diff = &proposal.diff;
        self.report.write(&Event::Diff {
            conn: proposal.agent.number(),
            tab: &diff.tab_name,
            path: &diff.new_file_path,
            outside,
            contents: &diff.new_file_contents,
        });
        match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => self.diffs.push(proposal),
            OnDiff::Accept => self.decide(server, proposal, Verdict::Accept, None),
            OnDiff::Reject => self.decide(server, proposal, Verdict::Reject, None),
        }
    }
}
