//! Finds an order of the messages in which a replay equals its transcript.
//!
//! A transcript shows when bytes passed the tap. It does not show whether a side had read one message before it sent
//! another, because bytes take time between the tap and the side. Where both orders are possible, the engine makes a
//! choice: first the order of the transcript. After a difference it reverses the choices just before it, one at a
//! time, and keeps a reversal that gets further.

use crate::replay::engine::{Core, Difference, Outcome};
use crate::replay::run::Run;
use crate::replay::script::Script;
use ide_mcp::Time;
use std::collections::BTreeSet;
use std::time::Duration;

/// How many choices before a difference the engine reverses at most, on the connection of the difference and on the
/// others: enough for a few messages that crossed.
const TRIES: usize = 16;

/// Plays the script, to a new core each time, until there is no difference or no reversal gets further.
pub(crate) fn play<C: Core>(script: &Script, tolerance: Duration, new: impl Fn() -> C) -> Outcome {
    let mut reversed = BTreeSet::new();
    let mut best = Run::new(script, tolerance, &reversed, new()).play();
    'better: while let Some(difference) = &best.difference {
        let near = |(_, (at, _)): &(usize, &(Time, u32))| at.saturating_add(tolerance) >= difference.at;
        let choices = best.choices.iter().enumerate().rev().take_while(near);
        let choices = choices.filter(|(choice, _)| !reversed.contains(choice));
        // A choice on the same connection is the likeliest cause.
        let (same, other): (Vec<_>, Vec<_>) = choices.partition(|(_, (_, conn))| *conn == difference.conn);
        let untried = same.into_iter().take(TRIES).chain(other.into_iter().take(TRIES));
        for choice in untried.map(|(choice, _)| choice) {
            // After a reversal the later choices may differ, so none of them stays reversed.
            let mut tried: BTreeSet<usize> = reversed.range(..choice).copied().collect();
            tried.insert(choice);
            let run = Run::new(script, tolerance, &tried, new()).play();
            let is_later = |found: &Difference| (found.at, found.line) > (difference.at, difference.line);
            if run.difference.as_ref().is_none_or(is_later) {
                (best, reversed) = (run, tried);
                continue 'better;
            }
        }
        break;
    }
    best
}
