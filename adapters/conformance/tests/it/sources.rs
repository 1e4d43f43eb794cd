//! The rules for the sources of the adapters: nothing of the protocol, and no file that does two
//! things. The tests of the adapters use the protocol; their files are no longer either.

use std::fs;
use std::path::{Path, PathBuf};

/// The words of the protocol. In a comment they would be as much of a sign as in code.
const PROTOCOL: &[&str] =
    &["openDiff", "selection", "jsonrpc", "initialize", "tools/", "Sec-WebSocket", "1008"];

/// The limit of lines: a longer file does more than one thing.
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

/// Returns every file in this folder of every adapter. The cases that the adapters share, in this
/// package, are tests alone.
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
