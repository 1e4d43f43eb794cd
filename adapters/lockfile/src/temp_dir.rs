//! A directory for a test.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A new directory, removed when it is dropped.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        // On Windows a canonical path begins with `\\?\`, which no person and no client writes.
        let temp = env::temp_dir();
        let temp = if cfg!(windows) { temp } else { temp.canonicalize().unwrap() };
        trust_new_directories();
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = temp.join(format!("ide-mcp-lockfile-{}-{count}", process::id()));
            match fs::create_dir(&path) {
                // An earlier test with our process id was killed, and left this directory.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => return made.map(|()| Self(path)).unwrap(),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Keeps others from writing to the directories that a test creates. With some people's umask they could, and
/// then no lock file would be published there.
fn trust_new_directories() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a command that ends at once.
pub(crate) fn nothing() -> process::Command {
    if !cfg!(windows) {
        return process::Command::new("true");
    }
    let mut command = process::Command::new("cmd");
    command.args(["/c", "exit"]);
    command
}

/// Returns the id of a process that has ended.
pub(crate) fn ended_process() -> u32 {
    let mut child = nothing().spawn().unwrap();
    child.wait().unwrap();
    let id = child.id();
    // While a handle is open, Windows does not reuse the id.
    std::mem::forget(child);
    id
}
