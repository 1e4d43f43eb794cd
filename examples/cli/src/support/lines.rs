//! The lines of a pipe, one message each.

use std::{fmt, io};

/// The maximum length of a line in bytes, the same as the limit of a message in the WebSocket
/// layer.
const LONGEST_LINE: usize = 64 << 20;

/// The size of a read: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// The bytes that were read, and the position in them.
#[derive(Debug, Default)]
pub(crate) struct LinesIn {
    buf: Vec<u8>,
    /// The beginning of the next line, and the position up to which no line feed follows it.
    start: usize,
    searched: usize,
    ended: bool,
}

/// The reason why the input cannot be read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A line is not UTF-8.
    NotUtf8,
    /// A line is longer than 64 MiB.
    TooLong,
}

impl LinesIn {
    /// Takes the bytes of one read; no bytes mean the end of the input.
    ///
    /// # Errors
    /// Every error of the read.
    pub(crate) fn read(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
        // The caller has received all lines before `start`.
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

    /// Returns the next complete line that is not blank; at the end of the input also a line
    /// without a line feed.
    ///
    /// # Errors
    /// If the line is not UTF-8, or too long.
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

    /// Returns true after the end of the input.
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

    /// Returns the lines of these reads, and the fault at the end, if any.
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
    fn lines_do_not_depend_on_the_reads() {
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
