//! Clients that do not read.

use super::client::{INITIALIZE, INITIALIZED};
use super::scripted::Scripted;
use crate::support::Place;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::iter;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tungstenite::Message;

/// Starts a bridge whose client has read nothing yet, and attaches it to a scripted editor. One
/// request is open, and the editor has received it.
fn unread(place: &Place) -> (Child, BufReader<ChildStdout>, Scripted) {
    let listener = place.listener().0;
    let mut command = place.command("bridge", &[]);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = pipes.spawn().unwrap();
    let open = r#"{"jsonrpc":"2.0","id":"open","method":"x/open"}"#;
    let input = format!("{INITIALIZE}\n{INITIALIZED}\n{open}\n");
    child.stdin.as_mut().unwrap().write_all(input.as_bytes()).unwrap();
    let mut editor = Scripted::accept(&listener);
    editor.0.get_ref().set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    editor.open_session(&json!({}));
    assert_eq!(editor.receive()["method"], "x/open");
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output, editor)
}

fn long(n: usize, length: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"long","params":{{"n":{n},"text":"{}"}}}}"#, "x".repeat(length))
}

/// Checks that all messages arrive: the answer to `initialize`, and then the long messages in order.
fn all_arrive(output: &mut BufReader<ChildStdout>, count: usize) {
    let mut lines = output.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    assert_eq!(lines.next().unwrap()["id"], "i");
    for n in 0..count {
        assert_eq!(lines.next().unwrap()["params"]["n"], n);
    }
}

#[test]
fn unread_output_does_not_lose_the_editor() {
    let place = Place::new("bridge-slow");
    let (mut bridge, mut output, mut editor) = unread(&place);
    // With so much unread output the bridge takes nothing more from the client.
    for n in 0..40 {
        editor.send(&long(n, 100_000));
    }
    editor.0.send(Message::Ping("alive".into())).unwrap();
    let received = editor.0.read().unwrap();
    assert_eq!(received, Message::Pong("alive".into()));
    all_arrive(&mut output, 40);
    drop(bridge.stdin.take());
    let mut answer = String::new();
    output.read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":\"open\"") && answer.contains("the bridge ends"), "{answer}");
    drop(editor);
    assert!(bridge.wait().unwrap().success());
}

#[test]
fn editor_blocks_once_64_mib_are_unread() {
    const COUNT: usize = 96;
    let place = Place::new("bridge-full");
    let (mut bridge, mut output, mut editor) = unread(&place);
    let (text, counts) = mpsc::channel();
    let client_sends = thread::spawn(move || {
        for n in 0..COUNT {
            editor.send(&long(n, 1 << 20));
            text.send(n).unwrap();
        }
        editor
    });
    for n in 0..64 {
        assert_eq!(counts.recv_timeout(Duration::from_secs(30)).unwrap(), n);
    }
    // The buffers of the kernel hold some more messages.
    let more = iter::from_fn(|| counts.recv_timeout(Duration::from_millis(500)).ok()).count();
    assert!(64 + more < COUNT, "the bridge takes messages without a limit");
    all_arrive(&mut output, COUNT);
    drop(client_sends.join().unwrap());
    drop(bridge.stdin.take());
    assert!(bridge.wait().unwrap().success());
}
