//! The command line.

use crate::support::parse_port;
use crate::view::Filter;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;
use std::path::{Path, PathBuf};

pub(crate) const USAGE: &str = "\
Show and record the messages between coding agents and an editor.

usage: ide-mcp tap [--port PORT | --lock FILE | --cwd DIR] [OPTION…]

the editor:
  --port PORT     the editor with the lock file PORT.lock
  --lock FILE     the editor of this lock file
  --cwd DIR       the editor that has this directory open (default: the
                  working directory)
  --dead-process  take the editor although its process does not run here
  --trust-port    send its token even if another user owns the port
  --name NAME     its name in agents (default: with \"(tap)\" after the name)
the record:
  --out FILE      record to FILE, which only you can read (default: standard
                  output; no record if that is a terminal)
  --force         overwrite FILE
  --max-bytes N   end the record before N bytes (default: 268435456, 256 MiB)
the live view:
  --live          show one line per message (default at a terminal)
  --only WORD     show the messages of a method or tool (openDiff, tools/), a
                  kind (request, answer, notification, ping, …), a side (agent,
                  editor), or a connection (2); -WORD hides them; repeatable
  --json          print the port and the end as lines of JSON, and no view; the
                  record needs --out
  -h, --help      print this help

examples:
  ide-mcp tap --only -ping
  ide-mcp tap --out session.jsonl --only agent --only request
  ide-mcp replay session.jsonl

exit status: 0; 1 if the record is incomplete; 2 if the tap cannot begin, or the
command line is wrong
`ide-mcp help records` has the rest.";

/// The default of `--max-bytes`, which the help also contains.
const MAX_BYTES: u64 = 256 << 20;

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) editor: EditorSearch,
    pub(crate) trust: Trust,
    pub(crate) name: Option<String>,
    pub(crate) out: Option<PathBuf>,
    pub(crate) force: bool,
    pub(crate) max_bytes: u64,
    live: bool,
    /// True if standard output has events of the tap in JSON, in place of the record and the view.
    pub(crate) json: bool,
    pub(crate) only: Filter,
}

/// The outputs of a tap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outputs {
    pub(crate) record: Record,
    pub(crate) has_view: bool,
}

/// The place of the transcript.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Record {
    File(PathBuf),
    Stdout,
    Nowhere,
}

impl Record {
    /// Returns the file of the transcript, if it is in a file.
    pub(crate) fn path(&self) -> Option<&Path> {
        if let Self::File(path) = self { Some(path) } else { None }
    }

    /// Describes the place of the transcript, and the command that replays it.
    pub(crate) fn whereabouts(&self) -> String {
        match self {
            Self::File(path) => {
                let shown = path.display().to_string();
                let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
                let word = match shown.chars().all(is_plain) && !shown.starts_with('-') {
                    true => shown.clone(),
                    false => format!("'{}'", shown.replace('\'', r"'\''")),
                };
                format!("the record is {shown}\n  ide-mcp replay --list {word}\n  ide-mcp replay {word}")
            }
            Self::Stdout => "the record went to standard output, for `ide-mcp replay FILE`".into(),
            Self::Nowhere => "nothing was recorded; --out FILE records".into(),
        }
    }
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            editor: EditorSearch::default().ignore_auto_connect(),
            trust: Trust::OurUser,
            name: None,
            out: None,
            force: false,
            max_bytes: MAX_BYTES,
            live: false,
            json: false,
            only: Filter::default(),
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("port") => options.editor.port = Some(parse_port(&parser.value()?, 1)?),
                Long("lock") => options.editor.lock_file = Some(parser.value()?.into()),
                Long("cwd") => options.editor.cwd = Some(parser.value()?.into()),
                Long("name") => options.name = Some(parser.value()?.string()?),
                Long("out") => options.out = Some(parser.value()?.into()),
                Long("dead-process") => options.editor.permits_dead_process = true,
                Long("trust-port") => options.trust = Trust::EveryUser,
                Long("force") => options.force = true,
                Long("live") => options.live = true,
                Long("json") => options.json = true,
                Long("only") => options.only.add(&parser.value()?.string()?)?,
                Long("max-bytes") => {
                    let value = parser.value()?;
                    let bytes =
                        value.to_str().and_then(|digits| digits.parse().ok()).filter(|bytes| *bytes > 0);
                    options.max_bytes = bytes.ok_or_else(|| {
                        format!(
                            "--max-bytes takes a number of bytes from 1, such as {MAX_BYTES}, not {value:?}"
                        )
                    })?;
                }
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        let EditorSearch { lock_file: lock, port, cwd, .. } = &options.editor;
        if [lock.is_some(), port.is_some(), cwd.is_some()].into_iter().filter(|said| *said).count() > 1 {
            return Err("--port, --lock and --cwd exclude each other".into());
        }
        if options.force && options.out.is_none() {
            return Err("--force needs --out FILE, the file to write over".into());
        }
        if options.json && (options.live || !options.only.is_empty()) {
            return Err("--json excludes the live view: leave --live and --only out".into());
        }
        if options.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err("--name takes a name that agents can show, not an empty one".into());
        }
        Ok(Some(options))
    }

    /// Returns the outputs. A terminal gets the view in place of the transcript.
    pub(crate) fn outputs(&self, is_terminal: bool) -> Result<Outputs, String> {
        let has_view = !self.json && (self.live || is_terminal);
        if !has_view && !self.only.is_empty() {
            return Err(
                "--only goes with the live view, which standard output has at a terminal or with --live"
                    .into(),
            );
        }
        let record = match &self.out {
            Some(path) => Record::File(path.clone()),
            None if has_view || self.json => Record::Nowhere,
            None => Record::Stdout,
        };
        Ok(Outputs { record, has_view })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Option<Options>, String> {
        Options::parse(lexopt::Parser::from_args(words)).map_err(|error| error.to_string())
    }

    #[test]
    fn wrong_command_line_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&["--port", "0"], "--port takes a number from 1 to 65535"),
            (&["--port", "1", "--cwd", "."], "exclude each other"),
            (&["--lock", "1.lock", "--port", "1"], "exclude each other"),
            (&["--force"], "--force needs --out"),
            (&["--name", " "], "--name takes a name"),
            (&["--max-bytes", "0"], "--max-bytes takes a number"),
            (&["--max-bytes", "1G"], "--max-bytes takes a number"),
            (&["--only", "-"], "--only takes a word"),
            (&["--json", "--live"], "leave --live and --only out"),
            (&["--json", "--only", "diff"], "leave --live and --only out"),
            (&["x"], "unexpected argument \"x\""),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert!(parse(&["--help"]).unwrap().is_none());
        let is_short = |line: &str| line.chars().count() <= 80;
        assert!(USAGE.lines().count() <= 40 && USAGE.lines().all(is_short), "the help");
        assert_eq!(parse(&[]).unwrap().unwrap().max_bytes, 268_435_456, "as the help says");
        let words = ["--port", "7", "--out", "f", "--force", "--name", "N", "--max-bytes", "9"];
        let options = parse(&words).unwrap().unwrap();
        assert_eq!(options.max_bytes, 9);
        assert_eq!((options.editor.port, options.out, options.force), (Some(7), Some("f".into()), true));
    }
    #[test]
    fn terminal_gets_view_in_place_of_transcript() {
        let file = || Record::File("f".into());
        let cases: &[(&[&str], bool, Record, bool)] = &[
            (&[], false, Record::Stdout, false),
            (&[], true, Record::Nowhere, true),
            (&["--live"], false, Record::Nowhere, true),
            (&["--out", "f"], false, file(), false),
            (&["--out", "f"], true, file(), true),
            (&["--out", "f", "--live", "--only", "-ping"], false, file(), true),
            (&["--json"], false, Record::Nowhere, false),
            (&["--json"], true, Record::Nowhere, false),
            (&["--out", "f", "--json"], false, file(), false),
        ];
        for (words, is_terminal, record, has_view) in cases {
            let outputs = parse(words).unwrap().unwrap().outputs(*is_terminal).unwrap();
            assert_eq!((&outputs.record, outputs.has_view), (record, *has_view), "{words:?} {is_terminal}");
        }
        let only = parse(&["--only", "diff"]).unwrap().unwrap();
        assert!(only.outputs(true).is_ok() && only.outputs(false).unwrap_err().contains("--live"));
    }

    #[test]
    fn whereabouts_are_a_command() {
        let cases = [("a/b.jsonl", "a/b.jsonl"), ("it's", r"'it'\''s'"), ("-f", "'-f'")];
        for (path, word) in cases {
            let text = Record::File(path.into()).whereabouts();
            assert!(text.ends_with(&format!("  ide-mcp replay {word}")), "{text}");
        }
    }
}
