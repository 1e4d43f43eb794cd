//! A proposed change that the person can decide about.

use super::buffer::Buffer;
use super::change::Changes;
use crate::editor::diffs::{Proposal, Verdict};
use ide_mcp::ide::{Call, DiffOutcome, OpenDiff};

#[derive(Debug)]
pub(crate) struct Proposed {
    pub(crate) proposal: Proposal,
    /// The name of the agent.
    pub(crate) who: String,
    /// The path below its folder, or the whole path, safe to display.
    pub(crate) label: String,
    /// Notes about the proposal for the person.
    pub(crate) notices: Vec<String>,
    /// The current text of the file; empty if there is none, or if it is not shown.
    old: String,
    /// The proposed text as the person has changed it; `None` if it is unchanged.
    edited: Option<String>,
    /// The text during an edit.
    pub(crate) editing: Option<Buffer>,
    pub(crate) changes: Changes,
    /// The first row, or pair of rows, that is shown.
    pub(crate) top: usize,
    /// The first column that is shown.
    pub(crate) left: usize,
}

/// The current text of the file that a proposal changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Old {
    Text(String),
    /// There is no file yet.
    Nothing,
    /// The text is not shown, for this reason.
    Hidden(String),
}

impl Proposed {
    pub(crate) fn new(proposal: Proposal, who: String, label: String, old: Old) -> Self {
        let mut notices = Vec::new();
        let old = match old {
            Old::Text(text) => text,
            Old::Nothing => {
                notices.push("a new file".into());
                String::new()
            }
            Old::Hidden(reason) => {
                notices.push(format!("{reason}; all of the proposal is shown as new"));
                String::new()
            }
        };
        let (old_path, new_path) = (&proposal.diff.old_file_path, &proposal.diff.new_file_path);
        if old_path != new_path {
            notices.push(format!("it was {old_path} so far"));
        }
        let changes = Changes::between(&old, &proposal.diff.new_file_contents);
        Self { proposal, who, label, notices, old, edited: None, editing: None, changes, top: 0, left: 0 }
    }

    /// Returns the text that would be accepted.
    pub(crate) fn contents(&self) -> &str {
        self.edited.as_deref().unwrap_or(&self.proposal.diff.new_file_contents)
    }

    pub(crate) const fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// Starts an edit of the text, with the cursor at the first change.
    pub(crate) fn edit(&mut self) {
        let mut buffer = Buffer::new(self.contents().to_owned());
        let line = self.changes.rows.iter().skip(self.changes.begins().next().unwrap_or_default());
        let number = line.filter_map(|row| match row {
            super::change::Row::Line(line) => line.new,
            super::change::Row::Hidden(_) => None,
        });
        buffer.point(number.take(1).next().unwrap_or(1).saturating_sub(1), 0, false);
        self.editing = Some(buffer);
    }

    /// Ends the edit, and computes the changes again.
    pub(crate) fn stop_editing(&mut self) {
        let Some(buffer) = self.editing.take() else { return };
        let text = buffer.text().as_str();
        self.edited = (text != self.proposal.diff.new_file_contents).then(|| text.to_owned());
        self.changes = Changes::between(&self.old, self.contents());
        self.top = 0;
    }

    /// Returns the call and its answer for a verdict.
    pub(crate) fn decided(self, verdict: Verdict) -> (Call<OpenDiff>, DiffOutcome) {
        self.proposal.decided(verdict, self.edited)
    }

    /// Scrolls. `wide` is true if the diff is shown side by side.
    pub(crate) fn scroll(&mut self, rows: isize, wide: bool, page: usize) {
        let last = self.length(wide).saturating_sub(page);
        self.top = self.top.saturating_add_signed(rows).min(last);
    }

    /// Goes to the next change, or to the previous one.
    pub(crate) fn next_change(&mut self, forward: bool, wide: bool, page: usize) {
        let place = |row: usize| if wide { self.changes.pair_of(row) } else { row };
        // One line above the change is shown too, for orientation.
        let begins: Vec<usize> = self.changes.begins().map(|row| place(row).saturating_sub(1)).collect();
        let next = if forward {
            begins.iter().find(|begin| **begin > self.top)
        } else {
            begins.iter().rev().find(|begin| **begin < self.top)
        };
        if let Some(next) = next {
            self.top = (*next).min(self.length(wide).saturating_sub(page));
        }
    }

    /// Switches between the views; the other one begins at the same place.
    pub(crate) fn switch(&mut self, to_wide: bool) {
        self.top = if to_wide { self.changes.pair_of(self.top) } else { self.changes.row_of(self.top) };
    }

    fn length(&self, wide: bool) -> usize {
        if wide { self.changes.pairs.len() } else { self.changes.rows.len() }
    }
}
