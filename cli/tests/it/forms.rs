//! Forms: the editor without a screen asks, and a script or a person at a terminal answers.

use crate::support::tmux::{self, Tmux};
use crate::support::{Editor, Place};
use serde_json::{Value, json};

const TESTS: &str = r#"{"message":"Which\u001b tests?","requestedSchema":{"type":"object","properties":{"suite":{"type":"string","enum":["all","failed"],"enumNames":["All of them","Failed"]},"jobs":{"type":"integer","minimum":1,"default":2}},"required":["suite"]}}"#;

/// Returns the command that sends a form, with further members.
fn ask(form: &str, more: &str) -> String {
    format!(r#"{{"cmd":"form","form":{form}{more}}}"#)
}

/// Returns the next answer to a form, without the number of the connection.
fn answer(editor: &mut Editor) -> Value {
    let mut event = editor.until("form_answer");
    assert!(event["conn"].is_u64(), "{event}");
    event.as_object_mut().unwrap().remove("conn");
    event
}

#[test]
fn script_answers_forms_of_the_editor() {
    let place = Place::new("form-script");
    let mut editor = place.editor(&[]);
    place.write(
        "s",
        r#"{"expect":{"event":"form","message":"Which\u001b tests?","requestedSchema":{"required":["suite"]}}}
           {"expect":{"event":"form","message":"second"}}
           {"answer":{"action":"accept","content":{"suite":"failed","jobs":3}}}
           {"answer":{"action":"decline"}}
           {"expect":{"event":"form"}}
           {"answer":{"action":"accept","content":{"suite":"some"}},"unchecked":true}
           {"expect":{"event":"form"}}
           {"expect":{"event":"form_closed","reason":"cancelled"}}
           {"expect":{"event":"form"}}"#,
    );
    let mut script = place.agent(&["--script", "s"]);
    editor.until("ide_connected");
    editor.send_line(&ask(TESTS, ""));
    editor.send_line(&ask(r#"{"message":"second","requestedSchema":{"properties":{}}}"#, r#","conn":1"#));
    let accepted = json!({"event": "form_answer", "line": 1, "action": "accept", "content": {"suite": "failed", "jobs": 3}});
    assert_eq!(answer(&mut editor), accepted);
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 2, "action": "decline"}));
    editor.send_line(&ask(TESTS, ""));
    let error = "the answer of the peer does not fit the request";
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 3, "error": error}));
    editor.send_line(&ask(TESTS, r#","within":50"#));
    let error = "the peer did not answer in time";
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 4, "error": error}));
    // The agent ends while a form is open.
    editor.send_line(&ask(TESTS, ""));
    let error = "the connection ended before the peer answered";
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 5, "error": error}));
    editor.event("closed");
    assert_eq!(script.end(), (Some(0), String::new()));
}

#[test]
fn unusable_form_is_an_error_event() {
    let place = Place::new("form-wrong");
    let mut editor = place.editor(&[]);
    let mut refused = |line: &str, expected: &str| {
        editor.send_line(line);
        let message = editor.until("error")["message"].as_str().unwrap().to_owned();
        assert!(message.contains(expected), "{line}: {message}");
    };
    refused(&ask(TESTS, ""), "no agent is attached");
    refused(&ask(TESTS, r#","conn":7"#), "no connection 7");
    refused(&ask("{}", ""), "this is no form: elicitation/create needs a message");
    refused(
        &ask(r#"{"message":"m","requestedSchema":{"properties":{"a":{}}}}"#, ""),
        "the field \"a\" is of no kind",
    );
    // `calls` reads standard input itself, so it shows no form.
    let _calls = place.agent(&["calls"]);
    let conn = editor.until("connected")["conn"].clone();
    editor.send_line(&ask(TESTS, &format!(r#","conn":{conn}"#)));
    assert_eq!(editor.until("error")["line"], 5);
    let _watch = place.agent(&["watch"]);
    editor.until("connected");
    editor.send_line(&ask(TESTS, ""));
    let message = editor.until("error")["message"].as_str().unwrap().to_owned();
    assert!(message.contains("several agents are attached"), "{message}");
}

#[test]
fn script_with_wrong_answer_fails() {
    let place = Place::new("form-misfit");
    let mut editor = place.editor(&[]);
    let rows = [
        (r#"{"answer":{"action":"cancel"}}"#, 1, "s:1: no form is open"),
        (
            "{\"expect\":{\"event\":\"form\"}}\n{\"answer\":{\"action\":\"accept\",\"content\":{\"suite\":\"some\"}}}",
            1,
            "s:2: the answer does not fit the form: the field \"suite\" has a value that is none of its choices",
        ),
        (r#"{"answer":{"action":"later"}}"#, 2, "s:1: this is no answer to a form"),
    ];
    for (script, status, expected) in rows {
        place.write("s", script);
        let mut agent = place.agent(&["--script", "s"]);
        if script.contains("expect") {
            editor.until("ide_connected");
            let conn = editor.until("roots")["conn"].clone();
            editor.send_line(&ask(TESTS, &format!(r#","conn":{conn}"#)));
        } else if status == 1 {
            editor.until("closed");
        }
        agent.fails(status, &[expected]);
    }
}

/// Starts an editor, and `agent watch` in a terminal, in the background if `mark` is `&`.
fn watched(name: &str, mark: &str) -> (Place, Editor, Tmux) {
    let place = Place::new(name);
    let mut editor = place.editor(&[]);
    let home = place.home();
    let tmux = Tmux::new(&home, &place.project(), &[("HOME", home.to_str().unwrap())]);
    tmux.line(&format!("clear; {} agent watch {mark} echo \"status $?\"", crate::executable()));
    editor.until("ide_connected");
    (place, editor, tmux)
}

#[test]
fn person_answers_forms_at_a_terminal() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-terminal", ";");
    editor.send_line(&ask(TESTS, ""));
    let screen = tmux.wait("a number from 1 to 2 >");
    assert!(screen.contains("\"ide-mcp editor\" asks:\n  | Which\u{fffd} tests?\n"), "{screen}");
    assert!(screen.contains("1/2 suite\n    1  All of them\n    2  Failed\n"), "{screen}");
    tmux.keys(&["Enter"]);
    tmux.wait("a value is required");
    tmux.line("3");
    tmux.wait("this is none of the choices");
    tmux.line("2");
    tmux.wait("a whole number of at least 1, Enter for 2 >");
    tmux.line("0");
    tmux.wait("this is outside the bounds");
    // The next form waits until this one has ended.
    editor.send_line(&ask(r#"{"message":"Go on?","requestedSchema":{"properties":{}}}"#, ""));
    tmux.keys(&["Enter"]);
    let accepted = json!({"event": "form_answer", "line": 1, "action": "accept", "content": {"suite": "failed", "jobs": 2}});
    assert_eq!(answer(&mut editor), accepted);
    tmux.wait("yes or no >");
    tmux.line("yes");
    let accepted = json!({"event": "form_answer", "line": 2, "action": "accept", "content": {}});
    assert_eq!(answer(&mut editor), accepted);
    for (line, keys, action) in
        [(3, &["/decline", "Enter"][..], "decline"), (4, &["C-d"], "cancel"), (5, &["C-d"], "cancel")]
    {
        tmux.line("clear");
        editor.send_line(&ask(TESTS, ""));
        tmux.until("the question", |screen| screen.trim_end().ends_with("a number from 1 to 2 >"));
        tmux.keys(keys);
        assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": line, "action": action}));
    }
}

#[test]
fn closed_form_leaves_the_terminal() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-closed", ";");
    for line in [1, 2] {
        editor.send_line(&ask(TESTS, r#","within":1500"#));
        let error = "the peer did not answer in time";
        assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": line, "error": error}));
        let closed = |screen: &str| screen.matches("the editor closed the form").count() == line;
        tmux.until("the end of the form", closed);
    }
    // The next form takes the next line.
    editor.send_line(&ask(TESTS, ""));
    tmux.until("three questions", |screen| screen.matches("a number from 1 to 2 >").count() == 3);
    tmux.line("/cancel");
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 3, "action": "cancel"}));
    editor.send_line(r#"{"cmd":"quit"}"#);
    tmux.wait("status 1");
}

#[test]
fn closed_form_line_answers_no_later_form() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-stale", ";");
    let confirm =
        |message: &str| format!(r#"{{"message":"{message}","requestedSchema":{{"properties":{{}}}}}}"#);
    // The second round begins in the state that the first one leaves.
    for (round, line) in [(1, 1), (2, 3)] {
        editor.send_line(&ask(&confirm(&format!("Keep {round}?")), r#","within":2000"#));
        tmux.wait(&format!("Keep {round}?"));
        tmux.wait("yes or no >");
        editor.send_line(&ask(&confirm(&format!("Delete {round}?")), ""));
        tmux.type_text("yes");
        let error = "the peer did not answer in time";
        assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": line, "error": error}));
        let delete = format!("Delete {round}?");
        tmux.until("the question", |screen| {
            screen.contains(&delete) && screen.trim_end().ends_with("yes or no >")
        });
        tmux.keys(&["Enter"]);
        tmux.until("the question again", |screen| {
            let after = screen.split(&delete).nth(1).unwrap_or_default();
            after.matches("yes or no >").count() == 2
        });
        tmux.line("no");
        let declined = json!({"event": "form_answer", "line": line + 1, "action": "decline"});
        assert_eq!(answer(&mut editor), declined);
        tmux.line("clear");
    }
}

#[test]
fn session_goes_on_during_a_form() {
    if tmux::is_missing() {
        return;
    }
    let (place, mut editor, tmux) = watched("form-waits", ";");
    place.write("a.txt", "hello\n");
    editor.send_line(&ask(TESTS, ""));
    tmux.wait("a number from 1 to 2 >");
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,5]}"#);
    tmux.wait("selection_changed");
    tmux.line("/decline");
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 1, "action": "decline"}));
}

#[test]
fn agent_in_background_shows_no_form() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-background", "&");
    for line in [1, 2] {
        editor.send_line(&ask(TESTS, ""));
        let event = answer(&mut editor);
        assert_eq!(event["line"], line);
        assert!(event["error"].as_str().unwrap().contains("the agent runs in the background"), "{event}");
    }
    assert!(!tmux.screen().contains("tests?"), "{}", tmux.screen());
}
