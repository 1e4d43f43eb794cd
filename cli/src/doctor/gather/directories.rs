//! The directories, and the lock files in them.

use crate::doctor::facts::{Directory, Lock, PASS, State, Trouble, Weak};
use ide_mcp::ide::discovery::locate::{Extras, LockDirCandidate};
use ide_mcp_lockfile::{Error, Found, from_environment, open_to_others, scan_for, weak_parents};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A directory; true if the real client looks for lock files there.
pub(super) type Candidate = (LockDirCandidate, bool);

/// Returns the directories that the real client reads, then others that some editors write to.
pub(super) fn candidates() -> Result<Vec<Candidate>, Error> {
    let mut all: Vec<Candidate> =
        from_environment(Extras::default())?.into_iter().map(|candidate| (candidate, true)).collect();
    let none = Extras::default();
    for extras in [
        Extras { default_too: true, ..none },
        Extras { xdg: true, ..none },
        Extras { claude_code: true, ..none },
    ] {
        // A directory that cannot be named cannot be used either.
        for candidate in from_environment(extras).unwrap_or_default() {
            if !all.iter().any(|(other, _)| other.dir == candidate.dir) {
                all.push((candidate, false));
            }
        }
    }
    Ok(all)
}

pub(super) fn look(candidates: Vec<Candidate>) -> (Vec<Directory>, Vec<Lock>) {
    let (mut directories, mut locks) = (Vec::new(), Vec::new());
    for (index, (candidate, used)) in candidates.into_iter().enumerate() {
        let there = |other_owner| State::There { mode: mode(Path::new(&candidate.dir)), other_owner };
        let state = match fs::metadata(&candidate.dir) {
            Ok(metadata) if metadata.is_dir() => match scan_for(candidate.form(), &candidate.dir) {
                Ok(found) => {
                    locks.extend(found.into_iter().map(|found| lock(found, index, used)));
                    there(None)
                }
                // The finding about the owner has more detail.
                Err(Error::NotOurs { owner, .. }) => there(Some(owner)),
                // The findings about the directories above it have more detail too.
                Err(Error::ParentNotOurs { .. } | Error::ParentTooOpen { .. }) => there(None),
                Err(error) => State::Unreadable { path: candidate.dir.clone(), reason: error.to_string() },
            },
            _ => obstacle(Path::new(&candidate.dir)),
        };
        let weak = weak_parents(&candidate.dir).unwrap_or_default().into_iter();
        let weak = weak.map(|weak| Weak { path: shown(&weak.path), weakness: weak.weakness }).collect();
        let is_closed_above = is_closed_above(Path::new(&candidate.dir));
        directories.push(Directory {
            path: candidate.dir,
            source: candidate.source,
            used,
            state,
            weak,
            is_closed_above,
        });
    }
    (directories, locks)
}

/// Returns true if a directory above this one lets no other user through. On Windows every user passes every directory.
fn is_closed_above(dir: &Path) -> bool {
    let passes = |dir: &Path| mode(dir).is_none_or(|mode| mode & PASS != 0);
    !cfg!(windows) && dir.canonicalize().is_ok_and(|dir| !dir.ancestors().skip(1).all(passes))
}

/// Returns why there is no such directory, from the root down.
fn obstacle(dir: &Path) -> State {
    let mut parts: Vec<&Path> = dir.ancestors().collect();
    parts.reverse();
    let mut above = Path::new("/");
    for part in parts {
        match fs::metadata(part) {
            Ok(metadata) if metadata.is_dir() => above = part,
            Ok(_) => return State::NotADirectory(shown(part)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound if part.is_symlink() => return State::NotADirectory(shown(part)),
                ErrorKind::NotFound => return State::Missing,
                _ => return State::Unreadable { path: shown(above), reason: error.to_string() },
            },
        }
    }
    // The directory was made meanwhile.
    State::Missing
}

fn lock(found: Found, directory: usize, used: bool) -> Lock {
    let Found { path, port, file, modified, mode, pid_alive, .. } = found;
    let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let file = file.map_err(|error| match error {
        Error::NotAPort { .. } => Trouble::Misnamed,
        Error::Symlink { .. } => Trouble::Link,
        Error::NotRegular { .. } => Trouble::NotAFile,
        Error::NotOurs { owner, .. } => Trouble::NotOurs { owner },
        Error::Malformed { source, .. } => Trouble::Unparsable(source.to_string()),
        Error::Io { source, .. } => Trouble::Unreadable(source.to_string()),
        error => Trouble::Unreadable(error.to_string()),
    });
    // Windows has access rights in place of a mode.
    let mode = if cfg!(windows) { open_to_others(&path) } else { mode };
    let path = shown(&path);
    Lock {
        path,
        directory,
        used,
        port,
        file,
        mode,
        pid_alive,
        modified,
        probe: None,
        unknown_owner: None,
        listener: None,
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the permission bits of a directory, unless they mean nothing, as on a drive of Windows in WSL.
#[cfg(unix)]
fn mode(dir: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = fs::metadata(dir).ok()?.mode() & 0o7777;
    if mode & 0o077 == 0 { Some(mode) } else { open_to_others(dir) }
}

/// Returns the permission bits that mean the same as the access rights of other users, if they have any.
#[cfg(not(unix))]
fn mode(dir: &Path) -> Option<u32> {
    open_to_others(dir)
}
