//! The command line.

use crate::replay::script::Comparison;
use crate::view::Filter;
use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Compare a record of `ide-mcp tap` with this library, show it, or make it a test.

usage: ide-mcp replay [--side editor|agent] [--bytes] [--tolerance MS] FILE
       ide-mcp replay --list [--only WORD]… FILE
       ide-mcp replay --to-script [--conn N] [--folder DIR] FILE

the comparison:
  --side editor   feed the messages of the agent to a server, and compare its
                  output with the messages of the editor (default)
  --side agent    feed the messages of the editor to a client
  --bytes         compare bytes (default: values of JSON, with any ids, and
                  independent messages in any order)
  --json          print the outcome as a line of JSON
  --tolerance MS  the allowed difference of the times (default: 1000)
the contents:
  --list          print one line per message, as the live view of tap does
  --only WORD     print only these lines, as for tap
the test:
  --to-script     print the agent's side as a script for `ide-mcp agent
                  --script`, with the answers of the editor as expectations
  --conn N        the connection (default: that with the most requests)
  --folder DIR    the folder of the session (default: that of the editor)
  -h, --help      print this help

examples:
  ide-mcp replay session.jsonl
  ide-mcp replay --list --only openDiff session.jsonl
  ide-mcp replay --to-script session.jsonl > session.script
  ide-mcp agent --script session.script

exit status: 0; 1 with a difference; 2 if FILE or the command line is wrong, or
the output cannot be written
`ide-mcp help records` has the rest.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Editor,
    Agent,
    List,
    /// A script of the agent's side.
    Script,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) comparison: Comparison,
    pub(crate) tolerance: Duration,
    pub(crate) only: Filter,
    /// The connection of the script.
    pub(crate) conn: Option<u32>,
    /// The folder of the session, for the script.
    pub(crate) folder: Option<String>,
    pub(crate) json: bool,
    pub(crate) file: PathBuf,
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut task, mut tolerance, mut file) = (Task::Editor, Duration::from_secs(1), None);
        let (mut only, mut conn, mut folder) = (Filter::default(), None, None);
        let (mut comparison, mut json) = (Comparison::Meaning, false);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("side") => {
                    task = parser.value()?.parse_with(|side| match side {
                        "editor" => Ok(Task::Editor),
                        "agent" => Ok(Task::Agent),
                        _ => Err("--side takes editor or agent"),
                    })?;
                }
                Long("bytes") => comparison = Comparison::Bytes,
                Long("json") => json = true,
                Long("list") => task = Task::List,
                Long("to-script") => task = Task::Script,
                Long("conn") => conn = Some(parser.value()?.parse()?),
                Long("folder") => folder = Some(parser.value()?.string()?),
                Long("only") => only.add(&parser.value()?.string()?)?,
                Long("tolerance") => tolerance = Duration::from_millis(parser.value()?.parse()?),
                Value(path) if file.is_none() => file = Some(path.into()),
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        let file = file.ok_or("FILE is missing, a transcript that tap wrote")?;
        if !only.is_empty() && task != Task::List {
            return Err("--only goes with --list".into());
        }
        if (conn.is_some() || folder.is_some()) && task != Task::Script {
            return Err("--conn and --folder go with --to-script".into());
        }
        if json && matches!(task, Task::List | Task::Script) {
            return Err("--json goes with the comparison; the record itself is lines of JSON".into());
        }
        Ok(Some(Self { task, comparison, tolerance, only, conn, folder, json, file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_command_line_names_its_error() {
        let parse = |words: &[&str]| Options::parse(lexopt::Parser::from_args(words));
        let cases: &[(&[&str], &str)] = &[
            (&[], "FILE is missing"),
            (&["a", "b"], "unexpected argument \"b\""),
            (&["--side", "left", "a"], "--side takes editor or agent"),
            (&["--list", "--json", "a"], "--json goes with the comparison"),
            (&["--conn", "2", "a"], "--conn and --folder go with --to-script"),
            (&["--to-script", "--conn", "x", "a"], "invalid digit"),
            (&["--only", "agent", "a"], "--only goes with --list"),
            (&["--tolerance", "x", "a"], "invalid digit"),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err().to_string();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert!(parse(&["-h"]).unwrap().is_none());
        let is_short = |line: &str| line.chars().count() <= 80;
        assert!(USAGE.lines().count() <= 40 && USAGE.lines().all(is_short), "the help");
        let options = parse(&["--side", "agent", "--tolerance", "5", "f"]).unwrap().unwrap();
        assert_eq!((options.task, options.tolerance), (Task::Agent, Duration::from_millis(5)));
    }
}
