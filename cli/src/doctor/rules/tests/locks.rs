//! The cases of a lock file and its process.

use super::{Case, answer, dead, file, lock, open_to};
use crate::doctor::facts::{Answer, Lock, Probe, State, Trouble};
use ide_mcp::ide::discovery::LockFile;

pub(super) const CASES: &[Case] = &[
    (
        "a misnamed file",
        |f| {
            f.locks.push(Lock { port: None, file: Err(Trouble::Misnamed), probe: None, ..lock(2, "/w") });
        },
        &["lock-misnamed"],
    ),
    (
        "a symbolic link",
        |f| f.locks.push(Lock { file: Err(Trouble::Link), probe: None, ..lock(2, "/w") }),
        &["lock-is-a-link"],
    ),
    (
        "a pipe",
        |f| f.locks.push(Lock { file: Err(Trouble::NotAFile), probe: None, ..lock(2, "/w") }),
        &["lock-not-a-file"],
    ),
    (
        "a file of root",
        |f| {
            f.locks.push(Lock { file: Err(Trouble::NotOurs { owner: 0 }), probe: None, ..lock(2, "/w") });
        },
        &["lock-not-ours"],
    ),
    (
        "half a lock file, the only one",
        |f| {
            f.locks =
                vec![Lock { file: Err(Trouble::Unparsable("no".into())), probe: None, ..lock(2, "/w") }];
        },
        &["lock-unparsable", "no-usable-editor"],
    ),
    (
        "half a lock file beside an editor",
        |f| {
            f.locks.push(Lock { file: Err(Trouble::Unparsable("no".into())), probe: None, ..lock(2, "/w") });
        },
        &["lock-unparsable-beside-editor"],
    ),
    (
        "half a lock file beside an editor whose port was not tried",
        |f| {
            f.locks[0].probe = None;
            f.locks.push(Lock { file: Err(Trouble::Unparsable("no".into())), probe: None, ..lock(2, "/w") });
        },
        &["lock-unparsable-beside-editor", "not-probed"],
    ),
    (
        "half a lock file beside an editor that refuses its token",
        |f| {
            answer(f, Answer::Refused("401".into()));
            f.locks.push(Lock { file: Err(Trouble::Unparsable("no".into())), probe: None, ..lock(2, "/w") });
        },
        &["lock-unparsable", "token-refused"],
    ),
    (
        "an unreadable file",
        |f| {
            let file = Err(Trouble::Unreadable { reason: "no".into(), other_owner: None });
            f.locks.push(Lock { file, probe: None, ..lock(2, "/w") });
        },
        &["lock-unreadable"],
    ),
    (
        "an unreadable file of root",
        |f| {
            let file = Err(Trouble::Unreadable { reason: "no".into(), other_owner: Some(0) });
            f.locks = vec![Lock { file, probe: None, ..lock(2, "/w") }];
        },
        &["lock-not-ours", "no-usable-editor"],
    ),
    (
        "a list of folders instead of JSON",
        |f| {
            f.locks[0].file = Ok(LockFile::parse("/w").unwrap());
            f.locks[0].probe = None;
        },
        &["lock-legacy", "no-usable-editor"],
    ),
    (
        "a file that others can read",
        |f| {
            f.locks[0].mode = Some(0o640);
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o710), other_owner: None };
        },
        &["lock-readable-by-others", "directory-readable-by-others"],
    ),
    (
        "a file that others could read, in a directory of its owner alone",
        |f| f.locks[0].mode = Some(0o644),
        &[],
    ),
    (
        "a file that others could read, below a directory that they cannot enter",
        |f| {
            f.locks[0].mode = Some(0o644);
            f.directories.as_mut().unwrap()[0].is_closed_above = true;
        },
        &[],
    ),
    (
        "a file that others could read, in a directory that they can list but not enter",
        |f| {
            f.locks[0].mode = Some(0o644);
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o744), other_owner: None };
        },
        &["directory-readable-by-others"],
    ),
    ("no token", |f| file(f).auth_token = None, &["lock-without-token"]),
    ("no process", |f| (file(f).pid, f.locks[0].pid_alive) = (None, None), &["lock-without-process"]),
    (
        "a dead process",
        |f| (f.locks[0].pid_alive, f.locks[0].probe) = (Some(false), Some(Probe::Refused)),
        &["lock-left-over", "no-usable-editor"],
    ),
    (
        "a process in a container",
        |f| {
            (f.locks[0].pid_alive, f.locks[0].probe) =
                (Some(false), Some(open_to(Answer::Refused("401".into()))));
        },
        &["lock-process-unseen", "no-usable-editor"],
    ),
    (
        "a dead process, and a silent program on its port",
        |f| (f.locks[0].pid_alive, f.locks[0].probe) = (Some(false), Some(open_to(Answer::Silent))),
        &["lock-process-unseen", "no-usable-editor"],
    ),
    (
        "a dead process, and a web server on its port",
        |f| {
            (f.locks[0].pid_alive, f.locks[0].probe) =
                (Some(false), Some(open_to(Answer::Alien("200 OK".into()))))
        },
        &["lock-without-editor", "no-usable-editor"],
    ),
    (
        "a dead process, and another user on its port",
        |f| {
            f.locks[0].pid_alive = Some(false);
            f.locks[0].probe = Some(Probe::NotOurs { owner: 5, us: 6 });
        },
        &["lock-process-unseen", "port-of-another-user", "no-usable-editor"],
    ),
    (
        "a dead process without a name",
        |f| {
            f.locks = vec![dead(1, "/w")];
            file(f).ide_name.clear();
        },
        &["lock-without-editor", "no-usable-editor"],
    ),
    (
        "a dead process without a name, and its port not tried",
        |f| {
            f.locks = vec![Lock { probe: None, ..dead(1, "/w") }];
            file(f).ide_name.clear();
        },
        &["lock-process-unseen", "no-usable-editor"],
    ),
    (
        "a lock file of Windows, seen on Linux",
        |f| {
            f.locks[0].pid_alive = None;
            file(f).running_in_windows = true;
        },
        &["lock-of-windows-elsewhere"],
    ),
];
