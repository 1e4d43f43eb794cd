//! A difference, and the verdict about it.

use std::ops::Range;

/// A difference between the base and the target: the lines of the base that the lines of the target
/// replace. Lines count from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The replaced lines of the base; an empty range, at the place of the insertion, if lines are added.
    pub(crate) base: Range<usize>,
    /// The lines of the target; an empty range if lines are removed.
    pub(crate) target: Range<usize>,
    /// The verdict of the user.
    pub(crate) verdict: Verdict,
}

/// The verdict of the user about a hunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "a view has a look for each, and there is nothing beside them")]
pub(crate) enum Verdict {
    /// The user has not decided.
    #[default]
    Undecided,
    /// The lines of the target replace those of the base.
    Accepted,
    /// The lines of the base stay.
    Rejected,
}
