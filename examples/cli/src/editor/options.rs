//! The command line.

use crate::support::parse_port;
use ide_mcp::ide::{AuthToken, LockFile};
use lexopt::prelude::*;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) const USAGE: &str = "\
An editor that coding agents attach to.

usage: ide-mcp editor [--headless] [--port N] [--token-of FILE | --no-token] [--name NAME] [--on-diff HOW] [DIR…]

At a terminal it has a screen; F1 there says which keys there are. Where standard output is no terminal, or with
--headless, events are lines of JSON on standard output and commands lines of JSON on standard input.

  --headless      without a screen, at a terminal too
  --port N        listen on this port of 127.0.0.1 (default: 0, one that is free)
  --token-of FILE accept the token of this lock file (default: a new one) from programs of your own user alone, since it
                  outlived its editor and others can know it; as an argument others would see it
  --no-token      let in whoever reaches the port, for clients that cannot send a token
  --name NAME     what agents call the editor (default: ide-mcp editor)
  --on-diff HOW   what happens to a proposed change: ask (default) whoever is at the screen or sends the commands,
                  accept or reject it at once, or hold it open
  DIR…            the open folders (default: the working directory); no file outside of them is read

The screen ends with Ctrl+Q, SIGINT, SIGTERM, SIGHUP or SIGQUIT. Without one the editor ends with SIGINT, SIGTERM,
{\"cmd\":\"quit\"}, or the end of standard input, the last two after the commands before them, 5 s later at most. If no
program sends commands, standard input has to stay open: sleep infinity | ide-mcp editor --headless. The editor also ends
if its events are not read: standard output is closed, or 16 MiB of events wait. Open diffs are rejected on the way out.

The lock file is written below CLAUDE_CONFIG_DIR, or ~/.claude, and removed at the end.

commands, without a screen:
  {\"cmd\":\"open\",\"path\":\"a.txt\"}
  {\"cmd\":\"select\",\"path\":\"a.txt\",\"start\":[0,0],\"end\":[0,5]}     lines and UTF-16 columns, from 0
  {\"cmd\":\"clear\"}                                               nothing is selected any more
  {\"cmd\":\"mention\",\"path\":\"a.txt\",\"lines\":[0,1],\"conn\":1}       lines and conn may be left out
  {\"cmd\":\"answer\",\"verdict\":\"accept\"}                           or reject; where one diff is open
  {\"cmd\":\"answer\",\"tab\":\"…\",\"verdict\":\"accept\",\"contents\":\"…\"}  contents: what the proposal was changed to
  {\"cmd\":\"tools\",\"offer\":[\"openDiff\",\"openFile\"]}               the tools offered from now on (all at the start:
                                                                openDiff, getDiagnostics, openFile)
  {\"cmd\":\"quit\"}
Where two agents have the same tab, \"conn\" says which is answered.

exit status: 0; 1 if it cannot go on, for example where nobody reads its events any more; 2 if it cannot begin";

#[derive(Debug)]
pub(crate) struct Options {
    headless: bool,
    pub(crate) port: u16,
    pub(crate) token: Option<AuthToken>,
    /// Whether it has to be known.
    pub(crate) asks_for_token: bool,
    pub(crate) name: String,
    pub(crate) on_diff: OnDiff,
    pub(crate) folders: Vec<PathBuf>,
}

/// What happens to a proposed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDiff {
    Ask,
    Accept,
    Reject,
    Hold,
}

impl Options {
    /// `None` if help was asked for.
    pub(crate) fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let mut options = Self {
            headless: false,
            port: 0,
            token: None,
            asks_for_token: true,
            name: "ide-mcp editor".into(),
            on_diff: OnDiff::Ask,
            folders: Vec::new(),
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("headless") => options.headless = true,
                Long("port") => options.port = parse_port(&parser.value()?, 0)?,
                Long("token-of") => options.token = Some(token_of(&PathBuf::from(parser.value()?))?),
                Long("no-token") => options.asks_for_token = false,
                Long("name") => options.name = parser.value()?.string()?,
                Long("on-diff") => options.on_diff = parser.value()?.parse_with(OnDiff::parse)?,
                Value(folder) => options.folders.push(folder.into()),
                other @ (Short(_) | Long(_)) => return Err(other.unexpected()),
            }
        }
        if options.name.trim().is_empty() {
            return Err("--name takes a name that agents can show, not an empty one".into());
        }
        if options.token.is_some() && !options.asks_for_token {
            return Err("--token-of and --no-token exclude each other".into());
        }
        if options.folders.is_empty() {
            options.folders.push(".".into());
        }
        Ok(Some(options))
    }

    /// Whether there is a screen, or why there is neither.
    pub(crate) fn face(&self) -> Result<Face, String> {
        let terminal = env::var("TERM").unwrap_or_default();
        face(self.headless, io::stdin().is_terminal(), io::stdout().is_terminal(), &terminal)
    }
}

/// How the editor is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Screen,
    Headless,
}

fn face(headless: bool, input: bool, output: bool, terminal: &str) -> Result<Face, String> {
    match (headless, input, output) {
        (true, _, _) | (_, _, false) => Ok(Face::Headless),
        // Commands that come from a file or a program would be passed over.
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
    fn a_screen_needs_a_terminal_on_both_sides() {
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
