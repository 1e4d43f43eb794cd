//! The edits of a text, for undo and redo.

/// The edits that were made, and those that were undone since.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    done: Vec<Edit>,
    undone: Vec<Edit>,
}

#[derive(Clone, Debug)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
    /// The state of the buffer before the edit.
    pub(super) before: u64,
    /// The state of the buffer after the edit.
    pub(super) after: u64,
    /// The cursor before the edit.
    pub(super) cursor: usize,
}

/// When an edit is undone together with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Never,
    /// The edit types characters. A run of them is one step.
    Typed,
}

/// The maximum number of typed characters in one step: about two words.
const STEP: usize = 20;

impl History {
    /// Adds an edit. The edits that were undone are lost.
    pub(super) fn record(&mut self, edit: Edit, join: Join) {
        self.undone.clear();
        match self.done.last_mut() {
            Some(last) if last.takes(&edit, join) => {
                last.inserted.push_str(&edit.inserted);
                last.after = edit.after;
            }
            _ => self.done.push(edit),
        }
    }

    /// Returns the edit to undo.
    pub(super) fn undo(&mut self) -> Option<&Edit> {
        self.undone.push(self.done.pop()?);
        self.undone.last()
    }

    /// Returns the edit to redo.
    pub(super) fn redo(&mut self) -> Option<&Edit> {
        self.done.push(self.undone.pop()?);
        self.done.last()
    }
}

impl Edit {
    /// Returns the byte after the inserted text.
    pub(super) fn end(&self) -> usize {
        self.at.saturating_add(self.inserted.len())
    }

    fn takes(&self, next: &Self, join: Join) -> bool {
        let follows = next.removed.is_empty() && self.end() == next.at;
        let is_typed = self.removed.is_empty() && !self.inserted.contains('\n');
        join == Join::Typed && follows && is_typed && self.inserted.chars().count() < STEP
    }
}
