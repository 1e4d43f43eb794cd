//! A text that is edited: cursor, selection, scrolling, undo and redo. It knows nothing of files.

mod history;
mod motion;
mod scroll;
#[cfg(test)]
mod tests;

use super::find::Needle;
use super::text::Text;
use crate::support::columns::{byte_at, column_of};
use history::{Edit, History, Join};
pub(crate) use motion::Motion;
pub(crate) use scroll::in_sight;
use scroll::{Latest, Place};
use std::cell::RefCell;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    text: Text,
    /// The byte offset of the cursor, between two grapheme clusters.
    cursor: usize,
    /// The other end of the selection.
    anchor: Option<usize>,
    /// True if motions select.
    pub(crate) marking: bool,
    /// Vertical motions return to this column.
    goal: Option<usize>,
    /// The first row that is shown.
    top: Place,
    /// The first column that is shown; 0 if lines are wrapped.
    left: usize,
    /// Lines wrap at this number of columns; `None` if they do not.
    wrap: Option<usize>,
    latest: RefCell<Latest>,
    history: History,
    /// The text whose matches are highlighted.
    pub(crate) highlight: Option<Needle>,
    /// Identifies the current text; no two texts have equal numbers.
    state: u64,
    states: u64,
    saved: u64,
}

/// A place to go back to.
#[derive(Clone, Debug)]
pub(crate) struct Spot {
    cursor: usize,
    anchor: Option<usize>,
    top: Place,
    left: usize,
}

impl Spot {
    /// Returns the start of the selection, or the cursor.
    pub(crate) fn start(&self) -> usize {
        self.anchor.unwrap_or(self.cursor).min(self.cursor)
    }
}

impl Buffer {
    pub(crate) fn new(text: String) -> Self {
        Self {
            text: Text::new(text),
            cursor: 0,
            anchor: None,
            marking: false,
            goal: None,
            top: Place::default(),
            left: 0,
            wrap: None,
            latest: RefCell::default(),
            history: History::default(),
            highlight: None,
            state: 0,
            states: 0,
            saved: 0,
        }
    }

    pub(crate) const fn text(&self) -> &Text {
        &self.text
    }

    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the selection in ascending order. It is empty, at the cursor, if nothing is selected.
    pub(crate) fn selection(&self) -> Range<usize> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        anchor.min(self.cursor)..anchor.max(self.cursor)
    }

    /// Returns the first and the last selected line, from 0. Returns `None` if nothing is selected. A
    /// selection that ends at the beginning of a line does not include that line.
    pub(crate) fn selected_lines(&self) -> Option<(usize, usize)> {
        let selection = self.selection();
        let last = selection.end.checked_sub(1).filter(|_| !selection.is_empty())?;
        Some((self.text.line_of(selection.start), self.text.line_of(last)))
    }

    pub(crate) fn selected(&self) -> &str {
        self.text.get(self.selection())
    }

    /// Returns true if the text differs from the one that was saved last.
    pub(crate) const fn is_dirty(&self) -> bool {
        self.state != self.saved
    }

    /// Returns the number of the current text. Each change results in another number.
    pub(crate) const fn state(&self) -> u64 {
        self.state
    }

    /// Marks the text of this [`state`](Self::state) as saved.
    pub(crate) const fn mark_saved(&mut self, state: u64) {
        self.saved = state;
    }

    /// Replaces the text by the one on disk, which counts as saved. The cursor stays at its line and
    /// column.
    pub(crate) fn reload(&mut self, text: String) {
        let line = self.text.line_of(self.cursor);
        let column =
            column_of(self.text.line(line), self.cursor.saturating_sub(self.text.range_of(line).start));
        self.text = Text::new(text);
        self.history = History::default();
        self.new_state();
        self.mark_saved(self.state);
        self.unselect();
        self.cursor = self.in_line(line, column);
    }

    pub(crate) fn select(&mut self, range: Range<usize>) {
        // Part of a cluster cannot be selected, so a range is widened to whole clusters. An empty range is a place, and
        // stays empty.
        let is_place = range.is_empty();
        let end = if is_place { self.text.stop_before(range.end) } else { self.text.stop_after(range.end) };
        let start = self.text.stop_before(range.start).min(end);
        self.anchor = (start < end).then_some(start);
        self.cursor = end;
        self.goal = None;
        self.marking = false;
    }

    /// Returns the place of the user.
    pub(crate) const fn spot(&self) -> Spot {
        Spot { cursor: self.cursor, anchor: self.anchor, top: self.top, left: self.left }
    }

    /// Returns to a place, or to the nearest place that still exists.
    pub(crate) fn return_to(&mut self, spot: Spot) {
        self.jump(spot.cursor);
        self.anchor = spot.anchor.map(|anchor| self.text.stop_before(anchor));
        (self.top, self.left) = (spot.top, spot.left);
    }

    pub(crate) fn select_all(&mut self) {
        self.select(0..self.text.len());
    }

    /// Starts or ends the selection by motions.
    pub(crate) fn mark(&mut self) {
        self.marking = !self.marking;
        self.anchor = self.marking.then_some(self.cursor);
    }

    /// Clears the selection. Returns true if there was one, or if motions selected.
    pub(crate) fn unselect(&mut self) -> bool {
        let was = self.anchor.is_some() || self.marking;
        (self.anchor, self.marking) = (None, false);
        was
    }

    /// Moves the cursor to a line and a column of this line, both from 0.
    pub(crate) fn point(&mut self, line: usize, column: usize, extend: bool) {
        self.point_at(self.in_line(line, column), extend);
    }

    /// Moves the cursor to a byte.
    pub(crate) fn point_at(&mut self, byte: usize, extend: bool) {
        let anchor = self.anchor.unwrap_or(self.cursor);
        self.anchor = extend.then_some(anchor);
        self.marking = false;
        self.goal = None;
        self.cursor = self.text.stop_before(byte);
    }

    /// Replaces the selection by a text, as a step of its own. The lines of `text` end with `\n`, which becomes the
    /// line end of the buffer.
    pub(crate) fn insert(&mut self, text: &str) {
        self.edit(self.selection(), self.with_line_ends(text), Join::Never);
    }

    /// Replaces the selection by typed characters of one line. They are one step with those before them.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.edit(self.selection(), text.to_owned(), Join::Typed);
    }

    /// Inserts a line end, and the indentation of the current line.
    pub(crate) fn new_line(&mut self) {
        let start = self.selection().start;
        let range = self.text.range_of(self.text.line_of(start));
        let before = self.text.get(range.start..start);
        let indent: String = before.chars().take_while(|character| matches!(character, ' ' | '\t')).collect();
        self.insert(&format!("\n{indent}"));
    }

    pub(crate) fn backspace(&mut self) {
        let selected = self.selection();
        let range = if selected.is_empty() { self.text.previous(self.cursor)..self.cursor } else { selected };
        self.edit(range, String::new(), Join::Never);
    }

    pub(crate) fn delete(&mut self) {
        let selected = self.selection();
        let range = if selected.is_empty() { self.cursor..self.text.next(self.cursor) } else { selected };
        self.edit(range, String::new(), Join::Never);
    }

    /// Undoes the last change. Returns false if there is none.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(edit) = self.history.undo() else { return false };
        self.text.replace(edit.at..edit.end(), &edit.removed);
        self.state = edit.before;
        let cursor = edit.cursor;
        self.jump(cursor);
        true
    }

    /// Makes the change again that was undone last. Returns false if there is none.
    pub(crate) fn redo(&mut self) -> bool {
        let Some(edit) = self.history.redo() else { return false };
        self.text.replace(edit.at..edit.at.saturating_add(edit.removed.len()), &edit.inserted);
        self.state = edit.after;
        let end = edit.end();
        self.jump(end);
        true
    }

    fn edit(&mut self, range: Range<usize>, inserted: String, join: Join) {
        let removed = self.text.get(range.clone()).to_owned();
        if removed.is_empty() && inserted.is_empty() {
            return;
        }
        let (before, cursor, end) = (self.state, self.cursor, range.start.saturating_add(inserted.len()));
        self.text.replace(range.clone(), &inserted);
        self.new_state();
        let edit = Edit { at: range.start, removed, inserted, before, after: self.state, cursor };
        // A typed character after a save begins a step of its own, so that undo reaches the saved text.
        self.history
            .record(edit, if join == Join::Typed && self.saved == before { Join::Never } else { join });
        self.jump(end);
    }

    /// Moves the cursor to a byte, without a selection. What was typed stays before the cursor, even if it has joined
    /// with what follows.
    fn jump(&mut self, byte: usize) {
        self.unselect();
        self.cursor = self.text.stop_after(byte);
        self.goal = None;
    }

    fn with_line_ends(&self, text: &str) -> String {
        if self.text.line_end() == "\n" { text.to_owned() } else { text.replace('\n', "\r\n") }
    }

    const fn new_state(&mut self) {
        self.states = self.states.saturating_add(1);
        self.state = self.states;
    }

    /// Returns the byte at a column of a line, or of the last line if there are fewer.
    fn in_line(&self, line: usize, column: usize) -> usize {
        let line = line.min(self.text.lines().saturating_sub(1));
        self.text.range_of(line).start.saturating_add(byte_at(self.text.line(line), column))
    }
}
