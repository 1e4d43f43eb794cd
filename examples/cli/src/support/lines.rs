//! The lines of a pipe, one message each.

use std::{fmt, io};

/// The longest line that is taken, in bytes: what the WebSocket layer takes as a message.
const LONGEST_LINE: usize = 64 << 20;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// What was read and not looked at.
#[derive(Debug, Default)]
pub(crate) struct LinesIn {
    buf: Vec<u8>,
    /// Where the next line begins, and how far behind that there is no line feed.
    start: usize,
    searched: usize,
    ended: bool,
}

/// Why the input cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line is not UTF-8.
    NotUtf8,
    /// A line is longer than 64 MiB.
    TooLong,
}

impl LinesIn {
    /// Takes what one read gives; nothing is the end.
    ///
    /// # Errors
    /// Whatever the read reports.
    pub(crate) fn read(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
        // All lines in front of `start` have been handed over.
        self.buf.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        let held = self.buf.len();
        self.buf.resize(held.saturating_add(CHUNK), 0);
        let read = read(self.buf.get_mut(held..).unwrap_or_default());
        self.buf.truncate(held.saturating_add(*read.as_ref().unwrap_or(&0)));
        self.ended = read? == 0;
        Ok(())
    }

    /// The next whole line that is not blank; at the end of the input also one without a line feed.
    ///
    /// # Errors
    /// If it is not UTF-8, or too long.
    pub(crate) fn next_line(&mut self) -> Result<Option<&str>, Fault> {
        let (from, to) = loop {
            let unsearched = self.buf.get(self.searched..).unwrap_or_default();
            let end =
                unsearched.iter().position(|byte| *byte == b'\n').map(|at| self.searched.saturating_add(at));
            let (from, to) = (self.start, end.unwrap_or(self.buf.len()));
            if to.saturating_sub(from) > LONGEST_LINE {
                return Err(Fault::TooLong);
            }
            self.searched = end.map_or(to, |end| end.saturating_add(1));
            if end.is_none() && !self.ended {
                return Ok(None);
            }
            self.start = self.searched;
            if !self.buf.get(from..to).unwrap_or_default().trim_ascii().is_empty() {
                break (from, to);
            }
            if end.is_none() {
                return Ok(None);
            }
        };
        let line = self.buf.get(from..to).unwrap_or_default();
        std::str::from_utf8(line).map(Some).map_err(|_| Fault::NotUtf8)
    }

    /// Nothing will come any more.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 => f.write_str("a line came that is not UTF-8"),
            Self::TooLong => write!(f, "a line came that is longer than {LONGEST_LINE} bytes"),
        }
    }
}

impl std::error::Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of these reads, and how they end.
    fn lines(reads: &[&[u8]]) -> (Vec<String>, Option<Fault>) {
        let (mut input, mut lines) = (LinesIn::default(), Vec::new());
        for bytes in reads.iter().copied().chain([&b""[..]]) {
            let read = |into: &mut [u8]| {
                into[..bytes.len()].copy_from_slice(bytes);
                Ok(bytes.len())
            };
            input.read(read).unwrap();
            loop {
                match input.next_line() {
                    Ok(Some(line)) => lines.push(line.to_owned()),
                    Ok(None) => break,
                    Err(fault) => return (lines, Some(fault)),
                }
            }
        }
        assert!(input.has_ended());
        (lines, None)
    }

    #[test]
    fn lines_are_the_same_however_they_are_cut() {
        let cases: &[(&str, &str, &[&str])] = &[
            ("nothing", "", &[]),
            ("lines", "a\nb\n", &["a", "b"]),
            ("no line feed at the end", "a\nb", &["a", "b"]),
            ("blank ones", "\n\r\n a\r\n  \n", &[" a\r"]),
            ("many bytes", "\u{e9}\u{1f980}\n\u{e9}", &["\u{e9}\u{1f980}", "\u{e9}"]),
        ];
        for (name, text, want) in cases {
            let bytewise: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            let pairs: Vec<&[u8]> = text.as_bytes().chunks(2).collect();
            for reads in [&bytewise, &pairs] {
                let (got, fault) = lines(reads);
                assert_eq!((got, fault), (want.iter().map(|line| (*line).into()).collect(), None), "{name}");
            }
        }
        assert_eq!(lines(&[b"a\n", b"\xff\n"]), (vec!["a".into()], Some(Fault::NotUtf8)));
    }
}
