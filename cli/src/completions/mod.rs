//! The completions of a command line for a shell, from the help of the commands.

mod fish;
mod ports;
mod sh;

use crate::support::{Help, HelpOption, Program, Value};
use crate::topics::TOPICS;
use crate::{COMMANDS, PROGRAM as IDE_MCP};
use ide_mcp::ide::Dialect;
use ide_mcp::ide::tool::Tool;
use lexopt::prelude::*;
use lexopt::{Error, Parser};
use std::process::ExitCode;

const USAGE: &str = "\
Print the completions of these commands for a shell.

usage: ide-mcp completions bash|zsh|fish|ports

Make the directory of the file first. The shell reads the file when it starts;
the directory for zsh has to be in its variable fpath, before it runs compinit.
`ports` prints the ports of the running editors, one a line: the completions of
--port call it.

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
    PROGRAM.main(parser, parse, |printed| match printed {
        Printed::Script(script) => PROGRAM.print(&script(&after_each_command())),
        Printed::Ports => PROGRAM.print(&ports::ports()),
    })
}

/// The output of the command.
enum Printed {
    /// The script of a shell.
    Script(fn(&[After]) -> String),
    Ports,
}

/// Parses the command line. Returns `None` if the user asked for help.
fn parse(mut parser: Parser) -> Result<Option<Printed>, Error> {
    let mut printed = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Value(name) if printed.is_none() => {
                printed = Some(name.parse_with(|name| match name {
                    "bash" => Ok(Printed::Script(sh::bash)),
                    "zsh" => Ok(Printed::Script(sh::zsh)),
                    "fish" => Ok(Printed::Script(fish::fish)),
                    "ports" => Ok(Printed::Ports),
                    _ => Err("the shells are bash, zsh and fish"),
                })?);
            }
            other => return Err(other.unexpected()),
        }
    }
    printed.map(Some).ok_or_else(|| "a shell is missing: bash, zsh or fish".into())
}

/// The completions after the name of a command. Those after the name of the program have that name.
struct After {
    name: &'static str,
    options: Vec<HelpOption>,
    words: Vec<&'static str>,
    /// The words after a word: the tools after `call`.
    behind: Vec<(&'static str, Vec<&'static str>)>,
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
        let of_tools = help.command_values().filter(|(_, value)| *value == Value::Tool);
        let mut after = Self {
            name,
            options: help.options().collect(),
            words: help.commands().collect(),
            behind: of_tools.map(|(command, _)| (command, tools())).collect(),
            paths: None,
        };
        for value in help.values() {
            match value {
                Value::Choices(choices) => after.words.extend(choices),
                Value::File => after.paths = Some(Paths::Files),
                Value::Folder => after.paths = after.paths.or(Some(Paths::Folders)),
                Value::Port | Value::Tool | Value::Other(_) => {}
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
    let help = After {
        name: "help",
        options: Vec::new(),
        words: words.chain(topics).collect(),
        behind: Vec::new(),
        paths: None,
    };
    let commands = COMMANDS.iter().map(|command| After::new(command.program.name(), command.program.help()));
    [program, help].into_iter().chain(commands).collect()
}

/// Returns the names of the known tools in the dialect of the real client.
fn tools() -> Vec<&'static str> {
    Tool::ALL.iter().map(|tool| tool.name(Dialect::VsCode)).collect()
}
