//! Reads lines in bounded memory.

use std::fmt;
use std::io::{self, BufRead, ErrorKind, Read as _};

/// The lines of a reader that are not blank. A line that cannot be used is an item too, and the reading goes on after
/// it.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    longest: usize,
    /// The number of lines that have been begun.
    number: u64,
    /// True within a line that is too long.
    is_within: bool,
}

/// A line that is not blank.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// The number of the line, from 1.
    pub(crate) number: u64,
    /// The text without its line feed.
    pub(crate) text: Result<String, BadLine>,
}

/// Why a line cannot be used, as a predicate: the caller adds the subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BadLine {
    /// The text with U+FFFD in place of the bytes that are not UTF-8.
    NotUtf8(String),
    /// The line has more than this number of bytes.
    TooLong(usize),
}

impl<R: BufRead> Lines<R> {
    /// Creates the lines of a reader. Lines of more than `longest` bytes are reported as too long.
    pub(crate) const fn new(reader: R, longest: usize) -> Self {
        Self { reader, longest, number: 0, is_within: false }
    }

    /// Reads a line; `None` at the end of the input.
    fn read(&mut self) -> io::Result<Option<Line>> {
        self.skip_rest()?;
        self.number = self.number.saturating_add(1);
        let number = self.number;
        let mut text = Vec::new();
        // A line feed, and one byte that shows that the line is longer.
        let most = u64::try_from(self.longest).unwrap_or(u64::MAX).saturating_add(1);
        if self.reader.by_ref().take(most).read_until(b'\n', &mut text)? == 0 {
            return Ok(None);
        }
        if text.last() == Some(&b'\n') {
            text.pop();
        } else if text.len() > self.longest {
            self.is_within = true;
            return Ok(Some(Line { number, text: Err(BadLine::TooLong(self.longest)) }));
        }
        let text = String::from_utf8(text)
            .map_err(|error| BadLine::NotUtf8(String::from_utf8_lossy(error.as_bytes()).into_owned()));
        Ok(Some(Line { number, text }))
    }

    /// Skips the rest of a line that is too long, and was reported already.
    fn skip_rest(&mut self) -> io::Result<()> {
        while self.is_within {
            let held = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                held => held?,
            };
            let end = held.iter().position(|byte| *byte == b'\n');
            let n = end.map_or(held.len(), |end| end.saturating_add(1));
            self.is_within = end.is_none() && n > 0;
            self.reader.consume(n);
        }
        Ok(())
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<io::Result<Line>> {
        loop {
            match self.read().transpose()? {
                Ok(Line { text: Ok(text), .. }) if text.trim_ascii().is_empty() => {}
                line => return Some(line),
            }
        }
    }
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8(_) => f.write_str("is not UTF-8"),
            Self::TooLong(most) => write!(f, "has more than {most} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_numbered_and_bounded() {
        const TOO_LONG: Result<&str, BadLine> = Err(BadLine::TooLong(8));
        let not_utf8 = || Err(BadLine::NotUtf8("\u{fffd}c".into()));
        let rows: &[(&str, &[u8], &[(u64, Result<&str, BadLine>)])] = &[
            ("nothing", b"", &[]),
            ("lines", b"a\nb\n", &[(1, Ok("a")), (2, Ok("b"))]),
            ("no line feed at the end", b"a\nb", &[(1, Ok("a")), (2, Ok("b"))]),
            ("blank lines", b"\n\r\n a\r\n  \n", &[(3, Ok(" a\r"))]),
            (
                "characters of several bytes",
                "\u{e9}\u{1f980}\n\u{e9}".as_bytes(),
                &[(1, Ok("\u{e9}\u{1f980}")), (2, Ok("\u{e9}"))],
            ),
            ("not UTF-8", b"a\n\xffc\nb", &[(1, Ok("a")), (2, not_utf8()), (3, Ok("b"))]),
            ("the longest line", b"12345678\nb", &[(1, Ok("12345678")), (2, Ok("b"))]),
            ("the longest line at the end", b"12345678", &[(1, Ok("12345678"))]),
            ("longer lines", b"123456789\n1234567890\nb\n", &[(1, TOO_LONG), (2, TOO_LONG), (3, Ok("b"))]),
            ("a longer line at the end", b"1234567890", &[(1, TOO_LONG)]),
            ("a longer line that is not UTF-8", b"\xff23456789\nb", &[(1, TOO_LONG), (2, Ok("b"))]),
        ];
        for (name, input, expected) in rows {
            for size in [1, 3, 64] {
                let lines = Lines::new(BufReader::with_capacity(size, *input), 8);
                let lines: Vec<Line> = lines.map(Result::unwrap).collect();
                let found: Vec<_> = lines
                    .iter()
                    .map(|line| (line.number, line.text.as_deref().map_err(BadLine::clone)))
                    .collect();
                assert_eq!(found, *expected, "{name}, reads of {size}");
            }
        }
    }

    #[test]
    fn long_line_is_reported_before_its_end() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("it broke"))
            }
        }
        let mut lines = Lines::new(BufReader::new(b"123456789".chain(Broken)), 8);
        assert_eq!(lines.next().unwrap().unwrap().text, Err(BadLine::TooLong(8)));
        assert_eq!(lines.next().unwrap().unwrap_err().to_string(), "it broke");
    }
}
