//! The totals of the run, counted by all threads.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Connections,
    Unauthenticated,
    Rebuffed,
    Kills,
    Requests,
    Answers,
    Cancelled,
    Abandoned,
    Diffs,
    Verdicts,
    Storms,
    Disturbed,
    Selects,
    Selections,
    Mentions,
}

const ALL: [(Of, &str); 15] = [
    (Of::Connections, "connections"),
    (Of::Unauthenticated, "unauthenticated"),
    (Of::Rebuffed, "of them turned away"),
    (Of::Kills, "killed"),
    (Of::Requests, "requests"),
    (Of::Answers, "answered"),
    (Of::Cancelled, "cancelled and not answered"),
    (Of::Abandoned, "abandoned with their connection"),
    (Of::Diffs, "diffs"),
    (Of::Verdicts, "verdicts"),
    (Of::Storms, "storms"),
    (Of::Disturbed, "of them disturbed"),
    (Of::Selects, "selections made"),
    (Of::Selections, "received, by all clients"),
    (Of::Mentions, "mentions received"),
];

#[derive(Debug, Default)]
pub(super) struct Totals([AtomicU64; ALL.len()]);

impl Totals {
    pub(super) fn add(&self, of: Of, many: usize) {
        if let Some(counter) = self.counter(of) {
            counter.fetch_add(u64::try_from(many).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, of: Of) -> u64 {
        self.counter(of).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    /// Returns all counters in a line.
    pub(super) fn line(&self) -> String {
        let mut line = String::new();
        for (of, name) in ALL {
            let comma = if line.is_empty() { "" } else { ", " };
            // A write to a string does not fail.
            let _ = write!(line, "{comma}{} {name}", self.get(of));
        }
        line
    }

    fn counter(&self, of: Of) -> Option<&AtomicU64> {
        let at = ALL.iter().position(|(other, _)| *other == of)?;
        self.0.get(at)
    }
}
