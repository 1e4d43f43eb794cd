//! A directory for a test.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

/// A new directory. Dropping this value removes it.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("ide-mcp-lockfile-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // On Windows a canonical path begins with `\\?\`, which nobody writes.
        let temp = env::temp_dir();
        let path = if cfg!(windows) { temp } else { temp.canonicalize().unwrap() }.join(name);
        trust_new_directories();
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

/// Lets nobody else write into the directories that a test makes. With the mask of some people others could, and then
/// no lock file is published there.
pub(crate) fn trust_new_directories() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
