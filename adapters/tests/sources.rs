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
    for (path, text) in files(true) {
        assert_eq!(words(&text), Vec::<&str>::new(), "{}", path.display());
    }
}

#[test]
fn no_file_is_long() {
    for (path, text) in files(true).into_iter().chain(files(false)) {
        let lines = text.lines().count();
        assert!(lines <= LINES, "{} has {lines} lines", path.display());
    }
}

/// Returns the sources of every adapter, or its tests with the cases that the adapters share.
fn files(of_sources: bool) -> Vec<(PathBuf, String)> {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    collect(adapters, &mut files);
    files.retain(|(path, _)| path.components().any(|part| part.as_os_str() == "src") == of_sources);
    for adapter in
        ["driver", "lockfile", "mio", "smol", "blocking"].into_iter().chain((!of_sources).then_some("tests"))
    {
        let path = adapters.join(adapter);
        assert!(files.iter().any(|(file, _)| file.starts_with(&path)), "{adapter} was looked at");
    }
    files
}

fn collect(folder: &Path, files: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            files.push((path, text));
        }
    }
}
