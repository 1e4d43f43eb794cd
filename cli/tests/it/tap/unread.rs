//! A transcript on standard output that nobody reads.

use super::programs::{Tap, editor, replay_both};
use super::{HEAD, SWITCHING};
use crate::support::{Place, Process, accept, ignores_hangup};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::ChildStdout;
use std::thread;
use std::time::{Duration, Instant};

/// Starts a tap, and returns it and its standard output with the unread transcript.
fn unread(place: &Place, port: &str) -> (Tap, ChildStdout) {
    let (process, out) = Process::spawn_unread("tap", &mut place.command("tap", &["--port", port]));
    (Tap::of(process, place, port), out)
}

/// Passes a diff that is larger than the buffer of a pipe through the tap.
fn diff(place: &Place, tap: &Tap, editor: &mut Process) {
    let mut agent = tap.agent(place, &["calls"]);
    let contents = "x".repeat(400_000);
    agent.propose("t", &contents);
    assert_eq!(editor.until("diff")["contents"], contents.as_str(), "the messages still pass");
    editor.send_line(r#"{"cmd":"answer","verdict":"accept"}"#);
    agent.event("outcome");
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn unread_transcript_delays_no_message() {
    let place = Place::new("tap-unread");
    let (mut editor, port, _) = editor(&place, &[]);
    let (mut tap, out) = unread(&place, &port);
    diff(&place, &tap, &mut editor);
    tap.process.terminate();
    tap.process.fails(1, &["the record ends here: nobody reads it"]);
    assert!(!tap.lock.exists(), "the lock file is left behind");
    drop(out);
}

#[test]
fn late_reader_gets_whole_transcript() {
    let place = Place::new("tap-late");
    let (mut editor, port, _) = editor(&place, &[]);
    let (mut tap, mut out) = unread(&place, &port);
    diff(&place, &tap, &mut editor);
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).map(|_| text)
    });
    tap.stop();
    place.write("t.jsonl", &reader.join().unwrap().unwrap());
    for side in ["editor", "agent"] {
        let (status, output) = replay_both(&place, &["--side", side, "t.jsonl"]);
        assert_eq!(status, Some(0), "{side}: {output}");
    }
}

/// Opens two sockets with the tap between them. The agent has sent `len` bytes to the editor, which
/// has read them.
fn flood(tap: &Tap, listener: &std::net::TcpListener, len: usize) -> (TcpStream, TcpStream) {
    let mut agent = TcpStream::connect(("127.0.0.1", tap.port)).unwrap();
    let mut editor = accept(listener);
    agent.write_all(HEAD).unwrap();
    editor.read_exact(&mut [0; HEAD.len()]).unwrap();
    editor.write_all(SWITCHING).unwrap();
    agent.read_exact(&mut [0; SWITCHING.len()]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (&agent).write_all(&vec![b'x'; len]).unwrap());
        let received = std::io::copy(&mut (&editor).take(len as u64), &mut std::io::sink()).unwrap();
        assert_eq!(received, len as u64, "the messages still pass");
    });
    (agent, editor)
}

#[test]
fn overfull_transcript_ends_with_whole_line() {
    // The limit in cli/src/support/writer.rs. A pipe holds some more.
    const MOST: usize = 16 << 20;
    let place = Place::new("tap-full");
    let (listener, port) = place.listener();
    let (mut tap, out) = unread(&place, &port);
    let sockets = flood(&tap, &listener, MOST + (4 << 20));
    let reader = thread::spawn(move || {
        let mut len = 0;
        for line in BufReader::new(out).lines() {
            let line = line.unwrap();
            serde_json::from_str::<Value>(&line).unwrap();
            len += line.len() + 1;
        }
        len
    });
    drop(sockets);
    tap.process.terminate();
    let ends = "the record ends here: nobody reads it";
    tap.process.fails(1, &[ends, "the messages still pass, unrecorded"]);
    let len = reader.join().unwrap();
    assert!((MOST..MOST + (1 << 20)).contains(&len), "{len}");
}

/// A closed terminal can send SIGHUP twice.
#[test]
fn second_hangup_loses_nothing() {
    if ignores_hangup() {
        return;
    }
    let place = Place::new("tap-hangup");
    let (listener, port) = place.listener();
    let (mut tap, mut out) = unread(&place, &port);
    let sockets = flood(&tap, &listener, 1 << 20);
    tap.process.signal(Signal::HUP);
    await_removal(&tap.lock);
    tap.process.signal(Signal::HUP);
    drop(sockets);
    let reader = thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let (status, output) = tap.process.end();
    assert_eq!(status, Some(0), "{output}");
    assert!(reader.join().unwrap().unwrap() > 1 << 20);
}

#[test]
fn second_signal_ends_at_once() {
    let place = Place::new("tap-twice");
    let (listener, port) = place.listener();
    let (mut tap, out) = unread(&place, &port);
    let sockets = flood(&tap, &listener, 1 << 20);
    tap.process.terminate();
    await_removal(&tap.lock);
    // After one signal the tap waits for the end of both sockets, and then for a reader of the
    // transcript.
    tap.process.terminate();
    tap.process.fails(1, &["the record ends here: it was given up"]);
    drop((sockets, out));
}

fn await_removal(lock: &Path) {
    let begin = Instant::now();
    while lock.exists() {
        assert!(begin.elapsed() < Duration::from_secs(10), "the lock file stays");
        thread::sleep(Duration::from_millis(1));
    }
}
