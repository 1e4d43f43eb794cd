//! The command line.

use ide_mcp::ide::{AuthToken, LockFile};
use ide_mcp_examples::parse_port;
use lexopt::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const USAGE: &str = "\
An editor that coding agents attach to.

usage: editor [--headless] [--port N] [--token-of FILE | --no-token] [--name NAME] [--on-diff HOW] [DIR…]

  --headless      without a screen: events as lines of JSON on standard output, commands as lines of JSON on standard
                  input (the only way so far, so it may be left out)
  --port N        listen on this port of 127.0.0.1 (default: 0, one that is free)
  --token-of FILE let in who knows the token of this lock file (default: a new one); as an argument others
                  would see it
  --no-token      let in whoever reaches the port, for clients that cannot send a token
  --name NAME     what agents call the editor (default: ide-mcp editor)
  --on-diff HOW   what happens to a proposed change: ask whoever sends the commands (default), accept or reject it at
                  once, or hold it open
  DIR…            the open folders (default: the working directory); no file outside of them is read

It ends with SIGINT, SIGTERM, {\"cmd\":\"quit\"}, or the end of standard input. Where nobody sends commands, something
has to hold standard input open: sleep infinity | editor. Open diffs are rejected on the way out.

The lock file is written below CLAUDE_CONFIG_DIR, or ~/.claude, and removed at the end.

commands:
  {\"cmd\":\"open\",\"path\":\"a.txt\"}
  {\"cmd\":\"select\",\"path\":\"a.txt\",\"start\":[0,0],\"end\":[0,5]}     lines and UTF-16 columns, from 0
  {\"cmd\":\"mention\",\"path\":\"a.txt\",\"lines\":[0,1],\"conn\":1}       lines and conn may be left out
  {\"cmd\":\"answer\",\"verdict\":\"accept\"}                           or reject; where one diff is open
  {\"cmd\":\"answer\",\"tab\":\"…\",\"verdict\":\"accept\",\"contents\":\"…\"}  contents: what the proposal was changed to
  {\"cmd\":\"quit\"}
Where two agents have the same tab, \"conn\" says which is answered.

exit status: 0; 1 if it cannot go on, for example where nobody reads its events any more; 2 if it cannot begin";

#[derive(Debug)]
pub(crate) struct Options {
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
    pub(crate) fn parse() -> Result<Option<Self>, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let mut options = Self {
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
                Long("headless") => {}
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
