//! The cases of Windows: its paths, and what it does not report.

use super::{Case, WSL, file, here, judge, lock, sound};
use crate::doctor::facts::{Facts, Lock, Probe, State, System, Weakness};
use crate::doctor::kinds::{self, Status};
use crate::support::Shell;
use ide_mcp::ide::discovery::locate::Source;
use ide_mcp_lockfile::Unknown;

/// Turns the facts into those of Windows: no modes, and a process we know nothing about.
fn on_windows(f: &mut Facts, logical: &str, canonical: &str, folder: &str) {
    (f.system, f.shell, f.here) = (System::Windows, Shell::PowerShell, here(logical, canonical));
    for directory in f.directories.as_mut().unwrap() {
        directory.path = r"C:\Users\me\.claude\ide".into();
        directory.state = State::There { mode: None, other_owner: None };
    }
    let lock = &mut f.locks[0];
    lock.path = r"C:\Users\me\.claude\ide\1.lock".into();
    (lock.mode, lock.pid_alive, lock.listener) = (None, None, None);
    let file = file(f);
    (file.workspace_folders, file.running_in_windows) = (vec![folder.into()], true);
}

fn in_wsl(f: &mut Facts, probe: Probe) {
    (f.system, f.locks[0].pid_alive, f.locks[0].probe) = (WSL, None, Some(probe));
    file(f).running_in_windows = true;
}

pub(super) const CASES: &[Case] = &[
    ("Windows", |f| on_windows(f, r"C:\w", r"C:\w", r"C:\w"), &[]),
    ("Windows, a drive in lower case", |f| on_windows(f, r"c:\w", r"C:\w", r"c:\w"), &[]),
    ("Windows, a verbatim path", |f| on_windows(f, r"C:\w", r"\\?\C:\w", r"C:\w"), &[]),
    ("Windows, a directory below", |f| on_windows(f, r"C:\w\a", r"\\?\C:\w\a", r"C:\w"), &[]),
    ("Windows, two verbatim paths", |f| on_windows(f, r"\\?\C:\w", r"\\?\C:\w", r"C:\w"), &[]),
    ("Windows, a drive", |f| on_windows(f, r"C:\w", r"\\?\C:\w", r"C:\"), &[]),
    ("Windows, a share", |f| on_windows(f, r"\\srv\s\w", r"\\?\UNC\srv\s\w", r"\\srv\s\w"), &[]),
    ("Windows, slashes", |f| on_windows(f, r"C:\w", r"\\?\C:\w", "C:/w"), &[]),
    (
        "Windows, a mapped drive",
        |f| on_windows(f, r"Z:\w", r"\\?\UNC\srv\s\w", r"Z:\w"),
        &["folder-matches-only-logically"],
    ),
    (
        "Windows, a junction",
        |f| on_windows(f, r"C:\link", r"\\?\C:\w", r"C:\w"),
        &["folder-matches-only-physically"],
    ),
    (
        "Windows, another directory",
        |f| on_windows(f, r"C:\v", r"\\?\C:\v", r"C:\w"),
        &["no-editor-for-directory"],
    ),
    (
        "Windows, a killed editor",
        |f| {
            on_windows(f, r"C:\w", r"C:\w", r"C:\w");
            f.locks[0].probe = Some(Probe::Refused);
        },
        &["port-refuses-process-unknown"],
    ),
    (
        "owners that the system does not report",
        |f| {
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
            f.locks.iter_mut().for_each(|lock| lock.unknown_owner = Some(Unknown::Unsupported));
        },
        &["owner-unknown"],
    ),
    (
        "Windows, a directory that others can read",
        |f| {
            on_windows(f, r"C:\w", r"C:\w", r"C:\w");
            f.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o704), other_owner: None };
            f.locks[0].mode = Some(0o704);
        },
        &["directory-readable-by-others", "lock-readable-by-others"],
    ),
    (
        "Windows, a parent that others can change",
        |f| {
            on_windows(f, r"C:\w", r"C:\w", r"C:\w");
            super::weaken(f, 0, Weakness::WritableByAll { mode: 0o706 });
        },
        &["parent-writable-by-all"],
    ),
    (
        "a Windows home, seen from WSL",
        |f| {
            f.system = WSL;
            let mut home = super::directory("/mnt/c/Users/me/.claude/ide", Source::WindowsHome, true);
            home.state = State::There { mode: None, other_owner: None };
            f.directories.as_mut().unwrap().push(home);
            f.locks.push(Lock { directory: 2, mode: None, pid_alive: None, ..lock(2, r"C:\v") });
            let other = f.locks[1].file.as_mut().unwrap();
            (other.running_in_windows, other.pid) = (true, Some(8));
        },
        &["wsl", "lock-of-windows"],
    ),
    (
        "an editor on Windows, seen from WSL",
        |f| in_wsl(f, sound().locks.remove(0).probe.unwrap()),
        &["wsl", "lock-of-windows"],
    ),
    (
        "an editor on Windows, which WSL cannot reach on 127.0.0.1",
        |f| in_wsl(f, Probe::Refused),
        &["wsl", "lock-of-windows", "port-of-windows-refuses"],
    ),
    (
        "an unknown process in WSL",
        |f| {
            in_wsl(f, Probe::Refused);
            file(f).running_in_windows = false;
        },
        &["wsl", "port-refuses-process-unknown"],
    ),
];

/// On Windows a user reads paths and commands that they can copy.
#[test]
fn findings_on_windows_have_its_paths_and_commands() {
    let mut facts = sound();
    on_windows(&mut facts, r"C:\my v", r"\\?\C:\my v", r"C:\w");
    facts.locks[0].probe = Some(Probe::Refused);
    let old = Lock {
        pid_alive: Some(false),
        path: r"C:\Users\me\.claude\ide\2.lock".into(),
        ..facts.locks[0].clone()
    };
    facts.locks.push(Lock {
        port: Some(2),
        file: Ok(ide_mcp::ide::discovery::LockFile::parse("{\"pid\":7}").unwrap()),
        ..old
    });
    for (shell, commands) in [
        (
            Shell::PowerShell,
            [
                r"Move-Item -Force -LiteralPath C:\Users\me\.claude\ide\1.lock -Destination C:\Users\me\.claude\ide\1.lock.old",
                r"Remove-Item -Force -LiteralPath C:\Users\me\.claude\ide\2.lock",
            ],
        ),
        (
            Shell::Cmd,
            [
                r"move /y C:\Users\me\.claude\ide\1.lock C:\Users\me\.claude\ide\1.lock.old",
                r"del /f C:\Users\me\.claude\ide\2.lock",
            ],
        ),
    ] {
        facts.shell = shell;
        let findings = judge(&facts);
        let of = |kind: &kinds::Kind| {
            findings.iter().find(|finding| finding.kind == kind).unwrap_or_else(|| panic!("{findings:?}"))
        };
        assert_eq!(of(&kinds::PORT_REFUSES_PROCESS_UNKNOWN).command, commands[0]);
        assert_eq!(of(&kinds::LOCK_WITHOUT_EDITOR).command, commands[1]);
        let nowhere = of(&kinds::NO_EDITOR_FOR_DIRECTORY);
        assert!(
            nowhere
                .message
                .starts_with(r#"no usable editor has "C:\my v" open: "E" on port 1 has only ["C:\w"] open"#),
            "{}",
            nowhere.message
        );
        let word = if shell == Shell::Cmd { r#"Open "C:\my v","# } else { r"Open 'C:\my v'," };
        assert!(nowhere.advice.starts_with(word), "{}", nowhere.advice);
        for finding in findings.iter().filter(|finding| finding.kind.status != Status::Ok) {
            let text = format!("{} {} {}", finding.message, finding.advice, finding.command);
            assert!(!text.contains(r"\\"), "{text}");
        }
    }
}

/// Windows has no modes, so no finding mentions one.
#[test]
fn findings_on_windows_mention_no_mode() {
    let mut facts = sound();
    on_windows(&mut facts, r"C:\w", r"C:\w", r"C:\w");
    super::weaken(&mut facts, 0, Weakness::WritableByAll { mode: 0o706 });
    facts.directories.as_mut().unwrap()[0].state = State::There { mode: Some(0o706), other_owner: None };
    facts.locks[0].mode = Some(0o704);
    let dir = r#""C:\Users\me\.claude\ide""#;
    let user = "\"${env:USERNAME}:";
    let rows = [
        (
            &kinds::DIRECTORY_WRITABLE,
            format!("other users can write to {dir}"),
            format!(r"icacls C:\Users\me\.claude\ide /inheritance:r /grant:r {user}(OI)(CI)F"),
        ),
        (
            &kinds::LOCK_READABLE,
            r#"other users can read "C:\Users\me\.claude\ide\1.lock""#.into(),
            format!(r"icacls C:\Users\me\.claude\ide\1.lock /inheritance:r /grant:r {user}F"),
        ),
        (
            &kinds::PARENT_WRITABLE,
            r#"above the lock files, other users can write to "/h""#.into(),
            String::new(),
        ),
    ];
    let findings = judge(&facts);
    for (kind, message, command) in rows {
        let found =
            findings.iter().find(|found| found.kind == kind).unwrap_or_else(|| panic!("{findings:?}"));
        assert_eq!(
            (found.message.as_str(), found.command.trim_end_matches('"')),
            (message.as_str(), command.as_str()),
            "{}",
            kind.id
        );
    }
}

#[test]
fn unknown_owners_share_a_finding() {
    let mut facts = sound();
    facts.locks = (1..=1000)
        .map(|port| Lock { unknown_owner: Some(Unknown::Unsupported), ..lock(port, "/w") })
        .collect();
    let message: Vec<String> = judge(&facts)
        .into_iter()
        .filter(|found| *found.kind == kinds::OWNER_UNKNOWN)
        .map(|found| found.message)
        .collect();
    let [message] = message.as_slice() else { panic!("{message:?}") };
    assert!(
        message.contains("\"E\" on port 5 and 995 more: this system does not report the owner"),
        "{message}"
    );
}
