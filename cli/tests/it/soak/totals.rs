//! The totals of the run, counted by all threads.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counter {
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

const ALL: [(Counter, &str); 15] = [
    (Counter::Connections, "connections"),
    (Counter::Unauthenticated, "unauthenticated"),
    (Counter::Rebuffed, "of them turned away"),
    (Counter::Kills, "killed"),
    (Counter::Requests, "requests"),
    (Counter::Answers, "answered"),
    (Counter::Cancelled, "cancelled and not answered"),
    (Counter::Abandoned, "abandoned with their connection"),
    (Counter::Diffs, "diffs"),
    (Counter::Verdicts, "verdicts"),
    (Counter::Storms, "storms"),
    (Counter::Disturbed, "of them disturbed"),
    (Counter::Selects, "selections made"),
    (Counter::Selections, "received, by all clients"),
    (Counter::Mentions, "mentions received"),
];

#[derive(Debug, Default)]
pub(super) struct Totals([AtomicU64; ALL.len()]);

impl Totals {
    pub(super) fn add(&self, of: Counter, many: usize) {
        if let Some(counter) = self.counter(of) {
            counter.fetch_add(u64::try_from(many).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub(super) fn get(&self, of: Counter) -> u64 {
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

    fn counter(&self, of: Counter) -> Option<&AtomicU64> {
        let at = ALL.iter().position(|(other, _)| *other == of)?;
        self.0.get(at)
    }
}
