//! The edits that one client has announced and that have not ended.
//!
//! Before the real client writes a file, it asks for the problems of that file, and once the tools of a turn are done,
//! for those of all files (measured). Its model may ask for both too; the newest version marks such a call in `_meta`.
//! A resource may be read at any time, so a call that reads one announces and ends nothing.

use crate::Time;
use crate::ide::paths::{MAX_PATH, as_written, is_absolute};
use crate::ide::{AgentId, ServerEvent};
use crate::rpc::CallId;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use core::time::Duration;

/// Why an expected edit is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditEnd {
    /// The client asked for the problems of all files: the tools of its turn are done.
    TurnDone,
    /// The client announced the next edit of this file, so this one was written.
    NextEdit,
    /// 5 s have passed. If the answer for the one file failed or came too late, the client does not ask for the
    /// problems of all files (measured). The file is written by then.
    Expired,
    /// The client has announced 256 further edits meanwhile.
    TooMany,
    /// The connection ended.
    Disconnected,
}

impl EditEnd {
    /// Returns the reason as a word: `turn_done`, `next_edit`, `expired`, `too_many` or `disconnected`, so that all
    /// programs that report events as JSON spell it the same.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TurnDone => "turn_done",
            Self::NextEdit => "next_edit",
            Self::Expired => "expired",
            Self::TooMany => "too_many",
            Self::Disconnected => "disconnected",
        }
    }
}

/// When an expected edit ends by itself. The client waits up to 0.5 s for the answer, and wrote the file up to 0.5 s
/// after it (measured on a loaded machine). This is five times the sum, for slower machines.
const EDIT_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of expected edits of a client: as many as the calls it may have open. With the longest paths this
/// is 1 MiB.
const MAX_EXPECTED: usize = 256;

/// The expected edits of one connection.
#[derive(Debug)]
pub(super) struct ExpectedEdits {
    /// Oldest first.
    edits: VecDeque<ExpectedEdit>,
    /// When the first of them ends by itself.
    pub(super) due: Time,
}

#[derive(Debug)]
struct ExpectedEdit {
    edit: CallId,
    path: Arc<str>,
    until: Time,
}

impl ExpectedEdits {
    pub(super) const fn new() -> Self {
        Self { edits: VecDeque::new(), due: Time::NEVER }
    }

    /// Handles a `getDiagnostics` that is a step of a turn, before the application gets it. Adds to `events` the ends
    /// of the edits that it ends, then the edit that it announces. Returns the path of that edit, which is the last
    /// part of `uri`.
    pub(super) fn on_diagnostics(
        &mut self,
        now: Time,
        call: CallId,
        uri: Option<&str>,
        events: &mut VecDeque<ServerEvent>,
    ) -> Option<Arc<str>> {
        let Some(uri) = uri else {
            while let Some(ended) = self.end_first(EditEnd::TurnDone) {
                events.push_back(ended);
            }
            return None;
        };
        // The real client encodes nothing in a URI (measured).
        let path = as_written(uri);
        if !is_absolute(path) || path.len() > MAX_PATH {
            return None;
        }
        let same = self.edits.iter().position(|expected| *expected.path == *path);
        if let Some(same) = same.and_then(|at| self.edits.remove(at)) {
            events.push_back(same.ended(EditEnd::NextEdit));
        }
        if self.edits.len() >= MAX_EXPECTED {
            events.extend(self.end_first(EditEnd::TooMany));
        }
        let path: Arc<str> = path.into();
        events.push_back(ServerEvent::EditExpected {
            agent: AgentId::of_call(call),
            edit: call,
            path: path.clone(),
        });
        let until = now.saturating_add(EDIT_TIMEOUT);
        self.edits.push_back(ExpectedEdit { edit: call, path: path.clone(), until });
        self.note_due();
        Some(path)
    }

    /// Removes the oldest edit, and returns its end.
    pub(super) fn end_first(&mut self, reason: EditEnd) -> Option<ServerEvent> {
        let first = self.edits.pop_front()?;
        self.note_due();
        Some(first.ended(reason))
    }

    fn note_due(&mut self) {
        self.due = self.edits.front().map_or(Time::NEVER, |first| first.until);
    }

    /// Frees memory that is not in use.
    pub(super) fn trim(&mut self) {
        self.edits.shrink_to_fit();
    }
}

impl ExpectedEdit {
    fn ended(self, reason: EditEnd) -> ServerEvent {
        ServerEvent::EditEnded {
            agent: AgentId::of_call(self.edit),
            edit: self.edit,
            path: self.path,
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_names() {
        let words = [
            (EditEnd::TurnDone, "turn_done"),
            (EditEnd::NextEdit, "next_edit"),
            (EditEnd::Expired, "expired"),
            (EditEnd::TooMany, "too_many"),
            (EditEnd::Disconnected, "disconnected"),
        ];
        for (end, word) in words {
            assert_eq!(end.as_str(), word);
        }
    }
}
