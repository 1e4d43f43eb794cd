//! A soak of seconds works, and one of an editor that is not as it must be says so.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use support::Place;

/// The exit status, what it says at last, and what it complains about.
fn soak(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut soak = place.start("soak", arguments);
    let told = soak.rest();
    let (status, problem) = soak.end();
    (status, told.last().cloned().unwrap_or_default(), problem)
}

#[test]
fn six_seconds_of_everything() {
    let (status, told, problem) = soak(&Place::new("soak"), &["--minutes", "0.1"]);
    assert_eq!((status, problem.as_str()), (Some(0), ""), "{told}");
    let told = told.strip_prefix("passed: ").unwrap();
    let counted = |name: &str| -> u64 {
        let entry = told.split([',', ';']).find_map(|entry| entry.trim().strip_suffix(name));
        entry.unwrap_or_else(|| panic!("no {name} in {told}")).trim().parse().unwrap()
    };
    for name in ["connections", "killed", "diffs", "verdicts", "storms", "mentions heard"] {
        assert!(counted(name) > 0, "{name}: {told}");
    }
    let ended = ["answered", "cancelled and not answered", "abandoned with their connection"];
    assert_eq!(counted("requests"), ended.map(counted).iter().sum::<u64>(), "{told}");
}

#[test]
fn what_does_not_hold_is_found() {
    let place = Place::new("soak-found");
    let editor = std::env::current_exe().unwrap();
    let editor = editor.parent().and_then(Path::parent).unwrap().join("examples/editor");
    let cases = [
        ("it is killed", "(sleep 1; kill -9 $$) & ", 1, "the editor ended with signal: 9"),
        (
            "a lock file stays",
            "mkdir -p $CLAUDE_CONFIG_DIR/ide; touch $CLAUDE_CONFIG_DIR/ide/1.lock; ",
            1,
            "1.lock",
        ),
        (
            "agents are not let in",
            "set -- --name soak --token-of /dev/null; ",
            2,
            "the editor does not listen",
        ),
        ("diffs are held", "set -- --on-diff hold \"$@\"; ", 0, ""),
    ];
    for (name, before, expected, part) in cases {
        let program = place.project().join("editor.sh");
        fs::write(&program, format!("#!/bin/sh\n{before}exec {} \"$@\"\n", editor.display())).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let (status, told, problem) =
            soak(&place, &["--minutes", "0.04", "--clients", "3", "--editor", program.to_str().unwrap()]);
        assert_eq!(status, Some(expected), "{name}: {told} {problem}");
        assert!(problem.contains(part), "{name}: {problem}");
    }
}

#[test]
fn what_cannot_begin_says_why() {
    let place = Place::new("soak-begin");
    let cases = [
        (["--minutes", "0"], "--minutes takes a number above 0"),
        (["--clients", "17"], "--clients takes a number from 1 to 16"),
        (["--editor", "/nowhere/editor"], "/nowhere/editor"),
        (["--editor", "/bin/true"], "does not listen"),
    ];
    for (arguments, part) in cases {
        let (status, told, problem) = soak(&place, &arguments);
        assert_eq!((status, told.as_str()), (Some(2), ""), "{arguments:?}: {problem}");
        assert!(problem.contains(part), "{arguments:?}: {problem}");
    }
}
