//! The command line of the editor.

use crate::editor::folders::Folders;
use crate::editor::neighbors::Neighbors;
use crate::editor::paths::{Named, Target};
use crate::support::parse_port;
use ide_mcp::ide::{AuthToken, Dialect, LockFile};
use lexopt::prelude::*;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) const USAGE: &str = "\
An editor that coding agents attach to.

usage: ide-mcp editor [--headless] [--port N] [--token-of FILE | --no-token] [--name NAME] [--dialect D]
                      [--on-diff HOW] [--no-ignore] [DIR | FILE[:LINE[:COLUMN]]]…

At a terminal, the editor has a screen, and F1 shows its keys. If standard output is not a terminal, or with --headless,
the editor writes events to standard output and reads commands from standard input, each as a line of JSON.

  --headless      use no screen, even at a terminal
  --port N        listen on this port of 127.0.0.1 (default: 0, any free port)
  --token-of FILE accept the token of this lock file (default: a new token), but only from programs of your own user,
                  because other users can know a token that outlived its editor; a token as an argument would be visible
                  to other users
  --no-token      accept every program that reaches the port, for clients that cannot send a token
  --name NAME     the name of the editor for agents (default: ide-mcp editor, with a number if another editor of that
                  name has the folders open)
  --dialect D     the names, the message shapes and the rules for clients: vs-code (default), jetbrains, snake-case or
                  obsidian
  --on-diff HOW   how a proposed change is decided: ask (default) the person at the screen or the program that sends the
                  commands, accept or reject it at once, or hold it open
  --no-ignore     also show agents the files that .gitignore, .ignore and .claudeignore name (default: the editor hides
                  them; ! in .claudeignore shows a file again). Files that usually contain secrets, such as .env, stay
                  hidden.
  DIR…            the open folders (default: the working directory); the editor reads no file outside of them
  FILE…           the files to show at the start, with a screen; a missing file is a new one. The folder of a file is
                  open too, unless a DIR contains the file.

With a screen, the editor ends at Ctrl+Q, SIGINT, SIGTERM, SIGHUP or SIGQUIT. Without one, it ends at SIGINT, SIGTERM,
{\"cmd\":\"quit\"}, or the end of standard input; the last two wait up to 5 s for the commands before them. If no program
sends commands, standard input has to stay open: sleep infinity | ide-mcp editor --headless. The editor also ends if its
events are not read: if standard output is closed, or 16 MiB of events wait. At its end, the editor rejects open diffs.

The editor writes its lock file below CLAUDE_CONFIG_DIR, or ~/.claude, and removes the file at its end.

commands, without a screen:
  {\"cmd\":\"open\",\"path\":\"a.txt\"}
  {\"cmd\":\"select\",\"path\":\"a.txt\",\"start\":[0,0],\"end\":[0,5]}     lines and UTF-16 columns, from 0
  {\"cmd\":\"clear\"}                                               clear the selection
  {\"cmd\":\"mention\",\"path\":\"a.txt\",\"lines\":[0,1],\"conn\":1}       lines and conn are optional
  {\"cmd\":\"answer\",\"verdict\":\"accept\"}                           or reject; if only one diff is open
  {\"cmd\":\"answer\",\"tab\":\"…\",\"verdict\":\"accept\",\"contents\":\"…\"}  contents: the proposal as you changed it
  {\"cmd\":\"edits\"}                                               list the files that agents wrote, accepted diffs too
  {\"cmd\":\"undo\",\"conn\":1,\"edit\":4}                           undo one of them, if the file has not changed since
  {\"cmd\":\"tools\",\"offer\":[\"openDiff\",\"openFile\"]}               offer only these tools from now on (at the start all)
  {\"cmd\":\"pause\"}                                               hide files, selections, and the texts of prompts and
                                                                resources from agents; event: paused
  {\"cmd\":\"resume\"}                                              end the pause; event: resumed
  {\"cmd\":\"context\",\"prompts\":[…],\"resources\":[…]}            offer only these from now on (at the start none)
  {\"cmd\":\"form\",\"form\":{…},\"conn\":1,\"within\":60000}         ask the person at the agent
  {\"cmd\":\"quit\"}
If two agents have the same tab, \"conn\" selects the agent that is answered.

A prompt is {\"name\":\"review\",\"description\":\"…\",\"arguments\":[{\"name\":\"focus\",\"required\":true}],
\"text\":\"Review {focus}\"}, and a resource {\"uri\":\"notes://today\",\"name\":\"today\",\"mimeType\":\"text/plain\",
\"text\":\"…\"}. The editor answers a request with the text, in which {NAME} is replaced by the argument NAME. A form is
{\"message\":\"…\",\"requestedSchema\":{…}}, as in elicitation/create of MCP. \"conn\" is optional if one agent is
attached; \"within\" is in milliseconds (default: 10 minutes).

events, without a screen, by their member \"event\", with their other members:
  listening           port, lock
  connected           conn, client, version: an agent has attached
  model_connected     conn, client, version: a connection that gives the tools to a model
  ide_connected       conn, pid
  roots               conn, roots: the folders in which the agent works
  call, request       conn, tool, arguments; conn, method, params: what the agent asks, with the answer of the editor
  prompt, resource    conn, name, arguments; conn, uri: what the agent gets of your context
  diff                conn, tab, path, contents; \"outside\":true if the path is in no open folder
  diff_closed         conn, tab, reason
  edit_expected       conn, edit, path: an agent is probably about to write the file
  edit_ended          conn, edit, path, reason, confirmed (true if the file has changed)
  edits, edit_undone  line, edits; conn, edit, path
  form_answer         line (of the command), conn, action (accept, decline or cancel), content; or error in place of
                      action; once for each form that was sent
  closed              conn, reason: the end of the connection
  hidden              path: the selection is in a file that agents do not receive
  paused, resumed
  lock_file           state (lost, restored, taken or failed), problem
  unauthenticated     refused, wrong_tokens, ended: counts of connections that were never let in
  error               line (of a command without effect), message
  stopping            reason

exit status: 0; 1 if it cannot go on, for example because its events are not read; 2 if it cannot begin";

#[derive(Debug)]
pub(crate) struct Options {
    headless: bool,
    pub(crate) port: u16,
    pub(crate) token: Option<AuthToken>,
    /// True if clients have to send the token.
    pub(crate) asks_for_token: bool,
    name: Option<String>,
    pub(crate) dialect: Dialect,
    pub(crate) on_diff: OnDiff,
    /// True if the files that ignore files name are hidden.
    ignores: bool,
    /// True if the editor takes the port and the token of its last run.
    pub(crate) resumes: bool,
    /// True if the command gets the tools of the editor for its model.
    pub(crate) gives_tools: bool,
    /// The command to start beside the editor; empty if there is none.
    pub(crate) command: Vec<String>,
    paths: Vec<PathBuf>,
}

/// The treatment of a proposed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDiff {
    Ask,
    Accept,
    Reject,
    Hold,
}

impl Options {
    /// Parses the command line. Returns `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            headless: false,
            port: 0,
            token: None,
            asks_for_token: true,
            name: None,
            dialect: Dialect::VsCode,
            on_diff: OnDiff::Ask,
            ignores: true,
            resumes: false,
            gives_tools: false,
            command: Vec::new(),
            paths: Vec::new(),
        };
        while !options.take_command(&mut parser)? {
            let Some(argument) = parser.next()? else { break };
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("headless") => options.headless = true,
                Long("port") => options.port = parse_port(&parser.value()?, 0)?,
                Long("token-of") => options.token = Some(token_of(&PathBuf::from(parser.value()?))?),
                Long("no-token") => options.asks_for_token = false,
                Long("name") => options.name = Some(parser.value()?.string()?),
                Long("dialect") => options.dialect = parser.value()?.parse_with(dialect)?,
                Long("on-diff") => options.on_diff = parser.value()?.parse_with(OnDiff::parse)?,
                Long("no-ignore") => options.ignores = false,
                Long("resume") => options.resumes = true,
                Long("mcp-config") => options.gives_tools = true,
                Value(path) => options.paths.push(path.into()),
                other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
            }
        }
        if options.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
            return Err("--name takes a name that agents can show, not an empty one".into());
        }
        if options.token.is_some() && !options.asks_for_token {
            return Err("--token-of and --no-token exclude each other".into());
        }
        if options.resumes && (options.port != 0 || options.token.is_some() || !options.asks_for_token) {
            return Err("--resume takes the port and the token of the last run: leave --port, --token-of and --no-token out".into());
        }
        if options.gives_tools && options.command.is_empty() {
            return Err("--mcp-config gives the tools to a command: add -- claude, for example".into());
        }
        Ok(Some(options))
    }

    /// Takes the command after `--`. Returns true if there is one.
    fn take_command(&mut self, parser: &mut lexopt::Parser) -> Result<bool, lexopt::Error> {
        let Some(mut rest) = parser.try_raw_args() else { return Ok(false) };
        if rest.next_if(|argument| argument == "--").is_none() {
            return Ok(false);
        }
        self.command = rest.map(|word| word.string()).collect::<Result<_, _>>()?;
        if self.command.is_empty() {
            return Err("a command is missing after --, such as claude".into());
        }
        Ok(true)
    }

    /// Opens the folders, and returns them with the files to show. A path that can be neither is an error.
    pub(crate) fn open(&self) -> Result<(Folders, Vec<Target>), String> {
        let Named { folders, files } = Named::of(&self.paths)?;
        let folders = Folders::open(&folders)?;
        Ok((if self.ignores { folders.with_ignored() } else { folders }, files))
    }

    /// Returns the name of the editor for agents. A name of the person stays as it is.
    pub(crate) fn name(&self, neighbors: &Neighbors) -> String {
        self.name.clone().unwrap_or_else(|| neighbors.free_name("ide-mcp editor"))
    }

    /// Returns the interface of the editor, or the reason why there can be none.
    pub(crate) fn face(&self) -> Result<Face, String> {
        let terminal = env::var("TERM").unwrap_or_default();
        face(self.headless, io::stdin().is_terminal(), io::stdout().is_terminal(), &terminal)
    }
}

/// The interface of the editor: a screen, or lines of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Screen,
    Headless,
}

fn face(headless: bool, input: bool, output: bool, terminal: &str) -> Result<Face, String> {
    match (headless, input, output) {
        (true, _, _) | (_, _, false) => Ok(Face::Headless),
        // A screen would ignore commands from a file or a program.
        (_, false, true) => {
            Err("standard output is a terminal and standard input is none, so there are no keys for \
                                 a screen; --headless takes commands"
                .into())
        }
        (_, true, true) if matches!(terminal, "" | "dumb") => {
            Err(format!("this terminal (TERM={terminal}) can show no screen; --headless needs none"))
        }
        (_, true, true) => Ok(Face::Screen),
    }
}

fn token_of(path: &Path) -> Result<AuthToken, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("--token-of {path:?}: {error}"))?;
    let file = LockFile::parse(&text).map_err(|error| format!("--token-of {path:?}: {error}"))?;
    file.auth_token.ok_or_else(|| format!("--token-of {path:?}: the lock file has no token"))
}

fn dialect(text: &str) -> Result<Dialect, &'static str> {
    match text {
        "vs-code" => Ok(Dialect::VsCode),
        "jetbrains" => Ok(Dialect::JetBrains),
        "snake-case" => Ok(Dialect::SnakeCase),
        "obsidian" => Ok(Dialect::Obsidian),
        _ => Err("--dialect takes vs-code, jetbrains, snake-case or obsidian"),
    }
}

impl OnDiff {
    fn parse(text: &str) -> Result<Self, &'static str> {
        match text {
            "ask" => Ok(Self::Ask),
            "accept" => Ok(Self::Accept),
            "reject" => Ok(Self::Reject),
            "hold" => Ok(Self::Hold),
            _ => Err("--on-diff takes ask, accept, reject or hold"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_requires_terminal_input_and_output() {
        let cases = [
            ("at a terminal", false, true, true, "xterm", Ok(Face::Screen)),
            ("asked for none", true, true, true, "xterm", Ok(Face::Headless)),
            ("run by a program", false, false, false, "", Ok(Face::Headless)),
            ("its events go to a program", false, true, false, "xterm", Ok(Face::Headless)),
            ("its commands come from one", false, false, true, "xterm", Err("--headless takes commands")),
            ("the same, and asked for none", true, false, true, "xterm", Ok(Face::Headless)),
            ("a terminal that shows lines", false, true, true, "dumb", Err("TERM=dumb")),
        ];
        for (name, headless, input, output, terminal, expected) in cases {
            match (face(headless, input, output, terminal), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{name}"),
                (Err(problem), Err(expected)) => assert!(problem.contains(expected), "{name}: {problem}"),
                (found, _) => panic!("{name}: {found:?}"),
            }
        }
    }
}
