//! The removal of lock files that editors left behind when they were killed.

use core::fmt;
use std::ffi::OsStr;
use std::net::Ipv4Addr;

use ide_mcp::ide::discovery::{LockFile, LockForm, NotStaleReason, is_left_over};

use crate::ports::listening;
use crate::read::read;
use crate::{Error, Found, LockDir, scan};

/// The outcome for one lock file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Leftover {
    /// The file.
    pub found: Found,
    /// The reason why the file stays, if it was not removed.
    pub removed: Result<(), Stays>,
}

/// The reason why a lock file was not removed.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Debug)]
#[non_exhaustive]
pub enum Stays {
    /// A file that is not known to be left over, for this reason.
    NotStale(NotStaleReason),
    /// A file that is left over and could not be removed.
    Failed(Error),
}

impl fmt::Display for Stays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStale(why) => why.fmt(f),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl LockDir {
    /// Removes the lock files that an editor of this name left behind, and returns the outcome for
    /// every file.
    ///
    /// Removes only files that are surely left over ([`is_left_over`]): their process is dead, and
    /// their port refuses connections. The file of an editor in another container or on another
    /// machine that shares this directory looks left over too, so a person decides. An editor calls
    /// [`publish`](Self::publish), which removes the files that editors of its own
    /// [scope](crate::process_scope) left behind.
    ///
    /// # Errors
    /// The errors of [`scan`].
    pub fn remove_leftovers(&self, ide_name: &str) -> Result<Vec<Leftover>, Error> {
        Ok(self.clear(scan(self.path())?, |_| Some(ide_name)))
    }

    /// Removes the files that editors of the scope of this file left behind, whatever their names, and
    /// returns the other files. The scope is the mark of this library, and shows that the process would be
    /// visible here if it lived. Removes nothing if this file has no scope, as on a system that does not
    /// report scopes. After an error the leftover stays, and does no harm to the published file.
    pub(crate) fn remove_own_leftovers(&self, own: &LockFile) -> Vec<Found> {
        let is_own = |file: &LockFile| file.scope.is_some() && file.scope == own.scope;
        let name = |found: &Found| match &found.file {
            Ok(file) if is_own(file) => Some(file.ide_name.clone()),
            Ok(_) | Err(_) => None,
        };
        let outcomes = self.clear(scan(self.path()).unwrap_or_default(), name);
        outcomes.into_iter().filter(|outcome| outcome.removed.is_err()).map(|outcome| outcome.found).collect()
    }

    /// Removes the files that are surely left over, among those whose editor has the name that `name_of` returns.
    fn clear<N: AsRef<str>>(
        &self,
        found: Vec<Found>,
        name_of: impl Fn(&Found) -> Option<N>,
    ) -> Vec<Leftover> {
        let judge = |found: &Found, listening| {
            let name = name_of(found).ok_or(NotStaleReason::OfAnother)?;
            let listed = found.listed().ok_or(NotStaleReason::NotUnderstood)?;
            is_left_over(&listed, name.as_ref(), listening)
        };
        // The first check assumes that the port is free. So only those ports are asked whose files are left over by
        // all other facts.
        let suspects = found.iter().filter(|found| judge(found, Some(false)).is_ok());
        let ports: Vec<u16> = suspects.filter_map(|found| found.port).collect();
        let listening = listening(Ipv4Addr::LOCALHOST.into(), &ports);
        let answer = |port| {
            let asked = ports.iter().zip(&listening).find(|(asked, _)| Some(**asked) == port);
            asked.map_or(Some(false), |(_, listening)| *listening)
        };
        let outcome = |found: Found| {
            let judged = judge(&found, answer(found.port)).map_err(Stays::NotStale);
            Leftover { removed: judged.and_then(|()| self.remove_leftover(&found)), found }
        };
        found.into_iter().map(outcome).collect()
    }

    /// Removes a file that is left over, unless it was written again since the scan.
    fn remove_leftover(&self, found: &Found) -> Result<(), Stays> {
        let name = found.path.file_name().and_then(OsStr::to_str);
        let (Some(name), Some(port)) = (name, found.port) else {
            return Err(Stays::NotStale(NotStaleReason::NotUnderstood));
        };
        let now = read(self.handle(), name.as_ref(), LockForm::Lock, &found.path).file;
        // Meanwhile an editor can have taken the port and written its own file. A file that has
        // vanished needs no removal.
        match (now, &found.file) {
            (Ok(now), Ok(before)) if now == *before => {}
            (Err(error), _) if error.is_not_found() => return Ok(()),
            _ => return Err(Stays::NotStale(NotStaleReason::Replaced)),
        }
        self.remove(name).map_err(Stays::Failed)?;
        // The file with the token for a model, if there was one, has no lock file any more.
        let _ = self.remove(&tools_name(port));
        Ok(())
    }
}

/// Returns the name of the file by which a client gives the tools of the editor on this port to its model: the
/// [`McpConfig`](ide_mcp::ide::discovery::McpConfig) of the editor, beside its lock file.
/// The file has the token, so the end of the editor removes the file with its lock file, and so do
/// [`remove_leftovers`](LockDir::remove_leftovers) and [`publish`](LockDir::publish) for an editor that was killed.
#[must_use]
pub fn tools_name(port: u16) -> String {
    format!("{port}.mcp.json")
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    use super::*;
    use crate::new_token;
    use crate::temp_dir::{TempDir, ended_process};
    use std::fs;

    /// Checks that a file stays if it was written after the scan. Nobody listens on port 1 of a
    /// machine for tests.
    #[test]
    fn file_rewritten_after_the_scan_stays() {
        let temp = TempDir::new();
        let dir = LockDir::open(temp.path()).unwrap();
        let dead = ended_process();
        let file = || LockFile::new(dead, vec!["/w".into()], "me", new_token().unwrap()).to_json();
        let path = temp.join("1.lock");
        let look = || {
            fs::write(&path, file()).unwrap();
            scan(temp.path()).unwrap().pop().unwrap()
        };
        let found = look();
        fs::write(&path, file()).unwrap();
        let removed = dir.remove_leftover(&found);
        assert!(matches!(removed, Err(Stays::NotStale(NotStaleReason::Replaced))), "{removed:?}");
        assert!(path.exists());
        let found = look();
        fs::remove_file(&path).unwrap();
        assert!(dir.remove_leftover(&found).is_ok(), "another program has removed it already");
        assert!(dir.remove_leftover(&look()).is_ok() && !path.exists());
    }
}
