//! The live view of the tap.

use super::programs::{Tap, editor, replay};
use crate::support::terminal::{at, terminal};
use crate::support::{Place, Process, ended};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::fs::File;
use std::io::Read as _;
use std::process::Child;
use std::time::{Duration, Instant};

/// Starts a tap at a terminal with 200 columns, and returns the user's side and the port of the tap.
fn at_terminal(place: &Place, editor: &str, variables: &[(&str, &str)]) -> (Child, File, String) {
    let (person, program) = terminal();
    let mut command = place.command("tap", &["--port", editor, "--out", "t.jsonl"]);
    let tap = at(&program, command.env_remove("NO_COLOR").envs(variables.iter().copied()));
    let lock = place.published("the tap", Some(editor));
    (tap, person, lock.file_stem().unwrap().to_str().unwrap().into())
}

fn interrupt(tap: &Child) {
    let pid = Pid::from_raw(i32::try_from(tap.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
}

/// Reads the terminal until it has shown this text.
fn shown(person: &mut File, text: &str) -> String {
    let (mut shown, mut buf) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&shown).contains(text) {
        let read = person.read(&mut buf).unwrap();
        shown.extend_from_slice(&buf[..read]);
    }
    String::from_utf8(shown).unwrap()
}

#[test]
fn terminal_shows_messages_in_colors() {
    let cases: [(&str, &[(&str, &str)], bool); 2] =
        [("colors", &[], true), ("none", &[("NO_COLOR", "1")], false)];
    for (name, variables, has_colors) in cases {
        let place = Place::new("tap-colors");
        let (_editor, port, token) = editor(&place, &[]);
        let (tap, mut person, own) = at_terminal(&place, &port, variables);
        let argument = json!({ "uri": format!("file:///{token}日本{}", "x".repeat(300)) }).to_string();
        let mut agent = place.agent(&["--port", &own, "call", "getDiagnostics", &argument]);
        let screen = shown(&mut person, "agent  → end ");
        agent.end();
        interrupt(&tap);
        let (status, output) = ended(tap);
        assert_eq!(status, Some(0), "{output}");
        let row =
            screen.lines().find(|row| row.contains("getDiagnostics #") && row.contains("{\"uri\"")).unwrap();
        assert_eq!(row.starts_with("\u{1b}[36m "), has_colors, "{name}: {row:?}");
        let row = row.trim_end().trim_start_matches("\u{1b}[36m").trim_end_matches("\u{1b}[0m");
        assert!(row.contains(&format!("{}日本xxx", "*".repeat(token.len()))), "{row}");
        // Two characters take two columns each.
        assert!(row.ends_with("xx…") && row.chars().count() == 198, "{} {row}", row.chars().count());
        for part in ["the record is t.jsonl", "ide-mcp replay --list t.jsonl"] {
            assert!(output.contains(part), "{output}");
        }
        assert_eq!(replay(&place, &["t.jsonl"]).0, Some(0));
    }
}

#[test]
fn unread_view_delays_no_message() {
    let place = Place::new("tap-unseen");
    let (_editor, port, _) = editor(&place, &[]);
    let (tap, _person, own) = at_terminal(&place, &port, &[]);
    let mut agent = place.agent(&["--port", &own, "calls"]);
    // 200 rows of 200 columns are ten times the buffer of a terminal.
    for _ in 0..100 {
        agent.send_line(&format!(
            "getDiagnostics {}",
            json!({ "uri": format!("file:///{}", "x".repeat(1000)) })
        ));
        agent.event("outcome");
    }
    agent.hang_up();
    agent.end();
    interrupt(&tap);
    let begin = Instant::now();
    let (status, output) = ended(tap);
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    assert!(
        status == Some(0) && output.contains("the live view ends here: nobody reads it"),
        "{status:?} {output}"
    );
    let (status, output) = replay(&place, &["t.jsonl"]);
    assert_eq!(status, Some(0), "{output}");
}

#[test]
fn json_has_the_port_and_the_end() {
    let rows: [(&str, &[&str], serde_json::Value); 2] =
        [("recorded", &["--out", "t.jsonl"], json!("t.jsonl")), ("no record", &[], json!(null))];
    for (name, arguments, record) in rows {
        let place = Place::new("tap-json");
        let (_editor, port, _) = editor(&place, &[]);
        let mut tap = place.start("tap", &[&["--json", "--port", &port], arguments].concat());
        let listening = tap.event("listening");
        let lock = place.published("the tap", Some(&port));
        let own = listening["port"].to_string();
        assert_eq!(lock.file_stem().unwrap().to_str(), Some(own.as_str()), "{name}");
        assert_eq!(listening["lock"], lock.to_str().unwrap(), "{name}");
        assert_eq!(listening["editor"]["port"].to_string(), port, "{name}");
        place.agent(&["--port", &own, "call", "getOpenEditors"]).end();
        tap.terminate();
        assert_eq!(tap.event("over"), json!({"event": "over", "record": record, "complete": true}), "{name}");
        let (status, output) = tap.end();
        let is_about_the_connection = |line: &str| line.starts_with("tap: 1: ");
        assert!(
            status == Some(0) && output.lines().all(is_about_the_connection),
            "{name}: {status:?} {output}"
        );
        if record.is_string() {
            assert_eq!(replay(&place, &["t.jsonl"]).0, Some(0), "{name}");
        }
    }
    let place = Place::new("tap-json-alone");
    let mut tap = place.start("tap", &["--json"]);
    let error = tap.event("error");
    assert!(error["message"].as_str().unwrap().contains("no lock files"), "{error}");
    tap.fails(2, &["no lock files"]);
}

#[test]
fn lost_reader_ends_only_the_view() {
    let place = Place::new("tap-reader");
    let (_editor, port, _) = editor(&place, &[]);
    let mut command = place.command("tap", &["--port", &port, "--live", "--out", "t.jsonl"]);
    let (process, out) = Process::spawn_unread("tap", &mut command);
    let mut tap = Tap::of(process, &place, &port);
    drop(out);
    for _ in 0..2 {
        tap.agent(&place, &["call", "getOpenEditors"]).end();
    }
    tap.process.terminate();
    let output = tap.process.fails(0, &["the live view ends here: ", "the record is t.jsonl"]);
    assert_eq!(output.matches("the live view ends here").count(), 1, "{output}");
    let (status, output) = replay(&place, &["t.jsonl"]);
    assert!(status == Some(0) && output.contains("on 2 connections"), "{output}");
}

#[test]
fn view_and_list_show_equal_rows() {
    let place = Place::new("tap-rows");
    let (_editor, port, _) = editor(&place, &["--on-diff", "accept"]);
    let view = |arguments: &[&str]| {
        let arguments = [&["--port", &port, "--live"], arguments].concat();
        let mut tap = Tap::of(place.start("tap", &arguments), &place, &port);
        let mut agent = tap.agent(&place, &["calls"]);
        agent.propose("t", "new");
        agent.event("outcome");
        agent.hang_up();
        agent.end();
        tap.process.terminate();
        let rows = tap.process.rest();
        (rows, tap.process.end())
    };
    let (rows, (status, output)) = view(&["--out", "t.jsonl"]);
    assert!(status == Some(0) && output.contains("the record is t.jsonl"), "{output}");
    let (_, listed) = replay(&place, &["--list", "t.jsonl"]);
    assert_eq!(rows, listed.lines().collect::<Vec<_>>());
    assert!(
        rows.iter().any(|row| row.contains("answer       openDiff #") && row.contains("FILE_SAVED | new"))
    );

    let (rows, (status, output)) = view(&["--only", "diff", "--only", "-request"]);
    assert!(status == Some(0) && output.contains("nothing was recorded"), "{output}");
    assert!(rows.len() == 1 && rows[0].contains("editor → answer       openDiff #"), "{rows:?}");
    let (_, listed) = replay(&place, &["--list", "t.jsonl", "--only", "diff", "--only", "-request"]);
    assert!(listed.lines().count() == 1 && listed.contains("FILE_SAVED"), "{listed}");
    place.start("tap", &["--port", &port, "--only", "diff"]).fails(2, &["--live"]);
}
