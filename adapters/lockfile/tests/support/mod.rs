//! What the tests share: a directory of their own, and lock files to put there.

#![allow(dead_code, reason = "each test binary uses its part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "../../src/temp_dir.rs"]
mod temp_dir;

pub(crate) use temp_dir::TempDir;

use std::path::Path;
use std::{fs, process};

use ide_mcp::ide::{AuthToken, LockFile};

/// A lock file of this process with this token.
pub(crate) fn lock_file(token: &str) -> LockFile {
    let token = AuthToken::from_text(token).unwrap();
    LockFile::new(process::id(), vec!["/w/p".into()], "editor", token)
}

/// The names in a directory, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[cfg(unix)]
pub(crate) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(unix)]
pub(crate) fn make_fifo(path: &Path) {
    assert!(process::Command::new("mkfifo").arg(path).status().unwrap().success());
}
