//! The short examples do what their first lines say: an agent finds each, is answered, and their lock file goes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "a test says what it expects, and waits for real processes"
)]

mod support;

use ide_mcp::ide::is_display_unsafe;
use std::time::{Duration, Instant};
use std::{fs, thread};
use support::{Place, Process};

/// Waits for its lock file.
fn published(place: &Place, program: &str) -> Process {
    let process = place.start(program, &[]);
    place.published(program, None);
    process
}

fn agent(place: &Place, arguments: &[&str]) -> Vec<String> {
    let mut agent = place.agent(arguments);
    let said = agent.rest();
    let (status, problem) = agent.end();
    assert_eq!(status, Some(0), "{arguments:?}: {problem}");
    said
}

/// As soon as it was told to: a loop that lost its wake-up waits for longer.
fn ends(place: &Place, mut process: Process) {
    let begin = Instant::now();
    let (status, problem) = process.end();
    assert_eq!(status, Some(0), "{problem}");
    assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
    assert!(place.in_lock_dir().is_empty());
}

/// Proposes a change, which these editors accept, and the agent writes.
fn diff_is_accepted(place: &Place) {
    let proposal = place.write("proposal", "proposed\n");
    agent(place, &["diff", "new.txt", &proposal]);
    assert_eq!(place.read("new.txt"), "proposed\n");
}

#[test]
fn minimal_server() {
    let place = Place::new("minimal");
    let mut editor = published(&place, "minimal_server");
    assert!(agent(&place, &["tools"])[0].starts_with("openDiff"));
    assert_eq!(agent(&place, &["call", "getDiagnostics"]), ["[]"]);
    diff_is_accepted(&place);
    editor.hang_up();
    ends(&place, editor);
}

#[test]
fn mio_loop() {
    let place = Place::new("mio-loop");
    let mut editor = published(&place, "mio_loop");
    assert!(editor.line().starts_with("listening on port "));
    let verdict =
        |uri: &str| agent(&place, &["call", "getDiagnostics", &format!(r#"{{"uri":"{uri}"}}"#)]).concat();
    assert!(verdict("file:///draft.txt").contains("this is a draft"));
    assert_eq!(editor.line(), "ide-mcp-agent is attached");
    assert_eq!(verdict("file:///done.txt"), r#"[{"uri":"file:///done.txt","diagnostics":[]}]"#);
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn frame_loop() {
    let place = Place::new("frame-loop");
    let editor = published(&place, "frame_loop");
    assert_eq!(agent(&place, &["call", "getDiagnostics"]), ["[]"]);
    diff_is_accepted(&place);
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn frame_loop_goes_on_where_its_lock_file_cannot_be_looked_after() {
    let place = Place::new("frame-disk");
    let mut editor = published(&place, "frame_loop");
    let away = place.home().join("away");
    fs::rename(place.lock_dir(), &away).unwrap();
    fs::write(place.lock_dir(), "no directory").unwrap();
    // It is tried again every 5 s, so twice in this time.
    thread::sleep(Duration::from_secs(11));
    fs::remove_file(place.lock_dir()).unwrap();
    place.published("frame_loop, which found no directory,", None);
    agent(&place, &["tools"]);
    editor.terminate();
    let (status, said) = editor.end();
    assert_eq!(status, Some(0), "{said}");
    assert_eq!(said.matches("lock file").count(), 1, "{said}");
    assert!(place.in_lock_dir().is_empty());
}

#[test]
fn nested_poll() {
    let place = Place::new("nested-poll");
    let mut editor = published(&place, "nested_poll");
    assert!(editor.line().starts_with("listening on port "));
    agent(&place, &["tools"]);
    assert_eq!(editor.line(), "an agent is attached");
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn smol_loop() {
    attached_and_answered("smol_loop");
}

#[test]
fn blocking_loop() {
    attached_and_answered("blocking_loop");
}

fn attached_and_answered(program: &str) {
    let place = Place::new(program);
    let mut editor = published(&place, program);
    assert!(editor.line().starts_with("listening on port "));
    assert_eq!(agent(&place, &["call", "getDiagnostics"]), ["[]"]);
    assert_eq!(editor.line(), "ide-mcp-agent is attached");
    diff_is_accepted(&place);
    editor.terminate();
    ends(&place, editor);
}

#[test]
fn tracer() {
    let mut tracer = Place::new("tracer").start("tracer", &[]);
    let lines = tracer.rest();
    let obeyed = lines.iter().find(|line| line.contains(is_display_unsafe));
    assert_eq!(obeyed, None, "a terminal would not show it, but obey");
    let said = lines.join("\n");
    assert_eq!(tracer.end(), (Some(0), String::new()));
    for line in
        ["◀ GET / HTTP/1.1", "▶ HTTP/1.1 101 Switching Protocols", "  Ready {", "▶ Close", "  Closed(Remote"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(said.contains("  Notification {") && said.contains("\u{fffd}2J"), "{said}");
    assert!(said.contains(r#"◀ Text {"jsonrpc":"2.0","id":2,"method":"tools/call""#), "{said}");
    assert!(!said.contains("a-token-of-this-example"), "{said}");
}
