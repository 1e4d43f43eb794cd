//! The directory of lock files, as the one who publishes needs it.

use std::io::Write;
use std::path::{Path, PathBuf, absolute};
use std::sync::Arc;

use getrandom::SysRng;
use getrandom::rand_core::TryRng;
use ide_mcp::ide::locate::{Extras, LocateError};
use ide_mcp::ide::{LockFile, LockForm};

use crate::{Error, Published, from_environment, sys};

/// A directory that is ours alone: mode 0700, checked when it was opened.
#[derive(Clone, Debug)]
pub struct LockDir {
    path: PathBuf,
    handle: Arc<sys::Dir>,
}

impl LockDir {
    /// The directory that agents look into, by the variables of this process: `ide` in `CLAUDE_CONFIG_DIR`, or in
    /// `.claude` at home. Made where it is missing.
    ///
    /// # Errors
    /// As [`from_environment`] and [`create`](Self::create).
    pub fn from_environment() -> Result<Self, Error> {
        let candidates = from_environment(Extras::default())?;
        let first = candidates.first().ok_or(Error::Locate(LocateError::NoHome))?;
        Self::create(&first.dir)
    }

    /// Opens a directory that exists, and takes away whatever others than its owner may do with it.
    ///
    /// # Errors
    /// [`Error::NotOurs`] if another user owns it, [`Error::TooOpen`] if its file system keeps no modes, and
    /// [`Error::Io`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let path = absolute(path).map_err(Error::io("resolve", path))?;
        let handle = sys::Dir::open(&path).map_err(Error::io("open", &path))?;
        handle.secure(&path)?;
        Ok(Self { path, handle: Arc::new(handle) })
    }

    /// Opens a directory after making it, and those above it, with mode 0700 where they are missing. Those above it
    /// that exist are left alone.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        sys::Dir::make(path).map_err(Error::io("create", path))?;
        Self::open(path)
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes `file` as `<port>.lock`, over whatever has that name: who listens on the port owns the name.
    ///
    /// Listen first: whoever sees the file may connect at once. The file appears whole, with mode 0600.
    ///
    /// # Errors
    /// [`Error::PortZero`], [`Error::Malformed`] if the file has more than [`LockFile::MAX_LEN`] bytes,
    /// [`Error::Entropy`], and [`Error::Io`]; nothing is left behind then.
    pub fn publish(&self, port: u16, file: &LockFile) -> Result<Published, Error> {
        self.publish_as(LockForm::Lock, port, file)
    }

    /// The same with a file of this kind.
    ///
    /// # Errors
    /// As [`publish`](Self::publish); [`Error::Malformed`] also if a project has no folder.
    pub fn publish_as(&self, form: LockForm, port: u16, file: &LockFile) -> Result<Published, Error> {
        if port == 0 {
            return Err(Error::PortZero);
        }
        self.write(form, port, file)?;
        Ok(Published::new(self.clone(), form, port, file.clone()))
    }

    pub(crate) fn handle(&self) -> &sys::Dir {
        &self.handle
    }

    /// Writes beside the name and renames onto it. The temporary name cannot be guessed and does not end in
    /// `.lock` or `.json`.
    pub(crate) fn write(&self, form: LockForm, port: u16, file: &LockFile) -> Result<(), Error> {
        let name = form.file_name(port);
        let path = self.path.join(&name);
        let malformed = |source| Error::Malformed { path: path.clone(), source };
        let text = form.write(port, file).map_err(malformed)?;
        let random = SysRng.try_next_u64().map_err(Error::Entropy)?;
        let temporary = format!(".{port}.{random:016x}.tmp");
        let mut handle = self.handle.create_new(&temporary).map_err(Error::io("create", &path))?;
        let written = handle.write_all(text.as_bytes());
        // Windows renames no open file.
        drop(handle);
        let renamed = written.and_then(|()| self.handle.rename(&temporary, &name));
        renamed.map_err(|error| {
            // The first error is the one to tell.
            let _ = self.handle.remove(&temporary);
            Error::io("write", &path)(error)
        })
    }
}
