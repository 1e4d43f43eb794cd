//! The events of a headless editor: one JSON object per line on standard output. A program that does not read them
//! delays the agents by 2 s at most, and ends the editor.

use crate::support::{MAX_WAITING, Writer, json_line};
use ide_mcp::ide::tool::{DirectRequest, ToolCall};
use ide_mcp::mcp::{FormAnswer, Root};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

/// How long an event waits for room if [`MAX_WAITING`] bytes of events wait already. All agents wait meanwhile. A
/// program that reads its events makes room much faster, even after a diff of 16 MiB, the largest one; a program that
/// makes none in this time has stopped reading.
const FOR_ROOM: Duration = Duration::from_secs(2);

/// How long the last events may wait to be read: as long as a close handshake.
const AT_THE_END: Duration = Duration::from_secs(2);

/// An event for the program that started the editor. The number `conn` names a connection.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    Listening {
        port: u16,
        lock: Option<String>,
    },
    Connected {
        conn: u64,
        client: Option<String>,
        version: Option<String>,
    },
    /// A connection that gives the tools of this editor to a client's model. It is not an agent.
    ModelConnected {
        conn: u64,
        client: Option<String>,
        version: Option<String>,
    },
    IdeConnected {
        conn: u64,
        pid: Option<u32>,
    },
    /// The folders that the agent works in.
    Roots {
        conn: u64,
        roots: &'a [Root],
    },
    Call {
        conn: u64,
        tool: &'a str,
        arguments: &'a ToolCall,
    },
    /// A request of the Obsidian dialect.
    Request {
        conn: u64,
        method: &'a str,
        params: &'a DirectRequest,
    },
    /// A prompt that the agent got.
    Prompt {
        conn: u64,
        name: &'a str,
        arguments: &'a BTreeMap<String, String>,
    },
    /// A resource that the agent read.
    Resource {
        conn: u64,
        uri: &'a str,
    },
    /// The end of a form. `line` is the line of standard input that opened it.
    FormAnswer {
        line: u64,
        conn: u64,
        #[serde(flatten)]
        end: FormEnd,
    },
    Diff {
        conn: u64,
        tab: &'a str,
        path: &'a str,
        /// True if the file is in none of the folders. The agent writes the file, so any path is possible. A path
        /// outside the folders is reported, so that somebody can check it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
        contents: &'a str,
    },
    DiffClosed {
        conn: u64,
        tab: &'a str,
        reason: &'a str,
    },
    /// An agent is probably about to write this file. The number `edit` names the edit of this agent.
    EditExpected {
        conn: u64,
        edit: u64,
        path: &'a str,
    },
    /// The command that was given to the editor. If tmux did not start it in a split, the user can start it by `line`.
    Launch {
        line: String,
        #[serde(rename = "started")]
        is_started: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// The end of an expected edit.
    EditEnded {
        conn: u64,
        edit: u64,
        path: &'a str,
        reason: &'a str,
        /// True if the file has changed.
        confirmed: bool,
    },
    /// The list of the confirmed edits, oldest first.
    Edits {
        /// The line of standard input that requested the list.
        line: u64,
        edits: Vec<Listed>,
    },
    EditUndone {
        conn: u64,
        edit: u64,
        path: &'a str,
    },
    Closed {
        conn: u64,
        reason: String,
    },
    /// The selection is in a file that agents do not receive.
    Hidden {
        path: &'a str,
    },
    /// From now on agents receive nothing of the editor.
    Paused,
    Resumed,
    Error {
        /// The number of the line on standard input that caused the error.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
        message: &'a str,
    },
    /// A change of the lock file: it was `lost`, `restored`, `taken` by another program, or `failed`.
    LockFile {
        state: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<&'a str>,
    },
    /// How many connections were never authenticated since the start. Reported every 10 s at most, and only once all
    /// earlier events have been read.
    Unauthenticated {
        refused: u64,
        wrong_tokens: u64,
        ended: u64,
    },
    Stopping {
        reason: &'a str,
    },
}

/// A confirmed edit in a list.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) conn: u64,
    pub(crate) edit: u64,
    pub(crate) path: String,
    /// `created`, `changed` or `removed`, or `dropped` if the editor no longer has the text to undo it.
    pub(crate) kind: &'static str,
    pub(crate) ago_ms: u128,
}

/// The answer to a form, or why there is none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum FormEnd {
    Answered(FormAnswer),
    Failed { error: String },
}

/// Writes the events, as long as a program reads them.
#[derive(Debug)]
pub(crate) struct Report {
    writer: Writer,
    /// Why an event could not be encoded as JSON.
    failure: Option<io::Error>,
}

impl Report {
    /// Creates a report. It calls `on_failure`, once, if nobody reads the events any more.
    pub(crate) fn new(on_failure: impl FnOnce() + Send + 'static) -> Self {
        Self { writer: Writer::new(io::stdout(), MAX_WAITING, on_failure), failure: None }
    }

    /// Writes an event. If this fails, [`failure`](Self::failure) returns the reason.
    pub(crate) fn write(&mut self, event: &Event<'_>) {
        match json_line(event) {
            Ok(line) => drop(self.writer.put(format!("{line}\n").into_bytes(), FOR_ROOM)),
            Err(error) => drop(self.failure.get_or_insert(error)),
        }
    }

    /// Reports an error that no line on standard input caused.
    pub(crate) fn error(&mut self, message: &str) {
        self.write(&Event::Error { line: None, message });
    }

    /// Returns true if all events so far were written.
    pub(crate) fn is_read(&self) -> bool {
        self.writer.is_idle()
    }

    /// Returns why events no longer arrive.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let own = self.failure.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()));
        own.or_else(|| self.writer.failure())
    }

    /// Waits until the events are read, for a limited time.
    pub(crate) fn end(self) -> io::Result<()> {
        let written = self.writer.flush(AT_THE_END);
        self.failure.map_or(written, Err)
    }
}
