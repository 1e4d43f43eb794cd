//! The part of a file that a call of `openFile` selects, given by the texts or lines where it begins and ends.

use super::OpenFile;
use crate::ide::kit::text::{self, Text};
use crate::ide::kit::{Position, Range};

/// What to select, and which text was not found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// The range to select; empty, at the beginning of the file, if there is nothing to select.
    pub range: Range,
    /// Which text of the call is not in the file.
    pub missing: Option<MissingText>,
}

/// Which text of the call is not in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingText {
    /// `startText`.
    Start,
    /// `endText`, which is searched for after `startText`.
    End,
}

impl MissingText {
    /// Returns the name of the argument.
    #[must_use]
    pub const fn argument(self) -> &'static str {
        match self {
            Self::Start => "startText",
            Self::End => "endText",
        }
    }
}

impl OpenFile {
    /// Returns the range to select in the text of the file.
    ///
    /// The range goes from the first occurrence of `startText` to the end of the next occurrence of `endText`. Without
    /// `startText` it begins at the beginning of the file; without `endText`, or if that is not found, it ends with
    /// `startText`. If `startText` is not in the file, the range is empty, at the beginning of the file, and `endText`
    /// is not searched for. Lines count only if the call has neither text. `selectToEndOfLine` extends the range to the
    /// end of its last line; a call with neither a text nor a first line has no range to extend.
    ///
    /// ```
    /// use ide_mcp::ide::kit::{Position, Range};
    /// use ide_mcp::ide::tool::OpenFile;
    /// let mut call = OpenFile::new("/a.rs");
    /// (call.start_text, call.end_text) = (Some("fn b".into()), Some("}".into()));
    /// let passage = call.passage("fn a() {}\nfn b() {}\n");
    /// assert_eq!(passage.range, Range::new(Position::new(1, 0), Position::new(1, 9)));
    /// ```
    #[must_use]
    pub fn passage<T: Text + ?Sized>(&self, text: &T) -> Passage {
        let mut missing = None;
        let (mut start, mut end) = (0, 0);
        if let Some(wanted) = &self.start_text {
            match text::find(text, wanted, 0) {
                Some(at) => (start, end) = (at, at.saturating_add(wanted.len())),
                None => missing = Some(MissingText::Start),
            }
        }
        if let Some(wanted) = self.end_text.as_ref().filter(|_| missing.is_none()) {
            match text::find(text, wanted, end) {
                Some(at) => end = at.saturating_add(wanted.len()),
                None => missing = Some(MissingText::End),
            }
        }
        if self.start_text.is_none() && self.end_text.is_none() {
            (start, end) = self.lines(text);
        }
        let has_passage = self.start_text.is_some() || self.end_text.is_some() || self.start_line.is_some();
        if self.select_to_end_of_line && has_passage && missing != Some(MissingText::Start) {
            end = text::line_end(text, end);
        }
        Passage {
            range: Range::new(Position::from_byte_offset(text, start), Position::from_byte_offset(text, end)),
            missing,
        }
    }

    /// Returns where the lines of the call begin and end, in bytes. A line after the last one counts as the end of the
    /// text. Without a last line both are equal: a cursor.
    fn lines<T: Text + ?Sized>(&self, text: &T) -> (usize, usize) {
        let offset = |line: u32, column| {
            let position = Position::new(line.saturating_sub(1), column);
            position.to_byte_offset(text).unwrap_or_else(|| text::len(text))
        };
        let start = self.start_line.map_or(0, |line| offset(line, 0));
        let end = self.end_line.map_or(start, |line| offset(line, u32::MAX));
        (start, end.max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn a() {\n  1\n}\r\nfn ü() {\n  2 // one\n}\n";

    #[test]
    fn texts_say_what_is_selected() {
        use MissingText::{End, Start};
        let cases = [
            ("neither text", None, None, false, Some(""), None),
            ("only a start", Some("fn ü"), None, false, Some("fn ü"), None),
            ("a start and an end", Some("fn ü"), Some("}"), false, Some("fn ü() {\n  2 // one\n}"), None),
            ("the next end, not the first", Some("2"), Some("}"), false, Some("2 // one\n}"), None),
            (
                "an end text that is also in the start",
                Some("() {"),
                Some("{"),
                false,
                Some("() {\n  1\n}\r\nfn ü() {"),
                None,
            ),
            ("only an end", None, Some("a()"), false, Some("fn a()"), None),
            ("to the end of the line", Some("2"), None, true, Some("2 // one"), None),
            (
                "to the end of a line with a carriage return",
                Some("  1"),
                Some("}"),
                true,
                Some("  1\n}"),
                None,
            ),
            ("a start that includes a line feed", Some("{\n"), None, true, Some("{\n  1"), None),
            ("no such start", Some("fn b"), Some("}"), true, Some(""), Some(Start)),
            ("no such end", Some("fn ü"), Some("fn b"), false, Some("fn ü"), Some(End)),
        ];
        for (name, start, end, to_end, selected, missing) in cases {
            let mut call = OpenFile::new("/a");
            call.start_text = start.map(Into::into);
            call.end_text = end.map(Into::into);
            call.select_to_end_of_line = to_end;
            let passage = call.passage(TEXT);
            assert_eq!((passage.range.slice(TEXT), passage.missing), (selected, missing), "{name}");
        }
        assert_eq!([Start, End].map(MissingText::argument), ["startText", "endText"]);
    }

    #[test]
    fn lines_count_if_the_call_has_no_text() {
        let cases = [
            ("one line", Some(2), Some(2), Some("  1")),
            ("two lines, without the carriage return", Some(2), Some(3), Some("  1\n}")),
            ("only a first line", Some(2), None, Some("")),
            ("only a last line", None, Some(1), Some("fn a() {")),
            ("a last line before the first", Some(3), Some(1), Some("")),
            ("line 0 counts as line 1", Some(0), Some(0), Some("fn a() {")),
            ("no such line", Some(99), Some(u32::MAX), Some("")),
        ];
        for (name, start, end, selected) in cases {
            let mut call = OpenFile::new("/a");
            (call.start_line, call.end_line) = (start, end);
            assert_eq!(call.passage(TEXT).range.slice(TEXT), selected, "{name}");
        }
    }

    #[test]
    fn line_without_last_line_extends_to_its_end() {
        let cases = [
            ("no line", None, ""),
            ("the first line", Some(1), "fn a() {"),
            ("another line", Some(2), "  1"),
        ];
        for (name, start, selected) in cases {
            let mut call = OpenFile::new("/a");
            (call.start_line, call.select_to_end_of_line) = (start, true);
            assert_eq!(call.passage(TEXT).range.slice(TEXT), Some(selected), "{name}");
        }
    }
}
