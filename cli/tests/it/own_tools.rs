//! The tools that a user ties to programs of their own, in the editor without a screen.

use crate::support::Place;
use rustix::process::{Pid, test_kill_process};
use serde_json::json;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

/// Returns the list of tools, once the editor has read its command and the list has this text; at the latest after 10
/// s.
fn offered(place: &Place, text: &str) -> String {
    let until = Instant::now() + Duration::from_secs(10);
    loop {
        let tools = place.agent(&["tools"]).rest().join("\n");
        if tools.contains(text) || Instant::now() > until {
            return tools;
        }
    }
}

#[test]
fn program_answers_a_call_and_no_shell_reads_the_arguments() {
    let place = Place::new("own-tools");
    let mut editor = place.editor(&[]);
    let own = json!([
        {"name": "echo", "description": "Says the arguments", "schema": {"type": "object", "properties": {"a": {}}}, "run": ["cat"]},
        {"name": "here", "run": ["./here.sh", "$(touch bad)", "a b"]},
        {"name": "missing", "run": ["./none"]},
        {"name": "block", "run": ["printf", r#"{"content":[{"type":"text","text":"b"}],"isError":true}"#]},
    ]);
    let script = place.write("here.sh", "#!/bin/sh\npwd\necho \"$1|$2\"\n");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    editor.send_line(&json!({"cmd": "tools", "offer": ["openFile"], "own": own}).to_string());
    let tools = offered(&place, "Says the arguments");
    assert!(tools.contains("Says the arguments") && tools.contains("openFile"), "{tools}");
    let project = place.project().canonicalize().unwrap();
    let hostile = r#"{"a":"$(touch bad); \"'`touch bad`"}"#;
    let rows = [
        ("echo", hostile, 0, hostile.to_owned()),
        ("here", "{}", 0, format!("{}\n$(touch bad)|a b", project.display())),
        ("missing", "{}", 1, "missing: \"./none\" cannot be started".into()),
        ("block", "{}", 1, "b".into()),
    ];
    for (tool, arguments, status, expected) in rows {
        let mut agent = place.agent(&["call", tool, arguments]);
        let output = agent.rest().join("\n");
        let (ended, complaint) = agent.end();
        assert_eq!(ended, Some(status), "{tool}: {output}{complaint}");
        assert!(format!("{output}{complaint}").contains(&expected), "{tool}: {output}{complaint}");
        assert_eq!(editor.until("call")["tool"], tool);
    }
    assert!(!place.project().join("bad").exists());
    editor.send_line(r#"{"cmd":"pause"}"#);
    editor.until("paused");
    let refused = place.agent(&["call", "echo", "{}"]).rest().concat();
    assert!(!refused.contains("{}"), "{refused}");
    editor.send_line(r#"{"cmd":"tools","offer":[],"own":[{"name":"openFile","run":["cat"]}]}"#);
    let problem = editor.until("error");
    assert!(problem["message"].as_str().unwrap().contains("\"openFile\" cannot name"), "{problem}");
}

/// A program ends with its call, and with the editor.
#[test]
fn program_ends_with_its_call_and_with_the_editor() {
    for end in ["call", "editor"] {
        let place = Place::new("own-tools-end");
        let mut editor = place.editor(&[]);
        let run = ["sh", "-c", "echo $$ >pid.new; mv pid.new pid; sleep 60 & sleep 60"];
        let own = json!([{"name": "wait", "run": run}]);
        editor.send_line(&json!({"cmd": "tools", "offer": [], "own": own}).to_string());
        offered(&place, "wait");
        let mut agent = place.agent(&["call", "wait"]);
        editor.until("call");
        let within = |what: &str, done: &dyn Fn() -> bool| {
            let begin = Instant::now();
            while !done() {
                assert!(begin.elapsed() < Duration::from_secs(20), "{end}: {what}");
                thread::sleep(Duration::from_millis(10));
            }
        };
        let file = place.project().join("pid");
        within("it starts", &|| file.exists());
        let pid: i32 = fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        match end {
            "call" => agent.kill(),
            _ => editor.send_line(r#"{"cmd":"quit"}"#),
        }
        within("it ends", &|| test_kill_process(Pid::from_raw(pid).unwrap()).is_err());
    }
}
