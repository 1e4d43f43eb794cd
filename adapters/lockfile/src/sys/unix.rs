//! Lock files on Unix. Every step in a directory goes through its descriptor, so that all of them reach the
//! same directory even if its path changes.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Metadata, read_dir, read_to_string};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf, absolute};

use ide_mcp::ide::paths::LocalPath;
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};

use super::own_form;
use crate::links::{Step, follow};
use crate::{Error, WeakParent, Weakness};

/// The permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// In a directory with this bit, only the owner of an entry may rename or remove it.
const STICKY: u32 = 0o1000;

#[derive(Debug)]
pub(crate) struct Dir(File);

impl Dir {
    /// Creates the directory and its parents, for the owner only. An existing directory stays as it is.
    pub(crate) fn make(path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    /// Opens a directory. This follows symbolic links, since people link their configuration;
    /// [`secure`](Self::secure) then checks what was opened.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(File::from(open(path, flags, Mode::empty())?)))
    }

    /// Checks that the directory belongs to our effective user.
    pub(crate) fn check_owner(&self, path: &Path) -> Result<Metadata, Error> {
        let metadata = self.0.metadata().map_err(Error::io("look at", path))?;
        is_ours(&metadata, path)?;
        Ok(metadata)
    }

    /// Checks the owner, then takes away the permissions of other users.
    pub(crate) fn secure(&self, path: &Path) -> Result<(), Error> {
        let metadata = self.check_owner(path)?;
        if metadata.mode() & OTHERS == 0 {
            return Ok(());
        }
        fchmod(&self.0, Mode::RWXU).map_err(Error::io("close to other users", path))?;
        let mode = self.0.metadata().map_err(Error::io("look at", path))?.mode() & 0o777;
        if mode & OTHERS == 0 { Ok(()) } else { Err(Error::TooOpen { path: path.to_path_buf(), mode }) }
    }

    /// Never fails, since a new file gets a mode of its own.
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "other systems have no modes")]
    pub(crate) const fn keep_private(&self, _: &Path) -> Result<(), Error> {
        Ok(())
    }

    /// Creates a file for the owner only. Fails if the name exists, even as a dangling link.
    pub(crate) fn create_new(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?))
    }

    /// Opens a file for reading, without following a link and without waiting for the other end of a pipe.
    pub(crate) fn open_file(&self, name: &OsStr, path: &Path) -> Result<File, Error> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        match openat(&self.0, name, flags, Mode::empty()) {
            Ok(file) => Ok(File::from(file)),
            // FreeBSD returns MLINK where other systems return LOOP.
            Err(Errno::LOOP | Errno::MLINK) => Err(Error::Symlink { path: path.to_path_buf() }),
            // The file is a socket, or a device that does not exist.
            Err(Errno::NXIO | Errno::OPNOTSUPP) => Err(Error::NotRegular { path: path.to_path_buf() }),
            Err(error) => Err(Error::io("open", path)(error)),
        }
    }

    /// Renames within the directory, over an existing file with the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }
}

/// Fails if the file or directory does not belong to our effective user. On a Windows drive under WSL the
/// owner means nothing, so this succeeds.
pub(crate) fn is_ours(metadata: &Metadata, path: &Path) -> Result<(), Error> {
    let (owner, us) = (metadata.uid(), geteuid().as_raw());
    if owner == us || !keeps_modes(path) {
        Ok(())
    } else {
        Err(Error::NotOurs { path: path.to_path_buf(), owner, us })
    }
}

/// Follows the path to a directory from the root, link by link, and checks each directory above it.
pub(crate) fn weak_parents(dir: &Path) -> Result<Vec<WeakParent>, Error> {
    let path = absolute(dir).map_err(Error::io("resolve", dir))?;
    let mut weak = Vec::new();
    let followed = follow(&path, |step, at, metadata| match step {
        // Windows decides who has access to its drives.
        Step::Above if !keeps_modes(at) => {}
        Step::Above => weak.extend(judge(at, metadata)),
        // The mode of a link means nothing.
        Step::Link => weak.extend(foreign(at, metadata)),
    });
    // A missing directory will be ours, since this program creates it.
    followed.map_err(|(at, error)| Error::io("look at", &at)(error))?;
    Ok(weak)
}

/// Returns false for a file on a Windows drive under WSL. Its mode says what we may do ourselves, its owner
/// is the same for all files, and neither says anything about other Windows users.
pub(crate) fn keeps_modes(path: &Path) -> bool {
    #[cfg(target_os = "linux")]
    if matches!(crate::system(), ide_mcp::ide::paths::System::Wsl { .. }) {
        return !rustix::fs::statfs(path).is_ok_and(|system| is_windows_drive(system.f_type));
    }
    let _ = path;
    true
}

/// Returns true if WSL shows Windows drives by this file system: 9p in WSL 2, and one of its own in WSL 1.
#[cfg(target_os = "linux")]
const fn is_windows_drive(file_system: rustix::fs::FsWord) -> bool {
    matches!(file_system, 0x0102_1997 | 0x5346_4846)
}

fn judge(path: &Path, metadata: &Metadata) -> Option<WeakParent> {
    let mode = metadata.mode() & 0o7777;
    let weakness = match mode {
        _ if mode & STICKY != 0 => None,
        _ if mode & 0o002 != 0 => Some(Weakness::WritableByAll { mode }),
        _ if mode & 0o020 != 0 => Some(Weakness::WritableByGroup { mode }),
        _ => None,
    };
    foreign(path, metadata).or_else(|| Some(WeakParent { path: path.to_path_buf(), weakness: weakness? }))
}

fn foreign(path: &Path, metadata: &Metadata) -> Option<WeakParent> {
    let (owner, us) = (metadata.uid(), geteuid().as_raw());
    let is_trusted = owner == us || owner == 0 || stands_for_others(owner);
    (!is_trusted).then(|| WeakParent { path: path.to_path_buf(), weakness: Weakness::Owner { owner, us } })
}

/// Returns true if this uid stands for all users that our user namespace does not map, which may include root.
pub(crate) fn stands_for_others(uid: u32) -> bool {
    const ALL: &str = "0 0 4294967295";
    let read = |path: &str| read_to_string(path).ok();
    let overflow = read("/proc/sys/kernel/overflowuid").and_then(|text| text.trim().parse().ok());
    // A system without this file has no user namespaces, so every uid is one user.
    overflow == Some(uid)
        && read("/proc/self/uid_map")
            .is_some_and(|map| map.split_ascii_whitespace().collect::<Vec<_>>().join(" ") != ALL)
}

pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    Some(metadata.mode() & 0o7777)
}

/// Returns the permission bits, if users other than the owner have any and the bits mean something.
pub(crate) fn open_to_others(path: &Path, metadata: &Metadata) -> Option<u32> {
    mode(metadata).filter(|mode| mode & OTHERS != 0 && keeps_modes(path))
}

pub(crate) fn pid_alive(pid: u32) -> Option<bool> {
    // No process has the id 0 or one that does not fit. To `kill(2)`, 0 means our own process group, and a
    // number that does not fit would be negative, which also means a group.
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return Some(false);
    };
    match test_kill_process(pid) {
        Ok(()) | Err(Errno::PERM) => Some(!has_ended(pid)),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

/// Returns true if a process has ended and its parent has not asked for its status yet. Linux shows the state
/// after the name, which is in parentheses.
fn has_ended(pid: Pid) -> bool {
    let status = read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let has_main_thread = status.rsplit_once(") ").is_none_or(|(_, behind)| !behind.starts_with(['Z', 'X']));
    // A process can go on without its main thread.
    !has_main_thread && read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count) < 2
}

pub(crate) fn to_path(path: &LocalPath) -> Result<PathBuf, Error> {
    Ok(PathBuf::from(OsStr::from_bytes(path.as_bytes())))
}

pub(crate) fn from_path(path: &Path) -> Result<LocalPath, Error> {
    own_form(path, path.as_os_str().as_bytes())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn windows_drives_keep_no_modes() {
        // The numbers of statfs(2).
        for (name, number, expected) in [
            ("9p", 0x0102_1997, true),
            ("WSL 1", 0x5346_4846, true),
            ("ext4", 0xef53, false),
            ("tmpfs", 0x0102_1994, false),
            ("overlay", 0x794c_7630, false),
        ] {
            assert_eq!(is_windows_drive(number), expected, "{name}");
        }
        assert!(keeps_modes(Path::new("/")), "this is not WSL");
    }
}
