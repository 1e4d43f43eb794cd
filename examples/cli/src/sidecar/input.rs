//! The lines of standard input, in bounded memory.

use std::io::{self, BufRead, ErrorKind, Read as _};

/// An entry of standard input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line that is not blank, without its line feed.
    Text(Vec<u8>),
    /// A line that is too long. Its bytes were dropped.
    TooLong,
    /// The end, with the reason.
    End(String),
}

/// The lines of a reader, which are numbered from 1.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    number: u64,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    /// Creates the lines of a reader, which have at most `longest` bytes.
    pub(crate) const fn new(reader: R, longest: usize) -> Self {
        Self { reader, number: 0, longest }
    }

    /// Reads the next line that is not blank, and returns its number.
    pub(crate) fn next(&mut self) -> (u64, Line) {
        loop {
            self.number = self.number.saturating_add(1);
            match self.read() {
                Ok(Line::Text(text)) if text.trim_ascii().is_empty() => {}
                Ok(line) => return (self.number, line),
                Err(error) => {
                    return (self.number, Line::End(format!("standard input cannot be read: {error}")));
                }
            }
        }
    }

    fn read(&mut self) -> io::Result<Line> {
        let mut text = Vec::new();
        // A line feed, and one byte by which a longer line is noticed.
        let most = u64::try_from(self.longest).unwrap_or(u64::MAX).saturating_add(1);
        self.reader.by_ref().take(most).read_until(b'\n', &mut text)?;
        if text.last() == Some(&b'\n') {
            text.pop();
        } else if text.len() > self.longest {
            drop(text);
            self.skip_line()?;
            return Ok(Line::TooLong);
        } else if text.is_empty() {
            return Ok(Line::End("end of standard input".into()));
        }
        Ok(Line::Text(text))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let held = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                held => held?,
            };
            let end = held.iter().position(|byte| *byte == b'\n');
            let n = end.map_or(held.len(), |end| end.saturating_add(1));
            self.reader.consume(n);
            if end.is_some() || n == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_are_numbered_and_bounded() {
        let text = |text: &str| Line::Text(text.into());
        let end = || Line::End("end of standard input".into());
        let rows: &[(&str, &str, &[(u64, Line)])] = &[
            ("nothing", "", &[(1, end())]),
            ("blank lines", "\n \r\na\n", &[(3, text("a")), (4, end())]),
            ("the longest line", "12345678\nb", &[(1, text("12345678")), (2, text("b")), (3, end())]),
            ("a longer line", "123456789\nb\n", &[(1, Line::TooLong), (2, text("b")), (3, end())]),
            ("a longer line at the end", "1234567890", &[(1, Line::TooLong), (2, end())]),
            ("the longest line at the end", "12345678", &[(1, text("12345678")), (2, end())]),
        ];
        for (name, input, expected) in rows {
            for size in [1, 3, 64] {
                let mut lines = Lines::new(BufReader::with_capacity(size, input.as_bytes()), 8);
                for line in *expected {
                    assert_eq!(lines.next(), *line, "{name}, reads of {size}");
                }
            }
        }
    }
}
