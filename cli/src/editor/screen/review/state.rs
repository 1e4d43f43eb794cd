//! The state machine of a review.

use super::compare::compare;
use super::hunk::{Hunk, Verdict};
use super::lines::Lines;
use super::outcome::{Outcome, Unfinished};
use super::rows::{Row, rows};
use std::mem;
use std::ops::Range;

/// The review of a proposed text. [The module](super) has the states and the invariants.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    base: Lines,
    /// The base with which the review began; `None` while it is still the base.
    original: Option<String>,
    proposal: String,
    /// The text that the user has edited, or else the proposal.
    target: Lines,
    hunks: Vec<Hunk>,
    /// True if the user has confirmed the changed base.
    is_confirmed: bool,
}

impl Review {
    /// Creates the review of a proposed text. `base` is the current text of the file, empty for a new file.
    /// All hunks are undecided.
    pub(crate) fn new(base: impl Into<String>, proposal: impl Into<String>) -> Self {
        let proposal = proposal.into();
        let (base, target) = (Lines::new(base.into()), Lines::new(proposal.clone()));
        let hunks = compare(&base, &target);
        Self { base, original: None, proposal, target, hunks, is_confirmed: false }
    }

    /// Returns the current text of the file.
    pub(crate) fn base(&self) -> &str {
        self.base.as_str()
    }

    /// Returns the text with all hunks: the one that the user has edited, or else the proposal.
    pub(crate) fn target(&self) -> &str {
        self.target.as_str()
    }

    /// Returns true if the user has edited the text, and the edited text is not the proposal.
    pub(crate) fn is_edited(&self) -> bool {
        self.target.as_str() != self.proposal
    }

    /// Returns the hunks, in the order of the text.
    pub(crate) fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// Returns how many hunks have this verdict.
    pub(crate) fn count(&self, verdict: Verdict) -> usize {
        self.hunks.iter().filter(|hunk| hunk.verdict == verdict).count()
    }

    /// Returns consecutive lines of the base with their ends, or an empty string if there are no such lines.
    pub(crate) fn base_lines(&self, lines: Range<usize>) -> &str {
        self.base.get(lines)
    }

    /// Returns consecutive lines of the target with their ends, or an empty string if there are no such lines.
    pub(crate) fn target_lines(&self, lines: Range<usize>) -> &str {
        self.target.get(lines)
    }

    /// Sets the verdict about a hunk, by its index. Returns false if there is no such hunk.
    pub(crate) fn decide(&mut self, hunk: usize, verdict: Verdict) -> bool {
        self.hunks.get_mut(hunk).map(|hunk| hunk.verdict = verdict).is_some()
    }

    /// Returns the base with the hunks that `is_chosen` returns true for. It gets the index of a hunk and the hunk.
    pub(crate) fn apply(&self, mut is_chosen: impl FnMut(usize, &Hunk) -> bool) -> String {
        let (mut text, mut at) = (String::new(), 0);
        for (index, hunk) in self.hunks.iter().enumerate() {
            text.push_str(self.base.get(at..hunk.base.start));
            text.push_str(if is_chosen(index, hunk) {
                self.target.get(hunk.target.clone())
            } else {
                self.base.get(hunk.base.clone())
            });
            at = hunk.base.end;
        }
        text + self.base.get(at..self.base.len())
    }

    /// Returns what accepting the undecided hunks would result in: the text to edit, and then to pass to
    /// [`edit`](Self::edit).
    pub(crate) fn preview(&self) -> String {
        self.apply(|_, hunk| hunk.verdict != Verdict::Rejected)
    }

    /// Replaces the target by what the user made of the [preview](Self::preview). A rejected hunk that the text does
    /// not contain is gone.
    pub(crate) fn edit(&mut self, text: impl Into<String>) {
        let text = text.into();
        if text == self.target.as_str() {
            return;
        }
        // The base stays, so its lines there identify a hunk.
        self.replace(None, Some(Lines::new(text)), |hunk| &hunk.base);
    }

    /// Sets the current text of the file: what the buffer of an editor or the disk has now. An equal text changes
    /// nothing. Another text is a [conflict](Self::is_conflict), unless it is the original base.
    pub(crate) fn set_base(&mut self, text: &str) {
        if text == self.base.as_str() {
            return;
        }
        // The target stays, so its lines there identify a hunk.
        let previous = self.replace(Some(Lines::new(text.to_owned())), None, |hunk| &hunk.target);
        let original = self.original.take().or_else(|| previous.map(Lines::into_string));
        self.original = original.filter(|original| original != self.base.as_str());
        self.is_confirmed = false;
    }

    /// Returns true if the base is not the one that the proposal was made for, and the user has not
    /// [confirmed](Self::confirm) it.
    pub(crate) fn is_conflict(&self) -> bool {
        self.has_other_base() && !self.is_confirmed
    }

    /// Returns true if the base is not the one that the proposal was made for, confirmed or not.
    pub(crate) const fn has_other_base(&self) -> bool {
        self.original.is_some()
    }

    /// Ends a conflict: the user has seen the hunks against the current base. Does nothing if there is no conflict.
    pub(crate) fn confirm(&mut self) {
        self.is_confirmed = true;
    }

    /// Returns the answer for the program that proposed the text, as if each undecided hunk had the verdict `rest`:
    /// `Accepted` for a key that accepts whatever is not rejected.
    ///
    /// # Errors
    /// Returns [`Unfinished`] if there is a conflict, or if a hunk is undecided and `rest` is too.
    pub(crate) fn outcome(&self, rest: Verdict) -> Result<Outcome, Unfinished> {
        if self.is_conflict() {
            return Err(Unfinished::Conflict);
        }
        match self.count(Verdict::Undecided) {
            count @ 1.. if rest == Verdict::Undecided => return Err(Unfinished::Undecided(count)),
            _ => {}
        }
        let text = self.apply(|_, hunk| match hunk.verdict {
            Verdict::Undecided => rest == Verdict::Accepted,
            Verdict::Accepted => true,
            Verdict::Rejected => false,
        });
        Ok(if text == self.proposal {
            Outcome::Accepted
        } else if text == self.base.as_str() {
            Outcome::Rejected
        } else {
            Outcome::AcceptedWith(text)
        })
    }

    /// Returns the rows of a view: all hunks, each with up to `context` equal lines before and after it. If
    /// the texts are equal, there are no rows.
    pub(crate) fn rows(&self, context: usize) -> Vec<Row> {
        rows(&self.base, &self.target, &self.hunks, context)
    }

    /// Replaces texts, and compares them. A hunk keeps its verdict if it is at the same place, which is a
    /// range in a text that stays, and has the same lines in both texts. Returns the previous base if it
    /// was replaced.
    fn replace(
        &mut self,
        base: Option<Lines>,
        target: Option<Lines>,
        place: fn(&Hunk) -> &Range<usize>,
    ) -> Option<Lines> {
        let old_base = base.map(|base| mem::replace(&mut self.base, base));
        let old_target = target.map(|target| mem::replace(&mut self.target, target));
        let mut hunks = compare(&self.base, &self.target);
        let before = (old_base.as_ref().unwrap_or(&self.base), old_target.as_ref().unwrap_or(&self.target));
        let now = (&self.base, &self.target);
        let mut old = self.hunks.iter().peekable();
        for new in &mut hunks {
            while old.next_if(|old| place(old).start < place(new).start).is_some() {}
            let same = old.peek().filter(|old| place(old) == place(new));
            if let Some(same) = same.filter(|old| lines_of(before, old) == lines_of(now, new)) {
                new.verdict = same.verdict;
            }
        }
        self.hunks = hunks;
        old_base
    }
}

fn lines_of<'a>((base, target): (&'a Lines, &'a Lines), hunk: &Hunk) -> (&'a str, &'a str) {
    (base.get(hunk.base.clone()), target.get(hunk.target.clone()))
}
