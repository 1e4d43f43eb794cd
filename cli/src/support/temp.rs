//! Temporary files and folders for tests, on every system and with every umask.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::{Builder, TempDir};

/// The maximum length of a folder's path for the paths of its files to fit into a row of the screen.
const SHORT: usize = 24;

/// Returns the folder of temporary files, or `/tmp` if its path is too long for a row of the screen.
pub(crate) fn short_temp_dir() -> PathBuf {
    let named = std::env::temp_dir();
    if cfg!(unix) && named.as_os_str().len() > SHORT { "/tmp".into() } else { named }
}

/// Makes a symbolic link to a file. Returns false if this user may not, as on many machines with Windows.
#[must_use]
pub(crate) fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> bool {
    #[cfg(unix)]
    std::os::unix::fs::symlink(target, &link).unwrap();
    #[cfg(windows)]
    let _ = std::os::windows::fs::symlink_file(target, &link);
    // Wine reports success and creates none.
    std::fs::symlink_metadata(link).is_ok_and(|found| found.is_symlink())
}

/// Starts a program that waits until it is killed.
pub(crate) fn waiting_program() -> Child {
    let mut command = if cfg!(windows) { Command::new("cmd") } else { Command::new("sleep") };
    command.args(if cfg!(windows) { &["/d", "/c", "pause"][..] } else { &["60"] });
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// Gives a file a mode on Unix.
pub(crate) fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    let _ = (path, mode);
}

/// Makes a temporary folder that nobody else can write to, whatever the umask of this process is.
pub(crate) fn private_temp_dir() -> TempDir {
    #[cfg(unix)]
    let builder = Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700)).tempdir();
    #[cfg(windows)]
    let builder = Builder::new().tempdir();
    builder.unwrap()
}

/// Makes a folder, and those above it, that nobody else can write to, whatever the umask of this process is.
pub(crate) fn create_private(folder: &Path) {
    crate::support::save::create_private(folder).unwrap();
}
