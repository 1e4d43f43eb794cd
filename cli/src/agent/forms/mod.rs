//! Forms of the editor for the person at the terminal.
//!
//! ```text
//!  editor ── form ──▶ Desk: one form after another ──▶ Questions: field after field
//!                       │ ▲ lines                         │ answer
//!              stderr ◀─┘ └── thread: reads the terminal  └──▶ editor
//! ```
//! The session goes on meanwhile: it answers pings, and the editor can close the form.

mod fields;
mod questions;

use ide_mcp::ide::Client;
use ide_mcp::mcp::{CallEnd, Form};
use ide_mcp::rpc::CallId;
use questions::{Next, Questions};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{QueueSelector, tcflush, tcgetpgrp};
use std::collections::VecDeque;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::mem;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;

/// The treatment of the forms of the editor.
#[derive(Debug)]
pub(crate) enum Forms {
    /// The agent declares no elicitation.
    Refused,
    /// The forms are events for the caller, who answers them.
    Events,
    /// The person at the terminal answers.
    Asked(Desk),
}

impl Forms {
    /// Returns the forms for a command at a terminal; `Refused` without a terminal.
    pub(crate) fn at_terminal() -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        let lines = if is_terminal { Lines::new().ok() } else { None };
        lines.map_or(Self::Refused, |lines| Self::Asked(Desk { open: None, waiting: VecDeque::new(), lines }))
    }
}

/// The forms of one session: one is open, the others wait.
#[derive(Debug)]
pub(crate) struct Desk {
    open: Option<(CallId, Questions)>,
    waiting: VecDeque<(CallId, Form)>,
    lines: Lines,
}

impl Desk {
    /// Returns true while a form is open.
    pub(crate) const fn is_asking(&self) -> bool {
        self.open.is_some()
    }

    /// Shows a form, or keeps it until those before it have ended. `editor` is the name of the editor,
    /// safe to display.
    pub(crate) fn add(&mut self, client: &mut Client, editor: &str, call: CallId, form: Form) {
        self.waiting.push_back((call, form));
        self.show_next(client, editor);
    }

    /// Takes the end of a form that the person has not answered. `client` is `None` if the connection
    /// has ended.
    pub(crate) fn end(&mut self, client: Option<&mut Client>, editor: &str, call: CallId, reason: &CallEnd) {
        self.waiting.retain(|(waiting, _)| *waiting != call);
        if self.open.take_if(|(open, _)| *open == call).is_some() {
            let reason = match reason {
                CallEnd::Cancelled { .. } => "the editor closed the form",
                CallEnd::Expired => "nobody answered in time; the form is closed",
                _ => "the connection ended; the form is closed",
            };
            show(&format!("\n  {reason}\n"));
            if let Some(client) = client {
                self.show_next(client, editor);
            }
        }
    }

    /// Takes a line of the person, if there is one.
    pub(crate) fn take_line(&mut self, client: &mut Client, editor: &str) {
        let Some((call, questions)) = &mut self.open else { return };
        let Some(line) = self.lines.next() else { return };
        match questions.answer(line.as_deref()) {
            Next::Ask(text) => show(&text),
            Next::Done(answer, text) => {
                // An error means that the form has just ended; its end follows as an event.
                if client.answer_form(*call, &answer).is_ok() {
                    show(&format!("  {text}\n"));
                    self.open = None;
                    self.show_next(client, editor);
                }
            }
        }
    }

    /// Tells the person that an open form ends with the session.
    pub(crate) fn leave(&self) {
        if self.is_asking() {
            show("\n  the agent ends; the form is closed\n");
        }
    }

    fn show_next(&mut self, client: &mut Client, editor: &str) {
        while self.open.is_none() {
            let Some((call, form)) = self.waiting.pop_front() else { return };
            // The system would stop a program in the background that reads the terminal.
            if !is_in_foreground() {
                let _ = client.fail(call, "the agent runs in the background");
                continue;
            }
            let (questions, text) = Questions::begin(editor, form);
            self.open = Some((call, questions));
            self.lines.forget();
            // The first two parts remove a progress line.
            show(&format!("\r\u{1b}[K{text}"));
        }
    }
}

/// Returns true if the system lets this program read the terminal. Without job control it always does.
fn is_in_foreground() -> bool {
    tcgetpgrp(io::stdin()).map_or(true, |group| group == getpgrp())
}

/// Writes a text to standard error, where the person reads it.
fn show(text: &str) {
    let mut out = io::stderr().lock();
    // Without a terminal, standard input ends too, and the form is closed.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The lines of the terminal. A thread reads a line once it is complete, and none without a question, so
/// that the other lines stay for the next program.
#[derive(Debug)]
struct Lines {
    reads: Sender<()>,
    lines: Receiver<Option<String>>,
    /// True while the thread reads a line.
    is_reading: bool,
    /// True if the thread reads this line for a form that has ended.
    is_stale: bool,
}

impl Lines {
    fn new() -> io::Result<Self> {
        let (reads, asked) = mpsc::channel();
        let (sender, lines) = mpsc::channel();
        thread::Builder::new().name("agent terminal".into()).spawn(move || {
            asked.iter().try_for_each(|()| {
                let mut line = Vec::new();
                let read = io::stdin().lock().read_until(b'\n', &mut line);
                let is_line = read.is_ok_and(|length| length > 0);
                sender.send(is_line.then(|| String::from_utf8_lossy(&line).into_owned()))
            })
        })?;
        Ok(Self { reads, lines, is_reading: false, is_stale: false })
    }

    /// Drops the input so far, which belongs to an earlier form: complete lines, and the beginning of a
    /// line, which the person could otherwise complete as the answer to the next form.
    fn forget(&mut self) {
        self.is_stale = self.is_reading;
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }

    /// Returns the next line, once it is complete: `None` in it is the end of the input.
    fn next(&mut self) -> Option<Option<String>> {
        // No read waits for a line, because the read of an ended form would take the line of the next one.
        if !self.is_reading && is_line_ready() {
            self.is_reading = self.reads.send(()).is_ok();
        }
        match self.lines.try_recv() {
            Ok(line) => {
                self.is_reading = false;
                (!mem::take(&mut self.is_stale)).then_some(line)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(None),
        }
    }
}

/// Returns true if a line, or the end of the input, can be read at once.
fn is_line_ready() -> bool {
    let stdin = io::stdin();
    let mut input = [PollFd::new(&stdin, PollFlags::IN)];
    poll(&mut input, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}
