//! The rules on constructed facts, one row per case. Other tests use real files and sockets.

use super::{Verdict, judge, verdict};
use crate::doctor::facts::{
    Answer, Directory, Facts, Lock, Probe, Removed, State, System, Trouble, Variables, Weak, Weakness,
};
use crate::doctor::kinds::{ALL, Status};
use ide_mcp::ide::locate::Source;
use ide_mcp::ide::{AuthToken, LockFile};
use ide_mcp_lockfile::WorkingDir;
use std::collections::BTreeSet;

const WSL: System<'static> = System::Wsl { distribution: Some("Ubuntu") };
const TOKEN: &str = "QZQZ-the-token";

fn here(logical: &str, canonical: &str) -> WorkingDir {
    // A directory that exists, with other paths.
    let mut here = WorkingDir::of(Some("/".as_ref())).unwrap();
    (here.logical, here.canonical) = (logical.into(), canonical.into());
    here
}

fn lock(port: u16, folder: &str) -> Lock {
    Lock {
        path: format!("/h/.claude/ide/{port}.lock"),
        directory: 0,
        used: true,
        port: Some(port),
        file: Ok(LockFile::new(7, vec![folder.into()], "E", AuthToken::from_text(TOKEN).unwrap())),
        mode: Some(0o600),
        pid_alive: Some(true),
        modified: None,
        probe: Some(Probe::Asked {
            with_token: Answer::Attached,
            without_token: Some(Answer::Refused("401".into())),
            with_origin: Some(Answer::Declined("403".into())),
        }),
        listener: Some(7),
    }
}

fn directory(path: &str, source: Source, used: bool) -> Directory {
    let state = State::There { mode: Some(0o700), stranger: None };
    Directory { path: path.into(), source, used, state, weak: Vec::new() }
}

/// Returns facts without a fault: one editor that has `/w` open.
fn sound() -> Facts {
    Facts {
        variables: Variables::default(),
        here: here("/w", "/w"),
        system: System::Linux,
        directories: Ok(vec![
            directory("/h/.claude/ide", Source::Home, true),
            directory("/h/.config/claude/ide", Source::Xdg, false),
        ]),
        locks: vec![lock(1, "/w")],
        removed: Vec::new(),
    }
}

fn weaken(facts: &mut Facts, directory: usize, weakness: Weakness) {
    facts.directories.as_mut().unwrap()[directory].weak.push(Weak { path: "/h".into(), weakness });
}

fn file(facts: &mut Facts) -> &mut LockFile {
    facts.locks[0].file.as_mut().unwrap()
}

fn answer(facts: &mut Facts, answer: Answer) {
    facts.locks[0].probe = Some(Probe::Asked { with_token: answer, without_token: None, with_origin: None });
}

fn set(facts: &mut Facts, name: &'static str, value: &str) {
    facts.variables.0.insert(name, value.into());
}

/// Returns the ids of all findings of a fault.
fn bad(facts: &Facts) -> BTreeSet<&'static str> {
    judge(facts).iter().filter(|found| found.kind.status != Status::Ok).map(|found| found.kind.id).collect()
}

/// A name, the change to the sound facts, and the expected findings.
type Case = (&'static str, fn(&mut Facts), &'static [&'static str]);

const CASES: &[Case] = &[
    (
        "two editors elsewhere, unchecked",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
            file(f).workspace_folders = vec!["/u".into()];
        },
        &["folder-check-skipped", "several-editors"],
    ),
    (
        "one editor here and one elsewhere, unchecked",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
        },
        &["folder-check-skipped"],
    ),
    (
        "a dead process, unchecked",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            f.locks = vec![dead(1, "/w")];
        },
        &["folder-check-skipped", "lock-left-over", "no-editor-for-directory"],
    ),
    ("nothing", |_| {}, &[]),
    (
        "no home",
        |f| (f.directories, f.locks) = (Err("HOME is not set".into()), vec![]),
        &["variables-unusable"],
    ),
    (
        "a config directory that is no path",
        |f| {
            (f.directories, f.locks) = (Err("CLAUDE_CONFIG_DIR is set but empty".into()), vec![]);
            set(f, "CLAUDE_CONFIG_DIR", "");
        },
        &["config-dir-unusable"],
    ),
    ("another home", |f| set(f, "CLAUDE_CONFIG_DIR", "/c"), &[]),
    (
        "another home without an editor",
        |f| {
            set(f, "CLAUDE_CONFIG_DIR", "/c");
            f.locks.clear();
        },
        &["config-dir-set", "no-lock-files"],
    ),
    (
        "another home with a dead editor",
        |f| {
            set(f, "CLAUDE_CONFIG_DIR", "/c");
            f.locks = vec![dead(1, "/w")];
        },
        &["config-dir-set", "lock-left-over", "no-editor-for-directory"],
    ),
    ("the right port", |f| set(f, "CLAUDE_CODE_SSE_PORT", "1"), &["opencode-without-token"]),
    (
        "the right port of an editor without a token",
        |f| {
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
            file(f).auth_token = None;
        },
        &["lock-without-token"],
    ),
    ("a port for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "1"), &["opencode-without-token"]),
    (
        "a stale port",
        |f| set(f, "CLAUDE_CODE_SSE_PORT", "2"),
        &["port-variable-stale", "opencode-without-token"],
    ),
    (
        "a port of the dead",
        |f| {
            set(f, "CLAUDE_CODE_SSE_PORT", "2");
            f.locks.push(Lock { pid_alive: Some(false), probe: Some(Probe::Refused), ..lock(2, "/v") });
        },
        &["port-variable-stale", "opencode-without-token", "lock-left-over", "process-published-twice"],
    ),
    ("no port", |f| set(f, "CLAUDE_CODE_SSE_PORT", ""), &["port-variable-invalid"]),
    ("an odd port", |f| set(f, "CLAUDE_CODE_SSE_PORT", "0x1"), &["port-variable-invalid"]),
    ("no port for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", ""), &[]),
    ("an odd port for opencode", |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "0x1"), &[]),
    ("integration off", |f| set(f, "ENABLE_IDE_INTEGRATION", "false"), &["integration-off"]),
    ("integration alone", |f| set(f, "ENABLE_IDE_INTEGRATION", "t"), &["integration-without-port"]),
    (
        "integration with a port",
        |f| {
            set(f, "ENABLE_IDE_INTEGRATION", "true");
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["opencode-without-token"],
    ),
    ("no attaching", |f| set(f, "CLAUDE_CODE_AUTO_CONNECT_IDE", "False"), &["auto-connect-off"]),
    ("attaching", |f| set(f, "CLAUDE_CODE_AUTO_CONNECT_IDE", "true"), &[]),
    ("another host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "172.17.0.1"), &["host-override"]),
    ("this machine", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "::1"), &["host-override-loopback"]),
    ("this machine by name", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "Localhost"), &[]),
    (
        "a name like an address",
        |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2.evil"),
        &["host-override"],
    ),
    ("no host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", ""), &[]),
    ("no skipped check", |f| set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "0"), &[]),
    (
        "a drive of Windows",
        |f| {
            f.system = WSL;
            f.here = here("/mnt/c/w", "/mnt/c/w");
            file(f).workspace_folders = vec!["C:\\w".into()];
        },
        &["wsl", "folder-in-another-spelling"],
    ),
    (
        "a drive of Windows, among every spelling",
        |f| {
            f.system = WSL;
            f.here = here("/mnt/c/w", "/mnt/c/w");
            file(f).workspace_folders = ide_mcp::ide::paths::spellings("/mnt/c/w", WSL);
        },
        &["wsl"],
    ),
    (
        "a folder of the distribution, as Windows has it",
        |f| {
            f.system = WSL;
            file(f).workspace_folders = vec![r"\\wsl$\Ubuntu\w".into()];
        },
        &["wsl", "folder-in-another-spelling"],
    ),
    (
        "another case on macOS",
        |f| {
            f.system = System::MacOs;
            file(f).workspace_folders = vec!["/W".into()];
        },
        &["folder-in-another-spelling"],
    ),
    (
        "another case, unchecked",
        |f| {
            f.system = System::MacOs;
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            file(f).workspace_folders = vec!["/W".into()];
        },
        &["folder-check-skipped"],
    ),
    (
        "another case on Linux",
        |f| file(f).workspace_folders = vec!["/W".into()],
        &["no-editor-for-directory"],
    ),
    ("the same host", |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.1"), &[]),
    ("a proxy", |f| set(f, "http_proxy", "http://u:p@p"), &["proxy-takes-loopback"]),
    ("an empty proxy", |f| set(f, "ALL_PROXY", ""), &[]),
    (
        "a proxy for others",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "no_proxy", "a.example, 127.0.0.1");
            set(f, "NO_PROXY", "127.0.0.1");
        },
        &[],
    ),
    (
        "a proxy for others, to those who read one list",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "no_proxy", "a.example, 127.0.0.1");
        },
        &["no-proxy-differs"],
    ),
    (
        "a proxy for other names",
        |f| {
            set(f, "ALL_PROXY", "p");
            set(f, "NO_PROXY", "localhost,127.0.0.11");
        },
        &["proxy-takes-loopback"],
    ),
    (
        "two minds about a proxy",
        |f| {
            set(f, "HTTP_PROXY", "p");
            set(f, "NO_PROXY", "*");
            set(f, "no_proxy", "localhost");
        },
        &["no-proxy-differs"],
    ),
    ("Linux on Windows", |f| f.system = WSL, &["wsl"]),
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
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o777), stranger: Some(0) };
        },
        &["directory-not-ours"],
    ),
    (
        "a directory of root, unread",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o700), stranger: Some(0) };
        },
        &["directory-not-ours"],
    ),
    (
        "an open directory",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o720), stranger: None };
        },
        &["directory-writable-by-others"],
    ),
    (
        "a visible directory",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o711), stranger: None };
        },
        &["directory-readable-by-others"],
    ),
    (
        "a group above it",
        |f| weaken(f, 0, Weakness::WritableByGroup { mode: 0o775 }),
        &["parent-writable-by-group"],
    ),
    (
        "everybody above it",
        |f| weaken(f, 0, Weakness::WritableByAll { mode: 0o777 }),
        &["parent-writable-by-all"],
    ),
    (
        "everybody above it, unread",
        |f| {
            f.locks.clear();
            weaken(f, 0, Weakness::WritableByAll { mode: 0o777 });
        },
        &["parent-writable-by-all"],
    ),
    ("another user above it", |f| weaken(f, 0, Weakness::Owner { owner: 5, us: 6 }), &["parent-not-ours"]),
    ("another user above an unused one", |f| weaken(f, 1, Weakness::Owner { owner: 5, us: 6 }), &[]),
    (
        "another user on the port",
        |f| f.locks[0].probe = Some(Probe::NotOurs { owner: 5, us: 6 }),
        &["port-of-another-user"],
    ),
    ("nobody known on the port", |f| f.locks[0].probe = Some(Probe::WithoutOwner), &["port-without-owner"]),
    (
        "no modes",
        |f| {
            f.directories.as_mut().unwrap()[0].state = State::There { mode: None, stranger: None };
            f.locks[0].mode = None;
        },
        &[],
    ),
    (
        "an unused directory that is open",
        |f| {
            f.directories.as_mut().unwrap()[1].state = State::There { mode: Some(0o777), stranger: None };
        },
        &[],
    ),
    (
        "an editor elsewhere",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(2, "/w") }),
        &["locks-where-nobody-looks"],
    ),
    (
        "a dead editor elsewhere",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, pid_alive: Some(false), ..lock(2, "/w") });
        },
        &[],
    ),
    (
        "an editor in both",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") }),
        &["port-published-twice"],
    ),
    (
        "two editors of one port",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") });
            f.locks[1].file.as_mut().unwrap().auth_token = None;
        },
        &["port-published-twice-differently"],
    ),
    ("two windows", |f| f.locks.push(lock(2, "/v")), &["process-published-twice"]),
    (
        "two editors",
        |f| {
            f.locks.push(lock(2, "/"));
            file(f).pid = Some(8);
        },
        &["several-editors"],
    ),
    (
        "a misnamed file",
        |f| {
            f.locks.push(Lock { port: None, file: Err(Trouble::Misnamed), probe: None, ..lock(2, "/w") });
        },
        &["lock-misnamed"],
    ),
    (
        "a link",
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
        "half a file, the only one",
        |f| {
            f.locks =
                vec![Lock { file: Err(Trouble::Unparsable("no".into())), probe: None, ..lock(2, "/w") }];
        },
        &["lock-unparsable", "no-editor-for-directory"],
    ),
    (
        "a closed file",
        |f| {
            f.locks.push(Lock { file: Err(Trouble::Unreadable("no".into())), probe: None, ..lock(2, "/w") });
        },
        &["lock-unreadable"],
    ),
    (
        "a list of folders",
        |f| {
            f.locks[0].file = Ok(LockFile::parse("/w").unwrap());
            f.locks[0].probe = None;
        },
        &["lock-legacy", "no-editor-for-directory"],
    ),
    ("an open file", |f| f.locks[0].mode = Some(0o640), &["lock-readable-by-others"]),
    ("no token", |f| file(f).auth_token = None, &["lock-without-token"]),
    ("no process", |f| (file(f).pid, f.locks[0].pid_alive) = (None, None), &["lock-without-process"]),
    (
        "a dead process",
        |f| (f.locks[0].pid_alive, f.locks[0].probe) = (Some(false), Some(Probe::Refused)),
        &["lock-left-over", "no-editor-for-directory"],
    ),
    (
        "a process of a container",
        |f| {
            (f.locks[0].pid_alive, f.locks[0].probe) = (Some(false), Some(Probe::Open));
        },
        &["lock-process-unseen", "no-editor-for-directory"],
    ),
    (
        "a dead process, and another user on its port",
        |f| {
            f.locks[0].pid_alive = Some(false);
            f.locks[0].probe = Some(Probe::NotOurs { owner: 5, us: 6 });
        },
        &["lock-process-unseen", "port-of-another-user", "no-editor-for-directory"],
    ),
    (
        "a dead process without a name",
        |f| {
            f.locks = vec![dead(1, "/w")];
            file(f).ide_name.clear();
        },
        &["lock-process-unseen", "no-editor-for-directory"],
    ),
    (
        "Windows from WSL",
        |f| {
            (f.system, f.locks[0].pid_alive) = (WSL, None);
            file(f).running_in_windows = true;
        },
        &["wsl", "lock-of-windows"],
    ),
    (
        "Windows from a Mac",
        |f| {
            f.locks[0].pid_alive = None;
            file(f).running_in_windows = true;
        },
        &["lock-of-windows-elsewhere"],
    ),
    (
        "Windows",
        |f| {
            f.system = System::Windows;
            f.here = here(r"C:\w", r"C:\w");
            file(f).workspace_folders = vec![r"c:\w".into()];
            file(f).running_in_windows = true;
        },
        &[],
    ),
    ("a closed port", |f| f.locks[0].probe = Some(Probe::Refused), &["port-refuses"]),
    ("an unreachable port", |f| f.locks[0].probe = Some(Probe::Unreachable("no".into())), &["port-silent"]),
    ("a silent port", |f| answer(f, Answer::Silent), &["port-silent"]),
    ("a web server", |f| answer(f, Answer::Alien("200 OK".into())), &["not-an-editor"]),
    ("a wrong token", |f| answer(f, Answer::Refused("401".into())), &["token-refused"]),
    ("no room", |f| answer(f, Answer::Full), &["editor-full"]),
    ("another refusal", |f| answer(f, Answer::Declined("400".into())), &["editor-declines"]),
    ("no sub-protocol", |f| answer(f, Answer::NoSubprotocol), &["subprotocol-missing"]),
    ("no session", |f| answer(f, Answer::NoSession("no".into())), &["session-fails"]),
    ("not asked", |f| f.locks[0].probe = None, &["not-asked"]),
    (
        "an open door",
        |f| {
            f.locks[0].probe = Some(Probe::Asked {
                with_token: Answer::Attached,
                without_token: Some(Answer::Attached),
                with_origin: Some(Answer::Attached),
            });
        },
        &["lets-in-without-token", "lets-in-with-origin"],
    ),
    (
        "strangers who learn nothing",
        |f| {
            f.locks[0].probe = Some(Probe::Asked {
                with_token: Answer::Attached,
                without_token: Some(Answer::Full),
                with_origin: Some(Answer::Silent),
            });
        },
        &[],
    ),
    ("another directory", |f| f.here = here("/w-evil", "/w-evil"), &["no-editor-for-directory"]),
    ("a directory below", |f| f.here = here("/w/a/b", "/w/a/b"), &[]),
    ("by a link alone", |f| f.here = here("/w/a", "/x/a"), &["folder-matches-only-logically"]),
    ("without links alone", |f| f.here = here("/x/a", "/w/a"), &["folder-matches-only-physically"]),
    (
        "without links, by port",
        |f| {
            f.here = here("/x/a", "/w/a");
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["opencode-without-token"],
    ),
    (
        "no folder",
        |f| file(f).workspace_folders.clear(),
        &["editor-without-folders", "no-editor-for-directory"],
    ),
    (
        "no folder, by port",
        |f| {
            file(f).workspace_folders.clear();
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["opencode-without-token"],
    ),
    ("removed", |f| f.removed.push(Removed { path: "/p".into(), name: "E".into() }), &["leftover-removed"]),
];

#[test]
fn each_fact_gives_exactly_its_findings() {
    let mut seen = BTreeSet::new();
    let measured = MEASURED.iter().map(|(name, change, expected, ..)| (*name, *change, *expected));
    for (name, change, expected) in CASES.iter().copied().chain(measured) {
        let mut facts = sound();
        change(&mut facts);
        assert_eq!(bad(&facts), expected.iter().copied().collect(), "{name}");
        let findings = judge(&facts);
        seen.extend(findings.iter().map(|found| found.kind.id));
        assert!(findings.is_sorted_by_key(|found| found.kind.status), "{name}: the worst come first");
        for found in &findings {
            assert!(!found.advice.contains('{') && !found.says.is_empty(), "{name}: {found:?}");
            assert!(!format!("{found:?}").contains("QZ"), "{name}: {found:?} has the token");
            assert!(!format!("{found:?}").contains("u:p"), "{name}: {found:?} has the password of the proxy");
        }
    }
    let unseen: Vec<&str> = ALL.iter().map(|kind| kind.id).filter(|id| !seen.contains(id)).collect();
    assert_eq!(unseen, [""; 0], "no row has these");
}

/// A name, a change, the expected findings and verdict, and the text about an older version.
type Measured =
    (&'static str, fn(&mut Facts), &'static [&'static str], fn(&Verdict) -> bool, Option<&'static str>);

const ATTACHES: fn(&Verdict) -> bool = |verdict| matches!(verdict, Verdict::Attaches { .. });
const FINDS_NOTHING: fn(&Verdict) -> bool = |verdict| *verdict == Verdict::FindsNothing;
const UNKNOWN: fn(&Verdict) -> bool = |verdict| *verdict == Verdict::Unknown;

/// Sets one editor, whose lock file has `text` in place of a member.
fn with_member(facts: &mut Facts, member: &str, text: &str) {
    let sound = r#"{"pid":7,"workspaceFolders":["/w"],"ideName":"E","transport":"ws","authToken":"QZQZ"}"#;
    assert!(sound.contains(member), "{member}");
    facts.locks[0].file = Ok(LockFile::parse(&sound.replace(member, text)).unwrap());
}

/// The rows of *Discovery* in docs/evidence.md that a lock file or a variable decides. If versions
/// differ, the newest counts.
const MEASURED: &[Measured] = &[
    (
        "a lock file without transport",
        |f| with_member(f, r#""transport":"ws","#, ""),
        &["lock-without-transport", "no-editor-for-directory"],
        FINDS_NOTHING,
        None,
    ),
    (
        "the transport sse",
        |f| with_member(f, r#""ws""#, r#""sse""#),
        &["lock-legacy", "no-editor-for-directory"],
        FINDS_NOTHING,
        None,
    ),
    (
        "the transport ws-ide",
        |f| with_member(f, r#""ws""#, r#""ws-ide""#),
        &["lock-legacy", "no-editor-for-directory"],
        FINDS_NOTHING,
        None,
    ),
    ("a pid as text", |f| with_member(f, r#""pid":7"#, r#""pid":"7""#), &[], ATTACHES, None),
    ("the folder of the client", |f| with_member(f, r#"["/w"]"#, r#"["."]"#), &[], ATTACHES, None),
    (
        "a symbolic link",
        |f| (f.locks[0].file, f.locks[0].probe) = (Err(Trouble::Link), None),
        &["lock-is-a-link"],
        UNKNOWN,
        None,
    ),
    (
        "a lock file of another owner",
        |f| (f.locks[0].file, f.locks[0].probe) = (Err(Trouble::NotOurs { owner: 5 }), None),
        &["lock-not-ours"],
        UNKNOWN,
        None,
    ),
    (
        "a directory of another owner",
        |f| {
            f.locks.clear();
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o700), stranger: Some(5) };
        },
        &["directory-not-ours"],
        UNKNOWN,
        None,
    ),
    (
        "a directory that another user can replace",
        |f| {
            f.locks.clear();
            weaken(f, 0, Weakness::Owner { owner: 5, us: 6 });
        },
        &["parent-not-ours"],
        UNKNOWN,
        None,
    ),
    (
        "attaching is switched off",
        |f| set(f, "CLAUDE_CODE_AUTO_CONNECT_IDE", "false"),
        &["auto-connect-off"],
        |verdict| matches!(verdict, Verdict::Refrains { port: 1, .. }),
        Some("1.0.51 with --ide attaches"),
    ),
    (
        "another address of this machine",
        |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2"),
        &["host-override-loopback"],
        ATTACHES,
        None,
    ),
    (
        "another folder, unchecked",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            file(f).workspace_folders = vec!["/v".into()];
        },
        &["folder-check-skipped"],
        ATTACHES,
        Some("1.0.51 does not attach"),
    ),
    (
        "two editors of one folder",
        |f| {
            f.locks.push(lock(2, "/w"));
            file(f).pid = Some(8);
        },
        &["several-editors"],
        |verdict| *verdict == Verdict::HasToChoose(2),
        None,
    ),
    (
        "two editors of one folder, and the port of one",
        |f| {
            f.locks.push(lock(2, "/w"));
            file(f).pid = Some(8);
            set(f, "CLAUDE_CODE_SSE_PORT", "2");
        },
        &["several-editors-one-named", "opencode-without-token"],
        |verdict| matches!(verdict, Verdict::Attaches { port: 2, .. }),
        Some("1.0.51 attaches to none"),
    ),
    (
        "a port for opencode",
        |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "1"),
        &["opencode-without-token"],
        ATTACHES,
        None,
    ),
];

#[test]
fn measured_rows_give_newest_verdict() {
    for (name, change, expected, is_right, older) in MEASURED {
        let mut facts = sound();
        change(&mut facts);
        let findings = judge(&facts);
        assert_eq!(bad(&facts), expected.iter().copied().collect(), "{name}");
        let verdict = verdict(&facts, &findings);
        assert!(is_right(&verdict), "{name}: {verdict:?}");
        let named: Vec<&str> =
            findings.iter().map(|found| found.kind.means).filter(|means| means.contains("1.0.51")).collect();
        assert_eq!(named.len(), usize::from(older.is_some()), "{name}: {named:?}");
        assert!(older.is_none_or(|older| named[0].contains(older)), "{name}: {named:?}");
    }
}

/// A finding about a file that the doctor does not follow has the behavior of the real client, that
/// of this library, and the risk.
#[test]
fn unread_lock_explains_both_behaviours() {
    for (id, parts) in [
        ("lock-is-a-link", ["The real agent follows", "do not", "an editor of their own"]),
        ("lock-not-ours", ["The real agent attaches", "do not read it", "an editor of their own"]),
        (
            "directory-not-ours",
            ["The real agent attaches", "do not read the directory", "an editor of their own"],
        ),
    ] {
        let kind = ALL.iter().find(|kind| kind.id == id).unwrap();
        assert!(parts.iter().all(|part| kind.means.contains(part)), "{}", kind.means);
    }
}

#[test]
fn verdict_follows_from_the_facts() {
    let editor = || (1, String::from("E"));
    let attaches = |(port, name)| Verdict::Attaches { port, name };
    let fails = |(port, name)| Verdict::Fails { port, name };
    let cases: [(&str, fn(&mut Facts), Verdict); 9] = [
        ("sound", |_| {}, attaches(editor())),
        (
            "a link beside it",
            |f| f.locks.push(Lock { file: Err(Trouble::Link), probe: None, ..lock(2, "/w") }),
            Verdict::Unknown,
        ),
        (
            "a link beside it, and its port",
            |f| {
                f.locks.push(Lock { file: Err(Trouble::Link), probe: None, ..lock(2, "/w") });
                set(f, "CLAUDE_CODE_SSE_PORT", "1");
            },
            attaches(editor()),
        ),
        ("a proxy", |f| set(f, "all_proxy", "p"), fails(editor())),
        ("a wrong token", |f| answer(f, Answer::Refused("401".into())), fails(editor())),
        ("not asked", |f| f.locks[0].probe = None, Verdict::NotAsked { port: 1, name: "E".into() }),
        ("two", |f| f.locks.push(lock(2, "/")), Verdict::HasToChoose(2)),
        ("elsewhere", |f| f.here = here("/v", "/v"), Verdict::FindsNothing),
        (
            "elsewhere, by port",
            |f| {
                f.here = here("/v", "/v");
                set(f, "CLAUDE_CODE_SSE_PORT", "1");
            },
            attaches(editor()),
        ),
    ];
    for (name, change, expected) in cases {
        let mut facts = sound();
        change(&mut facts);
        assert_eq!(verdict(&facts, &judge(&facts)), expected, "{name}");
    }
}

/// Returns the lock file of an editor that was killed.
fn dead(port: u16, folder: &str) -> Lock {
    Lock { pid_alive: Some(false), probe: Some(Probe::Refused), ..lock(port, folder) }
}

#[test]
fn editors_elsewhere_are_named_ended_ones_first() {
    let cases: [(&str, fn(&mut Facts), &str); 12] = [
        ("none", |f| file(f).workspace_folders.clear(), ""),
        ("one elsewhere", |f| f.locks = vec![lock(1, "/v")], r#": "E" on port 1 has ["/v"]"#),
        (
            "one that was killed",
            |f| f.locks = vec![dead(1, "/w")],
            r#": "E" on port 1 had, until its process ended"#,
        ),
        (
            "one that was killed, with a directory above",
            |f| f.locks = vec![dead(1, "/")],
            r#": "E" on port 1 had, until its process ended"#,
        ),
        (
            "one that was killed and not asked",
            |f| f.locks = vec![Lock { probe: None, ..dead(1, "/w") }],
            r#": "E" on port 1 had, until its process ended"#,
        ),
        ("one that was killed elsewhere", |f| f.locks = vec![dead(1, "/v")], ""),
        (
            "one that was killed elsewhere, by port",
            |f| {
                f.locks = vec![dead(1, "/v")];
                set(f, "CLAUDE_CODE_SSE_PORT", "1");
            },
            "",
        ),
        (
            "one that was killed and spoke something else",
            |f| {
                f.locks = vec![dead(1, "/w")];
                f.locks[0].file = Ok(LockFile::parse("/w").unwrap());
            },
            "",
        ),
        (
            "one of a container, whose port answers",
            |f| f.locks = vec![Lock { probe: Some(Probe::Open), ..dead(1, "/w") }],
            "",
        ),
        (
            "one of a container, which was asked",
            |f| f.locks = vec![Lock { pid_alive: Some(false), ..lock(1, "/w") }],
            "",
        ),
        (
            "both",
            |f| f.locks = vec![lock(1, "/v"), dead(2, "/w")],
            r#": "E" on port 2 had, until its process ended; "E" on port 1 has ["/v"]"#,
        ),
        (
            "more than are named",
            |f| {
                f.locks = (1..=4).map(|port| lock(port, "/v")).collect();
                f.locks.extend((5..=7).map(|port| dead(port, "/w")));
            },
            concat!(
                r#": "E" on port 5 had, until its process ended; "E" on port 6 had, until its process ended; "#,
                r#""E" on port 7 had, until its process ended; "E" on port 1 has ["/v"]; "E" on port 2 has ["/v"]; "#,
                "and 2 more",
            ),
        ),
    ];
    for (name, change, expected) in cases {
        let mut facts = sound();
        change(&mut facts);
        let says: Vec<String> = judge(&facts)
            .into_iter()
            .filter(|found| found.kind.id == "no-editor-for-directory")
            .map(|found| found.says)
            .collect();
        assert_eq!(says, [format!(r#"no usable editor has "/w" open{expected}"#)], "{name}");
    }
}
