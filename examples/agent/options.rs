//! The command line.

use crate::request::request;
use ide_mcp::ide::ToolRequest;
use ide_mcp_examples::find::Asked;
use ide_mcp_examples::parse_port;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Attach to a running editor as a coding agent does.

usage: agent [--lock FILE | --port N] [--cwd DIR] COMMAND

  --lock FILE   the lock file of the editor
  --port N      the editor with the lock file N.lock
  --cwd DIR     look for an editor that has this directory open (default: the working directory)

commands:
  tools               list the tools of the editor
  call NAME [JSON]    call a tool with these arguments (default {}) and print the texts of its result
  calls               make the calls that come on standard input, one `NAME [JSON]` a line,
                      and print each outcome as a line of JSON when it comes, with the number of the line
  watch               print what the editor pushes, as lines of JSON
  diff PATH NEWFILE   propose the contents of NEWFILE for PATH, wait for the verdict, and write PATH if it is accepted;
                      PATH need not exist

Without --lock and --port the editor is found as the real client does it: by CLAUDE_CODE_SSE_PORT, then by the lock
files below CLAUDE_CONFIG_DIR (or ~/.claude) that have a folder which contains the directory. The token is read from
the lock file and is never an argument.

exit status: 0; 1 for a rejected change, a result that is an error, a lost connection, or anything else that fails;
2 if no editor was found, or the command line is wrong";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) asked: Asked,
    pub(crate) command: Command,
}

#[derive(Debug)]
pub(crate) enum Command {
    Tools,
    Call(ToolRequest),
    Calls,
    Watch,
    Diff { path: PathBuf, proposal: PathBuf },
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let mut asked = Asked::default();
        let mut words = Vec::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => asked.lock = Some(parser.value()?.into()),
                Long("port") => asked.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => asked.cwd = Some(parser.value()?.into()),
                Value(word) => words.push(word.string()?),
                other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
            }
        }
        if asked.lock.is_some() && asked.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Ok(Some(Self { asked, command: command(&words)? }))
    }
}

fn command(words: &[&str]) -> Result<Command, String> {
    let (most, command) = match words {
        ["tools", ..] => (1, Command::Tools),
        ["calls", ..] => (1, Command::Calls),
        ["watch", ..] => (1, Command::Watch),
        ["call"] => return Err("call needs the NAME of a tool".into()),
        ["call", name, rest @ ..] => (3, Command::Call(request(name, rest.first().unwrap_or(&"{}"))?)),
        ["diff"] => return Err("diff needs PATH and NEWFILE".into()),
        ["diff", path] => return Err(format!("diff needs NEWFILE, the file to propose for {path:?}")),
        ["diff", path, new, ..] => (3, Command::Diff { path: path.into(), proposal: new.into() }),
        [] => return Err("a command is missing: tools, call, calls, watch or diff".into()),
        [other, ..] => return Err(format!("this is no command: {other:?}")),
    };
    match words.get(most) {
        None => Ok(command),
        Some(word) => Err(format!("{:?} is a word too many for {}", word, words.first().unwrap_or(&""))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_command_says_which_word() {
        let cases: &[(&[&str], &str)] = &[
            (&[], "command is missing"),
            (&["dance"], "no command: \"dance\""),
            (&["tools", "x"], "\"x\" is a word too many for tools"),
            (&["watch", "x"], "\"x\" is a word too many for watch"),
            (&["calls", "x", "y"], "\"x\" is a word too many for calls"),
            (&["call"], "NAME"),
            (&["call", "t", "{}", "y"], "\"y\" is a word too many for call"),
            (&["call", "t", "{"], "not JSON"),
            (&["diff"], "PATH and NEWFILE"),
            (&["diff", "a"], "NEWFILE, the file to propose for \"a\""),
            (&["diff", "a", "b", "c"], "\"c\" is a word too many for diff"),
        ];
        for (words, expected) in cases {
            let message = command(words).unwrap_err();
            assert!(message.contains(expected), "{words:?}: {message}");
        }
    }
}
