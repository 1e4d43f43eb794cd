//! A text that is edited: cursor, selection, scrolling and undo. It is independent of files.

use super::columns::{byte_at, column_of};
use super::text::Text;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    text: Text,
    /// The byte offset of the cursor, between two characters.
    cursor: usize,
    /// The other end of the selection.
    anchor: Option<usize>,
    /// True if motions select.
    pub(crate) marking: bool,
    /// The column to which vertical motions return.
    goal: Option<usize>,
    /// The first line that is shown.
    pub(crate) top: usize,
    /// The first column that is shown.
    pub(crate) left: usize,
    undo: Vec<Edit>,
    /// The number of the current text; no two texts have equal numbers.
    state: u64,
    states: u64,
    saved: u64,
}

#[derive(Clone, Debug)]
struct Edit {
    at: usize,
    removed: String,
    inserted: String,
    /// The state of the buffer before the edit.
    state: u64,
    cursor: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    pub(crate) fn new(text: String) -> Self {
        Self {
            text: Text::new(text),
            cursor: 0,
            anchor: None,
            marking: false,
            goal: None,
            top: 0,
            left: 0,
            undo: Vec::new(),
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
        self.undo.clear();
        self.new_state();
        self.mark_saved(self.state);
        self.unselect();
        self.cursor = self.at(line.min(self.text.lines().saturating_sub(1)), column);
    }

    pub(crate) fn select(&mut self, range: Range<usize>) {
        let end = self.boundary(range.end);
        let start = self.boundary(range.start).min(end);
        self.anchor = (start < end).then_some(start);
        self.cursor = end;
        self.goal = None;
        self.marking = false;
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

    /// Moves the cursor. `page` is the number of lines of a page.
    pub(crate) fn go(&mut self, motion: Motion, extend: bool, page: usize) {
        let extend = extend || self.marking;
        let selected = self.selection();
        if extend {
            self.anchor.get_or_insert(self.cursor);
        } else {
            self.anchor = None;
        }
        let collapses = !extend && !selected.is_empty();
        let line = self.text.line_of(self.cursor);
        let range = self.text.range_of(line);
        let last = self.text.lines().saturating_sub(1);
        let vertical = |to: usize, buffer: &mut Self| {
            let column = buffer.goal.unwrap_or_else(|| {
                column_of(buffer.text.line(line), buffer.cursor.saturating_sub(range.start))
            });
            buffer.cursor = buffer.at(to, column);
            buffer.goal = Some(column);
        };
        match motion {
            Motion::Up if line > 0 => return vertical(line.saturating_sub(1), self),
            Motion::Down if line < last => return vertical(line.saturating_add(1), self),
            Motion::PageUp => {
                self.top = self.top.saturating_sub(page);
                return vertical(line.saturating_sub(page), self);
            }
            Motion::PageDown => {
                self.top = self.top.saturating_add(page).min(last);
                return vertical(line.saturating_add(page).min(last), self);
            }
            Motion::Up | Motion::Start => self.cursor = 0,
            Motion::Down | Motion::End => self.cursor = self.text.len(),
            Motion::Left if collapses => self.cursor = selected.start,
            Motion::Right if collapses => self.cursor = selected.end,
            Motion::Left => self.cursor = self.text.previous(self.cursor),
            Motion::Right => self.cursor = self.text.next(self.cursor),
            Motion::WordLeft => self.cursor = self.word_left(),
            Motion::WordRight => self.cursor = self.word_right(),
            Motion::LineStart => {
                // First to the indentation of the line, then to its beginning.
                let line = self.text.line(line);
                let indent = line.len().saturating_sub(line.trim_start().len()).saturating_add(range.start);
                self.cursor = if self.cursor == indent { range.start } else { indent };
            }
            Motion::LineEnd => self.cursor = range.end,
        }
        self.goal = None;
    }

    /// Moves the cursor to a line and a column of the screen, both from 0.
    pub(crate) fn point(&mut self, line: usize, column: usize, extend: bool) {
        let anchor = self.anchor.unwrap_or(self.cursor);
        self.anchor = extend.then_some(anchor);
        self.marking = false;
        self.goal = None;
        self.cursor = self.at(line.min(self.text.lines().saturating_sub(1)), column);
    }

    /// Replaces the selection by a text. The lines of `text` end with `\n`, which becomes the line
    /// end of the buffer.
    pub(crate) fn insert(&mut self, text: &str) {
        let text = if self.text.line_end() == "\n" { text.to_owned() } else { text.replace('\n', "\r\n") };
        self.edit(self.selection(), text);
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
        self.edit(range, String::new());
    }

    pub(crate) fn delete(&mut self) {
        let selected = self.selection();
        let range = if selected.is_empty() { self.cursor..self.text.next(self.cursor) } else { selected };
        self.edit(range, String::new());
    }

    /// Undoes the last change. Returns false if there is none.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(edit) = self.undo.pop() else { return false };
        self.text.replace(edit.at..edit.at.saturating_add(edit.inserted.len()), &edit.removed);
        self.state = edit.state;
        self.unselect();
        self.cursor = self.boundary(edit.cursor);
        self.goal = None;
        true
    }

    /// Scrolls so that the cursor is within this number of lines and columns.
    pub(crate) fn reveal(&mut self, rows: usize, columns: usize) {
        let line = self.text.line_of(self.cursor);
        self.top = in_sight(self.top, line, rows, 0);
        let start = self.text.range_of(line).start;
        let column = column_of(self.text.line(line), self.cursor.saturating_sub(start));
        self.left = in_sight(self.left, column, columns, columns / 4);
    }

    /// Scrolls by lines. The cursor stays where it is.
    pub(crate) fn scroll(&mut self, lines: isize) {
        self.top = self.top.saturating_add_signed(lines).min(self.text.lines().saturating_sub(1));
    }

    fn edit(&mut self, range: Range<usize>, inserted: String) {
        let removed = self.text.get(range.clone()).to_owned();
        if removed.is_empty() && inserted.is_empty() {
            return;
        }
        let behind = range.start.saturating_add(inserted.len());
        self.text.replace(range.clone(), &inserted);
        let typed = inserted.chars().count() == 1 && !inserted.contains('\n') && removed.is_empty();
        match self.undo.last_mut() {
            // Characters that are typed in a row are undone together.
            Some(last)
                if typed
                    && last.removed.is_empty()
                    && last.at.saturating_add(last.inserted.len()) == range.start
                    && self.saved != self.state
                    && last.inserted.chars().count() < 20
                    && !last.inserted.contains('\n') =>
            {
                last.inserted.push_str(&inserted);
            }
            _ => self.undo.push(Edit {
                at: range.start,
                removed,
                inserted,
                state: self.state,
                cursor: self.cursor,
            }),
        }
        self.new_state();
        self.unselect();
        self.cursor = self.boundary(behind);
        self.goal = None;
    }

    const fn new_state(&mut self) {
        self.states = self.states.saturating_add(1);
        self.state = self.states;
    }

    /// Returns the byte at a line and a column of the screen.
    fn at(&self, line: usize, column: usize) -> usize {
        self.text.range_of(line).start.saturating_add(byte_at(self.text.line(line), column))
    }

    fn boundary(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        (0..=byte).rev().find(|byte| self.text.as_str().is_char_boundary(*byte)).unwrap_or_default()
    }

    fn word_left(&self) -> usize {
        let before = self.text.get(0..self.cursor);
        let word = before.trim_end_matches(|character: char| !is_word(character));
        word.trim_end_matches(is_word).len()
    }

    fn word_right(&self) -> usize {
        let rest = self.text.get(self.cursor..self.text.len());
        let behind =
            rest.trim_start_matches(is_word).trim_start_matches(|character: char| !is_word(character));
        self.text.len().saturating_sub(behind.len())
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns the first of `shown` visible positions, chosen so that `place` is visible. If `first` has to
/// change, `margin` positions beyond `place` are visible too.
pub(crate) const fn in_sight(first: usize, place: usize, shown: usize, margin: usize) -> usize {
    if place < first {
        place.saturating_sub(margin)
    } else if place >= first.saturating_add(shown) {
        place.saturating_sub(shown).saturating_add(1).saturating_add(margin)
    } else {
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Motion::{
        Down, End, Left, LineEnd, LineStart, PageDown, PageUp, Right, Start, Up, WordLeft, WordRight,
    };

    const TEXT: &str = "fn main() {\n\tlet \u{e9} = 1;\n}\nend";

    #[test]
    fn motions_move_the_cursor() {
        let cases: &[(&str, usize, &[Motion], usize)] = &[
            ("right over a line end", 11, &[Right], 12),
            ("left over it", 12, &[Left], 11),
            ("left of the beginning", 0, &[Left], 0),
            ("right of the end", 32, &[Right], 32),
            ("down keeps the column", 8, &[Down], 17),
            ("and returns to it over a short line", 8, &[Down, Down, Up], 17),
            ("down in the last line", 30, &[Down], 32),
            ("up in the first line", 3, &[Up], 0),
            ("words", 0, &[WordRight, WordRight], 13),
            ("words, back", 20, &[WordLeft, WordLeft], 13),
            ("to the indentation", 20, &[LineStart], 13),
            ("and to the beginning", 20, &[LineStart, LineStart], 12),
            ("to the end of the line", 12, &[LineEnd], 24),
            ("a page", 0, &[PageDown], 25),
            ("a page and back", 1, &[PageDown, PageUp], 1),
            ("the ends", 5, &[End], 32),
            ("the ends", 5, &[Start], 0),
        ];
        for (name, from, motions, to) in cases {
            let mut buffer = Buffer::new(format!("{TEXT}!!"));
            buffer.select(*from..*from);
            motions.iter().for_each(|motion| buffer.go(*motion, false, 2));
            assert_eq!(buffer.cursor(), *to, "{name}");
            assert!(buffer.selection().is_empty(), "{name}");
        }
    }

    #[test]
    fn motions_select_with_shift_or_mark() {
        let mut buffer = Buffer::new(TEXT.into());
        buffer.go(Right, true, 9);
        buffer.go(Right, true, 9);
        assert_eq!(buffer.selected(), "fn");
        buffer.go(Left, false, 9);
        assert_eq!((buffer.selected(), buffer.cursor()), ("", 0), "to the side of the selection");
        buffer.mark();
        buffer.go(WordRight, false, 9);
        assert_eq!(buffer.selected(), "fn ");
        buffer.mark();
        assert_eq!(buffer.selected(), "");
        buffer.point(1, 4, false);
        buffer.point(0, 3, true);
        assert_eq!(buffer.selected(), "main() {\n\t");
        buffer.select_all();
        assert_eq!(buffer.selected(), TEXT);
        assert!(buffer.unselect() && !buffer.unselect());
        buffer.select(Range { start: 26, end: 25 });
        assert_eq!(buffer.selection(), 25..25);
        buffer.select(999..1000);
        assert_eq!(buffer.selection(), 30..30);
    }

    #[test]
    fn edits_are_made_and_undone() {
        let mut buffer = Buffer::new("ab\n".into());
        let mut states = vec![buffer.state()];
        type Step = fn(&mut Buffer);
        let steps: &[(&str, Step, &str)] = &[
            ("type", |b| b.insert("\u{e9}"), "\u{e9}ab\n"),
            ("type more, taken back with it", |b| b.insert("x"), "\u{e9}xab\n"),
            (
                "paste over",
                |b| {
                    b.go(Right, true, 9);
                    b.insert("1\n2");
                },
                "\u{e9}x1\n2b\n",
            ),
            ("backspace", Buffer::backspace, "\u{e9}x1\nb\n"),
            ("over a line end", Buffer::backspace, "\u{e9}x1b\n"),
            ("delete", Buffer::delete, "\u{e9}x1\n"),
            ("new line", Buffer::new_line, "\u{e9}x1\n\n"),
        ];
        for (name, step, expected) in steps {
            step(&mut buffer);
            assert_eq!(buffer.text().as_str(), *expected, "{name}");
            assert!(buffer.is_dirty() && !states.contains(&buffer.state()), "{name}");
            states.push(buffer.state());
        }
        let mut undone = Vec::new();
        while buffer.undo() {
            undone.push(buffer.text().as_str().to_owned());
        }
        assert_eq!(
            undone,
            ["\u{e9}x1\n", "\u{e9}x1b\n", "\u{e9}x1\nb\n", "\u{e9}x1\n2b\n", "\u{e9}xab\n", "ab\n"]
        );
        assert!(!buffer.is_dirty(), "what was saved is there again");
        buffer.backspace();
        buffer.go(End, false, 9);
        buffer.delete();
        assert!(!buffer.is_dirty(), "nothing to delete is no change");
    }

    #[test]
    fn buffer_is_clean_at_saved_state() {
        let mut buffer = Buffer::new(String::new());
        buffer.insert("a");
        buffer.mark_saved(buffer.state());
        assert!(!buffer.is_dirty());
        let saved = buffer.state();
        buffer.insert("b");
        buffer.mark_saved(saved);
        assert!(buffer.is_dirty());
        buffer.undo();
        assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("a", false));
        buffer.undo();
        assert_eq!((buffer.text().as_str(), buffer.is_dirty()), ("", true));
    }

    #[test]
    fn new_lines_keep_line_ends_and_indentation() {
        let mut buffer = Buffer::new("  a\r\nb".into());
        buffer.go(LineEnd, false, 9);
        buffer.new_line();
        buffer.insert("x\ny");
        assert_eq!(buffer.text().as_str(), "  a\r\n  x\r\ny\r\nb");
        buffer.go(LineStart, false, 9);
        buffer.backspace();
        assert_eq!(buffer.text().as_str(), "  a\r\n  xy\r\nb");
    }

    #[test]
    fn reload_keeps_line_and_column() {
        let mut buffer = Buffer::new("a\nbcd\ne".into());
        buffer.select(4..5);
        buffer.reload("0\na\nx".into());
        assert_eq!((buffer.cursor(), buffer.selected(), buffer.is_dirty()), (3, "", false));
        buffer.reload(String::new());
        assert_eq!(buffer.cursor(), 0);
    }

    #[test]
    fn text_scrolls_to_its_cursor() {
        let mut buffer = Buffer::new("0123456789".repeat(10) + &"\n".repeat(100));
        buffer.go(End, false, 9);
        buffer.reveal(10, 20);
        assert_eq!((buffer.top, buffer.left), (91, 0));
        buffer.go(Start, false, 9);
        buffer.go(LineEnd, false, 9);
        buffer.reveal(10, 20);
        assert_eq!((buffer.top, buffer.left), (0, 86));
        buffer.reveal(0, 0);
        buffer.scroll(-5);
        assert_eq!(buffer.top, 0);
        buffer.scroll(1000);
        assert_eq!(buffer.top, 100);
    }

    #[test]
    fn any_edits_keep_cursor_and_selection_valid() {
        arbtest::arbtest(|u| {
            let mut buffer = Buffer::new(u.arbitrary()?);
            let motions = [
                Up, Down, Left, Right, WordLeft, WordRight, LineStart, LineEnd, PageUp, PageDown, Start, End,
            ];
            while !u.is_empty() {
                match u.int_in_range(0..=8)? {
                    0 => buffer.insert(u.arbitrary()?),
                    1 => buffer.backspace(),
                    2 => buffer.delete(),
                    3 => buffer.new_line(),
                    4 => drop(buffer.undo()),
                    5 => buffer.mark(),
                    6 => buffer.point(u.int_in_range(0..=20)?, u.int_in_range(0..=20)?, u.arbitrary()?),
                    _ => buffer.go(*u.choose(&motions)?, u.arbitrary()?, 3),
                }
                buffer.reveal(3, 5);
                let text = buffer.text().as_str();
                assert!(text.is_char_boundary(buffer.cursor()));
                assert!(text.get(buffer.selection()).is_some());
            }
            while buffer.undo() {}
            Ok(())
        });
    }
}
