#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use super::*;
use crate::temp_dir::TempDir;
use std::fs;
use std::time::Duration;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A process id that no process can have: the largest one of Linux is 4,194,304.
const DEAD: u32 = 4_000_000_000;

/// A directory with lock files, and a directory in which the agent works.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = TempDir::new();
        fs::create_dir(dir.join("ide")).unwrap();
        fs::create_dir(dir.join("work")).unwrap();
        Self { dir }
    }

    fn work(&self) -> String {
        self.dir.join("work").to_str().unwrap().into()
    }

    fn path(&self, port: u16) -> PathBuf {
        self.dir.join("ide").join(format!("{port}.lock"))
    }

    /// Writes a lock file with this transport, process and folder.
    fn write(&self, port: u16, transport: &str, pid: u32, folder: &str) {
        let text = format!(
            r#"{{"pid":{pid},"workspaceFolders":[{folder:?}],"ideName":"editor {port}","transport":"{transport}","runningInWindows":{},"authToken":"{TOKEN}"}}"#,
            cfg!(windows)
        );
        fs::write(self.path(port), text).unwrap();
    }

    fn searched(&self) -> SearchDir {
        SearchDir { form: LockForm::Lock, dir: self.dir.join("ide"), may_fail: false }
    }

    fn find(&self, search: &EditorSearch, env: &ClientEnv) -> Result<FoundEditor, Box<NoEditor>> {
        search.find_in(env, vec![self.searched()])
    }
}

fn env(name: &str, value: &str) -> ClientEnv {
    ClientEnv::read(|variable| (variable == name).then(|| value.to_string()))
}

#[test]
fn editor_is_found_by_directory_or_port() {
    let place = Place::new();
    let us = std::process::id();
    place.write(1001, "ws", us, &place.work());
    place.write(1002, "ws", us, "/elsewhere");
    fs::create_dir(place.dir.join("work/below")).unwrap();
    let here = || EditorSearch::in_dir(place.work());
    let port = EditorSearch::on_port;
    let (none, terminal) = (ClientEnv::default(), env("CLAUDE_CODE_SSE_PORT", "1002"));
    let off = env("CLAUDE_CODE_AUTO_CONNECT_IDE", "false");
    let host = env("CLAUDE_CODE_IDE_HOST_OVERRIDE", "[::1]");
    let cases: &[(&str, EditorSearch, &ClientEnv, u16, &str)] = &[
        ("the directory", here(), &none, 1001, "127.0.0.1"),
        ("a folder below", EditorSearch::in_dir(place.dir.join("work/below")), &none, 1001, "127.0.0.1"),
        ("the port", port(1002), &none, 1002, "127.0.0.1"),
        ("the port, although the agent does not attach by itself", port(1002), &off, 1002, "127.0.0.1"),
        (
            "a program that is not an agent",
            EditorSearch { ignores_auto_connect: true, ..here() },
            &off,
            1001,
            "127.0.0.1",
        ),
        ("the port of the terminal", here(), &terminal, 1002, "127.0.0.1"),
        ("another host", here(), &host, 1001, "::1"),
    ];
    for (name, search, env, port, host) in cases {
        let found = place.find(search, env).unwrap_or_else(|none| panic!("{name}: {none}"));
        assert_eq!((found.port, found.host.as_str()), (*port, *host), "{name}");
        assert_eq!(found.name, format!("editor {port}"), "{name}");
        assert_eq!((found.lock_file, found.dead_process), (place.path(*port), None), "{name}");
        assert_eq!(found.token.as_ref().map(AuthToken::as_str), Some(TOKEN), "{name}");
    }
    let by_file = EditorSearch::of_lock_file(place.path(1002)).find().unwrap();
    assert_eq!((by_file.port, by_file.is_marked), (1002, false));
}

/// The doctor compares the two strings.
#[test]
fn working_directory_has_the_form_of_published_folders() {
    let place = Place::new();
    let canonical = place.dir.join("work").canonicalize().unwrap();
    for given in [place.dir.join("work"), canonical] {
        let here = WorkingDir::of(Some(&given)).unwrap();
        let folders = crate::workspace_folders([&given]).unwrap();
        for form in [&here.logical, &here.canonical] {
            assert!(folders.contains(form), "{form} in {folders:?}");
            assert!(!form.starts_with(r"\\?\"), "{form}");
        }
    }
}

#[test]
fn missing_editor_has_a_reason_and_remedy() {
    type Files = fn(&Place);
    let here = |place: &Place| EditorSearch::in_dir(place.work());
    let file = |name: &'static str| {
        move |place: &Place| EditorSearch::of_lock_file(place.dir.join("ide").join(name))
    };
    let by_port = |place: &Place| EditorSearch { port: Some(1001), ..EditorSearch::in_dir(place.work()) };
    let none: Files = |_| {};
    let one: Files = |place| place.write(1001, "ws", std::process::id(), &place.work());
    let two: Files = |place| {
        place.write(1001, "ws", std::process::id(), &place.work());
        place.write(1002, "ws", std::process::id(), &place.work());
    };
    let old: Files = |place| {
        for (port, minutes) in [(1001, 3), (1002, 150)] {
            place.write(port, "ws", std::process::id(), &place.work());
            let file = fs::File::options().write(true).open(place.path(port)).unwrap();
            let now = file.metadata().unwrap().modified().unwrap();
            file.set_modified(now - Duration::from_secs(60 * minutes + 30)).unwrap();
        }
    };
    let terminal =
        row::terminal_of(std::process::id()).map(|terminal| format!(" in {terminal}")).unwrap_or_default();
    let us = format!("process {}{terminal}", std::process::id());
    let elsewhere: Files = |place| place.write(1001, "ws", std::process::id(), "/elsewhere");
    let inside: Files =
        |place| place.write(1001, "ws", std::process::id(), &format!("{}/inside", place.work()));
    let dead: Files = |place| place.write(1001, "ws", DEAD, &place.work());
    let sse: Files = |place| place.write(1001, "sse", std::process::id(), &place.work());
    let misnamed: Files = |place| fs::write(place.dir.join("ide").join("x.lock"), "{}").unwrap();
    let unreadable: Files = |place| fs::write(place.path(1001), "{").unwrap();
    let off = env("CLAUDE_CODE_AUTO_CONNECT_IDE", "false");
    let (plain, no_port) = (ClientEnv::default(), env("CLAUDE_CODE_SSE_PORT", "x"));
    let cases: &[(&str, Files, &dyn Fn(&Place) -> EditorSearch, &ClientEnv, &str, &[&str])] = &[
        (
            "no lock file",
            none,
            &here,
            &plain,
            "NoneFits",
            &["looked in", "start the editor", "ide-mcp editor"],
        ),
        (
            "a value that is not a port",
            none,
            &here,
            &no_port,
            "NoneFits",
            &["is \"x\", which is not a port: unset it"],
        ),
        ("another folder", elsewhere, &here, &plain, "NoneFits", &["1001.lock: none of its folders"]),
        (
            "a folder inside",
            inside,
            &here,
            &plain,
            "NoneFits",
            &["1001.lock: none of its folders", "; /ide in Claude Code lists this editor"],
        ),
        ("a dead process", dead, &here, &plain, "NoneFits", &["does not run: start the editor again"]),
        (
            "two editors",
            two,
            &here,
            &plain,
            "SeveralFit",
            &["by its port", "port 1001: \"editor 1001\"", "port 1002"],
        ),
        (
            "two editors of one process",
            old,
            &here,
            &plain,
            "SeveralFit",
            &[
                &format!("port 1001: \"editor 1001\", {us}, lock file written 3 min ago\n"),
                &format!("port 1002: \"editor 1002\", {us}, lock file written 2 h ago"),
            ],
        ),
        (
            "no auto-connect",
            one,
            &here,
            &off,
            "AutoConnectOff",
            &["is \"false\"", "by its port", "port 1001"],
        ),
        ("no file for the port", none, &by_port, &plain, "NoFileForPort", &["there is no 1001.lock in"]),
        (
            "a dead process on the port",
            dead,
            &by_port,
            &plain,
            "DeadProcess",
            &["4000000000", "start the editor again"],
        ),
        ("another transport", sse, &by_port, &plain, "Refused", &["its transport is \"sse\""]),
        ("a file that is not valid", unreadable, &by_port, &plain, "Unreadable", &["1001.lock"]),
        ("no such file", none, &file("1001.lock"), &plain, "NoFile", &["there is no lock file", "1001.lock"]),
        ("a file without a port", misnamed, &file("x.lock"), &plain, "Misnamed", &["such as 41111.lock"]),
        (
            "no such directory",
            one,
            &|place| EditorSearch::in_dir(place.dir.join("missing")),
            &plain,
            "WorkingDir",
            &["there is no directory"],
        ),
    ];
    for (name, files, search, env, kind, parts) in cases {
        let place = Place::new();
        files(&place);
        let search = search(&place);
        let found = if search.lock_file.is_some() { search.find() } else { place.find(&search, env) };
        let none = found.err().unwrap_or_else(|| panic!("{name}: found"));
        let text = none.to_string();
        assert!(format!("{:?}", none.reason).starts_with(kind), "{name}: {none:?}");
        for part in *parts {
            assert!(text.contains(part), "{name}: {part:?} is not in {text}");
        }
        assert_eq!(text.contains("/ide in"), *name == "a folder inside", "{name}: {text}");
        assert!(!text.contains("--"), "{name}: {text} names an option of a command line");
        assert!(!text.contains(TOKEN), "{name}: {text} has the token");
    }
}

#[test]
fn message_about_many_editors_is_bounded() {
    // How many lock files, how long the folder of each is, whether they fit, and how the message ends.
    let rows = [
        ("as many as there are rows", 20, 100, false, None),
        ("one more", 21, 100, false, Some("… and 1 more")),
        ("as many editors that fit", 20, 0, true, None),
        ("one more editor that fits", 21, 0, true, Some("… and 1 more")),
        ("long folders", 20, 190, false, Some(" more")),
    ];
    for (name, files, length, fits, more) in rows {
        let place = Place::new();
        for port in (1001..).take(files) {
            let folder = if fits { place.work() } else { format!("/{}", "\u{e9}".repeat(length)) };
            place.write(port, "ws", std::process::id(), &folder);
        }
        let text =
            place.find(&EditorSearch::in_dir(place.work()), &ClientEnv::default()).unwrap_err().to_string();
        let rows = text.lines().filter(|line| line.contains("port 10") || line.contains(".lock: ")).count();
        assert!(rows == 20 || (rows < 20 && length == 190), "{name}: {rows}");
        assert!(text.len() < 9 * 1024, "{name}: {}", text.len());
        match more {
            Some(more) => assert!(text.ends_with(more), "{name}: {text}"),
            None => assert!(!text.contains(" more"), "{name}: {text}"),
        }
    }
}

#[test]
fn dead_process_is_found_if_permitted() {
    let place = Place::new();
    place.write(1001, "ws", DEAD, &place.work());
    let permitted =
        EditorSearch { permits_dead_process: true, ..EditorSearch::of_lock_file(place.path(1001)) };
    for _ in 0..2 {
        assert_eq!(permitted.find().unwrap().dead_process, Some(DEAD));
    }
    let by_dir = EditorSearch { permits_dead_process: true, ..EditorSearch::in_dir(place.work()) };
    let none = place.find(&by_dir, &ClientEnv::default()).unwrap_err();
    assert!(
        matches!(none.reason, NoEditorReason::NoneFits { .. }),
        "a search by directory never takes it: {none}"
    );
}

/// For a lock file without a process id, or from the other side of WSL, only the port can tell whether the
/// editor lives.
#[test]
fn port_decides_if_the_process_is_not_visible() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let open = listener.local_addr().unwrap().port();
    let us = Some(std::process::id());
    let here = |place: &Place| place.work();
    let above = |place: &Place| place.dir.path().to_str().unwrap().to_owned();
    type Folder = fn(&Place) -> String;
    let (here, above): (Folder, Folder) = (here, above);
    // The ports, processes and folders of the files, and the port that is found. Nothing listens on ports 1 to
    // 3.
    type Row<'a> = (&'a str, &'a [(u16, Option<u32>, Folder)], Result<u16, (&'a str, &'a [&'a str])>);
    let rows: &[Row<'_>] = &[
        ("a living editor and a leftover", &[(1, None, here), (open, us, here)], Ok(open)),
        ("an editor without a process id and a leftover", &[(1, None, here), (open, None, here)], Ok(open)),
        ("a leftover, and an editor of the folder above", &[(2, None, here), (open, None, above)], Ok(open)),
        ("a leftover alone", &[(1, None, here)], Ok(1)),
        ("two living processes", &[(1, us, here), (open, us, here)], Err(("SeveralFit", &["port 1:"]))),
        (
            "leftovers alone",
            &[(1, None, here), (2, None, here)],
            Err(("NoneFits", &["1.lock: nothing listens on its port 1", "2.lock: nothing listens"])),
        ),
        (
            "two editors and a leftover",
            &[(3, None, here), (open, None, here), (4, us, here)],
            Err((
                "SeveralFit",
                &["3.lock: nothing listens on its port 3: start the editor again, or remove"],
            )),
        ),
    ];
    for (name, files, expected) in rows {
        let place = Place::new();
        for (port, pid, folder) in *files {
            place.write(*port, "ws", pid.unwrap_or(1), &folder(&place));
            if pid.is_none() {
                let text = fs::read_to_string(place.path(*port)).unwrap();
                fs::write(place.path(*port), text.replace(r#""pid":1,"#, "")).unwrap();
            }
        }
        let found = place.find(&EditorSearch::in_dir(place.work()), &ClientEnv::default());
        match (found, expected) {
            (Ok(found), Ok(port)) => assert_eq!(found.port, *port, "{name}"),
            (Err(none), Err((reason, parts))) => {
                let text = none.to_string();
                assert!(format!("{:?}", none.reason).starts_with(reason), "{name}: {text}");
                assert!(parts.iter().all(|part| text.contains(part)), "{name}: {text}");
            }
            (found, _) => panic!("{name}: {found:?}"),
        }
    }
    // The leftover fits better than the living editor, which the folder check would refuse.
    let place = Place::new();
    place.write(1, "ws", 1, &place.work());
    fs::write(place.path(1), fs::read_to_string(place.path(1)).unwrap().replace(r#""pid":1,"#, "")).unwrap();
    place.write(open, "ws", std::process::id(), "/elsewhere");
    let unchecked = env("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
    assert_eq!(place.find(&EditorSearch::in_dir(place.work()), &unchecked).unwrap().port, open);
    let across = Refusal::NobodyListens { port: 1, is_across_wsl: true }.to_string();
    assert!(across.contains("networkingMode=mirrored"), "{across}");
}

#[test]
fn unreadable_windows_home_does_not_stop_the_search() {
    let place = Place::new();
    place.write(1001, "ws", std::process::id(), &place.work());
    fs::write(place.dir.join("file"), "").unwrap();
    let home = LockDirCandidate::on_windows(place.dir.join("file").to_str().unwrap());
    let search = EditorSearch::in_dir(place.work());
    let found = search.find_in(&ClientEnv::default(), vec![SearchDir::from(home.clone()), place.searched()]);
    assert_eq!(found.unwrap().port, 1001);
    let none = search.find_in(&ClientEnv::default(), vec![SearchDir::from(home)]).unwrap_err();
    // Windows reports a missing directory here, Unix a file that is not a directory.
    assert!(none.unread.len() == 1 || cfg!(windows), "{none}");
}

#[test]
fn facts_of_a_failed_search_are_listed() {
    let place = Place::new();
    for port in [1001, 1002] {
        place.write(port, "ws", std::process::id(), &place.work());
    }
    place.write(1003, "ws", DEAD, &place.work());
    let none = place.find(&EditorSearch::in_dir(place.work()), &ClientEnv::default()).unwrap_err();
    let mut accepted: Vec<u16> = none.accepted.iter().map(|editor| editor.port).collect();
    accepted.sort_unstable();
    assert_eq!(accepted, [1001, 1002]);
    assert_eq!(none.refused.iter().map(|file| file.port).collect::<Vec<_>>(), [1003]);
    assert_eq!(none.directories, [place.dir.join("ide")]);
    assert!(none.unread.is_empty());
}
