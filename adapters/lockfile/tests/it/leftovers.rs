//! The files that a killed editor leaves behind, and the other files beside them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test states what it expects"
)]

use std::io::{self, BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::{env, fs};

use crate::support::{TempDir, ended_process, names};
use ide_mcp::ide::discovery::{LockFile, NotStaleReason};
use ide_mcp_lockfile::{LockDir, Stays, new_token, process_scope, scan, tools_name};

#[test]
fn l06_only_our_own_dead_files_are_removed() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let (dead, alive) = (ended_process(), std::process::id());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    // Nothing listens on ports 1 to 4, since the system assigns higher ones.
    let cases: &[(u16, u32, &str, bool, Result<(), NotStaleReason>)] = &[
        (1, dead, "me", false, Ok(())),
        (2, alive, "me", false, Err(NotStaleReason::Alive)),
        (3, dead, "other", false, Err(NotStaleReason::OfAnother)),
        (4, dead, "me", true, Err(NotStaleReason::PerhapsAlive)),
        (taken, dead, "me", false, Err(NotStaleReason::Listening)),
    ];
    for (port, pid, name, is_of_other_side, _) in cases {
        let mut file = LockFile::new(*pid, vec!["/w".into()], *name, new_token().unwrap());
        file.running_in_windows = *is_of_other_side != cfg!(windows);
        fs::write(temp.join(&format!("{port}.lock")), file.to_json()).unwrap();
        fs::write(temp.join(&tools_name(*port)), "{}").unwrap();
    }
    for (name, text) in [("5.lock", "{\"pid\":"), ("6.lock", "/w\n"), ("x.lock", "{}"), ("7.json", "{}")] {
        fs::write(temp.join(name), text).unwrap();
    }
    let before = names(temp.path());
    let found = dir.remove_leftovers("me").unwrap();
    for (port, .., expected) in cases {
        let of = found.iter().find(|leftover| leftover.found.port == Some(*port)).unwrap();
        let removed = match &of.removed {
            Ok(()) => Ok(()),
            Err(Stays::NotStale(why)) => Err(*why),
            Err(stays) => panic!("{port}: {stays}"),
        };
        assert_eq!(removed, *expected, "{port}");
    }
    let kept: Vec<String> =
        before.into_iter().filter(|name| name != "1.lock" && name != "1.mcp.json").collect();
    assert_eq!(names(temp.path()), kept, "only 1.lock was removed, and the file with its token");
    assert!(dir.remove_leftovers("").unwrap().iter().all(|leftover| leftover.removed.is_err()));
    assert_eq!(names(temp.path()), kept);
}

/// Publishes in the directory that `IDE_MCP_TEST_DIR` names, and waits to be killed.
#[test]
#[ignore = "a helper of the next test"]
fn editor_to_be_killed() {
    let Some(dir) = env::var_os("IDE_MCP_TEST_DIR") else { return };
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "killed", new_token().unwrap());
    // Nothing listens on port 1.
    let _published = LockDir::open(dir).unwrap().publish(1, &file).unwrap();
    println!("\npublished");
    let _ = io::stdin().read_line(&mut String::new());
}

/// Only Linux and Windows report scopes; elsewhere a start removes nothing.
#[test]
fn l06_file_of_a_killed_editor_is_removed_by_the_next_start() {
    if process_scope().is_none() {
        return;
    }
    let temp = TempDir::new();
    let mut editor = Command::new(env::current_exe().unwrap())
        .args(["--exact", "leftovers::editor_to_be_killed", "--ignored", "--nocapture"])
        .env("IDE_MCP_TEST_DIR", temp.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(editor.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "published"));
    assert_eq!(scan(temp.path()).unwrap()[0].pid_alive, Some(true));
    editor.kill().unwrap();
    editor.wait().unwrap();
    assert_eq!(scan(temp.path()).unwrap()[0].pid_alive, Some(false));
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "next", new_token().unwrap());
    let published = LockDir::open(temp.path()).unwrap().publish(2, &file).unwrap();
    assert_eq!(names(temp.path()), ["2.lock"]);
    drop(published);
}

#[test]
fn l06_start_removes_what_own_scope_left_behind() {
    let temp = TempDir::new();
    let scope = process_scope();
    assert_eq!(scope.is_some(), cfg!(any(target_os = "linux", windows)));
    if scope.is_none() {
        return;
    }
    let dead = ended_process();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    let rows = [
        (1, dead, scope.clone(), false, "a leftover of our scope"),
        (2, dead, scope.clone(), false, "another leftover of our scope"),
        (3, dead, None, true, "a file of another program"),
        (4, dead, Some("another machine".into()), true, "a file of another scope"),
        (5, std::process::id(), scope.clone(), true, "a file of a living process"),
        (taken, dead, scope, true, "a file whose port answers"),
    ];
    for (port, pid, scope, _, _) in &rows {
        let mut file = LockFile::new(*pid, vec!["/w".into()], format!("editor {port}"), new_token().unwrap());
        file.scope.clone_from(scope);
        fs::write(temp.join(&format!("{port}.lock")), file.to_json()).unwrap();
    }
    let file = LockFile::new(std::process::id(), vec!["/w".into()], "me", new_token().unwrap());
    let _published = LockDir::open(temp.path()).unwrap().publish(6, &file).unwrap();
    for (port, _, _, stays, case) in rows {
        assert_eq!(temp.join(&format!("{port}.lock")).exists(), stays, "{case}");
    }
}
