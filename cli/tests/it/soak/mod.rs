//! A soak of the editor: many agents that misbehave, a user in a hurry, and checks of all results.
//!
//! Within minutes the editor gets the load of weeks with agents. It runs as the process `ide-mcp editor --headless`.
//! Its clients send every request, leave proposed changes open, cancel, stall, break rules, and disappear in every
//! possible way. A user decides on changes, selects in storms and mentions files. These rules must hold:
//!
//! - Each request gets exactly one answer of the right kind, unless its connection was killed. There
//!   are no other answers.
//! - The last selection of a storm arrives at every client, and few of the earlier selections do.
//! - Mentions arrive once and in order.
//! - The editor reports the end of each proposed change once, and reports the end of all proposed
//!   changes of a connection before the end of the connection.
//! - The memory of the editor (RSS) stays within 1 MiB during the last third of the run, if the third
//!   is a minute or longer; measured on Linux only.
//! - After SIGTERM the editor answers all open requests, ends with status 0 and leaves no lock file.
//!
//! A soak of half an hour, with a line of progress every 30 seconds:
//! `cargo test --release -p ide-mcp-cli --test it -- --ignored --nocapture soak`. `SOAK_MINUTES`,
//! `SOAK_CLIENTS` (1 to 16, the number that the editor lets in) and `SOAK_SEED` change the run. The
//! seed determines the actions of the clients and not their times, so two runs still differ.

mod arrivals;
mod asks;
mod client;
mod desk;
mod editor;
mod endings;
mod ledger;
mod life;
mod memory;
#[path = "../../../../tests/model/mod.rs"]
mod model;
mod person;
mod run;
mod shared;
mod totals;

use crate::support::Place;
use editor::Editor;
use rustix::process::{Pid, test_kill_process};
use std::fmt::Debug;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use std::{env, fs};

struct Options {
    length: Duration,
    clients: usize,
    seed: u64,
}

/// Runs a soak of this program. Returns the totals, or the first fault.
fn soak(program: &Path, options: &Options) -> Result<String, String> {
    let home = editor::home();
    let (editor, output) = Editor::start(program, &home)?;
    run::run(options, &home, &editor, output)
}

#[test]
#[ignore = "it takes half an hour"]
fn soak_of_half_an_hour() {
    let length = Duration::from_secs_f64(setting("SOAK_MINUTES", 30.0) * 60.0);
    let options = Options { length, clients: setting("SOAK_CLIENTS", 16), seed: setting("SOAK_SEED", 1) };
    let totals = soak(crate::executable().as_ref(), &options).unwrap();
    println!("passed: {totals}");
}

#[test]
fn soak_of_six_seconds_passes() {
    let options = Options { length: Duration::from_secs(6), clients: 16, seed: 1 };
    let totals = soak(crate::executable().as_ref(), &options).unwrap();
    let counted = |name: &str| -> u64 {
        let entry = totals.split([',', ';']).find_map(|entry| entry.trim().strip_suffix(name));
        entry.unwrap_or_else(|| panic!("no {name} in {totals}")).trim().parse().unwrap()
    };
    for name in ["connections", "killed", "diffs", "verdicts", "storms", "mentions received"] {
        assert!(counted(name) > 0, "{name}: {totals}");
    }
    let ended = ["answered", "cancelled and not answered", "abandoned with their connection"];
    assert_eq!(counted("requests"), ended.map(counted).iter().sum::<u64>(), "{totals}");
}

#[test]
fn soak_finds_planted_faults() {
    let place = Place::new("soak-found");
    let run = format!("'{}' \"$@\"", crate::executable());
    // Runs `then` after the editor has printed the event `listening`, and before the soak reads
    // that line.
    let once = |then: &str| {
        format!(
            "ide=$CLAUDE_CONFIG_DIR/ide; mkfifo \"$ide.pipe\"\n\
             (read line; {then}; cat) <\"$ide.pipe\" & exec >\"$ide.pipe\" {run}"
        )
    };
    let cases = [
        (
            "it is killed",
            once("echo \"$line\"; sleep 0.5; kill -9 $$"),
            Err("the editor ended with signal: 9"),
        ),
        (
            "a lock file stays",
            format!(
                r#"mkdir -p "$CLAUDE_CONFIG_DIR/ide"; touch "$CLAUDE_CONFIG_DIR/ide/1.lock"; exec {run}"#
            ),
            Err("1.lock"),
        ),
        (
            "the directory of lock files is gone",
            format!(
                "exec 3<&0; {run} <&3 & trap 'kill $!' TERM; wait; wait; rm -r \"$CLAUDE_CONFIG_DIR/ide\"; exit 0"
            ),
            Err("/ide: No such file"),
        ),
        (
            "agents are not let in",
            once(r#"sed -i 's/\("authToken":"\)......../\100000000/' "$ide"/*.lock; echo "$line""#),
            Err("the editor refuses everybody"),
        ),
        ("diffs are held", format!("set -- \"$@\" --on-diff hold; exec {run}"), Ok(())),
    ];
    for (name, lines, expected) in cases {
        let program = script(&place, &lines);
        let options = Options { length: Duration::from_millis(2400), clients: 3, seed: 1 };
        match (soak(program.as_ref(), &options), expected) {
            (Ok(_), Ok(())) => {}
            (Err(fault), Err(part)) => assert!(fault.contains(part), "{name}: {fault}"),
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
}

#[test]
fn editor_that_fails_to_start_is_killed() {
    let place = Place::new("soak-ended");
    let (lock, pid) = (place.project().join("1.lock"), place.project().join("pid"));
    fs::write(&lock, "{}").unwrap();
    let cases = [
        ("it prints nothing", String::new(), "does not listen: it prints nothing within 10 s"),
        ("it prints something else", "echo hello".into(), r#"does not listen: "hello\n""#),
        (
            "its lock file lies elsewhere",
            format!(r#"mkdir "$CLAUDE_CONFIG_DIR/ide"; echo '{{"port":1,"lock":"{}"}}'"#, lock.display()),
            "does not lie in",
        ),
    ];
    for (name, command, part) in cases {
        let program = script(&place, &format!("echo $$ >'{}'; {command}\nexec sleep 60", pid.display()));
        let options = Options { length: Duration::from_secs(6), clients: 1, seed: 1 };
        let problem = soak(program.as_ref(), &options).unwrap_err();
        assert!(problem.contains(part), "{name}: {problem}");
        let pid = fs::read_to_string(&pid).unwrap().trim().parse().ok().and_then(Pid::from_raw).unwrap();
        assert!(test_kill_process(pid).is_err(), "{name}: it still runs");
    }
}

/// Returns the value of a variable of the environment, or the default.
fn setting<T: FromStr<Err: Debug>>(name: &str, default: T) -> T {
    env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// Writes a shell script with these lines, and returns its path.
fn script(place: &Place, lines: &str) -> String {
    let program = place.project().join("editor.sh");
    fs::write(&program, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().into()
}
