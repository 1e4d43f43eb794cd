//! The result of a review.

/// What the program that proposed the text gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The text is accepted as it was proposed.
    Accepted,
    /// This text is accepted: some hunks were rejected, or the user has edited the text.
    AcceptedWith(String),
    /// Nothing is accepted: the resulting text equals the base.
    Rejected,
}

/// Why a review has no outcome yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfinished {
    /// The base has changed since the review began, and the user has not confirmed the change.
    Conflict,
    /// The user has not decided about this number of hunks.
    Undecided(usize),
}
