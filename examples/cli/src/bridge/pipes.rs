//! Standard input and output, and signals: what their threads have to say is put into a queue, and the loop is woken.

use crate::support::{Input, LINES, PipeWriter, on_signal, read_lines};
use ide_mcp::mcp::Lines;
use ide_mcp_mio::Waker;
use std::io;
use std::sync::mpsc::{self, Receiver};

/// Something that concerns the end of the program.
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
        // Bounded, so that a client that writes without end waits.
        let (lines, input) = mpsc::sync_channel(LINES);
        let (noting, notes) = mpsc::channel();
        let (signalled, signal_waker) = (noting.clone(), waker.clone());
        on_signal(move || signalled.send(Note::Signal).is_ok() && signal_waker.wake().is_ok())?;
        let line_waker = waker.clone();
        read_lines(io::stdin(), move |input| lines.send(input).is_ok() && line_waker.wake().is_ok());
        let write_waker = waker.clone();
        let tell = move |written| noting.send(Note::Written(written)).is_ok() && write_waker.wake().is_ok();
        Ok(Self { input, notes, output: PipeWriter::new(io::stdout(), tell), is_signalled: false })
    }

    /// The next line, if one waits.
    pub(crate) fn next(&self) -> Option<Input> {
        self.input.try_recv().ok()
    }

    /// Writes on, and takes note of what was written.
    pub(crate) fn write(&mut self, out: &mut Lines) {
        for note in self.notes.try_iter() {
            match note {
                Note::Written(written) => self.output.written(written, out),
                Note::Signal => self.is_signalled = true,
            }
        }
        self.output.write(out);
    }

    /// Nobody reads what is written.
    pub(crate) const fn is_broken(&self) -> bool {
        self.output.broken().is_some()
    }

    /// Somebody asked for the end.
    pub(crate) const fn is_signalled(&self) -> bool {
        self.is_signalled
    }
}
