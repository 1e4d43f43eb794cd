//! The choice of a client among lock files (measured, see docs/evidence.md), with a reason for each one it refuses.
//! Pure: what the disk and the process table say is handed in.
//!
//! Paths are compared as text, component by component; to an editor on Windows, `D:\p` is `/mnt/d/p` of a client in WSL.
//! Symbolic links are the caller's business, hence the two forms of the working directory in [`Place`].

mod refusal;

pub use refusal::Refusal;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt;
use core::time::Duration;

use super::paths::{contains, is_drive};
use super::{LockFile, Transport};

/// Which of `files` a client in `place` may connect to.
///
/// A file that cannot be read, that does not speak WebSocket or whose process is dead is never accepted. If
/// [`Place::port`] names one of the rest, that one is accepted alone and its folders are not looked at; if it names
/// none, it is as if it were not set. Otherwise each file is accepted that has a folder which is the working directory
/// or contains it.
#[must_use]
pub fn choose<E: fmt::Display>(files: &[Listed<E>], place: &Place<'_>) -> Matching {
    let mut newest_first: Vec<(usize, &Listed<E>)> = files.iter().enumerate().collect();
    newest_first.sort_by_key(|(_, file)| Reverse(file.modified));

    let named = newest_first.iter().find(|(_, file)| Some(file.port) == place.port && usable(file).is_ok());
    let named = named.map(|(index, file)| (*index, file.port));

    let mut matching = Matching::default();
    for (index, file) in newest_first {
        let port = file.port;
        let verdict = usable(file).and_then(|lock_file| match named {
            Some((chosen, _)) if chosen == index => Ok(Because::Port),
            Some((_, named)) if named != port => Err(Refusal::OtherPort { port: named }),
            Some(_) => Err(Refusal::Superseded),
            None => by_folder(lock_file, port, place),
        });
        match verdict {
            Ok(_) if matching.accepted.iter().any(|other| other.port == port) => {
                matching.refused.push(Refused { index, port, reason: Refusal::Superseded });
            }
            Ok(because) => matching.accepted.push(Accepted { index, port, because }),
            Err(reason) => matching.refused.push(Refused { index, port, reason }),
        }
    }
    matching
}

/// A lock file with what is known about it. `E` is the reason why it could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed<E = super::LockFileError> {
    /// The port in its name ([`LockForm::port_of`](super::LockForm::port_of)).
    pub port: u16,
    /// What it says.
    pub file: Result<LockFile, E>,
    /// Whether its process lives; `None` where that cannot be known, as for a process of Windows seen from WSL.
    pub pid_alive: Option<bool>,
    /// When it was last written, since any start that is the same for all of them. Unknown counts as oldest.
    pub modified: Option<Duration>,
}

/// Where the client is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place<'a> {
    /// The working directory as the person sees it.
    pub cwd: &'a str,
    /// The working directory without symbolic links, which is all that the real client looks at; `None` if it is not
    /// known. A folder that contains either form matches.
    pub canonical: Option<&'a str>,
    /// `CLAUDE_CODE_SSE_PORT`, read with [`LockFile::parse_port`].
    pub port: Option<u16>,
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
    /// The one to connect to unasked: the only one that was accepted. Among several a person has to pick.
    #[must_use]
    pub fn only(&self) -> Option<&Accepted> {
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
    pub because: Because,
}

/// Why a lock file fits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Because {
    /// The environment names its port.
    Port,
    /// One of its folders, this one, contains the working directory.
    Folder(String),
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

fn usable<E: fmt::Display>(listed: &Listed<E>) -> Result<&LockFile, Refusal> {
    let file = listed.file.as_ref().map_err(|error| Refusal::Unreadable { reason: error.to_string() })?;
    if file.transport != Transport::WebSocket {
        return Err(Refusal::Transport { transport: file.transport.as_str().to_string() });
    }
    if listed.pid_alive == Some(false) {
        return Err(Refusal::Dead { pid: file.pid });
    }
    Ok(file)
}

fn by_folder(file: &LockFile, port: u16, place: &Place<'_>) -> Result<Because, Refusal> {
    if file.workspace_folders.is_empty() {
        return Err(Refusal::NoFolders { port });
    }
    let mut paths: Vec<&str> = [place.cwd].into_iter().chain(place.canonical).collect();
    if file.running_in_windows {
        paths.extend([place.cwd].into_iter().chain(place.canonical).filter_map(drive_in_wsl));
    }
    let fits = |folder: &&String| paths.iter().any(|path| contains(folder, path));
    match file.workspace_folders.iter().find(fits) {
        Some(folder) => Ok(Because::Folder(folder.clone())),
        None => Err(Refusal::Elsewhere { folders: file.workspace_folders.clone() }),
    }
}

/// A path on a drive of Windows as a client in WSL sees it, `/mnt/d/p`, in the form `/d/p`, which is `D:\p`.
fn drive_in_wsl(path: &str) -> Option<&str> {
    path.strip_prefix("/mnt").filter(|path| is_drive(path.as_bytes()))
}

#[cfg(test)]
mod tests;
