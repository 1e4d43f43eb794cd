//! The input that does not come from sockets: lines on standard input, and signals. Each has a thread, because
//! standard input can be a file, which no poll can wait for. The threads queue their input and wake the loop.

use crate::support::{Input, Lines, on_signal, read_lines};
use ide_mcp_mio::Waker;
use std::io::{self, BufReader};
use std::sync::mpsc::{self, Receiver};

/// The maximum length of a command in bytes: a text of 16 MiB, the largest that an agent can send, with each
/// byte as an escape of 6 bytes, and 64 KiB for the other members.
const LONGEST_COMMAND: usize = 6 * (16 << 20) + (64 << 10);

#[derive(Debug)]
pub(crate) struct Notes {
    queue: Receiver<Note>,
}

#[derive(Debug)]
pub(crate) enum Note {
    /// A command, or the end of the commands: the editor ends after the commands before it.
    Input(Input),
    /// A signal: the editor ends at once.
    Signal,
}

impl Notes {
    pub(crate) fn new(waker: Waker) -> io::Result<Self> {
        let (sender, queue) = mpsc::channel();
        let put = move |note| sender.send(note).is_ok() && waker.wake().is_ok();
        let put_signal = put.clone();
        on_signal(move || put_signal(Note::Signal))?;
        let lines = Lines::new(BufReader::new(io::stdin()), LONGEST_COMMAND);
        read_lines(lines, move |input| put(Note::Input(input)));
        Ok(Self { queue })
    }

    /// Takes all input that has arrived.
    pub(crate) fn take(&self) -> impl Iterator<Item = Note> + '_ {
        self.queue.try_iter()
    }
}
