//! What lock files need of Unix. All steps in a directory go through its descriptor, so that they mean the same
//! directory, whatever happens to its path.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use ide_mcp::ide::paths::LocalPath;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use crate::{Error, resolve};

/// The bits by which others than the owner get in.
const OTHERS: u32 = 0o077;

#[derive(Debug)]
pub(crate) struct Dir(File);

impl Dir {
    /// Makes the directory and its parents, each for the owner only; what is there stays as it is.
    pub(crate) fn make(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Symbolic links are followed here, since people link their configuration; [`secure`](Self::secure) looks at
    /// what was opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(File::from(open(path, flags, Mode::empty())?)))
    }

    /// Checks that the directory belongs to the user we act as.
    pub(crate) fn check_owner(&self, path: &Path) -> Result<Metadata, Error> {
        let metadata = self.0.metadata().map_err(Error::io("look at", path))?;
        is_ours(&metadata, path)?;
        Ok(metadata)
    }

    /// Checks the owner, then removes the permissions of other users.
    pub(crate) fn secure(&self, path: &Path) -> Result<(), Error> {
        let metadata = self.check_owner(path)?;
        if metadata.mode() & OTHERS == 0 {
            return Ok(());
        }
        fchmod(&self.0, Mode::RWXU).map_err(Error::io("close to other users", path))?;
        let mode = self.0.metadata().map_err(Error::io("look at", path))?.mode() & 0o777;
        if mode & OTHERS == 0 { Ok(()) } else { Err(Error::TooOpen { path: path.to_path_buf(), mode }) }
    }

    /// A new file for the owner only; an error if there is anything of that name, be it a link to nowhere.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Opens for reading, without following a link and without waiting for the other end of a pipe.
    pub(crate) fn open_file(&self, name: &OsStr, path: &Path) -> Result<File, Error> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            // FreeBSD says MLINK where the others say LOOP.
            Err(Errno::LOOP | Errno::MLINK) => Err(Error::Symlink { path: path.to_path_buf() }),
            // Sockets, and devices that are not there.
            Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(Error::NotRegular { path: path.to_path_buf() }),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }

    /// Renames within the directory, over whatever has the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

/// Whether the file or directory belongs to the user we act as.
pub(crate) fn is_ours(metadata: &Metadata, path: &Path) -> Result<(), Error> {
    let (owner, us) = (metadata.uid(), geteuid().as_raw());
    if owner == us { Ok(()) } else { Err(Error::NotOurs { path: path.to_path_buf(), owner, us }) }
}

pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    Some(metadata.mode() & 0o7777)
}

pub(crate) fn pid_alive(pid: u32) -> Option<bool> {
    // 0 means our own group, and what does not fit is a negative number, a group as well: neither is a process.
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Some(false);
    };
    match test_kill_process(pid) {
        Ok(()) | Err(Errno::PERM) => Some(true),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

pub(crate) fn to_path(path: &LocalPath) -> Result<PathBuf, Error> {
    Ok(PathBuf::from(OsStr::from_bytes(path.as_bytes())))
}

pub(crate) fn from_path(path: &Path) -> Result<LocalPath, Error> {
    resolve::own_form(path, path.as_os_str().as_bytes())
}
