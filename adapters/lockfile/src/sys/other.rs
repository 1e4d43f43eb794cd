//! The counterpart of `unix.rs`, with the standard library alone: it uses paths instead of a descriptor, and
//! has no modes. On Windows, `windows.rs` adds processes, owners and access rights.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf, absolute};

use ide_mcp::ide::paths::LocalPath;

use super::own_form;
use crate::links::{Step, follow};
use crate::patience::patiently;
use crate::{Error, WeakParent};

#[derive(Debug)]
pub(crate) struct Dir(PathBuf);

impl Dir {
    pub(crate) fn make(path: &Path) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match fs::metadata(path)?.is_dir() {
            true => Ok(Self(path.to_path_buf())),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Checks that the directory does not belong to another user.
    pub(crate) fn check_owner(&self, path: &Path) -> Result<(), Error> {
        match access(path).and_then(|access| access.other_owner) {
            Some((owner, us)) => Err(Error::NotOurs { path: path.to_path_buf(), owner, us }),
            None => Ok(()),
        }
    }

    /// Checks the owner, and that not all users can read or change the directory. Access rights are never
    /// changed: whoever set them had a reason.
    pub(crate) fn secure(&self, path: &Path) -> Result<(), Error> {
        self.check_owner(path)?;
        self.keep_private(path)
    }

    /// Checks that other users cannot read or change a new file in the directory, which inherits the access
    /// rights of the directory.
    pub(crate) fn keep_private(&self, path: &Path) -> Result<(), Error> {
        let open =
            access(path).map(|access| access.others).filter(|others| others.all.reads || others.all.writes);
        open.map_or(Ok(()), |others| Err(Error::TooOpen { path: path.to_path_buf(), mode: others.mode() }))
    }

    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(self.0.join(name))
    }

    pub(crate) fn open_file(&self, name: &OsStr, path: &Path) -> Result<File, Error> {
        let full = self.0.join(name);
        let kind = fs::symlink_metadata(&full).map_err(Error::io("look at", path))?.file_type();
        if kind.is_symlink() {
            return Err(Error::Symlink { path: path.to_path_buf() });
        }
        if !kind.is_file() {
            return Err(Error::NotRegular { path: path.to_path_buf() });
        }
        patiently(|| File::open(&full)).map_err(Error::io("open", path))
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let (from, to) = (self.0.join(from), self.0.join(to));
        patiently(|| fs::rename(&from, &to))
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        let name = self.0.join(name);
        patiently(|| fs::remove_file(&name))
    }
}

pub(crate) fn is_ours(_: &Metadata, _: &Path) -> Result<(), Error> {
    Ok(())
}

/// Follows the path to a directory from the root, link by link, and judges each directory above it. A drive
/// or share that does not tell its access rights is not judged.
pub(crate) fn weak_parents(dir: &Path) -> Result<Vec<WeakParent>, Error> {
    if cfg!(not(windows)) {
        return Ok(Vec::new());
    }
    let path = absolute(dir).map_err(Error::io("resolve", dir))?;
    let mut weak = Vec::new();
    let followed = follow(&path, |step, at, _| {
        if step == Step::Above {
            let weakness = access(at).and_then(|access| access.weakness());
            weak.extend(weakness.map(|weakness| WeakParent { path: at.to_path_buf(), weakness }));
        }
    });
    followed.map_err(|(at, error)| Error::io("look at", &at)(error))?;
    Ok(weak)
}

/// Returns the permission bits of Unix that mean the same as the access rights of a file or directory, if
/// others have any.
pub(crate) fn open_to_others(path: &Path, _: &Metadata) -> Option<u32> {
    access(path).map(|access| access.others.mode()).filter(|mode| mode & 0o077 != 0)
}

#[cfg(windows)]
use super::windows::access;

#[cfg(not(windows))]
const fn access(_: &Path) -> Option<super::acl::Access> {
    None
}

pub(crate) const fn keeps_modes(_: &Path) -> bool {
    false
}

pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(windows)]
pub(crate) use super::windows::pid_alive;

#[cfg(not(windows))]
pub(crate) const fn pid_alive(_: u32) -> Option<bool> {
    None
}

pub(crate) fn to_path(path: &LocalPath) -> Result<PathBuf, Error> {
    let lossy = || PathBuf::from(String::from_utf8_lossy(path.as_bytes()).into_owned());
    path.to_str().map(PathBuf::from).ok_or_else(|| Error::NotUnicode { path: lossy() })
}

pub(crate) fn from_path(path: &Path) -> Result<LocalPath, Error> {
    let text = path.to_str().ok_or_else(|| Error::NotUnicode { path: path.to_path_buf() })?;
    own_form(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_dir::TempDir;
    use ide_mcp::ide::paths::Platform;
    use std::io::{ErrorKind, Read, Write};

    #[test]
    fn directory_is_made_and_only_directories_open() {
        let temp = TempDir::new();
        Dir::make(&temp.join("a/ide")).unwrap();
        Dir::make(&temp.join("a/ide")).unwrap();
        Dir::open(&temp.join("a/ide")).unwrap().check_owner(&temp.join("a/ide")).unwrap();
        Dir::open(&temp.join("a/ide")).unwrap().secure(&temp.join("a/ide")).unwrap();
        fs::write(temp.join("file"), "").unwrap();
        let kind = |name: &str| Dir::open(&temp.join(name)).map(|_| ()).map_err(|error| error.kind());
        assert_eq!(kind("file"), Err(ErrorKind::NotADirectory));
        assert_eq!(kind("missing"), Err(ErrorKind::NotFound));
    }

    #[test]
    fn file_is_created_renamed_read_and_removed() {
        let temp = TempDir::new();
        let dir = Dir::open(temp.path()).unwrap();
        fs::write(temp.join("1.lock"), "old").unwrap();
        dir.create_new(".tmp").unwrap().write_all(b"new").unwrap();
        assert_eq!(dir.create_new(".tmp").unwrap_err().kind(), ErrorKind::AlreadyExists);
        dir.rename(".tmp", "1.lock").unwrap();
        assert!(!temp.join(".tmp").exists());
        let path = temp.join("1.lock");
        let mut text = String::new();
        let mut file = dir.open_file(OsStr::new("1.lock"), &path).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "new");
        is_ours(&file.metadata().unwrap(), &path).unwrap();
        assert_eq!(mode(&file.metadata().unwrap()), None);
        // Windows removes an open file only if every handle was opened with `FILE_SHARE_DELETE`, as std does
        // by default.
        dir.remove("1.lock").unwrap();
        // Before Windows 10, and in wine 8, its name stays while it is open.
        drop(file);
        assert!(dir.open_file(OsStr::new("1.lock"), &path).unwrap_err().is_not_found());
        assert_eq!(dir.remove("1.lock").unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[test]
    fn irregular_file_is_not_opened() {
        let temp = TempDir::new();
        let dir = Dir::open(temp.path()).unwrap();
        fs::create_dir(temp.join("1.lock")).unwrap();
        let opened = dir.open_file(OsStr::new("1.lock"), &temp.join("1.lock"));
        assert!(matches!(opened, Err(Error::NotRegular { .. })), "{opened:?}");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(temp.join("victim"), temp.join("2.lock")).unwrap();
            let opened = dir.open_file(OsStr::new("2.lock"), &temp.join("2.lock"));
            assert!(matches!(opened, Err(Error::Symlink { .. })), "{opened:?}");
        }
    }

    #[test]
    fn unicode_paths_survive_the_conversion() {
        let temp = TempDir::new();
        let ours = from_path(temp.path()).unwrap();
        assert_eq!(to_path(&ours).unwrap(), temp.path());
        if Platform::native() == Platform::Posix {
            let odd = LocalPath::from_bytes(b"/\xff", Platform::Posix).unwrap();
            assert!(matches!(to_path(&odd), Err(Error::NotUnicode { .. })));
        }
        if cfg!(not(windows)) {
            assert_eq!(pid_alive(std::process::id()), None, "this module reports no processes");
            assert_eq!(weak_parents(temp.path()).unwrap(), []);
            assert!(!keeps_modes(temp.path()));
            assert_eq!(open_to_others(temp.path(), &fs::metadata(temp.path()).unwrap()), None);
        }
    }
}
