//! The times from which the same selection can come again.

use std::time::Duration;

use ide_mcp::Time;

/// The settle time of the clients of this simulation, and the longest one of a client that lists over
/// and over.
pub const SETTLE: Duration = Duration::from_millis(1_600);
const LONGEST_SETTLING: Duration = Duration::from_secs(10);

/// The time from the end of the settle time to the last repeat.
const LAST: Duration = Duration::from_secs(5);

/// The repeats of the selection that the server still must send, or can send: at once after a list, at the end of the
/// settle time, and once later. The settle time begins after `initialized`, a list, or a change of the tools.
///
/// A repeat has the earliest time at which it can be due, because its entry into the send buffer cannot be observed. A
/// repeat that is due waits for the selection before it to be written, and so can come after a change of the tools that
/// became due later.
#[derive(Debug, Default)]
pub struct Repeats {
    due: Vec<Time>,
    /// The earliest time at which the settle time can have begun.
    since: Time,
}

impl Repeats {
    /// Records that the settle time began, at `since` at the earliest: the client is initialized, or the change of the
    /// tools has been written. Repeats of the settle time before no longer count, except one that was due already and
    /// may still be waiting.
    pub fn settle(&mut self, now: Time, since: Time) {
        self.due.retain(|due| *due <= now);
        self.due.truncate(1);
        self.since = since;
        self.end_settling(since.saturating_add(SETTLE));
    }

    /// Records a list of the tools, which the client asked for at `request`. A waiting repeat comes at once, and so
    /// does the repeat for the list: they are one and the same.
    pub fn list(&mut self, now: Time, request: Time) {
        self.due = vec![now];
        self.end_settling(request.saturating_add(SETTLE).min(self.since.saturating_add(LONGEST_SETTLING)));
    }

    fn end_settling(&mut self, end: Time) {
        self.due.extend([end, end.saturating_add(LAST)]);
    }

    /// Counts a repeat. Returns false if no repeat can be due.
    pub fn take(&mut self, now: Time) -> bool {
        let is_due = self.due.first().is_some_and(|due| *due <= now);
        if is_due {
            self.due.remove(0);
        }
        is_due
    }
}
