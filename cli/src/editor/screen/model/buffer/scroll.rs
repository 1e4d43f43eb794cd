//! The rows of a text on the screen, and where the screen begins.

use super::Buffer;
use crate::support::columns::{byte_at, column_of, width};
use crate::support::wrap;
use std::ops::Range;

/// From this length in bytes on, the rows of a line are cached: one key needs the rows about ten times.
const LONG: usize = 4096;

/// The rows of the long line that was wrapped last.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    /// The state of the text, the line, and the columns.
    key: Option<(u64, usize, usize)>,
    rows: Vec<Range<usize>>,
}

/// A row: a line, or a part of a wrapped line. Lines and the rows of a line count from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    line: usize,
    row: usize,
}

/// A row as it is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) line: usize,
    /// The bytes of the row in the text.
    pub(crate) bytes: Range<usize>,
    /// True if the row begins its line.
    pub(crate) is_first: bool,
    /// True if the row ends its line.
    pub(crate) is_last: bool,
}

impl Buffer {
    /// Wraps the lines at this number of columns; `None` wraps no line. The text of the first shown row stays
    /// in that row.
    pub(crate) fn fit(&mut self, wrap: Option<usize>) {
        let top = self.range(self.valid(self.top)).start;
        if wrap != self.wrap {
            self.wrap = wrap;
            self.top = self.place_of(top);
        }
        if wrap.is_some() {
            self.left = 0;
        }
    }

    /// Scrolls so that the cursor is within this number of rows and columns. A text that fits is not scrolled
    /// sideways, and the screen does not begin further right than the line of the cursor needs.
    pub(crate) fn reveal(&mut self, rows: usize, columns: usize) {
        let place = self.place();
        let back = isize::try_from(rows.saturating_sub(1)).unwrap_or(isize::MAX).saturating_neg();
        self.top = self.valid(self.top).clamp(self.step(place, back), place);
        let column = self.column_in(place);
        self.left = if self.wrap.is_some() || column < columns {
            0
        } else {
            let needed = width(self.text.line(place.line)).saturating_add(1).saturating_sub(columns);
            in_sight(self.left, column, columns, columns / 4).min(needed)
        };
    }

    /// Scrolls by rows. The cursor stays where it is.
    pub(crate) fn scroll(&mut self, rows: isize) {
        self.top = self.step(self.valid(self.top), rows);
    }

    /// Returns the rows from the first shown row on.
    pub(crate) fn shown_rows(&self) -> impl Iterator<Item = Row> + '_ {
        let top = self.valid(self.top);
        (top.line..self.text.lines()).flat_map(move |line| {
            let rows = self.rows_of(line);
            let last = rows.len().saturating_sub(1);
            let skipped = if line == top.line { top.row } else { 0 };
            let row = move |(row, bytes)| Row { line, bytes, is_first: row == 0, is_last: row == last };
            rows.into_iter().enumerate().skip(skipped).map(row)
        })
    }

    /// Returns true if the cursor is in this row.
    pub(crate) fn has_cursor(&self, row: &Row) -> bool {
        let is_before_end =
            if row.is_last { self.cursor <= row.bytes.end } else { self.cursor < row.bytes.end };
        row.bytes.start <= self.cursor && is_before_end
    }

    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    pub(crate) const fn is_wrapped(&self) -> bool {
        self.wrap.is_some()
    }

    /// Returns the byte at a place of the screen: a number of rows below the first shown row, or above it if
    /// negative, and a column.
    pub(crate) fn byte_on_screen(&self, row: isize, column: usize) -> usize {
        self.at(self.step(self.valid(self.top), row), column.saturating_add(self.left))
    }

    /// Returns the row of the cursor.
    pub(super) fn place(&self) -> Place {
        self.place_of(self.cursor)
    }

    /// Returns the column of the cursor in its row.
    pub(super) fn column_in(&self, place: Place) -> usize {
        let row = self.range(place);
        column_of(self.text.get(row.clone()), self.cursor.saturating_sub(row.start))
    }

    /// Returns the byte at a column of a row.
    pub(super) fn at(&self, place: Place, column: usize) -> usize {
        let row = self.range(place);
        let byte = row.start.saturating_add(byte_at(self.text.get(row.clone()), column));
        // The end of a row inside a line is the beginning of the next row.
        if byte == row.end && byte < self.text.range_of(place.line).end {
            return self.text.previous(byte).max(row.start);
        }
        byte
    }

    /// Returns the row that is `by` rows below `from`, or above `from` if negative; at most the last or the
    /// first row.
    pub(super) fn step(&self, from: Place, by: isize) -> Place {
        let Place { mut line, mut row } = from;
        let mut left = by.unsigned_abs();
        while left > 0 {
            let in_line =
                if by > 0 { self.rows_of(line).len().saturating_sub(1).saturating_sub(row) } else { row };
            if left <= in_line {
                row = if by > 0 { row.saturating_add(left) } else { row.saturating_sub(left) };
                break;
            }
            let next = if by > 0 { line.checked_add(1) } else { line.checked_sub(1) };
            let Some(next) = next.filter(|next| *next < self.text.lines()) else {
                row = if by > 0 { row.saturating_add(in_line) } else { 0 };
                break;
            };
            left = left.saturating_sub(in_line).saturating_sub(1);
            line = next;
            row = if by > 0 { 0 } else { self.rows_of(line).len().saturating_sub(1) };
        }
        Place { line, row }
    }

    fn place_of(&self, byte: usize) -> Place {
        let line = self.text.line_of(byte);
        let rows = self.rows_of(line);
        let row = rows.iter().rposition(|row| row.start <= byte).unwrap_or_default();
        Place { line, row }
    }

    /// Returns the nearest row that exists: the text can have become shorter.
    fn valid(&self, place: Place) -> Place {
        let line = place.line.min(self.text.lines().saturating_sub(1));
        let last = self.rows_of(line).len().saturating_sub(1);
        Place { line, row: place.row.min(last) }
    }

    fn range(&self, place: Place) -> Range<usize> {
        self.rows_of(place.line).get(place.row).cloned().unwrap_or_else(|| self.text.range_of(place.line))
    }

    /// Returns the bytes of each row of a line.
    fn rows_of(&self, line: usize) -> Vec<Range<usize>> {
        let range = self.text.range_of(line);
        let Some(columns) = self.wrap else { return vec![range] };
        if range.len() < LONG {
            return self.wrapped(line, columns);
        }
        let mut latest = self.latest.borrow_mut();
        let key = (self.state, line, columns);
        if latest.key != Some(key) {
            *latest = Latest { key: Some(key), rows: self.wrapped(line, columns) };
        }
        latest.rows.clone()
    }

    fn wrapped(&self, line: usize, columns: usize) -> Vec<Range<usize>> {
        let range = self.text.range_of(line);
        let moved =
            |row: Range<usize>| row.start.saturating_add(range.start)..row.end.saturating_add(range.start);
        wrap::rows(self.text.line(line), columns).into_iter().map(moved).collect()
    }
}

/// Returns the first of `shown` visible positions, chosen so that `place` is visible. If `first` must change,
/// `margin` positions beyond `place` are visible too.
pub(crate) const fn in_sight(first: usize, place: usize, shown: usize, margin: usize) -> usize {
    if place < first {
        place.saturating_sub(margin)
    } else if place >= first.saturating_add(shown) {
        place.saturating_sub(shown).saturating_add(1).saturating_add(margin)
    } else {
        first
    }
}
