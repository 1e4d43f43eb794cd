//! The tap between agents and an editor, and the replay of what it wrote.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes"
)]

mod support;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};
use support::{Place, Process};

/// A tap at work, and what it published.
struct Tap {
    process: Process,
    port: u16,
    lock: PathBuf,
    token: String,
}

impl Tap {
    fn start(place: &Place, editor: &str, out: &str) -> Self {
        Self::of(place.start("tap", &["--to", editor, "--out", out]), place, editor)
    }

    /// Waits for what it publishes.
    fn of(process: Process, place: &Place, editor: &str) -> Self {
        let begin = Instant::now();
        loop {
            let locks = fs::read_dir(place.lock_dir()).unwrap().map(|entry| entry.unwrap().path());
            let ours = |path: &PathBuf| {
                path.extension().is_some_and(|kind| kind == "lock") && path.file_stem().unwrap() != editor
            };
            if let Some(lock) = { locks }.find(ours) {
                let file: Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
                let port = lock.file_stem().unwrap().to_str().unwrap().parse().unwrap();
                return Self { process, port, lock, token: file["authToken"].as_str().unwrap().into() };
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "the tap publishes no lock file");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn agent(&self, place: &Place, arguments: &[&str]) -> Process {
        let port = self.port.to_string();
        let arguments: Vec<&str> = ["--port", &port].into_iter().chain(arguments.iter().copied()).collect();
        place.agent(&arguments)
    }

    fn stop(&mut self) {
        self.process.terminate();
        let (status, said) = self.process.end();
        assert_eq!(status, Some(0), "{said}");
        assert!(!self.lock.exists(), "the lock file is left behind");
    }
}

fn editor(place: &Place, arguments: &[&str]) -> (Process, String, String) {
    let mut editor = place.editor(arguments);
    let event = editor.event("listening");
    let lock = fs::read_to_string(event["lock"].as_str().unwrap()).unwrap();
    let token = serde_json::from_str::<Value>(&lock).unwrap()["authToken"].as_str().unwrap().to_owned();
    (editor, event["port"].to_string(), token)
}

/// The exit status of a replay, and what it printed.
fn replay(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let mut process = place.start("replay", arguments);
    let said = process.rest().join("\n");
    let (status, complaint) = process.end();
    (status, format!("{said}{complaint}"))
}

/// A session with all that an editor does: lists, pushes, diffs that are accepted, left and taken back, errors.
fn session(place: &Place) {
    place.write("a.txt", "hello\nwörld\n");
    place.write("new.txt", "proposed ✻\n");
    place.write("bad.json", "{x");
    let (mut editor, port, token) = editor(place, &["--name", "Test Editor"]);
    editor.tell(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,2]}"#);
    let mut tap = Tap::start(place, &port, "t.jsonl");

    let file: Value = serde_json::from_str(&fs::read_to_string(&tap.lock).unwrap()).unwrap();
    assert_eq!(file["ideName"], "Test Editor (tap)");
    assert_eq!(file["workspaceFolders"], json!([place.project()]));
    assert_ne!(file["authToken"], token.as_str());

    let mut watching = tap.agent(place, &["watch"]);
    assert_eq!(watching.event("selection_changed")["params"]["text"], "he", "what was selected before");
    let mut diff = tap.agent(place, &["diff", "a.txt", "new.txt"]);
    let tab = editor.until("diff")["tab"].clone();
    editor.tell(&json!({"cmd": "answer", "tab": tab, "verdict": "accept"}).to_string());
    assert_eq!(diff.end().0, Some(0));
    assert_eq!(place.read("a.txt"), "proposed ✻\n");

    editor.tell(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,8]}"#);
    assert_eq!(watching.event("selection_changed")["params"]["text"], "proposed");
    editor.tell(r#"{"cmd":"mention","path":"a.txt","lines":[0,0]}"#);
    watching.event("at_mentioned");

    let mut calls = tap.agent(place, &["calls"]);
    for tab in ["one", "two", "three"] {
        let arguments =
            json!({"old_file_path": "/x", "new_file_contents": "y".repeat(70_000), "tab_name": tab});
        calls.tell(&format!("openDiff {arguments}"));
        editor.until("diff");
    }
    for (call, answers) in [
        (r#"getDiagnostics {"uri":"bad.json"}"#, 1),
        (r#"close_tab {"tab_name":"two"}"#, 2),
        ("closeAllDiffTabs", 3),
        (r#"close_tab {"tab_name":"two"}"#, 1),
    ] {
        calls.tell(call);
        (0..answers).for_each(|_| drop(calls.event("outcome")));
    }
    editor.tell(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,1]}"#);
    assert_eq!(watching.event("selection_changed")["params"]["text"], "p");
    calls.tell("nosuch");
    calls.event("outcome");
    calls.hang_up();
    assert_eq!(calls.end().0, Some(1));
    assert_eq!(tap.agent(place, &["tools"]).end().0, Some(0));

    // The editor goes first, so its farewell passes the tap.
    editor.tell(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.end().0, Some(0));
    let (status, said) = watching.end();
    assert!(status == Some(1) && said.contains("1001"), "{said}");
    let (own, path) = (tap.token.clone(), place.project().join("t.jsonl"));
    tap.stop();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let listed = replay(place, &["--list", "t.jsonl"]).1;
    for text in [place.read("t.jsonl"), listed] {
        assert!(!text.contains(&token) && !text.contains(&own), "a token stands in the transcript");
    }
}

/// A transcript with something done to the text of one message of the editor.
fn changed(transcript: &str, message: &str, change: impl Fn(&str) -> String) -> (String, usize) {
    let mut lines: Vec<String> = transcript.lines().map(str::to_owned).collect();
    for (index, line) in lines.iter_mut().enumerate() {
        let mut form: Value = serde_json::from_str(line).unwrap();
        if form["from"] != "editor" || !form["base64"].is_string() {
            continue;
        }
        // Its frames are as they are written; as long as it stays, the text may be another.
        let text = said(&form);
        if text.contains(message) {
            let bytes: Vec<u8> = change(&text).chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
            form["base64"] = BASE64_STANDARD.encode(bytes).into();
            *line = form.to_string();
            return (lines.join("\n") + "\n", index + 1);
        }
    }
    panic!("nobody says {message}");
}

#[test]
fn a_transcript_of_a_live_session_replays_without_a_difference_and_any_change_is_found() {
    let place = Place::new("tap-replay");
    session(&place);
    for side in ["editor", "agent"] {
        let (status, said) = replay(&place, &["--side", side, "t.jsonl"]);
        assert_eq!(status, Some(0), "{side}: {said}");
        assert!(said.starts_with(&format!("no difference: the {side} says the same ")), "{said}");
    }

    let transcript = place.read("t.jsonl");
    let check = |name: &str, text: &str, expected: &[&str]| {
        place.write("changed.jsonl", text);
        let (status, said) = replay(&place, &["changed.jsonl"]);
        assert_eq!(status, Some(1), "{name}: {said}");
        for part in expected {
            assert!(said.contains(part), "{name}: {part:?} is missing in\n{said}");
        }
    };
    // One or a few bytes each, in what the machine says and in what the application had it say.
    let cases = [
        (
            "a text that the machine makes",
            "CLOSED_2_DIFF_TABS",
            "CLOSED_2",
            "CLOSED_3",
            "$.result.content[0].text",
        ),
        ("an answer that nobody asked for", "FILE_SAVED", "\"id\":2", "\"id\":9", "recorded  "),
        ("an error", "tool nosuch not found", "-32602", "-32603", "$.error.code"),
        ("an envelope", "\"protocolVersion\"", "\"jsonrpc\":\"2.0\"", "\"jsonrpc\":\"2.1\"", "$.jsonrpc"),
        ("a version", "\"protocolVersion\"", "2025-11-25", "2025-06-18", "$.result.protocolVersion"),
        (
            "only the spelling",
            "TAB_CLOSED",
            r#""type":"text","text":"TAB_CLOSED""#,
            r#""text":"TAB_CLOSED","type":"text""#,
            "of the text",
        ),
        ("a push", "at_mentioned", "lineStart", "lineStars", "$.params.lineStar"),
        (
            "a selection",
            "\"text\":\"proposed\",\"filePath",
            "\"isEmpty\":false",
            "\"isEmpty\":true ",
            "$.params.selection.isEmpty",
        ),
    ];
    for (name, message, from, to, path) in cases {
        let (text, line) = changed(&transcript, message, |text| text.replacen(from, to, 1));
        check(name, &text, &[&format!("line {line},"), path]);
    }

    let lines: Vec<&str> = transcript.lines().collect();
    let find = |from: &str, text: &str| {
        lines.iter().position(|line| {
            let form: Value = serde_json::from_str(line).unwrap();
            form["from"] == from && said(&form).contains(text)
        })
    };
    let without = |index: Option<usize>| {
        let rest = lines.iter().enumerate().filter(|(at, _)| Some(*at) != index).map(|(_, line)| *line);
        rest.collect::<Vec<_>>().join("\n") + "\n"
    };
    let tab_closed = find("editor", "TAB_CLOSED");
    check("a line of the editor is missing", &without(tab_closed), &["$.id", "recorded  4", "now       3"]);
    let head = find("editor", "HTTP/1.1 101");
    check("the answer to a handshake is missing", &without(head), &["now       HTTP/1.1 101"]);
    check("a line of the agent is missing", &without(find("agent", "GET / ")), &["now       nothing"]);
    let head = lines[head.unwrap()];
    let text = transcript.replacen(head, &head.replacen("Upgrade: websocket", "Upgrade: Websocket", 1), 1);
    check("a byte of a head", &text, &["line 2 of the head", "Upgrade: Websocket", "Upgrade: websocket"]);
}

/// The bytes of a line, a character each.
fn said(form: &Value) -> String {
    let raw = form["raw"].as_str().map(|raw| raw.as_bytes().to_vec());
    let bytes = raw.or_else(|| BASE64_STANDARD.decode(form["base64"].as_str()?).ok()).unwrap_or_default();
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[test]
fn what_the_machine_does_by_the_clock_is_compared_with_the_clock() {
    let place = Place::new("tap-clock");
    session(&place);
    // From a line on, before which all was quiet, everything is half an hour later: the machine has pinged by then.
    let (mut is_later, mut late) = (false, String::new());
    for line in place.read("t.jsonl").lines() {
        let mut form: Value = serde_json::from_str(line).unwrap();
        is_later |= said(&form).contains("at_mentioned");
        if is_later {
            form["ns"] = (form["ns"].as_u64().unwrap() + 1_800_000_000_000).into();
        }
        late.push_str(&format!("{form}\n"));
    }
    place.write("late.jsonl", &late);
    let (status, found) = replay(&place, &["late.jsonl"]);
    assert_eq!(status, Some(1), "{found}");
    assert!(found.contains("a ping"), "{found}");
}

#[test]
fn messages_that_crossed_are_no_difference() {
    let place = Place::new("tap-crossed");
    session(&place);
    let transcript = place.read("t.jsonl");
    let mut lines: Vec<Value> = transcript.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The editor had said its selection and then heard of a call, which it refused. On the way to the tap the call could
    // as well have overtaken the selection.
    let answer = lines.iter().position(|form| said(form).contains("tool nosuch not found")).unwrap();
    let conn = lines[answer]["conn"].clone();
    let last = |from: &str, before: usize| {
        let (conn, lines) = (&conn, &lines[..before]);
        lines.iter().rposition(|form| form["from"] == from && form["conn"] == *conn).unwrap()
    };
    let asked = last("agent", answer);
    let selected = last("editor", asked);
    assert!(said(&lines[selected]).contains("selection_changed"));
    let mut moved = lines.remove(asked);
    moved["ns"] = lines[selected]["ns"].clone();
    lines.insert(selected, moved);
    let write = |lines: &[Value]| {
        let text: String = lines.iter().map(|form| format!("{form}\n")).collect();
        place.write("crossed.jsonl", &text);
    };
    write(&lines);
    let (status, said_of_it) = replay(&place, &["crossed.jsonl"]);
    assert_eq!(status, Some(0), "{said_of_it}");

    // But what comes of it is the same in every order.
    lines.retain(|form| !said(form).contains("tool nosuch not found"));
    write(&lines);
    let (status, said_of_it) = replay(&place, &["crossed.jsonl"]);
    assert!(status == Some(1) && said_of_it.contains("tool nosuch not found"), "{said_of_it}");
}

/// The agent would have pinged 30 s after the last it heard. Its loop was a little late, and the editor's ping was there.
#[test]
fn a_timer_that_was_a_little_late_is_no_difference() {
    let place = Place::new("tap-late");
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let _agent = tap.agent(&place, &["watch"]);
    editor.until("ide_connected");
    tap.process.kill();
    let mut text = place.read("t.jsonl");
    let heard = text.lines().rev().find_map(|line| {
        let form: Value = serde_json::from_str(line).unwrap();
        (form["from"] == "editor").then(|| form["ns"].as_u64().unwrap())
    });
    let heard = heard.unwrap();
    for (after, from, bytes) in
        [(30_050_000_000, "editor", &b"\x89\0"[..]), (30_051_000_000, "agent", b"\x8a\x80\0\0\0\0")]
    {
        let base64 = BASE64_STANDARD.encode(bytes);
        let line = json!({"ns": heard + after, "conn": 1, "from": from, "base64": base64});
        text.push_str(&format!("{line}\n"));
    }
    place.write("late.jsonl", &text);
    let (status, said) = replay(&place, &["--side", "agent", "late.jsonl"]);
    assert_eq!(status, Some(0), "{said}");
    let (status, said) = replay(&place, &["--side", "agent", "--tolerance", "20", "late.jsonl"]);
    assert!(status == Some(1) && said.contains("now       a ping"), "{said}");
}

#[test]
fn tokens_are_taken_out_of_messages_as_well() {
    let place = Place::new("tap-tokens");
    let (mut editor, port, token) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = tap.agent(&place, &["calls"]);
    let contents = format!("{token} and {}", tap.token);
    agent.tell(&format!(
        "openDiff {}",
        json!({"old_file_path": "/x", "new_file_contents": contents, "tab_name": "t"})
    ));
    assert_eq!(editor.until("diff")["contents"], contents.as_str(), "to the editor it goes as it is");
    editor.tell(r#"{"cmd":"answer","verdict":"accept"}"#);
    let outcome = agent.event("outcome");
    assert_eq!(outcome["outcome"]["result"]["content"][1]["text"], contents.as_str());
    agent.hang_up();
    agent.end();
    tap.stop();
    let (_, listed) = replay(&place, &["--list", "t.jsonl"]);
    assert!(!listed.contains(&token) && !listed.contains(&tap.token));
    assert!(listed.contains(&format!("{0} and {0}", "*".repeat(64))), "{listed}");
    assert_eq!(replay(&place, &["t.jsonl"]).0, Some(0));
}

#[test]
fn the_editor_judges_and_a_wrong_token_is_not_written_down() {
    let place = Place::new("tap-wrong");
    let (_editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let ask = |fields: &str| {
        let mut socket = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
        let head = format!(
            "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{fields}\r\n",
            tap.port
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let field = "X-Claude-Code-Ide-Authorization";
    assert!(ask(&format!("{field}: canary\r\n")).starts_with("HTTP/1.1 401"));
    assert!(ask(&format!("{field} : canary\r\n")).starts_with("HTTP/1.1 400"), "no field has such a name");
    assert!(ask("").starts_with("HTTP/1.1 401"));
    let right = format!("{field}: {}\r\nOrigin: http://evil.example\r\n", tap.token);
    assert!(ask(&right).starts_with("HTTP/1.1 403"), "a web page that has the token");
    let mut socket = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    socket.write_all(&vec![b'x'; 16_000]).unwrap();
    let long = format!("{}\r\n{field}: canary\r\n", "x".repeat(4000));
    socket.write_all(long.as_bytes()).unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 431");
    drop(socket);
    tap.stop();
    let transcript = place.read("t.jsonl");
    assert!(
        !transcript.contains("canary") && transcript.contains(&format!("{field}: ------")),
        "{transcript}"
    );
    let (status, said) = replay(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{said}");
}

#[test]
fn a_signal_ends_both_sides_in_order_and_a_kill_loses_nothing() {
    let place = Place::new("tap-end");
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = tap.agent(&place, &["watch"]);
    editor.until("ide_connected");
    tap.stop();
    let (status, said) = agent.end();
    assert!(status == Some(1) && said.contains("1001"), "{said}");
    assert!(editor.until("closed")["why"].as_str().unwrap().contains("1001"));
    let (status, said) = replay(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{said}");

    let mut tap = Tap::start(&place, &port, "killed.jsonl");
    let mut agent = tap.agent(&place, &["call", "getDiagnostics"]);
    assert_eq!(agent.end().0, Some(0));
    tap.process.kill();
    for side in ["editor", "agent"] {
        let (status, said) = replay(&place, &["--side", side, "killed.jsonl"]);
        assert_eq!(status, Some(0), "{said}");
    }
    let mut cut = place.read("killed.jsonl");
    cut.truncate(cut.len() - 10);
    place.write("cut.jsonl", &cut);
    let (status, said) = replay(&place, &["cut.jsonl"]);
    assert!(status == Some(0) && said.contains("the last line is not whole"), "{said}");
}

#[test]
fn a_transcript_that_is_as_long_as_it_may_be_ends_and_says_so() {
    let place = Place::new("tap-most");
    let (mut editor, port, _) = editor(&place, &[]);
    let arguments = ["--to", &port, "--out", "t.jsonl", "--max-bytes", "5000"];
    let mut tap = Tap::of(place.start("tap", &arguments), &place, &port);
    let mut agent = tap.agent(&place, &["calls"]);
    let contents = "x".repeat(100_000);
    let arguments = json!({"old_file_path": "/x", "new_file_contents": contents, "tab_name": "t"});
    agent.tell(&format!("openDiff {arguments}"));
    assert_eq!(editor.until("diff")["contents"], contents.as_str(), "what is said goes on");
    editor.tell(r#"{"cmd":"answer","verdict":"accept"}"#);
    agent.event("outcome");
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
    tap.process.terminate();
    let (status, said) = tap.process.end();
    assert!(status == Some(1) && said.contains("--max-bytes 5000"), "{said}");
    assert!(place.read("t.jsonl").len() <= 5000);
    let (status, said) = replay(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{said}");
}

/// An editor that is nothing but a socket.
fn bare_editor(place: &Place) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    fs::create_dir_all(place.lock_dir()).unwrap();
    let file = json!({"pid": std::process::id(), "workspaceFolders": [], "ideName": "bare", "transport": "ws", "authToken": "t"});
    fs::write(place.lock_dir().join(format!("{port}.lock")), file.to_string()).unwrap();
    (listener, port.to_string())
}

const HEAD: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
const SWITCHING: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";

#[test]
fn bytes_and_close_codes_pass_as_they_are_and_ends_are_ends() {
    let place = Place::new("tap-bytes");
    let (listener, port) = bare_editor(&place);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let (mut editor, _) = listener.accept().unwrap();
    agent.write_all(HEAD).unwrap();
    let mut head = [0; HEAD.len()];
    editor.read_exact(&mut head).unwrap();
    assert_eq!(head, HEAD);
    editor.write_all(&[SWITCHING, b"\x88\x02\x0f\xa1"].concat()).unwrap();
    drop(editor);
    let mut heard = Vec::new();
    agent.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, [SWITCHING, b"\x88\x02\x0f\xa1"].concat(), "4001 and the end");

    // An agent that is gone is gone for the editor.
    let agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let (mut editor, _) = listener.accept().unwrap();
    drop(agent);
    assert_eq!(editor.read(&mut [0; 1]).unwrap(), 0);

    // And where nobody listens an agent hears so, and may try again.
    drop((editor, listener));
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    agent.write_all(HEAD).unwrap();
    let mut heard = String::new();
    agent.read_to_string(&mut heard).unwrap();
    assert!(heard.starts_with("HTTP/1.1 502"), "{heard}");
    tap.stop();
}

#[test]
fn who_does_not_read_is_not_read_for() {
    const ALL: usize = 48 << 20;
    let place = Place::new("tap-slow");
    let (listener, port) = bare_editor(&place);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    assert!(tap.lock.exists());
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let (mut editor, _) = listener.accept().unwrap();
    agent.write_all(HEAD).unwrap();
    // What is left unread at the end would be a reset.
    editor.read_exact(&mut [0; HEAD.len()]).unwrap();
    editor.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let chunk = vec![b'x'; 64 << 10];
    let mut written = 0;
    while let Ok(n) = editor.write(&chunk) {
        written += n;
        assert!(written < ALL, "{written} bytes were taken for an agent that reads none");
    }
    drop(editor);
    let mut read = 0;
    let mut buf = vec![0; 64 << 10];
    loop {
        match agent.read(&mut buf).unwrap() {
            0 => break,
            n => read += n,
        }
    }
    assert_eq!(read, written);
    tap.stop();
}

#[test]
fn what_cannot_begin_says_what_to_do() {
    let place = Place::new("tap-wrongly");
    let (status, said) = place.start("tap", &["--to", "1"]).end();
    assert!(status == Some(2) && said.contains("1.lock"), "{said}");
    let (_editor, port, _) = editor(&place, &[]);
    place.write("there.jsonl", "mine");
    let (status, said) = place.start("tap", &["--to", &port, "--out", "there.jsonl"]).end();
    assert!(status == Some(2) && said.contains("--force"), "{said}");
    assert_eq!(place.read("there.jsonl"), "mine");
    assert_eq!(fs::read_dir(place.lock_dir()).unwrap().count(), 1, "a lock file without a tap");
    let mut help = place.start("tap", &["--help"]);
    assert!(help.rest().join("\n").contains("usage: tap"));
    assert_eq!(help.end().0, Some(0));

    for (text, expected) in [("nonsense\n", "line 1"), ("", "nothing in it")] {
        place.write("bad.jsonl", text);
        let (status, said) = replay(&place, &["bad.jsonl"]);
        assert!(status == Some(2) && said.contains(expected), "{said}");
    }
    let (status, said) = replay(&place, &["missing.jsonl"]);
    assert!(status == Some(2) && said.contains("missing.jsonl"), "{said}");
}

#[test]
fn recordings_by_hand_show_what_was_said_otherwise() {
    let place = Place::new("tap-fixtures");
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let (status, said) = replay(&place, &[path.to_str().unwrap()]);
        // The editor that recorded it gives its own requests numbers from 9001 on.
        assert_eq!(status, Some(1), "{said}");
        assert!(said.contains("recorded  9001") && said.contains("$.id"), "{said}");
    }
}
