//! Lays out a line on the screen: the column of each character, what is shown for a character that cannot be shown, and
//! how a line is cut to a width.

use ide_mcp::ide::kit::is_display_unsafe;
use std::borrow::Cow;
use std::io::{self, IsTerminal as _};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthChar as _;

const TAB: usize = 4;
/// The width that we assume for a terminal that does not report its size.
const USUAL: usize = 80;

/// A character of a line as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    /// The byte offset in the line.
    pub(crate) byte: usize,
    /// The first column of the character, from 0.
    pub(crate) column: usize,
    /// The number of its columns; 0 if it belongs to the character before.
    pub(crate) width: usize,
    /// True if it begins a grapheme cluster: a cursor stops before it, and a line can be broken there.
    pub(crate) starts: bool,
    /// The character that is shown; a space for a tab.
    pub(crate) shown: char,
    /// True if it replaces a character that cannot be shown.
    pub(crate) replaced: bool,
}

/// Returns the characters of a line, which has no line end.
pub(crate) fn glyphs(line: &str) -> impl Iterator<Item = Glyph> + '_ {
    let mut column = 0_usize;
    let mut next_start = 0_usize;
    line.char_indices().map(move |(byte, character)| {
        let is_first = byte == next_start;
        if is_first {
            next_start = byte.saturating_add(first_cluster(line.get(byte..).unwrap_or_default()));
        }
        let (shown, width, replaced) = match character {
            '\t' => (' ', TAB.saturating_sub(column % TAB), false),
            _ => shown(character),
        };
        // A combining character at the beginning of a line has no character to join, so it takes a
        // column.
        let width = if width == 0 && column == 0 { 1 } else { width };
        // A combining mark after a tab or a control character is a cluster of its own, but takes no column, so the
        // cursor must not stop at it.
        let glyph = Glyph { byte, column, width, starts: is_first && width > 0, shown, replaced };
        column = column.saturating_add(width);
        glyph
    })
}

/// Returns the length of the first grapheme cluster of a string.
fn first_cluster(text: &str) -> usize {
    match text.as_bytes() {
        // Most strings begin with ASCII, which needs no tables.
        [b' '..=b'~'] | [b' '..=b'~', 0..=0x7f, ..] => 1,
        _ => text.graphemes(true).next().map_or(0, str::len),
    }
}

/// Returns the column of the character at a byte, or the width of the line if there is none.
pub(crate) fn column_of(line: &str, byte: usize) -> usize {
    width(line.get(..byte).unwrap_or(line))
}

/// Returns the width of a string in columns.
pub(crate) fn width(line: &str) -> usize {
    glyphs(line).last().map_or(0, |glyph| glyph.column.saturating_add(glyph.width))
}

/// Returns the byte of the grapheme cluster that covers a column, or the length of the line if it is
/// shorter.
pub(crate) fn byte_at(line: &str, column: usize) -> usize {
    let mut start = 0;
    for glyph in glyphs(line) {
        if glyph.starts {
            start = glyph.byte;
        }
        if glyph.column.saturating_add(glyph.width) > column {
            return start;
        }
    }
    line.len()
}

/// Returns a line, or its beginning and an ellipsis if it is wider than these columns. It looks at no more of the line
/// than it must, because lines can be long.
pub(crate) fn cut(line: &str, columns: usize) -> Cow<'_, str> {
    // The end of the longest beginning that leaves a column for the ellipsis.
    let mut end = 0;
    for glyph in glyphs(line) {
        if glyph.column < columns && glyph.starts {
            end = glyph.byte;
        }
        if glyph.column.saturating_add(glyph.width) > columns {
            let ellipsis = if columns == 0 { "" } else { "…" };
            return format!("{}{ellipsis}", line.get(..end).unwrap_or_default()).into();
        }
    }
    line.into()
}

/// Cuts a line like [`cut`], but at its beginning, because the end of a path matters most.
pub(crate) fn cut_start(line: &str, columns: usize) -> Cow<'_, str> {
    if width(line) <= columns {
        return line.into();
    }
    let mut kept = line;
    while width(kept) >= columns.max(1) {
        kept = kept.get(first_cluster(kept)..).unwrap_or_default();
    }
    if columns == 0 { "".into() } else { format!("…{kept}").into() }
}

/// Returns the width of standard output in columns; `None` for a pipe or a file, whose lines are neither cut nor
/// wrapped.
pub(crate) fn of_stdout() -> Option<usize> {
    let stdout = io::stdout();
    let size = || terminal_size::terminal_size_of(&stdout);
    let columns = || size().map(|(columns, _)| usize::from(columns.0)).filter(|columns| *columns > 0);
    stdout.is_terminal().then(|| columns().unwrap_or(USUAL))
}

/// Returns the character to show, its width, and true if it is a replacement.
fn shown(character: char) -> (char, usize, bool) {
    let picture = match character {
        '\0'..='\u{1f}' => char::from_u32(u32::from(character).saturating_add(0x2400)),
        '\u{7f}' => Some('\u{2421}'),
        // Invisible characters can hide something. These have no use that a reader would see: they are no space, line
        // break or part of a word.
        '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        _ if is_display_unsafe(character) => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    };
    picture.map_or_else(|| (character, character.width().unwrap_or(1), false), |picture| (picture, 1, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_shown_at_their_columns() {
        let cases: &[(&str, &str, &str, &[usize])] = &[
            ("letters", "ab", "ab", &[0, 1, 2]),
            ("tabs", "\ta\t\tb", " a  b", &[0, 4, 5, 8, 12, 13]),
            ("wide", "a\u{6f22}b", "a\u{6f22}b", &[0, 1, 3, 4]),
            ("a combining mark", "e\u{301}x", "e\u{301}x", &[0, 1, 1, 2]),
            ("a combining mark on its own", "\u{301}x", "\u{301}x", &[0, 1, 2]),
            (
                "control",
                "a\u{1b}[2J\0\u{7f}\r",
                "a\u{241b}[2J\u{2400}\u{2421}\u{240d}",
                &[0, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            (
                "direction, zero width, C1",
                "\u{202e}\u{200b}\u{9b}",
                "\u{fffd}\u{fffd}\u{fffd}",
                &[0, 1, 2, 3],
            ),
        ];
        for (name, line, seen, columns) in cases {
            let all: Vec<Glyph> = glyphs(line).collect();
            assert_eq!(all.iter().map(|glyph| glyph.shown).collect::<String>(), *seen, "{name}");
            let ends = [width(line)];
            assert_eq!(
                all.iter().map(|glyph| glyph.column).chain(ends).collect::<Vec<_>>(),
                *columns,
                "{name}"
            );
        }
    }

    #[test]
    fn columns_and_bytes_agree() {
        let line = "a\t\u{6f22}e\u{301}b";
        for (column, byte) in [(0, 0), (1, 1), (3, 1), (4, 2), (5, 2), (6, 5), (7, 8), (8, 9), (99, 9)] {
            assert_eq!(byte_at(line, column), byte, "{column}");
        }
        for (byte, column) in [(0, 0), (1, 1), (2, 4), (5, 6), (8, 7), (9, 8), (99, 8)] {
            assert_eq!(column_of(line, byte), column, "{byte}");
        }
    }

    #[test]
    fn cut_line_has_an_ellipsis() {
        let cases = [
            ("short", 5, "abc", "abc", "abc"),
            ("exactly as wide as the screen", 3, "abc", "abc", "abc"),
            ("one column too wide", 3, "abcd", "ab…", "…cd"),
            ("wide characters", 5, "日本語", "日本…", "…本語"),
            ("wide, with an odd column", 4, "日本語", "日…", "…語"),
            ("wide characters that fit", 6, "日本語", "日本語", "日本語"),
            ("a combining character at the end", 3, "abce\u{301}", "ab…", "…ce\u{301}"),
            ("a combining character before the cut", 2, "e\u{301}bc", "e\u{301}…", "…c"),
            ("a tab", 4, "a\tb", "a…", "…b"),
            ("one column", 1, "ab", "…", "…"),
            ("no room", 0, "a", "", ""),
            ("nothing", 0, "", "", ""),
        ];
        for (name, columns, line, begin, end) in cases {
            assert_eq!(cut(line, columns), begin, "{name}");
            assert_eq!(cut_start(line, columns), end, "{name}");
        }
    }
}
