//! The removal of leftovers: the only change that the doctor ever makes, and only on request.

use super::directories::candidates;
use crate::doctor::facts::Removed;
use ide_mcp_lockfile::{Error, LockDir, scan};
use std::collections::BTreeSet;

/// Removes the lock files whose process is dead and whose port refuses connections, of all our
/// editors, in the directories where the agent looks for lock files.
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
            let gone = LockDir::open(&candidate.dir)?.remove_leftovers(name)?;
            removed.extend(gone.into_iter().filter(|leftover| leftover.removed.is_ok()).map(|leftover| {
                Removed { path: leftover.found.path.display().to_string(), name: name.into() }
            }));
        }
    }
    Ok(removed)
}
