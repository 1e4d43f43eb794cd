//! What else can have the name of a lock file, such as links and pipes, and who may access the files: modes
//! and owners.

use crate::support::{TempDir, lock_file, make_fifo, mode, names, set_mode, skip};
use ide_mcp_lockfile::{Error, LockDir, Watch, WeakParent, Weakness, scan, weak_parents};
use std::fs;
use std::os::unix::fs::{chown, symlink};

/// The name of the case, and a function that puts something at `ide/1.lock`.
type Plant = (&'static str, fn(&TempDir));

#[test]
fn only_the_directory_itself_is_made_private() {
    let temp = TempDir::new();
    set_mode(temp.path(), 0o755);
    fs::create_dir(temp.join("ide")).unwrap();
    for before in [0o777, 0o750, 0o701, 0o700, 0o2770] {
        set_mode(&temp.join("ide"), before);
        LockDir::create(temp.join("ide")).unwrap();
        assert_eq!(mode(&temp.join("ide")) & 0o777, 0o700, "{before:o}");
    }
    assert_eq!(mode(temp.path()), 0o755);
}

#[test]
fn l01_foreign_directory_is_refused_untouched() {
    let temp = TempDir::new();
    let ours = rustix::process::geteuid().is_root();
    // Only root can change the owner of a directory. If we are not root, use one that belongs to root.
    let path = if ours { temp.join("ide") } else { "/usr".into() };
    if ours {
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o777);
        chown(&path, Some(12345), None).unwrap();
    }
    let before = mode(&path);
    match LockDir::open(&path) {
        Err(Error::NotOurs { path: named, owner, us }) => {
            assert_eq!(named, path);
            assert_eq!(owner, if ours { 12345 } else { 0 });
            assert_eq!(us, rustix::process::geteuid().as_raw());
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(mode(&path), before);
}

#[test]
fn l04_planted_entry_is_replaced_without_following_it() {
    let temp = TempDir::new();
    let victim = temp.join("victim");
    fs::write(&victim, "untouched").unwrap();
    let dir = LockDir::create(temp.join("ide")).unwrap();
    let name = dir.path().join("1.lock");
    let plants: [Plant; 4] = [
        ("link to a file", |temp| symlink(temp.join("victim"), temp.join("ide/1.lock")).unwrap()),
        ("link to nowhere", |temp| symlink(temp.join("new"), temp.join("ide/1.lock")).unwrap()),
        ("pipe", |temp| make_fifo(&temp.join("ide/1.lock"))),
        ("old file that all users can change", |temp| {
            fs::write(temp.join("ide/1.lock"), lock_file("old").to_json()).unwrap();
            set_mode(&temp.join("ide/1.lock"), 0o666);
        }),
    ];
    for (case, plant) in plants {
        plant(&temp);
        let published = dir.publish(1, &lock_file("one")).unwrap();
        let metadata = fs::symlink_metadata(&name).unwrap();
        assert!(metadata.is_file(), "{case}");
        assert_eq!(mode(&name), 0o600, "{case}");
        drop(published);
        assert!(!name.exists(), "{case}");
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "untouched");
    assert!(!temp.join("new").exists());
}

#[test]
fn planted_link_or_pipe_stays_unfollowed() {
    let temp = TempDir::new();
    let ours = temp.join("ours");
    fs::write(&ours, lock_file("one").to_json()).unwrap();
    let plants: [Plant; 2] = [
        ("link to a copy", |temp| symlink(temp.join("ours"), temp.join("ide/1.lock")).unwrap()),
        ("pipe", |temp| make_fifo(&temp.join("ide/1.lock"))),
    ];
    for (case, plant) in plants {
        let dir = LockDir::create(temp.join("ide")).unwrap();
        let mut published = dir.publish(1, &lock_file("one")).unwrap();
        let path = published.path().to_path_buf();
        fs::remove_file(&path).unwrap();
        plant(&temp);
        assert_eq!(published.republish_if_missing().unwrap(), Watch::Taken, "{case}");
        assert!(!published.remove().unwrap(), "{case}");
        assert!(fs::symlink_metadata(&path).is_ok(), "{case}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn linked_directory_is_judged_by_its_target() {
    let temp = TempDir::new();
    fs::create_dir(temp.join("dotfiles")).unwrap();
    set_mode(&temp.join("dotfiles"), 0o755);
    symlink(temp.join("dotfiles"), temp.join("ide")).unwrap();
    let _published = LockDir::create(temp.join("ide")).unwrap().publish(1, &lock_file("one")).unwrap();
    assert_eq!(mode(&temp.join("dotfiles")), 0o700);
    assert_eq!(names(&temp.join("dotfiles")), ["1.lock"]);
}

/// A name, a function that changes `above`, and the weakness by which another user can then replace
/// `above/ide`.
type Weakening = (&'static str, fn(&TempDir), Option<Weakness>);

#[test]
fn l15_directory_that_others_can_replace_is_refused() {
    let is_root = rustix::process::geteuid().is_root();
    let us = rustix::process::geteuid().as_raw();
    let rows: [Weakening; 6] = [
        ("private to its owner", |temp| set_mode(&temp.join("above"), 0o700), None),
        ("readable by others", |temp| set_mode(&temp.join("above"), 0o755), None),
        ("writable by everybody, with the sticky bit", |temp| set_mode(&temp.join("above"), 0o1777), None),
        (
            "writable by its group",
            |temp| set_mode(&temp.join("above"), 0o775),
            Some(Weakness::WritableByGroup { mode: 0o775 }),
        ),
        (
            "writable by everybody",
            |temp| set_mode(&temp.join("above"), 0o707),
            Some(Weakness::WritableByAll { mode: 0o707 }),
        ),
        (
            "owned by another user",
            |temp| {
                set_mode(&temp.join("above"), 0o755);
                chown(temp.join("above"), Some(12345), None).unwrap();
            },
            Some(Weakness::Owner { owner: 12345, us }),
        ),
    ];
    for (name, weaken, expected) in rows {
        if matches!(expected, Some(Weakness::Owner { .. })) && !is_root {
            skip("only root can give a directory away");
            continue;
        }
        let temp = TempDir::new();
        let ide = temp.join("above/ide");
        LockDir::create(&ide).unwrap().publish(1, &lock_file("one")).map(std::mem::forget).unwrap();
        symlink(temp.join("above"), temp.join("link")).unwrap();
        weaken(&temp);
        for path in [ide.clone(), temp.join("link/ide"), temp.join("above/../above/ide")] {
            let weak = weak_parents(&path).unwrap();
            // The directories above the test's own may have any mode.
            let weak: Vec<&WeakParent> =
                weak.iter().filter(|weak| weak.path.starts_with(temp.path())).collect();
            let found = weak.first().map(|weak| weak.weakness);
            assert_eq!(found, expected, "{name}: {weak:?}");
            assert!(weak.iter().all(|weak| weak.path == temp.join("above")), "{name}: {weak:?}");
            match expected {
                None | Some(Weakness::WritableByGroup { .. }) => {
                    LockDir::open(&path).unwrap();
                    assert_eq!(scan(&path).unwrap().len(), 1, "{name}");
                }
                Some(Weakness::WritableByAll { .. }) => {
                    assert!(matches!(LockDir::open(&path), Err(Error::ParentTooOpen { .. })), "{name}");
                    assert!(matches!(scan(&path), Err(Error::ParentTooOpen { .. })), "{name}");
                }
                Some(_) => {
                    assert!(matches!(LockDir::open(&path), Err(Error::ParentNotOurs { .. })), "{name}");
                    assert!(matches!(scan(&path), Err(Error::ParentNotOurs { .. })), "{name}");
                }
            }
        }
    }
}

#[test]
fn l15_link_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        skip("only root can give a link away");
        return;
    }
    let temp = TempDir::new();
    fs::create_dir(temp.join("home")).unwrap();
    symlink(temp.join("home"), temp.join("link")).unwrap();
    std::os::unix::fs::lchown(temp.join("link"), Some(12345), None).unwrap();
    LockDir::create(temp.join("home/ide")).unwrap();
    let refused = LockDir::open(temp.join("link/ide"));
    assert!(matches!(refused, Err(Error::ParentNotOurs { owner: 12345, .. })), "{refused:?}");
    symlink(temp.join("loop"), temp.join("loop")).unwrap();
    assert!(weak_parents(temp.join("loop/ide")).is_err());
}
