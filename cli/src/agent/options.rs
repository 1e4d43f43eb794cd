//! The command line.

use crate::agent::request::{prompt, request};
use crate::support::{Help, did_you_mean, parse_port};
use ide_mcp::ide::discovery::locate::Extras;
use ide_mcp::ide::tool::OtherTool;
use ide_mcp::mcp::GetPrompt;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Attach to a running editor as a coding agent does.

usage: ide-mcp agent [OPTION…] COMMAND
       ide-mcp agent [OPTION…] --script FILE

commands:
  tools               list the tools of the editor
  call TOOL [JSON]    call a tool, and print its result
  calls               make the calls in standard input, one TOOL [JSON] a line
  prompts             list the prompts
  prompt NAME [JSON]  get a prompt, and print its texts
  resources           list the resources and their templates
  read URI            read a resource, and print its texts
  watch               print the notifications of the editor as lines of JSON
  diff PATH NEWFILE   propose the text of NEWFILE for PATH, and write PATH
                      if the person accepts it and PATH is still as it was

  --lock FILE     the lock file of the editor
  --port PORT     the editor with the lock file PORT.lock
  --cwd DIR       an editor that has this directory open, which is also the
                  folder of the agent (default: the working directory)
  --target PATH   the request target (default: /, and /mcp after a 404)
  --legacy        look also in places that the real client ignores
  --dead-process  attach although the process of the editor does not run here
  --trust-port    send the token even if another user owns the port
  --reconnect     with watch, calls, --script: attach again if it ends
  --force         with diff: write PATH although it has changed since the
                  proposal
  --script FILE   play this script; - is standard input
  --json          print everything as lines of JSON
  -h, --help      print this help

examples:
  ide-mcp agent tools
  ide-mcp agent call getDiagnostics '{}'
  ide-mcp agent diff README.md proposal.md

exit status: 0; 1 after a rejection, a refused write, an error of the editor or
its end; 2 if there is no editor, or the command line or the script is wrong
`ide-mcp help scripts` and `ide-mcp help search` have the rest.";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) asked: EditorSearch,
    pub(crate) target: Option<String>,
    pub(crate) command: Command,
    pub(crate) json: bool,
    pub(crate) reconnect: bool,
    pub(crate) trust: Trust,
}

#[derive(Debug)]
pub(crate) enum Command {
    Tools,
    Call(OtherTool),
    Prompts,
    Prompt(GetPrompt),
    Resources,
    /// The URI of the resource to read.
    Read(String),
    Calls,
    Watch,
    Diff {
        path: PathBuf,
        proposal: PathBuf,
        /// True if the file is written although it has changed since it was proposed.
        force: bool,
    },
    /// The path of a script; `-` is standard input.
    Script(PathBuf),
}

impl Options {
    /// Parses the command line. Returns `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut asked = EditorSearch::default();
        let (mut words, mut script, mut target) = (Vec::new(), None, None);
        let (mut json, mut reconnect, mut forces, mut trust) = (false, false, false, Trust::OurUser);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => asked.lock_file = Some(parser.value()?.into()),
                Long("port") => asked.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => asked.cwd = Some(parser.value()?.into()),
                Long("target") => target = Some(parser.value()?.string()?),
                Long("legacy") => asked.extras = Extras { default_too: true, xdg: true, claude_code: true },
                Long("dead-process") => asked.permits_dead_process = true,
                Long("trust-port") => trust = Trust::EveryUser,
                Long("json") => json = true,
                Long("reconnect") => reconnect = true,
                Long("force") => forces = true,
                Long("script") => script = Some(parser.value()?.into()),
                Value(word) => words.push(word.string()?),
                other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
            }
        }
        if asked.lock_file.is_some() && asked.port.is_some() {
            return Err("--lock and --port exclude each other".into());
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = match script {
            Some(_) if !words.is_empty() => {
                return Err(format!("--script and {} exclude each other", words.join(" ")).into());
            }
            Some(script) => Command::Script(script),
            None => command(&words)?,
        };
        match &mut command {
            Command::Diff { path, proposal, force } => {
                *force = forces;
                if let Some(cwd) = &asked.cwd {
                    (*path, *proposal) = (cwd.join(&*path), cwd.join(&*proposal));
                }
            }
            _ if forces => return Err("--force goes with diff".into()),
            _ => {}
        }
        if reconnect && !matches!(command, Command::Watch | Command::Calls | Command::Script(_)) {
            return Err("--reconnect goes with watch, calls and --script".into());
        }
        Ok(Some(Self { asked, target, command, json, reconnect, trust }))
    }
}

fn command(words: &[&str]) -> Result<Command, String> {
    let (max_words, command) = match words {
        ["tools", ..] => (1, Command::Tools),
        ["calls", ..] => (1, Command::Calls),
        ["watch", ..] => (1, Command::Watch),
        ["prompts", ..] => (1, Command::Prompts),
        ["prompt"] => return Err("prompt needs the NAME of a prompt".into()),
        ["prompt", name, rest @ ..] => (3, Command::Prompt(prompt(name, rest.first().unwrap_or(&"{}"))?)),
        ["resources", ..] => (1, Command::Resources),
        ["read"] => return Err("read needs the URI of a resource".into()),
        ["read", uri, ..] => (2, Command::Read((*uri).into())),
        ["call"] => return Err("call needs the NAME of a tool".into()),
        ["call", name, rest @ ..] => (3, Command::Call(request(name, rest.first().unwrap_or(&"{}"))?)),
        ["diff"] => return Err("diff needs PATH and NEWFILE".into()),
        ["diff", path] => return Err(format!("diff needs NEWFILE, the file to propose for {path:?}")),
        ["diff", path, new, ..] => {
            (3, Command::Diff { path: path.into(), proposal: new.into(), force: false })
        }
        [] => return Err(format!("a command is missing: {}", names().join(", "))),
        [other, ..] => {
            return Err(match did_you_mean(other, names()) {
                none if none.is_empty() => {
                    format!("this is no command: {other:?}; the commands are {}", names().join(", "))
                }
                near => format!("this is no command: {other:?}{near}"),
            });
        }
    };
    match words.get(max_words) {
        None => Ok(command),
        Some(word) => Err(format!("{:?} is a word too many for {}", word, words.first().unwrap_or(&""))),
    }
}

/// Returns the names of the commands.
fn names() -> Vec<&'static str> {
    Help(USAGE).commands().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_command_names_its_error() {
        let cases: &[(&[&str], &str)] = &[
            (&[], "command is missing"),
            (&[], "tools, call, calls, prompts, prompt, resources, read, watch, diff"),
            (&["dance"], "no command: \"dance\"; the commands are tools, call, calls, "),
            (&["tolls"], "no command: \"tolls\" (did you mean tools?)"),
            (&["tools", "x"], "\"x\" is a word too many for tools"),
            (&["watch", "x"], "\"x\" is a word too many for watch"),
            (&["calls", "x", "y"], "\"x\" is a word too many for calls"),
            (&["call"], "NAME"),
            (&["call", "t", "{}", "y"], "\"y\" is a word too many for call"),
            (&["call", "t", "{"], "not JSON"),
            (&["prompts", "x"], "\"x\" is a word too many for prompts"),
            (&["prompt"], "NAME"),
            (&["prompt", "p", "{}", "y"], "\"y\" is a word too many for prompt"),
            (&["prompt", "p", "[1]"], "a JSON object of texts"),
            (&["resources", "x"], "\"x\" is a word too many for resources"),
            (&["read"], "URI"),
            (&["read", "u", "x"], "\"x\" is a word too many for read"),
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
