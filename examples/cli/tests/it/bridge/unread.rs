//! A client that does not read.

use super::client::{INITIALIZE, INITIALIZED};
use super::scripted::{Scripted, silent};
use crate::support::Place;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::iter;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tungstenite::Message;

/// A bridge whose client reads nothing so far, attached to an editor that a test speaks for. One request is open, and the
/// client has been told of it.
fn unread(place: &Place) -> (Child, BufReader<ChildStdout>, Scripted) {
    let listener = silent(place);
    let mut command = place.command("bridge", &[]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = pipes.spawn().unwrap();
    let open = r#"{"jsonrpc":"2.0","id":"open","method":"x/open"}"#;
    child
        .stdin
        .as_mut()
        .unwrap()
        .write_all(format!("{INITIALIZE}\n{INITIALIZED}\n{open}\n").as_bytes())
        .unwrap();
    let mut editor = Scripted::accept(&listener);
    editor.0.get_ref().set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let greeting = editor.hear();
    editor.say(&format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
        greeting["id"]
    ));
    assert_eq!(editor.hear()["method"], "notifications/initialized");
    assert_eq!(editor.hear()["method"], "ide_connected");
    assert_eq!(editor.hear()["method"], "x/open");
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output, editor)
}

fn long(n: usize, length: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"long","params":{{"n":{n},"text":"{}"}}}}"#, "x".repeat(length))
}

/// The messages that were kept: the answer to `initialize`, then all that are long, in their order.
fn all_arrive(output: &mut BufReader<ChildStdout>, count: usize) {
    let mut lines = output.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["id"], "i");
    for n in 0..count {
        assert_eq!(lines.next().unwrap()["params"]["n"], n);
    }
}

#[test]
fn a_client_that_reads_nothing_does_not_cost_it_the_editor() {
    let place = Place::new("bridge-slow");
    let (mut bridge, mut output, mut editor) = unread(&place);
    // More than what makes it take nothing from the client.
    for n in 0..40 {
        editor.say(&long(n, 100_000));
    }
    editor.0.send(Message::Ping("alive".into())).unwrap();
    let heard = editor.0.read().unwrap();
    assert_eq!(heard, Message::Pong("alive".into()));
    all_arrive(&mut output, 40);
    drop(bridge.stdin.take());
    let mut answer = String::new();
    output.read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":\"open\"") && answer.contains("the bridge ends"), "{answer}");
    drop(editor);
    assert!(bridge.wait().unwrap().success());
}

#[test]
fn sixty_four_mebibytes_may_wait_for_a_client_and_behind_them_the_editor_waits() {
    const COUNT: usize = 96;
    let place = Place::new("bridge-full");
    let (mut bridge, mut output, mut editor) = unread(&place);
    let (said, counts) = mpsc::channel();
    let speaks = thread::spawn(move || {
        for n in 0..COUNT {
            editor.say(&long(n, 1 << 20));
            said.send(n).unwrap();
        }
        editor
    });
    for n in 0..64 {
        assert_eq!(counts.recv_timeout(Duration::from_secs(30)).unwrap(), n);
    }
    // Some are in the buffers of the system.
    let more = iter::from_fn(|| counts.recv_timeout(Duration::from_millis(500)).ok()).count();
    assert!(64 + more < COUNT, "there is no end of what it takes");
    all_arrive(&mut output, COUNT);
    drop(speaks.join().unwrap());
    drop(bridge.stdin.take());
    assert!(bridge.wait().unwrap().success());
}
