//! Reviews a proposed text, without a screen: a program proposes a new text for a file, and a user decides about it
//! hunk by hunk.
//!
//! [`Review`] compares the *base*, which is the current text of the file, with the *target*, which is
//! the proposed text or the text that the user has made of it. Each difference is a [`Hunk`] with a
//! [`Verdict`]. The [`Outcome`] is the answer for the program: the proposal as it is, another text, or
//! a rejection.
//!
//! ```ignore
//! let mut review = Review::new("one\ntwo\nthree\n", "1\ntwo\n3\n");
//! assert_eq!(review.hunks().len(), 2);
//! review.decide(0, Verdict::Accepted);
//! review.decide(1, Verdict::Rejected);
//! assert_eq!(review.outcome(Verdict::Undecided), Ok(Outcome::AcceptedWith("1\ntwo\nthree\n".into())));
//! ```
//!
//! # States
//!
//! ```text
//!   new          set_base(another text)                 confirm
//!  ────▶ Reviewing ───────────────────────▶ Conflict ───────────────▶ Confirmed
//!         ▲    ▲    set_base(the original)   │    ▲   set_base(a third)  │   │
//!         │    └─────────────────────────────┘    └──────────────────────┘   │
//!         └──────────────────────────────────────────────────────────────────┘
//!                              set_base(the original)
//! ```
//!
//! Verdicts and edits are possible in each state, and lead to no other state. A text equal to the current
//! base has no effect. [`Review::is_conflict`] returns true in `Conflict`, and
//! [`Review::has_other_base`] in `Conflict` and in `Confirmed`.
//!
//! [`Review::outcome`] returns an outcome in the states `Reviewing` and `Confirmed`, if every hunk has a
//! verdict or gets one from `rest`.
//!
//! # Invariants
//!
//! - The hunks are the whole difference between the base and the target, in order. Two hunks never touch:
//!   at least one line that both texts have is between them.
//! - [`Review::apply`] returns the target for all hunks, byte by byte, and the base for no hunk. So no part
//!   of a text is lost or normalized: line ends, and a last line without a line end, are those of the text
//!   from which the line comes.
//! - A hunk that exists before and after a change of the base or the target keeps its verdict. A hunk is
//!   the same if its lines in both texts are the same, and its range in the text that has not changed.
//!   Every other hunk is undecided, so no text is accepted without a verdict.
//! - A conflict exists exactly if the base is not the original one and the user has not confirmed it.
//!
//! # A base that changes
//!
//! The review does not merge. It compares the new base with the unchanged target. A change of the user
//! then is one more hunk, which takes the change back; the user rejects this hunk to keep the change.
//! A three-way merge, in contrast, would make a text that neither side has written, and would need markers
//! for its own conflicts. So the hunks always show all that an acceptance would change in the file.
//!
//! # Lines
//!
//! A line ends with `
//! `, as for `diff` and `patch`. A `\r` is a part of its line: lines that differ only in their ends are different, and
//! a lone `\r` does not end a line. The empty text has no line.
//!
//! # Bounds
//!
//! The module reads no clock, so equal texts have equal hunks on every machine, and the bounds are counts:
//! `MAX_COMPARED_LINES`, `MAX_COMPARED_BYTES` and `MAX_BLOCK_LINES`. Beyond the bounds,
//! the hunks are larger or the ranges within lines wider, and all invariants still hold.

mod inner;
mod outcome;
mod rows;
mod state;
#[cfg(test)]
mod tests;

use crate::support::hunks::{compare, hunk, lines};
pub(crate) use hunk::{Hunk, Verdict};
pub(crate) use outcome::Outcome;
pub(crate) use rows::{Line, LineKind, Row};
pub(crate) use state::Review;
