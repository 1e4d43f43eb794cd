//! What the editor tells: one JSON object a line on standard output.

use ide_mcp::ide::ToolRequest;
use ide_mcp_examples::say_json;
use serde::Serialize;
use std::io;

/// Something that whoever started the editor should know. A number `conn` names a connection.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    Listening {
        port: u16,
        lock: Option<String>,
    },
    Connected {
        conn: u32,
        client: Option<String>,
        version: Option<String>,
    },
    IdeConnected {
        conn: u32,
        pid: Option<u32>,
    },
    Call {
        conn: u32,
        tool: &'a str,
        arguments: &'a ToolRequest,
    },
    Diff {
        conn: u32,
        tab: &'a str,
        path: &'a str,
        /// The agent writes the file, so the path may be any; one that lies in none of the folders is worth a look.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
        contents: &'a str,
    },
    DiffClosed {
        conn: u32,
        tab: &'a str,
        why: &'a str,
    },
    Closed {
        conn: u32,
        why: String,
    },
    Error {
        /// The line on standard input that it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
        message: &'a str,
    },
    Stopping {
        why: &'a str,
    },
}

/// Writes events as long as somebody reads them.
#[derive(Debug, Default)]
pub(crate) struct Report {
    failure: Option<io::Error>,
}

impl Report {
    pub(crate) fn tell(&mut self, event: &Event<'_>) {
        if self.failure.is_none() {
            self.failure = say_json(event).err();
        }
    }

    /// Something went wrong that no line on standard input is to blame for.
    pub(crate) fn error(&mut self, message: &str) {
        self.tell(&Event::Error { line: None, message });
    }

    /// Why the events do not arrive any more.
    pub(crate) const fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }
}
