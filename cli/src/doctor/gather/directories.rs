//! The directories, and the lock files in them.

use crate::doctor::facts::{Directory, Lock, PASS, State, Trouble, Weak};
use ide_mcp::ide::discovery::locate::{Extras, LockDirCandidate};
use ide_mcp_lockfile::{Error, Found, from_environment, scan_for, weak_parents};
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A directory; true if the real client looks for lock files there.
pub(super) type Asked = (LockDirCandidate, bool);

/// Returns the directories of the real client, then other directories in which some editors write.
pub(super) fn candidates() -> Result<Vec<Asked>, Error> {
    let mut all: Vec<Asked> =
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

pub(super) fn look(candidates: Vec<Asked>) -> (Vec<Directory>, Vec<Lock>) {
    let (mut directories, mut locks) = (Vec::new(), Vec::new());
    for (index, (candidate, used)) in candidates.into_iter().enumerate() {
        let state = match fs::metadata(&candidate.dir) {
            Ok(metadata) if metadata.is_dir() => match scan_for(candidate.form(), &candidate.dir) {
                Ok(found) => {
                    locks.extend(found.into_iter().map(|found| lock(found, index, used)));
                    State::There { mode: mode(&metadata), stranger: stranger(&metadata) }
                }
                // The finding about the owner has more detail.
                Err(Error::NotOurs { owner, .. }) => {
                    State::There { mode: mode(&metadata), stranger: Some(owner) }
                }
                // The findings about the directories above it have more detail too.
                Err(Error::ParentNotOurs { .. } | Error::ParentTooOpen { .. }) => {
                    State::There { mode: mode(&metadata), stranger: None }
                }
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

/// Returns true if a directory above this one lets no other user through.
fn is_closed_above(dir: &Path) -> bool {
    let passes =
        |dir: &Path| fs::metadata(dir).ok().as_ref().and_then(mode).is_none_or(|mode| mode & PASS != 0);
    dir.canonicalize().is_ok_and(|dir| !dir.ancestors().skip(1).all(passes))
}

/// Returns the reason why there is no such directory, from the root down.
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

#[cfg(unix)]
fn mode(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(metadata.mode() & 0o7777)
}

#[cfg(unix)]
fn stranger(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(metadata.uid()).filter(|uid| *uid != rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(not(unix))]
fn stranger(_: &Metadata) -> Option<u32> {
    None
}
