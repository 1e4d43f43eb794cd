//! The command line.

use lexopt::prelude::*;
use serde_json::value::RawValue;
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
                      and print each outcome as a line of JSON when it comes
  watch               print what the editor pushes, as lines of JSON
  diff PATH NEWFILE   propose the contents of NEWFILE for PATH, wait for the verdict, and write PATH if it is accepted

Without --lock and --port the editor is found as the real client does it: by CLAUDE_CODE_SSE_PORT, then by the lock
files below CLAUDE_CONFIG_DIR (or ~/.claude) that have a folder which contains the directory. The token is read from
the lock file and is never an argument.";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) place: Place,
    pub(crate) command: Command,
}

/// Where to look for the editor.
#[derive(Debug, Default)]
pub(crate) struct Place {
    pub(crate) lock: Option<PathBuf>,
    pub(crate) port: Option<u16>,
    pub(crate) cwd: Option<PathBuf>,
}

#[derive(Debug)]
pub(crate) enum Command {
    Tools,
    Call { name: String, arguments: Box<RawValue> },
    Calls,
    Watch,
    Diff { path: PathBuf, proposal: PathBuf },
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let mut place = Place::default();
        let mut words = Vec::new();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => place.lock = Some(parser.value()?.into()),
                Long("port") => place.port = Some(parser.value()?.parse()?),
                Long("cwd") => place.cwd = Some(parser.value()?.into()),
                Value(word) => words.push(word.string()?),
                other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
            }
        }
        if place.lock.is_some() && place.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let command = match words.as_slice() {
            ["tools"] => Command::Tools,
            ["calls"] => Command::Calls,
            ["watch"] => Command::Watch,
            ["call", name] => Command::Call { name: (*name).into(), arguments: arguments("{}")? },
            ["call", name, json] => Command::Call { name: (*name).into(), arguments: arguments(json)? },
            ["diff", path, proposal] => Command::Diff { path: path.into(), proposal: proposal.into() },
            [] => return Err("a command is missing".into()),
            [command, ..] => return Err(format!("this is no command: {command:?}").into()),
        };
        Ok(Some(Self { place, command }))
    }
}

/// The arguments of a tool: a JSON object.
pub(crate) fn arguments(json: &str) -> Result<Box<RawValue>, String> {
    let raw: Box<RawValue> =
        serde_json::from_str(json).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if raw.get().starts_with('{') { Ok(raw) } else { Err("the arguments must be a JSON object".into()) }
}
