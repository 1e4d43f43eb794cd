//! Which lock file a client takes (measured, see docs/protocol.md), and why it refuses the others. There is no I/O
//! here: you pass the facts from the disk and the process table.
//!
//! Paths are compared as strings, component by component. The real client compares one spelling of a folder; we also
//! accept its other [spellings](crate::ide::paths::spellings), and [`MatchReason`] tells which one matched. Resolving
//! symbolic links is up to you, so [`AgentContext`] has two forms of the working directory.

mod refusal;

pub use refusal::Refusal;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use super::{LockFile, Transport};
use crate::ide::paths::{Fit, System, fit, resolved};

/// Returns the files that a client in `context` can connect to, and the refused ones.
///
/// A file is usable if it can be read, its transport is WebSocket, and its process is not dead. Nothing else is ever
/// accepted. If [`AgentContext::port`] names a usable file, only that one is accepted, whatever its folders. Otherwise
/// the port is ignored and the folders decide: one of them must be the working directory or contain it. A relative
/// folder is resolved against the working directory. With [`AgentContext::any_folder`], usable files without such a
/// folder are accepted too. Of the accepted files only the best matches stay; the variants of [`MatchReason`] are
/// ordered from best to worst.
#[must_use]
pub fn choose<E: fmt::Display>(files: &[Candidate<E>], context: &AgentContext<'_>) -> Matching {
    let mut newest_first: Vec<(usize, &Candidate<E>)> = files.iter().enumerate().collect();
    newest_first.sort_by_key(|(_, file)| Reverse(file.modified));

    let named = newest_first.iter().find(|(_, file)| Some(file.port) == context.port && usable(file).is_ok());
    let named = named.map(|(index, file)| (*index, file.port));

    let mut matching = Matching::default();
    for (index, file) in newest_first {
        let port = file.port;
        let verdict = usable(file).and_then(|lock_file| match named {
            Some((chosen, _)) if chosen == index => Ok(MatchReason::Port),
            Some((_, named)) if named != port => Err(Refusal::OtherPort { port: named }),
            Some(_) => Err(Refusal::Superseded),
            None => by_folder(lock_file, port, context),
        });
        match verdict {
            Ok(_) if matching.accepted.iter().any(|other| other.port == port) => {
                matching.refused.push(Refused { index, port, reason: Refusal::Superseded });
            }
            Ok(reason) => matching.accepted.push(Accepted { index, port, reason }),
            Err(reason) => matching.refused.push(Refused { index, port, reason }),
        }
    }
    matching.keep_best();
    matching
}

/// A lock file, with what you know about its process and its age. `E` says why the file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<E = super::LockFileError> {
    /// The port in the name of the file ([`LockForm::port_of`](crate::ide::discovery::LockForm::port_of)).
    pub port: u16,
    /// The content of the file.
    pub file: Result<LockFile, E>,
    /// True if the process of the file is alive; `None` if you cannot know, as for a Windows process seen from WSL.
    pub pid_alive: Option<bool>,
    /// When the file was last written, counted from any time that is the same for all candidates. `None` counts as
    /// oldest.
    pub modified: Option<Duration>,
}

/// What the choice depends on. [`ClientEnv`](crate::ide::discovery::client_env::ClientEnv) has the values of the
/// variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentContext<'a> {
    /// The working directory as the person sees it.
    pub cwd: &'a str,
    /// The working directory with symbolic links resolved, the only form that the real client compares; `None` if you
    /// do not know it. A folder that contains either form matches.
    pub canonical: Option<&'a str>,
    /// The port in `CLAUDE_CODE_SSE_PORT`: [`ClientEnv::port`](crate::ide::discovery::client_env::ClientEnv::port).
    pub port: Option<u16>,
    /// True if the folder check is off, as with `CLAUDE_CODE_IDE_SKIP_VALID_CHECK`:
    /// [`ClientEnv::skips_folder_check`](crate::ide::discovery::client_env::ClientEnv::skips_folder_check).
    pub any_folder: bool,
    /// The system of the client, which determines the spellings. Default [`System::native`]; `ide_mcp_lockfile::system`
    /// detects WSL.
    pub system: System<'a>,
}

/// What [`choose`] decided: each lock file is in one of the two lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matching {
    /// The files that a client can connect to, one for each port, newest first.
    pub accepted: Vec<Accepted>,
    /// The other files, newest first. Files with [`Refusal::BetterMatch`] come last.
    pub refused: Vec<Refused>,
}

impl Matching {
    /// Keeps the files that fit best: the spelling that the real client compares, then another spelling, then a folder
    /// that was not checked.
    fn keep_best(&mut self) {
        let Some(best) = self.accepted.iter().min_by_key(|accepted| accepted.reason.rank()) else { return };
        let (rank, reason) = (best.reason.rank(), Refusal::BetterMatch { port: best.port });
        let (kept, worse) = self.accepted.drain(..).partition(|accepted| accepted.reason.rank() == rank);
        self.accepted = kept;
        let refuse = |Accepted { index, port, .. }| Refused { index, port, reason: reason.clone() };
        self.refused.extend(Vec::into_iter(worse).map(refuse));
    }

    /// Returns the only accepted file; `None` if there is none, or if a person must choose among several.
    #[must_use]
    pub fn unique(&self) -> Option<&Accepted> {
        match self.accepted.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// A lock file that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Accepted {
    /// The index of the file in the list of candidates.
    pub index: usize,
    /// The port of the file.
    pub port: u16,
    /// Why the file fits.
    pub reason: MatchReason,
}

/// Why a lock file fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchReason {
    /// The environment names its port.
    Port,
    /// This folder contains the working directory.
    Folder(String),
    /// This folder contains the working directory in another spelling: in another case, or as the other side of WSL
    /// writes it. The real client may not recognize it.
    Spelling(String),
    /// No folder contains the working directory, but [`AgentContext::any_folder`] is set.
    Unchecked,
}

impl MatchReason {
    const fn rank(&self) -> u8 {
        match self {
            Self::Port | Self::Folder(_) => 0,
            Self::Spelling(_) => 1,
            Self::Unchecked => 2,
        }
    }
}

/// A lock file that does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refused {
    /// The index of the file in the list of candidates.
    pub index: usize,
    /// The port of the file.
    pub port: u16,
    /// Why the file does not fit.
    pub reason: Refusal,
}

/// Checks that the transport of an editor is WebSocket, as a client does before anything else.
///
/// # Errors
///
/// [`Refusal::Transport`] or [`Refusal::NoTransport`].
pub fn check_transport(file: &LockFile) -> Result<(), Refusal> {
    match &file.transport {
        Transport::WebSocket => Ok(()),
        Transport::Missing => Err(Refusal::NoTransport),
        other @ (Transport::Sse | Transport::Other(_)) => {
            Err(Refusal::Transport { transport: other.as_str().to_string() })
        }
    }
}

fn usable<E: fmt::Display>(candidate: &Candidate<E>) -> Result<&LockFile, Refusal> {
    let file = candidate.file.as_ref().map_err(|error| Refusal::Unreadable { reason: error.to_string() })?;
    check_transport(file)?;
    if candidate.pid_alive == Some(false) {
        return Err(Refusal::Dead { pid: file.pid });
    }
    Ok(file)
}

fn by_folder(file: &LockFile, port: u16, context: &AgentContext<'_>) -> Result<MatchReason, Refusal> {
    let system = context.system;
    let fits = |folder: &String| {
        let paths = [context.cwd].into_iter().chain(context.canonical);
        // Of the two forms of the working directory, the one that fits better counts.
        paths
            .filter_map(|path| fit(&resolved(folder, path, system), path, system, file.running_in_windows))
            .min()
    };
    let best = file.workspace_folders.iter().filter_map(|folder| Some((fits(folder)?, folder)));
    match best.min_by_key(|(fit, _)| *fit) {
        Some((Fit::Exact, folder)) => Ok(MatchReason::Folder(folder.clone())),
        Some((Fit::Spelled, folder)) => Ok(MatchReason::Spelling(folder.clone())),
        None if context.any_folder => Ok(MatchReason::Unchecked),
        None if file.workspace_folders.is_empty() => Err(Refusal::NoFolders { port }),
        None => Err(Refusal::Elsewhere { folders: file.workspace_folders.clone() }),
    }
}

#[cfg(test)]
mod tests;
