//! `ide-mcp`: an editor for coding agents, an agent that attaches to editors, and tools that
//! examine both.
//!
//! Each command is a module with its own command line, and a feature of the package. [`support`] has the
//! code that the commands share.

#![allow(clippy::wildcard_enum_match_arm, reason = "a command takes the events that concern it")]

#[cfg(feature = "agent")]
mod agent;
#[cfg(feature = "bridge")]
mod bridge;
#[cfg(feature = "completions")]
mod completions;
#[cfg(feature = "doctor")]
mod doctor;
#[cfg(feature = "editor")]
mod editor;
#[cfg(feature = "mcp-config")]
mod mcp_config;
#[cfg(feature = "plugin")]
mod plugin;
#[cfg(feature = "replay")]
mod replay;
#[cfg(feature = "sidecar")]
mod sidecar;
#[cfg_attr(
    not(all(
        feature = "agent",
        feature = "bridge",
        feature = "completions",
        feature = "doctor",
        feature = "tap"
    )),
    allow(dead_code, unused_imports, reason = "a command alone uses a part of the shared code")
)]
mod support;
#[cfg(feature = "tap")]
mod tap;
#[cfg(all(test, feature = "default"))]
mod tests;
mod topics;
#[cfg(any(feature = "replay", feature = "tap"))]
mod view;

use lexopt::prelude::*;
use lexopt::{Error, Parser};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::process::ExitCode;
use support::{Program, did_you_mean};
use topics::{TOPICS, Topic};

const USAGE: &str = "\
Attach coding agents to editors, and examine how they attach.

usage: ide-mcp COMMAND [ARGUMENT…]

commands:
  editor       an editor that agents attach to, with a screen or without one
  agent        attach to a running editor as a coding agent does: list its
               tools, call them, propose a change
  doctor       find out why an agent does not attach to an editor
  tap          show and record the messages between agents and an editor
  replay       feed a record of tap to the library; print the first difference;
               make a test of the record
  bridge       offer the tools of a running editor to any MCP client
  mcp-config   write the file by which an agent gives the tools of a running
               editor to its model
  sidecar      let agents attach to an editor that starts this process
  plugin       install the plugin for Neovim, Vim or Emacs
  completions  print the completions of these commands for a shell
  help NAME    print the help of a command, or a page: headless, scripts,
               search, models, findings, records, protocol

  -h, --help     print this help
  -V, --version  print the version

examples:
  ide-mcp editor
  ide-mcp agent tools
  ide-mcp doctor

exit status: 0; 1 if a command fails; 2 if it cannot begin, or the command line
is wrong
`ide-mcp help COMMAND` has the options and the exit status of a command.";

const PROGRAM: Program = Program::new("ide-mcp", "ide-mcp", USAGE);

/// A command of the program, whose `main` takes the arguments after the name.
struct Command {
    program: &'static Program,
    main: fn(Parser) -> ExitCode,
}

/// The commands in the order of the help.
const COMMANDS: &[Command] = &[
    #[cfg(feature = "editor")]
    Command { program: &editor::PROGRAM, main: editor::main },
    #[cfg(feature = "agent")]
    Command { program: &agent::PROGRAM, main: agent::main },
    #[cfg(feature = "doctor")]
    Command { program: &doctor::PROGRAM, main: doctor::main },
    #[cfg(feature = "tap")]
    Command { program: &tap::PROGRAM, main: tap::main },
    #[cfg(feature = "replay")]
    Command { program: &replay::PROGRAM, main: replay::main },
    #[cfg(feature = "bridge")]
    Command { program: &bridge::PROGRAM, main: bridge::main },
    #[cfg(feature = "mcp-config")]
    Command { program: &mcp_config::PROGRAM, main: mcp_config::main },
    #[cfg(feature = "sidecar")]
    Command { program: &sidecar::PROGRAM, main: sidecar::main },
    #[cfg(feature = "plugin")]
    Command { program: &plugin::PROGRAM, main: plugin::main },
    #[cfg(feature = "completions")]
    Command { program: &completions::PROGRAM, main: completions::main },
];

fn main() -> ExitCode {
    PROGRAM.main(Parser::from_env(), parse, |task| match task {
        Task::Run(command, parser) => (command.main)(parser),
        Task::Print(text) => PROGRAM.print(&text),
    })
}

enum Task {
    Run(&'static Command, Parser),
    Print(Cow<'static, str>),
}

/// Returns `None` if the user asked for help about the program.
fn parse(mut parser: Parser) -> Result<Option<Task>, Error> {
    match parser.next()? {
        Some(Short('h') | Long("help")) => Ok(None),
        Some(Short('V') | Long("version")) => {
            Ok(Some(Task::Print(concat!("ide-mcp ", env!("CARGO_PKG_VERSION")).into())))
        }
        Some(Value(name)) if name == "help" => match parser.next()? {
            Some(Value(name)) if name != "help" => match parser.next()? {
                None => Ok(Some(Task::Print(help(&name)?))),
                Some(other) => Err(other.unexpected()),
            },
            None | Some(Value(_)) => Ok(None),
            Some(other) => Err(other.unexpected()),
        },
        Some(Value(name)) => Ok(Some(Task::Run(command(&name, &[])?, Parser::from_args(parser.raw_args()?)))),
        Some(other) => Err(other.unexpected()),
        None => Err(format!("a command is missing: {}", names()).into()),
    }
}

/// Returns the page of a topic, or the help of a command.
fn help(name: &OsStr) -> Result<Cow<'static, str>, Error> {
    let topic = TOPICS.iter().find(|topic| name == topic.name);
    topic.map_or_else(
        || Ok(command(name, TOPICS)?.program.help().0.into()),
        |topic| Ok(topic.printed().into()),
    )
}

/// Returns the command with this name. The error offers also the names of these pages.
fn command(name: &OsStr, pages: &[Topic]) -> Result<&'static Command, Error> {
    let found = COMMANDS.iter().find(|command| name == command.program.name());
    found.ok_or_else(|| no_command(name, pages).into())
}

fn no_command(name: &OsStr, pages: &[Topic]) -> String {
    let commands: Vec<&str> = PROGRAM.help().commands().collect();
    if let Some(name) = commands.iter().find(|known| name == **known) {
        return format!(
            "this program is built without {name}: `cargo install --path cli` in a checkout builds all \
             commands"
        );
    }
    let known = commands.into_iter().chain(pages.iter().map(|page| page.name));
    match did_you_mean(&name.to_string_lossy(), known) {
        none if none.is_empty() => format!("there is no command {name:?}: {}", names()),
        near => format!("there is no command {name:?}{near}"),
    }
}

/// Returns the names of the commands as a list in a sentence.
fn names() -> String {
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.program.name()).collect();
    match names.as_slice() {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        only => only.concat(),
    }
}
