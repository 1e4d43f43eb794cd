//! The agent for programs and scripts: JSON lines of every command, scripts, and reconnecting.

use crate::bridge::Scripted;
use crate::support::{Editor, Place, Process, accept, await_port, lasting_port, rewrite};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

#[test]
fn every_command_prints_json_lines() {
    let place = Place::new("json");
    let path = place.write("a.json", "{");
    let mut agent = place.agent(&["--json", "tools"]);
    let output = agent.rest_of_json();
    assert_eq!((&output[0]["event"], &output[0]["status"]), (&json!("error"), &json!(2)));
    assert!(output[0]["message"].as_str().unwrap().contains("no editor found"), "{output:?}");
    assert!(agent.end().1.contains("no editor found"));

    let _editor = place.editor(&["--on-diff", "reject"]);
    let mut agent = place.agent(&["--json", "tools"]);
    let tools = agent.rest_of_json();
    assert!(
        tools.iter().all(|tool| tool["event"] == "tool" && tool["inputSchema"]["type"] == "object"),
        "{tools:?}"
    );
    assert!(tools.iter().any(|tool| tool["name"] == "openDiff"), "{tools:?}");
    assert_eq!(agent.end(), (Some(0), String::new()));

    let arguments = json!({"filePath": path}).to_string();
    let mut agent = place.agent(&["--json", "call", "openFile", &arguments]);
    let output = agent.rest_of_json();
    assert_eq!(
        (output.len(), &output[0]["event"], &output[0]["tool"]),
        (1, &json!("outcome"), &json!("openFile"))
    );
    assert!(output[0]["outcome"]["result"]["content"].is_array(), "{output:?}");
    assert_eq!(agent.end(), (Some(0), String::new()));
    let mut agent = place.agent(&["--json", "call", "dance"]);
    let output = agent.rest_of_json();
    assert!(output[0]["outcome"]["error"]["code"].is_i64(), "{output:?}");
    assert_eq!(agent.end(), (Some(1), String::new()));

    place.write("new.json", "{}");
    for (new, verdict, status) in [("new.json", "rejected", 1), ("a.json", "unchanged", 0)] {
        let mut agent = place.agent(&["--json", "diff", "a.json", new]);
        assert_eq!(agent.rest_of_json(), [json!({"event": "diff", "verdict": verdict, "path": "a.json"})]);
        assert_eq!(agent.end(), (Some(status), String::new()));
    }
}

/// An agent that gives up says which limit ended the wait, so that its user knows where to look.
#[test]
fn list_that_is_given_up_names_its_limit() {
    let place = Place::new("endless");
    let (listener, _) = place.listener();
    let endless = "the editor's list does not end: it has more than 64 pages or 16 MiB";
    let rows: [(&str, fn(usize) -> Value, &str); 3] = [
        ("page after page", |page| json!({"tools": [], "nextCursor": page.to_string()}), endless),
        (
            "long pages",
            |page| json!({"tools": ["x".repeat(1 << 20)], "nextCursor": page.to_string()}),
            endless,
        ),
        ("a null list", |_| json!({"tools": null}), "cannot be read: a page of a list has no array of items"),
    ];
    for (name, page, output) in rows {
        let mut agent = place.agent(&["--json", "tools"]);
        let mut editor = Scripted::accept(&listener);
        editor.open_session(&json!({"tools": {}}));
        for number in 0..70 {
            let Ok(message) = editor.0.read() else { break };
            let Ok(request) = serde_json::from_str::<Value>(message.to_text().unwrap()) else { break };
            editor.answer(&request, &page(number));
        }
        let _ = editor.0.close(None);
        while editor.0.read().is_ok() {}
        let events = agent.rest_of_json();
        agent.fails(1, &[output]);
        assert!(events[0]["message"].as_str().unwrap().contains(output), "{name}: {events:?}");
    }
}

/// The entries that an editor has listed are still good if the cursor after them is useless.
#[test]
fn list_whose_cursor_leads_nowhere_ends_with_what_was_read() {
    let place = Place::new("cursors");
    let (listener, _) = place.listener();
    for cursor in [json!("same"), json!(""), json!(1)] {
        let mut agent = place.agent(&["tools"]);
        let mut editor = Scripted::accept(&listener);
        editor.open_session(&json!({"tools": {}}));
        while let Ok(message) = editor.0.read() {
            let Ok(request) = serde_json::from_str::<Value>(message.to_text().unwrap()) else { break };
            if request["method"] == "tools/list" {
                editor.answer(
                    &request,
                    &json!({"tools": [{"name": "t0", "inputSchema": {}}], "nextCursor": cursor}),
                );
            }
        }
        let listed = agent.rest();
        assert!(
            listed.iter().all(|tool| tool.starts_with("t0")) && !listed.is_empty(),
            "{cursor}: {listed:?}"
        );
        let note =
            "agent: the cursor of a page repeats an earlier one, or is not a string: the list ends there\n";
        assert_eq!(agent.end(), (Some(0), note.into()), "{cursor}");
    }
}

/// An error that names no request can be the answer to the one that waits.
#[test]
fn error_without_a_request_is_shown_at_once() {
    let place = Place::new("error-without-id");
    let (listener, _) = place.listener();
    let mut agent = place.agent(&["tools"]);
    let mut editor = Scripted::accept(&listener);
    editor.open_session(&json!({"tools": {}}));
    editor.send(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad request"}}"#);
    let _ = editor.0.close(None);
    while editor.0.read().is_ok() {}
    agent.fails(1, &["agent: the editor reports bad request (-32600)\n"]);
}

#[test]
fn every_result_of_a_call_is_printed() {
    let place = Place::new("results");
    let (listener, _) = place.listener();
    // The result of the tool, the lines, the status, and a part of standard error.
    let rows: &[(&str, &str, &[&str], i32, &str)] = &[
        ("a text", r#"{"content":[{"type":"text","text":"a\nb"}]}"#, &["a", "b"], 0, ""),
        (
            "half a surrogate pair",
            r#"{"content":[{"type":"text","text":"a\ud800b"}]}"#,
            &["a\u{fffd}b"],
            0,
            "",
        ),
        ("structured content alone", r#"{"structuredContent":{"a":[1.0]}}"#, &[r#"{"a":[1.0]}"#], 0, ""),
        (
            "structured content beside its text",
            r#"{"content":[{"type":"text","text":"1"}],"structuredContent":{"a":1}}"#,
            &["1"],
            0,
            "",
        ),
        (
            "an image and a resource",
            r#"{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"},{"type":"resource","resource":{"uri":"n://1","text":"t"}}]}"#,
            &["[image, image/png, 3 bytes; --json prints it]", "t"],
            0,
            "",
        ),
        ("nothing", r#"{"content":[]}"#, &[], 0, "the result of \"t\" is empty"),
        (
            "an error with text",
            r#"{"content":[{"type":"text","text":"no"}],"isError":"true"}"#,
            &["no"],
            1,
            "",
        ),
        ("an empty error", r#"{"isError":true}"#, &[], 1, "the result of \"t\" is empty"),
    ];
    for (name, result, lines, status, output) in rows {
        let mut agent = place.agent(&["call", "t"]);
        let mut editor = Scripted::accept(&listener);
        editor.open_session(&json!({"tools": {}}));
        let call = editor.receive();
        editor.send(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, call["id"]));
        while editor.0.read().is_ok() {}
        assert_eq!(agent.rest(), *lines, "{name}");
        let (ended, error) = agent.end();
        assert!(ended == Some(*status) && error.contains(output), "{name}: {ended:?} {error}");
        assert_eq!(error.is_empty(), output.is_empty(), "{name}: {error}");
    }
}

#[test]
fn unknown_tool_has_a_remedy() {
    let place = Place::new("no-tool");
    let _editor = place.editor(&[]);
    place
        .agent(&["call", "foo"])
        .fails(1, &["tool foo not found (-32602); `ide-mcp agent tools` lists the tools"]);
}

#[test]
fn script_calls_notifies_and_expects() {
    let place = Place::new("script");
    let path = place.write("bad.json", "{\n  \"a\": x\n}\n");
    let mut editor = place.editor(&["--on-diff", "hold"]);
    let script = [
        "# two calls in flight, in the order that the editor likes",
        r#"{"call":"openDiff","arguments":{"old_file_path":"/x","new_file_contents":"y","tab_name":"t"}}"#,
        r#"{"call":"getDiagnostics","arguments":{"uri":"bad.json"}}"#,
        r#"{"notify":"ide_connected","params":{"pid":4242}}"#,
        r#"{"expect":{"event":"outcome","line":3,"outcome":{"result":{"content":[{"type":"text"}]}}}}"#,
        r#"{"sleep":10}"#,
        r#"{"call":"close_tab","arguments":{"tab_name":"t"}}"#,
        r#"{"expect":{"line":7,"outcome":{"result":{"content":[{"text":"TAB_CLOSED"}]}}}}"#,
        "",
        r#"{"expect":{"tool":"openDiff","outcome":{"result":{"content":[{"text":"DIFF_REJECTED"},{"text":"t"}]}}}}"#,
        r#"{"call":"dance"}"#,
        r#"{"expect":{"line":11,"outcome":{"error":{"code":-32602}}},"within":5000}"#,
    ]
    .join("\n");
    let file = place.write("s.jsonl", &script);
    let mut agent = place.agent(&["--script", "s.jsonl"]);
    let output = agent.rest();
    assert_eq!(agent.end(), (Some(0), String::new()));
    assert_eq!(output, ["s.jsonl: 10 steps, all as expected"]);
    assert_eq!(editor.until("diff")["path"], "/x");

    let mut agent = place.agent(&["--json", "--script", "-"]);
    agent.put(&fs::read_to_string(&file).unwrap());
    agent.hang_up();
    let output = agent.rest_of_json();
    let done: Vec<u64> = output.iter().filter_map(|line| line["line"].as_u64()).collect();
    assert_eq!(done, [2, 3, 4, 5, 6, 7, 8, 10, 11, 12]);
    assert_eq!(output[3]["received"]["tool"], "getDiagnostics", "{output:?}");
    assert_eq!(output.last().unwrap(), &json!({"event": "script", "steps": 10}));
    assert_eq!(agent.end(), (Some(0), String::new()));

    // A script can expect a push of the editor.
    let mut agent = place.agent(&["--script", "-"]);
    agent.put(r#"{"expect":{"event":"selection_changed","params":{"filePath":"PATH"}}}"#.replace("PATH", &path).as_str());
    agent.hang_up();
    editor.until("connected");
    editor.send_line(r#"{"cmd":"select","path":"bad.json","start":[0,0],"end":[1,3]}"#);
    assert_eq!(agent.rest(), ["standard input: 1 step, all as expected"]);
    assert_eq!(agent.end(), (Some(0), String::new()));
}

#[test]
fn unmet_expectation_names_line_and_event() {
    let place = Place::new("otherwise");
    let _editor = place.editor(&["--on-diff", "reject"]);
    let diff =
        r#"{"call":"openDiff","arguments":{"old_file_path":"/x","new_file_contents":"y","tab_name":"t"}}"#;
    let wants = r#"{"expect":{"event":"outcome","outcome":{"result":{"content":[{"text":"FILE_SAVED"}]}}},"within":200}"#;
    let cases = [
        (
            "another outcome",
            format!("{diff}\n\n{wants}"),
            1,
            vec![
                "s:3: expected {\"event\":\"outcome\",\"outcome\":{\"result\":{\"content\":[{\"text\":\"FILE_SAVED\"}]}}} within 200 ms; received {",
                "DIFF_REJECTED",
            ],
        ),
        ("nothing", wants.into(), 1, vec!["s:1: expected {", "within 200 ms; received nothing"]),
        ("no script", String::new(), 2, vec!["s: the script has no steps"]),
        (
            "a wrong line",
            format!("{wants}\n{{\"expct\":{{}}}}"),
            2,
            vec!["s:2: this is not a step: unknown field `expct`"],
        ),
        (
            "no arguments",
            "{\"call\":\"openDiff\"}".into(),
            2,
            vec!["s:1: these are not arguments of openDiff"],
        ),
    ];
    for (name, script, status, expected) in cases {
        place.write("s", &script);
        let (ended, output) = place.agent(&["--script", "s"]).end();
        assert_eq!(ended, Some(status), "{name}: {output}");
        assert!(
            output.lines().count() == 1 && expected.iter().all(|part| output.contains(part)),
            "{name}: {output}"
        );
    }
    place.agent(&["--script", "missing"]).fails(2, &["missing: "]);
    place.agent(&["--script", "s", "tools"]).fails(2, &["cannot be used with '--script <FILE>'"]);
    place.agent(&["--reconnect", "tools"]).fails(2, &["--reconnect goes with"]);
}

#[test]
fn script_gets_end_as_event() {
    let place = Place::new("closed");
    for (script, status, expected) in [
        ("{\"expect\":{\"event\":\"closed\"}}\n{\"sleep\":1}", 0, ""),
        (
            "{\"expect\":{\"event\":\"at_mentioned\"}}",
            1,
            "; received {\"event\":\"closed\",\"reason\":\"the editor ended",
        ),
        (
            "{\"expect\":{\"event\":\"closed\"}}\n{\"call\":\"t\"}",
            1,
            ":2: the connection has ended: the editor ended",
        ),
    ] {
        let mut editor = place.editor(&[]);
        place.write("s", script);
        let mut agent = place.agent(&["--script", "s"]);
        editor.until("ide_connected");
        editor.send_line(r#"{"cmd":"quit"}"#);
        let (ended, output) = agent.end();
        assert!(ended == Some(status) && output.contains(expected), "{script}: {ended:?} {output}");
        assert_eq!(editor.end().0, Some(0));
    }
}

#[test]
fn watch_ends_with_its_reader() {
    let place = Place::new("watch-unread");
    let mut editor = place.editor(&[]);
    let (mut watch, out) = Process::spawn_unread("agent", &mut place.command("agent", &["watch"]));
    editor.until("ide_connected");
    // The editor sends nothing more.
    drop(out);
    assert_eq!(watch.end(), (Some(0), String::new()));
}

/// The editor returns with the same port and token. The real client was measured to reconnect then.
#[test]
fn agents_reconnect_to_returning_editor() {
    let place = Place::new("back");
    place.write("a.txt", "hello\n");
    let mut editor = place.editor(&["--on-diff", "hold", "--port", &lasting_port().to_string()]);
    let (port, lock) = (editor.port.clone(), editor.lock.clone());
    let kept = place.write("kept.lock", &fs::read_to_string(&lock).unwrap());
    let mut watch = place.agent(&["--reconnect", "watch"]);
    let mut calls = place.agent(&["--reconnect", "calls"]);
    place.write(
        "s",
        "{\"expect\":{\"event\":\"lost\"}}\n{\"expect\":{\"event\":\"attached\"},\"within\":30000}\n\
         {\"call\":\"closeAllDiffTabs\"}\n{\"expect\":{\"event\":\"outcome\",\"outcome\":{\"result\":{}}}}",
    );
    let mut script = place.agent(&["--reconnect", "--script", "s"]);
    for _ in 0..3 {
        editor.until("ide_connected");
    }
    calls.propose("t", "y");
    editor.until("diff");
    editor.kill();
    let broken = "the connection broke off without a goodbye, as if the editor was killed or crashed";
    assert_eq!(watch.event("lost")["reason"], broken);
    assert_eq!(calls.event("outcome")["outcome"]["ended"], format!("the connection ended first: {broken}"));
    calls.event("lost");
    // This call waits until the agent is attached again.
    calls.send_line("closeAllDiffTabs");

    await_port(&port);
    let mut editor = place.editor(&["--port", &port, "--token-of", &kept]);
    assert_eq!(editor.port, port);
    for agent in [&mut watch, &mut calls] {
        assert_eq!(agent.event("attached")["port"].to_string(), port);
    }
    assert_eq!(calls.event("outcome")["outcome"]["result"]["content"][0]["text"], "CLOSED_0_DIFF_TABS");
    for _ in 0..3 {
        editor.until("ide_connected");
    }
    editor.send_line(r#"{"cmd":"mention","path":"a.txt","conn":1}"#);
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,0],"end":[0,5]}"#);
    assert_eq!(watch.until("selection_changed")["params"]["text"], "hello");
    assert_eq!(script.end(), (Some(0), String::new()));

    // The editor returns with another token, which the agent reads from the lock file.
    editor.send_line(r#"{"cmd":"quit"}"#);
    watch.until("lost");
    assert_eq!(editor.end().0, Some(0));
    await_port(&port);
    let mut editor = place.editor(&["--port", &port]);
    watch.until("attached");
    // The lock file stays as it was, but another editor has the port. The process id is in use again.
    editor.kill();
    rewrite(&lock, &json!({"pid": std::process::id()}));
    watch.until("lost");
    let elsewhere = place.project().join("config");
    await_port(&port);
    let mut command = place.command("editor", &["--port", &port]);
    let _stranger = Editor::at(Process::spawn("editor", command.env("CLAUDE_CONFIG_DIR", elsewhere)));
    watch.fails(1, &["401", "the editor refused the connection"]);
}

#[test]
fn legacy_lock_file_needs_an_option() {
    let place = Place::new("legacy");
    let editor = place.editor(&[]);
    let (port, lock) = (&editor.port, &editor.lock);
    let file: Value = serde_json::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
    let dir = place.lock_dir().parent().unwrap().with_file_name(".claude-code");
    fs::create_dir(&dir).unwrap();
    let legacy = dir.join(format!("{port}.json"));
    let project = json!({
        "port": port.parse::<u16>().unwrap(), "authToken": file["authToken"], "projectPath": place.project(),
    });
    fs::write(&legacy, project.to_string()).unwrap();
    // An agent that follows the environment variables does not find the legacy file.
    let elsewhere = place.project().join("config");
    let run = |arguments: &[&str]| {
        let mut command = place.command("agent", arguments);
        Process::spawn("agent", command.env("CLAUDE_CONFIG_DIR", &elsewhere)).end()
    };
    assert_eq!(run(&["tools"]).0, Some(2));
    assert_eq!(run(&["--lock", legacy.to_str().unwrap(), "tools"]), (Some(0), String::new()));
    // Both files name the same port, so there is only one editor.
    assert_eq!(run(&["--legacy", "tools"]), (Some(0), String::new()));
    fs::remove_file(lock).unwrap();
    assert_eq!(run(&["--legacy", "--port", port, "tools"]), (Some(0), String::new()));
}

/// According to one description, an editor writes its lock file into the project, as
/// `.claude-code/PORT.json`.
#[test]
fn lock_file_of_the_project_needs_an_option() {
    let place = Place::new("project-lock");
    let mut command = place.command("editor", &[]);
    command.env("CLAUDE_CONFIG_DIR", place.home().join("elsewhere"));
    let editor = Editor::at(Process::spawn("editor", &mut command));
    let token =
        serde_json::from_str::<Value>(&fs::read_to_string(&editor.lock).unwrap()).unwrap()["authToken"]
            .take();
    let (inner, dir) = (place.project().join("src/deep"), place.project().join(".claude-code"));
    for dir in [&inner, &dir] {
        fs::create_dir_all(dir).unwrap();
    }
    let file = dir.join(format!("{}.json", editor.port));
    let port: u16 = editor.port.parse().unwrap();
    let text = |port: u16, project: &Path| {
        json!({"port": port, "authToken": token, "projectPath": project}).to_string()
    };
    let agent = |arguments: &[&str]| {
        Process::spawn("agent", place.command("agent", arguments).current_dir(&inner)).end()
    };
    let set_mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let rows: [(&str, &[&str], String, u32, Option<&str>); 6] = [
        ("the project", &["--legacy"], text(port, &place.project()), 0o755, None),
        ("without the option", &[], text(port, &place.project()), 0o755, Some("no editor found")),
        ("another project", &["--legacy"], text(port, &place.home()), 0o755, Some("none of its folders")),
        (
            "a port that differs from the file name",
            &["--legacy"],
            text(1, &place.project()),
            0o755,
            Some("no editor found"),
        ),
        ("not JSON", &["--legacy"], "{".into(), 0o755, Some("no editor found")),
        (
            "a project that others can change",
            &["--legacy"],
            text(port, &place.project()),
            0o777,
            Some("every user can replace the lock files below"),
        ),
    ];
    for (name, option, text, mode, problem) in rows {
        fs::write(&file, text).unwrap();
        set_mode(&place.project(), mode);
        let (status, output) = agent(&[option, &["tools"][..]].concat());
        match problem {
            None => assert_eq!((status, output.as_str()), (Some(0), ""), "{name}"),
            Some(problem) => {
                assert!(status == Some(2) && output.contains(problem), "{name}: {status:?} {output}")
            }
        }
        set_mode(&place.project(), 0o755);
    }
    // A project that others can change does not hide the editor of another directory.
    place.publish(port, &json!({"authToken": token}));
    set_mode(&place.project(), 0o777);
    assert_eq!(agent(&["--legacy", "tools"]), (Some(0), String::new()));
}

/// An editor that serves only `/mcp` answers 404 to the real client, and also to the first request of
/// our agent, which then tries `/mcp`.
#[test]
fn target_is_slash_then_mcp_unless_the_option_names_one() {
    let cases: &[(&str, &[&str], &[&str])] =
        &[("the default", &[], &["/", "/mcp"]), ("the option", &["--target", "/own?x"], &["/own?x"])];
    for (name, option, expected) in cases {
        let place = Place::new("target");
        let (listener, _) = place.listener();
        let mut agent = place.agent(&[option, &["tools"][..]].concat());
        for target in *expected {
            let mut stream = accept(&listener);
            let mut head = BufReader::new(&stream).lines().map(Result::unwrap);
            assert_eq!(head.next().unwrap(), format!("GET {target} HTTP/1.1"), "{name}");
            assert!(head.any(|line| line.is_empty()), "{name}");
            stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
        agent.fails(1, &["answers 404", "at this request target"]);
    }
    let place = Place::new("target-wrong");
    let _listener = place.listener();
    place
        .agent(&["--target", "mcp", "tools"])
        .fails(2, &["the options of the agent are not valid", "target"]);
    for dialect in ["jetbrains", "snake-case", "vscode", "obsidian"] {
        let place = Place::new("target-dialect");
        let mut editor = place.editor(&["--dialect", dialect]);
        for target in ["/", "/mcp"] {
            let mut agent = place.agent(&["--target", target, "call", "closeAllDiffTabs"]);
            assert_eq!(agent.end(), (Some(0), String::new()), "{dialect} {target}");
            editor.until("connected");
        }
    }
}
