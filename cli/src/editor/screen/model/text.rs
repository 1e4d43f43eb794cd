//! A text with an index of its lines.

use ide_mcp::ide::kit::Position;
use std::ops::Range;
use unicode_segmentation::GraphemeCursor;

/// A text of at least one line. A line ends with `\n`; a `\r` before it belongs to the line end. The
/// last line is the one after the last `\n`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
    /// The number of lines that end with `\r\n`.
    crlf: usize,
}

/// The line ends of a text. A text of one line has those of Unix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnds {
    Lf,
    CrLf,
    Mixed,
}

impl Text {
    pub(crate) fn new(text: String) -> Self {
        let starts: Vec<usize> = std::iter::once(0).chain(starts_after(&text, 0..text.len())).collect();
        let crlf = crlf(&text, starts.iter().skip(1));
        Self { text, starts, crlf }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn lines(&self) -> usize {
        self.starts.len()
    }

    /// Returns a line without its end, or an empty string if there is no such line.
    pub(crate) fn line(&self, number: usize) -> &str {
        self.text.get(self.range_of(number)).unwrap_or_default()
    }

    /// Returns the bytes of a line without its end.
    pub(crate) fn range_of(&self, number: usize) -> Range<usize> {
        let end_of_text = self.text.len();
        let start = self.starts.get(number).copied().unwrap_or(end_of_text);
        let next = number.checked_add(1).and_then(|next| self.starts.get(next)).copied();
        let line = self.text.get(start..next.unwrap_or(end_of_text)).unwrap_or_default();
        let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        start..start.saturating_add(line.len())
    }

    /// Returns the line of a byte.
    pub(crate) fn line_of(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// Returns the text in a range, or an empty string if this text has no such range.
    pub(crate) fn get(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the position of a byte in the protocol. A byte in a line end has the position of the
    /// end of its line.
    pub(crate) fn position(&self, byte: usize) -> Position {
        let line = self.line_of(byte);
        let range = self.range_of(line);
        let before = self.get(range.start..byte.min(range.end));
        let units: usize = before.chars().map(char::len_utf16).sum();
        Position::new(narrow(line), narrow(units))
    }

    /// Replaces a range of this text. Without such a range, it does nothing.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &str) {
        if self.text.get(range.clone()).is_none() {
            return;
        }
        // A key changes a few bytes, and the text may be long: only the lines after them move.
        let at = |byte: usize, starts: &[usize]| starts.partition_point(|start| *start <= byte);
        let (from, to) = (at(range.start, &self.starts), at(range.end, &self.starts));
        // Text that ends with `\r`, or no longer does, changes the line end after it.
        let before = crlf(&self.text, self.starts.iter().take(to.saturating_add(1)).skip(from));
        let end = range.start.saturating_add(with.len());
        self.text.replace_range(range.clone(), with);
        for start in self.starts.iter_mut().skip(to) {
            *start = start.saturating_sub(range.end).saturating_add(end);
        }
        let new: Vec<usize> = starts_after(&self.text, range.start..end).collect();
        let to_new = from.saturating_add(new.len());
        self.starts.splice(from..to, new);
        let after = crlf(&self.text, self.starts.iter().take(to_new.saturating_add(1)).skip(from));
        self.crlf = self.crlf.saturating_sub(before).saturating_add(after);
    }

    pub(crate) fn line_ends(&self) -> LineEnds {
        match self.crlf {
            0 => LineEnds::Lf,
            all if all == self.starts.len().saturating_sub(1) => LineEnds::CrLf,
            _ => LineEnds::Mixed,
        }
    }

    /// Returns the line end of the text, by its first line.
    pub(crate) fn line_end(&self) -> &'static str {
        if crlf(&self.text, self.starts.iter().take(2).skip(1)) == 1 { "\r\n" } else { "\n" }
    }

    /// Returns the offset after the grapheme cluster at the offset `byte`. A line end is one.
    pub(crate) fn next(&self, byte: usize) -> usize {
        let next = self.cluster(byte).next_boundary(&self.text, 0);
        next.ok().flatten().unwrap_or(self.text.len())
    }

    /// Returns the offset at which the grapheme cluster before the offset `byte` begins.
    pub(crate) fn previous(&self, byte: usize) -> usize {
        self.cluster(byte).prev_boundary(&self.text, 0).ok().flatten().unwrap_or_default()
    }

    /// Returns the nearest offset at which a cursor can stop, at `byte` or before it.
    pub(crate) fn stop_before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let byte = (0..=byte).rev().find(|byte| self.text.is_char_boundary(*byte)).unwrap_or_default();
        if self.cluster(byte).is_boundary(&self.text, 0) == Ok(false) { self.previous(byte) } else { byte }
    }

    /// Returns the nearest offset at which a cursor can stop, at `byte` or after it.
    pub(crate) fn stop_after(&self, byte: usize) -> usize {
        let before = self.stop_before(byte);
        if before < byte.min(self.text.len()) { self.next(before) } else { before }
    }

    fn cluster(&self, byte: usize) -> GraphemeCursor {
        GraphemeCursor::new(byte, self.text.len(), true)
    }
}

/// Returns where the lines begin that follow the line ends in a range.
fn starts_after(text: &str, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    let first = range.start.saturating_add(1);
    let bytes = text.as_bytes().get(range).unwrap_or_default();
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(move |(at, _)| at.saturating_add(first))
}

/// Returns how many of the lines that begin there follow a `\r\n`.
fn crlf<'a>(text: &str, starts: impl Iterator<Item = &'a usize>) -> usize {
    let has_crlf =
        |start: &&usize| text.as_bytes().get(..**start).is_some_and(|before| before.ends_with(b"\r\n"));
    starts.filter(has_crlf).count()
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_newline_or_crlf() {
        let cases: &[(&str, &[&str])] = &[
            ("", &[""]),
            ("a", &["a"]),
            ("a\n", &["a", ""]),
            ("a\r\nb\rc\n\nd", &["a", "b\rc", "", "d"]),
            ("a\r", &["a\r"]),
        ];
        for (text, expected) in cases {
            let text = Text::new((*text).into());
            assert_eq!((0..text.lines()).map(|line| text.line(line)).collect::<Vec<_>>(), *expected);
            assert_eq!(text.line(99), "");
        }
    }

    #[test]
    fn line_ends_follow_the_text() {
        let cases = [
            ("no line end", "a", LineEnds::Lf),
            ("Unix line ends", "a\nb\n", LineEnds::Lf),
            ("Windows line ends", "a\r\n\r\nb", LineEnds::CrLf),
            ("both", "a\r\nb\n", LineEnds::Mixed),
            ("a carriage return alone", "a\rb\n", LineEnds::Lf),
        ];
        for (name, text, expected) in cases {
            assert_eq!(Text::new(text.into()).line_ends(), expected, "{name}");
        }
        let mut text = Text::new("a\r\nb\n".into());
        text.replace(1..3, "");
        assert_eq!(text.line_ends(), LineEnds::Lf);
        text.replace(2..3, "\r\n");
        assert_eq!(text.line_ends(), LineEnds::CrLf);
    }

    #[test]
    fn positions_match_those_of_the_protocol() {
        for content in ["h\u{e9}llo\r\n\u{1f980}x\n\nend", "", "\n"] {
            let text = Text::new(content.into());
            for byte in (0..=content.len()).filter(|byte| content.is_char_boundary(*byte)) {
                if content.get(..byte).unwrap().ends_with('\r') {
                    continue;
                }
                assert_eq!(
                    text.position(byte),
                    Position::from_byte_offset(content, byte),
                    "{content:?} {byte}"
                );
            }
        }
    }

    #[test]
    fn next_and_previous_step_over_characters() {
        let text = Text::new("ae\u{301}\r\n\u{1f980}".into());
        let stops = [0, 1, 4, 6, 10];
        for pair in stops.windows(2) {
            assert_eq!(text.next(pair[0]), pair[1]);
            assert_eq!(text.previous(pair[1]), pair[0]);
        }
        assert_eq!((text.next(10), text.previous(0)), (10, 0));
    }

    #[test]
    fn replacement_moves_the_lines() {
        let mut text = Text::new("one\ntwo\n".into());
        text.replace(2..5, "X\nY\nZ");
        assert_eq!((text.as_str(), text.lines(), text.line(2)), ("onX\nY\nZwo\n", 4, "Zwo"));
        text.replace(5..99, "nothing");
        assert_eq!(text.as_str(), "onX\nY\nZwo\n");
    }

    #[test]
    fn any_replacement_has_the_lines_of_a_new_text() {
        arbtest::arbtest(|u| {
            let part = |u: &mut arbitrary::Unstructured<'_>| -> arbitrary::Result<String> {
                let parts = ["a", "\r", "\n", "\r\n", "\u{e9}"];
                (0..u.int_in_range(0..=4)?).map(|_| Ok(*u.choose(&parts)?)).collect()
            };
            let mut text = Text::new(part(u)? + &part(u)?);
            for _ in 0..4 {
                let (one, other) = (u.int_in_range(0..=text.len())?, u.int_in_range(0..=text.len())?);
                text.replace(one.min(other)..one.max(other), &part(u)?);
                assert_eq!(text, Text::new(text.as_str().into()));
            }
            Ok(())
        });
    }
}
