//! The command line.

use crate::agent::request::{prompt, request};
use crate::support::parse_port;
use ide_mcp::ide::OtherTool;
use ide_mcp::ide::locate::Extras;
use ide_mcp::mcp::GetPrompt;
use ide_mcp_driver::Trust;
use ide_mcp_lockfile::EditorSearch;
use lexopt::prelude::*;
use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
Attach to a running editor as a coding agent does.

usage: ide-mcp agent [--lock FILE | --port N] [--cwd DIR] [--legacy] [--dead-process] [--trust-port] [--json]
                     [--reconnect] (COMMAND | --script FILE)

  --lock FILE    the lock file of the editor, N.lock or N.json
  --port N       the editor with the lock file N.lock
  --cwd DIR      choose an editor that has this directory open, declare it as the folder of the agent, and resolve the
                 files of diff from there (default: the working directory)
  --legacy       look also in places that the real client ignores: in ~/.claude if CLAUDE_CONFIG_DIR is set, in
                 $XDG_CONFIG_HOME/claude, and in ~/.claude-code with its N.json
  --dead-process attach to the editor of --lock or --port although its process does not run here, for example because
                 it runs in another container
  --trust-port   send the token to the port of the editor even if another user owns the port, for example because the
                 port is forwarded into a container. By default the agent connects only to sockets of your own user, if
                 the system (Linux) reports their owner
  --json         print everything as lines of JSON, see below
  --reconnect    with watch, calls and --script: wait for an editor that ends, as the real client does, which expects
                 the editor on the same port within a minute; read its lock file again before each attempt
  --script FILE  play this script; - is standard input

commands:
  tools               list the tools of the editor
  call NAME [JSON]    call a tool with these arguments (default {}) and print the texts of its result
  calls               read calls from standard input, one `NAME [JSON]` per line, and make them;
                      print each outcome on arrival as a line of JSON, with the number of the input line
  prompts             list the prompts of the editor
  prompt NAME [JSON]  get a prompt with these arguments, texts (default {}), and print the texts of its messages
  resources           list the resources of the editor, and its templates of resources
  read URI            read a resource and print its texts
  watch               print the pushes of the editor as lines of JSON
  diff PATH NEWFILE   propose the contents of NEWFILE for PATH, wait for the verdict, and write PATH if it is accepted;
                      PATH does not have to exist

With watch, call and diff at a terminal (standard input and standard error), the editor can ask the person: the agent
shows a form on standard error, field by field, and reads the answers from the terminal.

A script has one JSON object per line, with one of these verbs; blank lines and lines that begin with # are ignored:
  {\"call\":\"NAME\",\"arguments\":{…}}    call a tool without waiting; its outcome is an event
  {\"notify\":\"METHOD\",\"params\":{…}}   send a notification
  {\"expect\":{…},\"within\":5000}       wait for an event that has these members with these values, for 10 s or for the
                                     given number of milliseconds. Events that do not match are kept for later
  {\"answer\":{\"action\":\"accept\",\"content\":{…}}}
                                     answer the oldest open form; decline and cancel have no content. An answer that
                                     does not fit the form is an error, unless \"unchecked\":true is in the line
  {\"sleep\":200}                      wait for this number of milliseconds
An array in an expected event is compared element by element, and may be shorter than the array in the event.

Lines of JSON, and the events of a script, by their member \"event\", with their other members:
  tool                name, description, inputSchema: from tools
  prompt              name, description, arguments: from prompts
  resource            uri, name, description, mimeType: from resources
  resource_template   uriTemplate, name, description, mimeType: from resources
  outcome             line (in calls and scripts), tool (or prompt, or resource), outcome: {\"result\":…},
                      {\"error\":{\"code\",\"message\",\"data\"}} (data if the editor sent any) or {\"ended\":\"reason\"};
                      line and error if the input line itself is wrong
  selection_changed   params: from watch; likewise every other notification, by its name
  lost, attached      reason; port, name: with --reconnect
  form                message, requestedSchema: the editor asks, in a script
  form_closed         reason: the end of a form without an answer, in a script
  closed              reason: the end of the connection, in a script
  diff                verdict (accepted, rejected, unchanged), path
  step, script        line, came (the expected event); steps: the progress of a script
  error               message, status: the reason of a failure, which is also on standard error

Without --lock and --port the agent looks for the editor as the real client does, first by CLAUDE_CODE_SSE_PORT, then by
the lock files below CLAUDE_CONFIG_DIR (or ~/.claude). A lock file matches if one of its folders contains the directory;
unlike the real client, the agent accepts every spelling of the folder. CLAUDE_CODE_IDE_SKIP_VALID_CHECK=1 accepts every
folder. With CLAUDE_CODE_AUTO_CONNECT_IDE=false you have to name an editor by --port or --lock. The host is that of
CLAUDE_CODE_IDE_HOST_OVERRIDE, or 127.0.0.1. The agent reads the token from the lock file; it is never an argument.
`ide-mcp doctor` explains why an editor is not found.

exit status: 0; 1 for a rejected change, a result that is an error, a script with another outcome than expected, a lost
connection, or any other failure; 2 if no editor was found, or the command line or the script is wrong";

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) asked: EditorSearch,
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
    },
    /// The path of a script; `-` is standard input.
    Script(PathBuf),
}

impl Options {
    /// Parses the command line; `None` if the user asked for help.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut asked = EditorSearch::default();
        let (mut words, mut script) = (Vec::new(), None);
        let (mut json, mut reconnect, mut trust) = (false, false, Trust::OurUser);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("lock") => asked.lock_file = Some(parser.value()?.into()),
                Long("port") => asked.port = Some(parse_port(&parser.value()?, 1)?),
                Long("cwd") => asked.cwd = Some(parser.value()?.into()),
                Long("legacy") => asked.extras = Extras { default_too: true, xdg: true, claude_code: true },
                Long("dead-process") => asked.permits_dead_process = true,
                Long("trust-port") => trust = Trust::EveryUser,
                Long("json") => json = true,
                Long("reconnect") => reconnect = true,
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
        if let (Command::Diff { path, proposal }, Some(cwd)) = (&mut command, &asked.cwd) {
            (*path, *proposal) = (cwd.join(&*path), cwd.join(&*proposal));
        }
        if reconnect && !matches!(command, Command::Watch | Command::Calls | Command::Script(_)) {
            return Err("--reconnect goes with watch, calls and --script".into());
        }
        Ok(Some(Self { asked, command, json, reconnect, trust }))
    }
}

fn command(words: &[&str]) -> Result<Command, String> {
    let (most, command) =
        match words {
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
            ["diff", path, new, ..] => (3, Command::Diff { path: path.into(), proposal: new.into() }),
            [] => return Err(
                "a command is missing: tools, call, calls, prompts, prompt, resources, read, watch or diff"
                    .into(),
            ),
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
