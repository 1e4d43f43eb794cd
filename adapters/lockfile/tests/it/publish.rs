//! Publishing, changing and removing, as other processes see it.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::support::{TempDir, lock_file, marked, names};
use ide_mcp::ide::discovery::{AuthToken, LockFile, LockFileError, LockForm};
use ide_mcp_lockfile::{Error, LockDir, Watch, scan, scan_for};

#[test]
fn lock_file_is_published_and_removed() {
    let temp = TempDir::new();
    let dir = LockDir::create(temp.join("a/b/ide")).unwrap();
    let published = dir.publish(12345, &lock_file("one")).unwrap();
    assert_eq!(published.path(), temp.join("a/b/ide/12345.lock"));
    assert_eq!(fs::read_to_string(published.path()).unwrap(), marked("one").to_json());
    assert_eq!(names(dir.path()), ["12345.lock"], "no temporary file is left");
    drop(published);
    assert!(names(dir.path()).is_empty());

    assert!(dir.publish(12345, &lock_file("one")).unwrap().remove().unwrap());
    assert!(names(dir.path()).is_empty());
}

#[test]
fn files_of_two_ports_are_independent() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let one = dir.publish(1, &lock_file("one")).unwrap();
    let _two = dir.publish(2, &lock_file("two")).unwrap();
    drop(one);
    assert_eq!(names(dir.path()), ["2.lock"]);
}

/// A file in the form of a project behaves as a lock file does.
#[test]
fn project_file_is_published_found_and_removed() {
    let temp = TempDir::new();
    let dir = LockDir::create(temp.join(".claude-code")).unwrap();
    fs::write(temp.join(".claude-code/settings.json"), "{}").unwrap();
    let mut published = dir.publish_as(LockForm::Project, 7, &lock_file("token")).unwrap();
    assert!(published.path().ends_with("7.json"));
    let found = scan_for(LockForm::Project, dir.path()).unwrap();
    assert_eq!((found.len(), found[0].port), (1, Some(7)), "{found:?}");
    let read = found[0].file.as_ref().unwrap();
    assert_eq!(read.auth_token, lock_file("token").auth_token);
    assert_eq!(read.workspace_folders, lock_file("token").workspace_folders[..1]);
    assert!(scan(dir.path()).unwrap().is_empty());
    fs::remove_file(published.path()).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Republished);
    let mut nowhere = lock_file("token");
    nowhere.workspace_folders.clear();
    assert!(matches!(published.update(&nowhere), Err(Error::Malformed { .. })));
    assert!(published.remove().unwrap());
    assert_eq!(names(dir.path()), ["settings.json"]);
}

#[test]
fn panic_removes_the_lock_file_too() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let inner = dir.clone();
    let ended = thread::spawn(move || {
        let _published = inner.publish(1, &lock_file("one")).unwrap();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(ended.join().is_err());
    assert!(names(dir.path()).is_empty());
}

#[test]
fn only_our_own_file_is_removed() {
    let mut bare = marked("one");
    bare.auth_token = None;
    let mut other_bare = bare.clone();
    other_bare.ide_name = "other".into();
    let mut other_folders = lock_file("one");
    other_folders.workspace_folders.clear();
    let text = |file: &LockFile| file.to_json();
    let cases = [
        ("unchanged", lock_file("one"), text(&lock_file("one")), true),
        ("our token, other folders", lock_file("one"), text(&other_folders), true),
        ("another token", lock_file("one"), text(&lock_file("two")), false),
        ("no token", lock_file("one"), text(&bare), false),
        ("not a lock file", lock_file("one"), "{".into(), false),
        ("empty", lock_file("one"), String::new(), false),
        ("without a token, unchanged", bare.clone(), text(&bare), true),
        ("without a token, other name", bare.clone(), text(&other_bare), false),
        ("published without a token, replaced by one with a token", bare, text(&lock_file("one")), false),
    ];
    for (name, file, replaced_by, removed) in cases {
        for explicitly in [false, true] {
            let temp = TempDir::new();
            let dir = LockDir::open(temp.path()).unwrap();
            let published = dir.publish(1, &file).unwrap();
            let path = published.path().to_path_buf();
            fs::write(&path, &replaced_by).unwrap();
            if explicitly {
                assert_eq!(published.remove().unwrap(), removed, "{name}");
            } else {
                drop(published);
            }
            assert_eq!(!path.exists(), removed, "{name}, explicitly: {explicitly}");
        }
    }
}

#[test]
fn removing_what_has_vanished_is_no_error() {
    let temp = TempDir::new();
    let published = LockDir::open(temp.path()).unwrap().publish(1, &lock_file("one")).unwrap();
    fs::remove_file(published.path()).unwrap();
    assert!(!published.remove().unwrap());
}

#[test]
fn l06_vanished_file_returns_unchanged() {
    let temp = TempDir::new();
    let path = temp.join("above/ide");
    let mut published = LockDir::create(&path).unwrap().publish(1, &lock_file("one")).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::InPlace);

    fs::remove_file(published.path()).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Republished);
    assert_eq!(fs::read_to_string(published.path()).unwrap(), marked("one").to_json());

    fs::remove_dir_all(temp.join("above")).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Republished, "with its directory");
    assert_eq!(published.republish_if_missing().unwrap(), Watch::InPlace);

    fs::rename(&path, temp.join("moved")).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Republished, "where clients look");
    drop(published);
    assert!(names(&path).is_empty());
}

#[test]
fn foreign_file_stays_until_an_update() {
    let temp = TempDir::new();
    let mut published = LockDir::open(temp.path()).unwrap().publish(1, &lock_file("one")).unwrap();
    fs::write(published.path(), lock_file("two").to_json()).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Taken);
    assert_eq!(fs::read_to_string(published.path()).unwrap(), lock_file("two").to_json());
    published.update(&lock_file("one")).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::InPlace);
}

#[test]
fn updated_file_is_restored_and_removed() {
    let temp = TempDir::new();
    let mut published = LockDir::open(temp.path()).unwrap().publish(1, &lock_file("one")).unwrap();
    let mut file = lock_file("two");
    file.workspace_folders.push("/w/q".into());
    published.update(&file).unwrap();
    // The server still requires the token that was published first.
    let mut expected = marked("one");
    expected.workspace_folders.push("/w/q".into());
    let file = expected;
    assert_eq!(fs::read_to_string(published.path()).unwrap(), file.to_json());
    fs::remove_file(published.path()).unwrap();
    assert_eq!(published.republish_if_missing().unwrap(), Watch::Republished);
    assert_eq!(fs::read_to_string(published.path()).unwrap(), file.to_json());
    assert_eq!(published.file(), &file);
    assert!(published.remove().unwrap());
}

/// Sets a flag when it is dropped.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A reader finds a whole file while it is being replaced, and no other user can read it.
#[test]
fn l02_l03_readers_see_only_whole_private_files() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let mut published = dir.publish(1, &lock_file("token")).unwrap();
    let path = published.path().to_path_buf();
    let done = AtomicBool::new(false);
    let looks = thread::scope(|scope| {
        // So that the reader ends even if an update fails.
        let _ending = Ending(&done);
        let reader = scope.spawn(|| {
            let mut looks = 0_u32;
            while !done.load(Ordering::Acquire) {
                // Before Windows 10, and in wine 8, nobody can replace a file while it is open. A reader
                // without a pause, which no client is, would make every attempt fail.
                if cfg!(windows) {
                    thread::sleep(Duration::from_millis(20));
                }
                let text = fs::read_to_string(&path).unwrap();
                LockFile::parse(&text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
                for entry in fs::read_dir(temp.path()).unwrap() {
                    let entry = entry.unwrap();
                    // A temporary file may be renamed after it was listed and before its metadata are read.
                    #[cfg(unix)]
                    if let Ok(metadata) = entry.metadata() {
                        use std::os::unix::fs::MetadataExt;
                        assert_eq!(metadata.mode() & 0o077, 0, "{:?}", entry.path());
                    }
                    let name = entry.file_name().into_string().unwrap();
                    assert_eq!(name.ends_with(".lock"), name == "1.lock", "{name}");
                }
                looks += 1;
            }
            looks
        });
        let mut file = lock_file("token");
        for round in 0..if cfg!(windows) { 200 } else { 1000_usize } {
            file.workspace_folders = vec![format!("/{}", "x".repeat(round % 300 * 10)); 3];
            published.update(&file).unwrap();
        }
        done.store(true, Ordering::Release);
        reader.join().unwrap()
    });
    assert!(looks > 0);
    assert_eq!(names(temp.path()), ["1.lock"]);
}

#[test]
fn failed_publication_leaves_nothing_behind() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    assert!(matches!(dir.publish(0, &lock_file("one")), Err(Error::PortZero)));

    let mut file = lock_file("one");
    file.workspace_folders.clear();
    file.ide_name.clear();
    file.scope = ide_mcp_lockfile::process_scope();
    file.ide_name = "x".repeat(LockFile::MAX_LEN - file.to_json().len());
    dir.publish(1, &file).unwrap().remove().unwrap();
    file.ide_name.push('x');
    match dir.publish(1, &file) {
        Err(Error::Malformed { source: LockFileError::TooLong { len }, .. }) => assert_eq!(len, 65537),
        other => panic!("{other:?}"),
    }

    // A rename cannot replace a directory.
    fs::create_dir(temp.join("2.lock")).unwrap();
    assert!(matches!(dir.publish(2, &lock_file("one")), Err(Error::Io { .. })));
    assert_eq!(names(temp.path()), ["2.lock"]);
}

/// A short token is read, since other editors have such tokens, but not published.
#[test]
fn l18_short_token_is_not_published() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let mut file = lock_file("one");
    for (token, expected) in [("0123456789abcde", Err(15)), ("0123456789abcdef", Ok(()))] {
        file.auth_token = AuthToken::from_text(token).ok();
        let published = dir.publish(1, &file).map(drop).map_err(|error| {
            let Error::TokenTooShort { len } = error else { panic!("{error:?}") };
            len
        });
        assert_eq!(published, expected, "{token}");
    }
    file.auth_token = AuthToken::from_text("t").ok();
    fs::write(temp.join("2.lock"), file.to_json()).unwrap();
    assert_eq!(scan(temp.path()).unwrap()[0].file.as_ref().unwrap(), &file);
}

#[test]
fn missing_directory_or_file_in_its_place_is_an_error() {
    let temp = TempDir::new();
    fs::write(temp.join("file"), "").unwrap();
    let cases = [
        ("missing", LockDir::open(temp.join("missing"))),
        ("a file", LockDir::open(temp.join("file"))),
        ("a file in the way", LockDir::create(temp.join("file/ide"))),
    ];
    for (name, result) in cases {
        assert!(matches!(result, Err(Error::Io { .. })), "{name}: {result:?}");
    }
}

#[test]
fn e07_nothing_printed_has_the_token() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let published = dir.publish(1, &lock_file("QZQZ")).unwrap();
    assert!(!format!("{dir:?} {published:?}").contains("QZ"));
}

/// A process that is killed while it writes leaves a temporary file behind, which contains the token.
#[test]
fn old_temporary_files_are_removed_by_the_next_write() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    // The name, its age in seconds, and whether it is removed.
    let rows = [
        (".0123456789abcdef.tmp", 61, true),
        (".0123456789abcdee.tmp", 50, false),
        (".0123456789abcde.tmp", 61, false),
        (".0123456789abcdefg.tmp", 61, false),
        (".0123456789abcD.tmp", 61, false),
        ("0123456789abcdef.tmp", 61, false),
        (".0123456789abcded.tmp2", 61, false),
        ("notes", 61, false),
    ];
    for (name, age, _) in rows {
        fs::write(temp.join(name), "{}").unwrap();
        let file = fs::File::open(temp.join(name)).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    fs::create_dir(temp.join(".0123456789abcdea.tmp")).unwrap();
    let mut published = dir.publish(1, &lock_file("one")).unwrap();
    for (name, age, goes) in rows {
        assert_eq!(!temp.join(name).exists(), goes, "{name}, {age} s old");
    }
    assert!(temp.join(".0123456789abcdea.tmp").exists(), "a directory");
    published.update(&lock_file("two")).unwrap();
}
