//! The rules on constructed facts, one row per case. Other tests use real files and sockets.

mod answers;
mod choice;
mod directories;
mod locks;
mod measured;
mod variables;
mod windows;

use super::{Verdict, judge, verdict};
use crate::doctor::facts::{
    Answer, Directory, Facts, Here, Lock, Probe, State, System, Trouble, Variables, Weak, Weakness,
};
use crate::doctor::kinds::{ALL, Status};
use crate::support::Shell;
use ide_mcp::ide::discovery::locate::Source;
use ide_mcp::ide::discovery::{AuthToken, LockFile};
use measured::MEASURED;
use std::collections::BTreeSet;

const WSL: System<'static> = System::Wsl { distribution: Some("Ubuntu") };
const TOKEN: &str = "QZQZ-the-token";

fn here(logical: &str, canonical: &str) -> Here {
    Here::new(logical, canonical)
}

fn lock(port: u16, folder: &str) -> Lock {
    let mut file = LockFile::new(7, vec![folder.into()], "E", AuthToken::from_text(TOKEN).unwrap());
    file.running_in_windows = false;
    Lock {
        path: format!("/h/.claude/ide/{port}.lock"),
        directory: 0,
        used: true,
        port: Some(port),
        file: Ok(file),
        mode: Some(0o600),
        pid_alive: Some(true),
        modified: None,
        probe: Some(Probe::Attempted {
            with_token: Answer::Attached,
            without_token: Some(Answer::Refused("401".into())),
            with_origin: Some(Answer::Declined("403".into())),
        }),
        unknown_owner: None,
        listener: Some(7),
    }
}

fn directory(path: &str, source: Source, used: bool) -> Directory {
    let state = State::There { mode: Some(0o700), other_owner: None };
    Directory {
        path: path.into(),
        source,
        used,
        state,
        weak: Vec::new(),
        is_closed_above: false,
        unwritable: None,
    }
}

/// Returns facts without a fault: one editor that has `/w` open.
fn sound() -> Facts {
    Facts {
        variables: Variables::default(),
        here: here("/w", "/w"),
        system: System::Linux,
        shell: Shell::Posix,
        has_agent: true,
        directories: Ok(vec![
            directory("/h/.claude/ide", Source::Home, true),
            directory("/h/.config/claude/ide", Source::Xdg, false),
        ]),
        locks: vec![lock(1, "/w")],
        removed: Vec::new(),
        now: None,
    }
}

fn weaken(facts: &mut Facts, directory: usize, weakness: Weakness) {
    facts.directories.as_mut().unwrap()[directory].weak.push(Weak { path: "/h".into(), weakness });
}

fn file(facts: &mut Facts) -> &mut LockFile {
    facts.locks[0].file.as_mut().unwrap()
}

fn answer(facts: &mut Facts, answer: Answer) {
    facts.locks[0].probe =
        Some(Probe::Attempted { with_token: answer, without_token: None, with_origin: None });
}

fn set(facts: &mut Facts, name: &'static str, value: &str) {
    facts.variables.0.insert(name, value.into());
}

/// Returns the ids of all findings that report a fault.
fn bad(facts: &Facts) -> BTreeSet<&'static str> {
    judge(facts).iter().filter(|found| found.kind.status != Status::Ok).map(|found| found.kind.id).collect()
}

/// A name, the change to the sound facts, and the expected findings.
type Case = (&'static str, fn(&mut Facts), &'static [&'static str]);

#[test]
fn each_fact_gives_exactly_its_findings() {
    let mut seen = BTreeSet::new();
    let cases =
        [variables::CASES, directories::CASES, choice::CASES, locks::CASES, answers::CASES, windows::CASES];
    let measured = MEASURED.iter().map(|(name, change, expected, ..)| (*name, *change, *expected));
    for (name, change, expected) in cases.into_iter().flatten().copied().chain(measured) {
        let mut facts = sound();
        change(&mut facts);
        assert_eq!(bad(&facts), expected.iter().copied().collect(), "{name}");
        let findings = judge(&facts);
        seen.extend(findings.iter().map(|found| found.kind.id));
        assert!(findings.is_sorted_by_key(|found| found.kind.status), "{name}: the worst come first");
        let kinds = findings.chunk_by(|one, next| one.kind == next.kind).map(|alike| alike[0].kind.id);
        assert_eq!(
            kinds.clone().collect::<BTreeSet<_>>().len(),
            kinds.count(),
            "{name}: each kind is in one place"
        );
        for found in &findings {
            assert!(!found.advice.contains('{') && !found.message.is_empty(), "{name}: {found:?}");
            assert!(!format!("{found:?}").contains("QZ"), "{name}: {found:?} has the token");
            assert!(!format!("{found:?}").contains("u:p"), "{name}: {found:?} has the password of the proxy");
        }
    }
    let unseen: Vec<&str> = ALL.iter().map(|kind| kind.id).filter(|id| !seen.contains(id)).collect();
    assert_eq!(unseen, [""; 0], "findings without a row");
}

/// A finding about a file that the doctor does not read says what the real client does, what this library
/// does, and what the risk is.
#[test]
fn unread_lock_explains_both_behaviors() {
    for (id, parts) in [
        ("lock-is-a-link", ["Claude Code follows", "do not", "an editor of their own"]),
        ("lock-not-ours", ["Claude Code attaches", "do not read it", "an editor of their own"]),
        (
            "directory-not-ours",
            ["Claude Code attaches", "do not read the directory", "an editor of their own"],
        ),
    ] {
        let kind = ALL.iter().find(|kind| kind.id == id).unwrap();
        assert!(parts.iter().all(|part| kind.meaning.contains(part)), "{}", kind.meaning);
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
            "a symbolic link beside the lock file",
            |f| f.locks.push(Lock { file: Err(Trouble::Link), probe: None, ..lock(2, "/w") }),
            Verdict::Unknown,
        ),
        (
            "the same, with the port of the lock file in a variable",
            |f| {
                f.locks.push(Lock { file: Err(Trouble::Link), probe: None, ..lock(2, "/w") });
                set(f, "CLAUDE_CODE_SSE_PORT", "1");
            },
            attaches(editor()),
        ),
        ("a proxy", |f| set(f, "all_proxy", "p"), fails(editor())),
        ("a wrong token", |f| answer(f, Answer::Refused("401".into())), fails(editor())),
        (
            "a port that was not tried",
            |f| f.locks[0].probe = None,
            Verdict::NotProbed { port: 1, name: "E".into() },
        ),
        ("two editors", |f| f.locks.push(lock(2, "/")), Verdict::MustChoose(2)),
        ("an editor elsewhere", |f| f.here = here("/v", "/v"), Verdict::FindsNothing),
        (
            "an editor elsewhere, with its port in a variable",
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

/// Returns the probe of a port that gave this answer to a client without a token.
fn open_to(without_token: Answer) -> Probe {
    Probe::Open { without_token }
}

#[test]
fn editors_that_ended_are_listed_before_those_elsewhere() {
    let cases: [(&str, fn(&mut Facts), &str); 14] = [
        ("none", |f| file(f).workspace_folders.clear(), ""),
        ("one elsewhere", |f| f.locks = vec![lock(1, "/v")], r#": "E" on port 1 has only ["/v"] open"#),
        (
            "one inside",
            |f| f.locks = vec![lock(1, "/w/p")],
            r#": "E" on port 1 has only ["/w/p"] open (/ide in the agent lists it)"#,
        ),
        (
            "one in a folder whose name begins the same",
            |f| f.locks = vec![lock(1, "/w-p")],
            r#": "E" on port 1 has only ["/w-p"] open"#,
        ),
        (
            "one that was killed",
            |f| f.locks = vec![dead(1, "/w")],
            r#": "E" on port 1 had it open until its process ended"#,
        ),
        (
            "one that was killed, with a directory above",
            |f| f.locks = vec![dead(1, "/")],
            r#": "E" on port 1 had it open until its process ended"#,
        ),
        (
            "one that was killed, whose port was not tried",
            |f| f.locks = vec![Lock { probe: None, ..dead(1, "/w") }],
            r#": "E" on port 1 had it open until its process ended"#,
        ),
        ("one that was killed elsewhere", |f| f.locks = vec![dead(1, "/v")], ""),
        (
            "one that was killed elsewhere, with its port in a variable",
            |f| {
                f.locks = vec![dead(1, "/v")];
                set(f, "CLAUDE_CODE_SSE_PORT", "1");
            },
            "",
        ),
        (
            "one that was killed and had another transport",
            |f| {
                f.locks = vec![dead(1, "/w")];
                f.locks[0].file = Ok(LockFile::parse("/w").unwrap());
            },
            "",
        ),
        (
            "one in a container, whose port answers without the token",
            |f| f.locks = vec![Lock { probe: Some(open_to(Answer::Attached)), ..dead(1, "/w") }],
            "",
        ),
        (
            "one in a container, whose port answers with the token",
            |f| f.locks = vec![Lock { pid_alive: Some(false), ..lock(1, "/w") }],
            "",
        ),
        (
            "one elsewhere, and one that was killed",
            |f| f.locks = vec![lock(1, "/v"), dead(2, "/w")],
            r#": "E" on port 2 had it open until its process ended; "E" on port 1 has only ["/v"] open"#,
        ),
        (
            "more than are listed",
            |f| {
                f.locks = (1..=4).map(|port| lock(port, "/v")).collect();
                f.locks.extend((5..=7).map(|port| dead(port, "/w")));
            },
            concat!(
                r#": "E" on port 5 had it open until its process ended; "#,
                r#""E" on port 6 had it open until its process ended; "#,
                r#""E" on port 7 had it open until its process ended; "#,
                r#""E" on port 1 has only ["/v"] open; "E" on port 2 has only ["/v"] open; 2 more"#,
            ),
        ),
    ];
    for (name, change, expected) in cases {
        let mut facts = sound();
        change(&mut facts);
        let message: Vec<String> = judge(&facts)
            .into_iter()
            .filter(|found| ["no-editor-for-directory", "no-usable-editor"].contains(&found.kind.id))
            .map(|found| found.message)
            .collect();
        assert_eq!(message, [format!(r#"no usable editor has "/w" open{expected}"#)], "{name}");
    }
}
