//! Lines over pipes without blocking: a thread waits for each pipe, since not every system can poll
//! them.

use crate::support::lines::LinesIn;
use ide_mcp::mcp::Lines;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// The maximum number of lines in the queue. A full queue fills the pipe, and so stops the peer.
pub(crate) const LINES: usize = 64;

/// The size of a write: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// An event of a pipe.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A line that is not blank, without its line feed.
    Line(String),
    /// The end of the input.
    End,
    /// The reason why the input cannot be read any more.
    Fault(String),
}

/// Passes all lines of a pipe to `put`, and then the end or a fault, on a thread of its own. Stops
/// when `put` returns false.
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

/// The writing end: passes the contents of a [`Lines`] in chunks to a thread that writes them.
///
/// Dropping it closes the pipe, after the current chunk is written.
#[derive(Debug)]
pub(crate) struct PipeWriter {
    chunks: Sender<Vec<u8>>,
    /// True while the thread writes a chunk.
    is_writing: bool,
    broken: Option<io::Error>,
}

impl PipeWriter {
    /// Creates a writer to this pipe. The thread calls `on_written` with the result of each chunk, for
    /// [`written`](Self::written); `on_written` returns false to end the thread.
    pub(crate) fn new(
        mut pipe: impl Write + Send + 'static,
        mut on_written: impl FnMut(io::Result<usize>) -> bool + Send + 'static,
    ) -> Self {
        let (chunks, waiting) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            for chunk in waiting {
                let written = pipe.write_all(&chunk).and_then(|()| pipe.flush()).map(|()| chunk.len());
                if !on_written(written) {
                    return;
                }
            }
        });
        Self { chunks, is_writing: false, broken: None }
    }

    /// Passes the next chunk to the thread, unless the thread is writing one.
    pub(crate) fn write(&mut self, out: &Lines) {
        let waiting = out.outgoing();
        if !self.is_writing && self.broken.is_none() && !waiting.is_empty() {
            let chunk = waiting.get(..CHUNK).unwrap_or(waiting).to_vec();
            self.is_writing = self.chunks.send(chunk).is_ok();
        }
    }

    /// Handles the result of a chunk, and passes the next one.
    pub(crate) fn written(&mut self, written: io::Result<usize>, out: &mut Lines) {
        self.is_writing = false;
        match written {
            Ok(n) => out.sent(n),
            Err(error) => self.broken = Some(error),
        }
        self.write(out);
    }

    /// Returns the error that ended the writing, most often a pipe without a reader.
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
    fn lines_are_followed_by_end_or_fault() {
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
    fn chunks_are_written_in_order_until_dropped() {
        let (mut reader, pipe) = UnixStream::pair().unwrap();
        let (results, notes) = mpsc::channel();
        let mut writer = PipeWriter::new(pipe, move |written| results.send(written).is_ok());
        let mut out = Lines::default();
        // Neither message fits into one chunk.
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
    fn broken_pipe_stops_the_writer() {
        let (reader, pipe) = UnixStream::pair().unwrap();
        drop(reader);
        let (results, notes) = mpsc::channel();
        let mut writer = PipeWriter::new(pipe, move |written| results.send(written).is_ok());
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
