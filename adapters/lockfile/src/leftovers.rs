//! Removes the lock files that killed editors left behind.

use core::fmt;
use std::ffi::OsStr;
use std::net::Ipv4Addr;

use ide_mcp::ide::discovery::{LockFile, LockForm, NotStaleReason, is_left_over};

use crate::ports::listening;
use crate::read::read;
use crate::{Error, Found, LockDir, scan};

/// What happened to one lock file.
#[derive(Debug)]
#[non_exhaustive]
pub struct Leftover {
    /// The file.
    pub found: Found,
    /// Why the file stays, if it was not removed.
    pub removed: Result<(), Stays>,
}

/// Why a lock file was not removed.
///
/// [Causes and reactions](ide_mcp::guide::errors#lock-files-tokens-paths).
#[derive(Debug)]
#[non_exhaustive]
pub enum Stays {
    /// We are not sure that the file is left over, for this reason.
    NotStale(NotStaleReason),
    /// The file is left over, but could not be removed.
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
    /// Removes the lock files that an editor of this name left behind, and returns what happened to every
    /// file.
    ///
    /// Only files that are surely left over are removed ([`is_left_over`]): their process is dead, and their
    /// port refuses connections. The file of an editor in another container or on another machine that shares
    /// this directory looks just the same, so let a person decide. An editor itself calls
    /// [`publish`](Self::publish), which removes what editors of its own [scope](crate::process_scope) left
    /// behind.
    ///
    /// # Errors
    /// The errors of [`scan`].
    pub fn remove_leftovers(&self, ide_name: &str) -> Result<Vec<Leftover>, Error> {
        Ok(self.clear(scan(self.path())?, |_| Some(ide_name)))
    }

    /// Removes what editors of this file's scope left behind, whatever their names, and returns the other
    /// files. Only this library writes scopes; within our scope, we would see the process if it were alive.
    /// Without a scope, as on a system that reports none, nothing is removed. A leftover that cannot be
    /// removed stays, and does not harm the published file.
    pub(crate) fn remove_own_leftovers(&self, own: &LockFile) -> Vec<Found> {
        let is_own = |file: &LockFile| file.scope.is_some() && file.scope == own.scope;
        let name = |found: &Found| match &found.file {
            Ok(file) if is_own(file) => Some(file.ide_name.clone()),
            Ok(_) | Err(_) => None,
        };
        let outcomes = self.clear(scan(self.path()).unwrap_or_default(), name);
        outcomes.into_iter().filter(|outcome| outcome.removed.is_err()).map(|outcome| outcome.found).collect()
    }

    /// Removes what is surely left over, among the files whose editor has the name that `name_of` returns.
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
        // This first check assumes that the port is free. So we connect only to the ports of files that are
        // left over by all other facts.
        let suspects = found.iter().filter(|found| judge(found, Some(false)).is_ok());
        let ports: Vec<u16> = suspects.filter_map(|found| found.port).collect();
        let listening = listening(Ipv4Addr::LOCALHOST.into(), &ports);
        let answer = |port| {
            let tried = ports.iter().zip(&listening).find(|(number, _)| Some(**number) == port);
            tried.map_or(Some(false), |(_, listening)| *listening)
        };
        let outcome = |found: Found| {
            let judged = judge(&found, answer(found.port)).map_err(Stays::NotStale);
            Leftover { removed: judged.and_then(|()| self.remove_leftover(&found)), found }
        };
        found.into_iter().map(outcome).collect()
    }

    /// Removes a leftover, unless it was written again since the scan.
    fn remove_leftover(&self, found: &Found) -> Result<(), Stays> {
        let name = found.path.file_name().and_then(OsStr::to_str);
        let (Some(name), Some(port)) = (name, found.port) else {
            return Err(Stays::NotStale(NotStaleReason::NotUnderstood));
        };
        let now = read(self.handle(), name.as_ref(), LockForm::Lock, &found.path).file;
        // An editor may have taken the port in the meantime, and written its own file. If the file has
        // vanished, there is nothing to do.
        match (now, &found.file) {
            (Ok(now), Ok(before)) if now == *before => {}
            (Err(error), _) if error.is_not_found() => return Ok(()),
            _ => return Err(Stays::NotStale(NotStaleReason::Replaced)),
        }
        self.remove(name).map_err(Stays::Failed)?;
        // Without the lock file, the file that gives the editor's tools to a model is useless.
        let _ = self.remove(&tools_name(port));
        Ok(())
    }
}

/// Returns the name of the file by which a client gives this editor's tools to its model: the
/// [`McpConfig`](ide_mcp::ide::discovery::McpConfig) of the editor on this port, beside its lock file. It
/// contains the token, so it goes when the lock file goes: at the end of the editor, or in
/// [`remove_leftovers`](LockDir::remove_leftovers) and [`publish`](LockDir::publish) if the editor was
/// killed.
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

    /// A file that was written after the scan stays. Nothing listens on port 1 of a test machine.
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
