//! What a scan returns, and what must not stop it.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::support::{TempDir, ended_process, lock_file, marked, names};
use ide_mcp::ide::discovery::matching::{AgentContext, Refusal, choose};
use ide_mcp::ide::discovery::{LockFile, LockFileError, Transport};
use ide_mcp_lockfile::{Error, Found, LockDir, scan};

#[allow(clippy::panic, reason = "a test that does not find its file has failed")]
fn find<'a>(found: &'a [Found], name: &str) -> &'a Found {
    found
        .iter()
        .find(|found| found.path.file_name().is_some_and(|other| other == name))
        .unwrap_or_else(|| panic!("{name} is not in {found:?}"))
}

#[test]
fn a_missing_directory_has_no_lock_files() {
    let temp = TempDir::new();
    assert!(scan(temp.join("missing")).unwrap().is_empty());
    fs::write(temp.join("file"), "").unwrap();
    assert!(matches!(scan(temp.join("file")), Err(Error::Io { .. })));
}

#[test]
fn published_lock_files_are_found() {
    let temp = TempDir::new();
    let published = LockDir::open(temp.path()).unwrap().publish(4321, &lock_file("one")).unwrap();
    let found = scan(temp.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, published.path());
    assert_eq!(found[0].port, Some(4321));
    assert_eq!(found[0].file.as_ref().unwrap(), &marked("one"));
    assert!(found[0].modified.is_some());
    if cfg!(unix) {
        assert_eq!(found[0].mode, Some(0o600));
    }
    if cfg!(any(unix, windows)) {
        assert_eq!(found[0].pid_alive, Some(true));
    }
}

#[test]
fn l06_scan_reports_all_and_deletes_none() {
    let temp = TempDir::new();
    let long = format!("{{}}{}", " ".repeat(LockFile::MAX_LEN - 2));
    let longer = format!("{long} ");
    let files: [(&str, &[u8]); 12] = [
        ("1.lock", b"{}"),
        ("2.lock", b""),
        ("3.lock", b"{\"pid\":"),
        ("4.lock", b"/w/p\n/w/q\n"),
        ("5.lock", long.as_bytes()),
        ("6.lock", longer.as_bytes()),
        ("7.lock", b"{\"ideName\":\"\xff\"}"),
        ("07.lock", b"{}"),
        ("65536.lock", b"{}"),
        ("x.lock", b"{}"),
        (".8.0123.tmp", b"{}"),
        ("9.json", b"{}"),
    ];
    for (name, text) in files {
        fs::write(temp.join(name), text).unwrap();
    }
    fs::create_dir(temp.join("10.lock")).unwrap();
    let before = names(temp.path());

    let found = scan(temp.path()).unwrap();
    assert_eq!(names(temp.path()), before);
    assert_eq!(found.len(), 11, "{found:?}");
    assert_eq!(find(&found, "1.lock").port, Some(1));
    assert!(find(&found, "1.lock").file.is_ok());
    assert_eq!(find(&found, "4.lock").file.as_ref().unwrap().transport, Transport::Sse);
    assert!(find(&found, "5.lock").file.is_ok());
    for (name, expected) in [
        ("2.lock", LockFileError::Empty),
        ("3.lock", LockFileError::NotJson { line: 1, column: 7 }),
        ("6.lock", LockFileError::TooLong { len: 65537 }),
        ("7.lock", LockFileError::NotALockFile),
    ] {
        match &find(&found, name).file {
            Err(Error::Malformed { path, source }) => {
                assert_eq!(path, &temp.join(name));
                assert_eq!(source, &expected, "{name}");
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    for name in ["07.lock", "65536.lock", "x.lock"] {
        let found = find(&found, name);
        assert!(matches!(found.file, Err(Error::NotAPort { .. })), "{name}: {found:?}");
        assert!(found.port.is_none() && found.listed().is_none(), "{name}");
    }
    assert!(find(&found, "10.lock").file.is_err());
}

#[test]
fn newest_lock_file_comes_first() {
    let temp = TempDir::new();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
    for (name, age) in [("1.lock", 20), ("2.lock", 10), ("3.lock", 30), ("4.lock", 10)] {
        fs::write(temp.join(name), "{}").unwrap();
        File::options()
            .write(true)
            .open(temp.join(name))
            .unwrap()
            .set_modified(now - Duration::from_secs(age))
            .unwrap();
    }
    let ports: Vec<_> = scan(temp.path()).unwrap().iter().filter_map(|found| found.port).collect();
    assert_eq!(ports, [2, 4, 1, 3]);
}

#[test]
fn no_error_has_the_token() {
    let temp = TempDir::new();
    for (name, text) in [
        ("1.lock", r#"{"authToken":"QZQZ"#),
        ("2.lock", r#"{"authToken":["QZQZ"]}"#),
        ("3.lock", r#"{"authToken":"QZQZ QZQZ"}"#),
        ("4.lock", r#"{"authToken":"QZQZ"}"#),
    ] {
        fs::write(temp.join(name), text).unwrap();
    }
    let found = scan(temp.path()).unwrap();
    assert_eq!(found.iter().filter(|found| found.file.is_err()).count(), 3);
    for found in &found {
        assert!(!format!("{found:?} {:?}", found.listed()).contains("QZ"), "{:?}", found.path);
        if let Err(error) = &found.file {
            assert!(!error.to_string().contains("QZ"), "{error}");
        }
    }
}

#[test]
fn scanned_files_can_be_matched() {
    let temp = TempDir::new();
    let dir = LockDir::open(temp.path()).unwrap();
    let _here = dir.publish(1, &lock_file("one")).unwrap();
    let mut elsewhere = lock_file("two");
    elsewhere.workspace_folders = vec!["/elsewhere".into()];
    let _elsewhere = dir.publish(2, &elsewhere).unwrap();
    fs::write(temp.join("3.lock"), "").unwrap();
    let listed: Vec<_> = scan(dir.path()).unwrap().iter().filter_map(Found::listed).collect();

    let matching = choose(&listed, &AgentContext { cwd: "/w/p/src", ..AgentContext::default() });
    assert_eq!(matching.unique().unwrap().port, 1);
    let refused: Vec<u16> = matching.refused.iter().map(|refused| refused.port).collect();
    assert_eq!(refused.len(), 2, "{matching:?}");
    let unreadable = matching.refused.iter().find(|refused| refused.port == 3).unwrap();
    assert!(matches!(&unreadable.reason, Refusal::Unreadable { reason } if reason.contains("3.lock")));

    let matching =
        choose(&listed, &AgentContext { cwd: "/w/p/src", port: Some(2), ..AgentContext::default() });
    assert_eq!(matching.unique().unwrap().port, 2);
}

#[cfg(any(unix, windows))]
#[test]
fn process_is_looked_up_only_where_visible() {
    let temp = TempDir::new();
    let dead = ended_process();
    let cases = [
        ("1.lock", std::process::id(), false, Some(true)),
        ("2.lock", dead, false, Some(false)),
        ("3.lock", dead, true, None),
    ];
    for (name, pid, is_of_other_side, _) in cases {
        let mut file = lock_file("one");
        file.pid = Some(pid);
        file.running_in_windows = is_of_other_side != cfg!(windows);
        fs::write(temp.join(name), file.to_json()).unwrap();
    }
    fs::write(temp.join("4.lock"), "{}").unwrap();
    let found = scan(temp.path()).unwrap();
    for (name, _, _, expected) in cases {
        assert_eq!(find(&found, name).pid_alive, expected, "{name}");
    }
    assert_eq!(find(&found, "4.lock").pid_alive, None);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::support::{make_fifo, set_mode};
    use std::os::unix::fs::{chown, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::sync::mpsc;
    use std::thread;

    /// A scan must not wait for the pipe. If it does, the test fails after 5 s.
    #[test]
    fn l04_links_pipes_and_sockets_never_block() {
        let temp = TempDir::new();
        fs::write(temp.join("victim"), lock_file("one").to_json()).unwrap();
        symlink(temp.join("victim"), temp.join("1.lock")).unwrap();
        symlink(temp.join("nowhere"), temp.join("2.lock")).unwrap();
        make_fifo(&temp.join("3.lock"));
        // The address of a socket is short, and the directory's path may be long.
        let short = Path::new("/tmp").join(temp.path().file_name().unwrap()).with_extension("link");
        symlink(temp.path(), &short).unwrap();
        let _socket = UnixListener::bind(short.join("4.lock"));
        fs::remove_file(short).unwrap();
        assert!(temp.join("4.lock").exists());
        fs::create_dir(temp.join("5.lock")).unwrap();

        let (sender, receiver) = mpsc::channel();
        let path = temp.path().to_path_buf();
        thread::spawn(move || sender.send(scan(path).unwrap()));
        let found = receiver.recv_timeout(Duration::from_secs(5)).unwrap();
        assert_eq!(found.len(), 5);
        for name in ["1.lock", "2.lock"] {
            assert!(matches!(find(&found, name).file, Err(Error::Symlink { .. })), "{name}: {found:?}");
        }
        for name in ["3.lock", "4.lock", "5.lock"] {
            assert!(matches!(find(&found, name).file, Err(Error::NotRegular { .. })), "{name}: {found:?}");
        }
    }

    #[test]
    fn foreign_file_is_not_read() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give a file away; for other users,
            // `l01_foreign_directory_is_refused_untouched` uses the same check.
            return;
        }
        let temp = TempDir::new();
        fs::write(temp.join("1.lock"), lock_file("one").to_json()).unwrap();
        chown(temp.join("1.lock"), Some(12345), None).unwrap();
        let found = scan(temp.path()).unwrap();
        assert!(matches!(found[0].file, Err(Error::NotOurs { owner: 12345, .. })), "{found:?}");
    }

    #[test]
    fn directory_of_another_user_is_not_read() {
        if !rustix::process::geteuid().is_root() {
            // To every user but root, the root of the file system is such a directory.
            assert!(matches!(scan("/"), Err(Error::NotOurs { owner: 0, .. })));
            return;
        }
        let temp = TempDir::new();
        fs::write(temp.join("1.lock"), lock_file("one").to_json()).unwrap();
        chown(temp.path(), Some(12345), None).unwrap();
        assert!(matches!(scan(temp.path()), Err(Error::NotOurs { owner: 12345, .. })));
    }

    #[test]
    fn the_mode_is_reported_and_not_changed() {
        let temp = TempDir::new();
        fs::write(temp.join("1.lock"), "{}").unwrap();
        set_mode(&temp.join("1.lock"), 0o644);
        set_mode(temp.path(), 0o755);
        assert_eq!(scan(temp.path()).unwrap()[0].mode, Some(0o644));
        assert_eq!(crate::support::mode(&temp.join("1.lock")), 0o644);
        assert_eq!(crate::support::mode(temp.path()), 0o755);
    }
}
