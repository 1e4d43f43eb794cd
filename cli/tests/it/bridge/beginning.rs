//! The beginning of a session, and the answers that the client gets if no session begins.

use super::client::{INITIALIZE, INITIALIZED, ask};
use super::scripted::Scripted;
use crate::support::{Place, Process, accept, rewrite};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

#[test]
fn missing_editor_is_reported_at_once() {
    let place = Place::new("bridge-nobody");
    place.start("bridge", &[]).fails(2, &["no editor found"]);
    // The lock file of an editor that is gone, and a lock file with a wrong token.
    let port = place.closed_port();
    let lock = place.publish(port, &json!({}));
    let attempt = |port: &str, reason: &str| {
        let mut bridge = place.start("bridge", &["--port", port]);
        bridge.send_line(INITIALIZE);
        let answer = bridge.json();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("i"), &json!(-32603)), "{answer}");
        bridge.fails(1, &[reason]);
    };
    attempt(&port.to_string(), "cannot be attached to");
    fs::remove_file(lock).unwrap();
    let editor = place.editor(&[]);
    rewrite(&editor.lock, &json!({"authToken": "wrong"}));
    attempt(&editor.port, "401");
    let mut help = place.start("bridge", &["--help"]);
    assert!(help.rest().join("\n").contains("Usage: ide-mcp bridge"));
}

#[test]
fn editor_lost_before_initialize_ends_bridge() {
    let place = Place::new("bridge-gone");
    let mut editor = place.editor(&[]);
    let mut bridge = place.start("bridge", &[]);
    ask(&mut bridge, &json!(0), "ping", &json!({}));
    assert_eq!(bridge.json()["id"], 0);
    editor.hang_up();
    assert_eq!(editor.end().0, Some(0));
    bridge.send_line(INITIALIZE);
    bridge.fails(1, &["no editor found"]);
}

/// Checks that the next line answers this request with an error that contains `reason`.
#[track_caller]
fn refused(bridge: &mut Process, id: &Value, reason: &str) {
    let answer = bridge.json();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (id, &json!(-32603)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(reason), "{answer}");
}

#[test]
fn end_during_attaching_fails_open_requests() {
    let cases: [(&str, fn(&mut Process)); 2] =
        [("the end of the input", Process::hang_up), ("a signal", |bridge| bridge.terminate())];
    for (name, end) in cases {
        let place = Place::new("bridge-silent");
        let listener = place.listener().0;
        let mut bridge = place.start("bridge", &[]);
        bridge.send_line(INITIALIZE);
        // The bridge attaches, and the editor does not answer.
        let _socket = accept(&listener);
        bridge.send_line(INITIALIZED);
        if name == "the end of the input" {
            ask(&mut bridge, &json!(1), "tools/list", &json!({}));
        }
        end(&mut bridge);
        let begin = Instant::now();
        refused(&mut bridge, &json!("i"), "before the editor accepted it");
        if name == "the end of the input" {
            refused(&mut bridge, &json!(1), "before the editor accepted it");
        }
        let (status, output) = bridge.end();
        assert_eq!((status, bridge.rest()), (Some(1), vec![]), "{name}: {output}");
        assert!(output.contains("before the editor accepted it"), "{name}: {output}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{name}: it waits for the editor");
    }
}

#[test]
fn end_without_session_is_success() {
    let cases: [(&str, &str, fn(&mut Process)); 2] = [
        ("the end of the input", "", Process::hang_up),
        ("a signal after a ping", "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}\n", |bridge| {
            // A bridge that answers has set its signal handlers.
            assert_eq!(bridge.json()["id"], 0);
            bridge.terminate();
        }),
    ];
    for (name, text, end) in cases {
        let place = Place::new("bridge-nothing");
        let _listener = place.listener().0;
        let mut bridge = place.start("bridge", &[]);
        bridge.put(text);
        end(&mut bridge);
        assert_eq!(bridge.end(), (Some(0), String::new()), "{name}");
        assert_eq!(bridge.rest(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn unreachable_editor_answers_with_error() {
    let lines = format!("{INITIALIZE}\n{INITIALIZED}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}}\n");
    // No process listens on the port.
    let place = Place::new("bridge-dead");
    place.publish(place.closed_port(), &json!({}));
    let mut bridge = place.start("bridge", &[]);
    bridge.put(&lines);
    bridge.hang_up();
    refused(&mut bridge, &json!("i"), "cannot be attached to");
    // The request after `initialize` gets an error, or no answer if the bridge reads it too late.
    let rest = bridge.rest();
    assert!(rest.iter().all(|line| line.contains("\"id\":1,\"error\"")), "{rest:?}");
    let output = bridge.fails(1, &["cannot be attached to"]);
    assert!(!output.contains("tried again"), "it is over: {output}");

    // The editor closes the socket before it answers `initialize`.
    let place = Place::new("bridge-gone-early");
    let listener = place.listener().0;
    let mut bridge = place.start("bridge", &[]);
    bridge.send_line(INITIALIZE);
    let mut editor = Scripted::accept(&listener);
    assert_eq!(editor.receive()["method"], "initialize");
    drop(editor);
    refused(&mut bridge, &json!("i"), "cannot be attached to");
    bridge.fails(1, &["cannot be attached to"]);
}

#[test]
fn whole_session_can_arrive_at_once() {
    // Some clients write a byte order mark in front of their first line.
    for (name, mark) in [("plain", ""), ("a byte order mark", "\u{feff}")] {
        let place = Place::new("bridge-once");
        let _editor = place.editor(&["--name", "Test Editor"]);
        let mut bridge = place.start("bridge", &[]);
        bridge.put(&format!(
            "{mark}{INITIALIZE}\n{INITIALIZED}\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}}\n"
        ));
        bridge.hang_up();
        let greeting = bridge.json();
        assert_eq!(greeting["result"]["serverInfo"]["name"], "Test Editor", "{name}: {greeting}");
        let answer = bridge.rest_of_json().into_iter().find(|line| line["id"] == 1).unwrap();
        assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 16, "{name}: {answer}");
        assert_eq!(bridge.end(), (Some(0), String::new()), "{name}");
    }
}

/// Starts a bridge whose client has not sent `initialized` yet, and attaches it to a scripted editor.
fn early(place: &Place) -> (Process, Scripted) {
    let listener = place.listener().0;
    let mut bridge = place.start("bridge", &[]);
    bridge.send_line(INITIALIZE);
    let mut editor = Scripted::accept(&listener);
    editor.open_session(&json!({}));
    (bridge, editor)
}

/// Passes a request of the client to the editor, and the answer back. The answer comes after the
/// editor's earlier messages, so by then the bridge has read them all.
pub(super) fn let_editor_answer(bridge: &mut Process, editor: &mut Scripted) {
    ask(bridge, &json!(0), "x/first", &json!({}));
    let request = editor.receive();
    assert_eq!(request["method"], "x/first");
    editor.answer(&request, &json!({}));
    assert_eq!(bridge.json()["id"], 0);
}

#[test]
fn early_editor_request_waits_for_client() {
    let place = Place::new("bridge-early");
    let (mut bridge, mut editor) = early(&place);
    // One request is cancelled meanwhile.
    editor.send(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    editor.send(r#"{"jsonrpc":"2.0","id":2,"method":"never/forwarded"}"#);
    editor.send(r#"{"jsonrpc":"2.0","method":"early"}"#);
    editor.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    assert_eq!(bridge.json()["id"], "i");
    let_editor_answer(&mut bridge, &mut editor);
    bridge.send_line(INITIALIZED);
    let request = bridge.json();
    assert_eq!(request["method"], "roots/list");
    assert_eq!(bridge.json()["method"], "early");
    bridge.send_line(&json!({"jsonrpc": "2.0", "id": request["id"], "result": {"roots": []}}).to_string());
    assert_eq!(editor.receive(), json!({"jsonrpc": "2.0", "id": 1, "result": {"roots": []}}));
    bridge.hang_up();
    assert_eq!(bridge.end(), (Some(0), String::new()));
}

#[test]
fn end_before_initialized_fails_editor_requests() {
    let place = Place::new("bridge-early-end");
    let (mut bridge, mut editor) = early(&place);
    editor.send(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#);
    assert_eq!(bridge.json()["id"], "i");
    let_editor_answer(&mut bridge, &mut editor);
    bridge.hang_up();
    let answer = editor.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)), "{answer}");
    assert_eq!(bridge.end(), (Some(0), String::new()));
}
