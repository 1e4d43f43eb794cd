//! The files that the editor reads, and its answers about them.

use crate::support::Place;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;

/// Creates a project with a link to a secret file outside of it.
fn with_secret(name: &str) -> Place {
    let place = Place::new(name);
    place.write("a.txt", "fn a() {}\nfn b() {\n  1\n}\n");
    fs::write(place.project().join("../secret.json"), "{").unwrap();
    symlink("../secret.json", place.project().join("link.json")).unwrap();
    place
}

fn paths(place: &Place) -> [String; 4] {
    let above = place.project().join("../secret.json").to_str().unwrap().to_owned();
    ["../secret.json".into(), "link.json".into(), format!("file://{above}"), above]
}

#[test]
fn files_outside_of_folders_are_refused() {
    let place = with_secret("outside");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["calls"]);
    editor.until("connected");
    for path in paths(&place) {
        let commands = [
            json!({"cmd": "open", "path": path}),
            json!({"cmd": "select", "path": path, "start": [0, 0], "end": [0, 1]}),
            json!({"cmd": "mention", "path": path}),
        ];
        for command in commands {
            editor.send_line(&command.to_string());
            let message = editor.until("error")["message"].to_string();
            assert!(message.contains("is outside the open folders"), "{command}: {message}");
        }
        let calls = [("openFile", json!({"filePath": path})), ("getDiagnostics", json!({"uri": path}))];
        for (tool, arguments) in calls {
            agent.send_line(&format!("{tool} {arguments}"));
            let outcome = agent.event("outcome");
            let result = &outcome["outcome"]["result"];
            assert_eq!(result["isError"], true, "{tool} {arguments}: {outcome}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("is outside the open folders"), "{tool} {arguments}: {text}");
        }
    }
    agent.hang_up();
    assert_eq!(agent.end().0, Some(1));
}

#[test]
fn diff_outside_of_folders_is_marked() {
    let place = with_secret("marked");
    let mut editor = place.editor(&["--on-diff", "reject"]);
    let mut agent = place.agent(&["calls"]);
    let inside = place.project().join("new/b.txt").to_str().unwrap().to_owned();
    let cases = paths(&place).into_iter().map(|path| (path, true)).chain([(inside, false)]);
    for (path, outside) in cases {
        let arguments = json!({"new_file_path": path, "new_file_contents": "x", "tab_name": "t"});
        agent.send_line(&format!("openDiff {arguments}"));
        let diff = editor.until("diff");
        assert_eq!(diff["path"], path);
        assert_eq!(diff.get("outside"), outside.then_some(&Value::Bool(true)), "{path}");
    }
    agent.hang_up();
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn open_file_selects_requested_passage() {
    let place = with_secret("passage");
    let path = place.project().join("a.txt").to_str().unwrap().to_owned();
    let mut editor = place.editor(&[]);
    let mut watching = place.agent(&["watch"]);
    editor.until("ide_connected");
    let opened = format!("Opened file: {path}");
    let (no_start, no_end) =
        (format!("{opened} (startText is not in it)"), format!("{opened} (endText is not in it)"));
    let cases = [
        (json!({"startText": "fn b", "endText": "}"}), opened.as_str(), [1, 0, 3, 1], "fn b() {\n  1\n}"),
        (json!({}), opened.as_str(), [0, 0, 0, 0], ""),
        (
            json!({"startText": "1", "endText": "", "selectToEndOfLine": true}),
            opened.as_str(),
            [2, 2, 2, 3],
            "1",
        ),
        (json!({"startText": "fn c", "endText": "}"}), no_start.as_str(), [0, 0, 0, 0], ""),
        (json!({"startText": "fn a", "endText": "fn c"}), no_end.as_str(), [0, 0, 0, 4], "fn a"),
    ];
    let call = |mut arguments: Value| -> Vec<String> {
        arguments["filePath"] = path.as_str().into();
        let mut agent = place.agent(&["call", "openFile", &arguments.to_string()]);
        assert_eq!(agent.end().0, Some(0), "{arguments}");
        agent.rest()
    };
    for (arguments, answer, [line, column, last_line, last_column], text) in cases {
        assert_eq!(call(arguments.clone()), [answer], "{arguments}");
        let params = &watching.event("selection_changed")["params"];
        assert_eq!(params["text"], text, "{arguments}");
        assert_eq!(params["filePath"], path, "{arguments}");
        assert_eq!(params["selection"]["start"], json!({"line": line, "character": column}), "{arguments}");
        assert_eq!(
            params["selection"]["end"],
            json!({"line": last_line, "character": last_column}),
            "{arguments}"
        );
    }
    // A file opened in the background causes no selection: the next event is the selection made
    // below.
    let described = call(json!({"makeFrontmost": false, "startText": "fn b"}));
    assert_eq!(serde_json::from_str::<Value>(&described[0]).unwrap()["lineCount"], 4);
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[2,2],"end":[2,3]}"#);
    assert_eq!(watching.event("selection_changed")["params"]["text"], "1");
}
