//! The motions of the cursor.

use super::Buffer;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Motion {
    Up,
    Down,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    PageUp,
    PageDown,
    Start,
    End,
}

impl Buffer {
    /// Moves the cursor. `page` is the number of rows of a page. Vertical motions go by rows, so a wrapped
    /// line is not skipped.
    pub(crate) fn go(&mut self, motion: Motion, extend: bool, page: usize) {
        let extend = extend || self.marking;
        let selected = self.selection();
        if extend {
            self.anchor.get_or_insert(self.cursor);
        } else {
            self.anchor = None;
        }
        let collapses = !extend && !selected.is_empty();
        let page = isize::try_from(page).unwrap_or(isize::MAX);
        let line = self.text.line_of(self.cursor);
        let range = self.text.range_of(line);
        match motion {
            Motion::Up if self.step(self.place(), -1) != self.place() => return self.go_rows(-1),
            Motion::Down if self.step(self.place(), 1) != self.place() => return self.go_rows(1),
            Motion::PageUp => {
                self.top = self.step(self.top, page.saturating_neg());
                return self.go_rows(page.saturating_neg());
            }
            Motion::PageDown => {
                self.top = self.step(self.top, page);
                return self.go_rows(page);
            }
            Motion::Up | Motion::Start => self.cursor = 0,
            Motion::Down | Motion::End => self.cursor = self.text.len(),
            Motion::Left if collapses => self.cursor = selected.start,
            Motion::Right if collapses => self.cursor = selected.end,
            Motion::Left => self.cursor = self.text.previous(self.cursor),
            Motion::Right => self.cursor = self.text.next(self.cursor),
            Motion::WordLeft => self.cursor = self.word_left(),
            Motion::WordRight => self.cursor = self.text.stop_after(self.word_right()),
            Motion::LineStart => {
                // First to the indentation of the line, then to its beginning.
                let line = self.text.line(line);
                let indent = line.len().saturating_sub(line.trim_start().len()).saturating_add(range.start);
                self.cursor = if self.cursor == indent { range.start } else { indent };
            }
            Motion::LineEnd => self.cursor = range.end,
        }
        self.cursor = self.text.stop_before(self.cursor);
        self.goal = None;
    }

    fn go_rows(&mut self, by: isize) {
        let from = self.place();
        let column = self.goal.unwrap_or_else(|| self.column_in(from));
        self.cursor = self.at(self.step(from, by), column);
        self.goal = Some(column);
    }

    fn word_left(&self) -> usize {
        let before = self.text.get(0..self.cursor);
        let word = before.trim_end_matches(|character: char| !is_word(character));
        word.trim_end_matches(is_word).len()
    }

    fn word_right(&self) -> usize {
        let rest = self.text.get(self.cursor..self.text.len());
        let after =
            rest.trim_start_matches(is_word).trim_start_matches(|character: char| !is_word(character));
        self.text.len().saturating_sub(after.len())
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}
