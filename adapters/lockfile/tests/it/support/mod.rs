//! Tools of the tests: a new directory for each test, and lock files to put there.

#![allow(dead_code, unused_imports, reason = "the test of the umask uses a part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

#[path = "../../../src/temp_dir.rs"]
mod temp_dir;

pub(crate) use temp_dir::{TempDir, ended_process};

use std::io::{Write as _, stderr};
use std::path::Path;
use std::{env, fs, process, thread};

use ide_mcp::ide::discovery::{AuthToken, LockFile};

/// Returns a lock file of this process, with a token that begins with `token` and is long enough to be
/// published.
pub(crate) fn lock_file(token: &str) -> LockFile {
    let token = AuthToken::from_text(format!("{token}-0123456789abcdef")).unwrap();
    LockFile::new(process::id(), vec!["/w/p".into()], "editor", token)
}

/// Returns [`lock_file`] as it is published, with the scope of this process.
pub(crate) fn marked(token: &str) -> LockFile {
    let mut file = lock_file(token);
    file.scope = ide_mcp_lockfile::process_scope();
    file
}

/// Returns the names in a directory, sorted.
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

/// Says why a test does not run on this machine, on the real standard error, which libtest does not capture.
/// Fails if `IDE_MCP_NO_SKIPS` is set, as in `tests/lab/run skips`.
pub(crate) fn skip(reason: &str) {
    assert!(env::var_os("IDE_MCP_NO_SKIPS").is_none(), "a skipped test is a failure here: {reason}");
    let name = thread::current().name().unwrap_or_default().to_owned();
    stderr().write_all(format!("skipped {name}: {reason}\n").as_bytes()).unwrap();
}
