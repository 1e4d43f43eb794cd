//! The lines of the sidecar: wrong ones, and their pieces.

use super::{config, sidecar};
use crate::support::{Place, Process};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};

#[test]
fn wrong_line_names_itself_and_its_member() {
    let place = Place::new("sidecar-wrong");
    let mut editor = sidecar(&place, &json!({}));
    let rows = [
        (2, "dance", "expected value at column 1"),
        (4, "\n{\"cmd\":\"select\",\"path\":7}", "select: `path` must be a string"),
        (
            5,
            "{\"cmd\":\"allow\",\"conn\":1,\"who\":2}",
            "allow: `who` is not a member of allow, which has conn",
        ),
        (6, "{\"cmd\":\"respond\",\"call\":3}", "`call` 3 is not a call"),
    ];
    for (line, text, expected) in rows {
        editor.send_line(text);
        let error = editor.event("error");
        assert!(error["line"] == line && error["message"].as_str().unwrap().contains(expected), "{error}");
    }
    editor.send_line("{\"cmd\":\"status\"}");
    assert_eq!(editor.event("status")["line"], 7);
}

#[test]
fn lines_in_pieces_of_one_byte_work() {
    let place = Place::new("sidecar-bytes");
    let (mut process, mut out) = Process::spawn_unread("sidecar", &mut place.command("sidecar", &[]));
    let input = format!("{}\r\n{{\"cmd\":\"status\"}}\n{{\"cmd\":\"quit\"}}", config(&place, &json!({})));
    for byte in input.chars() {
        process.put(&byte.to_string());
    }
    process.hang_up();
    let (mut text, mut byte) = (Vec::new(), [0]);
    while out.read(&mut byte).unwrap() == 1 {
        text.push(byte[0]);
    }
    let text = String::from_utf8(text).unwrap();
    let names: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone()).collect();
    assert_eq!(names, ["listening", "status", "stopping", "over"], "{text}");
}

#[test]
fn too_long_line_is_skipped() {
    let place = Place::new("sidecar-too-long");
    let mut editor = sidecar(&place, &json!({}));
    let piece = "x".repeat(1 << 20);
    (0..97).for_each(|_| editor.put(&piece));
    editor.send_line("");
    let error = editor.event("error");
    assert!(error["line"] == 2 && error["message"].as_str().unwrap().contains("100728832"), "{error}");
    editor.send_line("{\"cmd\":\"status\"}");
    assert_eq!(editor.event("status")["line"], 3);
}

#[test]
fn wrong_configuration_does_not_start_the_sidecar() {
    let place = Place::new("sidecar-config");
    for (name, text, expected) in [
        ("no input", &b""[..], "the configuration is missing: end of standard input"),
        ("no JSON", b"{\n", "the configuration cannot be used: it is not an object"),
        ("no text", b"\xff\n", "the configuration is not UTF-8"),
        ("no folders", b"{\"name\":\"E\"}\n", "`folders` is missing"),
    ] {
        let mut command = place.command("sidecar", &[]);
        let pipes = command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = pipes.stderr(std::process::Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text).unwrap();
        let output = child.wait_with_output().unwrap();
        let event: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(
            event["line"] == 1 && event["message"].as_str().unwrap().contains(expected),
            "{name}: {event}"
        );
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(String::from_utf8(output.stderr).unwrap().contains(expected), "{name}");
    }
    assert!(place.in_lock_dir().is_empty());
}
