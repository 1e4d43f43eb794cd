//! The directory in which an editor publishes its lock file.

use std::fs::{self, Metadata};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ide_mcp::ide::discovery::locate::{Extras, LocateError};
use ide_mcp::ide::discovery::{AuthToken, LockFile, LockForm};

use crate::{Error, Published, from_environment, parents, process_scope, sys};

/// A directory of our own for lock files, with mode 0700. [`open`](LockDir::open) checks the owner and sets
/// the mode. On Windows it checks that the directory is not readable by all users.
#[derive(Clone, Debug)]
pub struct LockDir {
    path: PathBuf,
    handle: Arc<sys::Dir>,
}

impl LockDir {
    /// Opens the directory in which agents look first, and creates it if it is missing: `ide` in
    /// `CLAUDE_CONFIG_DIR`, otherwise in `.claude` in the home directory.
    ///
    /// # Errors
    /// The errors of [`from_environment`] and [`create`](Self::create).
    pub fn from_environment() -> Result<Self, Error> {
        let candidates = from_environment(Extras::default())?;
        let first = candidates.first().ok_or(Error::Locate(LocateError::NoHome))?;
        Self::create(&first.dir)
    }

    /// Opens an existing directory, and removes the permissions of everybody but its owner. On Windows the
    /// access rights stay as they are.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if another user owns it. [`Error::TooOpen`] if its file system keeps no modes, or
    /// on Windows if all users can read it. [`Error::ParentNotOurs`] and [`Error::ParentTooOpen`] if another
    /// user can replace it. [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let path = absolute(path).map_err(Error::io("resolve", path))?;
        let handle = sys::Dir::open(&path).map_err(Error::io("open", &path))?;
        handle.secure(&path)?;
        parents::check(&path)?;
        Ok(Self { path, handle: Arc::new(handle) })
    }

    /// Creates a directory and the missing ones above it, all with mode 0700, and opens it. Directories that
    /// exist already stay as they are.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        sys::Dir::make(path).map_err(Error::io("create", path))?;
        Self::open(path)
    }

    /// Returns the absolute path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes `file` as `<port>.lock`. If a file with this name exists, it is replaced: the port belongs
    /// to whoever listens on it.
    ///
    /// Listen first, because a client that finds the file may connect at once. The file appears whole, with
    /// mode 0600, marked with the [scope](crate::process_scope) of this process.
    ///
    /// Before that, this removes what killed editors of the same scope left behind: files whose process is
    /// dead and whose port refuses connections. A file of another program (without a scope) stays, and so
    /// does one of another scope, whose editor may be alive in another container or on another machine; a
    /// person can remove those with [`remove_leftovers`](Self::remove_leftovers). All of this waits for the
    /// disk. On Windows, removing takes 2 s more, because a port takes that long to refuse.
    ///
    /// # Errors
    /// [`Error::PortZero`], [`Error::TokenTooShort`], [`Error::Malformed`] if the file has more than
    /// [`LockFile::MAX_LEN`] bytes, [`Error::Entropy`], and [`Error::Io`]. After an error no new file is left
    /// behind.
    pub fn publish(&self, port: u16, file: &LockFile) -> Result<Published, Error> {
        self.publish_as(LockForm::Lock, port, file)
    }

    /// Publishes a file in this form, as [`publish`](Self::publish) does. Unless the form is
    /// [`LockForm::Lock`], the file gets no scope and no leftovers are removed.
    ///
    /// # Errors
    /// The errors of [`publish`](Self::publish); [`Error::Malformed`] also if a project has no folder.
    pub fn publish_as(&self, form: LockForm, port: u16, file: &LockFile) -> Result<Published, Error> {
        if port == 0 {
            return Err(Error::PortZero);
        }
        check_token(file)?;
        let mut file = file.clone();
        if form == LockForm::Lock {
            file.scope = process_scope();
            drop(self.remove_own_leftovers(&file));
        }
        self.write(form, port, &file)?;
        Ok(Published::new(self.clone(), form, port, file))
    }

    pub(crate) fn handle(&self) -> &sys::Dir {
        &self.handle
    }

    /// Removes a file. Returns false if it was already gone.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, Error> {
        match self.handle.remove(name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("remove", &self.path.join(name))(error)),
        }
    }

    /// Writes a lock file. An existing file with its name is replaced.
    pub(crate) fn write(&self, form: LockForm, port: u16, file: &LockFile) -> Result<(), Error> {
        let name = form.file_name(port, file);
        let path = self.path.join(&name);
        let malformed = |source| Error::Malformed { path: path.clone(), source };
        let text = form.write(port, file).map_err(malformed)?;
        write_whole(&self.handle, &name, &path, &text)?;
        // Compare ages by the clock of the file system, which may differ from ours. It has set the time of
        // the new file.
        if let Ok(now) = fs::metadata(&path).and_then(|metadata| metadata.modified()) {
            self.remove_unfinished(now);
        }
        Ok(())
    }

    /// Removes the temporary files that killed processes left behind. Each of them holds a token.
    fn remove_unfinished(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_temporary(name)) else { continue };
            let is_old = |metadata: &Metadata| {
                let age = metadata.modified().ok().and_then(|at| now.duration_since(at).ok());
                age.is_some_and(|age| age > UNFINISHED)
            };
            // For a symbolic link, these are the metadata of the link itself.
            let is_ours = |metadata: &Metadata| {
                metadata.is_file() && sys::is_ours(metadata, &self.path).is_ok() && is_old(metadata)
            };
            if entry.metadata().is_ok_and(|metadata| is_ours(&metadata)) {
                let _ = self.handle.remove(name);
            }
        }
    }
}

/// A temporary file that is older than this was left behind by a killed process. A write takes milliseconds,
/// or some seconds on a network file system that hangs.
const UNFINISHED: Duration = Duration::from_secs(60);

/// Returns true if this is the name of a temporary file of [`write_whole`].
fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    random.is_some_and(|random| {
        random.len() == 16 && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Writes a temporary file in the directory and renames it to `name`, whose path is `path`. Nobody can guess
/// the temporary name, and it does not end in `.lock` or `.json`, so no client reads it.
pub(crate) fn write_whole(dir: &sys::Dir, name: &str, path: &Path, text: &str) -> Result<(), Error> {
    let random = getrandom::u64().map_err(Error::entropy)?;
    let temporary = format!(".{random:016x}.tmp");
    let mut handle = dir.create_new(&temporary).map_err(Error::io("create", path))?;
    let written = handle.write_all(text.as_bytes());
    // Windows cannot rename an open file.
    drop(handle);
    let renamed = written.and_then(|()| dir.rename(&temporary, name));
    renamed.map_err(|error| {
        // The caller wants the first error, not that of this removal.
        let _ = dir.remove(&temporary);
        Error::io("write", path)(error)
    })
}

/// Refuses a token that is short enough to be guessed.
fn check_token(file: &LockFile) -> Result<(), Error> {
    match file.auth_token.as_ref().map(|token| token.as_bytes().len()) {
        Some(len) if len < AuthToken::MIN_PUBLISHED_LEN => Err(Error::TokenTooShort { len }),
        _ => Ok(()),
    }
}
