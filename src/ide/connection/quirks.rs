//! How the known clients differ, as data, by the name they send in `initialize`.
//!
//! | | default | `opencode` |
//! | --- | --- | --- |
//! | sub-protocol | `mcp`, which must be chosen | none offered |
//! | settle time | 1.6 s after its list of tools | none: it accepts pushes after `initialized`, and lists no tools |
//! | lines of a mention | from 0, none for the whole file | from 1, and always: a mention without lines is dropped |
//! | requests of the editor | answered | never answered, so the editor sends no JSON-RPC pings |
//!
//! The default holds for the real client, `claude-code` 1.0.51 to 2.1.332, and for every client that is not known. Only
//! `claude-code` needs quotation marks around a path with a space: without them the prompt would show the mention, but
//! the model would not get the file. Only `claude-code` announces its edits with `getDiagnostics`; another client may
//! ask for the problems of a file because its model wants to know them. The settle time of 1.6 s includes a margin;
//! everything else was measured (docs/protocol.md).

use crate::mcp::Implementation;
use core::time::Duration;

/// How one client differs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Quirks {
    /// The name in `clientInfo`.
    name: &'static str,
    /// How long the client ignores pushes after the latest of `initialized`, the answer to its `tools/list` and our
    /// `tools/list_changed`.
    pub(crate) settle: Duration,
    /// True if the client counts the lines of a mention from 1, and drops a mention without lines.
    pub(crate) lines_from_one: bool,
    /// True if the client needs quotation marks around a path with white space in a mention.
    pub(crate) quotes_paths: bool,
    /// True if the client asks for the problems of a file before it writes it, and for those of all files afterwards,
    /// unless the first answer failed.
    pub(crate) announces_edits: bool,
    /// True if the client answers requests of the editor.
    pub(crate) answers_requests: bool,
}

impl Quirks {
    /// Returns the row of this client, or the default.
    pub(crate) fn of(client: Option<&Implementation>) -> &'static Self {
        let is_named = |quirks: &&Self| client.is_some_and(|client| client.name == quirks.name);
        KNOWN.iter().find(is_named).unwrap_or(&DEFAULT)
    }
}

/// Three times the longest time measured on a loaded machine, 500 ms, plus 100 ms.
const SETTLE: Duration = Duration::from_millis(1_600);

static DEFAULT: Quirks = Quirks {
    name: "",
    settle: SETTLE,
    lines_from_one: false,
    quotes_paths: false,
    announces_edits: false,
    answers_requests: true,
};

static KNOWN: [Quirks; 2] = [
    Quirks { name: "claude-code", quotes_paths: true, announces_edits: true, ..DEFAULT },
    Quirks {
        name: "opencode",
        lines_from_one: true,
        answers_requests: false,
        settle: Duration::ZERO,
        ..DEFAULT
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_known_by_their_exact_name() {
        let of = |name| Quirks::of(Some(&Implementation::new(name, "1")));
        for name in ["Claude-Code", "OpenCode", "opencode ", ""] {
            assert_eq!(of(name), &DEFAULT, "{name:?}");
        }
        assert_eq!(Quirks::of(None), &DEFAULT);
        assert!(of("opencode").lines_from_one && !of("opencode").answers_requests);
        assert!(of("claude-code").quotes_paths && !of("opencode").quotes_paths);
    }
}
