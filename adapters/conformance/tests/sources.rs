//! What stands in the sources of the adapters: nothing of the protocol, and no file that holds two things.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::fs;
use std::path::{Path, PathBuf};

/// What belongs to the machines. In comments it would be as much of a sign.
const PROTOCOL: &[&str] =
    &["openDiff", "selection", "jsonrpc", "initialize", "tools/", "Sec-WebSocket", "1008"];

/// Longer ones hold more than one thing.
const LINES: usize = 300;

#[test]
fn adapters_know_no_protocol() {
    let words =
        |text: &str| -> Vec<&str> { PROTOCOL.iter().copied().filter(|word| text.contains(word)).collect() };
    assert_eq!(words("a selection, closed with 1008"), ["selection", "1008"], "the scanner sees them");
    for (path, text) in sources() {
        assert_eq!(words(&text), Vec::<&str>::new(), "{}", path.display());
    }
}

#[test]
fn no_file_is_long() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= LINES, "{} has {lines} lines", path.display());
    }
}

/// Every source file of every adapter; this package has none.
fn sources() -> Vec<(PathBuf, String)> {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for adapter in fs::read_dir(adapters).unwrap() {
        let src = adapter.unwrap().path().join("src");
        if src.is_dir() {
            collect(&src, &mut files);
        }
    }
    for adapter in ["link", "lockfile", "server", "mio", "smol", "blocking"] {
        let src = adapters.join(adapter).join("src");
        assert!(files.iter().any(|(path, _)| path.starts_with(&src)), "{adapter} was looked at");
    }
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
}
