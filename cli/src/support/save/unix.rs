//! Files on Unix.

use super::Stamp;
use ide_mcp_lockfile::pid_alive;
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    let written = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    Stamp(written, [metadata.dev(), metadata.ino(), metadata.len()])
}

/// Creates a folder that only this user can look into, and the folders above it.
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates a file that does not exist, for this user alone or for others too.
pub(super) fn create(path: &Path, is_private: bool) -> io::Result<File> {
    // The system subtracts the umask from the mode of a new file.
    let mode = if is_private { 0o600 } else { 0o666 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// Returns options that open a file without waiting for the other end of a pipe, and without following a symbolic link.
pub(super) fn at_once() -> OpenOptions {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    options
}

/// Returns why another file cannot replace this one.
pub(super) fn not_replaceable(metadata: &Metadata) -> Option<&'static str> {
    if metadata.nlink() > 1 {
        Some("it has other names")
    } else if metadata.uid() != geteuid().as_raw() {
        Some("it belongs to another user")
    } else {
        None
    }
}

/// Gives a new file the group, the mode, the ACL and the other attributes of the old one.
pub(super) fn keep_attributes(old: &File, metadata: &Metadata, new: &File) -> io::Result<()> {
    // In another group, other users could read the file.
    fchown(new, None, Some(metadata.gid()))?;
    // Before the mode is set: an ACL that the new file has inherited from its folder could let others read it.
    extended::keep(old, new)?;
    new.set_permissions(metadata.permissions())
}

/// Shows other processes that a write is going on.
pub(super) fn hold(file: &File) {
    // On a file system without locks, only the process id shows that.
    let _ = flock(file, FlockOperation::NonBlockingLockExclusive);
}

/// Returns true if this is a file of ours, left behind by a write of another process that was killed.
pub(super) fn is_left(path: &Path, metadata: &Metadata, pid: u32) -> bool {
    metadata.uid() == geteuid().as_raw() && pid_alive(pid) == Some(false) && !is_held(path)
}

/// Returns true if a running write holds this file.
pub(super) fn is_held(path: &Path) -> bool {
    let lock = |file| flock(&file, FlockOperation::NonBlockingLockShared);
    File::open(path).is_ok_and(|file| lock(file) == Err(Errno::WOULDBLOCK))
}

/// Makes a rename survive a power cut.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Renames a file of ours, unless the new name is taken.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The file system, or an old kernel, does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            done => return Ok(done?),
        }
    }
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
    }
}

/// Renames a file of somebody else to a name of ours, unless that name is taken.
pub(super) fn set_aside(from: &Path, to: &Path) -> io::Result<()> {
    rename_new(from, to)
}

/// The extended attributes, which include the ACL.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod extended {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;

    /// The maximum length of the list of names and of a value on Linux.
    const MAX: usize = 64 * 1024;

    pub(super) fn keep(old: &File, new: &File) -> io::Result<()> {
        let (wanted, mut present) = (read(old)?, read(new)?);
        for (name, value) in &wanted {
            if present.remove(name).as_ref() != Some(value) {
                fsetxattr(new, name.as_slice(), value, XattrFlags::empty())?;
            }
        }
        // A new file may have inherited an ACL from its folder.
        for name in present.keys() {
            fremovexattr(new, name.as_slice())?;
        }
        Ok(())
    }

    fn read(file: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let mut buffer = vec![0; MAX];
        let length = match flistxattr(file, buffer.as_mut_slice()) {
            // This file system has no extended attributes.
            Err(Errno::NOTSUP) => return Ok(BTreeMap::new()),
            length => length?,
        };
        let names = buffer.get(..length).unwrap_or_default().split(|byte| *byte == 0);
        let names: Vec<Vec<u8>> = names.filter(|name| is_kept(name)).map(Into::into).collect();
        let mut read = BTreeMap::new();
        for name in names {
            let length = fgetxattr(file, name.as_slice(), buffer.as_mut_slice())?;
            read.insert(name, buffer.get(..length).unwrap_or_default().to_vec());
        }
        Ok(read)
    }

    /// Returns true for an attribute that a write of the file leaves alone. The system drops or renews the others,
    /// such as capabilities and checksums, at each write.
    fn is_kept(name: &[u8]) -> bool {
        !name.is_empty() && (!name.starts_with(b"security.") || name == b"security.selinux")
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod extended {
    pub(super) fn keep(_: &std::fs::File, _: &std::fs::File) -> std::io::Result<()> {
        Ok(())
    }
}
