//! The command line.

use crate::view::Filter;
use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Feed a transcript of `ide-mcp tap` to the core with its recorded clock, and print the first difference.

usage: ide-mcp replay [--side editor|agent] [--tolerance MS] FILE
       ide-mcp replay --list FILE

  --side editor    feed the messages of the agent to a host, and compare the output of the host with the messages of the
                   editor (default)
  --side agent     the opposite: feed the messages of the editor to a client
  --tolerance MS   the allowed difference of the times (default 1000): they change a little on the way to the tap and
                   back
  --list           print the transcript, one message per line, and compare nothing

The machine has to repeat everything that it does by itself: handshake, initialize, lists, pings, deadlines, refusals,
the end. The replay repeats the actions of its application as recorded: answers of tools, selections, requests; their
output has to be the same. The replay infers the configuration of the machine from its messages. So a transcript of an
editor or agent that uses this library has no difference; a transcript of another one shows where this library would
behave differently.

Lines with \"not compared\" name the parts that could not be compared: a connection on which one side sends nothing, the
rest of a transcript that stops in the middle, an end that is not in the transcript.

The replay also reads recordings of messages, such as those in tests/fixtures; it compares only their messages.

exit status: 0 without a difference; 1 with one; 2 if the file cannot be read, or the command line is wrong";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Task {
    Editor,
    Agent,
    List,
}

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) task: Task,
    pub(crate) tolerance: Duration,
    pub(crate) only: Filter,
    pub(crate) file: PathBuf,
}

impl Options {
    /// Parses the command line; `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut task, mut tolerance, mut file) = (Task::Editor, Duration::from_secs(1), None);
        let mut only = Filter::default();
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
                Long("list") => task = Task::List,
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
        Ok(Some(Self { task, tolerance, only, file }))
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
            (&["--only", "agent", "a"], "--only goes with --list"),
            (&["--tolerance", "x", "a"], "invalid digit"),
        ];
        for (words, expected) in cases {
            let message = parse(words).unwrap_err().to_string();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
        assert!(parse(&["-h"]).unwrap().is_none());
        let options = parse(&["--side", "agent", "--tolerance", "5", "f"]).unwrap().unwrap();
        assert_eq!((options.task, options.tolerance), (Task::Agent, Duration::from_millis(5)));
    }
}
