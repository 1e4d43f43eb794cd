//! The tap between agents and an editor, and the replay of its transcript.

mod gone;
mod live;
mod meaning;
mod programs;
mod replays;
mod scripts;
mod unread;

use crate::support::{Place, accept};
use programs::{Tap, editor, replay, replay_both};
use serde_json::json;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn e07_tokens_in_messages_are_redacted() {
    let place = Place::new("tap-tokens");
    let (mut editor, port, token) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = tap.agent(&place, &["calls"]);
    let contents = format!("{token} and {}", tap.token);
    agent.propose("t", &contents);
    assert_eq!(editor.until("diff")["contents"], contents.as_str(), "the editor gets the message unchanged");
    editor.send_line(r#"{"cmd":"answer","verdict":"accept"}"#);
    let outcome = agent.event("outcome");
    assert_eq!(outcome["outcome"]["result"]["content"][1]["text"], contents.as_str());
    agent.hang_up();
    agent.end();
    tap.stop();
    let (_, listed) = replay(&place, &["--list", "t.jsonl"]);
    assert!(!listed.contains(&token) && !listed.contains(&tap.token));
    assert!(listed.contains(&format!("{0} and {0}", "*".repeat(64))), "{listed}");
    assert_eq!(replay_both(&place, &["t.jsonl"]).0, Some(0));
}

#[test]
fn e07_wrong_token_is_not_recorded() {
    let place = Place::new("tap-wrong");
    let (_editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let ask_for = |target: &str, fields: &str| {
        let mut socket = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{fields}\r\n",
            tap.port
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    };
    let ask = |fields: &str| ask_for("/", fields);
    let field = "X-Claude-Code-Ide-Authorization";
    assert!(ask(&format!("{field}: canary\r\n")).starts_with("HTTP/1.1 401"));
    assert!(ask(&format!("{field} : canary\r\n")).starts_with("HTTP/1.1 400"), "no field has such a name");
    assert!(ask("").starts_with("HTTP/1.1 401"));
    assert!(ask_for("/?authToken=canary", "").starts_with("HTTP/1.1 401"), "nobody looks there");
    assert!(ask_for("/?to=canary&b", "").starts_with("HTTP/1.1 401"));
    assert!(ask_for("/?canary#a", "").starts_with("HTTP/1.1 400"), "no target has a fragment");
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
    let transcript = place.read("t.jsonl");
    assert_eq!(transcript.lines().count(), 1, "the transcript has no refused client: {transcript}");
    assert_eq!(tap.agent(&place, &["call", "getDiagnostics"]).end().0, Some(0));
    tap.stop();
    let transcript = place.read("t.jsonl");
    assert!(!transcript.contains("canary") && transcript.lines().count() > 5, "{transcript}");
    let (status, output) = replay_both(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{output}");
}

/// The tap keeps 8 pending connections, as many as an editor does. Attached agents do not count.
#[test]
fn n05_unauthenticated_peers_keep_no_agent_out() {
    let place = Place::new("tap-strangers");
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut first = tap.agent(&place, &["watch"]);
    editor.until("ide_connected");
    let before = place.read("t.jsonl").lines().count();
    let mut crowd: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut unauthenticated = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
            unauthenticated.write_all(b"GET / HTTP/1.1\r\n").unwrap();
            unauthenticated
        })
        .collect();
    assert_eq!(tap.agent(&place, &["call", "getDiagnostics"]).end().0, Some(0));
    let is_gone = |unauthenticated: &mut TcpStream| {
        unauthenticated.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        unauthenticated.read(&mut [0; 200]).is_ok()
    };
    let begin = Instant::now();
    while crowd.len() > 8 {
        assert!(begin.elapsed() < Duration::from_secs(4), "{} are left", crowd.len());
        crowd.retain_mut(|unauthenticated| !is_gone(unauthenticated));
    }
    let transcript = place.read("t.jsonl");
    let conns: std::collections::BTreeSet<u64> = transcript
        .lines()
        .skip(1)
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["conn"].as_u64())
        .collect();
    assert!(transcript.lines().count() > before && conns.len() == 2, "{conns:?}");
    drop(crowd);
    tap.stop();
    assert_eq!(first.end().0, Some(1));
}

#[test]
fn signal_or_kill_leaves_replayable_transcript() {
    let place = Place::new("tap-end");
    let (mut editor, port, _) = editor(&place, &[]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = tap.agent(&place, &["watch"]);
    editor.until("ide_connected");
    tap.stop();
    agent.fails(1, &["the editor ended"]);
    assert!(editor.until("closed")["reason"].as_str().unwrap().contains("1001"));
    let (status, output) = replay_both(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{output}");

    let mut tap = Tap::start(&place, &port, "killed.jsonl");
    let mut agent = tap.agent(&place, &["call", "getDiagnostics"]);
    assert_eq!(agent.end().0, Some(0));
    tap.process.kill();
    for side in ["editor", "agent"] {
        let (status, output) = replay_both(&place, &["--side", side, "killed.jsonl"]);
        assert_eq!(status, Some(0), "{output}");
    }
    let mut cut = place.read("killed.jsonl");
    cut.truncate(cut.len() - 10);
    place.write("cut.jsonl", &cut);
    let (status, output) = replay_both(&place, &["cut.jsonl"]);
    assert!(status == Some(0) && output.contains("the last line is cut off"), "{output}");
}

#[test]
fn lock_file_is_restored_between_connections() {
    let place = Place::new("tap-vanished");
    let (_listener, port) = place.listener();
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    fs::remove_file(&tap.lock).unwrap();
    let begin = Instant::now();
    // The kernel reports the loss to the guard. Connections come and go in between.
    while !tap.lock.exists() {
        assert!(begin.elapsed() < Duration::from_secs(15), "it does not come back");
        drop(TcpStream::connect(("127.0.0.1", tap.port)).unwrap());
        thread::sleep(Duration::from_millis(300));
    }

    // With a file instead of the directory, the tap reports the error once and not at each attempt. It can restore
    // the directory while we remove it, and what it says about that moment is not the error we count.
    while fs::write(place.lock_dir(), "no directory").is_err() {
        assert!(begin.elapsed() < Duration::from_secs(15));
        let _ = fs::remove_dir_all(place.lock_dir());
    }
    thread::sleep(Duration::from_secs(11));
    tap.process.terminate();
    let (_, output) = tap.process.end();
    let complaint = format!("could not create {:?}:", place.lock_dir());
    assert_eq!(output.matches(&complaint).count(), 1, "{output}");
}

#[test]
fn full_transcript_ends_with_a_complaint() {
    let place = Place::new("tap-most");
    let (mut editor, port, _) = editor(&place, &[]);
    let arguments = ["--port", &port, "--out", "t.jsonl", "--max-bytes", "5000"];
    let mut tap = Tap::of(place.start("tap", &arguments), &place, &port);
    let mut agent = tap.agent(&place, &["calls"]);
    let contents = "x".repeat(100_000);
    agent.propose("t", &contents);
    assert_eq!(editor.until("diff")["contents"], contents.as_str(), "the messages still pass");
    editor.send_line(r#"{"cmd":"answer","verdict":"accept"}"#);
    agent.event("outcome");
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
    tap.process.terminate();
    tap.process.fails(1, &["--max-bytes 5000"]);
    assert!(place.read("t.jsonl").len() <= 5000);
    let (status, output) = replay_both(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{output}");
}

pub(crate) const HEAD: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
pub(crate) const SWITCHING: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";

#[test]
fn bytes_and_ends_pass_unchanged() {
    let place = Place::new("tap-bytes");
    let (listener, port) = place.listener();
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let mut editor = accept(&listener);
    agent.write_all(HEAD).unwrap();
    let mut head = [0; HEAD.len()];
    editor.read_exact(&mut head).unwrap();
    assert_eq!(head, HEAD);
    editor.write_all(&[SWITCHING, b"\x88\x02\x0f\xa1"].concat()).unwrap();
    drop(editor);
    let mut received = Vec::new();
    agent.read_to_end(&mut received).unwrap();
    assert_eq!(received, [SWITCHING, b"\x88\x02\x0f\xa1"].concat(), "4001 and the end");

    // The end of the agent is an end of input for the editor.
    let agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let mut editor = accept(&listener);
    drop(agent);
    assert_eq!(editor.read(&mut [0; 1]).unwrap(), 0);

    tap.stop();

    // If no process listens on the port of the editor, the agent gets status 502.
    let place = Place::new("tap-nobody");
    let port = place.closed_port();
    place.publish(port, &json!({}));
    let mut tap = Tap::start(&place, &port.to_string(), "t.jsonl");
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    agent.write_all(HEAD).unwrap();
    let mut received = String::new();
    agent.read_to_string(&mut received).unwrap();
    assert!(received.starts_with("HTTP/1.1 502"), "{received}");
    tap.stop();
}

#[test]
fn backpressure_passes_through_the_tap() {
    const ALL: usize = 48 << 20;
    let place = Place::new("tap-slow");
    let (listener, port) = place.listener();
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    assert!(tap.lock.exists());
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let mut editor = accept(&listener);
    agent.write_all(HEAD).unwrap();
    // Unread bytes at the end would cause a reset.
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
fn failed_start_names_the_remedy() {
    let place = Place::new("tap-wrongly");
    place.start("tap", &["--port", "1"]).fails(2, &["1.lock"]);
    let (_editor, port, _) = editor(&place, &[]);
    place.write("there.jsonl", "mine");
    place.start("tap", &["--port", &port, "--out", "there.jsonl"]).fails(2, &["--force"]);
    assert_eq!(place.read("there.jsonl"), "mine");
    assert_eq!(place.in_lock_dir().len(), 1, "a lock file without a tap");
    let mut help = place.start("tap", &["--help"]);
    assert!(help.rest().join("\n").contains("Usage: ide-mcp tap"));
    assert_eq!(help.end().0, Some(0));

    for (text, expected) in [("nonsense\n", "line 1"), ("", "nothing in it")] {
        place.write("bad.jsonl", text);
        let (status, output) = replay(&place, &["bad.jsonl"]);
        assert!(status == Some(2) && output.contains(expected), "{output}");
    }
    let (status, output) = replay(&place, &["missing.jsonl"]);
    assert!(status == Some(2) && output.contains("missing.jsonl"), "{output}");
}
