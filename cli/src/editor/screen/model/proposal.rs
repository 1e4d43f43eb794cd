//! A proposed change that the user can decide about.

use super::buffer::Buffer;
use super::change::Changes;
use super::old::Changed;
use super::old::{Old, OldText};
use super::strips::{Form, Strip, strips};
use crate::editor::diffs::{Proposal, Verdict};
use crate::editor::screen::review::{self as review, Outcome, Review};
use ide_mcp::ide::tool::{Call, DiffOutcome, OpenDiff};
use std::borrow::Cow;
use std::iter;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Proposed {
    pub(crate) proposal: Proposal,
    /// The name of the agent.
    pub(crate) who: String,
    /// The path below its folder, or the whole path, safe to display.
    pub(crate) label: String,
    file: Old,
    /// The file at the new path, if it is another file.
    target: Option<Old>,
    review: Review,
    /// The text that accepting writes over and the diff does not show; [`OldText::Nothing`] if there is none.
    covered: OldText,
    /// That text when the proposal arrived, or at the last [question](Self::question).
    known: OldText,
    /// True if the old text is that of an open file with unsaved changes.
    is_unsaved: bool,
    /// True if the file at the new path is open with unsaved changes.
    is_target_unsaved: bool,
    /// True while the disk is looked at before an acceptance.
    pub(crate) is_looked_at: bool,
    /// The text during an edit.
    pub(crate) editing: Option<Buffer>,
    pub(crate) changes: Changes,
    /// The rows of the screen, and their form.
    pub(crate) strips: Vec<Strip>,
    pub(crate) form: Option<Form>,
    /// The index of the hunk that keys act on.
    pub(crate) hunk: usize,
    /// The first row of the screen that is shown.
    pub(crate) top: usize,
}

impl Proposed {
    /// Creates a proposal for a file, and for the file at its new path if that is another file.
    pub(crate) fn new(
        proposal: Proposal,
        who: String,
        label: String,
        (file, target): (Old, Option<Old>),
    ) -> Self {
        let review = Review::new(file.text.as_str(), proposal.diff.new_file_contents.as_str());
        let changes = Changes::of(&review);
        let covered = target.as_ref().map_or_else(|| file.text.unless_shown(), |target| &target.text).clone();
        Self {
            proposal,
            who,
            label,
            file,
            target,
            review,
            known: covered.clone(),
            covered,
            is_unsaved: false,
            is_target_unsaved: false,
            is_looked_at: false,
            editing: None,
            changes,
            strips: Vec::new(),
            form: None,
            hunk: 0,
            top: 0,
        }
    }

    pub(crate) fn is_edited(&self) -> bool {
        self.review.is_edited()
    }

    /// Returns the file that the proposal changes, and the file at its new path if that is another file.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Old> {
        iter::once(&self.file).chain(&self.target)
    }

    /// Returns true if accepting writes this file.
    pub(crate) fn writes(&self, real: &Path) -> bool {
        self.target.as_ref().unwrap_or(&self.file).is_of(real)
    }

    /// Takes over a change on disk.
    pub(crate) fn found(&mut self, changed: &Changed) {
        iter::once(&mut self.file).chain(&mut self.target).for_each(|file| file.found(changed));
    }

    /// Compares the proposal with the current texts of its files. `in_editor` returns the text of an open
    /// file, with true if it is not saved; the texts of other files are those on disk.
    pub(crate) fn set_current<'a>(&mut self, in_editor: impl Fn(&Old) -> Option<(&'a str, bool)>) {
        let (text, is_unsaved) = in_editor(&self.file).unwrap_or_else(|| (self.file.text.as_str(), false));
        self.is_unsaved = is_unsaved;
        if self.review.base() != text {
            self.review.set_base(text);
            self.compared();
        }
        let open = self.target.as_ref().and_then(in_editor);
        self.is_target_unsaved = open.is_some_and(|(_, is_unsaved)| is_unsaved);
        let covered = match (&self.target, open) {
            (None, _) => Cow::Borrowed(self.file.text.unless_shown()),
            (Some(target), None) => Cow::Borrowed(&target.text),
            (Some(_), Some((text, _))) => Cow::Owned(OldText::Text(text.to_owned())),
        };
        if self.covered != *covered {
            self.covered = covered.into_owned();
        }
        if self.covered.is_empty() {
            // If a text appears here later, the user has not seen it.
            self.known = OldText::Nothing;
        }
    }

    /// Returns true if accepting would overwrite a text that the user neither sees nor has confirmed.
    fn covers_unknown(&self) -> bool {
        !self.covered.is_empty() && self.covered != self.known
    }

    /// Returns the notes and warnings about the proposal and its file as it is now.
    pub(crate) fn notices(&self) -> impl Iterator<Item = String> {
        let file = match &self.file.text {
            OldText::Text(_) => None,
            OldText::Nothing => Some("a new file".to_owned()),
            // The text may be open here.
            OldText::Hidden(reason) if !self.review.base().is_empty() => Some(reason.clone()),
            OldText::Hidden(reason) => Some(format!("{reason}; all of the proposal is shown as new")),
        };
        let moved = |_| format!("the old path of the file is {}", self.proposal.diff.old_file_path);
        let target = self.target.as_ref().and_then(|_| match &self.covered {
            _ if self.is_target_unsaved => Some(
                "the file at the new path has unsaved changes here; accepting overwrites them".to_owned(),
            ),
            covered if covered.is_empty() => None,
            OldText::Nothing | OldText::Text(_) => {
                Some("the new path has a file; accepting overwrites it".to_owned())
            }
            OldText::Hidden(reason) => Some(format!("accepting overwrites it: {reason}")),
        });
        let warning = if self.is_unsaved {
            Some("the file has unsaved changes here, which are in the old text")
        } else if self.covers_unknown() && !self.is_target_unsaved {
            Some("the file has changed since the proposal arrived")
        } else if self.review.has_other_base() {
            Some("the file has changed since the proposal arrived; this is its text now")
        } else {
            None
        };
        [file, self.target.as_ref().map(moved), target, warning.map(Into::into)].into_iter().flatten()
    }

    /// Returns the verdict about a hunk.
    pub(crate) fn verdict(&self, hunk: Option<usize>) -> review::Verdict {
        let hunk = hunk.and_then(|hunk| self.review.hunks().get(hunk));
        hunk.map_or(review::Verdict::Undecided, |hunk| hunk.verdict)
    }

    /// Returns the numbers of accepted, of rejected and of all hunks.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let count = |verdict| self.review.count(verdict);
        let all = self.review.hunks().len();
        (count(review::Verdict::Accepted), count(review::Verdict::Rejected), all)
    }

    /// Sets the verdict about the current hunk, and goes to the next hunk without a verdict. Returns false if
    /// there is no hunk.
    pub(crate) fn decide(&mut self, verdict: review::Verdict, page: usize) -> bool {
        let is_decided = self.review.decide(self.hunk, verdict);
        let undecided = |hunk: &usize| self.verdict(Some(*hunk)) == review::Verdict::Undecided;
        let next = (self.hunk..self.review.hunks().len()).find(undecided);
        self.show_hunk(next.unwrap_or(self.hunk), page);
        is_decided
    }

    /// Returns the outcome that accepts the hunks that were not rejected; `None` if the file has changed and the user
    /// has not [confirmed](Self::question).
    pub(crate) fn accepted(&self) -> Option<Outcome> {
        let outcome = self.review.outcome(review::Verdict::Accepted).ok();
        outcome.filter(|_| !self.covers_unknown())
    }

    /// Returns the question about the changed file. Pressing `key`, which accepts, answers it, so show the proposal.
    pub(crate) fn question(&mut self, key: &str) -> String {
        self.review.confirm();
        self.known.clone_from(&self.covered);
        format!("look at it, then press {key} again: {} has changed", self.label)
    }

    /// Starts an edit of the text that would be accepted, with the cursor at the current hunk.
    pub(crate) fn edit(&mut self) {
        let mut buffer = Buffer::new(self.review.preview());
        let before = self.review.hunks().iter().take(self.hunk);
        let shift = |line: usize, hunk: &review::Hunk| match hunk.verdict {
            review::Verdict::Rejected => line,
            _ => line.saturating_add(hunk.target.len()).saturating_sub(hunk.base.len()),
        };
        let line = self.review.hunks().get(self.hunk).map_or(0, |hunk| hunk.base.start);
        buffer.point(before.fold(line, shift), 0, false);
        self.editing = Some(buffer);
    }

    /// Ends the edit. If the text has changed, computes the changes again. Without a change, all verdicts stay.
    pub(crate) fn stop_editing(&mut self) {
        let Some(buffer) = self.editing.take() else { return };
        let text = buffer.text().as_str();
        if buffer.is_dirty() && text != self.review.preview() {
            self.review.edit(text);
            self.compared();
        }
    }

    /// Describes the accepted part of the proposal; empty for all of it, unchanged.
    pub(crate) fn part(&self) -> String {
        match self.counts() {
            _ if self.is_edited() => ", as you changed it".into(),
            (_, 0, _) => String::new(),
            (_, rejected, all) => format!(", {} of {all} changes", all.saturating_sub(rejected)),
        }
    }

    /// Returns the call and its answer.
    pub(crate) fn decided(self, outcome: Outcome) -> (Call<OpenDiff>, DiffOutcome) {
        match outcome {
            Outcome::Accepted => self.proposal.decided(Verdict::Accept, None),
            Outcome::AcceptedWith(text) => self.proposal.decided(Verdict::Accept, Some(text)),
            Outcome::Rejected => self.proposal.decided(Verdict::Reject, None),
        }
    }

    /// Makes the rows of the screen if its form or the changes are new. What was at the top stays there.
    pub(crate) fn fit(&mut self, form: Form, page: usize) {
        if self.form != Some(form) {
            let is_first = self.form.is_none();
            let row = self.strips.get(self.top).map(|strip| self.row_of(strip));
            self.form = Some(form);
            self.strips = strips(&self.changes, form);
            match row {
                _ if is_first => self.show_hunk(self.hunk, page),
                Some(row) => self.top = self.strip_of(row),
                None => {}
            }
        }
        self.top = self.top.min(self.last(page));
    }

    /// Scrolls. The current hunk is one that is visible, if any is.
    pub(crate) fn scroll(&mut self, rows: isize, page: usize) {
        self.top = self.top.saturating_add_signed(rows).min(self.last(page));
        let shown = self.strips.iter().skip(self.top).take(page);
        let mut hunks = shown.filter_map(|strip| self.changes.hunk_of(self.row_of(strip)));
        if let Some(first) = hunks.next() {
            self.hunk = self.hunk.clamp(first, hunks.next_back().unwrap_or(first));
        }
    }

    /// Goes to the next hunk, or to the previous one.
    pub(crate) fn next_hunk(&mut self, forward: bool, page: usize) {
        let next = if forward { self.hunk.saturating_add(1) } else { self.hunk.saturating_sub(1) };
        self.show_hunk(next, page);
    }

    /// Goes to the beginning and the first hunk, or to the end and the last one.
    pub(crate) fn go_to_end(&mut self, forward: bool, page: usize) {
        self.show_hunk(if forward { usize::MAX } else { 0 }, page);
        self.top = if forward { self.last(page) } else { 0 };
    }

    fn show_hunk(&mut self, hunk: usize, page: usize) {
        self.hunk = hunk.min(self.review.hunks().len().saturating_sub(1));
        // One row above the hunk is shown too, for orientation.
        let begin = self.strip_of(self.changes.begin(self.hunk)).saturating_sub(1);
        self.top = begin.min(self.last(page));
    }

    /// Takes over a new comparison of the texts. The next [`fit`](Self::fit) makes the rows of the screen.
    fn compared(&mut self) {
        self.changes = Changes::of(&self.review);
        self.form = None;
    }

    /// Returns the first row of the diff on a row of the screen.
    fn row_of(&self, strip: &Strip) -> usize {
        if self.is_wide() { self.changes.row_of(strip.at) } else { strip.at }
    }

    /// Returns the first row of the screen with a row of the diff.
    fn strip_of(&self, row: usize) -> usize {
        let at = if self.is_wide() { self.changes.pair_of(row) } else { row };
        self.strips.partition_point(|strip| strip.at < at)
    }

    fn is_wide(&self) -> bool {
        self.form.is_some_and(|form| form.wide)
    }

    fn last(&self, page: usize) -> usize {
        self.strips.len().saturating_sub(page)
    }
}
