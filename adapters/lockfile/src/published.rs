//! A lock file of ours while it is published: a guard that removes it, and the step that brings it back.

use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process;

use ide_mcp::ide::{LockFile, LockForm};

use crate::read::read;
use crate::{Error, LockDir};

/// A published lock file. Dropping it removes the file, unless somebody else's has taken its place.
///
/// Drop it, or call [`remove`](Self::remove), before the listener closes.
///
/// A process that forks has a second guard, in its child: that one removes nothing. So an editor that becomes a daemon publishes
/// after the fork, which is also the only way for the file to have the right process id.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct Published {
    dir: LockDir,
    form: LockForm,
    port: u16,
    file: LockFile,
    path: PathBuf,
    /// The process that published it, until it was removed. A copy in a child that was forked removes nothing.
    process: Option<NonZero<u32>>,
}

/// What [`Published::republish_if_missing`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Watch {
    /// The file is there and ours.
    InPlace,
    /// It was gone and is back, with the same port and token.
    Republished,
    /// Something else has its name. It was left alone; [`Published::update`] writes over it.
    Taken,
}

impl Published {
    pub(crate) fn new(dir: LockDir, form: LockForm, port: u16, file: LockFile) -> Self {
        let path = dir.path().join(form.file_name(port, &file));
        Self { dir, form, port, file, path, process: NonZero::new(process::id()) }
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was published last.
    #[must_use]
    pub fn file(&self) -> &LockFile {
        &self.file
    }

    /// Publishes `file` in place of the one before, when folders were opened or closed. A reader finds the one or the other,
    /// whole. The token and the scope stay those of the file before: the server goes on asking for its token.
    ///
    /// # Errors
    /// As [`LockDir::publish`]; the old file is then still published.
    pub fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        let mut file = file.clone();
        file.auth_token.clone_from(&self.file.auth_token);
        file.scope.clone_from(&self.file.scope);
        self.dir.write(self.form, self.port, &file)?;
        self.file = file;
        Ok(())
    }

    /// Publishes the file again if it vanished, along with its directory if need be: a client that cannot see our
    /// process deletes it. Waits for the disk; a [`Guard`](crate::Guard) knows when it is worth it.
    ///
    /// # Errors
    /// As [`LockDir::create`] and [`LockDir::publish`]; a later step may succeed.
    pub fn republish_if_missing(&mut self) -> Result<Watch, Error> {
        // By path, since that is how a client looks: the directory behind our handle may have been moved away.
        self.dir = LockDir::create(self.dir.path())?;
        match self.look()? {
            Seen::Ours => Ok(Watch::InPlace),
            Seen::Theirs => Ok(Watch::Taken),
            Seen::Nothing => {
                self.dir.write(self.form, self.port, &self.file)?;
                Ok(Watch::Republished)
            }
        }
    }

    /// Removes the file and returns true, or false if it had vanished, if another editor's file has its name, or in a forked
    /// child.
    ///
    /// # Errors
    /// [`Error::Io`]. The file is then still there, and dropping will not try again.
    pub fn remove(mut self) -> Result<bool, Error> {
        self.take_away()
    }

    fn take_away(&mut self) -> Result<bool, Error> {
        if self.process.take() != NonZero::new(process::id()) {
            return Ok(false);
        }
        match self.look()? {
            Seen::Nothing | Seen::Theirs => Ok(false),
            Seen::Ours => self.dir.remove(&self.form.file_name(self.port, &self.file)),
        }
    }

    /// What has our name. It is ours if it has our token, or, where we have none, if it says just what we wrote.
    fn look(&self) -> Result<Seen, Error> {
        let name = self.form.file_name(self.port, &self.file);
        match read(self.dir.handle(), OsStr::new(&name), self.form, &self.path).file {
            Ok(file) => {
                let has_token = file.auth_token.is_some() && file.auth_token == self.file.auth_token;
                let text = |file: &LockFile| self.form.write(self.port, file).ok();
                Ok(if has_token || text(&file) == text(&self.file) { Seen::Ours } else { Seen::Theirs })
            }
            Err(error) if error.is_not_found() => Ok(Seen::Nothing),
            Err(error @ (Error::Io { .. } | Error::Entropy(_))) => Err(error),
            Err(_) => Ok(Seen::Theirs),
        }
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        // Nobody is left to be told.
        let _ = self.take_away();
    }
}

enum Seen {
    Nothing,
    Ours,
    Theirs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{new_token, temp_dir::TempDir};

    /// The guard in a forked child has another process id than the one that it was published with.
    #[test]
    fn l16_forked_child_removes_nothing() {
        let temp = TempDir::new();
        let file = LockFile::new(1, vec!["/w".into()], "me", new_token().unwrap());
        let published = || LockDir::open(temp.path()).unwrap().publish(1, &file).unwrap();
        let in_child = || {
            let mut copy = published();
            copy.process = copy.process.and_then(|id| id.checked_add(1));
            copy
        };
        drop(in_child());
        assert!(temp.join("1.lock").exists());
        assert!(!in_child().remove().unwrap());
        assert!(temp.join("1.lock").exists());
        assert!(published().remove().unwrap());
    }
}
