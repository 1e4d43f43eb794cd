//! Lines over pipes without waiting for either of them: a thread waits for each, since no poll of every system can.

use crate::support::lines::LinesIn;
use ide_mcp::mcp::Lines;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// How many lines may wait to be looked at: the pipe behind them is what holds the peer back.
pub(crate) const LINES: usize = 64;

/// How much is written at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Something that came over a pipe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line that is not blank, without its end.
    Line(String),
    /// Nothing comes any more.
    End,
    /// It cannot be read on, and why.
    Fault(String),
}

/// Hands over all lines of a pipe and then its end or a fault, on a thread of its own, until `put` says false.
pub(crate) fn read_lines(
    mut pipe: impl Read + Send + 'static,
    mut put: impl FnMut(Input) -> bool + Send + 'static,
) {
    thread::spawn(move || {
        let mut input = LinesIn::default();
        let last = loop {
            match input.next_line() {
                Ok(Some(line)) => {
                    if !put(Input::Line(line.to_owned())) {
                        return;
                    }
                    continue;
                }
                Ok(None) => {}
                Err(fault) => break Input::Fault(fault.to_string()),
            }
            if input.has_ended() {
                break Input::End;
            }
            match input.read(|buf| pipe.read(buf)) {
                Err(error) if error.kind() != ErrorKind::Interrupted => {
                    break Input::Fault(error.to_string());
                }
                _ => {}
            }
        };
        put(last);
    });
}

/// The other end: what waits in a [`Lines`], chunk by chunk to a thread that writes it.
///
/// Dropped, it closes the pipe, once the chunk is written that is under way.
#[derive(Debug)]
pub(crate) struct PipeWriter {
    chunks: Sender<Vec<u8>>,
    /// A chunk is under way.
    is_writing: bool,
    broken: Option<io::Error>,
}

impl PipeWriter {
    /// Writes to this pipe. `tell` gets what became of each chunk, on the thread, for [`written`](Self::written); it says
    /// false where nobody wants to know.
    pub(crate) fn new(
        mut pipe: impl Write + Send + 'static,
        mut tell: impl FnMut(io::Result<usize>) -> bool + Send + 'static,
    ) -> Self {
        let (chunks, waiting) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            for chunk in waiting {
                let written = pipe.write_all(&chunk).and_then(|()| pipe.flush()).map(|()| chunk.len());
                if !tell(written) {
                    return;
                }
            }
        });
        Self { chunks, is_writing: false, broken: None }
    }

    /// Has the next chunk written, unless one is under way.
    pub(crate) fn write(&mut self, out: &Lines) {
        let waiting = out.outgoing();
        if !self.is_writing && self.broken.is_none() && !waiting.is_empty() {
            let chunk = waiting.get(..CHUNK).unwrap_or(waiting).to_vec();
            self.is_writing = self.chunks.send(chunk).is_ok();
        }
    }

    /// Takes note of what became of a chunk, and goes on.
    pub(crate) fn written(&mut self, written: io::Result<usize>, out: &mut Lines) {
        self.is_writing = false;
        match written {
            Ok(n) => out.sent(n),
            Err(error) => self.broken = Some(error),
        }
        self.write(out);
    }

    /// Why nothing can be written any more; nobody reads, most likely.
    pub(crate) const fn broken(&self) -> Option<&io::Error> {
        self.broken.as_ref()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use ide_mcp::{Outbox as _, To};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn lines_come_in_order_and_then_the_end_or_what_is_wrong() {
        let not_utf8 = Input::Fault("a line came that is not UTF-8".into());
        let cases: [(&str, &[u8], Vec<Input>); 3] = [
            ("nothing", b"", vec![Input::End]),
            ("lines", b"a\n\nb", vec![Input::Line("a".into()), Input::Line("b".into()), Input::End]),
            ("no text", b"a\n\xff\nb\n", vec![Input::Line("a".into()), not_utf8]),
        ];
        for (name, bytes, expected) in cases {
            let (put, got) = sync_channel(1);
            read_lines(bytes, move |input| put.send(input).is_ok());
            assert_eq!(got.iter().collect::<Vec<_>>(), expected, "{name}");
        }
    }

    #[test]
    fn what_waits_is_written_in_order_and_the_end_is_an_end() {
        let (mut reader, pipe) = UnixStream::pair().unwrap();
        let (told, notes) = mpsc::channel();
        let mut writer = PipeWriter::new(pipe, move |written| told.send(written).is_ok());
        let mut out = Lines::default();
        // Neither fits into one chunk.
        for letter in [b'a', b'b'] {
            out.message(To::Unasked, |buf| buf.resize(buf.len() + 100_000, letter)).unwrap();
        }
        writer.write(&out);
        writer.write(&out);
        let reads = thread::spawn(move || {
            let mut text = Vec::new();
            reader.read_to_end(&mut text).map(|_| text)
        });
        while !out.outgoing().is_empty() {
            writer.written(notes.recv().unwrap(), &mut out);
        }
        drop(writer);
        let text = reads.join().unwrap().unwrap();
        let expected = format!("{}\n{}\n", "a".repeat(100_000), "b".repeat(100_000));
        assert!(text == expected.into_bytes(), "{} bytes", text.len());
    }

    #[test]
    fn where_nobody_reads_nothing_more_is_written() {
        let (reader, pipe) = UnixStream::pair().unwrap();
        drop(reader);
        let (told, notes) = mpsc::channel();
        let mut writer = PipeWriter::new(pipe, move |written| told.send(written).is_ok());
        let mut out = Lines::default();
        out.message(To::Unasked, |buf| buf.push(b'x')).unwrap();
        writer.write(&out);
        assert!(writer.broken().is_none());
        writer.written(notes.recv().unwrap(), &mut out);
        assert_eq!(writer.broken().unwrap().kind(), ErrorKind::BrokenPipe);
        writer.write(&out);
        assert!(!writer.is_writing && out.outgoing() == b"x\n");
    }
}
