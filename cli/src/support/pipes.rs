//! Lines over pipes without blocking: a thread waits for each pipe, since not every system can poll
//! them.

use super::lines::{Line, Lines};
use ide_mcp::mcp;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// The maximum number of lines in the queue. A full queue fills the pipe, and so stops the peer.
pub(crate) const LINES: usize = 64;

/// The size of a write: the capacity of a pipe.
const CHUNK: usize = 64 * 1024;

/// An event of standard input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Line(Line),
    /// The end of standard input.
    End,
    /// Why standard input cannot be read any more.
    Fault(String),
}

/// Why a program ends at [`Input::End`].
pub(crate) const END_OF_INPUT: &str = "end of standard input";

/// Passes all lines of standard input to `put`, and then the end or a fault, on a thread of its own. Stops
/// when `put` returns false.
pub(crate) fn read_lines(
    lines: Lines<impl BufRead + Send + 'static>,
    mut put: impl FnMut(Input) -> bool + Send + 'static,
) {
    thread::spawn(move || {
        for line in lines {
            let (input, is_last) = match line {
                Ok(line) => (Input::Line(line), false),
                Err(error) => (Input::Fault(format!("standard input cannot be read: {error}")), true),
            };
            if !put(input) || is_last {
                return;
            }
        }
        put(Input::End);
    });
}

/// The writing end: passes the contents of a [`mcp::Lines`] in chunks to a thread that writes them.
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
    pub(crate) fn write(&mut self, out: &mcp::Lines) {
        let waiting = out.outgoing();
        if !self.is_writing && self.broken.is_none() && !waiting.is_empty() {
            let chunk = waiting.get(..CHUNK).unwrap_or(waiting).to_vec();
            self.is_writing = self.chunks.send(chunk).is_ok();
        }
    }

    /// Handles the result of a chunk, and passes the next one.
    pub(crate) fn written(&mut self, written: io::Result<usize>, out: &mut mcp::Lines) {
        self.is_writing = false;
        match written {
            Ok(n) => out.written(n),
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
    use std::io::{BufReader, ErrorKind, Read};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::sync_channel;

    #[test]
    fn lines_are_followed_by_end_or_fault() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("it broke"))
            }
        }
        let fault = Input::Fault("standard input cannot be read: it broke".into());
        let cases: [(&str, Box<dyn Read + Send>, Vec<Input>); 3] = [
            ("nothing", Box::new(&b""[..]), vec![Input::End]),
            ("lines", Box::new(&b"a\n\nb"[..]), vec![line(1, "a"), line(3, "b"), Input::End]),
            ("a fault", Box::new(b"a\nb".chain(Broken)), vec![line(1, "a"), fault]),
        ];
        for (name, pipe, expected) in cases {
            let (put, got) = sync_channel(1);
            read_lines(Lines::new(BufReader::new(pipe), 8), move |input| put.send(input).is_ok());
            assert_eq!(got.iter().collect::<Vec<_>>(), expected, "{name}");
        }
    }

    fn line(number: u64, text: &str) -> Input {
        Input::Line(Line { number, text: Ok(text.into()) })
    }

    #[test]
    fn chunks_are_written_in_order_until_dropped() {
        let (mut reader, pipe) = UnixStream::pair().unwrap();
        let (results, notes) = mpsc::channel();
        let mut writer = PipeWriter::new(pipe, move |written| results.send(written).is_ok());
        let mut out = mcp::Lines::default();
        // Neither message fits into one chunk.
        for letter in [b'a', b'b'] {
            out.message(To::Unsolicited, |buf| buf.resize(buf.len() + 100_000, letter)).unwrap();
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
        let mut out = mcp::Lines::default();
        out.message(To::Unsolicited, |buf| buf.push(b'x')).unwrap();
        writer.write(&out);
        assert!(writer.broken().is_none());
        writer.written(notes.recv().unwrap(), &mut out);
        assert_eq!(writer.broken().unwrap().kind(), ErrorKind::BrokenPipe);
        writer.write(&out);
        assert!(!writer.is_writing && out.outgoing() == b"x\n");
    }
}
