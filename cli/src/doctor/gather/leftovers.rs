//! The removal of leftovers: the only change that the doctor ever makes, and only on request.

use super::directories::candidates;
use crate::doctor::facts::Removed;
use ide_mcp::ide::discovery::NotStaleReason;
use ide_mcp_lockfile::{Error, Found, LockDir, Stays, scan};
use std::collections::BTreeSet;

/// Removes the lock files of all editors whose process is dead and whose port refuses connections, in the directories
/// where the agent looks for lock files. Returns every lock file whose process is dead, with the reason if it stays.
///
/// # Errors
/// The first error; the lock files removed before it stay removed.
pub(crate) fn remove() -> Result<Vec<Removed>, Error> {
    let mut removed = Vec::new();
    for (candidate, _) in candidates()?.into_iter().filter(|(_, used)| *used) {
        // The findings report a directory that cannot be read, or that another user controls.
        let Ok(found) = scan(&candidate.dir) else { continue };
        let dead = found.iter().filter(|found| found.pid_alive == Some(false));
        let names: BTreeSet<&str> =
            dead.filter_map(|found| Some(found.file.as_ref().ok()?.ide_name.as_str())).collect();
        for name in names {
            let outcomes = LockDir::open(&candidate.dir)?.remove_leftovers(name)?.into_iter();
            let is_dead = |found: &Found| {
                found.pid_alive == Some(false) && found.file.as_ref().is_ok_and(|file| file.ide_name == name)
            };
            removed.extend(outcomes.filter(|outcome| is_dead(&outcome.found)).map(|outcome| Removed {
                path: outcome.found.path.display().to_string(),
                name: name.into(),
                stays: outcome.removed.err().map(|stays| why(&stays)),
            }));
        }
    }
    Ok(removed)
}

fn why(stays: &Stays) -> String {
    match stays {
        // We asked with the name in the file, so this reason means that the name is empty.
        Stays::NotStale(NotStaleReason::OfAnother) => "it names no editor".into(),
        stays => stays.to_string(),
    }
}
