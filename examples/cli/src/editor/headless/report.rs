//! What the editor tells: one JSON object a line on standard output. Who does not read it holds up no agent.

use crate::support::{MOST_WAITING, Writer, json_line};
use ide_mcp::ide::ToolCall;
use serde::Serialize;
use std::io;
use std::time::Duration;

/// How long an event waits where [`MOST_WAITING`] bytes of them wait already, and so do all agents. Who reads makes room in
/// far less, even behind a diff of 16 MiB, the largest; who makes none in this time reads no more.
const FOR_ROOM: Duration = Duration::from_secs(2);

/// How long the last events may take to be read: as long as a close handshake may.
const AT_THE_END: Duration = Duration::from_secs(2);

/// Something that whoever started the editor should know. A number `conn` names a connection.
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
    IdeConnected {
        conn: u64,
        pid: Option<u32>,
    },
    Call {
        conn: u64,
        tool: &'a str,
        arguments: &'a ToolCall,
    },
    Diff {
        conn: u64,
        tab: &'a str,
        path: &'a str,
        /// The agent writes the file, so the path may be any; one that lies in none of the folders is worth a look.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
        contents: &'a str,
    },
    DiffClosed {
        conn: u64,
        tab: &'a str,
        why: &'a str,
    },
    Closed {
        conn: u64,
        why: String,
    },
    Error {
        /// The line on standard input that it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
        message: &'a str,
    },
    /// Something happened to the lock file: it was `lost`, `restored`, `taken` by another program, or `failed`.
    LockFile {
        state: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        problem: Option<&'a str>,
    },
    /// Connections since the start that were never let in: told at most every 10 s, and only if this was read so far.
    Unauthenticated {
        refused: u64,
        wrong_tokens: u64,
        ended: u64,
    },
    Stopping {
        why: &'a str,
    },
}

/// Writes events as long as somebody reads them.
#[derive(Debug)]
pub(crate) struct Report {
    writer: Writer,
    /// An event that is no JSON.
    failure: Option<io::Error>,
}

impl Report {
    /// Where nobody reads them any more this is called, once.
    pub(crate) fn new(on_failure: impl FnOnce() + Send + 'static) -> Self {
        Self { writer: Writer::new(io::stdout(), MOST_WAITING, on_failure), failure: None }
    }

    /// Where it is not taken, [`failure`](Self::failure) says why.
    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        match json_line(event) {
            Ok(line) => drop(self.writer.put(format!("{line}\n").into_bytes(), FOR_ROOM)),
            Err(error) => drop(self.failure.get_or_insert(error)),
        }
    }

    /// Something went wrong that no line on standard input is to blame for.
    pub(crate) fn error(&mut self, message: &str) {
        self.tell(&Event::Error { line: None, message });
    }

    /// Returns true if all events so far were written.
    pub(crate) fn is_read(&self) -> bool {
        self.writer.is_idle()
    }

    /// Why the events do not arrive any more.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        let own = self.failure.as_ref().map(|error| io::Error::new(error.kind(), error.to_string()));
        own.or_else(|| self.writer.failure())
    }

    /// Waits for the events to be read, but not for ever.
    pub(crate) fn end(self) -> io::Result<()> {
        let written = self.writer.flush(AT_THE_END);
        self.failure.map_or(written, Err)
    }
}
