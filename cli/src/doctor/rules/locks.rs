//! The rules about each lock file by itself.

use super::Finding;
use super::words::{editor, named, quoted, rights, user};
use crate::doctor::facts::{Answer, Facts, Lock, Probe, Removed, System, Trouble};
use crate::doctor::kinds::{self, Kind};
use ide_mcp::ide::discovery::{LockFile, Transport};

/// With any of these permission bits, other users can read or change a file.
const OTHERS: u32 = 0o066;

pub(super) fn look(facts: &Facts, findings: &mut Vec<Finding>) {
    for Removed { path, name, stays } in &facts.removed {
        let (kind, what) = match stays {
            None => (&kinds::LEFTOVER_REMOVED, "was removed".to_owned()),
            Some(why) => (&kinds::LEFTOVER_STAYS, format!("was not removed: {why}")),
        };
        let whose = if name.is_empty() { String::new() } else { format!(" of {}", named(name)) };
        let message = format!("{}{whose} {what}", quoted(path));
        findings.push(Finding::new(kind, message).path(path));
    }
    for lock in facts.locks.iter().filter(|lock| lock.used) {
        let found = match &lock.file {
            Ok(file) => sound_enough(lock, file, facts),
            Err(trouble) => vec![useless(lock, trouble)],
        };
        findings.extend(found.into_iter().map(|(kind, message)| Finding::of(kind, lock, message)));
    }
}

fn useless(Lock { path, .. }: &Lock, trouble: &Trouble) -> (&'static Kind, String) {
    let path = quoted(path);
    match trouble {
        Trouble::Misnamed => (&kinds::LOCK_MISNAMED, format!("{path} is not named after a port")),
        Trouble::Link => (&kinds::LOCK_IS_A_LINK, format!("{path} is a symbolic link")),
        Trouble::NotAFile => (&kinds::LOCK_NOT_A_FILE, format!("{path} is not a regular file")),
        Trouble::NotOurs { owner } => (&kinds::LOCK_NOT_OURS, format!("{path} belongs to {}", user(*owner))),
        Trouble::Unparsable(reason) => (&kinds::LOCK_UNPARSABLE, format!("{path}: {reason}")),
        Trouble::Unreadable { reason, other_owner: Some(owner) } => (
            &kinds::LOCK_NOT_OURS,
            format!("{path} belongs to {}, and cannot be read: {reason}", user(*owner)),
        ),
        Trouble::Unreadable { reason, other_owner: None } => {
            (&kinds::LOCK_UNREADABLE, format!("{path}: {reason}"))
        }
    }
}

fn sound_enough(lock: &Lock, file: &LockFile, facts: &Facts) -> Vec<(&'static Kind, String)> {
    let (path, who) = (quoted(&lock.path), editor(lock));
    let mut found: Vec<(&'static Kind, String)> = Vec::new();
    if file.transport == Transport::Missing {
        let message = format!("the lock file of {who} names no transport ({path})");
        found.push((&kinds::LOCK_WITHOUT_TRANSPORT, message));
    } else if file.transport != Transport::WebSocket {
        let transport = file.transport.as_str();
        found.push((&kinds::LOCK_LEGACY, format!("{who} has the transport {} ({path})", named(transport))));
    }
    let directories = facts.directories.as_deref().unwrap_or_default();
    // On Windows every user can enter every directory.
    let is_reachable = facts.system == System::Windows
        || directories.get(lock.directory).is_none_or(|directory| !directory.is_closed());
    if let Some(mode) = lock.mode.filter(|mode| is_reachable && mode & OTHERS != 0) {
        found.push((&kinds::LOCK_READABLE, rights(&lock.path, mode, facts.system)));
    }
    if file.auth_token.is_none() && file.transport == Transport::WebSocket {
        found.push((&kinds::LOCK_WITHOUT_TOKEN, format!("the lock file of {who} has no token")));
    }
    match facts.system {
        System::Wsl { .. } if file.running_in_windows => {
            found.push((&kinds::LOCK_OF_WINDOWS, format!("{who} runs on Windows")));
        }
        System::Linux | System::MacOs if file.running_in_windows => {
            found.push((
                &kinds::LOCK_OF_WINDOWS_ELSEWHERE,
                format!("{who} says that it runs on Windows ({path})"),
            ));
        }
        _ => {}
    }
    match (file.pid, lock.pid_alive) {
        (None, _) if file.transport == Transport::WebSocket => {
            found.push((&kinds::LOCK_WITHOUT_PROCESS, format!("the lock file of {who} names no process")));
        }
        (Some(pid), Some(false)) => found.push(dead(lock, pid)),
        _ => {}
    }
    // If nobody listens, the process id may belong to another program by now.
    if found.is_empty() && !matches!(lock.probe, Some(Probe::Refused)) {
        found.push((&kinds::LOCK_SOUND, format!("the lock file of {who} is in order")));
    }
    found
}

/// Returns the finding about a process that does not run. `ide-mcp doctor --remove-leftovers` removes
/// every lock file that counts as left over, unless its port turns out to answer.
fn dead(lock: &Lock, pid: u32) -> (&'static Kind, String) {
    let (path, who) = (quoted(&lock.path), editor(lock));
    if lock.is_left_over() {
        return (&kinds::LOCK_LEFT_OVER, format!("the process {pid} of {who} does not run ({path})"));
    }
    match &lock.probe {
        Some(Probe::Open { without_token: Answer::Alien(_) }) => (
            &kinds::LOCK_WITHOUT_EDITOR,
            format!(
                "the process {pid} of {who} does not run, and another program, not an editor, has its port ({path})"
            ),
        ),
        Some(Probe::Refused) => (
            &kinds::LOCK_WITHOUT_EDITOR,
            format!("the process {pid} of an editor without a name does not run ({path})"),
        ),
        None => (
            &kinds::LOCK_PROCESS_UNSEEN,
            format!("the process {pid} of an editor without a name does not run here ({path})"),
        ),
        Some(_) => (
            &kinds::LOCK_PROCESS_UNSEEN,
            format!("the process {pid} of {who} does not run here, yet the port answers ({path})"),
        ),
    }
}
