//! The tap, the editor behind it, and the replay of the transcript, as processes.

use crate::support::{Editor, Place, Process};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A running tap, and the contents of its lock file.
pub(crate) struct Tap {
    pub(crate) process: Process,
    pub(crate) port: u16,
    pub(crate) lock: PathBuf,
    pub(crate) token: String,
}

impl Tap {
    pub(crate) fn start(place: &Place, editor: &str, out: &str) -> Self {
        Self::of(place.start("tap", &["--port", editor, "--out", out]), place, editor)
    }

    /// Waits for the lock file of a started tap, and reads it.
    pub(crate) fn of(process: Process, place: &Place, editor: &str) -> Self {
        let lock = place.published("the tap", Some(editor));
        let file: Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
        let port = lock.file_stem().unwrap().to_str().unwrap().parse().unwrap();
        Self { process, port, lock, token: file["authToken"].as_str().unwrap().into() }
    }

    pub(crate) fn agent(&self, place: &Place, arguments: &[&str]) -> Process {
        let port = self.port.to_string();
        let arguments: Vec<&str> = ["--port", &port].into_iter().chain(arguments.iter().copied()).collect();
        place.agent(&arguments)
    }

    pub(crate) fn stop(&mut self) {
        self.process.terminate();
        let (status, output) = self.process.end();
        assert_eq!(status, Some(0), "{output}");
        assert!(!self.lock.exists(), "the lock file is left behind");
    }
}

/// Starts an editor. Returns it, its port and its token.
pub(crate) fn editor(place: &Place, arguments: &[&str]) -> (Editor, String, String) {
    let editor = place.editor(arguments);
    let lock: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
    let (port, token) = (editor.port.clone(), lock["authToken"].as_str().unwrap().to_owned());
    (editor, port, token)
}

/// Runs a replay, and returns the exit status and the output.
pub(crate) fn replay(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let mut process = place.start("replay", arguments);
    let output = process.rest().join("\n");
    let (status, complaint) = process.end();
    (status, format!("{output}{complaint}"))
}

/// Runs a replay by bytes and by meaning, which must agree. Returns the exit status, and the output by meaning.
pub(crate) fn replay_both(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let (status, output) = replay(place, arguments);
    let (by_bytes, output_of_bytes) = replay(place, &[&["--bytes"], arguments].concat());
    assert_eq!(by_bytes, status, "by bytes: {output_of_bytes}\nby meaning: {output}");
    (status, output)
}
