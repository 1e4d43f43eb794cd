//! The two kinds of editors behind one handle.

use crate::lent::Lent;
use crate::refusal::{Code, Refusal};
use ide_mcp::{Clock, Output};
use ide_mcp_embed::{Editor, Event, ListeningEditor, TypedCommand};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::c_int;
use std::time::Duration;

/// An editor with a descriptor, or one that only takes bytes.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each handle has one editor, in a box")]
pub(crate) enum AnyEditor {
    Listening(ListeningEditor),
    Bytes(Editor, Clock, Passed),
}

/// C asks for events and for output separately, but a pass returns both. While C takes the one, this keeps
/// what the pass has returned of the other.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    events: VecDeque<Event>,
    closed: VecDeque<u64>,
    /// How long the last output of each connection was, until C reports what the socket took.
    offered: BTreeMap<u64, usize>,
    /// The connection whose report the editor waits for. If we poll without a report, nothing counts as
    /// written.
    live: Option<u64>,
}

impl AnyEditor {
    pub(crate) fn listening(config: &str) -> Result<Self, Refusal> {
        ListeningEditor::open(config).map(Self::Listening).map_err(|error| Refusal::new(Code::Invalid, error))
    }

    pub(crate) fn of_bytes(config: &str) -> Result<Self, Refusal> {
        let editor = Editor::new(config).map_err(|error| Refusal::new(Code::Invalid, error))?;
        Ok(Self::Bytes(editor, Clock::new(), Passed::default()))
    }

    /// Call this when no event is left: takes a turn, and returns its first event. After an error no further turn is
    /// possible.
    pub(crate) fn turn(&mut self) -> Result<Option<Event>, Refusal> {
        match self {
            Self::Listening(editor) => {
                editor.dispatch().map_err(|error| Refusal::new(Code::Io, error))?;
                Ok(editor.next_event())
            }
            // `next_event` has already taken the turn.
            Self::Bytes(..) => Ok(None),
        }
    }

    pub(crate) fn next_event(&mut self) -> Option<Event> {
        match self {
            Self::Listening(editor) => editor.next_event(),
            Self::Bytes(editor, clock, passed) => {
                if let Some(event) = passed.events.pop_front() {
                    return Some(event);
                }
                let now = clock.now();
                loop {
                    let output = editor.poll(now);
                    if let Output::Event(event) = output {
                        return Some(event);
                    }
                    passed.live = None;
                    match output {
                        Output::Close(conn) => passed.closed.push_back(conn),
                        Output::Wait(_) => return None,
                        // Without a report, the next pass offers it again.
                        Output::Write { .. } | Output::Event(_) => {}
                    }
                }
            }
        }
    }

    pub(crate) fn command(&mut self, number: u64, json: &str) -> Result<(), Refusal> {
        match self {
            Self::Listening(editor) => editor.command(number, json)?,
            Self::Bytes(editor, clock, _) => editor.command(clock.now(), number, json)?,
        }
        Ok(())
    }

    pub(crate) fn execute(&mut self, command: TypedCommand) -> Result<(), Refusal> {
        // Only commands in JSON need a number.
        match self {
            Self::Listening(editor) => editor.execute(0, command)?,
            Self::Bytes(editor, clock, _) => editor.execute(clock.now(), 0, command)?,
        }
        Ok(())
    }

    pub(crate) fn timeout(&mut self) -> Option<Duration> {
        match self {
            Self::Listening(editor) => editor.timeout(),
            Self::Bytes(_, _, Passed { events, closed, .. }) if !events.is_empty() || !closed.is_empty() => {
                Some(Duration::ZERO)
            }
            Self::Bytes(editor, clock, _) => clock.until(editor.deadline()),
        }
    }

    /// Returns true if the caller has received the last event, and closed the last socket.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Listening(editor) => editor.is_over(),
            Self::Bytes(editor, _, Passed { events, closed, .. }) => {
                editor.is_over() && events.is_empty() && closed.is_empty()
            }
        }
    }

    /// Returns the descriptor of an editor that listens.
    pub(crate) fn fd(&self) -> Result<c_int, Refusal> {
        let Self::Listening(editor) = self else {
            return Err(Refusal::new(Code::Misuse, "there is no descriptor: take turns by idemcp_timeout"));
        };
        #[cfg(unix)]
        {
            use std::os::fd::{AsFd as _, AsRawFd as _};
            Ok(editor.as_fd().as_raw_fd())
        }
        // On Windows only 32 bits of a handle matter, so that programs of 32 and 64 bits can share it.
        #[cfg(windows)]
        {
            use std::os::windows::io::{AsRawSocket as _, AsSocket as _};
            let socket = editor.as_socket().as_raw_socket();
            c_int::try_from(socket)
                .map_err(|_| Refusal::new(Code::Io, "the number of the socket is too large"))
        }
    }

    /// Returns the next connection to write to or to close; see `Handle::next_output`.
    pub(crate) fn next_output(&mut self) -> Result<(u64, Lent), Refusal> {
        self.bytes()?;
        let Self::Bytes(editor, clock, passed) = self else { return Ok((0, Lent::NONE)) };
        if let Some(conn) = passed.closed.pop_front() {
            passed.offered.remove(&conn);
            return Ok((conn, Lent::NONE));
        }
        passed.live = None;
        let now = clock.now();
        loop {
            match editor.poll(now) {
                Output::Event(event) => passed.events.push_back(event),
                Output::Write { conn, bytes } => {
                    passed.offered.insert(conn, bytes.len());
                    passed.live = Some(conn);
                    return Ok((conn, Lent::bytes(bytes)));
                }
                Output::Close(conn) => {
                    passed.offered.remove(&conn);
                    return Ok((conn, Lent::NONE));
                }
                Output::Wait(_) => return Ok((0, Lent::NONE)),
            }
        }
    }

    /// Reports how many bytes of a connection's last output its socket took.
    pub(crate) fn written(&mut self, conn: u64, n: usize) -> Result<(), Refusal> {
        self.bytes()?;
        let Self::Bytes(editor, clock, passed) = self else { return Ok(()) };
        let Some(n) = passed.offered.remove(&conn).map(|len| n.min(len)) else { return Ok(()) };
        if passed.live.take_if(|live| *live == conn).is_some() {
            editor.written(conn, n);
            return Ok(());
        }
        if n == 0 {
            return Ok(());
        }
        // A late report. The bytes are still the first ones of the connection, so the next pass offers them
        // again. The current pass may already be past them.
        passed.live = None;
        let (mut passes, mut is_reported) = (2, false);
        while passes > 0 {
            match editor.poll(clock.now()) {
                Output::Event(event) => passed.events.push_back(event),
                Output::Write { conn: of, .. } if of == conn && !is_reported => {
                    editor.written(conn, n);
                    // Go to the end of this pass, so that the next one offers what this one has skipped.
                    (passes, is_reported) = (1, true);
                }
                Output::Write { .. } => {}
                Output::Close(of) => passed.closed.push_back(of),
                Output::Wait(_) => passes -= 1,
            }
        }
        Ok(())
    }

    /// Returns true if a pass for the output has found an event.
    pub(crate) fn has_event(&self) -> bool {
        matches!(self, Self::Bytes(_, _, passed) if !passed.events.is_empty())
    }

    /// Returns the editor of `idemcp_new`, and its clock.
    pub(crate) fn bytes(&mut self) -> Result<(&mut Editor, &Clock), Refusal> {
        match self {
            Self::Bytes(editor, clock, _) => Ok((editor, clock)),
            Self::Listening(_) => {
                Err(Refusal::new(Code::Misuse, "this function is for a handle of idemcp_new"))
            }
        }
    }
}
