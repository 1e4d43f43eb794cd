//! Tests of [`choose`]: which files are accepted, and why the others are refused.

use super::*;
use crate::ide::discovery::{AuthToken, LockFileError};
use alloc::format;

/// Returns a candidate with this port and these folders, for a test to change.
fn listed(port: u16, folders: &[&str]) -> Candidate {
    let token = AuthToken::from_text("QZQZ").unwrap();
    let folders = folders.iter().map(ToString::to_string).collect();
    let file = LockFile::new(u32::from(port), folders, "editor", token);
    Candidate {
        port,
        // The paths of these tests are POSIX, even if the tests run on Windows.
        file: Ok(LockFile { running_in_windows: false, ..file }),
        pid_alive: Some(true),
        modified: Some(Duration::from_secs(100)),
    }
}

fn changed(mut listed: Candidate, change: impl FnOnce(&mut Candidate)) -> Candidate {
    change(&mut listed);
    listed
}

fn at(seconds: u64) -> impl FnOnce(&mut Candidate) {
    move |listed| listed.modified = Some(Duration::from_secs(seconds))
}

fn with_transport(transport: Transport) -> impl FnOnce(&mut Candidate) {
    move |listed| listed.file.as_mut().unwrap().transport = transport
}

struct Case {
    name: &'static str,
    files: Vec<Candidate>,
    port: Option<u16>,
    /// The index and the reason of each accepted file, newest first.
    accepted: Vec<(usize, MatchReason)>,
    refused: Vec<(usize, Refusal)>,
}

fn folder(path: &str) -> MatchReason {
    MatchReason::Folder(path.into())
}

fn elsewhere(path: &str) -> Refusal {
    Refusal::Elsewhere { folders: Vec::from([path.into()]) }
}

#[test]
fn rules_are_those_of_the_real_client() {
    let here = || listed(1, &["/w/p"]);
    let cases = [
        Case { name: "no files", files: Vec::new(), port: None, accepted: Vec::new(), refused: Vec::new() },
        Case {
            name: "the working directory itself",
            files: Vec::from([here()]),
            port: None,
            accepted: Vec::from([(0, folder("/w/p"))]),
            refused: Vec::new(),
        },
        Case {
            name: "its parent, as the second folder",
            files: Vec::from([listed(1, &["/decoy", "/w"])]),
            port: None,
            accepted: Vec::from([(0, folder("/w"))]),
            refused: Vec::new(),
        },
        Case {
            name: "a child, and a sibling with the same beginning",
            files: Vec::from([listed(1, &["/w/p/sub"]), listed(2, &["/w/p-evil"])]),
            port: None,
            accepted: Vec::new(),
            refused: Vec::from([(0, elsewhere("/w/p/sub")), (1, elsewhere("/w/p-evil"))]),
        },
        Case {
            name: "the canonical form matches",
            files: Vec::from([listed(1, &["/real/p"])]),
            port: None,
            accepted: Vec::from([(0, folder("/real/p"))]),
            refused: Vec::new(),
        },
        Case {
            name: "no folders",
            files: Vec::from([listed(1, &[])]),
            port: None,
            accepted: Vec::new(),
            refused: Vec::from([(0, Refusal::NoFolders { port: 1 })]),
        },
        Case {
            name: "no folders, but the port in the environment",
            files: Vec::from([listed(1, &[])]),
            port: Some(1),
            accepted: Vec::from([(0, MatchReason::Port)]),
            refused: Vec::new(),
        },
        Case {
            name: "the port in the environment wins over the folders",
            files: Vec::from([here(), listed(2, &["/elsewhere"])]),
            port: Some(2),
            accepted: Vec::from([(1, MatchReason::Port)]),
            refused: Vec::from([(0, Refusal::OtherPort { port: 2 })]),
        },
        Case {
            name: "a stale port falls back to the folders",
            files: Vec::from([here()]),
            port: Some(9),
            accepted: Vec::from([(0, folder("/w/p"))]),
            refused: Vec::new(),
        },
        Case {
            name: "the port of a dead process falls back to the folders",
            files: Vec::from([here(), changed(listed(2, &["/w/p"]), |file| file.pid_alive = Some(false))]),
            port: Some(2),
            accepted: Vec::from([(0, folder("/w/p"))]),
            refused: Vec::from([(1, Refusal::Dead { pid: Some(2) })]),
        },
        Case {
            name: "a dead process, and an unknown one",
            files: Vec::from([
                changed(here(), |file| file.pid_alive = Some(false)),
                changed(listed(2, &["/w/p"]), |file| file.pid_alive = None),
            ]),
            port: None,
            accepted: Vec::from([(1, folder("/w/p"))]),
            refused: Vec::from([(0, Refusal::Dead { pid: Some(1) })]),
        },
        Case {
            name: "other transports, even with the port in the environment",
            files: Vec::from([
                changed(here(), with_transport(Transport::Sse)),
                changed(listed(2, &["/w/p"]), with_transport(Transport::Other("x".into()))),
                changed(listed(3, &["/w/p"]), with_transport(Transport::Missing)),
            ]),
            port: Some(1),
            accepted: Vec::new(),
            refused: Vec::from([
                (0, Refusal::Transport { transport: "sse".into() }),
                (1, Refusal::Transport { transport: "x".into() }),
                (2, Refusal::NoTransport),
            ]),
        },
        Case {
            name: "an unreadable file",
            files: Vec::from([changed(here(), |file| file.file = Err(LockFileError::Empty))]),
            port: Some(1),
            accepted: Vec::new(),
            refused: Vec::from([(0, Refusal::Unreadable { reason: "the lock file is empty".into() })]),
        },
        Case {
            name: "several files, newest first, unknown age last",
            files: Vec::from([
                changed(listed(1, &["/w/p"]), |file| file.modified = None),
                changed(listed(2, &["/w/p"]), at(1)),
                changed(listed(3, &["/w/p"]), at(3)),
                changed(listed(4, &["/x"]), at(2)),
                changed(listed(5, &["/x"]), at(4)),
            ]),
            port: None,
            accepted: Vec::from([(2, folder("/w/p")), (1, folder("/w/p")), (0, folder("/w/p"))]),
            refused: Vec::from([(4, elsewhere("/x")), (3, elsewhere("/x"))]),
        },
        Case {
            name: "two files for one port",
            files: Vec::from([changed(here(), at(1)), changed(here(), at(2))]),
            port: None,
            accepted: Vec::from([(1, folder("/w/p"))]),
            refused: Vec::from([(0, Refusal::Superseded)]),
        },
        Case {
            name: "two files for the port in the environment, the newer one broken",
            files: Vec::from([
                changed(here(), at(1)),
                changed(here(), |file| {
                    file.modified = Some(Duration::from_secs(2));
                    file.file = Err(LockFileError::Empty);
                }),
                changed(here(), at(0)),
            ]),
            port: Some(1),
            accepted: Vec::from([(0, MatchReason::Port)]),
            refused: Vec::from([
                (1, Refusal::Unreadable { reason: "the lock file is empty".into() }),
                (2, Refusal::Superseded),
            ]),
        },
    ];
    for Case { name, files, port, accepted, refused } in cases {
        let (canonical, system) = (Some("/real/p/sub"), System::Linux);
        let place = AgentContext { cwd: "/w/p", canonical, port, system, any_folder: false };
        let matching = choose(&files, &place);
        let only = (accepted.len() == 1).then(|| accepted[0].0);
        assert_eq!(matching.unique().map(|only| only.index), only, "{name}");
        for (index, port) in (matching.accepted.iter().map(|file| (file.index, file.port)))
            .chain(matching.refused.iter().map(|file| (file.index, file.port)))
        {
            assert_eq!(port, files[index].port, "{name}");
        }
        let ours = matching.accepted.into_iter().map(|file| (file.index, file.reason));
        assert_eq!(ours.collect::<Vec<_>>(), accepted, "{name}");
        let theirs = matching.refused.into_iter().map(|file| (file.index, file.reason));
        assert_eq!(theirs.collect::<Vec<_>>(), refused, "{name}");
    }
}

/// Which spelling is chosen. The tests in `paths/spelling.rs` check which folders contain which paths.
#[test]
fn folder_in_another_spelling_is_accepted() {
    const WSL: System<'_> = System::Wsl { distribution: Some("Ubuntu") };
    let spelled = |folder: &str| Some(MatchReason::Spelling(folder.into()));
    let cases: &[(&str, &[&str], bool, &str, System<'_>, Option<MatchReason>)] = &[
        ("the same string", &["/mnt/d/p"], false, "/mnt/d/p", WSL, Some(folder("/mnt/d/p"))),
        ("a drive, in a file from WSL", &["D:\\p"], false, "/mnt/d/p/src", WSL, spelled("D:\\p")),
        ("a drive, in a file from Windows", &["D:\\p"], true, "/mnt/d/p/src", WSL, Some(folder("D:\\p"))),
        (
            "the exact spelling comes first",
            &["D:\\P", "/mnt/d"],
            false,
            "/mnt/d/p",
            WSL,
            Some(folder("/mnt/d")),
        ),
        ("another drive", &["E:\\p"], true, "/mnt/d/p", WSL, None),
        ("a drive on Linux", &["D:\\p"], true, "/mnt/d/p", System::Linux, None),
        ("another case on macOS", &["/users/u"], false, "/Users/u/p", System::MacOs, spelled("/users/u")),
        ("another case on Linux", &["/users/u"], false, "/Users/u/p", System::Linux, None),
        ("drives in either case", &["c:\\w"], false, "C:\\w\\p", System::Windows, Some(folder("c:\\w"))),
        ("another case on Windows", &["C:\\W"], false, "C:\\w\\p", System::Windows, spelled("C:\\W")),
    ];
    for (name, folders, windows, cwd, system, expected) in cases {
        let file = changed(listed(1, folders), |listed| {
            listed.file.as_mut().unwrap().running_in_windows = *windows;
        });
        for (cwd, canonical) in [(*cwd, None), ("/elsewhere", Some(*cwd))] {
            let place = AgentContext { cwd, canonical, system: *system, ..AgentContext::default() };
            let matching = choose(core::slice::from_ref(&file), &place);
            assert_eq!(matching.unique().map(|only| only.reason.clone()), *expected, "{name}");
        }
    }
}

#[test]
fn relative_folder_resolves_against_cwd() {
    let cases: &[(&str, bool)] = &[
        (".", true),
        ("..", true),
        ("./", true),
        ("../p", true),
        ("../q", false),
        ("src", false),
        ("", false),
    ];
    for (given, fits) in cases {
        let place = AgentContext {
            cwd: "/w/p",
            canonical: Some("/real/p"),
            system: System::Linux,
            ..AgentContext::default()
        };
        let matching = choose(&[listed(1, &[given])], &place);
        assert_eq!(
            matching.unique().map(|only| &only.reason),
            fits.then(|| folder(given)).as_ref(),
            "{given:?}"
        );
    }
}

#[test]
fn skipped_folder_check_accepts_live_editors() {
    let dead = || changed(listed(2, &["/w/p"]), |file| file.pid_alive = Some(false));
    let cases = [
        ("another folder", Vec::from([listed(1, &["/x"])]), None, Vec::from([(1, MatchReason::Unchecked)])),
        ("no folder", Vec::from([listed(1, &[])]), None, Vec::from([(1, MatchReason::Unchecked)])),
        ("the folder", Vec::from([listed(1, &["/w/p"])]), None, Vec::from([(1, folder("/w/p"))])),
        ("a dead process", Vec::from([dead()]), None, Vec::new()),
        (
            "no transport",
            Vec::from([changed(listed(1, &["/x"]), with_transport(Transport::Missing))]),
            None,
            Vec::new(),
        ),
        (
            "the folder, and another one",
            Vec::from([listed(1, &["/w/p"]), listed(3, &["/x"])]),
            None,
            Vec::from([(1, folder("/w/p"))]),
        ),
        (
            "two other folders, between which a person must choose",
            Vec::from([listed(1, &["/y"]), listed(3, &["/x"])]),
            None,
            Vec::from([(1, MatchReason::Unchecked), (3, MatchReason::Unchecked)]),
        ),
        (
            "two editors, and the port of one",
            Vec::from([listed(1, &["/w/p"]), listed(3, &["/x"])]),
            Some(3),
            Vec::from([(3, MatchReason::Port)]),
        ),
    ];
    for (name, files, port, expected) in cases {
        let system = System::Linux;
        let place = AgentContext { cwd: "/w/p", canonical: None, port, system, any_folder: true };
        let accepted = choose(&files, &place).accepted.into_iter().map(|file| (file.port, file.reason));
        assert_eq!(accepted.collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn exact_folder_comes_before_another_spelling() {
    let wsl = System::Wsl { distribution: Some("D") };
    let cases = [
        ("WSL", wsl, "/mnt/c/w", ["/mnt/c/w", r"C:\w"], Some(1)),
        ("WSL, the other order", wsl, "/mnt/c/w", [r"C:\w", "/mnt/c/w"], Some(2)),
        ("macOS", System::MacOs, "/Users/u/w", ["/Users/u/W", "/Users/u/w"], Some(2)),
        ("two other spellings", System::MacOs, "/Users/u/w", ["/Users/u/W", "/users/u/w"], None),
    ];
    for (name, system, cwd, folders, expected) in cases {
        let files = [listed(1, &folders[..1]), listed(2, &folders[1..])];
        let matching = choose(&files, &AgentContext { cwd, system, ..AgentContext::default() });
        assert_eq!(matching.unique().map(|only| only.port), expected, "{name}");
        let worse =
            matches!(matching.refused.as_slice(), [Refused { reason: Refusal::BetterMatch { .. }, .. }]);
        assert_eq!(worse, expected.is_some(), "{name}: {:?}", matching.refused);
    }
}

#[test]
fn every_absolute_path_contains_itself() {
    arbtest::arbtest(|u| {
        let (one, other): (&str, &str) = (u.arbitrary()?, u.arbitrary()?);
        for system in [System::Linux, System::MacOs, System::Windows, System::Wsl { distribution: Some("D") }]
        {
            let _ = fit(&resolved(one, other, system), other, system, u.arbitrary()?);
        }
        assert_eq!(fit(one, one, System::Linux, false).is_some(), one.starts_with('/'), "{one:?}");
        Ok(())
    });
}

#[test]
fn every_file_is_listed_once() {
    arbtest::arbtest(|u| {
        let mut files = Vec::new();
        for _ in 0..u.int_in_range(0..=6)? {
            let folders: &[&str] = u.choose(&[&["/w/p"] as &[&str], &["/x"], &[]])?;
            let mut file = listed(u.int_in_range(1..=3)?, folders);
            file.pid_alive = u.arbitrary()?;
            file.modified = u.arbitrary::<Option<u8>>()?.map(|at| Duration::from_secs(at.into()));
            files.push(file);
        }
        let port = u.arbitrary::<Option<u8>>()?.map(u16::from);
        let place = AgentContext { cwd: "/w/p", port, any_folder: u.arbitrary()?, ..AgentContext::default() };
        let matching = choose(&files, &place);
        let mut seen: Vec<usize> = matching.accepted.iter().map(|file| file.index).collect();
        seen.extend(matching.refused.iter().map(|file| file.index));
        seen.sort_unstable();
        assert_eq!(seen, (0..files.len()).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn refusal_names_remedy_without_control_characters() {
    let folders = Vec::from(["/w\u{1b}]0;x\u{7}\u{202e}".to_string()]);
    let cases = [
        (Refusal::Unreadable { reason: "why".into() }, "restart"),
        (Refusal::Transport { transport: "s\u{1b}se".into() }, "update"),
        (Refusal::NoTransport, "no member \"transport\""),
        (Refusal::Dead { pid: Some(1) }, "start the editor again"),
        (Refusal::Dead { pid: None }, "start the editor again"),
        (Refusal::NoFolders { port: 17 }, "CLAUDE_CODE_SSE_PORT=17"),
        (Refusal::Elsewhere { folders }, "open a parent"),
        (Refusal::OtherPort { port: 17 }, "unset"),
        (Refusal::Superseded, "remove"),
    ];
    for (refusal, advice) in cases {
        let text = refusal.to_string();
        assert!(text.contains(advice), "{text}");
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        assert!(!text.contains("\"sse\""), "{text}");
    }
    assert!(!format!("{:?}", listed(1, &[])).contains("QZ"));
}

#[test]
fn refusal_shows_a_bounded_part_of_the_file() {
    let folders = |count: usize, length: usize| Refusal::Elsewhere {
        folders: (0..count).map(|_| "\u{e9}".repeat(length)).collect(),
    };
    let transport = |length: usize| Refusal::Transport { transport: "x".repeat(length) };
    let rows = [
        ("three folders", folders(3, 1), r#"folders ["é", "é", "é"] contains"#.to_string()),
        ("four folders", folders(4, 1), r#"folders ["é", "é", "é", and 1 more] contains"#.to_string()),
        ("the longest folder", folders(1, 200), format!("[\"{}\"] contains", "é".repeat(200))),
        ("a longer folder", folders(1, 201), format!("[\"{}\"…] contains", "é".repeat(200))),
        (
            "characters that take eight when escaped",
            Refusal::Elsewhere { folders: Vec::from(["\u{202e}".repeat(26)]) },
            format!("[\"{}\"…] contains", r"\u{202e}".repeat(25)),
        ),
        ("the longest transport", transport(200), format!("is \"{}\", not", "x".repeat(200))),
        ("a longer transport", transport(201), format!("is \"{}\"…, not", "x".repeat(200))),
        (
            "control characters",
            Refusal::Elsewhere { folders: Vec::from(["\u{1b}\u{202e}".into()]) },
            r#"["\u{1b}\u{202e}"]"#.to_string(),
        ),
    ];
    for (name, refusal, part) in rows {
        let text = refusal.to_string();
        assert!(text.contains(&part), "{name}: {text}");
    }
}
