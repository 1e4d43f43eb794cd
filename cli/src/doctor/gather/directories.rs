//! The directories, and the lock files in them.

use crate::doctor::facts::{Directory, Lock, PASS, State, Trouble, Unwritable, Weak};
use ide_mcp::ide::discovery::locate::{Extras, LockDirCandidate, Source};
use ide_mcp_lockfile::{Error, Found, from_environment, open_to_others, scan_for, weak_parents};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// A directory, and whether the real client looks for lock files there.
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
        // If the variables give no path, no editor can have written there either.
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
                Err(Error::Io { source, .. }) => unreadable(Path::new(&candidate.dir), &source),
                Err(error) => unreadable(Path::new(&candidate.dir), &error),
            },
            _ => obstacle(Path::new(&candidate.dir)),
        };
        let weak = weak_parents(&candidate.dir).unwrap_or_default().into_iter();
        let weak = weak.map(|weak| Weak { path: shown(&weak.path), weakness: weak.weakness }).collect();
        let is_closed_above = is_closed_above(Path::new(&candidate.dir));
        // CLAUDE_CONFIG_DIR can name a directory of another user that is shared on purpose.
        let is_ours = |place: &Unwritable| candidate.source == Source::Home || place.other_owner.is_none();
        let unwritable = unwritable(Path::new(&candidate.dir), &state).filter(is_ours);
        directories.push(Directory {
            path: candidate.dir,
            source: candidate.source,
            used,
            state,
            weak,
            is_closed_above,
            unwritable,
        });
    }
    (directories, locks)
}

/// Returns true if a directory above this one lets no other user through. On Windows every user can pass through every
/// directory.
fn is_closed_above(dir: &Path) -> bool {
    let passes = |dir: &Path| mode(dir).is_none_or(|mode| mode & PASS != 0);
    !cfg!(windows) && dir.canonicalize().is_ok_and(|dir| !dir.ancestors().skip(1).all(passes))
}

/// Walks down from the root, and returns why this directory does not exist.
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
                _ => return unreadable(above, &error),
            },
        }
    }
    // The directory was created meanwhile.
    State::Missing
}

fn unreadable(dir: &Path, reason: &impl ToString) -> State {
    State::Unreadable { path: shown(dir), reason: reason.to_string(), other_owner: other_owner(dir) }
}

/// Returns the directory that keeps an editor from creating its lock file: the directory of lock files or, if that is
/// missing, its parent. A read-only file system does not count, because the editor of a container may run outside of it.
fn unwritable(dir: &Path, state: &State) -> Option<Unwritable> {
    let place = match state {
        State::There { other_owner: None, .. } => dir,
        State::Missing => dir.parent()?,
        _ => return None,
    };
    denies_writing(place).then(|| Unwritable { path: shown(place), other_owner: other_owner(place) })
}

#[cfg(unix)]
fn denies_writing(dir: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let access = accessat(CWD, dir, Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
    access == Err(rustix::io::Errno::ACCESS)
}

#[cfg(not(unix))]
const fn denies_writing(_: &Path) -> bool {
    false
}

/// Returns the owner, if it is another user.
#[cfg(unix)]
fn other_owner(path: &Path) -> Option<u32> {
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(path).ok()?);
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

#[cfg(not(unix))]
const fn other_owner(_: &Path) -> Option<u32> {
    None
}

fn lock(found: Found, directory: usize, used: bool) -> Lock {
    let Found { path, port, file, modified, mode, pid_alive, .. } = found;
    let modified = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let unreadable =
        |reason: String| Trouble::Unreadable { reason, other_owner: other_owner(Path::new(&path)) };
    let file = file.map_err(|error| match error {
        Error::NotAPort { .. } => Trouble::Misnamed,
        Error::Symlink { .. } => Trouble::Link,
        Error::NotRegular { .. } => Trouble::NotAFile,
        Error::NotOurs { owner, .. } => Trouble::NotOurs { owner },
        Error::Malformed { source, .. } => Trouble::Unparsable(source.to_string()),
        Error::Io { source, .. } => unreadable(source.to_string()),
        error => unreadable(error.to_string()),
    });
    // Windows has access rights instead of a mode.
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

/// Returns the permission bits of a directory, unless they mean nothing, as on a Windows drive in WSL.
#[cfg(unix)]
fn mode(dir: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = fs::metadata(dir).ok()?.mode() & 0o7777;
    if mode & 0o077 == 0 { Some(mode) } else { open_to_others(dir) }
}

/// Returns the access rights of other users as permission bits, if they have any.
#[cfg(not(unix))]
fn mode(dir: &Path) -> Option<u32> {
    open_to_others(dir)
}

/// Only Linux can change the user of a single thread, as these tests do.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test states what it expects")]

    use super::*;
    use crate::doctor::facts::{Facts, Here, System, Variables};
    use crate::doctor::rules::judge;
    use crate::support::Shell;
    use ide_mcp::ide::discovery::locate::{Environment, locate};
    use rustix::process::Uid;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::thread;

    /// A user who owns nothing else on the machine.
    const ME: u32 = 61_235;

    /// An editor that was started with sudo leaves files behind that belong to root. Another test runs the commands.
    #[test]
    fn files_of_root_are_told_apart_from_ours() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("notice: skipped, since only root can give files to another user");
            return;
        }
        // The mode of ~/.claude, of ~/.claude/ide and of a lock file, with 0 for one of the last two that is missing;
        // whether each is ours; and the findings.
        let rows: [(&str, [(u32, bool); 3], &[(&str, &str)]); 8] = [
            ("everything is ours", [(0o700, true), (0o700, true), (0o600, true)], &[]),
            (
                "everything belongs to root",
                [(0o700, false), (0o700, false), (0o600, false)],
                &[("directory-unreadable", OWN)],
            ),
            (
                "a directory of lock files that belongs to root",
                [(0o755, true), (0o700, false), (0o600, false)],
                &[("directory-not-ours", "mv /")],
            ),
            (
                "a lock file that belongs to root",
                [(0o700, true), (0o700, true), (0o600, false)],
                &[("lock-not-ours", "mv /")],
            ),
            (
                "ours, without any permission",
                [(0o0, true), (0o700, true), (0o600, true)],
                &[("directory-unreadable", "chmod u+rwx /")],
            ),
            (
                "ours, but read-only",
                [(0o700, true), (0o500, true), (0, true)],
                &[("directory-unwritable", "chmod u+rwx /")],
            ),
            (
                "no directory of lock files, and its parent belongs to root",
                [(0o755, false), (0, false), (0, false)],
                &[("directory-unwritable", OWN)],
            ),
            ("ours, read-only, with an editor", [(0o700, true), (0o500, true), (0o600, true)], &[]),
        ];
        for (name, [config, dir, lock], expected) in rows {
            let temp = crate::support::temp::private_temp_dir();
            let home = temp.path().to_owned();
            let paths = [home.join(".claude"), home.join(".claude/ide"), home.join(".claude/ide/1.lock")];
            let made: Vec<_> = paths.iter().zip([config, dir, lock]).enumerate().collect();
            chown(&home, Some(ME), None).unwrap();
            for (depth, (path, (mode, _))) in &made {
                match depth {
                    0 => fs::create_dir(path).unwrap(),
                    1 if *mode > 0 => fs::create_dir(path).unwrap(),
                    2 if *mode > 0 => fs::write(path, lock_file()).unwrap(),
                    _ => {}
                }
            }
            for (_, (path, (mode, is_ours))) in made.iter().rev().filter(|(_, (path, _))| path.exists()) {
                fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
                chown(path, is_ours.then_some(ME), None).unwrap();
            }
            let found = findings(|home| Environment { home: Some(home), ..Environment::default() }, &home);
            let ids: Vec<&str> = found.iter().map(|(id, _)| *id).collect();
            assert_eq!(ids, expected.iter().map(|(id, _)| *id).collect::<Vec<_>>(), "{name}: {found:?}");
            for ((_, command), (_, expected)) in found.iter().zip(expected) {
                assert!(command.starts_with(expected), "{name}: {found:?}");
            }
        }
        // A directory that CLAUDE_CONFIG_DIR names may be shared on purpose: it is no fault that we cannot write there.
        let temp = crate::support::temp::private_temp_dir();
        fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
        let found = findings(
            |dir| Environment { claude_config_dir: Some(dir), ..Environment::default() },
            temp.path(),
        );
        assert_eq!(found, [("directory-missing", String::new())]);
    }

    const OWN: &str = "sudo chown -R \"$(id -u)\" /";

    fn lock_file() -> String {
        format!(
            r#"{{"pid":{},"workspaceFolders":["/w"],"transport":"ws","ideName":"E","authToken":"t"}}"#,
            std::process::id()
        )
    }

    /// Returns the findings about directories and lock files, with their commands, that `ME` gets in this environment.
    fn findings(environment: fn(&str) -> Environment<'_>, dir: &Path) -> Vec<(&'static str, String)> {
        let dir = dir.to_str().unwrap().to_owned();
        let look = move || {
            rustix::thread::set_thread_uid(Uid::from_raw(ME)).unwrap();
            found(&environment(&dir))
        };
        thread::spawn(look).join().unwrap()
    }

    fn found(environment: &Environment<'_>) -> Vec<(&'static str, String)> {
        let candidates = locate(environment, Extras::default()).unwrap();
        let (directories, locks) = look(candidates.into_iter().map(|candidate| (candidate, true)).collect());
        let facts = Facts {
            variables: Variables::default(),
            here: Here::new("/w", "/w"),
            system: System::Linux,
            shell: Shell::Posix,
            has_agent: true,
            directories: Ok(directories),
            locks,
            removed: Vec::new(),
            now: None,
        };
        let is_about_files = |id: &str| id.starts_with("directory-") || id.starts_with("lock-");
        let found = judge(&facts).into_iter().map(|found| (found.kind.id, found.command));
        found
            .filter(|(id, _)| is_about_files(id) && !["directory-sound", "lock-sound"].contains(id))
            .collect()
    }
}
