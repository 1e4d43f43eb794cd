//! Where the characters of a line stand on the screen, and which of them are shown as others.

use ide_mcp::ide::is_display_unsafe;
use unicode_width::UnicodeWidthChar as _;

const TAB: usize = 4;

/// A character of a line, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Glyph {
    /// How many bytes into the line it is.
    pub(crate) byte: usize,
    /// The first column that it takes, from 0.
    pub(crate) column: usize,
    /// How many it takes: none if it belongs to the one before.
    pub(crate) width: usize,
    /// A tab is shown as spaces.
    pub(crate) shown: char,
    /// Whether it stands for a character that cannot be shown.
    pub(crate) replaced: bool,
}

/// The characters of a line, which has no line end.
pub(crate) fn glyphs(line: &str) -> impl Iterator<Item = Glyph> + '_ {
    let mut column = 0_usize;
    line.char_indices().map(move |(byte, character)| {
        let (shown, width, replaced) = match character {
            '\t' => (' ', TAB.saturating_sub(column % TAB), false),
            _ => shown(character),
        };
        // A mark needs something before it.
        let width = if width == 0 && column == 0 { 1 } else { width };
        let glyph = Glyph { byte, column, width, shown, replaced };
        column = column.saturating_add(width);
        glyph
    })
}

/// The column at which the character at this byte stands; the end of the line if there is none.
pub(crate) fn column_of(line: &str, byte: usize) -> usize {
    width(line.get(..byte).unwrap_or(line))
}

/// How many columns a text takes.
pub(crate) fn width(line: &str) -> usize {
    glyphs(line).last().map_or(0, |glyph| glyph.column.saturating_add(glyph.width))
}

/// The byte of the character that covers this column; the end of the line if it is shorter.
pub(crate) fn byte_at(line: &str, column: usize) -> usize {
    let covers = |glyph: &Glyph| glyph.column.saturating_add(glyph.width) > column;
    glyphs(line).find(covers).map_or(line.len(), |glyph| glyph.byte)
}

/// A character as it is shown, its width, and whether it had to be replaced.
fn shown(character: char) -> (char, usize, bool) {
    let picture = match character {
        '\0'..='\u{1f}' => char::from_u32(u32::from(character).saturating_add(0x2400)),
        '\u{7f}' => Some('\u{2421}'),
        // What cannot be seen can hide something: no space, no break, no word.
        '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => {
            Some(char::REPLACEMENT_CHARACTER)
        }
        _ if is_display_unsafe(character) => Some(char::REPLACEMENT_CHARACTER),
        _ => None,
    };
    picture.map_or_else(
        || (character, character.width().unwrap_or(1).min(2), false),
        |picture| (picture, 1, true),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_stand_where_they_are_seen() {
        let cases: &[(&str, &str, &str, &[usize])] = &[
            ("letters", "ab", "ab", &[0, 1, 2]),
            ("tabs", "\ta\t\tb", " a  b", &[0, 4, 5, 8, 12, 13]),
            ("wide", "a\u{6f22}b", "a\u{6f22}b", &[0, 1, 3, 4]),
            ("a mark", "e\u{301}x", "e\u{301}x", &[0, 1, 1, 2]),
            ("a mark on its own", "\u{301}x", "\u{301}x", &[0, 1, 2]),
            (
                "control",
                "a\u{1b}[2J\0\u{7f}\r",
                "a\u{241b}[2J\u{2400}\u{2421}\u{240d}",
                &[0, 1, 2, 3, 4, 5, 6, 7, 8],
            ),
            ("direction and nothing", "\u{202e}\u{200b}\u{9b}", "\u{fffd}\u{fffd}\u{fffd}", &[0, 1, 2, 3]),
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
}
