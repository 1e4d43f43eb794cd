//! The agent plays a script against an editor behind the sidecar.

use super::sidecar;
use crate::support::Place;
use serde_json::{Value, json};

const TEXT: &str = "\u{0}\u{2028}𝒳 \"quoted\" \\ é\n";

#[test]
fn agent_plays_its_script() {
    let place = Place::new("sidecar-script");
    let changes = json!({
        "prompts": [{"name": "review", "arguments": [{"name": "focus"}]}],
        "resources": [{"uri": "notes://1", "mimeType": "text/plain"}],
    });
    let mut editor = sidecar(&place, &changes);
    let diff = |tab: &str| json!({"call": "openDiff", "arguments": {"new_file_path": place.project().join("a.txt"), "new_file_contents": TEXT, "tab_name": tab}});
    let texts = |texts: &[&str]| {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        json!({"expect": {"event": "outcome", "outcome": {"result": {"content": blocks}}}})
    };
    let script = [
        diff("as it is"),
        texts(&["FILE_SAVED", TEXT]),
        diff("edited"),
        texts(&["FILE_SAVED", &TEXT.repeat(2)]),
        diff("rejected"),
        texts(&["DIFF_REJECTED", "rejected"]),
        json!({"call": "getDiagnostics", "arguments": {"uri": "file:///a"}}),
        texts(&[
            r#"[{"uri":"file:///a","diagnostics":[{"message":"𝒳","severity":"Error","range":{"start":{"line":0,"character":2},"end":{"line":0,"character":3}}}]}]"#,
        ]),
        json!({"request": "prompts/get", "params": {"name": "review", "arguments": {"focus": "x"}}}),
        json!({"expect": {"event": "outcome", "outcome": {"result": {"messages": [{"content": {"text": "Review x"}}]}}}}),
        json!({"request": "resources/read", "params": {"uri": "notes://1"}}),
        json!({"expect": {"event": "outcome", "outcome": {"result": {"contents": [{"text": TEXT}]}}}}),
        json!({"expect": {"event": "form", "message": "Which?"}}),
        json!({"answer": {"action": "accept", "content": {"a": "b"}}}),
        json!({"expect": {"event": "selection_changed", "params": {"text": TEXT}}}),
        json!({"expect": {"event": "at_mentioned", "params": {"lineStart": 1, "lineEnd": 2}}}),
        json!({"call": "getOpenEditors"}),
        json!({"expect": {"event": "outcome", "outcome": {"result": {"isError": true}}}}),
    ];
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    place.write("script", &lines.join("\n"));
    let mut agent = place.agent(&["--script", "script"]);
    let conn = editor.event("connected")["conn"].clone();
    let answers: [(&str, Value); 6] = [
        ("diff", json!({"cmd": "answer", "verdict": "accept"})),
        ("diff", json!({"cmd": "answer", "verdict": "accept", "contents": TEXT.repeat(2)})),
        ("diff", json!({"cmd": "answer", "verdict": "reject"})),
        (
            "call",
            json!({"cmd": "respond", "result": [{"uri": "file:///a", "diagnostics": [{"message": "𝒳", "severity": "Error", "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}}}]}]}),
        ),
        ("prompt", json!({"cmd": "respond", "result": "Review x"})),
        ("resource", json!({"cmd": "respond", "result": TEXT})),
    ];
    for (name, mut command) in answers {
        let event = editor.until(name);
        assert_eq!(event["conn"], conn, "{event}");
        assert!(name != "diff" || event["contents"] == TEXT, "{event}");
        command["call"] = event["call"].clone();
        editor.send_line(&command.to_string());
    }
    let properties = json!({"a": {"type": "string"}});
    let form = json!({"message": "Which?", "requestedSchema": {"type": "object", "properties": properties}});
    editor.send_line(&json!({"cmd": "form", "form": form, "conn": conn}).to_string());
    let answer = editor.until("form_answer");
    assert_eq!((&answer["line"], &answer["content"]), (&json!(8), &json!({"a": "b"})));
    let path = place.project().join("a.txt");
    editor.send_line(
        &json!({"cmd": "select", "path": path, "start": [0, 0], "end": [1, 0], "text": TEXT}).to_string(),
    );
    editor.send_line(&json!({"cmd": "mention", "path": path, "lines": [1, 2]}).to_string());
    let call = editor.until("call")["call"].clone();
    editor.send_line(&json!({"cmd": "fail", "call": call, "message": "no tabs"}).to_string());
    let (status, complaint) = agent.end();
    assert_eq!(status, Some(0), "{complaint}\n{:#?}", agent.rest());
    editor.until("closed");
}

#[test]
fn longest_texts_pass_unchanged() {
    // The message of the call has some hundred bytes besides the text, and may have at most 16 MiB.
    let text = "x".repeat((16 << 20) - 1024);
    let place = Place::new("sidecar-long");
    place.write("new.txt", &text);
    let mut editor = sidecar(&place, &json!({}));
    let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
    let diff = editor.until("diff");
    assert!(diff["contents"] == text.as_str(), "the text differs");
    let edited = text.replace('x', "\"");
    let answer = json!({"cmd": "answer", "call": diff["call"], "verdict": "accept", "contents": edited});
    editor.send_line(&answer.to_string());
    editor.until("closed");
    let (status, complaint) = agent.end();
    assert_eq!((status, complaint.as_str()), (Some(0), ""));
    assert!(place.read("a.txt") == edited, "the text differs");
}
