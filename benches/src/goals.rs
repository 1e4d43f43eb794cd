//! The goals for the counts. `--check` prints how close the counts are, and fails only if a count
//! gets worse: the baseline is the gate, the goals are the aim.

use crate::case::Counts;
use crate::data::Goal;

/// An upper bound for a count.
enum Bound {
    /// A number.
    AtMost(f64),
    /// A distance above the floor of the same name.
    AboveFloor(f64),
    /// A multiple of another case.
    Times(f64, &'static str),
}

use Bound::{AboveFloor, AtMost, Times};

const KIB: f64 = 1024.0;

const GOALS: &[(&str, Bound)] = &[
    ("decode 16 B, whole: instructions", AboveFloor(90.0)),
    ("decode 125 B, whole: instructions", AboveFloor(80.0)),
    ("decode 1 KiB, whole: instructions", AboveFloor(105.0)),
    ("handshake: allocations", AtMost(2.0)),
    // Two allocations, and one for each text.
    ("call getDiagnostics: allocations", AtMost(3.0)),
    ("call getDiagnostics, frames: allocations", AtMost(3.0)),
    ("call own tool 64 KiB, frames: instructions", Times(1.1, "call openDiff 64 KiB, frames: instructions")),
    ("call after 10000 answered: instructions", Times(1.05, "call after 1 answered: instructions")),
    ("selection 40 B to 16: instructions", Times(2.0, "selection 40 B to 1: instructions")),
    ("selection 4 KiB to 16: instructions", Times(2.0, "selection 4 KiB to 1: instructions")),
    ("heap fresh: bytes", AtMost(512.0)),
    ("heap of a resting session: bytes", AtMost(2.5 * KIB)),
    ("heap after 125 B texts and trim: bytes", AtMost(512.0)),
    ("heap after a 1 MiB text and trim: bytes", AtMost(512.0)),
    // At most twice the received bytes, and 64 KiB.
    ("heap after a 1 MiB text and trim: bytes at the peak", AtMost(2.0 * (KIB * KIB + 14.0) + 64.0 * KIB)),
    ("heap after 1 KiB of a 64 MiB text: bytes at the peak", AtMost(2.0 * KIB + 64.0 * KIB)),
];

/// Returns the result for each goal. Adds a missed goal for each other case that allocates for its
/// messages.
pub fn judge(counts: &Counts) -> Vec<Goal> {
    let find = |wanted: &str| counts.iter().find(|(name, _)| name == wanted).map(|(_, count)| *count);
    let mut goals = Vec::new();
    for (name, bound) in GOALS {
        let count = find(name).expect("a goal is counted");
        let (reached, bound, unit) = match bound {
            AtMost(goal) => (count, *goal, ""),
            AboveFloor(goal) => {
                let floor = find(&format!("floor: {name}")).expect("a floor is counted");
                (count - floor, *goal, " above the floor")
            }
            Times(goal, other) => (count / find(other).expect("the other is counted"), *goal, "×"),
        };
        goals.push(Goal::at_most(*name, reached, bound, unit));
    }
    for (name, count) in counts {
        if name.ends_with(": allocations")
            && !name.starts_with("handshake")
            && !name.starts_with("call ")
            && !name.starts_with("selection ")
            && *count > 0.0
        {
            goals.push(Goal::at_most(name, *count, 0.0, ""));
        }
    }
    goals
}
