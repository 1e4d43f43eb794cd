//! An editor that returns.

use super::beginning::let_editor_answer;
use super::client::{ask, bridge};
use super::scripted::Scripted;
use crate::support::Place;
use serde_json::json;
use std::thread;

#[test]
fn declared_lists_change_when_editor_returns() {
    let changing = json!({"listChanged": true, "subscribe": true});
    let rows: [(_, _, &[&str]); 4] = [
        ("none is declared", json!({}), &["tools"]),
        (
            "two are declared",
            json!({"prompts": changing, "resources": changing}),
            &["tools", "prompts", "resources"],
        ),
        ("one can change", json!({"prompts": {}, "resources": changing}), &["tools", "resources"]),
        (
            "it cannot change",
            json!({"prompts": {"listChanged": false}, "resources": {"listChanged": 1}}),
            &["tools"],
        ),
    ];
    for (name, capabilities, expected) in rows {
        let place = Place::new("bridge-lists");
        let listener = place.listener().0;
        let session = thread::spawn(move || {
            let mut editor = Scripted::accept(&listener);
            editor.open_session(&capabilities);
            (listener, editor)
        });
        let mut bridge = bridge(&place, &[]);
        let (listener, mut editor) = session.join().unwrap();
        let_editor_answer(&mut bridge, &mut editor);
        drop(editor);
        // The capabilities of the editor that returned are not declared to the client.
        let mut editor = Scripted::accept(&listener);
        editor.open_session(&json!({}));
        for list in expected {
            assert_eq!(bridge.json()["method"], format!("notifications/{list}/list_changed"), "{name}");
        }
        let_editor_answer(&mut bridge, &mut editor);
        bridge.terminate();
        bridge.fails(0, &["the editor is back"]);
    }
}

/// The editor dies while the bridge is attached, and another user takes its port, twice.
#[cfg(target_os = "linux")]
#[test]
fn l13_returning_bridge_refuses_another_user() {
    use crate::support::other_user::{MALLORY, as_another_user, can_be_another_user};
    use crate::support::rewrite;
    use std::io::Read as _;
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::time::Duration;

    if !can_be_another_user() {
        return;
    }
    let place = Place::new("bridge-impostor");
    let mut editor = place.editor(&[]);
    let mut bridge = bridge(&place, &[]);
    editor.until("ide_connected");
    // The process id of the dead editor belongs to another program of the current user by now.
    rewrite(&editor.lock, &json!({"pid": std::process::id()}));
    let address = format!("127.0.0.1:{}", editor.port);
    editor.kill();
    let (sender, captured) = mpsc::channel();
    let impostor = as_another_user(move || {
        let listener = TcpListener::bind(address).unwrap();
        for stream in listener.incoming().take(2) {
            // The number of bytes is 0 if the bridge closes the connection.
            let (mut stream, mut bytes) = (stream.unwrap(), vec![0; 4096]);
            let n = stream.read(&mut bytes).unwrap();
            bytes.truncate(n);
            sender.send(String::from_utf8_lossy(&bytes).into_owned()).unwrap();
        }
    });
    for attempt in ["the first", "the second"] {
        let sent = captured.recv_timeout(Duration::from_secs(30)).unwrap();
        assert_eq!(sent, "", "{attempt} attempt");
        ask(&mut bridge, &json!(attempt), "tools/list", &json!({}));
        let answer = bridge.json();
        assert_eq!(answer["id"], attempt);
        assert!(answer["error"]["message"].as_str().unwrap().contains("the editor is away"), "{answer}");
    }
    impostor.join().unwrap();
    bridge.terminate();
    bridge.fails(0, &[&format!("belongs to user {MALLORY}")]);
}
