//! The command line.

use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) const USAGE: &str = "\
Feed a transcript of `ide-mcp tap` to the core with its recorded clock, and print the first difference.

usage: ide-mcp replay [--side editor|agent] [--tolerance MS] FILE
       ide-mcp replay --list FILE

  --side editor    what the agent said is fed to a host, and what the host says is compared with what the editor said
                   (default)
  --side agent     the other way round: what the editor said is fed to a client
  --tolerance MS   how much the times may be apart (default 1000): on the way to the tap and back they change a little
  --list           print what was said, a message a line, and compare nothing

What the machine does by itself it has to do again: handshake, initialize, lists, pings, deadlines, refusals, the end.
What its application did, answers of tools, selections, requests, is done again as it was recorded, and has to come out
the same. How the machine was configured is read from what it said. So a transcript of an editor or agent that is made
with this library has no difference; one of another shows in what this library would behave otherwise.

What could not be compared is said in lines of its own, each with \"not compared\": a connection on which one side says
nothing, what stands at the end of a transcript that stops in the middle, an end that is not in it.

Recordings of messages, such as those in tests/fixtures, are read as well; only their messages are compared.

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
    pub(crate) file: PathBuf,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut task, mut tolerance, mut file) = (Task::Editor, Duration::from_secs(1), None);
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
                Long("tolerance") => tolerance = Duration::from_millis(parser.value()?.parse()?),
                Value(path) if file.is_none() => file = Some(path.into()),
                other @ (Short(_) | Long(_) | Value(_)) => return Err(other.unexpected()),
            }
        }
        let file = file.ok_or("FILE is missing, a transcript that tap wrote")?;
        Ok(Some(Self { task, tolerance, file }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_line_says_what_is_wrong() {
        let parse = |words: &[&str]| Options::parse(lexopt::Parser::from_args(words));
        let cases: &[(&[&str], &str)] = &[
            (&[], "FILE is missing"),
            (&["a", "b"], "unexpected argument \"b\""),
            (&["--side", "left", "a"], "--side takes editor or agent"),
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
