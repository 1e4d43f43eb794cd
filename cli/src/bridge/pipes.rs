//! Standard input and output, and signals. Their threads queue messages and wake the loop.

use crate::support::{Input, LINES, Lines, PipeWriter, on_signal, read_lines};
use ide_mcp::mcp;
use ide_mcp_mio::Waker;
use std::io::{self, BufReader};
use std::sync::mpsc::{self, Receiver};

/// The maximum length of a line in bytes, the same as the limit of a message in the WebSocket
/// layer.
const LONGEST_LINE: usize = 64 << 20;

/// The end of a write, or a signal.
#[derive(Debug)]
enum Note {
    Written(io::Result<usize>),
    Signal,
}

#[derive(Debug)]
pub(crate) struct Pipes {
    input: Receiver<Input>,
    notes: Receiver<Note>,
    output: PipeWriter,
    is_signalled: bool,
}

impl Pipes {
    pub(crate) fn new(waker: &Waker) -> io::Result<Self> {
        // Bounded, so that a client that never stops writing must wait.
        let (lines, input) = mpsc::sync_channel(LINES);
        let (noting, notes) = mpsc::channel();
        let (signalled, signal_waker) = (noting.clone(), waker.clone());
        on_signal(move || signalled.send(Note::Signal).is_ok() && signal_waker.wake().is_ok())?;
        let line_waker = waker.clone();
        let of_client = Lines::new(BufReader::new(io::stdin()), LONGEST_LINE);
        read_lines(of_client, move |input| lines.send(input).is_ok() && line_waker.wake().is_ok());
        let write_waker = waker.clone();
        let on_written =
            move |written| noting.send(Note::Written(written)).is_ok() && write_waker.wake().is_ok();
        Ok(Self { input, notes, output: PipeWriter::new(io::stdout(), on_written), is_signalled: false })
    }

    /// Returns the next line, if there is one.
    pub(crate) fn next(&self) -> Option<Input> {
        self.input.try_recv().ok()
    }

    /// Handles finished writes and signals, and writes the next chunk.
    pub(crate) fn write(&mut self, out: &mut mcp::Lines) {
        for note in self.notes.try_iter() {
            match note {
                Note::Written(written) => self.output.written(written, out),
                Note::Signal => self.is_signalled = true,
            }
        }
        self.output.write(out);
    }

    /// Returns true if nobody reads the output any more.
    pub(crate) const fn is_broken(&self) -> bool {
        self.output.broken().is_some()
    }

    /// Returns true if a signal has requested the end.
    pub(crate) const fn is_signalled(&self) -> bool {
        self.is_signalled
    }
}
