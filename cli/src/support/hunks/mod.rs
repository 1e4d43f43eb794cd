//! The differences of two texts by lines: what the review of the editor shows, and what `agent diff` counts.

pub(crate) mod compare;
pub(crate) mod hunk;
pub(crate) mod lines;
