//! The cases of an editor's port and answers, of its folders, and of removed lock files.

use super::{Case, answer, file, here, set};
use crate::doctor::facts::{Answer, Probe, Removed};

pub(super) const CASES: &[Case] = &[
    ("a closed port", |f| f.locks[0].probe = Some(Probe::Refused), &["port-refuses"]),
    ("an unreachable port", |f| f.locks[0].probe = Some(Probe::Unreachable("no".into())), &["port-silent"]),
    ("a silent port", |f| answer(f, Answer::Silent), &["port-silent"]),
    ("a web server", |f| answer(f, Answer::Alien("200 OK".into())), &["not-an-editor"]),
    ("a wrong token", |f| answer(f, Answer::Refused("401".into())), &["token-refused"]),
    ("no room for another agent", |f| answer(f, Answer::Full), &["editor-full"]),
    ("another refusal", |f| answer(f, Answer::Declined("400".into())), &["editor-declines"]),
    ("no sub-protocol", |f| answer(f, Answer::NoSubprotocol), &["subprotocol-missing"]),
    ("no session", |f| answer(f, Answer::NoSession("no".into())), &["session-fails"]),
    ("a port that was not tried", |f| f.locks[0].probe = None, &["not-probed"]),
    (
        "an editor that lets everybody in",
        |f| {
            f.locks[0].probe = Some(Probe::Attempted {
                with_token: Answer::Attached,
                without_token: Some(Answer::Attached),
                with_origin: Some(Answer::Attached),
            });
        },
        &["accepts-without-token", "accepts-with-origin"],
    ),
    (
        "attempts as a stranger that tell nothing",
        |f| {
            f.locks[0].probe = Some(Probe::Attempted {
                with_token: Answer::Attached,
                without_token: Some(Answer::Full),
                with_origin: Some(Answer::Silent),
            });
        },
        &[],
    ),
    ("another directory", |f| f.here = here("/w-evil", "/w-evil"), &["no-editor-for-directory"]),
    ("a directory below", |f| f.here = here("/w/a/b", "/w/a/b"), &[]),
    (
        "a folder that matches only with links",
        |f| f.here = here("/w/a", "/x/a"),
        &["folder-matches-only-logically"],
    ),
    (
        "a folder that matches only without links",
        |f| f.here = here("/x/a", "/w/a"),
        &["folder-matches-only-physically"],
    ),
    (
        "the same, with the port in a variable",
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
        "no folder, with the port in a variable",
        |f| {
            file(f).workspace_folders.clear();
            set(f, "CLAUDE_CODE_SSE_PORT", "1");
        },
        &["opencode-without-token"],
    ),
    ("a leftover that was removed", |f| f.removed.push(removal(None)), &["leftover-removed"]),
    ("a leftover that stays", |f| f.removed.push(removal(Some("no".into()))), &["leftover-stays"]),
];

/// Returns what became of a lock file that the doctor was asked to remove.
fn removal(stays: Option<String>) -> Removed {
    Removed { path: "/p".into(), name: "E".into(), stays }
}
