//! The facts: the variables, the directories, the lock files, and the answers of their ports. They
//! are plain values, so that the rules need no disk and no socket. No value displays a token.

use crate::support::Shell;
use ide_mcp::ide::discovery::LockFile;
use ide_mcp::ide::discovery::client_env::ClientEnv;
use ide_mcp::ide::discovery::locate::Source;
use ide_mcp::ide::discovery::matching::Candidate;
use ide_mcp_lockfile::{Unknown, WorkingDir};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) use ide_mcp::ide::paths::System;
pub(crate) use ide_mcp_lockfile::Weakness;

/// A string of fewer bytes does not count as a secret: it is easy to guess, and it would be hidden wherever it occurs
/// inside an ordinary word.
pub(crate) const SHORTEST_SECRET: usize = 8;

/// The mode bits that let a group or others into a directory.
pub(crate) const PASS: u32 = 0o011;

/// All facts for the rules.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) variables: Variables,
    pub(crate) here: Here,
    pub(crate) system: System<'static>,
    /// The shell that the commands are for.
    pub(crate) shell: Shell,
    /// True if a known agent is in PATH.
    pub(crate) has_agent: bool,
    /// The directories that can hold lock files, or the reason why none can be named.
    pub(crate) directories: Result<Vec<Directory>, String>,
    pub(crate) locks: Vec<Lock>,
    /// The lock files of dead processes, if the user asked the doctor to remove them.
    pub(crate) removed: Vec<Removed>,
    /// When the doctor looked, since the Unix epoch; ages are counted from here. `None` with `--watch`, because a
    /// finding with an age would change with every look.
    pub(crate) now: Option<Duration>,
}

/// The directory of the agent.
#[derive(Clone, Debug)]
pub(crate) struct Here {
    /// The path as the user sees it, with its symbolic links.
    pub(crate) logical: String,
    /// The path without symbolic links.
    pub(crate) canonical: String,
}

impl Here {
    pub(crate) fn new(logical: &str, canonical: &str) -> Self {
        Self { logical: plain(logical), canonical: plain(canonical) }
    }
}

impl From<&WorkingDir> for Here {
    fn from(dir: &WorkingDir) -> Self {
        Self::new(&dir.logical, &dir.canonical)
    }
}

/// Returns a Windows path without the prefix `\\?\`, which `canonicalize` adds, but no editor publishes and nobody types.
fn plain(path: &str) -> String {
    let is_drive = |rest: &&str| rest.as_bytes().get(1) == Some(&b':');
    match path.strip_prefix(r"\\?\UNC\") {
        Some(share) => format!(r"\\{share}"),
        None => path.strip_prefix(r"\\?\").filter(is_drive).unwrap_or(path).into(),
    }
}

/// The environment variables that matter here and are set.
#[derive(Debug, Default)]
pub(crate) struct Variables(pub(crate) BTreeMap<&'static str, String>);

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Returns the variables by which a client chooses its editor.
    pub(crate) fn client(&self) -> ClientEnv {
        ClientEnv::read(|name| self.get(name).map(Into::into))
    }
}

#[derive(Debug)]
pub(crate) struct Directory {
    pub(crate) path: String,
    pub(crate) source: Source,
    /// True if the real client looks for lock files there.
    pub(crate) used: bool,
    pub(crate) state: State,
    /// The directories above it that other users can change.
    pub(crate) weak: Vec<Weak>,
    /// True if a directory above it lets no other user through. Then its own mode does not matter, nor do those of its
    /// files.
    pub(crate) is_closed_above: bool,
    /// What keeps an editor from creating its lock file here.
    pub(crate) unwritable: Option<Unwritable>,
}

/// A directory in which the user cannot create files: the directory of lock files or, if that is missing, the one in
/// which it would have to be created.
#[derive(Debug)]
pub(crate) struct Unwritable {
    pub(crate) path: String,
    /// The owner, if it is another user.
    pub(crate) other_owner: Option<u32>,
}

impl Directory {
    /// Returns true if it, or a directory above it, lets no other user through to its files.
    pub(crate) fn is_closed(&self) -> bool {
        let closes = matches!(self.state, State::There { mode: Some(mode), .. } if mode & PASS == 0);
        self.is_closed_above || closes
    }

    /// Returns true if the programs of this library do not read it, because another user owns it or can replace it.
    pub(crate) fn is_refused(&self) -> bool {
        let is_strange = matches!(self.state, State::There { other_owner: Some(_), .. });
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
    /// A file or a dangling link is in its place, or in the place of a directory above it. This is the path of that file
    /// or link.
    NotADirectory(String),
    Unreadable {
        /// The topmost directory that denies access.
        path: String,
        reason: String,
        /// The owner of that directory, if it is another user.
        other_owner: Option<u32>,
    },
    There {
        /// The permission bits, on systems that have them.
        mode: Option<u32>,
        /// The owner, if it is another user.
        other_owner: Option<u32>,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct Lock {
    pub(crate) path: String,
    /// The index of its directory.
    pub(crate) directory: usize,
    /// True if the real client looks for lock files in its directory.
    pub(crate) used: bool,
    pub(crate) port: Option<u16>,
    pub(crate) file: Result<LockFile, Trouble>,
    pub(crate) mode: Option<u32>,
    pub(crate) pid_alive: Option<bool>,
    pub(crate) modified: Option<Duration>,
    /// The answer of its port; `None` if the doctor did not connect.
    pub(crate) probe: Option<Probe>,
    /// Why the doctor does not know which user owns the port, to which it sent the token.
    pub(crate) unknown_owner: Option<Unknown>,
    /// The process that listens on the port, if the system reports it. The lock file may name another one: an editor can
    /// have several processes, and a sidecar writes that of its editor.
    pub(crate) listener: Option<u32>,
}

impl Lock {
    /// Returns true if the lock file can be read and its process is not known to be dead.
    pub(crate) fn is_of_living_editor(&self) -> bool {
        self.file.is_ok() && self.pid_alive != Some(false)
    }

    /// Returns the time since the lock file was written.
    pub(crate) fn age(&self, now: Option<Duration>) -> Option<Duration> {
        Some(now?.saturating_sub(self.modified?))
    }

    /// Returns true if the editor accepted the token of the lock file.
    pub(crate) fn attaches(&self) -> bool {
        matches!(self.probe, Some(Probe::Attempted { with_token: Answer::Attached, .. }))
    }

    /// Returns true if `--remove-leftovers` would remove the file. A port that the doctor has not tried is taken to
    /// refuse.
    pub(crate) fn is_left_over(&self) -> bool {
        let is_named = self.file.as_ref().is_ok_and(|file| !file.ide_name.is_empty());
        is_named && self.pid_alive == Some(false) && matches!(self.probe, None | Some(Probe::Refused))
    }

    /// Returns true if nothing that a probe depends on has changed since an earlier look.
    pub(crate) fn is_unchanged_since(&self, before: &Self) -> bool {
        let key = |lock: &Self| (lock.path.clone(), lock.file.clone(), lock.modified, lock.pid_alive);
        key(self) == key(before)
    }

    /// Converts the lock file into what the client's choice is made from; `None` if it has no port.
    pub(crate) fn listed(&self) -> Option<Candidate<&'static str>> {
        Some(Candidate {
            port: self.port?,
            file: self.file.clone().map_err(|_| "see above"),
            pid_alive: self.pid_alive,
            modified: self.modified,
        })
    }
}

/// Why a lock file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    Misnamed,
    Link,
    NotAFile,
    NotOurs {
        owner: u32,
    },
    Unparsable(String),
    Unreadable {
        reason: String,
        /// The owner, if it is another user.
        other_owner: Option<u32>,
    },
}

/// The result of connecting to a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// Nobody listens.
    Refused,
    /// Connecting failed for another reason.
    Unreachable(String),
    /// A process listens. The doctor sent no token: the process of the lock file is dead, so the listener
    /// can be any program.
    Open {
        /// The answer to an opening handshake without a token.
        without_token: Answer,
    },
    /// Another user listens. The doctor sent nothing.
    NotOurs { owner: u32, us: u32 },
    /// A process listens, but the system's tables of sockets do not list it. The doctor sent nothing.
    WithoutOwner,
    Attempted {
        with_token: Answer,
        /// `None` if the lock file has no token, or the first answer makes this attempt useless.
        without_token: Option<Answer>,
        with_origin: Option<Answer>,
    },
}

impl Probe {
    /// Returns true if another attempt cannot cost the editor an agent, because the doctor did not get in
    /// or got no answer.
    pub(crate) fn can_be_repeated(&self) -> bool {
        match self {
            Self::Refused
            | Self::Unreachable(_)
            | Self::Open { .. }
            | Self::NotOurs { .. }
            | Self::WithoutOwner
            | Self::Attempted { with_token: Answer::Full | Answer::Silent, .. } => true,
            Self::Attempted { .. } => false,
        }
    }
}

/// The result of an attempt to attach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Attached,
    /// The editor refuses the token: by 401, or by the close code 1008.
    Refused(String),
    /// Another HTTP response that refuses.
    Declined(String),
    Full,
    NoSubprotocol,
    /// The editor accepts the connection, but opens no session.
    NoSession(String),
    Silent,
    /// The peer does not use WebSocket.
    Alien(String),
}

/// What `--remove-leftovers` did with a lock file whose process is dead.
#[derive(Clone, Debug)]
pub(crate) struct Removed {
    pub(crate) path: String,
    pub(crate) name: String,
    /// Why the file was not removed.
    pub(crate) stays: Option<String>,
}
