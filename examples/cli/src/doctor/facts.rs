//! What was seen: the variables, the directories, the lock files and what their ports answered. Plain values, so that the
//! rules need no disk and no socket. No value here shows a token.

use crate::support::find::Here;
use ide_mcp::ide::locate::Source;
use ide_mcp::ide::matching::Candidate;
use ide_mcp::ide::{ClientEnv, LockFile};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) use ide_mcp::ide::paths::System;
pub(crate) use ide_mcp_lockfile::Weakness;

/// Everything that the rules look at.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) variables: Variables,
    pub(crate) here: Here,
    pub(crate) system: System<'static>,
    /// Those that may hold lock files, or why none can be named.
    pub(crate) directories: Result<Vec<Directory>, String>,
    pub(crate) locks: Vec<Lock>,
    /// Lock files that are no more, since that was asked for.
    pub(crate) removed: Vec<Removed>,
}

/// The variables that are set, of those that matter.
#[derive(Debug, Default)]
pub(crate) struct Variables(pub(crate) BTreeMap<&'static str, String>);

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns those by which a client decides.
    pub(crate) fn client(&self) -> ClientEnv {
        ClientEnv::read(|name| self.get(name).map(Into::into))
    }
}

#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: String,
    pub(crate) source: Source,
    /// Whether the real client looks there.
    pub(crate) used: bool,
    pub(crate) state: State,
    /// The directories above it that others than its user can change.
    pub(crate) weak: Vec<Weak>,
}

impl Directory {
    /// Returns true if the programs of this library do not read it, for the sake of another user.
    pub(crate) fn is_refused(&self) -> bool {
        let is_strange = matches!(self.state, State::There { stranger: Some(_), .. });
        is_strange || self.weak.iter().any(|weak| !matches!(weak.weakness, Weakness::WritableByGroup { .. }))
    }
}

#[derive(Debug)]
pub(crate) struct Weak {
    pub(crate) path: String,
    pub(crate) weakness: Weakness,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum State {
    Missing,
    NotADirectory,
    Unreadable(String),
    There {
        /// Its permission bits, where there are any.
        mode: Option<u32>,
        /// Its owner, if that is not us.
        stranger: Option<u32>,
    },
}

#[derive(Debug)]
pub(crate) struct Lock {
    pub(crate) path: String,
    /// Which of the directories it is in.
    pub(crate) directory: usize,
    /// Whether the real client looks there.
    pub(crate) used: bool,
    pub(crate) port: Option<u16>,
    pub(crate) file: Result<LockFile, Trouble>,
    pub(crate) mode: Option<u32>,
    pub(crate) pid_alive: Option<bool>,
    pub(crate) modified: Option<Duration>,
    /// What its port answered; `None` if it was not asked.
    pub(crate) probe: Option<Probe>,
    /// The process that listens on the port, if the system tells it. Another than that of the lock file is no fault: an editor
    /// can have several, and a sidecar names its editor.
    pub(crate) listener: Option<u32>,
}

impl Lock {
    /// The same for the matching of the client; `None` if it has no port.
    pub(crate) fn listed(&self) -> Option<Candidate<&'static str>> {
        Some(Candidate {
            port: self.port?,
            file: self.file.as_ref().map(Clone::clone).map_err(|_| "see above"),
            pid_alive: self.pid_alive,
            modified: self.modified,
        })
    }
}

/// Why a lock file says nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Misnamed,
    Link,
    NotAFile,
    NotOurs { owner: u32 },
    Unparsable(String),
    Unreadable(String),
}

/// What became of a connection to a port.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Nobody listens.
    Refused,
    /// It could not be connected for another reason.
    Unreachable(String),
    /// Somebody listens. Nothing was said, since the process of the lock file is dead and the token is not everybody's.
    Open,
    /// Another user listens. Nothing was said.
    NotOurs { owner: u32, us: u32 },
    /// Somebody listens, and is in no table of sockets. Nothing was said.
    WithoutOwner,
    Asked {
        with_token: Answer,
        /// `None` where the lock file has no token, or nothing was to be expected.
        without_token: Option<Answer>,
        with_origin: Option<Answer>,
    },
}

/// What an attempt to attach came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Attached,
    /// The token or the like is refused.
    Refused(String),
    /// Another refusal in HTTP.
    Declined(String),
    Full,
    NoSubprotocol,
    /// Let in, but no session.
    NoSession(String),
    Silent,
    /// No WebSocket at all.
    Alien(String),
}

#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) path: String,
    pub(crate) name: String,
}
