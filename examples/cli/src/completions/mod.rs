//! The completions of a command line for a shell, from the help of the commands.

mod fish;
mod sh;

use crate::support::{Help, HelpOption, Program, Value};
use crate::topics::TOPICS;
use crate::{COMMANDS, PROGRAM as IDE_MCP};
use lexopt::prelude::*;
use lexopt::{Error, Parser};
use std::process::ExitCode;

const USAGE: &str = "\
Print the completions of these commands for a shell.

usage: ide-mcp completions bash|zsh|fish

The shell reads the file when it starts; the directory for zsh has to be in its
variable fpath, before it runs compinit.

  -h, --help  print this help

examples:
  ide-mcp completions bash > ~/.local/share/bash-completion/completions/ide-mcp
  ide-mcp completions zsh > ~/.zfunc/_ide-mcp
  ide-mcp completions fish > ~/.config/fish/completions/ide-mcp.fish

exit status: 0; 1 if standard output cannot be written; 2 if the command line
is wrong
`ide-mcp help` has the commands.";

pub(crate) const PROGRAM: Program = Program::new("completions", "ide-mcp completions", USAGE);

pub(crate) fn main(parser: Parser) -> ExitCode {
    PROGRAM.main(parser, parse, |script| PROGRAM.print(&script(&after_each_command())))
}

/// Writes the script of a shell.
type Script = fn(&[After]) -> String;

/// Parses the command line; `None` if the user asked for help.
fn parse(mut parser: Parser) -> Result<Option<Script>, Error> {
    let mut script = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(name) if script.is_none() => {
                script = Some(name.parse_with(|name| match name {
                    "bash" => Ok(sh::bash as Script),
                    "zsh" => Ok(sh::zsh),
                    "fish" => Ok(fish::fish),
                    _ => Err("the shells are bash, zsh and fish"),
                })?);
            }
            other => return Err(other.unexpected()),
        }
    }
    script.map(Some).ok_or_else(|| "a shell is missing: bash, zsh or fish".into())
}

/// The completions after the name of a command. Those after the name of the program have that name.
struct After {
    name: &'static str,
    options: Vec<HelpOption>,
    words: Vec<&'static str>,
    /// The paths that are completed beside the words.
    paths: Option<Paths>,
}

#[derive(Clone, Copy)]
enum Paths {
    Files,
    Folders,
}

impl After {
    fn new(name: &'static str, help: Help) -> Self {
        let mut after =
            Self { name, options: help.options().collect(), words: help.commands().collect(), paths: None };
        for value in help.values() {
            match value {
                Value::Choices(choices) => after.words.extend(choices),
                Value::File => after.paths = Some(Paths::Files),
                Value::Folder => after.paths = after.paths.or(Some(Paths::Folders)),
                Value::Other(_) => {}
            }
        }
        after
    }
}

/// Returns the completions of the program, of `help`, and of each command.
fn after_each_command() -> Vec<After> {
    let names: Vec<_> = COMMANDS.iter().map(|command| command.program.name()).collect();
    let topics = TOPICS.iter().map(|topic| topic.name);
    let words = names.iter().copied();
    let program =
        After { words: words.clone().chain(["help"]).collect(), ..After::new("ide-mcp", IDE_MCP.help()) };
    let help = After { name: "help", options: Vec::new(), words: words.chain(topics).collect(), paths: None };
    let commands = COMMANDS.iter().map(|command| After::new(command.program.name(), command.program.help()));
    [program, help].into_iter().chain(commands).collect()
}
