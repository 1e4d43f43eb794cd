//! One row: its columns, and its text for a screen.

use crate::support::transcript::{Line, Side, What};
use crate::view::screen::Screen;
use ide_mcp::Time;
use ide_mcp::ide::kit::display_safe;
use std::time::Duration;

/// The third column of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Open,
    Handshake,
    Request,
    Notification,
    Answer,
    /// An answer with an error, or with a result that the tool marks as an error.
    Error,
    Ping,
    Pong,
    Close,
    /// Bytes that are not a message.
    Bytes,
    End,
}

impl Kind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Open,
        Self::Handshake,
        Self::Request,
        Self::Notification,
        Self::Answer,
        Self::Error,
        Self::Ping,
        Self::Pong,
        Self::Close,
        Self::Bytes,
        Self::End,
    ];

    /// Returns the word of the kind, in rows and in filters.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Handshake => "handshake",
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Answer => "answer",
            Self::Error => "error",
            Self::Ping => "ping",
            Self::Pong => "pong",
            Self::Close => "close",
            Self::Bytes => "bytes",
            Self::End => "end",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Row {
    at: Time,
    pub(crate) conn: u32,
    pub(crate) from: Option<Side>,
    pub(crate) kind: Kind,
    /// The method of a message, or that of the request that it answers.
    pub(crate) method: String,
    /// The tool, if the method is `tools/call`.
    pub(crate) tool: Option<String>,
    id: String,
    took: Option<Duration>,
    text: String,
    by_tap: bool,
    /// True if the text is never cut, because the user must act on it.
    is_whole: bool,
}

impl Row {
    pub(crate) fn new(line: &Line, kind: Kind) -> Self {
        let from = match &line.what {
            What::Open => None,
            What::Bytes(from, _) | What::Text(from, _) | What::End(from, _) => Some(*from),
        };
        Self {
            at: line.at,
            conn: line.conn,
            from,
            kind,
            method: String::new(),
            tool: None,
            id: String::new(),
            took: None,
            text: String::new(),
            by_tap: line.by_tap,
            is_whole: matches!(kind, Kind::Close | Kind::End),
        }
    }

    pub(crate) fn of(self, method: &str, tool: Option<String>) -> Self {
        Self { method: method.to_owned(), tool, ..self }
    }

    pub(crate) fn id(self, id: &str) -> Self {
        Self { id: format!("#{id}"), ..self }
    }

    /// Sets the time of the request that the row answers.
    pub(crate) fn since(self, sent_at: Time) -> Self {
        let took = Some(self.at.saturating_since(sent_at));
        Self { took, ..self }
    }

    pub(crate) fn text(self, text: &str) -> Self {
        Self { text: text.to_owned(), ..self }
    }

    /// Shows all of the text, however narrow the screen is.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// Returns the row as text, cut or wrapped to the width of the screen.
    pub(crate) fn render(&self, screen: &Screen) -> String {
        let from = match self.from {
            Some(Side::Agent) => "agent  →",
            Some(Side::Editor) => "editor →",
            None => "        ",
        };
        let took = self.took.map(|took| format!("in {}", duration(took))).unwrap_or_default();
        let by_tap = if self.by_tap { "(by the tap)" } else { "" };
        let name = self.tool.as_deref().unwrap_or(&self.method);
        let parts = [name, &self.id, &took, by_tap, &self.text];
        let rest: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let at = self.at.since_start().as_secs_f64();
        let row = format!("{at:>9.3} {:>2} {from} {:<12} {}", self.conn, self.kind.word(), rest.join(" "));
        let row = display_safe(row.trim_end());
        let row = if self.is_whole { screen.wrap(&row) } else { screen.cut(&row) };
        screen.paint(row, self.from, self.kind == Kind::Error)
    }
}

/// Returns a duration with about three digits.
fn duration(took: Duration) -> String {
    let seconds = took.as_secs_f64();
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1000.0),
        ..1.0 => format!("{:.0} ms", seconds * 1000.0),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let cases = [
            (0, "0.0 ms"),
            (340, "0.3 ms"),
            (9_900, "9.9 ms"),
            (12_400, "12 ms"),
            (999_000, "999 ms"),
            (1_000_000, "1.0 s"),
            (75_250_000, "75.2 s"),
        ];
        for (micros, expected) in cases {
            assert_eq!(duration(Duration::from_micros(micros)), expected, "{micros} µs");
        }
    }
}
