//! The command line of the editor.

use crate::editor::folders::Folders;
use crate::editor::neighbors::Neighbors;
use crate::editor::paths::{Named, Target};
use crate::support::parse_port;
use ide_mcp::ide::Dialect;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use lexopt::prelude::*;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) const USAGE: &str = "\
An editor that coding agents attach to, with a screen or without one.

usage: ide-mcp editor [OPTION…] [DIR…] [FILE…] [-- COMMAND…]

At a terminal the editor has a screen, and F1 shows its keys. With --headless,
or if standard output is no terminal, events and commands are lines of JSON.
The editor reads files only in its folders: each DIR, or the working directory,
or the folder of a FILE (or FILE:LINE:COLUMN) elsewhere. It starts COMMAND, such
as claude, in a split of tmux, or shows the line to type in another terminal.

  --headless, --json
                   use no screen, even at a terminal
  --port N         listen on this port of 127.0.0.1 (default: any free port)
  --resume         take the port and the token of the last run in these folders,
                   so that agents attach again by themselves
  --token-of FILE  accept the token of a lock file (default: a new token), and
                   only from programs of your own user
  --no-token       accept every program that reaches the port, for clients that
                   cannot send a token
  --name NAME      the name for agents (default: ide-mcp editor)
  --dialect vs-code|jetbrains|snake-case|obsidian
                   the names and message shapes (default: vs-code)
  --on-diff ask|accept|reject|hold
                   ask a person about a proposed change (default), accept it,
                   reject it, or hold it open
  --no-ignore      show agents also the files that .gitignore, .ignore and
                   .claudeignore name, but no files that usually have secrets
  --mcp-config     give COMMAND the tools of the editor, for its model
  -h, --help       print this help

examples:
  ide-mcp editor src/main.rs:12
  ide-mcp editor -- claude
  sleep infinity | ide-mcp editor --headless --on-diff accept

exit status: 0; 1 if the editor cannot go on, for example because its events
are not read; 2 if it cannot begin, or the command line is wrong
`ide-mcp help headless` has the commands and the events without a screen.";

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
                Long("headless" | "json") => options.headless = true,
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
        let Named { folders, files } = Named::of(&self.paths, Path::new("."))?;
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
