//! Forms of the editor for the user at the terminal.
//!
//! ```text
//!  editor ── form ──▶ Desk: one form after another ──▶ Questions: field after field
//!                       │ ▲ lines                         │ answer
//!              stderr ◀─┘ └── Line: the keys              └──▶ editor
//! ```
//! The session goes on meanwhile: it answers pings, and the editor can close the form.

mod fields;
mod line;
mod questions;

use crate::support::find::is_in_foreground;
use ide_mcp::ide::Client;
use ide_mcp::mcp::{CallEnd, Form};
use ide_mcp::rpc::CallId;
use line::Line;
use questions::{Next, Questions};
use std::collections::VecDeque;
use std::io::{self, IsTerminal as _};

/// What happens to the editor's forms.
#[derive(Debug)]
pub(crate) enum Forms {
    /// The agent declares no elicitation.
    Refused,
    /// The caller gets the forms as events, and answers them.
    Events,
    /// The user at the terminal answers.
    Shown(Box<Desk>),
}

impl Forms {
    /// Returns the forms for a command at a terminal; `Refused` without a terminal.
    pub(crate) fn at_terminal() -> Self {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        if is_terminal { Self::Shown(Box::default()) } else { Self::Refused }
    }
}

/// The forms of one session: one is open, the others wait.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    open: Option<(CallId, Questions)>,
    waiting: VecDeque<(CallId, Form)>,
    line: Line,
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

    /// Handles the end of a form that the user has not answered. `client` is `None` if the connection has ended.
    pub(crate) fn end(&mut self, client: Option<&mut Client>, editor: &str, call: CallId, reason: &CallEnd) {
        self.waiting.retain(|(waiting, _)| *waiting != call);
        if self.open.take_if(|(open, _)| *open == call).is_some() {
            let reason = match reason {
                CallEnd::Cancelled { .. } => "the editor closed the form",
                CallEnd::Expired => "nobody answered in time; the form is closed",
                _ => "the connection ended; the form is closed",
            };
            self.line.end();
            self.line.write(&format!("  {reason}"));
            if let Some(client) = client {
                self.show_next(client, editor);
            }
        }
    }

    /// Gives the terminal back until the next [`take_line`](Self::take_line), for other output.
    pub(crate) fn pause(&mut self) {
        self.line.pause();
    }

    /// Takes a typed line, if there is one.
    pub(crate) fn take_line(&mut self, client: &mut Client, editor: &str) {
        let Some((call, questions)) = &mut self.open else { return };
        let Some(line) = self.line.next() else { return };
        match questions.answer(line.as_deref()) {
            Next::Ask(text) => self.line.ask(&text),
            Next::Done(answer, text) => {
                // If the form has just ended, this fails, and an event follows.
                if client.answer_form(*call, &answer).is_ok() {
                    self.line.write(&format!("  {text}"));
                    self.open = None;
                    self.show_next(client, editor);
                }
            }
        }
    }

    /// Tells the user that an open form ends with the session.
    pub(crate) fn leave(&mut self) {
        if self.is_asking() {
            self.line.end();
            self.line.write("  the agent ends; the form is closed");
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
            self.line.begin(&text);
        }
    }
}
