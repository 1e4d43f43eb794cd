//! Which files are chosen, and why the others are not.

use super::*;
use crate::ide::paths::is_absolute;
use crate::ide::{AuthToken, LockFileError};
use alloc::format;

/// A file that a client in `/w/p` accepts, to be changed into one that it does not.
fn listed(port: u16, folders: &[&str]) -> Listed {
    let token = AuthToken::from_text("QZQZ").unwrap();
    let folders = folders.iter().map(ToString::to_string).collect();
    Listed {
        port,
        file: Ok(LockFile::new(u32::from(port), folders, "editor", token)),
        pid_alive: Some(true),
        modified: Some(Duration::from_secs(100)),
    }
}

fn changed(mut listed: Listed, change: impl FnOnce(&mut Listed)) -> Listed {
    change(&mut listed);
    listed
}

fn at(seconds: u64) -> impl FnOnce(&mut Listed) {
    move |listed| listed.modified = Some(Duration::from_secs(seconds))
}

fn with_transport(transport: Transport) -> impl FnOnce(&mut Listed) {
    move |listed| listed.file.as_mut().unwrap().transport = transport
}

struct Case {
    name: &'static str,
    files: Vec<Listed>,
    port: Option<u16>,
    /// Index and reason, newest first.
    accepted: Vec<(usize, Because)>,
    refused: Vec<(usize, Refusal)>,
}

fn folder(path: &str) -> Because {
    Because::Folder(path.into())
}

fn elsewhere(path: &str) -> Refusal {
    Refusal::Elsewhere { folders: Vec::from([path.into()]) }
}

#[test]
fn each_rule_decides_as_the_real_client_does() {
    let here = || listed(1, &["/w/p"]);
    let cases = [
        Case { name: "none", files: Vec::new(), port: None, accepted: Vec::new(), refused: Vec::new() },
        Case {
            name: "the working directory itself",
            files: Vec::from([here()]),
            port: None,
            accepted: Vec::from([(0, folder("/w/p"))]),
            refused: Vec::new(),
        },
        Case {
            name: "its parent, as second folder",
            files: Vec::from([listed(1, &["/decoy", "/w"])]),
            port: None,
            accepted: Vec::from([(0, folder("/w"))]),
            refused: Vec::new(),
        },
        Case {
            name: "a child, a sibling with the same beginning",
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
            name: "no folders, but the port",
            files: Vec::from([listed(1, &[])]),
            port: Some(1),
            accepted: Vec::from([(0, Because::Port)]),
            refused: Vec::new(),
        },
        Case {
            name: "the port wins alone",
            files: Vec::from([here(), listed(2, &["/elsewhere"])]),
            port: Some(2),
            accepted: Vec::from([(1, Because::Port)]),
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
            name: "dead, unknown",
            files: Vec::from([
                changed(here(), |file| file.pid_alive = Some(false)),
                changed(listed(2, &["/w/p"]), |file| file.pid_alive = None),
            ]),
            port: None,
            accepted: Vec::from([(1, folder("/w/p"))]),
            refused: Vec::from([(0, Refusal::Dead { pid: Some(1) })]),
        },
        Case {
            name: "other transports, even by port",
            files: Vec::from([
                changed(here(), with_transport(Transport::Sse)),
                changed(listed(2, &["/w/p"]), with_transport(Transport::Other("x".into()))),
            ]),
            port: Some(1),
            accepted: Vec::new(),
            refused: Vec::from([
                (0, Refusal::Transport { transport: "sse".into() }),
                (1, Refusal::Transport { transport: "x".into() }),
            ]),
        },
        Case {
            name: "unreadable",
            files: Vec::from([changed(here(), |file| file.file = Err(LockFileError::Empty))]),
            port: Some(1),
            accepted: Vec::new(),
            refused: Vec::from([(0, Refusal::Unreadable { reason: "the lock file is empty".into() })]),
        },
        Case {
            name: "several, newest first, unknown age last",
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
            accepted: Vec::from([(0, Because::Port)]),
            refused: Vec::from([
                (1, Refusal::Unreadable { reason: "the lock file is empty".into() }),
                (2, Refusal::Superseded),
            ]),
        },
    ];
    for Case { name, files, port, accepted, refused } in cases {
        let place = Place { cwd: "/w/p", canonical: Some("/real/p/sub"), port };
        let matching = choose(&files, &place);
        let only = (accepted.len() == 1).then(|| accepted[0].0);
        assert_eq!(matching.only().map(|only| only.index), only, "{name}");
        for (index, port) in (matching.accepted.iter().map(|file| (file.index, file.port)))
            .chain(matching.refused.iter().map(|file| (file.index, file.port)))
        {
            assert_eq!(port, files[index].port, "{name}");
        }
        let ours = matching.accepted.into_iter().map(|file| (file.index, file.because));
        assert_eq!(ours.collect::<Vec<_>>(), accepted, "{name}");
        let theirs = matching.refused.into_iter().map(|file| (file.index, file.reason));
        assert_eq!(theirs.collect::<Vec<_>>(), refused, "{name}");
    }
}

#[test]
fn containment_goes_by_component() {
    let cases: &[(&str, &str, bool)] = &[
        ("/w/p", "/w/p", true),
        ("/w/p/", "/w/p", true),
        ("/w/p", "/w/p/", true),
        ("/w//p", "/w/p/a", true),
        ("/w/./p", "/w/p/a..b", true),
        ("/", "/w", true),
        ("/w/p", "/w/p_evil", false),
        ("/w/p", "/w/p/../q", false),
        ("/w/q/../p", "/w/p", true),
        ("/w/p", "/w", false),
        ("/w/p", "/W/p", false),
        ("w/p", "w/p", false),
        ("", "/w", false),
        ("/w", "", false),
        ("/w\\p", "/w/p", false),
        ("C:\\w", "c:\\w\\p", true),
        ("c:/w", "C:\\w\\p", true),
        ("C:\\w", "C:\\W", false),
        ("C:\\w", "D:\\w", false),
        ("C:\\", "C:\\w", true),
        ("C:", "C:\\w", false),
        ("/c/w", "C:\\w\\p", true),
        ("C:\\w", "/c/w/p", true),
        ("/c", "C:\\w", true),
        ("/C/w", "/c/w", false),
        ("/", "C:\\w", false),
        ("\\\\server\\share", "\\\\server\\share\\p", true),
        ("\\\\server\\share", "\\\\server\\shared", false),
        ("\\\\c\\w", "C:\\w", false),
        ("/é", "/é/x", true),
    ];
    for (folder, path, expected) in cases {
        assert_eq!(contains(folder, path), *expected, "{folder:?} contains {path:?}");
    }
}

#[test]
fn a_drive_is_below_mnt_for_a_client_in_wsl() {
    let cases: &[(&str, bool, &str, bool)] = &[
        ("D:\\p", true, "/mnt/d/p/src", true),
        ("d:\\", true, "/mnt/d", true),
        ("/d/p", true, "/mnt/d/p", true),
        ("/mnt/d/p", true, "/mnt/d/p", true),
        ("D:\\p", true, "/mnt/e/p", false),
        ("D:\\p", true, "/mnt/d/p-evil", false),
        ("D:\\p", false, "/mnt/d/p", false),
        ("/data", true, "/mnt/data/p", false),
        ("/home", true, "/mnt/home/p", false),
    ];
    for (folder, windows, cwd, fits) in cases {
        let file = changed(listed(1, &[folder]), |listed| {
            listed.file.as_mut().unwrap().running_in_windows = *windows;
        });
        for (cwd, canonical) in [(*cwd, None), ("/elsewhere", Some(*cwd))] {
            let matching = choose(core::slice::from_ref(&file), &Place { cwd, canonical, port: None });
            assert_eq!(matching.only().is_some(), *fits, "{folder} {windows} {cwd}");
        }
    }
}

#[test]
fn no_path_panics_and_each_contains_itself() {
    arbtest::arbtest(|u| {
        let (one, other): (&str, &str) = (u.arbitrary()?, u.arbitrary()?);
        let _ = contains(one, other);
        assert_eq!(contains(one, one), is_absolute(one), "{one:?}");
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
        let place = Place { cwd: "/w/p", canonical: None, port: u.arbitrary::<Option<u8>>()?.map(u16::from) };
        let matching = choose(&files, &place);
        let mut seen: Vec<usize> = matching.accepted.iter().map(|file| file.index).collect();
        seen.extend(matching.refused.iter().map(|file| file.index));
        seen.sort_unstable();
        assert_eq!(seen, (0..files.len()).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn a_refusal_says_what_to_do_and_shows_no_control_character() {
    let folders = Vec::from(["/w\u{1b}]0;x\u{7}\u{202e}".to_string()]);
    let cases = [
        (Refusal::Unreadable { reason: "why".into() }, "restart"),
        (Refusal::Transport { transport: "s\u{1b}se".into() }, "update"),
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
    }
    assert!(!format!("{:?}", listed(1, &[])).contains("QZ"));
}
