//! The editor that comes back.

use super::beginning::let_editor_answer;
use super::client::bridge;
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
        // The capabilities of the editor that comes back are not declared to the client.
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
