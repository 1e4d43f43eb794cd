//! The numbers by which an editor names calls.

use ide_mcp::ide::tool::{Call, DirectRequest, OpenDiff};
use ide_mcp::rpc::CallId;
use std::sync::Arc;

/// The open calls, and the expected edits. No number is used twice. Both lists are short, so we search them
/// from the start.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    latest: u64,
    open: Vec<OpenCall>,
    /// The expected edits, which outlive their calls: each with its number and its file.
    edits: Vec<(CallId, u64, String)>,
}

/// A call that the editor has received.
#[derive(Debug)]
pub(crate) struct OpenCall {
    number: u64,
    pub(crate) id: CallId,
    pub(crate) kind: CallKind,
}

/// The kind of a call, which decides which command answers it.
#[derive(Debug)]
pub(crate) enum CallKind {
    /// A diff. It shares `contents` with its event.
    Diff {
        call: Call<OpenDiff>,
        contents: Arc<String>,
        /// How many bytes of old text the editor has received.
        #[cfg(feature = "listen")]
        old: u64,
        /// True if the agent's text began with a byte order mark, which `contents` does not have.
        has_mark: bool,
        tab: String,
    },
    /// A tool of this crate, whose answers the server filters.
    Tool,
    /// A tool of the editor's own, or `executeCode`.
    Own,
    Prompt,
    Resource {
        uri: String,
    },
    /// A request of the Obsidian dialect.
    Direct(DirectRequest),
}

impl Numbers {
    /// Opens a call, and returns its number. If the call announced an edit, both have the same number.
    pub(crate) fn open(&mut self, id: CallId, kind: CallKind) -> u64 {
        let announced = self.edits.iter().find(|edit| edit.0 == id).map(|edit| edit.1);
        let number = announced.unwrap_or_else(|| self.next());
        self.open.push(OpenCall { number, id, kind });
        number
    }

    pub(crate) fn get(&self, number: u64) -> Option<&OpenCall> {
        self.open.iter().find(|call| call.number == number)
    }

    /// Counts the old text of a diff that the editor is about to receive. Returns false, and counts nothing,
    /// if the old texts of all open diffs would have more than `most` bytes.
    #[cfg(feature = "listen")]
    pub(crate) fn hold(&mut self, number: u64, length: u64, most: u64) -> bool {
        let others = self.open.iter().filter(|call| call.number != number);
        let held = others.fold(length, |sum, call| match &call.kind {
            CallKind::Diff { old, .. } => sum.saturating_add(*old),
            CallKind::Tool
            | CallKind::Own
            | CallKind::Prompt
            | CallKind::Resource { .. }
            | CallKind::Direct(_) => sum,
        });
        let diff = self.open.iter_mut().find(|call| call.number == number);
        if let Some(OpenCall { kind: CallKind::Diff { old, .. }, .. }) = diff {
            if held <= most {
                *old = length;
            }
        }
        held <= most
    }

    /// Returns true if a call had this number.
    pub(crate) const fn was_given(&self, number: u64) -> bool {
        0 < number && number <= self.latest
    }

    /// Ends the call with this number.
    pub(crate) fn end(&mut self, number: u64) -> Option<OpenCall> {
        let at = self.open.iter().position(|call| call.number == number)?;
        Some(self.open.remove(at))
    }

    /// Ends the call with this id, and returns its number.
    pub(crate) fn end_of(&mut self, id: CallId) -> Option<u64> {
        let at = self.open.iter().position(|call| call.id == id)?;
        Some(self.open.remove(at).number)
    }

    /// Returns the numbers of the open calls.
    pub(crate) fn all(&self) -> impl Iterator<Item = u64> {
        self.open.iter().map(|call| call.number)
    }

    pub(crate) fn expect_edit(&mut self, id: CallId, path: String) -> u64 {
        let number = self.next();
        self.edits.push((id, number, path));
        number
    }

    /// Ends an expected edit, and returns its number and its file.
    pub(crate) fn end_edit(&mut self, id: CallId) -> Option<(u64, String)> {
        let at = self.edits.iter().position(|edit| edit.0 == id)?;
        let (_, number, path) = self.edits.remove(at);
        Some((number, path))
    }

    const fn next(&mut self) -> u64 {
        self.latest = self.latest.saturating_add(1);
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::Time;
    use ide_mcp::ide::{AgentId, Auth, Policy, Server, ServerConfig};

    #[test]
    fn ended_edit_and_call_are_forgotten() {
        let policy = Policy::new(1, Auth::Disabled);
        let config = ServerConfig::new("editor", "1").policy(policy);
        let agent = AgentId::from(Server::new(config).connect(Time::ZERO));
        let mut numbers = Numbers::default();
        for (call, number) in [(7, 1), (8, 2)] {
            let id = agent.call(call);
            assert_eq!(numbers.expect_edit(id, "/w/a".into()), number);
            assert_eq!(numbers.open(id, CallKind::Tool), number, "a call has the number of its edit");
            assert_eq!((numbers.end_of(id), numbers.end_of(id)), (Some(number), None));
            assert_eq!((numbers.end_edit(id), numbers.end_edit(id)), (Some((number, "/w/a".into())), None));
        }
        assert!(numbers.open.is_empty() && numbers.edits.is_empty());
    }
}
