//! Reports about connections that never authenticated: few, however many connections there are.

use ide_mcp::Time;
use ide_mcp::ide::Unauthenticated;
use std::time::Duration;

/// The time between two reports. Any program that reaches the port can make thousands of connections a second.
const INTERVAL: Duration = Duration::from_secs(10);

/// The counts of the last report, and the earliest time of the next.
#[derive(Debug, Default)]
pub(crate) struct Reported {
    counts: Unauthenticated,
    next: Option<Time>,
}

impl Reported {
    /// Returns the counts if they have changed and a report is due. `is_read` is whether the earlier reports have been
    /// read: otherwise any program could fill the queue of an output that nobody reads.
    pub(crate) fn due(
        &mut self,
        now: Time,
        counts: Unauthenticated,
        is_read: bool,
    ) -> Option<Unauthenticated> {
        if counts == self.counts || self.next.is_some_and(|next| now < next) {
            return None;
        }
        self.next = Some(now.saturating_add(INTERVAL));
        if !is_read {
            return None;
        }
        self.counts = counts;
        Some(counts)
    }

    /// Returns the time of the next report.
    pub(crate) fn deadline(&self, counts: Unauthenticated) -> Option<Time> {
        self.next.filter(|_| counts != self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ended: u64) -> Unauthenticated {
        let mut counts = Unauthenticated::default();
        counts.ended = ended;
        counts
    }

    #[test]
    fn many_connections_make_one_report_per_interval() {
        let mut reported = Reported::default();
        let at = |millis: u64| Time::from_millis(millis);
        assert_eq!(reported.due(at(0), counts(0), true), None, "nobody has come");
        assert_eq!(reported.due(at(0), counts(1), true), Some(counts(1)));
        let reports = (0..60_000).filter(|ms| reported.due(at(*ms), counts(2 + ms * 7), true).is_some());
        assert_eq!(reports.count(), 5);
        assert_eq!(reported.due(at(60_000), counts(9), true), Some(counts(9)));
        assert_eq!(reported.deadline(counts(9)), None);
        assert_eq!(reported.deadline(counts(10)), Some(at(70_000)));
        assert_eq!(reported.due(at(70_000), counts(10), false), None, "nobody reads it");
        assert_eq!(reported.deadline(counts(10)), Some(at(80_000)));
        assert_eq!(reported.due(at(80_000), counts(10), true), Some(counts(10)));
    }
}
