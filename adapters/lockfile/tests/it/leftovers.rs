//! The files that a killed editor leaves behind, and the files beside them.

use std::fs;
use std::net::TcpListener;

use crate::support::{TempDir, ended_process, names};
use ide_mcp::ide::discovery::{LockFile, NotStaleReason};
use ide_mcp_lockfile::{LockDir, Stays, new_token, tools_name};

#[test]
fn l06_only_our_own_dead_files_are_removed() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let (dead, alive) = (ended_process(), std::process::id());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    // Nobody listens on ports 1 to 4, which lie below those that the system assigns.
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

/// Only Linux and Windows report scopes.
#[cfg(any(target_os = "linux", windows))]
#[test]
fn l06_start_removes_what_own_scope_left_behind() {
    let temp = TempDir::new();
    let scope = ide_mcp_lockfile::process_scope();
    assert!(scope.is_some());
    let dead = ended_process();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().port();
    let rows = [
        (1, dead, scope.clone(), false, "left behind"),
        (2, dead, scope.clone(), false, "another one"),
        (3, dead, None, true, "of another program"),
        (4, dead, Some("another machine".into()), true, "of another scope"),
        (5, std::process::id(), scope.clone(), true, "of a living process"),
        (taken, dead, scope, true, "whose port answers"),
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
