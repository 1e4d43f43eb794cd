//! The cases of several editors for the agent to choose among.

use super::{Case, WSL, dead, file, here, judge, lock, set, sound};
use crate::doctor::facts::{Lock, System, Trouble};
use crate::doctor::kinds::{self, Status};
use std::collections::BTreeSet;
use std::time::Duration;

pub(super) const CASES: &[Case] = &[
    (
        "a lock file where agents do not look",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(2, "/w") }),
        &["locks-where-nobody-looks"],
    ),
    (
        "a lock file of a dead editor where agents do not look",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, pid_alive: Some(false), ..lock(2, "/w") });
        },
        &[],
    ),
    (
        "an editor with a lock file in both directories",
        |f| f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") }),
        &["port-published-twice"],
    ),
    (
        "lock files with the same port and different tokens",
        |f| {
            f.locks.push(Lock { directory: 1, used: false, ..lock(1, "/w") });
            f.locks[1].file.as_mut().unwrap().auth_token = None;
        },
        &["port-published-twice-differently"],
    ),
    ("two windows of one process", |f| f.locks.push(lock(2, "/v")), &["process-published-twice"]),
    (
        "two editors that have the directory open",
        |f| {
            f.locks.push(lock(2, "/"));
            file(f).pid = Some(8);
        },
        &["several-editors"],
    ),
    (
        "a variable with the port of an editor elsewhere, and one here",
        |f| {
            f.locks.push(lock(2, "/v"));
            file(f).pid = Some(8);
            set(f, "CLAUDE_CODE_SSE_PORT", "2");
        },
        &["port-variable-elsewhere", "opencode-without-token"],
    ),
    (
        "a variable with the port of the only editor, which is elsewhere",
        |f| {
            file(f).workspace_folders = ["/v".into()].into();
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["port-variable-only-elsewhere", "opencode-without-token"],
    ),
    (
        "the same with the folder check off",
        |f| {
            file(f).workspace_folders = ["/v".into()].into();
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
        },
        &["folder-check-skipped", "opencode-without-token"],
    ),
];

/// opencode and Kilo Code take the longest folder, then the newest file, and do not look at the process.
#[test]
fn leftover_that_hides_the_editor_is_named() {
    let at = |seconds, lock| Lock { modified: Some(Duration::from_secs(seconds)), ..lock };
    let without_name = |mut lock: Lock| {
        lock.file.as_mut().unwrap().ide_name.clear();
        lock
    };
    // The living editor has /w open since second 10, the agent runs in /w/p.
    let cases: Vec<(&str, Vec<Lock>, Option<&str>, &[u16])> = vec![
        ("an older one of the same folder", vec![at(9, dead(2, "/w"))], None, &[]),
        ("a newer one of the same folder", vec![at(11, dead(2, "/w"))], None, &[2]),
        ("an older one of a folder below", vec![at(9, dead(2, "/w/p"))], None, &[2]),
        ("a newer one of a folder above", vec![at(11, dead(2, "/"))], None, &[]),
        ("a newer one of another folder", vec![at(11, dead(2, "/w/q"))], None, &[]),
        ("a newer one without a name", vec![at(11, without_name(dead(2, "/w")))], None, &[]),
        ("two", vec![at(11, dead(2, "/w")), at(12, dead(3, "/w"))], None, &[2, 3]),
        ("a living one that is newer", vec![at(11, dead(2, "/w")), at(12, lock(3, "/w"))], None, &[]),
        ("a living one that is older", vec![at(11, dead(2, "/w")), at(9, lock(3, "/w"))], None, &[2]),
        ("a variable that names the port", vec![at(11, dead(2, "/w"))], Some("1"), &[]),
    ];
    for (name, others, port, expected) in cases {
        let mut facts = sound();
        facts.here = here("/w/p", "/w/p");
        facts.locks[0].modified = Some(Duration::from_secs(10));
        facts.locks.extend(others);
        if let Some(port) = port {
            set(&mut facts, "CLAUDE_CODE_SSE_PORT", port);
        }
        let findings = judge(&facts);
        let hiding = findings.iter().filter(|found| found.kind == &kinds::LEFTOVER_HIDES_EDITOR);
        assert_eq!(hiding.filter_map(|found| found.port).collect::<Vec<_>>(), expected, "{name}");
    }
}

/// The environment names one of three editors. The finding lists exactly the editors that have this directory open by
/// the client's comparison, not those that the client would accept only because its folder check is off. If the named
/// editor does not have it open, `port-variable-elsewhere` is reported instead: the agent attaches to a window that the
/// person does not look at.
#[test]
fn editors_without_the_folder_are_not_listed() {
    // (the folder of an editor, true if the directory is open there)
    let folders = [("/w", true), ("/", true), ("/v", false), ("/w/x", false), ("/W", false), ("", false)];
    for ((first, is_in_first), (second, is_in_second)) in
        folders.iter().flat_map(|first| folders.map(|second| (*first, second)))
    {
        for system in [System::Linux, WSL] {
            for skips_check in [false, true] {
                for named in [None, Some("1"), Some("2"), Some("3")] {
                    let mut facts = sound();
                    facts.system = system;
                    facts.locks = vec![lock(1, first), lock(2, second), lock(3, "/elsewhere")];
                    for (process, lock) in (7..).zip(&mut facts.locks) {
                        let file = lock.file.as_mut().unwrap();
                        file.pid = Some(process);
                        file.workspace_folders.retain(|folder| !folder.is_empty());
                    }
                    if skips_check {
                        set(&mut facts, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
                    }
                    if let Some(port) = named {
                        set(&mut facts, "CLAUDE_CODE_SSE_PORT", port);
                    }
                    let found: Vec<_> = judge(&facts)
                        .into_iter()
                        .filter(|found| {
                            ["several-editors-one-named", "port-variable-elsewhere"].contains(&found.kind.id)
                        })
                        .map(|found| (found.kind.id, found.message))
                        .collect();
                    let with_folder: Vec<_> = [
                        (is_in_first, "1", r#""E" on port 1 (process 7)"#),
                        (is_in_second, "2", r#""E" on port 2 (process 8)"#),
                    ]
                    .into_iter()
                    .filter_map(|(is_in, port, editor)| is_in.then_some((port, editor)))
                    .collect();
                    let has_folder = with_folder.iter().any(|(port, _)| Some(*port) == named);
                    let expected = match (named, with_folder.as_slice()) {
                        (Some(_), [(_, first), (_, second)]) if has_folder => {
                            vec![(
                                "several-editors-one-named",
                                format!(r#"{first} and {second} have "/w" open"#),
                            )]
                        }
                        (Some(port), [_, ..]) if !has_folder => {
                            let open: Vec<_> = with_folder.iter().map(|(_, editor)| *editor).collect();
                            let open = open.join(" and ");
                            let message = format!(
                                r#"CLAUDE_CODE_SSE_PORT names "E" on port {port}, and "/w" is open in {open}"#
                            );
                            vec![("port-variable-elsewhere", message)]
                        }
                        _ => Vec::new(),
                    };
                    let row = (first, second, system, skips_check, named);
                    assert_eq!(found, expected, "folders, system, check is off, named: {row:?}");
                }
            }
        }
    }
}

#[test]
fn editors_with_the_same_name_are_told_apart() {
    let at = |seconds| Some(Duration::from_secs(seconds));
    let rows = [
        ("nothing is known", None, None, at(1000), r#""E" on port 1"#),
        ("a process", Some(7), None, at(1000), r#""E" on port 1 (process 7)"#),
        ("an age", None, at(940), at(1000), r#""E" on port 1 (lock file written 1 min ago)"#),
        ("both", Some(7), at(941), at(1000), r#""E" on port 1 (process 7, lock file written 59 s ago)"#),
        (
            "a time in the future",
            Some(7),
            at(1001),
            at(1000),
            r#""E" on port 1 (process 7, lock file written now)"#,
        ),
        ("--watch, without a time", Some(7), at(941), None, r#""E" on port 1 (process 7)"#),
    ];
    for (name, pid, modified, now, expected) in rows {
        let mut facts = sound();
        facts.now = now;
        facts.locks = vec![lock(1, "/w"), lock(2, "/w")];
        file(&mut facts).pid = pid;
        facts.locks[0].modified = modified;
        let several = judge(&facts).into_iter().find(|found| found.kind == &kinds::SEVERAL_EDITORS).unwrap();
        let expected = format!(r#"{expected} and "E" on port 2 (process 7) have "/w" open"#);
        assert_eq!(several.message, expected, "{name}");
    }
}

/// The advice to open the folder is wrong if the editor has it open, and only its lock file is useless.
#[test]
fn useless_lock_file_is_named_before_its_consequence() {
    let unread = |file| Lock { file: Err(file), probe: None, ..lock(1, "/w") };
    let unparsable = || Trouble::Unparsable("no".into());
    let unreadable = || Trouble::Unreadable { reason: "no".into(), other_owner: None };
    let (open, useless) = ("no-editor-for-directory", "no-usable-editor");
    // The lock files, and the problems in their order.
    let rows = [
        ("another folder", vec![lock(1, "/v")], vec![open]),
        ("unparsable", vec![unread(unparsable())], vec!["lock-unparsable", useless]),
        ("unreadable", vec![unread(unreadable())], vec!["lock-unreadable", useless]),
        (
            "unreadable, and another folder",
            vec![unread(unreadable()), lock(2, "/v")],
            vec!["lock-unreadable", useless],
        ),
        ("a pipe, which no editor creates", vec![unread(Trouble::NotAFile)], vec!["lock-not-a-file", open]),
        ("dead", vec![dead(1, "/w")], vec![useless]),
        ("dead, with a folder above", vec![dead(1, "/")], vec![useless]),
        ("dead, with another folder", vec![dead(1, "/v")], vec![open]),
        ("dead, and a living one with another folder", vec![dead(1, "/w"), lock(2, "/v")], vec![useless]),
    ];
    for (name, locks, expected) in rows {
        let mut facts = sound();
        facts.locks = locks;
        let findings = judge(&facts);
        let problems = findings.iter().filter(|found| found.kind.status == Status::Problem);
        let problems: BTreeSet<_> = problems.map(|found| found.kind.id).collect();
        assert_eq!(problems, expected.iter().copied().collect(), "{name}");
        let last = findings.iter().rfind(|found| found.kind.status == Status::Problem);
        assert_eq!(last.map(|found| found.kind.id) == Some(useless), expected.contains(&useless), "{name}");
    }
}
