//! Positions in a text as the protocol counts them (lines and columns from 0, columns in UTF-16 code units), converted
//! from and to byte offsets and the columns of other encodings.

use super::text::{self, Text};
use crate::text::truncate;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A position between two characters of a text.
///
/// ```
/// use ide_mcp::ide::kit::Position;
///
/// let text = "let é = 1;\n";
/// assert_eq!(Position::from_byte_offset(text, 6), Position::new(0, 5)); // é has two bytes, and is one code unit
/// assert_eq!(Position::new(0, 5).to_byte_offset(text), Some(6));
/// ```
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

    /// Returns the position `offset` bytes into `text`. An offset inside a character counts as its beginning, and one
    /// past the end of the text as its end. Lines end with `\n`. The text after the offset is not read.
    ///
    /// ```
    /// use ide_mcp::ide::kit::Position;
    /// assert_eq!(Position::from_byte_offset("a\n😀b", 6), Position::new(1, 2));
    /// ```
    #[must_use]
    pub fn from_byte_offset<T: Text + ?Sized>(text: &T, offset: usize) -> Self {
        let (line, column) = Encoding::Utf16.at(text, offset);
        Self { line, character: column }
    }

    /// Returns the byte offset of this position in `text`; `None` if the text has no such line. The text after the
    /// position is not read, except the next character.
    ///
    /// A column past the end of its line counts as the end, as in LSP. A column inside a surrogate pair counts as the
    /// beginning of the pair. A carriage return before the line feed belongs to the end of the line.
    #[must_use]
    pub fn to_byte_offset<T: Text + ?Sized>(self, text: &T) -> Option<usize> {
        Encoding::Utf16.offset(text, self.line, self.character)
    }
}

/// The unit in which an editor or a language server counts columns. The protocol uses UTF-16, as LSP does unless client
/// and server agree on another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "Unicode has these three encodings")]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    #[default]
    Utf16,
    /// Characters (Unicode scalar values).
    Utf32,
}

impl Encoding {
    /// Returns the encoding with this name in LSP (`positionEncoding`): `utf-8`, `utf-16` or `utf-32`.
    #[must_use]
    pub fn from_lsp(name: &str) -> Option<Self> {
        match name {
            "utf-8" => Some(Self::Utf8),
            "utf-16" => Some(Self::Utf16),
            "utf-32" => Some(Self::Utf32),
            _ => None,
        }
    }

    /// Returns the position at this line and column, the column in this encoding; `None` if the text has no such line.
    /// A column inside a character counts as its beginning, and one past the end of the line as the end.
    ///
    /// ```
    /// use ide_mcp::ide::kit::{Encoding, Position};
    /// let text = "a\nü😀b";
    /// let of_b = Position::new(1, 3);
    /// assert_eq!(Encoding::Utf8.position(text, 1, 6), Some(of_b));
    /// assert_eq!(Encoding::Utf32.position(text, 1, 2), Some(of_b));
    /// assert_eq!(Encoding::Utf32.column(text, of_b), Some(2));
    /// ```
    #[must_use]
    pub fn position<T: Text + ?Sized>(self, text: &T, line: u32, column: u32) -> Option<Position> {
        self.offset(text, line, column).map(|offset| Position::from_byte_offset(text, offset))
    }

    /// Returns the column of a position in this encoding; `None` if the text has no such line.
    #[must_use]
    pub fn column<T: Text + ?Sized>(self, text: &T, position: Position) -> Option<u32> {
        position.to_byte_offset(text).map(|offset| self.at(text, offset).1)
    }

    const fn units(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// Returns the line and the column at a byte offset.
    fn at<T: Text + ?Sized>(self, text: &T, offset: usize) -> (u32, u32) {
        let (mut line, mut column, mut left) = (0_usize, 0_usize, offset);
        for chunk in text.chunks() {
            let before = truncate(chunk, left);
            let tail = match before.rfind('\n') {
                Some(last) => {
                    let feeds = before.bytes().filter(|byte| *byte == b'\n').count();
                    (line, column) = (line.saturating_add(feeds), 0);
                    before.get(last.saturating_add(1)..).unwrap_or_default()
                }
                None => before,
            };
            column = tail.chars().map(|character| self.units(character)).fold(column, usize::saturating_add);
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
        (saturate(line), saturate(column))
    }

    /// Returns the byte offset of a line and a column.
    fn offset<T: Text + ?Sized>(self, text: &T, line: u32, column: u32) -> Option<usize> {
        let wanted = usize::try_from(column).unwrap_or(usize::MAX);
        let (mut lines, mut at, mut units) = (line, 0_usize, 0_usize);
        // True if there is a carriage return at `at`, which may belong to the end of the line.
        let mut is_carriage = false;
        for chunk in text.chunks() {
            let mut rest = chunk;
            while lines > 0 {
                let Some((of_line, others)) = rest.split_once('\n') else { break };
                at = at.saturating_add(of_line.len()).saturating_add(1);
                (rest, lines) = (others, lines.saturating_sub(1));
            }
            if lines > 0 {
                at = at.saturating_add(rest.len());
                continue;
            }
            for character in rest.chars() {
                if character == '\n' {
                    return Some(at);
                }
                if is_carriage {
                    units = units.saturating_add(1);
                    if units > wanted {
                        return Some(at);
                    }
                    at = at.saturating_add(1);
                }
                is_carriage = character == '\r';
                if is_carriage {
                    continue;
                }
                units = units.saturating_add(self.units(character));
                if units > wanted {
                    return Some(at);
                }
                at = at.saturating_add(character.len_utf8());
            }
        }
        // A carriage return at the end of the text does not end a line.
        let is_in_line = is_carriage && units < wanted;
        (lines == 0).then_some(at.saturating_add(usize::from(is_in_line)))
    }
}

fn saturate(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A range between two positions of a text; the end is exclusive.
///
/// ```
/// use ide_mcp::ide::kit::{Position, Range};
///
/// let range = Range::new(Position::new(0, 4), Position::new(0, 7));
/// assert_eq!(range.slice("let abc = 1;"), Some("abc"));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "a range has two ends and nothing else")]
pub struct Range {
    /// Where the range begins.
    pub start: Position,
    /// Where the range ends.
    pub end: Position,
}

impl Range {
    /// Creates the range from `start` to `end`.
    #[must_use]
    pub const fn new(start: Position, end: Position) -> Self {
        Self { start, end }
    }

    /// Returns true if the range is empty, which means that it is a cursor.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns this part of `text`; `None` if the text has no such lines, or the end is before the start.
    #[must_use]
    pub fn slice(self, text: &str) -> Option<&str> {
        text.get(self.start.to_byte_offset(text)?..self.end.to_byte_offset(text)?)
    }

    /// Returns a copy of this part of `text`, if the text is in chunks and [`slice`](Self::slice) cannot borrow from
    /// it. The rest of the text is not copied.
    ///
    /// ```
    /// use ide_mcp::ide::kit::{Position, Range, Text};
    ///
    /// struct Pieces([&'static str; 2]);
    ///
    /// impl Text for Pieces {
    ///     fn chunks(&self) -> impl Iterator<Item = &str> {
    ///         self.0.into_iter()
    ///     }
    /// }
    ///
    /// let range = Range::new(Position::new(0, 1), Position::new(1, 1));
    /// assert_eq!(range.copy_of(&Pieces(["one\nt", "wo"])).as_deref(), Some("ne\nt"));
    /// ```
    #[must_use]
    pub fn copy_of<T: Text + ?Sized>(self, text: &T) -> Option<String> {
        let (start, end) = (self.start.to_byte_offset(text)?, self.end.to_byte_offset(text)?);
        let mut copy = String::with_capacity(end.checked_sub(start)?);
        for (at, part) in text::from(text, start).take_while(|(at, _)| *at < end) {
            copy.push_str(truncate(part, end.saturating_sub(at)));
        }
        Some(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "héllo\r\n😀x\n\nend";

    #[test]
    fn positions_and_bytes_agree() {
        let cases = [
            ("start", 0, Position::new(0, 0)),
            ("after é", 3, Position::new(0, 2)),
            ("second line", 8, Position::new(1, 0)),
            ("after the pair", 12, Position::new(1, 2)),
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
        assert_eq!(Position::from_byte_offset(TEXT, 999), Position::new(3, 3), "after the end");
        assert_eq!(Position::new(1, 1).to_byte_offset(TEXT), Some(8), "inside a surrogate pair");
        assert_eq!(Position::new(0, 99).to_byte_offset(TEXT), Some(6), "after the line, before its CR");
        assert_eq!(Position::new(4, 0).to_byte_offset(TEXT), None, "no such line");
        assert_eq!(
            Position::new(0, 99).to_byte_offset("ab\r"),
            Some(3),
            "a carriage return that ends no line"
        );
        assert_eq!(Position::new(0, 2).to_byte_offset("ab\r"), Some(2), "before that carriage return");
        assert_eq!(Range::new(Position::new(1, 0), Position::new(0, 0)).slice(TEXT), None, "backwards");
        assert_eq!(Range::new(Position::new(0, 1), Position::new(1, 2)).slice(TEXT), Some("éllo\r\n😀"));
    }

    #[test]
    fn every_byte_of_random_texts_comes_back() {
        arbtest::arbtest(|u| {
            let text: String = u.arbitrary()?;
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
