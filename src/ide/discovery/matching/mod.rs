//! The choice of a client among lock files (measured, see docs/evidence.md), with a reason for each one it refuses.
//! Pure: what the disk and the process table say is handed in.
//!
//! Paths are compared as text, component by component. The real client compares one spelling of a folder. This module
//! also accepts the other [spellings](crate::ide::paths::spellings); [`MatchReason`] distinguishes the two cases. Symbolic
//! links are the caller's business, hence the two forms of the working directory in [`AgentContext`].

mod refusal;

pub use refusal::Refusal;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use crate::ide::paths::{Fit, System, fit, resolved};
use crate::ide::{LockFile, Transport};

/// Returns which of `files` a client in `context` may connect to.
///
/// A file that cannot be read, that does not speak WebSocket or whose process is dead is never accepted. If
/// [`AgentContext::port`] names one of the rest, that one is accepted alone and its folders are not looked at; if it names
/// none, it is as if it were not set. Otherwise each file is accepted that has a folder which is the working directory
/// or contains it; a relative folder is resolved against the working directory. With [`AgentContext::any_folder`],
/// files without such a folder are accepted too. Of the accepted files the best matches stay: [`MatchReason`] has its
/// variants in that order.
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

/// A lock file with what is known about it. `E` is the reason why it could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<E = crate::ide::LockFileError> {
    /// The port in its name ([`LockForm::port_of`](crate::ide::LockForm::port_of)).
    pub port: u16,
    /// What it says.
    pub file: Result<LockFile, E>,
    /// Whether its process lives; `None` where that cannot be known, as for a process of Windows seen from WSL.
    pub pid_alive: Option<bool>,
    /// When it was last written, since any start that is the same for all of them. Unknown counts as oldest.
    pub modified: Option<Duration>,
}

/// What the choice depends on at the client. [`ClientEnv`](crate::ide::ClientEnv) has the values of its variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentContext<'a> {
    /// The working directory as the person sees it.
    pub cwd: &'a str,
    /// The working directory without symbolic links, which is all that the real client looks at; `None` if it is not
    /// known. A folder that contains either form matches.
    pub canonical: Option<&'a str>,
    /// `CLAUDE_CODE_SSE_PORT`: [`ClientEnv::port`](crate::ide::ClientEnv::port).
    pub port: Option<u16>,
    /// True if the folder check is off, as with `CLAUDE_CODE_IDE_SKIP_VALID_CHECK`:
    /// [`ClientEnv::skips_folder_check`](crate::ide::ClientEnv::skips_folder_check).
    pub any_folder: bool,
    /// The system of the client, which decides about spellings. Default [`System::native`]; `ide_mcp_lockfile::system`
    /// recognises WSL.
    pub system: System<'a>,
}

/// The outcome: every lock file is in one of the two lists, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Matching {
    /// Those a client may connect to, one for a port.
    pub accepted: Vec<Accepted>,
    /// The others.
    pub refused: Vec<Refused>,
}

impl Matching {
    /// Keeps the files that fit best: what the real client compares comes before another spelling, and both before what
    /// was not checked.
    fn keep_best(&mut self) {
        let Some(best) = self.accepted.iter().min_by_key(|accepted| accepted.reason.rank()) else { return };
        let (rank, reason) = (best.reason.rank(), Refusal::BetterMatch { port: best.port });
        let (kept, worse) = self.accepted.drain(..).partition(|accepted| accepted.reason.rank() == rank);
        self.accepted = kept;
        let refuse = |Accepted { index, port, .. }| Refused { index, port, reason: reason.clone() };
        self.refused.extend(Vec::into_iter(worse).map(refuse));
    }

    /// The one to connect to unasked: the only one that was accepted. Among several a person has to pick.
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
    /// Its index in the list that was handed in.
    pub index: usize,
    /// Its port.
    pub port: u16,
    /// Why it fits.
    pub reason: MatchReason,
}

/// Why a lock file fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchReason {
    /// The environment names its port.
    Port,
    /// One of its folders, this one, contains the working directory.
    Folder(String),
    /// This folder of the editor contains the working directory, but is spelled differently: in another case, or as
    /// the other side of WSL writes it. The real client may not recognise it.
    Spelling(String),
    /// [`AgentContext::any_folder`]: none of its folders contains the working directory.
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
    /// Its index in the list that was handed in.
    pub index: usize,
    /// Its port.
    pub port: u16,
    /// Why not.
    pub reason: Refusal,
}

/// Checks that an editor speaks WebSocket, as a client does before it looks at anything else.
///
/// # Errors
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
        // The better of the two forms counts.
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
