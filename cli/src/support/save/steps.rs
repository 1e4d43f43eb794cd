//! What a write does to the disk, step by step.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

/// The steps of a write. A test watches them, lets one fail, and lets the process end at one.
pub(super) trait Steps {
    /// Creates a file that does not exist.
    fn create(&mut self, path: &Path, mode: u32) -> io::Result<File>;
    /// Writes a text at the current place.
    fn write(&mut self, file: &mut File, text: &[u8]) -> io::Result<()>;
    /// Gives a file a length.
    fn cut(&mut self, file: &File, length: u64) -> io::Result<()>;
    /// Gives a new file the group, the mode, the access list and the other attributes of the old one.
    fn keep_attributes(&mut self, old: &File, metadata: &Metadata, new: &File) -> io::Result<()>;
    /// Waits until a file is on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Waits until the names in a folder are on the disk.
    fn sync_folder(&mut self, folder: &Path) -> io::Result<()>;
    /// Renames a file, over another one.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Renames a file, unless another one has the name.
    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&mut self, path: &Path) -> io::Result<()>;
}

/// The steps as the system does them.
#[derive(Clone, Copy, Debug)]
pub(super) struct System;

impl Steps for System {
    fn create(&mut self, path: &Path, mode: u32) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    }

    fn write(&mut self, file: &mut File, text: &[u8]) -> io::Result<()> {
        file.write_all(text)
    }

    fn cut(&mut self, file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    fn keep_attributes(&mut self, old: &File, metadata: &Metadata, new: &File) -> io::Result<()> {
        // In another group, other users could read the file.
        fchown(new, None, Some(metadata.gid()))?;
        // Before the mode: an access list that the new file has from its folder could let others read it.
        extended::keep(old, new)?;
        new.set_permissions(metadata.permissions())
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_folder(&mut self, folder: &Path) -> io::Result<()> {
        File::open(folder)?.sync_all()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        {
            use rustix::fs::{CWD, RenameFlags, renameat_with};
            use rustix::io::Errno;
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

    fn remove(&mut self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

/// The extended attributes, which include the access list.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod extended {
    use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr};
    use rustix::io::Errno;
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::io;

    /// The greatest length of a list and of a value on Linux.
    const MAX: usize = 64 * 1024;

    pub(super) fn keep(old: &File, new: &File) -> io::Result<()> {
        let (wanted, mut present) = (read(old)?, read(new)?);
        for (name, value) in &wanted {
            if present.remove(name).as_ref() != Some(value) {
                fsetxattr(new, name.as_slice(), value, XattrFlags::empty())?;
            }
        }
        // A new file inherits an access list from its folder.
        for name in present.keys() {
            fremovexattr(new, name.as_slice())?;
        }
        Ok(())
    }

    fn read(file: &File) -> io::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let mut buffer = vec![0; MAX];
        let length = match flistxattr(file, buffer.as_mut_slice()) {
            // This file system has none.
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
