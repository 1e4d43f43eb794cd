//! The rules about the directories of lock files: those where the agent looks for lock files, and
//! others.

use super::Finding;
use super::words::{editor, listed, quoted, rights, user};
use crate::doctor::facts::{Directory, Facts, Lock, State, System, Unwritable, Weak, Weakness};
use crate::doctor::kinds;
use ide_mcp::ide::discovery::locate::Source;
use std::path::Path;

const WRITE: u32 = 0o022;
const READ: u32 = 0o055;

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    let directories = facts.directories.as_deref().unwrap_or_default();
    for (index, directory) in directories.iter().enumerate() {
        let mut locks = facts.locks.iter().filter(|lock| lock.directory == index);
        // An editor that has published itself could write there.
        let unwritable = directory.unwritable.as_ref().filter(|_| directory.used);
        if let Some(place) = unwritable.filter(|_| !locks.clone().any(Lock::is_of_living_editor)) {
            findings.push(cannot_publish(place));
            if directory.state == State::Missing {
                continue;
            }
        }
        let (kind, message) = if directory.used {
            used(directory, facts.system)
        } else {
            not_used(directory, &mut locks, facts)
        };
        let path = match &directory.state {
            State::NotADirectory(path) | State::Unreadable { path, .. } if directory.used => path,
            _ => &directory.path,
        };
        let is_of_another = matches!(directory.state, State::Unreadable { other_owner: Some(_), .. });
        findings.push(Finding { is_of_another, ..Finding::new(kind, message).path(path) });
        for weak in directory.weak.iter().filter(|_| directory.used) {
            let (kind, message) = above(weak, facts.system);
            findings.push(Finding::new(kind, message).path(&weak.path));
        }
    }
}

/// Returns the finding about a directory in which no editor can create its lock file, or the directory for it.
fn cannot_publish(Unwritable { path, other_owner }: &Unwritable) -> Finding {
    let whose = other_owner.map_or_else(String::new, |owner| format!(", which belongs to {}", user(owner)));
    let message = format!("no file can be created in {}{whose}", quoted(path));
    let is_of_another = other_owner.is_some();
    Finding { is_of_another, ..Finding::new(&kinds::DIRECTORY_UNWRITABLE, message).path(path) }
}

fn above(Weak { path, weakness }: &Weak, system: System<'_>) -> (&'static kinds::Kind, String) {
    let place = quoted(path);
    match weakness {
        Weakness::Owner { owner, .. } => (
            &kinds::PARENT_NOT_OURS,
            format!("{place}, on the way to the lock files, belongs to {}", user(*owner)),
        ),
        Weakness::WritableByAll { mode } => (&kinds::PARENT_WRITABLE, open_above(path, *mode, system)),
        Weakness::WritableByGroup { mode } => {
            (&kinds::PARENT_WRITABLE_BY_GROUP, open_above(path, *mode, system))
        }
        _ => (&kinds::PARENT_WRITABLE, format!("others can replace what is below {place}")),
    }
}

fn open_above(path: &str, mode: u32, system: System<'_>) -> String {
    format!("above the lock files, {}", rights(path, mode, system))
}

fn used(
    Directory { path, source, state, is_closed_above, .. }: &Directory,
    system: System<'_>,
) -> (&'static kinds::Kind, String) {
    let reason = match source {
        Source::ConfigDir => "by CLAUDE_CONFIG_DIR",
        Source::WindowsHome => "of editors on Windows",
        _ => "below the home directory",
    };
    let place = quoted(path);
    match state {
        State::Missing => (&kinds::DIRECTORY_MISSING, format!("there is no directory {place} ({reason})")),
        State::NotADirectory(obstacle) => {
            (&kinds::DIRECTORY_NOT_A_DIRECTORY, format!("{} is not a directory ({reason})", quoted(obstacle)))
        }
        State::Unreadable { path: closed, reason, other_owner: None } => {
            (&kinds::DIRECTORY_UNREADABLE, format!("{} cannot be read: {reason}", quoted(closed)))
        }
        State::Unreadable { path: closed, reason, other_owner: Some(owner) } => {
            let kind = if closed == path {
                &kinds::DIRECTORY_NOT_OURS
            } else if *source == Source::Home && Path::new(path).parent() == Some(Path::new(closed)) {
                &kinds::DIRECTORY_UNREADABLE
            } else {
                // Nobody should take over a directory further above, or one that others share.
                &kinds::HOME_OF_ANOTHER
            };
            (kind, format!("{} belongs to {}, and cannot be read: {reason}", quoted(closed), user(*owner)))
        }
        State::There { other_owner: Some(owner), .. } => {
            (&kinds::DIRECTORY_NOT_OURS, format!("{place} belongs to {}", user(*owner)))
        }
        State::There { mode: Some(mode), .. } if mode & WRITE != 0 => {
            (&kinds::DIRECTORY_WRITABLE, rights(path, *mode, system))
        }
        State::There { mode: Some(mode), .. } if mode & READ != 0 && !is_closed_above => {
            (&kinds::DIRECTORY_READABLE, rights(path, *mode, system))
        }
        State::There { .. } => (&kinds::DIRECTORY_SOUND, format!("lock files are in {place} ({reason})")),
    }
}

fn not_used<'a>(
    directory: &Directory,
    locks: &mut impl Iterator<Item = &'a Lock>,
    facts: &Facts,
) -> (&'static kinds::Kind, String) {
    let path = quoted(&directory.path);
    let is_found_elsewhere =
        |lock: &&Lock| facts.locks.iter().any(|other| other.used && other.port == lock.port);
    let unseen: Vec<String> =
        locks.filter(|lock| lock.is_of_living_editor() && !is_found_elsewhere(lock)).map(editor).collect();
    if !unseen.is_empty() {
        return (
            &kinds::LOCKS_NOWHERE,
            format!("{} published in {path}; {}", listed(&unseen, ", "), why_not(directory.source)),
        );
    }
    let there = if directory.state == State::Missing { "does not exist" } else { "has no other editor" };
    (&kinds::DIRECTORY_NOT_USED, format!("{path} {there}; {}", why_not(directory.source)))
}

fn why_not(source: Source) -> &'static str {
    match source {
        Source::Home => "agents do not look there, since CLAUDE_CONFIG_DIR is set",
        Source::Xdg => "agents do not look there: Claude Code ignores XDG_CONFIG_HOME",
        _ => "agents do not look there: only one old plugin wrote there",
    }
}
