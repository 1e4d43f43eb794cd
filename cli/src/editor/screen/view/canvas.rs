//! A screen in memory: the symbol and the role of each cell. The painter decides the look of the
//! roles.

use crate::editor::screen::layout::Rect;
use crate::support::columns::glyphs;

/// The role of a cell, which determines its look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ink {
    #[default]
    Text,
    Dim,
    /// A line between panes.
    Rule,
    Header,
    HeaderDim,
    /// An emphasized part of the header.
    HeaderMark,
    /// The announcement of waiting proposals.
    Banner,
    Number,
    CurrentNumber,
    /// The line of the cursor.
    CurrentLine,
    Selected,
    /// A match of the search.
    Found,
    /// A replacement of a character that cannot be shown.
    Replaced,
    Folder,
    OpenFile,
    /// The row that keys act on, with and without the focus.
    Row,
    RowUnfocused,
    Added,
    AddedStrong,
    AddedNumber,
    Removed,
    RemovedStrong,
    RemovedNumber,
    /// The empty side of a row of a side-by-side diff.
    Gap,
    Hidden,
    Problem,
    Notice,
    Status,
    StatusDim,
    StatusGood,
    StatusBad,
    Key,
    Hint,
    Heading,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cell {
    /// [`Symbol::Behind`] for the second column of a wide character.
    pub(crate) symbol: Symbol,
    pub(crate) ink: Ink,
}

/// A character with its combining characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Symbol {
    One(char),
    Marked(Box<str>),
    Behind,
}

/// The largest number of combining characters on a character: more than any language uses.
const MARKS: usize = 16;

/// The zero width joiner, which is in no cell. Terminals differ in the columns of the characters that it joins, such
/// as the emoji of a family: tmux 3.3 moves the second into the cell of the first, and the cells that the second
/// had to cover keep their old contents. Without the joiner each character has its own columns everywhere.
const JOINER: char = '\u{200d}';

impl Default for Symbol {
    fn default() -> Self {
        Self::One(' ')
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Canvas {
    width: u16,
    height: u16,
    cells: Vec<Cell>,
    /// The column and row of the cursor; `None` hides it.
    pub(crate) cursor: Option<(u16, u16)>,
}

impl Canvas {
    pub(crate) fn new((width, height): (u16, u16)) -> Self {
        let count = usize::from(width).saturating_mul(height.into());
        Self { width, height, cells: vec![Cell::default(); count], cursor: None }
    }

    pub(crate) const fn size(&self) -> (u16, u16) {
        (self.width, self.height)
    }

    pub(crate) fn cell(&self, x: u16, y: u16) -> Option<&Cell> {
        self.index(x, y).and_then(|at| self.cells.get(at))
    }

    /// Fills an area with spaces.
    pub(crate) fn fill(&mut self, area: Rect, ink: Ink) {
        for y in area.y..area.y.saturating_add(area.height) {
            for x in area.x..area.x.saturating_add(area.width) {
                self.set(x, y, Symbol::default(), ink);
            }
        }
    }

    /// Writes a text in the first row of an area, and not beyond. Returns the column after it.
    pub(crate) fn write(&mut self, area: Rect, text: &str, ink: Ink) -> u16 {
        self.write_from(area, 0, text, |_| ink)
    }

    /// Writes like [`write`](Self::write), but from a column of the text on, and each character in
    /// the ink of its byte.
    pub(crate) fn write_from(
        &mut self,
        area: Rect,
        left: usize,
        text: &str,
        ink: impl Fn(usize) -> Ink,
    ) -> u16 {
        let mut end = area.x;
        if area.height == 0 {
            return end;
        }
        for glyph in glyphs(text) {
            let behind = glyph.column.saturating_add(glyph.width);
            let Some(column) = glyph.column.checked_sub(left) else {
                // Spaces fill the visible columns of a character that the left edge cuts.
                for column in left..behind {
                    end = self.put(area, column.saturating_sub(left), ' ', ink(glyph.byte)).unwrap_or(end);
                }
                continue;
            };
            if column >= area.width.into() {
                break;
            }
            let ink = match ink(glyph.byte) {
                Ink::Text | Ink::CurrentLine if glyph.replaced => Ink::Replaced,
                ink => ink,
            };
            let fits = behind.saturating_sub(left) <= area.width.into();
            match glyph.width {
                0 => self.add_mark(end.saturating_sub(1), area, glyph.shown),
                2 if glyph.shown != ' ' && fits => {
                    end = self.put(area, column, glyph.shown, ink).unwrap_or(end);
                    let second = end;
                    self.set(second, area.y, Symbol::Behind, ink);
                    end = second.saturating_add(1);
                }
                2 if glyph.shown != ' ' => end = self.put(area, column, ' ', ink).unwrap_or(end),
                width => {
                    for nth in 0..width {
                        let character = if nth == 0 { glyph.shown } else { ' ' };
                        end = self.put(area, column.saturating_add(nth), character, ink).unwrap_or(end);
                    }
                }
            }
        }
        end
    }

    /// Writes like [`write_from`](Self::write_from), and marks a text that continues after the area.
    pub(crate) fn write_cut(
        &mut self,
        area: Rect,
        left: usize,
        text: &str,
        ink: impl Fn(usize) -> Ink,
        more: Ink,
    ) -> u16 {
        let end = self.write_from(area, left, text, ink);
        // The search goes no further than needed, because lines can be long.
        let room = left.saturating_add(area.width.into());
        let goes_on = glyphs(text).any(|glyph| glyph.column.saturating_add(glyph.width) > room);
        if goes_on && area.width > 1 {
            let x = area.x.saturating_add(area.width).saturating_sub(1);
            self.write(Rect { x, width: 1, ..area }, "›", more);
        }
        end
    }

    /// Puts a character in a cell. Returns the column after it, or `None` if the cell is not in the
    /// area.
    fn put(&mut self, area: Rect, column: usize, character: char, ink: Ink) -> Option<u16> {
        let column = u16::try_from(column).ok().filter(|column| *column < area.width)?;
        let x = area.x.checked_add(column)?;
        self.set(x, area.y, Symbol::One(character), ink);
        x.checked_add(1)
    }

    fn add_mark(&mut self, x: u16, area: Rect, mark: char) {
        if x < area.x || mark == JOINER {
            return;
        }
        // The combining character of a wide character goes to the first column of the wide
        // character.
        let is_behind = self.cell(x, area.y).is_some_and(|cell| cell.symbol == Symbol::Behind);
        let x = if is_behind { x.saturating_sub(1) } else { x };
        let Some(cell) = self.index(x, area.y).and_then(|at| self.cells.get_mut(at)) else { return };
        let marked = match &cell.symbol {
            Symbol::One(character) => format!("{character}{mark}"),
            Symbol::Marked(text) if text.chars().count() <= MARKS => format!("{text}{mark}"),
            Symbol::Marked(_) | Symbol::Behind => return,
        };
        cell.symbol = Symbol::Marked(marked.into());
    }

    fn set(&mut self, x: u16, y: u16, symbol: Symbol, ink: Ink) {
        if let Some(cell) = self.index(x, y).and_then(|at| self.cells.get_mut(at)) {
            *cell = Cell { symbol, ink };
        }
    }

    fn index(&self, x: u16, y: u16) -> Option<usize> {
        let is_there = x < self.width && y < self.height;
        is_there.then(|| usize::from(y).saturating_mul(self.width.into()).saturating_add(x.into()))
    }

    /// Returns a row as text.
    #[cfg(test)]
    pub(crate) fn row(&self, y: u16) -> String {
        let mut row = String::new();
        for x in 0..self.width {
            match self.cell(x, y).map(|cell| &cell.symbol) {
                Some(Symbol::One(character)) => row.push(*character),
                Some(Symbol::Marked(text)) => row.push_str(text),
                Some(Symbol::Behind) | None => {}
            }
        }
        row.trim_end().to_owned()
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<String> {
        (0..self.height).map(|y| self.row(y)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: u16, width: u16) -> Rect {
        Rect { x, y: 0, width, height: 1 }
    }

    #[test]
    fn texts_stay_in_their_area() {
        let cases: &[(&str, &str, usize, &str, u16)] = &[
            ("short", "ab", 0, "xab", 3),
            ("long", "abcdefgh", 0, "xabcde", 6),
            ("from a column on", "abcdefgh", 4, "xefgh", 5),
            ("behind its end", "ab", 9, "x", 1),
            ("wide", "\u{6f22}\u{6f22}", 0, "x\u{6f22}\u{6f22}", 5),
            ("wide, cut at the right", "abcd\u{6f22}", 0, "xabcd", 6),
            ("wide, cut at the left", "\u{6f22}b", 1, "x b", 3),
            ("a tab, cut at the left", "\tb", 1, "x   b", 5),
            ("a tab, cut at the right", "abcd\tb", 0, "xabcd", 6),
            ("marks", "e\u{301}\u{6f22}\u{301}z", 0, "xe\u{301}\u{6f22}\u{301}z", 5),
            ("joined", "\u{1f468}\u{200d}\u{1f469}z", 0, "x\u{1f468}\u{1f469}z", 6),
            ("joined, of one column", "\u{1f3f3}\u{fe0f}\u{200d}z", 0, "x\u{1f3f3}\u{fe0f}z", 3),
            ("control", "\u{1b}[2J\n", 0, "x\u{241b}[2J\u{240a}", 6),
        ];
        for (name, text, left, expected, end) in cases {
            let mut canvas = Canvas::new((8, 1));
            canvas.write(area(0, 1), "x", Ink::Dim);
            let behind = canvas.write_from(area(1, 5), *left, text, |_| Ink::Text);
            assert_eq!((canvas.row(0).as_str(), behind), (*expected, *end), "{name}");
        }
    }

    #[test]
    fn cells_have_the_inks_of_bytes() {
        let mut canvas = Canvas::new((4, 1));
        canvas.write_from(
            area(0, 4),
            0,
            "\u{e9}b\0",
            |byte| if byte < 2 { Ink::Selected } else { Ink::Text },
        );
        let inks: Vec<Ink> = (0..4).map(|x| canvas.cell(x, 0).unwrap().ink).collect();
        assert_eq!(inks, [Ink::Selected, Ink::Text, Ink::Replaced, Ink::Text]);
    }

    #[test]
    fn cells_outside_are_not_drawn() {
        let mut canvas = Canvas::new((3, 1));
        canvas.fill(Rect { x: 2, y: 0, width: 9, height: 9 }, Ink::Gap);
        assert_eq!(canvas.write(Rect { x: 0, y: 7, width: 3, height: 1 }, "abc", Ink::Text), 3);
        assert_eq!(canvas.write(Rect { x: u16::MAX, y: 0, width: 9, height: 1 }, "abc", Ink::Text), u16::MAX);
        assert_eq!(canvas.rows(), [""]);
        assert_eq!(Canvas::new((0, 0)).rows(), [""; 0]);
        canvas.write(area(0, 3), &format!("e{}", "\u{301}".repeat(1000)), Ink::Text);
        assert!(canvas.row(0).len() < 100);
    }
}
