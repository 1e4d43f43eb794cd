//! Files on Windows.

use super::Stamp;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Without the id of the file, because only unsafe code can ask for it.
pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    let times = [metadata.last_write_time(), metadata.creation_time()].map(u64::cast_signed);
    Stamp([times[0], times[1], 0, 0], [0, 0, metadata.file_size()])
}

/// Creates a folder, and those above it. In the user's profile, only this user can look into it.
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// Creates a file that does not exist. It inherits its DACL from the folder.
pub(super) fn create(path: &Path, _is_private: bool) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// Returns options that open a file. Symbolic links are resolved before that.
pub(super) fn at_once() -> OpenOptions {
    OpenOptions::new()
}

/// Returns why another file cannot replace this one: the new one would not have its DACL, its streams and its
/// attributes.
#[allow(clippy::unnecessary_wraps, reason = "on Unix a file can be replaced")]
pub(super) const fn not_replaceable(_: &Metadata) -> Option<&'static str> {
    Some("a new file would not have its access list")
}

pub(super) fn keep_attributes(_: &File, _: &Metadata, _: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Other processes see that a write is going on: the open file is enough.
pub(super) const fn hold(_: &File) {}

/// Returns true if this file is left behind by a write of another process that was killed.
pub(super) fn is_left(path: &Path, _: &Metadata, _pid: u32) -> bool {
    !is_held(path)
}

/// Returns true if a process has this file open, or if it cannot be opened.
pub(super) fn is_held(path: &Path) -> bool {
    OpenOptions::new().write(true).share_mode(0).open(path).is_err()
}

/// Windows cannot sync a folder.
#[allow(clippy::unnecessary_wraps, reason = "other systems can refuse")]
pub(super) const fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Renames a file of ours, unless the new name is taken.
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    // A rename would replace a file of that name.
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // This file system has no hard links.
        Err(_) => set_aside(from, to),
    }
}

/// Renames a file of somebody else to a name of ours, unless that name is taken. Whatever appears under the old name in
/// the meantime stays.
pub(super) fn set_aside(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => fs::rename(from, to),
        Err(error) => Err(error),
        Ok(_) => Err(ErrorKind::AlreadyExists.into()),
    }
}
