//! The result of a review.

use std::error::Error;
use std::fmt;

/// The answer to the program that proposed the text. The crate does not depend on the protocol of this
/// answer, so that editors with other protocols can use the crate. The README has the mapping for
/// `ide_mcp::ide::OpenDiff`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "every host has to answer each outcome")]
pub(crate) enum Outcome {
    /// The text is accepted as it was proposed.
    Accepted,
    /// This text is accepted: some hunks were rejected, or the person has edited the text.
    AcceptedWith(String),
    /// Nothing is accepted: the resulting text equals the base.
    Rejected,
}

/// The reason for which a review has no outcome yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The base has changed since the review began, and the person has not confirmed the change.
    Conflict,
    /// The person has not decided about this number of hunks.
    Undecided(usize),
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Conflict => f.write_str("the base has changed, and the change is not confirmed"),
            Self::Undecided(1) => f.write_str("1 hunk is undecided"),
            Self::Undecided(count) => write!(f, "{count} hunks are undecided"),
        }
    }
}

impl Error for Unfinished {}
