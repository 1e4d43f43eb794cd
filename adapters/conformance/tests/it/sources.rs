//! What stands in the sources of the adapters: nothing of the protocol, and no file that holds two things. Their tests speak
//! the protocol; they are no longer either.

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
    for (path, text) in files("src") {
        assert_eq!(words(&text), Vec::<&str>::new(), "{}", path.display());
    }
}

#[test]
fn no_file_is_long() {
    for (path, text) in files("src").into_iter().chain(files("tests")) {
        let lines = text.lines().count();
        assert!(lines <= LINES, "{} has {lines} lines", path.display());
    }
}

/// Every file in this folder of every adapter; the cases they share, in this package, are tests alone.
fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for adapter in fs::read_dir(adapters).unwrap() {
        let path = adapter.unwrap().path().join(folder);
        if path.is_dir() {
            collect(&path, &mut files);
        }
    }
    let here = (folder == "tests").then_some("conformance");
    for adapter in ["link", "lockfile", "server", "mio", "smol", "blocking"].into_iter().chain(here) {
        let path = adapters.join(adapter).join(folder);
        assert!(files.iter().any(|(file, _)| file.starts_with(&path)), "{adapter} was looked at");
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
