//! The cases of the directories of lock files, and of the owner of the port.

use super::{Case, weaken};
use crate::doctor::facts::{Probe, State, Weakness};

pub(super) const CASES: &[Case] = &[
    (
        "a missing directory",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state = State::Missing;
        },
        &["directory-missing"],
    ),
    (
        "a file for a directory",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state = State::NotADirectory("/h/.claude".into());
        },
        &["directory-not-a-directory"],
    ),
    (
        "a closed directory",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state =
                State::Unreadable { path: "/h".into(), reason: "no".into() };
        },
        &["directory-unreadable"],
    ),
    ("an empty directory", |f| f.locks.clear(), &["no-lock-files"]),
    (
        "a directory of root",
        |f| {
            f.directories.as_mut().unwrap()[0].state =
                State::There { mode: Some(0o777), other_owner: Some(0) };
        },
        &["directory-not-ours"],
    ),
    (
        "a directory of root, unread",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state =
                State::There { mode: Some(0o700), other_owner: Some(0) };
        },
        &["directory-not-ours"],
    ),
    (
        "an open directory",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o720), other_owner: None };
        },
        &["directory-writable-by-others"],
    ),
    (
        "a visible directory",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o711), other_owner: None };
        },
        &["directory-readable-by-others"],
    ),
    (
        "a visible directory in a closed one",
        |f| {
            let directory = &mut f.directories.as_mut().unwrap()[0];
            (directory.state, directory.is_closed_above) =
                (State::There { mode: Some(0o755), other_owner: None }, true);
        },
        &[],
    ),
    (
        "a parent that its group can write",
        |f| weaken(f, 0, Weakness::WritableByGroup { mode: 0o775 }),
        &["parent-writable-by-group"],
    ),
    (
        "a parent that everybody can write",
        |f| weaken(f, 0, Weakness::WritableByAll { mode: 0o777 }),
        &["parent-writable-by-all"],
    ),
    (
        "the same, without lock files",
        |f| {
            f.locks.clear();
            weaken(f, 0, Weakness::WritableByAll { mode: 0o777 });
        },
        &["parent-writable-by-all"],
    ),
    ("a parent of another user", |f| weaken(f, 0, Weakness::Owner { owner: 5, us: 6 }), &["parent-not-ours"]),
    (
        "an unused directory with a parent of another user",
        |f| weaken(f, 1, Weakness::Owner { owner: 5, us: 6 }),
        &[],
    ),
    (
        "another user on the port",
        |f| f.locks[0].probe = Some(Probe::NotOurs { owner: 5, us: 6 }),
        &["port-of-another-user"],
    ),
    (
        "a port without a known owner",
        |f| f.locks[0].probe = Some(Probe::WithoutOwner),
        &["port-without-owner"],
    ),
    (
        "no modes",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: None, other_owner: None };
            f.locks[0].mode = None;
        },
        &[],
    ),
    (
        "an unused directory that is open",
        |f| {
            f.directories.as_mut().unwrap()[1].state = State::There { mode: Some(0o777), other_owner: None };
        },
        &[],
    ),
];
