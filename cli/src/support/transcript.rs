//! The format of a transcript, which `tap` writes and `replay` reads: a line of JSON for everything
//! that was read from a socket.
//!
//! ```text
//! {"transcript":1,"started_ms":1700000000000,"editor":"ide-mcp editor","port":41111,"token":"****","folders":["/p"]}
//! {"ns":0,"conn":1,"open":true}
//! {"ns":31000,"conn":1,"from":"agent","raw":"GET / HTTP/1.1\r\n…"}
//! {"ns":94000,"conn":1,"from":"editor","raw":"HTTP/1.1 101 Switching Protocols\r\n…"}
//! {"ns":120000,"conn":1,"from":"agent","base64":"gf4BHg…"}
//! {"ns":900000,"conn":1,"from":"agent","end":"end of the stream"}
//! ```
//!
//! `ns` is the number of nanoseconds since the first line, never less than in the line before.
//! `raw` has bytes that are text, and `base64` other bytes, as they were read; a character that
//! would control a terminal is an escape. `from` is `agent`, `editor`, or `tap` for bytes of the
//! tap itself; `to` is then the receiver. Stars replace every token, as many as it has bytes;
//! `token` in the first line is such a row of stars. Minus signs replace everything else that an
//! agent sends in a place for a token, in the target or in any field of the head.
//!
//! `replay` also reads hand-written recordings, of messages instead of bytes. They have `ms` in
//! place of `ns`, `client` and `server`, `http` for a head and `text` for a message, no first line
//! and no `conn`: each `http` of a client begins a connection.

use crate::support::json_line;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ide_mcp::Time;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// The version of the format: `tap` writes it, and `replay` reads no other.
pub(crate) const VERSION: u32 = 1;

/// The first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(clippy::exhaustive_structs, reason = "the form of a file, which has a version")]
pub(crate) struct Header {
    /// [`VERSION`].
    pub(crate) transcript: u32,
    /// The time at which `ns` is 0, in milliseconds since the Unix epoch.
    pub(crate) started_ms: u64,
    /// The name that the editor gives itself.
    pub(crate) editor: String,
    /// The port of the editor.
    pub(crate) port: u16,
    /// The stars that replace the token of the editor; `None` if it has none.
    pub(crate) token: Option<String>,
    /// The folders that the editor has open.
    #[serde(default)]
    pub(crate) folders: Vec<String>,
}

/// Any line after the first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the form of a file, which has a version")]
pub(crate) struct Line {
    /// The time since the beginning.
    pub(crate) at: Time,
    /// The number of the connection, from 1.
    pub(crate) conn: u32,
    /// The event.
    pub(crate) what: What,
    /// True if `tap` itself sent the bytes in place of that side: the peer received them, but the
    /// side never sent them.
    pub(crate) by_tap: bool,
}

/// An event on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The tap accepted the connection.
    Open,
    /// These bytes came from this side, or from `tap` in its place.
    Bytes(Side, Vec<u8>),
    /// This message came, with unknown framing.
    Text(Side, String),
    /// This side ended, for this reason.
    End(Side, String),
}

/// One of the two ends of a connection, as a source of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The client.
    Agent,
    /// The server.
    Editor,
}

impl Side {
    /// Returns the other end.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Agent => Self::Editor,
            Self::Editor => Self::Agent,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Agent => "agent",
            Self::Editor => "editor",
        })
    }
}

/// Returns a line of the transcript, with its line feed.
pub(crate) fn write(line: &Line) -> String {
    let mut form = Form {
        ns: u64::try_from(line.at.since_start().as_nanos()).ok(),
        conn: Some(line.conn),
        ..Form::default()
    };
    let mut set_sender = |side: Side| {
        form.from = Some(if line.by_tap { "tap".into() } else { side.to_string() });
        form.to = line.by_tap.then(|| side.other().to_string());
    };
    match &line.what {
        What::Open => form.open = Some(true),
        What::Bytes(side, bytes) => {
            set_sender(*side);
            match std::str::from_utf8(bytes) {
                Ok(text) => form.raw = Some(text.into()),
                Err(_) => form.base64 = Some(BASE64_STANDARD.encode(bytes)),
            }
        }
        What::Text(side, text) => {
            set_sender(*side);
            form.text = Some(text.clone());
        }
        What::End(side, reason) => {
            set_sender(*side);
            form.end = Some(reason.clone());
        }
    }
    as_line(&form)
}

/// Returns the first line.
pub(crate) fn write_header(header: &Header) -> String {
    as_line(header)
}

/// Parses a line after the first, as [`write()`] returns it; `None` if it is something else.
pub(crate) fn read_line(text: &str) -> Option<Line> {
    serde_json::from_str::<Form>(text).ok()?.read(&mut 0).ok()
}

fn as_line(value: &impl Serialize) -> String {
    // Numbers and text can always be written to memory.
    let mut line = json_line(value).unwrap_or_default();
    line.push('\n');
    line
}

/// A parsed transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transcript {
    /// The first line; `None` in a hand-written recording.
    pub(crate) header: Option<Header>,
    /// The other lines, each with its number in the file, from 1.
    pub(crate) lines: Vec<(usize, Line)>,
    /// True if the last line is incomplete, as after a kill of the writer. It is not in `lines`.
    pub(crate) is_cut: bool,
}

/// Why a text is not a transcript, and in which line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// The number of the line, from 1.
    pub(crate) number: usize,
    /// The error in the line.
    pub(crate) reason: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.number, self.reason)
    }
}

impl std::error::Error for BadLine {}

/// Parses a transcript.
///
/// # Errors
/// [`BadLine`].
pub(crate) fn read(text: &str) -> Result<Transcript, BadLine> {
    let mut transcript = Transcript { header: None, lines: Vec::new(), is_cut: false };
    let (mut conns, mut latest) = (0, Time::ZERO);
    for (number, written) in (1..).zip(text.split_inclusive('\n')) {
        let bad = |reason: String| BadLine { number, reason };
        if written.trim().is_empty() {
            continue;
        }
        if number == 1 && written.contains("\"transcript\"") {
            let header: Header = serde_json::from_str(written).map_err(|error| bad(error.to_string()))?;
            if header.transcript != VERSION {
                let (found, known) = (header.transcript, VERSION);
                return Err(bad(format!(
                    "this is version {found} of the format; this program reads {known}"
                )));
            }
            transcript.header = Some(header);
            continue;
        }
        let form: Form = match serde_json::from_str(written) {
            Err(error) if error.is_eof() && !written.ends_with('\n') => {
                transcript.is_cut = true;
                break;
            }
            form => form.map_err(|error| bad(error.to_string()))?,
        };
        let line = form.read(&mut conns).map_err(bad)?;
        if line.at < latest {
            return Err(bad("its time is before that of the previous line".into()));
        }
        latest = line.at;
        transcript.lines.push((number, line));
    }
    if transcript.lines.is_empty() && transcript.header.is_none() {
        return Err(BadLine { number: 1, reason: "there is nothing in it".into() });
    }
    Ok(transcript)
}

/// A line as it is written.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    #[serde(skip_serializing_if = "Option::is_none")]
    ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conn: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    open: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
}

impl Form {
    /// Reads a line. `conns` is the number of connections so far in a recording without numbers.
    fn read(self, conns: &mut u32) -> Result<Line, String> {
        let since_start = match (self.ns, self.ms) {
            (Some(ns), None) => Duration::from_nanos(ns),
            (None, Some(ms)) => Duration::from_millis(ms),
            _ => return Err("it needs a time, as \"ns\" or \"ms\"".into()),
        };
        let side = match self.from.as_deref() {
            Some("agent" | "client") => Some(Side::Agent),
            Some("editor" | "server") => Some(Side::Editor),
            Some("tap") if self.to.as_deref() == Some("agent") => Some(Side::Editor),
            Some("tap") if self.to.as_deref() == Some("editor") => Some(Side::Agent),
            Some(other) => return Err(format!("\"from\" is agent, editor or tap, not {other:?}")),
            None => None,
        };
        if self.conn.is_none() && self.http.is_some() && side == Some(Side::Agent) {
            *conns = conns.saturating_add(1);
        }
        let what = match (side, self.open, self.raw.or(self.http), self.base64, self.text, self.end) {
            (None, Some(true), None, None, None, None) => What::Open,
            (Some(side), None, Some(raw), None, None, None) => What::Bytes(side, raw.into_bytes()),
            (Some(side), None, None, Some(base64), None, None) => {
                let bytes = BASE64_STANDARD.decode(base64).map_err(|error| format!("\"base64\": {error}"))?;
                What::Bytes(side, bytes)
            }
            (Some(side), None, None, None, Some(text), None) => What::Text(side, text),
            (Some(side), None, None, None, None, Some(reason)) => What::End(side, reason),
            _ => return Err("it must have exactly one of raw, base64, text, end and open".into()),
        };
        let by_tap = self.to.is_some();
        Ok(Line { at: Time::new(since_start), conn: self.conn.unwrap_or(*conns), what, by_tap })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::ide::kit::is_display_unsafe;

    /// Characters that control a terminal or reverse the rest of its line, and that JSON alone does
    /// not escape.
    const UNSAFE: &str = "\u{9b}2J\u{7f}\u{202e}\u{85}";

    fn header() -> Header {
        Header {
            transcript: VERSION,
            started_ms: 5,
            editor: format!("E \"\u{e9}\" {UNSAFE}"),
            port: 7,
            token: Some("**".into()),
            folders: vec!["/p".into()],
        }
    }

    #[test]
    fn written_transcript_is_read_back() {
        let whats = [
            What::Open,
            What::Bytes(Side::Agent, b"GET / HTTP/1.1\r\n".to_vec()),
            What::Bytes(Side::Agent, format!("GET /{UNSAFE} HTTP/1.1\r\n").into_bytes()),
            What::Bytes(Side::Editor, vec![0x81, 0xff, 0]),
            What::Text(Side::Editor, format!("{{\"{UNSAFE}\":1}}")),
            What::End(Side::Agent, format!("reset {UNSAFE}")),
        ];
        let mut text = write_header(&header());
        let lines: Vec<Line> = (0..)
            .zip(whats)
            .map(|(ns, what)| Line { at: Time::new(Duration::from_nanos(ns)), conn: 3, what, by_tap: false })
            .collect();
        lines.iter().for_each(|line| text.push_str(&write(line)));
        let obeyed = text.lines().find(|line| line.contains(is_display_unsafe));
        assert_eq!(obeyed, None, "unsafe to display");
        let read = read(&text).unwrap();
        assert_eq!(read.header, Some(header()));
        assert!(!read.is_cut);
        assert!(read.lines.iter().map(|(number, _)| *number).eq(2..8));
        assert_eq!(read.lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>(), lines);
    }

    #[test]
    fn line_of_tap_names_its_receiver() {
        let what = What::Bytes(Side::Editor, b"x".to_vec());
        let line = Line { at: Time::ZERO, conn: 1, what, by_tap: true };
        let written = write(&line);
        assert_eq!(written, "{\"ns\":0,\"conn\":1,\"from\":\"tap\",\"to\":\"agent\",\"raw\":\"x\"}\n");
        assert_eq!(read_line(&written).as_ref(), Some(&line));
        assert_eq!(read(&written).unwrap().lines, [(1, line)]);
    }

    #[test]
    fn hand_written_recording_is_read() {
        let text = "{\"ms\":1,\"from\":\"client\",\"http\":\"GET\"}\n\
                    {\"ms\":2,\"from\":\"server\",\"text\":\"a\"}\n\
                    {\"ms\":2,\"from\":\"client\",\"http\":\"GET\"}\n\n";
        let read = read(text).unwrap();
        let conns: Vec<_> =
            read.lines.iter().map(|(_, line)| (line.at.since_start().as_millis(), line.conn)).collect();
        assert_eq!(conns, [(1, 1), (2, 1), (2, 2)]);
        assert_eq!(read.lines[1].1.what, What::Text(Side::Editor, "a".into()));
    }

    #[test]
    fn bad_line_is_reported_with_its_number() {
        let cases = [
            ("", 1, "nothing in it"),
            ("\n\n", 1, "nothing in it"),
            (
                "{\"transcript\":2,\"started_ms\":0,\"editor\":\"\",\"port\":1,\"token\":null}\n",
                1,
                "version 2",
            ),
            ("{\"ns\":1,\"open\":true}\nx\n", 2, "expected value"),
            ("{\"open\":true}\n", 1, "needs a time"),
            ("{\"ns\":1,\"ms\":1,\"open\":true}\n", 1, "needs a time"),
            ("{\"ns\":2,\"open\":true}\n{\"ns\":1,\"open\":true}\n", 2, "before that of the previous line"),
            ("{\"ns\":1,\"from\":\"god\",\"raw\":\"\"}\n", 1, "not \"god\""),
            ("{\"ns\":1,\"from\":\"agent\"}\n", 1, "exactly one of"),
            ("{\"ns\":1,\"from\":\"agent\",\"raw\":\"\",\"end\":\"\"}\n", 1, "exactly one of"),
            ("{\"ns\":1,\"from\":\"agent\",\"base64\":\"?\"}\n", 1, "base64"),
            ("{\"ns\":1,\"open\":true,\"more\":1}\n", 1, "unknown field"),
        ];
        for (text, number, reason) in cases {
            let bad = read(text).unwrap_err();
            assert_eq!(bad.number, number, "{text}: {bad}");
            assert!(bad.reason.contains(reason), "{text}: {bad}");
        }
        let cut = read("{\"ns\":1,\"conn\":1,\"open\":true}\n{\"ns\":2,\"co").unwrap();
        assert!(cut.is_cut && cut.lines.len() == 1, "a writer that was killed");
    }
}
