//! Files with a token, beside the lock files or wherever a person wants them.

use crate::support::{TempDir, make_fifo, mode, names, set_mode};
use ide_mcp_lockfile::{Error, LockDir, read_private, write_private};
use std::fs;
use std::os::unix::fs::symlink;

/// The name of the case, and a function that puts something at `file`.
type Plant = (&'static str, fn(&TempDir));

#[test]
fn l01_l04_private_file_replaces_planted_entry() {
    let plants: [Plant; 5] = [
        ("nothing", |_| ()),
        ("link to a file", |temp| symlink(temp.join("victim"), temp.join("dir/file")).unwrap()),
        ("link to nowhere", |temp| symlink(temp.join("new"), temp.join("dir/file")).unwrap()),
        ("pipe", |temp| make_fifo(&temp.join("dir/file"))),
        ("old file that all users can change", |temp| {
            fs::write(temp.join("dir/file"), "a longer text of the old file").unwrap();
            set_mode(&temp.join("dir/file"), 0o666);
        }),
    ];
    for (case, plant) in plants {
        let temp = TempDir::new();
        fs::write(temp.join("victim"), "untouched").unwrap();
        fs::create_dir(temp.join("dir")).unwrap();
        set_mode(&temp.join("dir"), 0o755);
        plant(&temp);
        // The second time replaces the file of the first.
        for text in ["first text", "second"] {
            write_private(temp.join("dir/file"), text).unwrap();
            assert!(fs::symlink_metadata(temp.join("dir/file")).unwrap().is_file(), "{case}");
            assert_eq!(fs::read_to_string(temp.join("dir/file")).unwrap(), text, "{case}");
            assert_eq!(mode(&temp.join("dir/file")), 0o600, "{case}");
        }
        assert_eq!(names(&temp.join("dir")), ["file"], "{case}: no other file is left");
        assert_eq!(mode(&temp.join("dir")), 0o755, "{case}: the directory keeps its mode");
        assert_eq!(fs::read_to_string(temp.join("victim")).unwrap(), "untouched", "{case}");
        assert!(!temp.join("new").exists(), "{case}");
    }
}

#[test]
fn l15_file_that_others_can_replace_is_refused() {
    // The permission bits of the directory, and whether the file is written.
    for (bits, expected) in [(0o700, true), (0o755, true), (0o1777, true), (0o775, true), (0o777, false)] {
        let temp = TempDir::new();
        fs::create_dir(temp.join("dir")).unwrap();
        set_mode(&temp.join("dir"), bits);
        let written = write_private(temp.join("dir/file"), "text");
        let is_fit =
            if expected { written.is_ok() } else { matches!(written, Err(Error::ParentTooOpen { .. })) };
        assert!(is_fit, "{bits:o}: {written:?}");
        assert_eq!(names(&temp.join("dir")).len(), usize::from(expected), "{bits:o}");
    }
}

#[test]
fn private_file_is_read_only_if_no_other_user_has_access() {
    let rows: [(&str, fn(&TempDir), fn(&Result<String, Error>) -> bool); 9] = [
        ("as written", |_| (), |read| matches!(read, Ok(text) if text == "text")),
        (
            "no file",
            |temp| fs::remove_file(temp.join("dir/file")).unwrap(),
            |read| matches!(read, Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound),
        ),
        (
            "readable by a group",
            |temp| set_mode(&temp.join("dir/file"), 0o640),
            |read| matches!(read, Err(Error::TooOpen { mode: 0o100_640 | 0o640, .. })),
        ),
        (
            "writable by others",
            |temp| set_mode(&temp.join("dir/file"), 0o602),
            |read| matches!(read, Err(Error::TooOpen { .. })),
        ),
        (
            "a link",
            |temp| {
                fs::rename(temp.join("dir/file"), temp.join("dir/other")).unwrap();
                symlink("other", temp.join("dir/file")).unwrap();
            },
            |read| matches!(read, Err(Error::Symlink { .. })),
        ),
        (
            "a pipe",
            |temp| {
                fs::remove_file(temp.join("dir/file")).unwrap();
                make_fifo(&temp.join("dir/file"));
            },
            |read| matches!(read, Err(Error::NotRegular { .. })),
        ),
        (
            "not UTF-8",
            |temp| fs::write(temp.join("dir/file"), b"\xff").unwrap(),
            |read| matches!(read, Err(Error::Malformed { .. })),
        ),
        (
            "too long",
            |temp| {
                fs::write(temp.join("dir/file"), vec![b'x'; ide_mcp::ide::discovery::LockFile::MAX_LEN + 1])
                    .unwrap()
            },
            |read| matches!(read, Err(Error::Malformed { .. })),
        ),
        (
            "in a directory that all users can change",
            |temp| set_mode(&temp.join("dir"), 0o777),
            |read| matches!(read, Err(Error::ParentTooOpen { .. })),
        ),
    ];
    for (case, change, is_fit) in rows {
        let temp = TempDir::new();
        fs::create_dir(temp.join("dir")).unwrap();
        set_mode(&temp.join("dir"), 0o755);
        write_private(temp.join("dir/file"), "text").unwrap();
        change(&temp);
        let read = read_private(temp.join("dir/file"));
        assert!(is_fit(&read), "{case}: {read:?}");
    }
}

#[test]
fn failed_private_file_leaves_nothing_behind() {
    let temp = TempDir::new();
    fs::create_dir_all(temp.join("dir/file")).unwrap();
    for path in ["dir/file", "missing/file", "dir/file/.."] {
        assert!(matches!(write_private(temp.join(path), "text"), Err(Error::Io { .. })), "{path}");
    }
    assert!(matches!(write_private("/", "text"), Err(Error::Io { .. })));
    assert_eq!(names(temp.path()), ["dir"]);
    assert_eq!(names(&temp.join("dir")), ["file"]);
}

#[test]
fn private_file_is_not_taken_for_a_lock_file() {
    let temp = TempDir::new();
    let dir = LockDir::create(temp.join("ide")).unwrap();
    write_private(dir.path().join("1.mcp.json"), "{}").unwrap();
    for form in [ide_mcp::ide::discovery::LockForm::Lock, ide_mcp::ide::discovery::LockForm::Project] {
        assert!(ide_mcp_lockfile::scan_for(form, dir.path()).unwrap().is_empty(), "{form:?}");
    }
}
