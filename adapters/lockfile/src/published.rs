//! A lock file that we have published: removed on drop, and restored when it vanishes.

use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime};

use ide_mcp::ide::discovery::{LockFile, LockForm};
use ide_mcp::ide::paths::{LocalPath, Platform};

use crate::read::read;
use crate::{Error, LockDir, tools_name};

/// A published lock file. Dropping it removes the file, unless another file has taken its place.
///
/// Drop it, or call [`remove`](Self::remove), before you close the listener.
///
/// If the process forks, the child's copy of this value removes nothing. An editor that becomes a daemon must
/// publish after the fork, so that the file has the right process id.
#[derive(Debug)]
#[must_use = "the lock file is removed when this is dropped"]
pub struct Published {
    dir: LockDir,
    form: LockForm,
    port: u16,
    file: LockFile,
    path: PathBuf,
    /// The process that published the file, until the file is removed. A copy in a forked child removes
    /// nothing.
    process: Option<NonZero<u32>>,
}

/// What [`Published::republish_if_missing`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Watch {
    /// The file is in place and ours.
    InPlace,
    /// The file was gone, and is back with the same port and token.
    Republished,
    /// Another file has its name, and was left alone. [`Published::update`] writes over it.
    Taken,
}

impl Published {
    pub(crate) fn new(dir: LockDir, form: LockForm, port: u16, file: LockFile) -> Self {
        let path = dir.path().join(form.file_name(port, &file));
        Self { dir, form, port, file, path, process: NonZero::new(process::id()) }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was published last.
    #[must_use]
    pub fn file(&self) -> &LockFile {
        &self.file
    }

    /// Replaces the published file by `file`. Call it when folders were opened or closed. A reader finds
    /// either file, whole. The token stays, because the server still requires it, and so does the scope
    /// ([`LockFile::scope`]), because the process is the same.
    ///
    /// # Errors
    /// The errors of [`LockDir::publish`]; the old file then stays published.
    pub fn update(&mut self, file: &LockFile) -> Result<(), Error> {
        let mut file = file.clone();
        file.auth_token.clone_from(&self.file.auth_token);
        file.scope.clone_from(&self.file.scope);
        self.dir.write(self.form, self.port, &file)?;
        self.file = file;
        Ok(())
    }

    /// Publishes the file again if it vanished, for example because a client that cannot see our process
    /// deleted it. Creates its directory again if necessary. Waits for the disk; a [`Guard`](crate::Guard)
    /// calls this only when it is due.
    ///
    /// # Errors
    /// The errors of [`LockDir::create`] and [`LockDir::publish`]; a later call may succeed.
    pub fn republish_if_missing(&mut self) -> Result<Watch, Error> {
        // Open the directory again by its path, as a client does: the one behind our handle may have been
        // moved.
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

    /// Keeps our file the first choice of clients such as opencode and Kilo Code, which never look at the
    /// process (measured). Of the files whose folder contains their directory, they take the one with the
    /// longest folder, then the newest: what a killed editor left behind would hide this one forever.
    ///
    /// Removes what editors of our scope left behind. If there is still a newer file of a dead process with
    /// one of our folders, sets a newer time on ours, unless a living editor of our scope has a newer file
    /// for that folder: then that editor does the same for its own. Returns true if the file of a living
    /// process would hide ours once that process ends.
    pub(crate) fn outrank_leftovers(&mut self) -> bool {
        // On other systems we never know that a process is dead.
        if !cfg!(any(unix, windows)) || self.form != LockForm::Lock {
            return false;
        }
        let found = self.dir.remove_own_leftovers(&self.file);
        let modified =
            found.iter().find(|found| found.port == Some(self.port)).and_then(|ours| ours.modified);
        let rivals = found.iter().filter(|found| found.port != Some(self.port)).filter_map(|found| {
            let file = found.file.as_ref().ok()?;
            Some((found, file, nearness(&file.workspace_folders, &self.file.workspace_folders)?))
        });
        let (mut newest_dead, mut is_guarded, mut again) = (None, false, false);
        for (found, file, nearness) in rivals {
            let (is_newer, is_ours) = (found.modified >= modified, file.scope == self.file.scope);
            match (found.pid_alive, nearness) {
                // A process of another scope may be alive although it looks dead from here.
                (Some(false), Nearness::Same) if is_newer && (is_ours || file.scope.is_none()) => {
                    newest_dead = newest_dead.max(found.modified);
                }
                (Some(true), Nearness::Same) if is_newer => {
                    is_guarded |= is_ours && file.scope.is_some() && found.modified > modified;
                    again = true;
                }
                // A file with a longer folder wins whatever its time, so only removing it helps. We remove
                // only files of our scope.
                (Some(true), Nearness::Below) => again |= is_ours && file.scope.is_some(),
                _ => {}
            }
        }
        if let Some(newest) = newest_dead.filter(|_| !is_guarded) {
            self.renew(newest);
        }
        again
    }

    /// Makes our file newer than `other`.
    fn renew(&self, other: SystemTime) {
        // FAT has the coarsest times of all file systems.
        const RESOLUTION: Duration = Duration::from_secs(2);
        let Some(time) = other.checked_add(RESOLUTION) else { return };
        if !matches!(self.look(), Ok(Seen::Ours)) {
            return;
        }
        let name = self.form.file_name(self.port, &self.file);
        if let Ok(file) = self.dir.handle().open_file(OsStr::new(&name), &self.path) {
            // After an error the file keeps its time, and is found as before.
            let _ = file.set_modified(time);
        }
    }

    /// Removes the file. Returns false if it was gone, if another editor's file has its name, or in a forked
    /// child.
    ///
    /// # Errors
    /// [`Error::Io`]. The file then still exists, and dropping does not try again.
    pub fn remove(mut self) -> Result<bool, Error> {
        self.take_away()
    }

    fn take_away(&mut self) -> Result<bool, Error> {
        if self.process.take() != NonZero::new(process::id()) {
            return Ok(false);
        }
        match self.look()? {
            Seen::Nothing | Seen::Theirs => Ok(false),
            Seen::Ours => {
                // Without the editor, the token in this file is useless.
                let _ = self.dir.remove(&tools_name(self.port));
                self.dir.remove(&self.form.file_name(self.port, &self.file))
            }
        }
    }

    /// Looks at the file with our name. It is ours if it has our token, or the contents that we wrote.
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
        // A destructor cannot report the error.
        let _ = self.take_away();
    }
}

/// Where another file's folders are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// A folder below one of ours.
    Below,
    /// One of our folders.
    Same,
}

/// Returns where another file's folders are relative to ours; `None` if no agent that works in one of our
/// folders can prefer the other file.
fn nearness(theirs: &[String], ours: &[String]) -> Option<Nearness> {
    let parsed = |folders: &[String]| -> Vec<LocalPath> {
        folders.iter().filter_map(|folder| LocalPath::parse(folder, Platform::native()).ok()).collect()
    };
    let ours = parsed(ours);
    let below = |folder: &LocalPath| ours.iter().any(|own| folder.is_within(own));
    let place = |folder: LocalPath| if ours.contains(&folder) { Nearness::Same } else { Nearness::Below };
    parsed(theirs).into_iter().filter(below).map(place).max()
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

    /// In a forked child, the process id is not that of the process that published.
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
