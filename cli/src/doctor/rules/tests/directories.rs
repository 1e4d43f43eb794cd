//! The cases of the directories of lock files, and of the owner of the port.

use super::{Case, dead, judge, sound, weaken};
use crate::doctor::facts::{Facts, Probe, State, Unwritable, Weakness};
use ide_mcp::ide::discovery::locate::Source;

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
    ("an unreadable directory", |f| close(f, "/h/.claude/ide", None), &["directory-unreadable"]),
    ("an unreadable directory of root", |f| close(f, "/h/.claude/ide", Some(0)), &["directory-not-ours"]),
    ("an unreadable parent of root", |f| close(f, "/h/.claude", Some(0)), &["directory-unreadable"]),
    ("an unreadable home", |f| close(f, "/h", None), &["directory-unreadable"]),
    (
        "an unreadable parent of root, in CLAUDE_CONFIG_DIR",
        |f| {
            close(f, "/h/.claude", Some(0));
            f.directories.as_mut().unwrap()[0].source = Source::ConfigDir;
        },
        &["home-of-another-user"],
    ),
    ("an unreadable home of root", |f| close(f, "/h", Some(0)), &["home-of-another-user"]),
    (
        "a read-only directory",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].unwritable = unwritable("/h/.claude/ide", None);
        },
        &["directory-unwritable"],
    ),
    (
        "a read-only directory with a leftover",
        |f| {
            f.locks = vec![dead(1, "/w")];
            f.directories.as_mut().unwrap()[0].unwritable = unwritable("/h/.claude/ide", None);
        },
        &["directory-unwritable", "lock-left-over", "no-usable-editor"],
    ),
    (
        "a read-only directory with an editor",
        |f| f.directories.as_mut().unwrap()[0].unwritable = unwritable("/h/.claude/ide", None),
        &[],
    ),
    (
        "a missing directory whose parent belongs to root",
        |f| {
            f.locks.clear();
            let directory = &mut f.directories.as_mut().unwrap()[0];
            (directory.state, directory.unwritable) = (State::Missing, unwritable("/h/.claude", Some(0)));
        },
        &["directory-unwritable"],
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
        "a directory that only root can read",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state =
                State::There { mode: Some(0o700), other_owner: Some(0) };
        },
        &["directory-not-ours"],
    ),
    (
        "a directory that others can write to",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o720), other_owner: None };
        },
        &["directory-writable-by-others"],
    ),
    (
        "a directory that others can enter",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o711), other_owner: None };
        },
        &["directory-readable-by-others"],
    ),
    (
        "a directory that others could read, in one that they cannot enter",
        |f| {
            let directory = &mut f.directories.as_mut().unwrap()[0];
            (directory.state, directory.is_closed_above) =
                (State::There { mode: Some(0o755), other_owner: None }, true);
        },
        &[],
    ),
    (
        "a parent that its group can write to",
        |f| weaken(f, 0, Weakness::WritableByGroup { mode: 0o775 }),
        &["parent-writable-by-group"],
    ),
    (
        "a parent that everybody can write to",
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
        "a system without modes",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: None, other_owner: None };
            f.locks[0].mode = None;
        },
        &[],
    ),
    (
        "an unused directory that everybody can write to",
        |f| {
            f.directories.as_mut().unwrap()[1].state = State::There { mode: Some(0o777), other_owner: None };
        },
        &[],
    ),
];

/// Makes a directory on the way to the lock files unreadable.
fn close(facts: &mut Facts, path: &str, other_owner: Option<u32>) {
    facts.locks.clear();
    facts.directories.as_mut().unwrap()[0].state =
        State::Unreadable { path: path.into(), reason: "no".into(), other_owner };
}

fn unwritable(path: &str, other_owner: Option<u32>) -> Option<Unwritable> {
    Some(Unwritable { path: path.into(), other_owner })
}

/// `chmod` fails on what belongs to another user, and run as root it would give access to that user alone.
#[test]
fn command_depends_on_the_owner() {
    type Row = (&'static str, fn(&mut Facts), &'static str, &'static str);
    let rows: [Row; 7] = [
        ("ours", |f| close(f, "/h/.claude", None), "\"/h/.claude\" cannot", "chmod u+rwx /h/.claude"),
        (
            "of root",
            |f| close(f, "/h/.claude", Some(0)),
            "\"/h/.claude\" belongs to root",
            "sudo chown -R \"$(id -u)\" /h/.claude",
        ),
        (
            "of another user",
            |f| close(f, "/h/.claude", Some(5)),
            "\"/h/.claude\" belongs to user 5",
            "sudo chown -R \"$(id -u)\" /h/.claude",
        ),
        (
            "the directory of lock files, of root",
            |f| close(f, "/h/.claude/ide", Some(0)),
            "\"/h/.claude/ide\" belongs to root",
            "mv /h/.claude/ide /h/.claude/ide.old",
        ),
        ("a home of root", |f| close(f, "/h", Some(0)), "\"/h\" belongs to root", ""),
        (
            "read-only",
            |f| {
                f.locks.clear();
                f.directories.as_mut().unwrap()[0].unwritable = unwritable("/h/it's", None);
            },
            "no file can be created in \"/h/it's\"",
            r"chmod u+rwx '/h/it'\''s'",
        ),
        (
            "read-only, of root",
            |f| {
                f.locks.clear();
                f.directories.as_mut().unwrap()[0].unwritable = unwritable("/h/it's", Some(0));
            },
            "no file can be created in \"/h/it's\", which belongs to root",
            r#"sudo chown -R "$(id -u)" '/h/it'\''s'"#,
        ),
    ];
    for (name, change, message, command) in rows {
        let mut facts = sound();
        change(&mut facts);
        let found = judge(&facts).remove(0);
        assert!(found.message.starts_with(message), "{name}: {found:?}");
        assert_eq!(found.command, command, "{name}");
    }
}
