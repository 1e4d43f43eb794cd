//! Messages as lines: what comes is cut at the line feeds, what goes is an [`Outbox`] that adds them.

use ide_mcp::{Outbox, OutboxClosed, To};
use std::{fmt, io};

/// The longest line that is taken, in bytes: what the WebSocket layer takes as a message.
const LONGEST_LINE: usize = 64 << 20;

/// How much may wait to be written before nothing more is read: some large answers, or thousands of small ones.
const OUTGOING_MARK: usize = 1 << 20;

/// How much is read at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// What was read and not looked at.
#[derive(Debug, Default)]
pub struct LinesIn {
    buf: Vec<u8>,
    /// Where the next line begins, and how far behind that there is no line feed.
    start: usize,
    searched: usize,
    ended: bool,
}

/// Why the input cannot be read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
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
    pub fn read(&mut self, read: impl FnOnce(&mut [u8]) -> io::Result<usize>) -> io::Result<()> {
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
    pub fn next_line(&mut self) -> Result<Option<&str>, Fault> {
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
    #[must_use]
    pub const fn has_ended(&self) -> bool {
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

/// What waits to be written.
#[derive(Debug, Default)]
pub struct LinesOut {
    buf: Vec<u8>,
    sent: usize,
}

impl Outbox for LinesOut {
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), OutboxClosed> {
        let start = self.buf.len();
        write(&mut self.buf);
        let Some(message @ [_, ..]) = self.buf.get_mut(start..) else { return Ok(()) };
        // JSON that was written elsewhere may have line breaks between its tokens, and nowhere else.
        message.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        self.buf.push(b'\n');
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.waiting().len() >= OUTGOING_MARK
    }
}

impl LinesOut {
    /// What waits.
    #[must_use]
    pub fn waiting(&self) -> &[u8] {
        self.buf.get(self.sent..).unwrap_or_default()
    }

    /// The first `n` bytes that waited have been written.
    pub fn sent(&mut self, n: usize) {
        self.sent = self.sent.saturating_add(n).min(self.buf.len());
        // At least half of it has gone, so moving the rest costs no more than writing it did.
        if self.sent >= self.buf.len() / 2 {
            self.buf.drain(..self.sent);
            self.sent = 0;
        }
    }
}

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

    #[test]
    fn a_message_is_one_line_and_nothing_is_none() {
        let mut out = LinesOut::default();
        out.message(To::Unasked, |_| {}).unwrap();
        assert_eq!(out.waiting(), b"");
        out.message(To::Unasked, |buf| buf.extend(b"{\r\n\"a\":1\n}")).unwrap();
        out.message(To::Unasked, |buf| buf.extend(b"2")).unwrap();
        assert_eq!(out.waiting(), b"{  \"a\":1 }\n2\n");
        out.sent(11);
        assert_eq!(out.waiting(), b"2\n");
        out.sent(usize::MAX);
        assert_eq!(out.waiting(), b"");
    }

    #[test]
    fn it_is_full_from_the_mark_on() {
        let mut out = LinesOut::default();
        out.message(To::Unasked, |buf| buf.resize(OUTGOING_MARK - 2, b'x')).unwrap();
        assert!(!out.is_full());
        out.message(To::Unasked, |buf| buf.push(b'x')).unwrap();
        assert!(out.is_full());
        out.sent(2);
        assert!(!out.is_full());
    }
}
