//! `ide-mcp`: an editor for coding agents, an agent that attaches to editors, and tools that
//! examine both.
//!
//! Each command is a module with its own command line; [`support`] has the code that they share.

#![allow(clippy::wildcard_enum_match_arm, reason = "a command takes the events that concern it")]

mod agent;
mod bridge;
mod doctor;
mod editor;
mod mcp_config;
mod replay;
mod support;
mod tap;
mod view;

use lexopt::prelude::*;
use lexopt::{Error, Parser};
use std::ffi::OsString;
use std::process::ExitCode;
use support::Program;

const USAGE: &str = "\
Attach coding agents to editors, and examine how they attach.

usage: ide-mcp COMMAND [ARGUMENT…]

  editor      an editor that agents attach to, with a screen or without one
  agent       attach to a running editor as a coding agent does: list its tools, call them, propose a change
  doctor      find out why an agent does not attach to an editor, and what to do
  tap         show and record the messages between agents and an editor
  replay      feed a record of tap to the library, and print the first difference
  bridge      offer the tools of a running editor to any MCP client, over standard input and output
  mcp-config  write the file by which an agent gives the tools of a running editor to its model

  help COMMAND, COMMAND --help   the arguments and the exit status of a command
  -V, --version                  the version";

const PROGRAM: Program = Program::new("ide-mcp", "ide-mcp", USAGE);

/// A command of the program: its name, and its `main`, which takes the arguments after the name.
type Command = (&'static str, fn(Parser) -> ExitCode);

const COMMANDS: &[Command] = &[
    ("editor", editor::main),
    ("agent", agent::main),
    ("doctor", doctor::main),
    ("tap", tap::main),
    ("replay", replay::main),
    ("bridge", bridge::main),
    ("mcp-config", mcp_config::main),
];

fn main() -> ExitCode {
    PROGRAM.main(Parser::from_env(), parse, |task| match task {
        Task::Run((_, main), parser) => main(parser),
        Task::Version => PROGRAM.done(support::write_line(concat!("ide-mcp ", env!("CARGO_PKG_VERSION")))),
    })
}

enum Task {
    Run(&'static Command, Parser),
    Version,
}

/// Returns `None` if the user asked for help about the program.
fn parse(mut parser: Parser) -> Result<Option<Task>, Error> {
    let help = || Parser::from_args(["--help"]);
    match parser.next()? {
        Some(Short('h') | Long("help")) => Ok(None),
        Some(Short('V') | Long("version")) => Ok(Some(Task::Version)),
        Some(Value(name)) if name == "help" => match parser.next()? {
            Some(Value(name)) => Ok(Some(Task::Run(command(&name)?, help()))),
            Some(other) => Err(other.unexpected()),
            None => Ok(None),
        },
        Some(Value(name)) => Ok(Some(Task::Run(command(&name)?, Parser::from_args(parser.raw_args()?)))),
        Some(other) => Err(other.unexpected()),
        None => Err(format!("a command is missing: {}", names()).into()),
    }
}

fn command(name: &OsString) -> Result<&'static Command, Error> {
    let found = COMMANDS.iter().find(|(known, _)| name == known);
    found.ok_or_else(|| format!("there is no command {name:?}: {}", names()).into())
}

/// Returns the names of the commands as a list in a sentence.
fn names() -> String {
    let mut names: Vec<&str> = COMMANDS.iter().map(|(name, _)| *name).collect();
    let last = names.pop().unwrap_or_default();
    format!("{} or {last}", names.join(", "))
}
