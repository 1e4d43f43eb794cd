//! Positions in a text as the protocol counts them (lines and columns from 0, columns in UTF-16
//! code units), and their conversion from and to byte offsets.

use crate::text::truncate;
use serde::{Deserialize, Serialize};

/// A position between two characters of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a place has a line and a column and nothing else")]
pub struct Position {
    /// The line, from 0.
    pub line: u32,
    /// The column, from 0, in UTF-16 code units.
    pub character: u32,
}

impl Position {
    /// Creates the position at this line and column, both from 0, the column in UTF-16 code units.
    #[must_use]
    pub const fn new(line: u32, character: u32) -> Self {
        Self { line, character }
    }

    /// Returns the position `offset` bytes into `text`. An offset inside a character counts as the
    /// beginning of the character, and an offset behind the end of the text as its end. Lines end
    /// with `\n`.
    ///
    /// ```
    /// use ide_mcp::ide::Position;
    /// assert_eq!(Position::from_byte_offset("a\n😀b", 6), Position::new(1, 2));
    /// ```
    #[must_use]
    pub fn from_byte_offset(text: &str, offset: usize) -> Self {
        let before = truncate(text, offset);
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let column: usize = before.rsplit('\n').next().unwrap_or_default().chars().map(char::len_utf16).sum();
        Self { line: saturate(line), character: saturate(column) }
    }

    /// Returns the byte offset of this position in `text`; `None` if the text has no such line.
    ///
    /// A column behind the end of its line counts as the end of the line, as in LSP. A column
    /// inside a surrogate pair counts as the beginning of the pair. A carriage return before the
    /// line feed belongs to the end of the line.
    #[must_use]
    pub fn to_byte_offset(self, text: &str) -> Option<usize> {
        let mut begin = 0_usize;
        for _ in 0..self.line {
            let rest = text.get(begin..)?;
            begin = begin.checked_add(rest.find('\n')?)?.checked_add(1)?;
        }
        let line = text.get(begin..)?.split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let (mut bytes, mut units) = (0_usize, 0_usize);
        let wanted = usize::try_from(self.character).unwrap_or(usize::MAX);
        for character in line.chars() {
            units = units.saturating_add(character.len_utf16());
            if units > wanted {
                break;
            }
            bytes = bytes.saturating_add(character.len_utf8());
        }
        begin.checked_add(bytes)
    }
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A range between two positions of a text; the end is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a range has two ends and nothing else")]
pub struct Range {
    /// The position at which the range begins.
    pub start: Position,
    /// The position at which the range ends.
    pub end: Position,
}

impl Range {
    /// Creates the range from `start` to `end`.
    #[must_use]
    pub const fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }

    /// Returns true if nothing lies between the two ends: the range is a cursor.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the part of `text` in this range; `None` if the text has no such lines, or the end
    /// is before the start.
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.start.to_byte_offset(text)?..self.end.to_byte_offset(text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "héllo\r\n😀x\n\nend";

    #[test]
    fn places_and_bytes_agree() {
        let cases = [
            ("start", 0, Position::new(0, 0)),
            ("behind é", 3, Position::new(0, 2)),
            ("second line", 8, Position::new(1, 0)),
            ("behind the pair", 12, Position::new(1, 2)),
            ("empty line", 14, Position::new(2, 0)),
            ("end", 18, Position::new(3, 3)),
        ];
        for (name, byte, place) in cases {
            assert_eq!(Position::from_byte_offset(TEXT, byte), place, "{name}");
            assert_eq!(place.to_byte_offset(TEXT), Some(byte), "{name}");
        }
    }

    #[test]
    fn invalid_position_is_clamped_or_refused() {
        assert_eq!(Position::from_byte_offset(TEXT, 2), Position::new(0, 1), "inside a character");
        assert_eq!(Position::from_byte_offset(TEXT, 999), Position::new(3, 3), "behind the end");
        assert_eq!(Position::new(1, 1).to_byte_offset(TEXT), Some(8), "inside a surrogate pair");
        assert_eq!(Position::new(0, 99).to_byte_offset(TEXT), Some(6), "behind the line, before its CR");
        assert_eq!(Position::new(4, 0).to_byte_offset(TEXT), None, "no such line");
        assert_eq!(Range::new(Position::new(1, 0), Position::new(0, 0)).slice(TEXT), None, "backwards");
        assert_eq!(Range::new(Position::new(0, 1), Position::new(1, 2)).slice(TEXT), Some("éllo\r\n😀"));
    }

    #[test]
    fn every_byte_of_random_texts_comes_back() {
        arbtest::arbtest(|u| {
            let text: alloc::string::String = u.arbitrary()?;
            for (byte, character) in text.char_indices() {
                let in_line_end = text.get(byte..).is_some_and(|rest| rest.starts_with('\n'))
                    && text.get(..byte).is_some_and(|before| before.ends_with('\r'));
                if !in_line_end {
                    assert_eq!(
                        Position::from_byte_offset(&text, byte).to_byte_offset(&text),
                        Some(byte),
                        "{text:?} {character:?}"
                    );
                }
            }
            Ok(())
        });
    }
}
