//! Broken set-ups that depend on the user of the tests: only root can change an owner or act as another
//! user, and only other users can be denied access.

use super::cases::Case;
use super::fake::Behaves;
use super::setup::{Setup, mode};
#[cfg(target_os = "linux")]
use crate::support::other_user::Squatter;
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::{chown, lchown, symlink};

/// A user that is neither root nor the user of the tests.
const OTHER_USER: u32 = 12345;

/// Returns the cases that the user of the tests can set up.
pub(crate) fn of_this_user() -> &'static [Case] {
    if geteuid().is_root() { AS_ROOT } else { AS_USER }
}

/// Returns true if a case with this name exists, for this user or another.
pub(crate) fn has(name: &str) -> bool {
    AS_ROOT.iter().chain(AS_USER).any(|case| case.0 == name)
}

const AS_ROOT: &[Case] = &[
    (
        "a lock file of another user",
        |s| chown(s.editor(Behaves::Well), Some(OTHER_USER), None).unwrap(),
        &["lock-not-ours"],
        1,
    ),
    (
        "a directory of another user",
        |s| {
            s.editor(Behaves::Well);
            chown(s.place.lock_dir(), Some(OTHER_USER), None).unwrap();
        },
        &["directory-not-ours"],
        1,
    ),
    (
        "a parent directory of another user",
        |s| {
            s.editor(Behaves::Well);
            chown(s.place.lock_dir().parent().unwrap(), Some(OTHER_USER), None).unwrap();
        },
        &["parent-not-ours"],
        1,
    ),
    (
        "a link of another user on the way to the directory",
        |s| {
            s.editor(Behaves::Well);
            let link = s.place.project().join("config");
            symlink(s.place.lock_dir().parent().unwrap(), &link).unwrap();
            lchown(&link, Some(OTHER_USER), None).unwrap();
            s.set("CLAUDE_CONFIG_DIR", link.to_str().unwrap());
        },
        &["config-dir-set", "locks-where-nobody-looks", "parent-not-ours"],
        1,
    ),
    #[cfg(target_os = "linux")]
    (
        "another user on the port",
        |s| {
            let squatter = Squatter::listen(0);
            s.publish(squatter.port, &s.lock());
            s.keep(squatter);
        },
        &["port-of-another-user"],
        1,
    ),
];

const AS_USER: &[Case] = &[
    (
        "an unreadable lock file",
        |s: &mut Setup| mode(&s.editor(Behaves::Well), 0),
        &["lock-unreadable", "no-usable-editor"],
        1,
    ),
    (
        "an unreadable directory",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0);
        },
        &["directory-unreadable"],
        2,
    ),
    (
        "an unreadable parent directory",
        |s| {
            s.editor(Behaves::Well);
            mode(s.place.lock_dir().parent().unwrap(), 0);
        },
        &["directory-unreadable"],
        2,
    ),
    ("an unwritable directory", |s| mode(&s.place.lock_dir(), 0o500), &["directory-unwritable"], 1),
    (
        "no directory, and an unwritable parent",
        |s| {
            fs::remove_dir(s.place.lock_dir()).unwrap();
            mode(s.place.lock_dir().parent().unwrap(), 0o500);
        },
        &["directory-unwritable"],
        1,
    ),
];
