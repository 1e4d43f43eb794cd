//! The two kinds of editors behind one handle.

use crate::refusal::{Code, Refusal};
use ide_mcp::Clock;
use ide_mcp_embed::{Editor, Event, ListeningEditor, TypedCommand};
use std::ffi::c_int;
use std::time::Duration;

/// An editor with a descriptor, or with bytes alone.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each handle has one editor, in a box")]
pub(crate) enum AnyEditor {
    Listening(ListeningEditor),
    Bytes(Editor, Clock),
}

impl AnyEditor {
    pub(crate) fn listening(config: &str) -> Result<Self, Refusal> {
        ListeningEditor::open(config).map(Self::Listening).map_err(|error| Refusal::new(Code::Invalid, error))
    }

    pub(crate) fn of_bytes(config: &str) -> Result<Self, Refusal> {
        let editor = Editor::new(config).map_err(|error| Refusal::new(Code::Invalid, error))?;
        Ok(Self::Bytes(editor, Clock::new()))
    }

    /// Takes one turn. After an error no turn is possible.
    pub(crate) fn turn(&mut self) -> Result<(), Refusal> {
        match self {
            Self::Listening(editor) => editor.dispatch().map_err(|error| Refusal::new(Code::Io, error)),
            Self::Bytes(editor, clock) => {
                editor.tick(clock.now());
                Ok(())
            }
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<Event> {
        match self {
            Self::Listening(editor) => editor.next_event(),
            Self::Bytes(editor, _) => editor.next_event(),
        }
    }

    pub(crate) fn command(&mut self, number: u64, json: &str) -> Result<(), Refusal> {
        match self {
            Self::Listening(editor) => editor.command(number, json)?,
            Self::Bytes(editor, clock) => editor.command(clock.now(), number, json)?,
        }
        Ok(())
    }

    pub(crate) fn execute(&mut self, command: TypedCommand) -> Result<(), Refusal> {
        // Only commands in JSON need a number.
        match self {
            Self::Listening(editor) => editor.execute(0, command)?,
            Self::Bytes(editor, clock) => editor.execute(clock.now(), 0, command)?,
        }
        Ok(())
    }

    pub(crate) fn timeout(&mut self) -> Option<Duration> {
        match self {
            Self::Listening(editor) => editor.timeout(),
            Self::Bytes(editor, clock) => clock.until(editor.deadline()),
        }
    }

    pub(crate) const fn is_over(&self) -> bool {
        match self {
            Self::Listening(editor) => editor.is_over(),
            Self::Bytes(editor, _) => editor.is_over(),
        }
    }

    /// Returns the descriptor of an editor that listens.
    pub(crate) fn fd(&self) -> Result<c_int, Refusal> {
        #[cfg(unix)]
        if let Self::Listening(editor) = self {
            use std::os::fd::{AsFd as _, AsRawFd as _};
            return Ok(editor.as_fd().as_raw_fd());
        }
        Err(Refusal::new(Code::Misuse, "there is no descriptor: take turns by idemcp_timeout"))
    }

    /// Returns the editor of `idemcp_new`, and its clock.
    pub(crate) fn bytes(&mut self) -> Result<(&mut Editor, &Clock), Refusal> {
        match self {
            Self::Bytes(editor, clock) => Ok((editor, clock)),
            Self::Listening(_) => {
                Err(Refusal::new(Code::Misuse, "the handle of idemcp_open has its own connections"))
            }
        }
    }
}
