//! The bytes that bring a screen in memory to a terminal: only the differences, in color.

use super::theme::Theme;
use super::view::canvas::{Canvas, Cell, Ink, Symbol};
use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::style::{Attribute, Print, SetAttribute, SetBackgroundColor, SetForegroundColor};
use crossterm::{QueueableCommand as _, terminal};
use std::io;

/// Appends the bytes that change a terminal from `before` to `after`. Without `before`, or if its
/// size differs, the contents of the terminal are unknown, and every cell is written.
pub(crate) fn paint(
    before: Option<&Canvas>,
    after: &Canvas,
    theme: &Theme,
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let before = before.filter(|before| before.size() == after.size());
    let begun = out.len();
    out.queue(terminal::BeginSynchronizedUpdate)?.queue(Hide)?;
    let (width, height) = after.size();
    let mut ink: Option<Ink> = None;
    for y in 0..height {
        // The column of the terminal's cursor, if it is certain.
        let mut at: Option<u16> = None;
        for x in 0..width {
            let Some(cell) = after.cell(x, y) else { continue };
            if before.and_then(|before| before.cell(x, y)) == Some(cell) || cell.symbol == Symbol::Behind {
                continue;
            }
            if at != Some(x) {
                out.queue(MoveTo(x, y))?;
            }
            if ink != Some(cell.ink) {
                wear(cell.ink, theme, out)?;
                ink = Some(cell.ink);
            }
            at = print(cell, x, out)?;
        }
    }
    let is_same = before.is_some_and(|before| before.cursor == after.cursor) && ink.is_none();
    if is_same && before.is_some_and(|before| before == after) {
        out.truncate(begun);
        return Ok(());
    }
    out.queue(SetAttribute(Attribute::Reset))?;
    if let Some((x, y)) = after.cursor {
        out.queue(MoveTo(x, y))?.queue(Show)?;
    }
    out.queue(terminal::EndSynchronizedUpdate)?;
    Ok(())
}

/// Prints a cell. Returns the column of the cursor if it is certain: terminals differ in the width of
/// some characters.
fn print(cell: &Cell, x: u16, out: &mut Vec<u8>) -> io::Result<Option<u16>> {
    match &cell.symbol {
        Symbol::One(character) => {
            out.queue(Print(character))?;
            Ok(if character.is_ascii() { x.checked_add(1) } else { None })
        }
        Symbol::Marked(text) => {
            out.queue(Print(text))?;
            Ok(None)
        }
        Symbol::Behind => Ok(None),
    }
}

fn wear(ink: Ink, theme: &Theme, out: &mut Vec<u8>) -> io::Result<()> {
    let look = theme.look(ink);
    out.queue(SetAttribute(Attribute::Reset))?;
    for attribute in look.attributes {
        out.queue(SetAttribute(*attribute))?;
    }
    if let Some((text, paper)) = look.colors {
        out.queue(SetForegroundColor(text))?.queue(SetBackgroundColor(paper))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::screen::layout::Rect;
    use crate::editor::screen::theme::ColorDepth;

    fn canvas(rows: &[&str]) -> Canvas {
        let mut canvas = Canvas::new((6, 3));
        for (y, row) in (0..3).zip(rows) {
            canvas.write(Rect { x: 0, y, width: 6, height: 1 }, row, Ink::Text);
        }
        canvas
    }

    fn painted(before: Option<&Canvas>, after: &Canvas) -> String {
        let mut out = Vec::new();
        paint(before, after, &Theme::new(ColorDepth::None), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.replace("\u{1b}[?2026h\u{1b}[?25l", "").replace("\u{1b}[?2026l", "").replace("\u{1b}[0m", "")
    }

    #[test]
    fn only_different_cells_are_written() {
        let before = canvas(&["abc", "def", ""]);
        let cases = [
            ("nothing", canvas(&["abc", "def", ""]), ""),
            ("a letter", canvas(&["abc", "dXf", ""]), "\u{1b}[2;2HX"),
            ("two in a row", canvas(&["Xbc", "deYZ", ""]), "\u{1b}[1;1HX\u{1b}[2;3HYZ"),
            ("away", canvas(&["a", "def", ""]), "\u{1b}[1;2H  "),
            (
                "wide ones, and where they end",
                canvas(&["\u{6f22}cd", "def", ""]),
                "\u{1b}[1;1H\u{6f22}\u{1b}[1;4Hd",
            ),
            ("marks", canvas(&["e\u{301}Bc", "def", ""]), "\u{1b}[1;1He\u{301}\u{1b}[1;2HB"),
        ];
        for (name, after, expected) in cases {
            assert_eq!(painted(Some(&before), &after), expected, "{name}");
        }
        let mut after = canvas(&["abc", "def", ""]);
        after.cursor = Some((2, 1));
        assert_eq!(painted(Some(&before), &after), "\u{1b}[2;3H\u{1b}[?25h");
        let mut other = Canvas::new((1, 1));
        other.write(Rect { x: 0, y: 0, width: 1, height: 1 }, "x", Ink::Text);
        assert_eq!(painted(Some(&before), &other), "\u{1b}[1;1Hx", "another size");
        assert_eq!(painted(None, &Canvas::new((0, 0))), "");
    }
}
