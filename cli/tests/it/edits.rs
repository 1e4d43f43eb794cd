//! The edits that an agent makes without a question: the events of the editor, the list and the undo.

use crate::support::{Editor, Place, Process};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

/// Asks for problems as the real client does, waits for the answer, and returns the number of the
/// edit.
fn ask(editor: &mut Editor, agent: &mut Process, uri: Option<&str>) -> Value {
    let arguments = uri.map_or_else(|| json!({}), |uri| json!({ "uri": uri }));
    agent.send_line(&format!("getDiagnostics {arguments}"));
    let edit = uri.map(|_| editor.until("edit_expected"));
    agent.event("outcome");
    edit.unwrap_or_default()
}

fn undo(editor: &mut Editor, edit: &Value) -> Value {
    editor.send_line(&json!({"cmd": "undo", "conn": edit["conn"], "edit": edit["edit"]}).to_string());
    loop {
        let event = editor.json();
        if event["event"] == "edit_undone" || event["event"] == "error" {
            return event;
        }
    }
}

/// Checks that an accepted diff is in the list: `agent diff` makes the calls of the real client.
#[test]
fn accepted_diff_is_listed_and_undone() {
    let place = Place::new("edits-diff");
    let mut editor = place.editor(&["--on-diff", "accept"]);
    for text in ["one\n", "two\n"] {
        place.write("new.txt", text);
        let mut agent = place.agent(&["diff", "notes.txt", "new.txt"]);
        assert_eq!(agent.end().0, Some(0));
        let ended = editor.until("edit_ended");
        assert_eq!(ended["confirmed"], true, "{ended}");
        assert_eq!(undo(&mut editor, &ended)["event"], "edit_undone");
        assert!(!fs::exists(place.project().join("notes.txt")).unwrap(), "{text}");
    }
}

#[test]
fn edits_of_agent_are_listed_and_undone() {
    let place = Place::new("edits");
    let at = |name: &str| place.project().join(name);
    let uri = |name: &str| format!("file://{}", at(name).display());
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["calls"]);
    place.write("changed.json", "1\n");
    place.write("removed.json", "2\n");
    place.write("untouched.json", "3\n");
    fs::set_permissions(at("removed.json"), Permissions::from_mode(0o600)).unwrap();
    let mut edits = Vec::new();
    for name in ["created.json", "changed.json", "removed.json", "untouched.json"] {
        edits.push(ask(&mut editor, &mut agent, Some(&uri(name))));
        assert_eq!(edits.last().unwrap()["path"], at(name).to_str().unwrap());
    }
    place.write("created.json", "0\n");
    place.write("changed.json", "10\n");
    fs::remove_file(at("removed.json")).unwrap();
    ask(&mut editor, &mut agent, None);
    for (edit, confirmed) in edits.iter().zip([true, true, true, false]) {
        let ended = editor.until("edit_ended");
        assert_eq!((&ended["edit"], &ended["path"]), (&edit["edit"], &edit["path"]));
        assert_eq!((&ended["reason"], &ended["confirmed"]), (&json!("turn_done"), &json!(confirmed)));
    }

    editor.send_line(r#"{"cmd":"edits"}"#);
    let list = editor.until("edits");
    let kinds: Vec<&Value> = list["edits"].as_array().unwrap().iter().map(|edit| &edit["kind"]).collect();
    assert_eq!(kinds, ["created", "changed", "removed"], "{list}");

    place.write("changed.json", "11\n");
    let refused = undo(&mut editor, &edits[1]);
    assert!(
        refused["message"].as_str().unwrap().ends_with("the file has changed since the edit"),
        "{refused}"
    );
    assert_eq!(place.read("changed.json"), "11\n");
    place.write("changed.json", "10\n");
    for edit in &edits[..3] {
        let undone = undo(&mut editor, edit);
        assert_eq!((&undone["event"], &undone["path"]), (&json!("edit_undone"), &edit["path"]));
    }
    assert!(!at("created.json").exists());
    assert_eq!((place.read("changed.json"), place.read("removed.json")), ("1\n".into(), "2\n".into()));
    assert_eq!(fs::metadata(at("removed.json")).unwrap().permissions().mode() & 0o777, 0o600);
    for edit in &edits {
        let message = undo(&mut editor, edit)["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("there is no edit"), "{message}");
    }
    editor.send_line(r#"{"cmd":"edits"}"#);
    assert_eq!(editor.until("edits")["edits"], json!([]));
}

#[test]
fn files_outside_are_not_read() {
    let place = Place::new("edits-outside");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["calls"]);
    let outside = place.home().join("outside.json");
    fs::write(&outside, "1").unwrap();
    ask(&mut editor, &mut agent, Some(&format!("file://{}", outside.display())));
    fs::write(&outside, "2").unwrap();
    agent.hang_up();
    agent.end();
    let ended = editor.until("edit_ended");
    assert_eq!((&ended["reason"], &ended["confirmed"]), (&json!("disconnected"), &json!(false)));
}
