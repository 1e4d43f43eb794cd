//! Standard input and output, and signals. A thread waits for each of them, since no poll of every system can; what comes
//! is put into a queue, and the loop is woken.

use ide_mcp_examples::{LinesIn, LinesOut, on_signal};
use ide_mcp_mio::Waker;
use std::io::{self, Read as _, Write as _};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;

/// How many lines may wait to be looked at: the pipe behind them is what holds the client back.
const QUEUE: usize = 64;

/// How much is written at once: what a pipe holds.
const CHUNK: usize = 64 * 1024;

/// Something that came on standard input.
#[derive(Debug)]
pub(crate) enum Input {
    Line(String),
    End,
    /// It cannot be read on.
    Fault(String),
}

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
    output: Sender<Vec<u8>>,
    /// Something is being written.
    is_writing: bool,
    /// Nobody reads any more.
    is_broken: bool,
    is_signalled: bool,
}

impl Pipes {
    pub(crate) fn new(waker: &Waker) -> io::Result<Self> {
        // Bounded, so that a client that writes without end waits.
        let (lines, input) = mpsc::sync_channel(QUEUE);
        let (noting, notes) = mpsc::channel();
        let (output, chunks) = mpsc::channel();
        let (signalled, signal_waker) = (noting.clone(), waker.clone());
        on_signal(move || signalled.send(Note::Signal).is_ok() && signal_waker.wake().is_ok())?;
        let line_waker = waker.clone();
        thread::spawn(move || read(&lines, &line_waker));
        let write_waker = waker.clone();
        thread::spawn(move || write(&chunks, &noting, &write_waker));
        Ok(Self { input, notes, output, is_writing: false, is_broken: false, is_signalled: false })
    }

    /// The next line, if one waits.
    pub(crate) fn next(&self) -> Option<Input> {
        self.input.try_recv().ok()
    }

    /// Writes on, and takes note of what was written.
    pub(crate) fn write(&mut self, out: &mut LinesOut) {
        for note in self.notes.try_iter() {
            match note {
                Note::Written(Ok(n)) => {
                    self.is_writing = false;
                    out.sent(n);
                }
                Note::Written(Err(_)) => self.is_broken = true,
                Note::Signal => self.is_signalled = true,
            }
        }
        if !self.is_writing && !self.is_broken && !out.waiting().is_empty() {
            let waiting = out.waiting();
            let chunk = waiting.get(..CHUNK).unwrap_or(waiting).to_vec();
            self.is_writing = self.output.send(chunk).is_ok();
        }
    }

    /// Nobody reads what is written.
    pub(crate) const fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Somebody asked for the end.
    pub(crate) const fn is_signalled(&self) -> bool {
        self.is_signalled
    }
}

fn read(lines: &SyncSender<Input>, waker: &Waker) {
    let mut input = LinesIn::default();
    let put = |what| lines.send(what).is_ok() && waker.wake().is_ok();
    loop {
        match input.next_line() {
            Ok(Some(line)) => {
                if !put(Input::Line(line.to_owned())) {
                    return;
                }
                continue;
            }
            Ok(None) => {}
            Err(fault) => {
                put(Input::Fault(fault.to_string()));
                return;
            }
        }
        if input.has_ended() {
            put(Input::End);
            return;
        }
        match input.read(|buf| io::stdin().read(buf)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                put(Input::Fault(error.to_string()));
                return;
            }
            _ => {}
        }
    }
}

fn write(chunks: &Receiver<Vec<u8>>, notes: &Sender<Note>, waker: &Waker) {
    for chunk in chunks {
        let mut out = io::stdout().lock();
        let written = out.write_all(&chunk).and_then(|()| out.flush()).map(|()| chunk.len());
        if notes.send(Note::Written(written)).is_err() || waker.wake().is_err() {
            return;
        }
    }
}
