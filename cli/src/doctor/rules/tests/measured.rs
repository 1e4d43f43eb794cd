//! The rows of *The lock file* in docs/protocol.md, each with the behavior of the real client.

use super::{bad, dead, file, here, lock, set, sound, weaken};
use crate::doctor::facts::{Facts, Lock, State, Trouble, Weakness};
use crate::doctor::rules::{Verdict, judge, verdict};
use ide_mcp::ide::discovery::LockFile;
use std::time::Duration;

/// A name, a change, the expected findings and verdict, and what the meaning says about an older version.
pub(super) type Measured =
    (&'static str, fn(&mut Facts), &'static [&'static str], fn(&Verdict) -> bool, Option<&'static str>);

const ATTACHES: fn(&Verdict) -> bool = |verdict| matches!(verdict, Verdict::Attaches { .. });
const FINDS_NOTHING: fn(&Verdict) -> bool = |verdict| *verdict == Verdict::FindsNothing;
const UNKNOWN: fn(&Verdict) -> bool = |verdict| *verdict == Verdict::Unknown;

/// Sets one editor, whose lock file has `text` instead of `member`.
fn with_member(facts: &mut Facts, member: &str, text: &str) {
    let sound = r#"{"pid":7,"workspaceFolders":["/w"],"ideName":"E","transport":"ws","authToken":"QZQZ"}"#;
    assert!(sound.contains(member), "{member}");
    facts.locks[0].file = Ok(LockFile::parse(&sound.replace(member, text)).unwrap());
}

/// The rows of *The lock file* in docs/protocol.md whose outcome a lock file or a variable decides. If versions of the
/// client differ, the newest counts.
pub(super) const MEASURED: &[Measured] = &[
    (
        "a lock file without transport",
        |f| with_member(f, r#""transport":"ws","#, ""),
        &["lock-without-transport", "no-usable-editor"],
        FINDS_NOTHING,
        None,
    ),
    (
        "the transport sse",
        |f| with_member(f, r#""ws""#, r#""sse""#),
        &["lock-legacy", "no-usable-editor"],
        FINDS_NOTHING,
        None,
    ),
    (
        "the transport ws-ide",
        |f| with_member(f, r#""ws""#, r#""ws-ide""#),
        &["lock-legacy", "no-usable-editor"],
        FINDS_NOTHING,
        None,
    ),
    ("a pid that is a string", |f| with_member(f, r#""pid":7"#, r#""pid":"7""#), &[], ATTACHES, None),
    ("a pid with a fraction of 0", |f| with_member(f, r#""pid":7"#, r#""pid":7.0"#), &[], ATTACHES, None),
    (
        "a pid that names no process",
        |f| with_member(f, r#""pid":7"#, r#""pid":-1"#),
        &["lock-without-process"],
        ATTACHES,
        None,
    ),
    (
        "a string instead of the list of folders",
        |f| with_member(f, r#"["/w"]"#, r#""/w""#),
        &[],
        ATTACHES,
        None,
    ),
    ("a token that is a number", |f| with_member(f, r#""QZQZ""#, "123456789"), &[], ATTACHES, None),
    (
        "a member twice",
        |f| with_member(f, r#"{"pid":7"#, r#"{"authToken":"no","pid":7"#),
        &[],
        ATTACHES,
        None,
    ),
    ("a folder that is null", |f| with_member(f, r#"["/w"]"#, r#"[null,"/w"]"#), &[], ATTACHES, None),
    (
        "a folder in NFD",
        |f| {
            f.here = here("/w/Caf\u{e9}", "/w/Caf\u{e9}");
            with_member(f, r#"["/w"]"#, "[\"/w/Cafe\u{301}\"]");
        },
        &[],
        ATTACHES,
        None,
    ),
    ("the relative folder of the client", |f| with_member(f, r#"["/w"]"#, r#"["."]"#), &[], ATTACHES, None),
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
            f.directories.as_mut().unwrap()[0].state =
                State::There { mode: Some(0o700), other_owner: Some(5) };
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
        Some("1.0.51 attaches with --ide"),
    ),
    (
        "another address of this machine",
        |f| set(f, "CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2"),
        &["host-override-loopback"],
        ATTACHES,
        None,
    ),
    (
        "another folder, with the folder check off",
        |f| {
            set(f, "CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
            file(f).workspace_folders = vec!["/v".into()];
        },
        &["folder-check-skipped"],
        ATTACHES,
        Some("1.0.51 does not attach"),
    ),
    (
        "two editors with the same folder",
        |f| {
            f.locks.push(lock(2, "/w"));
            file(f).pid = Some(8);
        },
        &["several-editors"],
        |verdict| *verdict == Verdict::MustChoose(2),
        None,
    ),
    (
        "two editors with the same folder, and a variable with the port of one",
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
        "a variable with a port for opencode",
        |f| set(f, "OPENCODE_EDITOR_SSE_PORT", "1"),
        &["opencode-without-token"],
        ATTACHES,
        None,
    ),
    (
        "a variable with a port for Kilo Code",
        |f| set(f, "KILO_EDITOR_SSE_PORT", "1"),
        &["opencode-without-token"],
        ATTACHES,
        None,
    ),
    (
        "a newer leftover with the same folder",
        |f| {
            f.locks[0].modified = Some(Duration::from_secs(1));
            let newer = Lock { modified: Some(Duration::from_secs(2)), ..dead(2, "/w") };
            f.locks.push(newer);
            file(f).pid = Some(8);
        },
        &["leftover-hides-editor", "lock-left-over"],
        ATTACHES,
        None,
    ),
];

#[test]
fn measured_rows_give_the_verdict_of_the_newest_client() {
    for (name, change, expected, is_right, older) in MEASURED {
        let mut facts = sound();
        change(&mut facts);
        let findings = judge(&facts);
        assert_eq!(bad(&facts), expected.iter().copied().collect(), "{name}");
        let verdict = verdict(&facts, &findings);
        assert!(is_right(&verdict), "{name}: {verdict:?}");
        let named: Vec<&str> = findings
            .iter()
            .map(|found| found.kind.meaning)
            .filter(|meaning| meaning.contains("1.0.51"))
            .collect();
        assert_eq!(named.len(), usize::from(older.is_some()), "{name}: {named:?}");
        assert!(older.is_none_or(|older| named[0].contains(older)), "{name}: {named:?}");
    }
}
