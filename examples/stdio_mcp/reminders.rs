//! Calls that are answered later: a deferred answer is nothing but a handle that is kept.

use crate::tools::{Remind, Toolbox};
use ide_mcp::Time;
use ide_mcp::mcp::{Server, ToolResult};
use ide_mcp::rpc::CallId;
use ide_mcp_examples::LinesOut;
use std::time::Duration;

/// Who is to be reminded of what. As many as calls may be open, so few that looking at all of them is quick.
#[derive(Debug, Default)]
pub(crate) struct Reminders(Vec<(Time, CallId, String)>);

impl Reminders {
    pub(crate) fn add(&mut self, now: Time, call: CallId, asked: Remind) {
        self.0.push((now.saturating_add(Duration::from_millis(asked.after_ms)), call, asked.text));
    }

    /// The call has ended without us: the client cancelled it, or its deadline passed.
    pub(crate) fn forget(&mut self, call: CallId) {
        self.0.retain(|(_, waiting, _)| *waiting != call);
    }

    /// When the next of them is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.0.iter().map(|(at, ..)| *at).min()
    }

    /// Answers those that are due, in the order of their times.
    pub(crate) fn answer_due(&mut self, now: Time, server: &mut Server<Toolbox>, out: &mut LinesOut) {
        self.0.sort_by_key(|(at, ..)| *at);
        let due = self.0.partition_point(|(at, ..)| *at <= now);
        for (_, call, text) in self.0.drain(..due) {
            // One that is past its deadline is answered by the session, which says so with the next event.
            let _ = server.respond(call, &ToolResult::text(text), out);
        }
    }
}
