//! A set-up for the doctor, and the findings of the doctor.

use super::fake::{Behaves, TOKEN, fake};
use crate::support::{Editor, Place, Process};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A home, a project, a current directory and changed environment variables.
pub(crate) struct Setup {
    kept: Vec<Box<dyn Any>>,
    // The editors must end before their home is removed, because they would restore their lock
    // files there.
    editors: Vec<Editor>,
    pub(crate) place: Place,
    pub(crate) cwd: PathBuf,
    /// The arguments of the doctor.
    pub(crate) arguments: Vec<&'static str>,
    variables: Vec<(&'static str, String)>,
}

impl Setup {
    /// Creates a set-up with an empty directory of lock files that has the mode an editor sets.
    pub(crate) fn new() -> Self {
        Self::at("doctor")
    }

    /// Creates that set-up in a directory with this text in its name.
    pub(crate) fn at(name: &str) -> Self {
        let place = Place::new(name);
        fs::create_dir_all(place.lock_dir()).unwrap();
        mode(&place.lock_dir(), 0o700);
        Self {
            cwd: place.project(),
            place,
            arguments: Vec::new(),
            variables: Vec::new(),
            kept: Vec::new(),
            editors: Vec::new(),
        }
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

    /// Returns the value of a variable that the set-up sets.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Keeps a part of the fault until the set-up is dropped.
    pub(crate) fn keep(&mut self, part: impl Any) {
        self.kept.push(Box::new(part));
    }

    /// Keeps a running editor until the set-up is dropped.
    pub(crate) fn keep_editor(&mut self, editor: Editor) {
        self.editors.push(editor);
    }

    /// Makes directories accessible that a fault has made inaccessible, so that they can be
    /// removed.
    pub(crate) fn open(&self) {
        let dir = self.place.lock_dir();
        for dir in [dir.parent().unwrap(), &dir] {
            if dir.is_dir() {
                mode(dir, 0o700);
            }
        }
    }

    /// Drops these parts of the fault.
    pub(crate) fn release(&mut self) {
        self.kept.clear();
    }

    pub(crate) fn doctor(&self, arguments: &[&str]) -> Process {
        Process::spawn("doctor", &mut self.command(arguments))
    }

    /// Returns the command of a doctor in this set-up.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.place.command("doctor", &[&self.arguments, arguments].concat());
        self.prepare(&mut command);
        command
    }

    /// Makes a command run in the current directory, with the variables of this set-up.
    pub(crate) fn prepare(&self, command: &mut Command) {
        self.place.prepare(command);
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
    }

    /// Runs the doctor, and returns the ids of all findings other than "ok", and the exit status.
    pub(crate) fn found(&self, arguments: &[&str]) -> (BTreeSet<String>, Option<i32>) {
        let mut doctor = self.doctor(&[&["--json"], arguments].concat());
        let lines = doctor.rest_of_json();
        let (status, output) = doctor.end();
        assert_eq!(output, "");
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
