//! The verdict of the user about a proposal, and its way to the agent.

use super::app::App;
use super::disk;
use crate::editor::diffs::Verdict;
use crate::editor::screen::model::act::Action;
use crate::editor::screen::review::Outcome;
use ide_mcp::ide::Server;
use ide_mcp::ide::tool::DiffOutcome;
use ide_mcp::rpc::CallId;
use std::mem;

impl App {
    /// Rejects the shown proposal at once, and accepts it after a look at its file.
    pub(crate) fn decide(&mut self, server: &mut Server, verdict: Verdict) -> Result<(), String> {
        let mut seen = self.seen();
        let Some(open) = self.model.proposed_mut() else { return Ok(()) };
        let call = open.proposal.call.id();
        if verdict == Verdict::Reject {
            return self.answer(server, call, Outcome::Rejected);
        }
        // A second key during the look does not answer a question that appears after it.
        if mem::replace(&mut open.is_looked_at, true) {
            return Ok(());
        }
        seen.files.retain(|(real, _)| open.files().any(|file| file.is_of(real)));
        let look = move |disk: &mut disk::Disk| disk::look(&disk.folders, seen);
        self.disk.run(Some(call), look, move |app, server, _, found| {
            app.stale = true;
            app.found(found);
            app.accept(server, call);
        });
        Ok(())
    }

    /// Accepts a proposal if the texts of its files are those that the user has seen. Otherwise asks the
    /// user, if the proposal is still shown: the answer is a key, and counts for the shown proposal.
    fn accept(&mut self, server: &mut Server, call: CallId) {
        let mut proposals = self.model.proposals.iter();
        let Some(at) = proposals.position(|open| open.proposal.call.id() == call) else { return };
        self.model.compare(at);
        let (is_shown, key) = (self.model.shows_proposal(at), self.model.keys.key(Action::Accept, true));
        let Some(open) = self.model.proposals.get_mut(at) else { return };
        open.is_looked_at = false;
        // The user can have begun an edit in the meantime.
        if open.editing.is_some() {
            return;
        }
        let done = match open.accepted() {
            Some(outcome) => self.answer(server, call, outcome),
            None if is_shown => Err(open.question(&key)),
            None => Err(format!("not accepted, look at it again: {} has changed", open.label)),
        };
        self.show_problem(done);
    }

    fn answer(&mut self, server: &mut Server, call: CallId, outcome: Outcome) -> Result<(), String> {
        let Some(proposal) = self.model.take_proposal(call) else { return Ok(()) };
        let (label, part) = (proposal.label.clone(), proposal.part());
        let document = self.model.documents.iter_mut().find(|document| proposal.writes(&document.real));
        let (call, outcome) = proposal.decided(outcome);
        server
            .answer(call, &outcome)
            .map_err(|gone| format!("your decision about {label} came too late: {gone}"))?;
        match outcome {
            DiffOutcome::Accepted { contents } => {
                if let Some(document) = document {
                    document.accepted = Some((document.buffer.state(), contents));
                }
                self.model.decided(&label, Verdict::Accept, &part);
            }
            _ => self.model.decided(&label, Verdict::Reject, ""),
        }
        Ok(())
    }
}
