//! A set-up for the doctor, and the findings of the doctor.

use super::fake::{Behaves, TOKEN, fake};
use crate::support::{Place, Process};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// A home, a project, a current directory and changed environment variables.
pub(crate) struct Setup {
    pub(crate) place: Place,
    pub(crate) cwd: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Setup {
    /// Creates a set-up with an empty directory of lock files that has the mode an editor sets.
    pub(crate) fn new() -> Self {
        let place = Place::new("doctor");
        fs::create_dir_all(place.lock_dir()).unwrap();
        mode(&place.lock_dir(), 0o700);
        Self { cwd: place.project(), place, variables: Vec::new() }
    }

    /// Returns the lock file of an editor that has the project open.
    pub(crate) fn lock(&self) -> Value {
        json!({
            "pid": std::process::id(), "workspaceFolders": [self.place.project().canonicalize().unwrap()],
            "ideName": "Fake", "transport": "ws", "runningInWindows": false, "authToken": TOKEN,
        })
    }

    /// Returns that lock file with changed members; null counts as missing.
    pub(crate) fn lock_with(&self, changes: &Value) -> Value {
        let mut lock = self.lock();
        lock.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        lock
    }

    pub(crate) fn publish(&self, port: u16, lock: &Value) -> PathBuf {
        self.put(port, &lock.to_string())
    }

    pub(crate) fn put(&self, port: u16, text: &str) -> PathBuf {
        Self::put_in(&self.place.lock_dir(), port, text)
    }

    pub(crate) fn put_in(dir: &Path, port: u16, text: &str) -> PathBuf {
        let path = dir.join(format!("{port}.lock"));
        fs::write(&path, text).unwrap();
        mode(&path, 0o600);
        path
    }

    /// Starts an editor that has the project open, and returns the path of its lock file.
    pub(crate) fn editor(&self, behaves: Behaves) -> PathBuf {
        self.publish(fake(behaves), &self.lock())
    }

    /// Starts an editor and changes members of its lock file; null counts as missing.
    pub(crate) fn editor_with(&self, changes: &Value) -> PathBuf {
        self.publish(fake(Behaves::Well), &self.lock_with(changes))
    }

    /// Starts an editor that has the project open, and sets variables.
    pub(crate) fn editor_and(&mut self, variables: &[(&'static str, &str)]) {
        self.editor(Behaves::Well);
        for (name, value) in variables {
            self.set(name, *value);
        }
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    pub(crate) fn doctor(&self, arguments: &[&str]) -> Process {
        let mut command = self.place.command("doctor", arguments);
        for name in [
            "CLAUDE_CODE_AUTO_CONNECT_IDE",
            "CLAUDE_CODE_IDE_HOST_OVERRIDE",
            "ENABLE_IDE_INTEGRATION",
            "XDG_CONFIG_HOME",
            "http_proxy",
            "HTTP_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
        ] {
            command.env_remove(name);
        }
        // A shell sets PWD to the path with its links.
        command.current_dir(&self.cwd).env("PWD", &self.cwd).envs(self.variables.iter().cloned());
        Process::spawn("doctor", &mut command)
    }

    /// Runs the doctor, and returns the ids of all findings other than "ok", and the exit status.
    pub(crate) fn found(&self, arguments: &[&str]) -> (BTreeSet<String>, Option<i32>) {
        let mut doctor = self.doctor(&[&["--json"], arguments].concat());
        let lines = doctor.rest_of_json();
        let (status, said) = doctor.end();
        assert_eq!(said, "");
        assert!(!format!("{lines:?}").contains("QZQZ"), "the token is shown: {lines:?}");
        let (last, findings) = lines.split_last().unwrap();
        assert_eq!(
            (&last["event"], last["status"].as_i64()),
            (&json!("verdict"), status.map(i64::from)),
            "{last}"
        );
        let bad = findings.iter().filter(|found| found["status"] != "ok");
        (bad.map(|found| found["id"].as_str().unwrap().to_owned()).collect(), status)
    }
}

pub(crate) fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}
