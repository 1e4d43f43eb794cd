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

use rustix::process::{Pid, test_kill_process};
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

/// A program that runs these lines of a shell.
fn script(place: &Place, lines: &str) -> String {
    let program = place.project().join("editor.sh");
    fs::write(&program, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().into()
}

#[test]
fn what_does_not_hold_is_found() {
    let place = Place::new("soak-found");
    let editor = std::env::current_exe().unwrap();
    let editor = editor.parent().and_then(Path::parent).unwrap().join("examples/editor");
    let run = format!("{} \"$@\"", editor.display());
    // Something happens once it listens, before that is told.
    let once = |then: &str| {
        format!(
            "ide=$CLAUDE_CONFIG_DIR/ide; mkfifo $ide.pipe\n\
             (read line; {then}; cat) <$ide.pipe & exec >$ide.pipe {run}"
        )
    };
    let cases = [
        ("it is killed", once("echo \"$line\"; sleep 0.5; kill -9 $$"), 1, "the editor ended with signal: 9"),
        (
            "a lock file stays",
            format!("mkdir -p $CLAUDE_CONFIG_DIR/ide; touch $CLAUDE_CONFIG_DIR/ide/1.lock; exec {run}"),
            1,
            "1.lock",
        ),
        (
            "the directory of lock files is gone",
            format!(
                "exec 3<&0; {run} <&3 & trap 'kill $!' TERM; wait; wait; rm -r $CLAUDE_CONFIG_DIR/ide; exit 0"
            ),
            1,
            "/ide: No such file",
        ),
        (
            "agents are not let in",
            once(r#"sed -i 's/\("authToken":"\)......../\100000000/' $ide/*.lock; echo "$line""#),
            1,
            "the editor lets nobody in",
        ),
        ("diffs are held", format!("set -- --on-diff hold \"$@\"; exec {run}"), 0, ""),
    ];
    for (name, lines, expected, part) in cases {
        let program = script(&place, &lines);
        let (status, told, problem) =
            soak(&place, &["--minutes", "0.04", "--clients", "3", "--editor", &program]);
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

#[test]
fn an_editor_that_does_not_begin_is_ended() {
    let place = Place::new("soak-ended");
    let (lock, pid) = (place.project().join("1.lock"), place.project().join("pid"));
    fs::write(&lock, "{}").unwrap();
    let cases = [
        ("it says nothing", String::new(), "does not listen: it says nothing within 10 s"),
        ("it says something else", "echo hello".into(), r#"does not listen: "hello\n""#),
        (
            "its lock file lies elsewhere",
            format!(r#"mkdir $CLAUDE_CONFIG_DIR/ide; echo '{{"port":1,"lock":"{}"}}'"#, lock.display()),
            "does not lie in",
        ),
    ];
    for (name, says, part) in cases {
        let program = script(&place, &format!("echo $$ >{}; {says}\nexec sleep 60", pid.display()));
        let (status, told, problem) = soak(&place, &["--editor", &program]);
        assert_eq!((status, told.as_str()), (Some(2), ""), "{name}: {problem}");
        assert!(problem.contains(part), "{name}: {problem}");
        let pid = fs::read_to_string(&pid).unwrap().trim().parse().ok().and_then(Pid::from_raw).unwrap();
        assert!(test_kill_process(pid).is_err(), "{name}: it still runs");
    }
}
