//! The command line.

use crate::support::{EditorArgs, Shell, shown_name, trust};
use crate::view::{Filter, Word};
use clap::{ArgAction, ArgGroup, ValueHint};
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use std::path::{Path, PathBuf};

const AFTER_HELP: &str = "\
Examples:
  ide-mcp tap --only -ping
  ide-mcp tap --out session.jsonl --only agent --only request
  ide-mcp replay session.jsonl

Exit status: 0; 1 if the record is incomplete; 2 if the tap cannot begin, or the
command line is wrong.

`ide-mcp help records` explains records and filters, and `ide-mcp help search`
the search for the editor.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, group(ArgGroup::new("one").args(["port", "lock", "cwd"])))]
pub(crate) struct Options {
    #[command(flatten)]
    editor: EditorArgs,
    /// Send the token even if another user owns the port
    #[arg(long = "trust-port", action = ArgAction::SetTrue, value_parser = trust())]
    pub(crate) trust: Trust,
    /// The name that agents show (default: that of the editor, and "(tap)")
    #[arg(long, value_parser = shown_name)]
    pub(crate) name: Option<String>,
    /// Record to FILE, which only you can read (default: standard output; no
    /// record if that is a terminal)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite FILE
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Stop recording before the record exceeds N bytes
    #[arg(long, value_name = "N", value_parser = bytes, default_value = "268435456")]
    pub(crate) max_bytes: u64,
    /// Show one line per message (default at a terminal)
    #[arg(long)]
    live: bool,
    /// Show the messages of a method or tool (openDiff, tools/), a kind
    /// (request, answer, notification, ping, …), a side (agent, editor), or a
    /// connection (2); -WORD hides them; repeatable
    #[arg(long, value_name = "WORD", value_parser = Word::parse, allow_hyphen_values = true)]
    only: Vec<Word>,
    /// Print the port and the end as lines of JSON, and no view; the record
    /// needs --out
    #[arg(long)]
    pub(crate) json: bool,
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

    /// Describes where the transcript is, and the commands that replay it, for a shell that can express the path.
    pub(crate) fn whereabouts(&self, shell: Shell) -> String {
        match self {
            Self::File(path) => {
                let shown = path.display().to_string();
                // The path must not be taken for an option.
                let word = if shown.starts_with('-') { format!("./{shown}") } else { shown.clone() };
                let line = |words: &[&str]| shell.run(&[], &[], words).map(|line| format!("\n  {line}"));
                let lines =
                    [line(&["ide-mcp", "replay", "--list", &word]), line(&["ide-mcp", "replay", &word])];
                format!("the record is {shown}{}", lines.into_iter().flatten().collect::<String>())
            }
            Self::Stdout => "the record went to standard output, for `ide-mcp replay FILE`".into(),
            Self::Nowhere => "nothing was recorded; --out FILE records".into(),
        }
    }
}

impl Options {
    /// Refuses what clap does not see.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.json && (self.live || !self.only.is_empty()) {
            return Err("--json excludes the live view: leave --live and --only out".into());
        }
        Ok(())
    }

    /// Returns the search for the editor. The tap is not an agent.
    pub(crate) fn search(&self) -> EditorSearch {
        self.editor.search().ignore_auto_connect()
    }

    /// Returns the messages that are shown.
    pub(crate) fn only(&self) -> Filter {
        self.only.iter().cloned().collect()
    }

    /// Returns the outputs. A terminal gets the view instead of the transcript.
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

/// Parses a number of bytes.
fn bytes(text: &str) -> Result<u64, &'static str> {
    let bytes = text.parse().ok().filter(|bytes| *bytes > 0);
    bytes.ok_or("give a number of bytes from 1, such as 268435456")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parsed;

    fn parse(words: &[&str]) -> Result<Options, String> {
        let options: Options = parsed(words)?;
        options.check().map(|()| options)
    }

    #[test]
    fn wrong_command_line_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&["--port", "0"], "'--port <PORT>': give a number from 1 to 65535"),
            (&["--port", "1", "--cwd", "."], "'--port <PORT>' cannot be used with"),
            (&["--lock", "1.lock", "--port", "1"], "'--lock <FILE>' cannot be used with"),
            (&["--force"], "required arguments were not provided: --out <FILE>"),
            (&["--name", " "], "'--name <NAME>': give a name"),
            (&["--max-bytes", "0"], "'--max-bytes <N>': give a number of bytes from 1"),
            (&["--max-bytes", "1G"], "'--max-bytes <N>': give a number of bytes from 1"),
            (&["--only", "-"], "'--only <WORD>': give a word"),
            (&["--json", "--live"], "leave --live and --only out"),
            (&["--json", "--only", "diff"], "leave --live and --only out"),
            (&["x"], "unexpected argument 'x' found"),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert_eq!(parse(&[]).unwrap().max_bytes, 256 << 20);
        let words = ["--port", "7", "--out", "f", "--force", "--name", "N", "--max-bytes", "9"];
        let options = parse(&words).unwrap();
        assert_eq!(options.max_bytes, 9);
        assert_eq!((options.editor.port, options.out, options.force), (Some(7), Some("f".into()), true));
    }

    #[test]
    fn terminal_gets_the_view_instead_of_the_transcript() {
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
            let outputs = parse(words).unwrap().outputs(*is_terminal).unwrap();
            assert_eq!((&outputs.record, outputs.has_view), (record, *has_view), "{words:?} {is_terminal}");
        }
        let only = parse(&["--only", "diff"]).unwrap();
        assert!(only.outputs(true).is_ok() && only.outputs(false).unwrap_err().contains("--live"));
    }

    #[test]
    fn whereabouts_end_with_the_command_that_replays() {
        let cases = [
            ("a/b.jsonl", Shell::Posix, Some("a/b.jsonl")),
            ("it's", Shell::Posix, Some(r"'it'\''s'")),
            ("-f", Shell::Posix, Some("./-f")),
            (r"C:\it's", Shell::PowerShell, Some(r"'C:\it''s'")),
            (r"C:\a b", Shell::Cmd, Some(r#""C:\a b""#)),
            (r"C:\%a%", Shell::Cmd, None),
        ];
        for (path, shell, word) in cases {
            let text = Record::File(path.into()).whereabouts(shell);
            let word = word
                .map_or_else(|| format!("the record is {path}"), |word| format!("  ide-mcp replay {word}"));
            assert!(text.ends_with(&word), "{text}");
        }
    }
}
