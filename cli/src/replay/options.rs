//! The command line.

use crate::replay::script::Comparison;
use crate::view::{Filter, Word};
use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::Duration;

const AFTER_HELP: &str = "\
Examples:
  ide-mcp replay session.jsonl
  ide-mcp replay --list --only openDiff session.jsonl
  ide-mcp replay --to-script session.jsonl > session.script
  ide-mcp agent --script session.script

Exit status: 0; 1 with a difference; 2 if FILE or the command line is wrong, or
the output cannot be written.

`ide-mcp help records` explains records, filters and scripts.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Editor,
    Agent,
    List,
    /// A script of the agent's side.
    Script,
}

/// The side that is compared.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Compared {
    Editor,
    Agent,
}

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Options {
    /// The record
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    /// Let the library play this side against the recorded other side, and
    /// compare what it sends with the record
    #[arg(long, default_value = "editor", conflicts_with_all = ["list", "to_script"])]
    side: Compared,
    /// Compare bytes (default: values of JSON; ids may differ, and independent
    /// messages may come in any order)
    #[arg(long)]
    bytes: bool,
    /// Print the outcome as a line of JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// How far the times may differ
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    tolerance: u64,
    /// Print one line per message, as the live view of tap does
    #[arg(long, conflicts_with = "to_script")]
    list: bool,
    /// Print only the messages of a method, tool, kind, side or connection;
    /// -WORD hides them; repeatable (see `ide-mcp tap --help`)
    #[arg(long, value_name = "WORD", value_parser = Word::parse, allow_hyphen_values = true, requires = "list")]
    only: Vec<Word>,
    /// Print the agent's side as a script for `ide-mcp agent --script`, with
    /// the answers of the editor as expectations
    #[arg(long)]
    to_script: bool,
    /// The connection of the script (default: that with the most requests)
    #[arg(long, value_name = "N", requires = "to_script")]
    pub(crate) conn: Option<u32>,
    /// The folder of the session in the script (default: that of the editor)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, requires = "to_script")]
    pub(crate) folder: Option<String>,
}

impl Options {
    /// Refuses what clap does not see.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.json && (self.list || self.to_script) {
            return Err("--json goes with the comparison; the record itself is lines of JSON".into());
        }
        Ok(())
    }

    pub(crate) const fn task(&self) -> Task {
        match (self.list, self.to_script, self.side) {
            (true, ..) => Task::List,
            (_, true, _) => Task::Script,
            (_, _, Compared::Editor) => Task::Editor,
            (_, _, Compared::Agent) => Task::Agent,
        }
    }

    pub(crate) const fn comparison(&self) -> Comparison {
        if self.bytes { Comparison::Bytes } else { Comparison::Meaning }
    }

    pub(crate) const fn tolerance(&self) -> Duration {
        Duration::from_millis(self.tolerance)
    }

    pub(crate) fn only(&self) -> Filter {
        self.only.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::parsed;

    #[test]
    fn wrong_command_line_names_its_error() {
        let parse = |words: &[&str]| parsed::<Options>(words).and_then(|options| options.check());
        let cases: &[(&[&str], &str)] = &[
            (&[], "required arguments were not provided: <FILE>"),
            (&["a", "b"], "unexpected argument 'b' found"),
            (&["--side", "left", "a"], "'left' for '--side <SIDE>' [possible values: editor, agent]"),
            (&["--list", "--json", "a"], "--json goes with the comparison"),
            (&["--conn", "2", "a"], "required arguments were not provided: --to-script"),
            (&["--to-script", "--conn", "x", "a"], "invalid digit"),
            (&["--only", "agent", "a"], "required arguments were not provided: --list"),
            (&["--tolerance", "x", "a"], "invalid digit"),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        let options = parsed::<Options>(&["--side", "agent", "--tolerance", "5", "f"]).unwrap();
        assert_eq!((options.task(), options.tolerance()), (Task::Agent, Duration::from_millis(5)));
    }
}
