//! The proposed changes that wait for a verdict, and how a command finds one of them.

use ide_mcp::ide::AgentId;
use ide_mcp::ide::tool::{Call, DiffOutcome, OpenDiff};
use ide_mcp::rpc::CallId;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Accept,
    Reject,
}

impl Verdict {
    /// Returns the word for a proposal with this verdict.
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Accept => "accepted",
            Self::Reject => "rejected",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) agent: AgentId,
    pub(crate) call: Call<OpenDiff>,
    pub(crate) diff: OpenDiff,
}

impl Proposal {
    /// Returns the call and its answer for a verdict. `contents` is the proposal as the user changed it.
    pub(crate) fn decided(self, verdict: Verdict, contents: Option<String>) -> (Call<OpenDiff>, DiffOutcome) {
        let outcome = match (verdict, contents) {
            (Verdict::Accept, Some(contents)) => DiffOutcome::Accepted { contents },
            (Verdict::Accept, None) => self.diff.accept(),
            (Verdict::Reject, _) => self.diff.reject(),
        };
        (self.call, outcome)
    }

    fn name(&self) -> String {
        format!("conn {} {:?}", self.agent.number(), self.diff.tab_name)
    }
}

/// The open proposals, in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct Diffs(Vec<Proposal>);

impl Diffs {
    pub(crate) fn push(&mut self, proposal: Proposal) {
        self.0.push(proposal);
    }

    /// Drops a proposal whose call ended without the editor's answer. Returns true if there was one.
    pub(crate) fn forget(&mut self, call: CallId) -> bool {
        let before = self.0.len();
        self.0.retain(|proposal| proposal.call.id() != call);
        self.0.len() < before
    }

    /// Removes and returns the proposal with this tab, or the only one. The tabs of one connection should differ; if
    /// two are equal, this is the first.
    pub(crate) fn take(&mut self, tab: Option<&str>, conn: Option<u64>) -> Result<Proposal, String> {
        let fits = |proposal: &&Proposal| {
            tab.is_none_or(|tab| proposal.diff.tab_name == tab)
                && conn.is_none_or(|number| proposal.agent.number() == number)
        };
        let fitting: Vec<&Proposal> = self.0.iter().filter(fits).collect();
        let call = match (fitting.as_slice(), tab) {
            ([], _) => return Err(self.none(tab, conn)),
            ([only], _) => only.call.id(),
            ([first, rest @ ..], Some(_)) if rest.iter().all(|other| other.agent == first.agent) => {
                first.call.id()
            }
            (several, Some(tab)) => {
                let conns: Vec<u64> = several.iter().map(|proposal| proposal.agent.number()).collect();
                return Err(format!(
                    "several connections have the tab {tab:?}: name one of the conns {conns:?}"
                ));
            }
            (several, None) => {
                return Err(format!("several diffs are open: name one of the tabs {}", list(several)));
            }
        };
        let index = self.0.iter().position(|proposal| proposal.call.id() == call);
        index.map(|index| self.0.remove(index)).ok_or_else(|| self.none(tab, conn))
    }

    fn none(&self, tab: Option<&str>, conn: Option<u64>) -> String {
        if self.0.is_empty() {
            return "no diff is open".into();
        }
        let what = match (tab, conn) {
            (Some(tab), Some(conn)) => format!("no open diff of conn {conn} has the tab {tab:?}"),
            (Some(tab), None) => format!("no open diff has the tab {tab:?}"),
            (None, Some(conn)) => format!("conn {conn} has no open diff"),
            (None, None) => "no diff matches".into(),
        };
        format!("{what}; these are open: {}", list(&self.0.iter().collect::<Vec<_>>()))
    }
}

fn list(proposals: &[&Proposal]) -> String {
    proposals.iter().map(|proposal| proposal.name()).collect::<Vec<_>>().join(", ")
}
