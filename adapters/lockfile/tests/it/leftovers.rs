//! The files that a killed editor leaves behind, and the files beside them.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::support::{TempDir, names};
use ide_mcp::ide::discovery::{LockFile, NotStaleReason};
use ide_mcp_lockfile::{LockDir, Stays, new_token, tools_name};

#[test]
fn l06_only_our_own_dead_files_are_removed() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (dead, alive) = (child.id(), std::process::id());
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
    for (port, pid, name, windows, _) in cases {
        let mut file = LockFile::new(*pid, vec!["/w".into()], *name, new_token().unwrap());
        file.running_in_windows = *windows;
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
