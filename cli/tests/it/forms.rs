//! Forms: the editor without a screen asks, and a script or a user at a terminal answers.

use crate::bridge::Scripted;
use crate::support::tmux::{self, Tmux};
use crate::support::{Editor, Place, ignores_hangup};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

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
    refused(&ask("{}", ""), "this is not a form: elicitation/create needs a message");
    refused(
        &ask(r#"{"message":"m","requestedSchema":{"properties":{"a":{}}}}"#, ""),
        "the field \"a\" must be a string",
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
            "s:2: the answer does not fit the form: the field \"suite\" has a value that is not one of its choices",
        ),
        (r#"{"answer":{"action":"later"}}"#, 2, "s:1: this is not an answer to a form"),
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
    let tmux = watching(&place, mark);
    editor.until("ide_connected");
    (place, editor, tmux)
}

/// Starts `agent watch` in a terminal.
fn watching(place: &Place, mark: &str) -> Tmux {
    let home = place.home();
    let tmux = Tmux::new(&home, &place.project(), &[("HOME", home.to_str().unwrap())]);
    let watch = "sh -c 'echo $$ > ../pid; exec \"$0\" agent watch'";
    let watch = format!("{watch} '{}' {mark} echo \"status $?\"", crate::executable());
    tmux.line(&format!("stty -a > ../before; clear; {watch}"));
    tmux
}

/// Checks that the terminal has its settings back, and that the cursor can be seen.
fn assert_sane(place: &Place, tmux: &Tmux, name: &str) {
    tmux.line("stty -a > ../after; echo compare''d");
    tmux.wait("compared");
    let [before, after] = ["../before", "../after"].map(|file| place.read(file));
    assert_eq!(after, before, "{name}");
    assert!(before.contains("icanon"), "{name}: {before}");
    assert_eq!(tmux.format("#{cursor_flag} #{alternate_on}"), "1 0", "{name}");
    tmux.line("clear");
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
    tmux.wait("this is not one of the choices");
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

#[test]
fn every_kind_of_field_is_answered_at_a_terminal() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-kinds", ";");
    let several =
        json!({"type": "array", "items": {"type": "string", "enum": ["x", "y", "z"]}, "minItems": 1});
    // The name of the field, its schema, its prompt, lines that do not fit with their reasons, the line that fits,
    // and the value.
    let rows = [
        (
            "text",
            json!({"type": "string", "minLength": 2, "maxLength": 3}),
            "a text from 2 to 3 characters >",
            [("a", "this is outside the bounds"), ("", "a value is required")],
            "\u{e9}\u{6f22}",
            json!("\u{e9}\u{6f22}"),
        ),
        (
            "mail",
            json!({"type": "string", "format": "email"}),
            "an email address >",
            [("a@", "this does not fit the format"), ("@", "this does not fit the format")],
            "a@b",
            json!("a@b"),
        ),
        (
            "day",
            json!({"type": "string", "format": "date"}),
            "a date, such as 2026-11-24 >",
            [("today", "this does not fit the format"), ("", "a value is required")],
            "2026-11-24",
            json!("2026-11-24"),
        ),
        (
            "whole",
            json!({"type": "integer", "maximum": 9}),
            "a whole number of at most 9 >",
            [("1.5", "this is another kind of value"), ("10", "this is outside the bounds")],
            " 9 ",
            json!(9),
        ),
        (
            "number",
            json!({"type": "number", "default": 0.5}),
            "a number, Enter for 0.5 >",
            [("x", "this is not a number"), ("1e999", "this is not a number")],
            "",
            json!(0.5),
        ),
        (
            "truth",
            json!({"type": "boolean"}),
            "yes or no >",
            [("maybe", "this is neither yes nor no"), ("", "a value is required")],
            "Y",
            json!(true),
        ),
        (
            "choice",
            json!({"type": "string", "oneOf": [{"const": "a", "title": "The a"}, {"const": "b", "title": "The b"}]}),
            "a number from 1 to 2 >",
            [("3", "this is not one of the choices"), ("", "a value is required")],
            "2",
            json!("b"),
        ),
        (
            "several",
            several,
            "comma-separated numbers from 1 to 3, at least 1 of them >",
            [("1,4", "this is not one of the choices"), ("", "a value is required")],
            "3, 1",
            json!(["z", "x"]),
        ),
    ];
    for (line, (name, schema, prompt, misfits, fits, value)) in (1..).zip(rows) {
        let form = json!({"message": name, "requestedSchema": {"type": "object", "properties": {name: schema}, "required": [name]}});
        editor.send_line(&ask(&form.to_string(), ""));
        let at_prompt = |screen: &str| screen.trim_end().ends_with(prompt);
        tmux.until(prompt, at_prompt);
        for (misfit, reason) in misfits {
            tmux.line(misfit);
            let again = format!("{reason}\n  {prompt}");
            tmux.until(&again, |screen| screen.trim_end().ends_with(&again));
        }
        tmux.line(fits);
        let event = answer(&mut editor);
        let expected =
            json!({"event": "form_answer", "line": line, "action": "accept", "content": {name: value}});
        assert_eq!(event, expected, "{name}");
    }
}

/// Each way out of a form leaves the terminal as it was, also under a shell that restores nothing.
#[test]
fn terminal_is_sane_after_each_end_of_a_form() {
    if tmux::is_missing() {
        return;
    }
    type End = fn(&Place, &mut Editor, &Tmux);
    let rows: &[(&str, End, i32)] = &[
        ("the editor ends", |_, editor, _| editor.send_line(r#"{"cmd":"quit"}"#), 1),
        ("Ctrl+C", |_, _, tmux| tmux.keys(&["C-c"]), 130),
        ("Ctrl+\\", |_, _, tmux| tmux.keys(&["C-\\"]), 131),
        ("SIGINT", |place, _, _| signal(place, Signal::INT), 130),
        ("SIGTERM", |place, _, _| signal(place, Signal::TERM), 143),
        ("SIGHUP", |place, _, _| signal(place, Signal::HUP), 129),
    ];
    let rows = if ignores_hangup() { &rows[..rows.len() - 1] } else { rows };
    for (name, end, status) in rows {
        let (place, mut editor, tmux) = watched("form-ends", ";");
        editor.send_line(&ask(TESTS, ""));
        tmux.wait("a number from 1 to 2 >");
        tmux.type_text("begun");
        tmux.wait("> begun");
        end(&place, &mut editor, &tmux);
        let shell = Instant::now();
        while tmux.format("#{pane_current_command}") != "sh" {
            assert!(shell.elapsed() < Duration::from_secs(30), "{name}:\n{}", tmux.screen());
        }
        // A shell that gets Ctrl+C leaves out the rest of the line.
        tmux.line("echo then $?");
        let is_it = |screen: &str| {
            screen.contains(&format!("status {status}\n")) || screen.contains(&format!("then {status}\n"))
        };
        tmux.until(&format!("{name}: {status}"), is_it);
        assert_sane(&place, &tmux, name);
    }
}

/// An agent that ignores SIGHUP goes on when its terminal is gone, and closes the form that was open.
#[test]
fn form_is_closed_without_its_terminal() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("form-gone");
    let mut editor = place.editor(&[]);
    let home = place.home();
    let tmux = Tmux::new(&home, &place.project(), &[("HOME", home.to_str().unwrap())]);
    tmux.line(&format!("trap '' HUP; '{}' agent watch > ../out", crate::executable()));
    editor.until("ide_connected");
    editor.send_line(&ask(TESTS, ""));
    tmux.wait("a number from 1 to 2 >");
    drop(tmux);
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 1, "action": "cancel"}));
    editor.send_line(&ask(r#"{"message":"m","requestedSchema":{"properties":{}}}"#, ""));
    assert_eq!(answer(&mut editor), json!({"event": "form_answer", "line": 2, "action": "cancel"}));
}

/// Sends a signal to the agent of [`watching`].
fn signal(place: &Place, signal: Signal) {
    let pid = Pid::from_raw(place.read("../pid").trim().parse().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Ctrl+Z gives the terminal to the shell; the form is still there afterwards, with what the user has typed.
#[test]
fn form_survives_ctrl_z() {
    if tmux::is_missing() {
        return;
    }
    let (place, mut editor, tmux) = watched("form-stops", ";");
    editor.send_line(&ask(r#"{"message":"m","requestedSchema":{"properties":{"t":{"type":"string"}}}}"#, ""));
    for round in 1..=2 {
        tmux.until("the line", |screen| screen.trim_end().ends_with(["", "> ", "> a"][round].trim_end()));
        tmux.type_text("a");
        tmux.until("the key", |screen| screen.trim_end().ends_with(&format!("> {}", "a".repeat(round))));
        tmux.keys(&["C-z"]);
        tmux.until("the shell", |_| tmux.format("#{pane_current_command}") == "sh");
        assert_sane(&place, &tmux, "stopped");
        tmux.line("fg");
    }
    tmux.until("the line", |screen| screen.trim_end().ends_with("> aa"));
    tmux.keys(&["Enter"]);
    let accepted = json!({"event": "form_answer", "line": 1, "action": "accept", "content": {"t": "aa"}});
    assert_eq!(answer(&mut editor), accepted);
}

#[test]
fn editor_is_answered_while_a_form_is_open() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("form-pings");
    let (listener, _) = place.listener();
    let tmux = watching(&place, ";");
    let mut editor = Scripted::accept(&listener);
    editor.open_session(&json!({}));
    let form = |id: u32, message: &str| {
        let params = json!({"message": message, "requestedSchema": {"type": "object", "properties": {"t": {"type": "string"}}}});
        json!({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params}).to_string()
    };
    let withdraw = |id: u32| {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string()
    };
    editor.send(&form(1, "first"));
    editor.send(&form(2, "second"));
    tmux.until("the line", |screen| screen.trim_end().ends_with("Enter for none >"));
    tmux.type_text("half");
    tmux.wait("> half");
    // The answer to a call and to a ping do not wait for the user.
    editor.send(&json!({"jsonrpc": "2.0", "id": 100, "method": "ping"}).to_string());
    assert_eq!(editor.receive(), json!({"jsonrpc": "2.0", "id": 100, "result": {}}));
    editor.send(&json!({"jsonrpc": "2.0", "id": 101, "method": "nosuch"}).to_string());
    assert_eq!(editor.receive()["error"]["code"], -32601);
    // The agent prints above the line of the user.
    editor.send(r#"{"jsonrpc":"2.0","method":"noted","params":{}}"#);
    let screen = tmux.until("the line below the event", |screen| {
        screen.contains("notification noted") && screen.trim_end().ends_with("> half")
    });
    assert!(screen.lines().any(|line| line.ends_with("editor → notification noted {}")), "{screen}");
    let begin = Instant::now();
    editor.send(&withdraw(1));
    let screen = tmux.wait("the editor closed the form");
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert!(screen.contains("> half\n  the editor closed the form\n"), "{screen}");
    // The next form begins with an empty line, and its answer is the next message.
    tmux.until("the second form", |screen| {
        screen.contains("| second") && screen.trim_end().ends_with("Enter for none >")
    });
    tmux.line("whole");
    let answer = editor.receive();
    assert_eq!((&answer["id"], &answer["result"]["content"]), (&json!(2), &json!({"t": "whole"})));
    // The last one ends with the connection.
    editor.send(&form(3, "third"));
    tmux.until("the third form", |screen| {
        screen.contains("| third") && screen.trim_end().ends_with("Enter for none >")
    });
    drop(editor);
    let screen = tmux.wait("status 1");
    assert!(screen.contains("the connection ended; the form is closed\n"), "{screen}");
    assert_sane(&place, &tmux, "the connection ends");
}

/// The last line stays in its row, however long it is, and the answer is the whole line.
#[test]
fn form_fits_a_small_terminal() {
    if tmux::is_missing() {
        return;
    }
    let (_place, mut editor, tmux) = watched("form-small", ";");
    tmux.resize(40, 10);
    let form = json!({"message": "A message that is longer than this terminal is wide", "requestedSchema": {"properties": {
        "t": {"type": "string", "minLength": 2, "default": "a default that takes its room"},
    }}});
    let send = |editor: &mut Editor| editor.send_line(&ask(&form.to_string(), ""));
    let accepted = |line: u32, text: &str| json!({"event": "form_answer", "line": line, "action": "accept", "content": {"t": text}});
    send(&mut editor);
    let screen = tmux.until("the line", |screen| screen.trim_end().ends_with("\n  >"));
    assert!(screen.contains(" for \"a default that takes its room\"\n  >"), "{screen}");
    // A line that is longer than its row: the end is visible and, after Home, the beginning.
    tmux.type_text(&format!("begin{}end", "\u{6f22}".repeat(40)));
    tmux.until("the end", |screen| screen.trim_end().ends_with("\u{6f22}end"));
    tmux.keys(&["Home"]);
    tmux.until("the beginning", |screen| screen.lines().any(|line| line.starts_with("  > begin\u{6f22}")));
    assert_eq!(tmux.format("#{cursor_x}"), "4");
    // The usual keys for editing a line. A wider terminal shows more of it.
    tmux.keys(&["DC", "End", "BSpace", "Left", "X", "C-a", "Right"]);
    tmux.resize(60, 10);
    tmux.keys(&["Y", "Enter"]);
    let text = format!("eYgin{}eXn", "\u{6f22}".repeat(40));
    assert_eq!(answer(&mut editor), accepted(1, &text));
    send(&mut editor);
    tmux.resize(40, 10);
    tmux.until("the line", |screen| screen.trim_end().ends_with("\n  >"));
    // At the limit of 4,096 characters, further characters are ignored, and nothing is lost.
    tmux.type_text(&"x".repeat(4090));
    tmux.until("many keys", |screen| screen.trim_end().ends_with(&"x".repeat(30)));
    tmux.type_text("abcdefgh");
    tmux.until("the limit", |screen| screen.trim_end().ends_with("xabcdef"));
    // Keys that shorten the line still work. Ctrl+Y puts back what Ctrl+W removed, here only once: there is no
    // more room.
    tmux.keys(&["C-w"]);
    tmux.until("nothing", |screen| screen.trim_end().ends_with("\n  >"));
    tmux.keys(&["C-y", "C-y", "Enter"]);
    assert_eq!(answer(&mut editor), accepted(2, &format!("{}abcdef", "x".repeat(4090))));
    send(&mut editor);
    tmux.until("the line", |screen| screen.trim_end().ends_with("\n  >"));
    tmux.keys(&["Enter"]);
    assert_eq!(answer(&mut editor), accepted(3, "a default that takes its room"));
}
