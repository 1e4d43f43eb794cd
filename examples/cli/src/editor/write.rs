//! The writing of files.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// The maximum number of names that are tried: more than one process leaves behind.
const ATTEMPTS: u8 = 100;

/// Replaces a file so that a complete one exists at all times, the old or the new. Writes in place a file
/// that is new or cannot be replaced.
///
/// # Errors
/// The error of the system. The old file is then whole, unless it was overwritten in place.
pub(crate) fn write(real: &Path, contents: &[u8]) -> io::Result<()> {
    match replace(real, contents) {
        // The file is new, or `replace` cannot keep its names, owner, group or mode, or create a file beside it.
        Err(None) => fs::write(real, contents),
        Err(Some(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

/// Creates a file with these permissions. At no time another user can read what they keep from that user.
///
/// # Errors
/// The error of the system, also if the file exists. No new file is left then.
pub(crate) fn write_new(real: &Path, contents: &[u8], permissions: Permissions) -> io::Result<()> {
    fill(&mut create(real)?, contents, permissions).inspect_err(|_| {
        let _ = fs::remove_file(real);
    })
}

/// Replaces a file by a new one. Returns `Err(None)` if the file has to be overwritten in place.
fn replace(real: &Path, contents: &[u8]) -> Result<(), Option<io::Error>> {
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return Err(None) };
    let old = fs::metadata(real).map_err(|error| (error.kind() != ErrorKind::NotFound).then_some(error))?;
    if loses_by_replacement(&old) || old.permissions().readonly() {
        return Err(None);
    }
    let (mut file, other) = create_beside(folder, &name.to_string_lossy()).ok_or(None)?;
    // In another group, other users could read the file.
    let has_group = fchown(&file, None, Some(old.gid())).map_err(|_| None);
    let written = has_group.and_then(|()| fill(&mut file, contents, old.permissions()).map_err(Some));
    written.and_then(|()| fs::rename(&other, real).map_err(Some)).inspect_err(|_| {
        let _ = fs::remove_file(&other);
    })
}

/// Creates a file in this folder under a name that no file has: a crash can leave such a file behind, and a
/// later process can have the same number.
fn create_beside(folder: &Path, name: &str) -> Option<(File, PathBuf)> {
    let mut attempts = (0..ATTEMPTS).map(|attempt| {
        let path = folder.join(format!(".{name}.{}.{attempt}~", std::process::id()));
        create(&path).map(|file| (file, path))
    });
    attempts.find(|made| !matches!(made, Err(error) if error.kind() == ErrorKind::AlreadyExists))?.ok()
}

/// Creates a file that only its user can read until it has the permissions of the old file.
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn fill(file: &mut File, contents: &[u8], permissions: Permissions) -> io::Result<()> {
    file.write_all(contents)?;
    file.set_permissions(permissions)?;
    file.sync_all()
}

/// Returns true if a new file in place of this one would lose its owner or its other names.
fn loses_by_replacement(old: &fs::Metadata) -> bool {
    old.nlink() > 1 || old.uid() != rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, chown};

    #[test]
    fn file_keeps_its_group_and_mode() {
        let root = std::env::temp_dir().join(format!("ide-mcp-write-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let path = root.join("a");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        // Only root can give a file to any group.
        let _ = chown(&path, None, Some(54_321));
        let group = fs::metadata(&path).unwrap().gid();
        for text in ["new", "newer"] {
            write(&path, text.as_bytes()).unwrap();
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!((metadata.gid(), metadata.mode() & 0o777), (group, 0o640), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        let left = create_beside(&root, "a").unwrap().1;
        let inode = fs::metadata(&path).unwrap().ino();
        write(&path, b"newest").unwrap();
        assert_ne!(fs::metadata(&path).unwrap().ino(), inode, "replaced beside {left:?}");
        let file = create(&root.join("b")).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "while it is written");
        fs::remove_dir_all(&root).unwrap();
    }
}
