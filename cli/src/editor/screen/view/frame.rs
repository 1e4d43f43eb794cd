//! A screen in memory: the cells of ratatui, and the place of the cursor. Every text goes through [`glyphs`], so that
//! nothing from a peer or a file reaches the terminal as a sequence.

use super::palette::{ColorDepth, Ink, Theme};
use crate::support::columns::glyphs;
#[cfg(test)]
use crate::support::columns::width;
use ratatui::buffer::{Buffer, CellDiffOption};
use ratatui::layout::Rect;
use std::num::NonZeroU16;

/// The maximum number of combining characters of a character: more than any language uses.
const MARKS: usize = 16;

#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) cells: Buffer,
    /// The column and row of the cursor; `None` hides it.
    pub(crate) cursor: Option<(u16, u16)>,
    colors: ColorDepth,
    theme: Theme,
}

impl Frame {
    pub(crate) fn new((width, height): (u16, u16), colors: ColorDepth) -> Self {
        let cells = Buffer::empty(Rect::new(0, 0, width, height));
        Self { cells, cursor: None, colors, theme: Theme::default() }
    }

    pub(crate) fn with_theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// Fills an area with spaces.
    pub(crate) fn fill(&mut self, area: Rect, ink: Ink) {
        for place in area.intersection(*self.cells.area()).positions() {
            self.set((place.x, place.y), " ", ink);
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
        let right = left.saturating_add(area.width.into());
        let place = |column: usize| {
            let column = u16::try_from(column.saturating_sub(left)).unwrap_or(u16::MAX);
            area.x.saturating_add(column)
        };
        let (mut end, mut base) = (area.x, None);
        if area.height == 0 {
            return end;
        }
        for glyph in glyphs(text).skip_while(|glyph| glyph.column.saturating_add(glyph.width) <= left) {
            let after = glyph.column.saturating_add(glyph.width);
            if glyph.column > right || (glyph.column == right && glyph.width > 0) {
                break;
            }
            if glyph.width == 0 {
                if let Some((x, width)) = base {
                    self.add_mark((x, area.y), width, glyph.shown);
                }
                continue;
            }
            let ink = match ink(glyph.byte) {
                Ink::Text | Ink::CurrentLine if glyph.replaced => Ink::Replaced,
                ink => ink,
            };
            // Spaces fill the visible columns of a character that an edge cuts.
            let is_whole = glyph.column >= left && after <= right;
            let x = place(glyph.column.max(left));
            base = is_whole.then_some((x, glyph.width));
            end = place(after.min(right));
            for x in x..end {
                self.set((x, area.y), " ", ink);
            }
            if is_whole {
                self.set((x, area.y), glyph.shown.encode_utf8(&mut [0; 4]), ink);
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
        // Search no further than needed, because lines can be long.
        let room = left.saturating_add(area.width.into());
        let goes_on = glyphs(text).any(|glyph| glyph.column.saturating_add(glyph.width) > room);
        if goes_on && area.width > 1 {
            let x = area.x.saturating_add(area.width).saturating_sub(1);
            self.write(Rect { x, width: 1, ..area }, "›", more);
        }
        end
    }

    /// Adds a combining character to the character in a cell.
    ///
    /// A joiner and a variation selector are left out: terminals disagree about how wide the result is, such as
    /// the emoji of a family. tmux 3.3 moves the second into the cell of the first, and the
    /// cells that the second had to cover keep their old contents. Without them each character has its own
    /// columns everywhere.
    fn add_mark(&mut self, place: (u16, u16), width: usize, mark: char) {
        if matches!(mark, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}') {
            return;
        }
        let Some(cell) = self.cells.cell_mut(place) else { return };
        if cell.symbol().chars().count() <= MARKS {
            let marked = format!("{}{mark}", cell.symbol());
            cell.set_symbol(&marked);
            if let Some(width) = u16::try_from(width).ok().and_then(NonZeroU16::new) {
                cell.set_diff_option(CellDiffOption::ForcedWidth(width));
            }
        }
    }

    fn set(&mut self, place: (u16, u16), symbol: &str, ink: Ink) {
        if let Some(cell) = self.cells.cell_mut(place) {
            cell.reset();
            cell.set_symbol(symbol).set_style(ink.style(self.colors, &self.theme));
        }
    }

    /// Returns a row as text.
    #[cfg(test)]
    pub(crate) fn row(&self, y: u16) -> String {
        let mut row = String::new();
        let mut x = 0;
        while let Some(cell) = self.cells.cell((x, y)) {
            row.push_str(cell.symbol());
            // The second cell of a wide character shows nothing.
            x += u16::try_from(width(cell.symbol())).unwrap_or(1).max(1);
        }
        row.trim_end().to_owned()
    }

    #[cfg(test)]
    pub(crate) fn size(&self) -> (u16, u16) {
        (self.cells.area().width, self.cells.area().height)
    }

    /// Returns the symbol of a cell.
    #[cfg(test)]
    pub(crate) fn symbol(&self, x: u16, y: u16) -> &str {
        self.cells.cell((x, y)).map_or("", ratatui::buffer::Cell::symbol)
    }

    /// Returns true if a cell looks like this.
    #[cfg(test)]
    pub(crate) fn wears(&self, x: u16, y: u16, ink: Ink) -> bool {
        let of = |style: ratatui::style::Style| (style.fg, style.bg, style.add_modifier);
        let mut cell = ratatui::buffer::Cell::default();
        cell.set_style(ink.style(self.colors, &self.theme));
        self.cells.cell((x, y)).is_some_and(|shown| of(shown.style()) == of(cell.style()))
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> Vec<String> {
        (0..self.size().1).map(|y| self.row(y)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: u16, width: u16) -> Rect {
        Rect { x, y: 0, width, height: 1 }
    }

    fn of_width(width: u16) -> Frame {
        Frame::new((width, 1), ColorDepth::True)
    }

    #[test]
    fn texts_stay_in_their_area() {
        let cases: &[(&str, &str, usize, &str, u16)] = &[
            ("short", "ab", 0, "xab", 3),
            ("long", "abcdefgh", 0, "xabcde", 6),
            ("from a column on", "abcdefgh", 4, "xefgh", 5),
            ("after its end", "ab", 9, "x", 1),
            ("wide", "\u{6f22}\u{6f22}", 0, "x\u{6f22}\u{6f22}", 5),
            ("wide, cut at the right", "abcd\u{6f22}", 0, "xabcd", 6),
            ("wide, cut at the left", "\u{6f22}b", 1, "x b", 3),
            ("wide with a mark, cut at the left", "\u{6f22}\u{301}b", 1, "x b", 3),
            ("wide with a mark, cut at the right", "abcd\u{6f22}\u{301}", 0, "xabcd", 6),
            ("a combining mark in the last column", "abcde\u{301}f", 0, "xabcde\u{301}", 6),
            ("a tab, cut at the left", "\tb", 1, "x   b", 5),
            ("a tab, cut at the right", "abcd\tb", 0, "xabcd", 6),
            ("marks", "e\u{301}\u{6f22}\u{301}z", 0, "xe\u{301}\u{6f22}\u{301}z", 5),
            ("joined", "\u{1f468}\u{200d}\u{1f469}z", 0, "x\u{1f468}\u{1f469}z", 6),
            ("joined, of one column", "\u{1f3f3}\u{fe0f}\u{200d}z", 0, "x\u{1f3f3}z", 3),
            ("control", "\u{1b}[2J\n", 0, "x\u{241b}[2J\u{240a}", 6),
        ];
        for (name, text, left, expected, end) in cases {
            let mut frame = of_width(8);
            frame.write(area(0, 1), "x", Ink::Dim);
            let after = frame.write_from(area(1, 5), *left, text, |_| Ink::Text);
            assert_eq!((frame.row(0).as_str(), after), (*expected, *end), "{name}");
        }
    }

    #[test]
    fn cells_have_the_inks_of_bytes() {
        let mut frame = of_width(4);
        frame.write_from(area(0, 4), 0, "\u{e9}b\0", |byte| if byte < 2 { Ink::Selected } else { Ink::Text });
        for (x, ink) in (0..3).zip([Ink::Selected, Ink::Text, Ink::Replaced]) {
            assert!(frame.wears(x, 0, ink), "{x}");
        }
        assert_eq!(frame.cells.cell((3, 0)), Some(&ratatui::buffer::Cell::default()));
    }

    #[test]
    fn cells_outside_are_not_drawn() {
        let mut frame = of_width(3);
        frame.fill(Rect { x: 2, y: 0, width: 9, height: 9 }, Ink::Gap);
        assert_eq!(frame.write(Rect { x: 0, y: 7, width: 3, height: 1 }, "abc", Ink::Text), 3);
        assert_eq!(frame.write(Rect { x: u16::MAX, y: 0, width: 9, height: 1 }, "abc", Ink::Text), u16::MAX);
        assert_eq!(frame.rows(), [""]);
        assert_eq!(Frame::new((0, 0), ColorDepth::True).rows(), [""; 0]);
        frame.write(area(0, 3), &format!("e{}", "\u{301}".repeat(1000)), Ink::Text);
        assert!(frame.row(0).len() < 100);
    }
}
