//! Folders for tests, wherever and with whatever settings the tests run.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs::{DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// The longest path of a folder whose files are named in a row of the screen.
const SHORT: usize = 24;

/// Returns the folder of temporary files, or `/tmp` if its path is too long for a row of the screen.
pub(crate) fn short_temp_dir() -> PathBuf {
    let named = std::env::temp_dir();
    if named.as_os_str().len() > SHORT { "/tmp".into() } else { named }
}

/// Makes a temporary folder into which nobody else can write, whatever the mask of this process is.
pub(crate) fn private_temp_dir() -> TempDir {
    Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// Makes a folder, and those above it, into which nobody else can write, whatever the mask of this process is.
pub(crate) fn create_private(folder: &Path) {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).unwrap();
}
