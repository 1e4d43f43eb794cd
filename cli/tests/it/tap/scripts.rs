//! Scripts of recorded sessions, played to editors that behave as the recorded one, or differently.

use super::programs::{Tap, editor, replay};
use crate::support::Place;
use serde_json::json;
use std::path::PathBuf;

/// Records a session with calls that an editor without a user answers, and returns its script.
fn recorded() -> (Place, String) {
    let place = Place::new("tap-record");
    let path = place.write("a.txt", "hello\n");
    let bad = place.write("bad.json", "{x");
    let (mut editor, port, _) = editor(&place, &["--on-diff", "accept", "--name", "Test Editor"]);
    let mut tap = Tap::start(&place, &port, "t.jsonl");
    let mut calls = tap.agent(&place, &["calls"]);
    let diff = json!({"old_file_path": path, "new_file_contents": "new\n", "tab_name": "t"});
    for call in [
        format!("openFile {}", json!({"filePath": path})),
        "getOpenEditors".into(),
        "getWorkspaceFolders".into(),
        format!("openDiff {diff}"),
        format!("getDiagnostics {}", json!({"uri": format!("file://{}", bad.replace(' ', "%20"))})),
        "nosuch".into(),
    ] {
        calls.send_line(&call);
        calls.event("outcome");
    }
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,2]}"#);
    calls.hang_up();
    calls.end();
    tap.stop();
    let (status, script) = replay(&place, &["--to-script", "t.jsonl"]);
    assert_eq!(status, Some(0), "{script}");
    (place, script)
}

/// Plays a script to a new editor in another folder, and returns the exit status and the output.
fn play(script: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let place = Place::new("tap-play");
    place.write("a.txt", "hello\n");
    place.write("bad.json", "{x");
    place.write("s", script);
    let _editor = place.editor(arguments);
    let mut agent = place.agent(&["--script", "s"]);
    let printed = agent.rest().join("\n");
    let (status, output) = agent.end();
    (status, printed + &output)
}

#[test]
fn script_passes_until_editor_behaves_differently() {
    let (place, script) = recorded();
    assert!(!script.contains(place.project().to_str().unwrap()), "an absolute path: {script}");
    for part in ["# recorded with Test Editor", "${folder}/a.txt", "${folder_uri}/bad.json", "\"FILE_SAVED\""]
    {
        assert!(script.contains(part), "{part}: {script}");
    }
    let (status, output) = play(&script, &["--on-diff", "accept", "--name", "Another Name"]);
    assert!(status == Some(0) && output.contains("all as expected"), "{status:?} {output}\n{script}");

    let (status, output) = play(&script, &["--on-diff", "reject"]);
    assert_eq!(status, Some(1), "{output}");
    for part in [
        "the outcome of openDiff differs",
        "where     outcome.result.content[0].text\n",
        "expected  \"FILE_SAVED\"\n",
        "received  \"DIFF_REJECTED\"",
    ] {
        assert!(output.contains(part), "{part}: {output}");
    }
}

#[test]
fn recordings_of_the_real_client_become_scripts() {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/it/fixtures");
    // The recorded editor has other tools than ours, and reports problems of files without a checker.
    let diagnostics = Some("the outcome of getDiagnostics differs");
    let cases = [
        ("claude-code-1.0.51", 8, "accept", diagnostics),
        ("claude-code-2.1.330", 11, "accept", diagnostics),
        ("claude-code-2.1.330-reconnect", 5, "reject", None),
    ];
    for (name, calls, on_diff, difference) in cases {
        let place = Place::new("tap-fixture");
        let file = dir.join(format!("{name}.jsonl"));
        let arguments = ["--to-script", "--folder", "/home/user/project", file.to_str().unwrap()];
        let (status, script) = replay(&place, &arguments);
        assert_eq!(status, Some(0), "{name}: {script}");
        assert_eq!(script.matches("\"call\":").count(), calls, "{name}: {script}");
        assert!(!script.contains("/home/user"), "{name}: {script}");
        assert_eq!(script.contains("this is connection 1 of 2"), name.ends_with("reconnect"), "{script}");
        let script = script.replace("replay: this is connection", "\n# this is connection");
        let (status, output) = play(&script, &["--on-diff", on_diff]);
        assert!(
            status == Some(1) && output.contains("the outcome of tools/list differs"),
            "{name}: {output}"
        );
        // The numbers of the lines stay.
        let without_tools =
            |line: &str| if line.contains("\"tools\":") { "#\n".into() } else { format!("{line}\n") };
        let rest: String = script.lines().map(without_tools).collect();
        let (status, output) = play(&rest, &["--on-diff", on_diff]);
        assert_eq!(status, Some(i32::from(difference.is_some())), "{name}: {output}");
        assert!(output.contains(difference.unwrap_or("all as expected")), "{name}: {output}");
    }
}
