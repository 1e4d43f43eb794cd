//! The doctor as a process, over broken set-ups with real directories, files and sockets. What it makes of facts that
//! cannot be had here, such as Windows, is tested with its rules.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::result_large_err,
    clippy::wildcard_enum_match_arm,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes; tungstenite says how large its refusals are"
)]

mod support;

use rustix::process::geteuid;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use support::{Place, Process};
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::CloseFrame;

const TOKEN: &str = "QZQZ-the-token";

/// What listens on the port of a lock file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behaves {
    Well,
    /// Does not ask for the token.
    WithoutToken,
    /// Lets browsers in.
    WithOrigin,
    /// Whatever is asked.
    Status(u16),
    /// Lets everybody in and closes with 1008.
    Closes,
    WithoutSubprotocol,
    UnknownVersion,
    /// These bytes, and the end.
    Says(&'static str),
    /// Accepts and says nothing.
    NotAtAll,
}

/// Listens as long as the tests run, and returns its port.
fn fake(behaves: Behaves) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            match (stream.unwrap(), behaves) {
                (stream, Behaves::NotAtAll) => held.push(stream),
                (mut stream, Behaves::Says(text)) => {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(text.as_bytes());
                }
                (stream, _) => drop(serve(stream, behaves)),
            }
        }
    });
    port
}

/// One connection to its end.
fn serve(stream: TcpStream, behaves: Behaves) -> Option<()> {
    let judge = |request: &Request, mut response: Response| {
        let field = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let knows = field("X-Claude-Code-Ide-Authorization") == Some(TOKEN);
        let status = match behaves {
            Behaves::Status(status) => Some(status),
            Behaves::WithoutToken | Behaves::Closes => None,
            _ if !knows => Some(401),
            Behaves::WithOrigin => None,
            _ => field("Origin").map(|_| 403),
        };
        if let Some(status) = status {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = status.try_into().unwrap();
            return Err(refusal);
        }
        if behaves != Behaves::WithoutSubprotocol {
            response.headers_mut().insert("Sec-WebSocket-Protocol", "mcp".parse().unwrap());
        }
        Ok(response)
    };
    let mut socket = tungstenite::accept_hdr(stream, judge).ok()?;
    if behaves == Behaves::Closes {
        let _ = socket
            .send(Message::Close(Some(CloseFrame { code: 1008.into(), reason: "Unauthorized".into() })));
    }
    loop {
        let Message::Text(text) = socket.read().ok()? else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["method"] != "initialize" {
            continue;
        }
        let version = if behaves == Behaves::UnknownVersion {
            &json!("1999-12-31")
        } else {
            &message["params"]["protocolVersion"]
        };
        let info = json!({"name": "fake", "version": "1"});
        let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info});
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        socket.send(Message::Text(answer.to_string().into())).ok()?;
    }
}

/// A port where nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The id of a process that has ended.
fn dead() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A home, a project, and what is changed in them and in the environment.
struct Setup {
    place: Place,
    cwd: PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl Setup {
    /// With a directory of lock files as an editor makes it, and none in it.
    fn new() -> Self {
        let place = Place::new("doctor");
        fs::create_dir_all(place.lock_dir()).unwrap();
        mode(&place.lock_dir(), 0o700);
        Self { cwd: place.project(), place, variables: Vec::new() }
    }

    /// What an editor writes that has the project open.
    fn lock(&self) -> Value {
        json!({
            "pid": std::process::id(), "workspaceFolders": [self.place.project().canonicalize().unwrap()],
            "ideName": "Fake", "transport": "ws", "runningInWindows": false, "authToken": TOKEN,
        })
    }

    fn publish(&self, port: u16, lock: &Value) -> PathBuf {
        self.put(port, &lock.to_string())
    }

    fn put(&self, port: u16, text: &str) -> PathBuf {
        Self::put_in(&self.place.lock_dir(), port, text)
    }

    fn put_in(dir: &Path, port: u16, text: &str) -> PathBuf {
        let path = dir.join(format!("{port}.lock"));
        fs::write(&path, text).unwrap();
        mode(&path, 0o600);
        path
    }

    /// An editor that behaves so and has the project open.
    fn editor(&self, behaves: Behaves) -> PathBuf {
        self.publish(fake(behaves), &self.lock())
    }

    /// The same with some members of the lock file changed; null is none.
    fn editor_with(&self, changes: &Value) -> PathBuf {
        let mut lock = self.lock();
        for (name, value) in changes.as_object().unwrap() {
            lock[name] = value.clone();
        }
        self.publish(fake(Behaves::Well), &lock)
    }

    fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    fn doctor(&self, arguments: &[&str]) -> Process {
        let mut command = self.place.command("doctor", arguments);
        for name in [
            "CLAUDE_CODE_AUTO_CONNECT_IDE",
            "CLAUDE_CODE_IDE_HOST_OVERRIDE",
            "ENABLE_IDE_INTEGRATION",
            "XDG_CONFIG_HOME",
            "http_proxy",
            "HTTP_PROXY",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "NO_PROXY",
        ] {
            command.env_remove(name);
        }
        // As a shell leaves it, which keeps links.
        command.current_dir(&self.cwd).env("PWD", &self.cwd).envs(self.variables.iter().cloned());
        Process::spawn("doctor", &mut command)
    }

    /// The ids of what is not as it should be, and the exit status.
    fn found(&self, arguments: &[&str]) -> (BTreeSet<String>, Option<i32>) {
        let mut doctor = self.doctor(&[&["--json"], arguments].concat());
        let lines: Vec<Value> =
            doctor.rest().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (status, said) = doctor.end();
        assert_eq!(said, "");
        assert!(!format!("{lines:?}").contains("QZQZ"), "the token is shown: {lines:?}");
        let (last, findings) = lines.split_last().unwrap();
        assert_eq!(
            (&last["event"], last["status"].as_i64()),
            (&json!("verdict"), status.map(i64::from)),
            "{last}"
        );
        let bad = findings.iter().filter(|found| found["status"] != "ok");
        (bad.map(|found| found["id"].as_str().unwrap().to_owned()).collect(), status)
    }
}

/// A name, what is broken, the ids of what is found and nothing else, and the exit status.
type Case = (&'static str, fn(&mut Setup), &'static [&'static str], i32);

const CASES: &[Case] = &[
    ("nothing", |s| drop(s.editor(Behaves::Well)), &[], 0),
    ("no directory", |s| fs::remove_dir(s.place.lock_dir()).unwrap(), &["directory-missing"], 1),
    ("no lock file", |_| {}, &["no-lock-files"], 1),
    (
        "a visible directory",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0o755);
        },
        &["directory-readable-by-others"],
        1,
    ),
    (
        "an open directory",
        |s| {
            s.editor(Behaves::Well);
            mode(&s.place.lock_dir(), 0o777);
        },
        &["directory-writable-by-others"],
        1,
    ),
    (
        "a file for a directory",
        |s| {
            fs::remove_dir(s.place.lock_dir()).unwrap();
            fs::write(s.place.lock_dir(), "").unwrap();
        },
        &["directory-not-a-directory"],
        2,
    ),
    (
        "a file above the directory",
        |s| {
            fs::remove_dir_all(s.place.lock_dir().parent().unwrap()).unwrap();
            fs::write(s.place.lock_dir().parent().unwrap(), "").unwrap();
        },
        &["directory-not-a-directory"],
        2,
    ),
    ("a home that is no path", |s| s.set("HOME", "home"), &["variables-unusable"], 2),
    ("an empty variable", |s| s.set("CLAUDE_CONFIG_DIR", ""), &["variables-unusable"], 2),
    ("an open lock file", |s| mode(&s.editor(Behaves::Well), 0o644), &["lock-readable-by-others"], 1),
    (
        "half a lock file",
        |s| drop(s.put(closed_port(), "{\"pid\":1,")),
        &["lock-unparsable", "no-editor-for-directory"],
        1,
    ),
    (
        "an empty lock file",
        |s| drop(s.put(closed_port(), "")),
        &["lock-unparsable", "no-editor-for-directory"],
        1,
    ),
    (
        "bytes that are no text",
        |s| {
            fs::write(s.put(closed_port(), ""), b"\xff\xfe").unwrap();
        },
        &["lock-unparsable", "no-editor-for-directory"],
        1,
    ),
    (
        "a lock file of the past",
        |s| drop(s.put(closed_port(), "/w\n/v\n")),
        &["lock-legacy", "no-editor-for-directory"],
        1,
    ),
    (
        "a link for a lock file",
        |s| {
            let target = s.place.project().join("target");
            fs::write(&target, s.lock().to_string()).unwrap();
            symlink(target, s.place.lock_dir().join("41111.lock")).unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-is-a-link"],
        1,
    ),
    (
        "a pipe for a lock file",
        |s| {
            let path = s.place.lock_dir().join("41111.lock");
            assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
            s.editor(Behaves::Well);
        },
        &["lock-not-a-file"],
        1,
    ),
    (
        "a directory for a lock file",
        |s| {
            fs::create_dir(s.place.lock_dir().join("41111.lock")).unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-not-a-file"],
        1,
    ),
    (
        "a name without a port",
        |s| {
            fs::write(s.place.lock_dir().join("editor.lock"), "{}").unwrap();
            s.editor(Behaves::Well);
        },
        &["lock-misnamed"],
        0,
    ),
    (
        "a dead process",
        |s| {
            let lock = {
                let mut lock = s.lock();
                lock["pid"] = dead().into();
                lock
            };
            s.publish(closed_port(), &lock);
        },
        &["lock-left-over", "no-editor-for-directory"],
        1,
    ),
    (
        "a dead process beside a living one",
        |s| {
            let lock = {
                let mut lock = s.lock();
                lock["pid"] = dead().into();
                lock
            };
            s.publish(closed_port(), &lock);
            s.editor(Behaves::Well);
        },
        &["lock-left-over"],
        1,
    ),
    (
        "a process that is not seen",
        |s| drop(s.editor_with(&json!({"pid": dead()}))),
        &["lock-process-unseen", "no-editor-for-directory"],
        1,
    ),
    ("no process", |s| drop(s.editor_with(&json!({"pid": null}))), &["lock-without-process"], 0),
    (
        "an editor on Windows",
        |s| drop(s.editor_with(&json!({"runningInWindows": true}))),
        &["lock-of-windows-elsewhere"],
        1,
    ),
    (
        "no token",
        |s| {
            let lock = {
                let mut lock = s.lock();
                lock["authToken"] = Value::Null;
                lock
            };
            s.publish(fake(Behaves::WithoutToken), &lock);
        },
        &["lock-without-token", "lets-in-with-origin"],
        1,
    ),
    ("a closed port", |s| drop(s.publish(closed_port(), &s.lock())), &["port-refuses"], 1),
    ("a silent port", |s| drop(s.editor(Behaves::NotAtAll)), &["port-silent"], 1),
    (
        "a web server",
        |s| drop(s.editor(Behaves::Says("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"))),
        &["not-an-editor"],
        1,
    ),
    ("a mail server", |s| drop(s.editor(Behaves::Says("220 mail.example ESMTP\r\n"))), &["not-an-editor"], 1),
    ("one that hangs up", |s| drop(s.editor(Behaves::Says(""))), &["not-an-editor"], 1),
    ("a wrong token", |s| drop(s.editor_with(&json!({"authToken": "QZQZ-another"}))), &["token-refused"], 1),
    ("a wrong token, the JetBrains way", |s| drop(s.editor(Behaves::Closes)), &["token-refused"], 1),
    ("an editor that is full", |s| drop(s.editor(Behaves::Status(503))), &["editor-full"], 1),
    ("an editor that declines", |s| drop(s.editor(Behaves::Status(400))), &["editor-declines"], 1),
    ("no sub-protocol", |s| drop(s.editor(Behaves::WithoutSubprotocol)), &["subprotocol-missing"], 1),
    ("a version that nobody knows", |s| drop(s.editor(Behaves::UnknownVersion)), &["session-fails"], 1),
    (
        "an editor that asks for no token",
        |s| drop(s.editor(Behaves::WithoutToken)),
        &["lets-in-without-token", "lets-in-with-origin"],
        1,
    ),
    ("an editor for web pages", |s| drop(s.editor(Behaves::WithOrigin)), &["lets-in-with-origin"], 1),
    (
        "another folder",
        |s| drop(s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}))),
        &["no-editor-for-directory"],
        1,
    ),
    (
        "no folder",
        |s| drop(s.editor_with(&json!({"workspaceFolders": []}))),
        &["editor-without-folders", "no-editor-for-directory"],
        1,
    ),
    (
        "the agent came by a link",
        |s| {
            s.editor(Behaves::Well);
            let link = s.place.lock_dir().parent().unwrap().join("link");
            symlink(s.place.project(), &link).unwrap();
            s.cwd = link;
        },
        &["folder-matches-only-physically"],
        0,
    ),
    (
        "the editor came by a link",
        |s| {
            let link = s.place.lock_dir().parent().unwrap().join("link");
            symlink(s.place.project(), &link).unwrap();
            s.editor_with(&json!({"workspaceFolders": [link]}));
            s.cwd = link;
        },
        &["folder-matches-only-logically"],
        1,
    ),
    (
        "a stale port",
        |s| {
            s.editor(Behaves::Well);
            s.set("CLAUDE_CODE_SSE_PORT", "1");
        },
        &["port-variable-stale"],
        1,
    ),
    (
        "no port",
        |s| {
            s.editor(Behaves::Well);
            s.set("CLAUDE_CODE_SSE_PORT", "none");
        },
        &["port-variable-invalid"],
        1,
    ),
    (
        "a port of another folder",
        |s| {
            let path = s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
            s.set("CLAUDE_CODE_SSE_PORT", path.file_stem().unwrap().to_str().unwrap());
        },
        &[],
        0,
    ),
    (
        "a proxy",
        |s| {
            s.editor(Behaves::Well);
            s.set("http_proxy", "http://user:QZQZ@127.0.0.1:1");
        },
        &["proxy-takes-loopback"],
        1,
    ),
    (
        "half a no_proxy",
        |s| {
            s.editor(Behaves::Well);
            s.set("ALL_PROXY", "http://127.0.0.1:1");
            s.set("no_proxy", "127.0.0.1");
            s.set("NO_PROXY", "localhost");
        },
        &["no-proxy-differs"],
        1,
    ),
    (
        "a whole no_proxy",
        |s| {
            s.editor(Behaves::Well);
            s.set("ALL_PROXY", "http://127.0.0.1:1");
            s.set("no_proxy", "localhost,127.0.0.1");
            s.set("NO_PROXY", "localhost,127.0.0.1");
        },
        &[],
        0,
    ),
    (
        "one no_proxy of two",
        |s| {
            s.editor(Behaves::Well);
            s.set("ALL_PROXY", "http://127.0.0.1:1");
            s.set("NO_PROXY", "localhost,127.0.0.1");
        },
        &["no-proxy-differs"],
        1,
    ),
    (
        "another host",
        |s| {
            s.editor(Behaves::Well);
            s.set("CLAUDE_CODE_IDE_HOST_OVERRIDE", "host.docker.internal");
        },
        &["host-override"],
        1,
    ),
    (
        "two editors",
        |s| {
            s.editor(Behaves::Well);
            s.editor_with(&json!({"pid": std::os::unix::process::parent_id()}));
        },
        &["several-editors"],
        1,
    ),
    (
        "two windows of one editor",
        |s| {
            s.editor(Behaves::Well);
            s.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
        },
        &["process-published-twice"],
        0,
    ),
    (
        "another directory than the editor's",
        |s| {
            s.editor(Behaves::Well);
            let dir = s.place.project().join("config/ide");
            fs::create_dir_all(&dir).unwrap();
            mode(&dir, 0o700);
            s.set("CLAUDE_CONFIG_DIR", dir.parent().unwrap().to_str().unwrap());
        },
        &["config-dir-set", "locks-where-nobody-looks", "no-lock-files"],
        1,
    ),
    (
        "two lock files of one port",
        |s| {
            let port = fake(Behaves::Well);
            let dir = s.place.project().join("config/ide");
            fs::create_dir_all(&dir).unwrap();
            mode(&dir, 0o700);
            Setup::put_in(&dir, port, &s.lock().to_string());
            s.set("CLAUDE_CONFIG_DIR", dir.parent().unwrap().to_str().unwrap());
            s.put(port, &json!({"authToken": "QZQZ-old"}).to_string());
        },
        &["config-dir-set", "port-published-twice-differently"],
        1,
    ),
];

#[test]
fn every_broken_set_up_has_its_finding() {
    // Each has a home and a process of its own, and some wait.
    thread::scope(|scope| {
        for cases in CASES.chunks(CASES.len().div_ceil(4)) {
            scope.spawn(move || {
                for (name, break_it, expected, status) in cases {
                    let mut setup = Setup::new();
                    break_it(&mut setup);
                    let expected = expected.iter().map(|id| (*id).to_owned()).collect();
                    assert_eq!(setup.found(&[]), (expected, Some(*status)), "{name}");
                }
            });
        }
    });
}

/// Only root can give away what it owns, and only others can be kept out.
#[test]
fn what_belongs_to_others_or_is_closed_is_found() {
    let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
    let setup = Setup::new();
    let lock = setup.editor(Behaves::Well);
    if geteuid().is_root() {
        chown(&lock, Some(12345), None).unwrap();
        assert_eq!(setup.found(&[]), (ids(&["lock-not-ours", "no-editor-for-directory"]), Some(1)));
        chown(&lock, Some(0), None).unwrap();
        chown(setup.place.lock_dir(), Some(12345), None).unwrap();
        assert_eq!(setup.found(&[]), (ids(&["directory-not-ours"]), Some(1)));
    } else {
        mode(&lock, 0);
        assert_eq!(setup.found(&[]), (ids(&["lock-unreadable", "no-editor-for-directory"]), Some(1)));
        mode(&setup.place.lock_dir(), 0);
        assert_eq!(setup.found(&[]), (ids(&["directory-unreadable"]), Some(2)));
        mode(&setup.place.lock_dir(), 0o700);
    }
}

#[test]
fn forty_silent_ports_take_no_longer_than_a_few() {
    let setup = Setup::new();
    for _ in 0..40 {
        setup.editor_with(&json!({"workspaceFolders": ["/elsewhere"]}));
        setup.editor(Behaves::NotAtAll);
    }
    let begin = Instant::now();
    let (found, status) = setup.found(&[]);
    assert!(found.contains("port-silent") && found.contains("not-asked") && status == Some(1), "{found:?}");
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn it_changes_nothing_unless_it_is_asked_to() {
    let setup = Setup::new();
    let changed = |changes: &Value| {
        let mut lock = setup.lock();
        for (name, value) in changes.as_object().unwrap() {
            lock[name] = value.clone();
        }
        lock
    };
    let left_over = setup.publish(closed_port(), &changed(&json!({"pid": dead(), "ideName": "One"})));
    let another = setup.publish(closed_port(), &changed(&json!({"pid": dead(), "ideName": "Two"})));
    let kept = [
        setup.editor(Behaves::Well),
        setup.editor_with(&json!({"pid": dead()})),
        setup.publish(closed_port(), &changed(&json!({"pid": null, "ideName": "One"}))),
        setup.put(closed_port(), "no lock file"),
    ];
    mode(&setup.place.lock_dir(), 0o755);
    for arguments in [&[][..], &["--no-connect"]] {
        let (found, status) = setup.found(arguments);
        assert!(found.contains("lock-left-over") && status == Some(1), "{found:?}");
        assert!(left_over.exists() && another.exists() && kept.iter().all(|path| path.exists()));
        assert_eq!(fs::metadata(setup.place.lock_dir()).unwrap().mode() & 0o777, 0o755);
        assert_eq!(found.contains("not-asked"), !arguments.is_empty(), "{found:?}");
    }
    let (found, _) = setup.found(&["--remove-leftovers"]);
    assert!(found.contains("leftover-removed") && !found.contains("lock-left-over"), "{found:?}");
    assert!(!left_over.exists() && !another.exists(), "{found:?}");
    assert!(kept.iter().all(|path| path.exists()), "{found:?}");
}

#[test]
fn a_person_reads_the_verdict_first_and_then_the_worst() {
    let mut setup = Setup::new();
    let path = setup.editor_with(&json!({"ideName": "E\u{1b}[2J"}));
    setup.set("CLAUDE_CODE_SSE_PORT", "1");
    mode(&path, 0o644);
    let mut doctor = setup.doctor(&[]);
    let text = doctor.rest().join("\n");
    assert_eq!(doctor.end(), (Some(1), String::new()));
    let port = path.file_stem().unwrap().to_str().unwrap();
    let cwd = setup.cwd.display();
    assert!(
        text.starts_with(&format!(
            "An agent started in {cwd} attaches to \"E\\u{{1b}}[2J\" on port {port}: 2 warnings.\n\nwarning: "
        )),
        "{text}"
    );
    assert!(
        text.contains("\n    → chmod 600 ") && text.contains("\n    → unset CLAUDE_CODE_SSE_PORT"),
        "{text}"
    );
    assert!(!text.contains(['\u{1b}', '\r']) && !text.contains(TOKEN), "{text}");
    assert!(text.lines().last().is_some_and(|line| line.ends_with("(--verbose says more)")), "{text}");
    let mut doctor = setup.doctor(&["--verbose"]);
    let text = doctor.rest().join("\n");
    assert!(text.contains("\nok: ") && text.contains("[editor-answers]"), "{text}");
    assert_eq!(doctor.end().0, Some(1));
}

#[test]
fn a_real_editor_is_well_and_shows_no_agent() {
    let setup = Setup::new();
    let mut editor = setup.place.editor(&[]);
    editor.event("listening");
    assert_eq!(setup.found(&[]), (BTreeSet::new(), Some(0)));
    let project = setup.place.project();
    assert_eq!(setup.found(&["--cwd", project.to_str().unwrap()]), (BTreeSet::new(), Some(0)));
    assert_eq!(setup.found(&["--cwd", "/"]).1, Some(1));
    editor.tell(r#"{"cmd":"quit"}"#);
    let events = editor.rest();
    assert!(!events.iter().any(|event| event.contains("ide_connected")), "{events:?}");
}

#[test]
fn a_wrong_command_line_is_status_2() {
    let setup = Setup::new();
    for (arguments, expected) in [
        (&["--jsno"][..], "--jsno"),
        (&["here"], "here"),
        (&["--cwd", "missing"], "--cwd: there is no directory \"missing\""),
        (&["--json", "--verbose"], "exclude each other"),
    ] {
        let (status, said) = setup.doctor(arguments).end();
        assert!(
            status == Some(2) && said.contains(expected) && said.lines().count() == 1,
            "{status:?} {said}"
        );
    }
    let mut doctor = setup.doctor(&["--json", "--cwd", "missing"]);
    let said: Vec<Value> = doctor.rest().iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((said.len(), &said[0]["event"], &said[0]["status"]), (1, &json!("error"), &json!(2)));
    let mut help = setup.doctor(&["--help"]);
    assert!(help.rest().len() > 10);
    assert_eq!(help.end(), (Some(0), String::new()));
}
