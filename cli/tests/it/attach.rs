//! The whole path as a user would run it: the editor and the agents are processes, and the agents
//! find the editor by the lock file in the home directory of the test.

use crate::support::{Place, Process, accept, dead, rewrite};
use ide_mcp::ide::paths::{LocalPath, Platform};
use ide_mcp_lockfile::pid_alive;
use serde_json::{Value, json};
use std::path::MAIN_SEPARATOR;
use std::time::{Duration, Instant, SystemTime};
use std::{fs, thread};

fn answer(tab: &Value, verdict: &str, contents: Option<&str>) -> String {
    let mut command = json!({"cmd": "answer", "tab": tab, "verdict": verdict});
    if let Some(contents) = contents {
        command["contents"] = contents.into();
    }
    command.to_string()
}

#[test]
fn agent_lists_tools_of_found_editor() {
    let place = Place::new("tools");
    let mut editor = place.editor(&["--name", "Test Editor"]);
    let (port, lock) = (editor.port.clone(), editor.lock.clone());
    assert_eq!(lock, place.lock_dir().join(format!("{port}.lock")));
    let file: Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
    assert_eq!(file["ideName"], "Test Editor");
    assert!(file["workspaceFolders"].as_array().unwrap().contains(&json!(place.project())));

    let lock = lock.to_str().unwrap();
    for arguments in [&["tools"][..], &["--port", &port, "tools"], &["--lock", lock, "tools"]] {
        let mut agent = place.agent(arguments);
        let tools = agent.rest();
        let names: Vec<&str> = tools.iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!(
            names,
            [
                "openDiff",
                "close_tab",
                "closeAllDiffTabs",
                "getDiagnostics",
                "openFile",
                "getOpenEditors",
                "getWorkspaceFolders",
                "getCurrentSelection",
                "getLatestSelection",
                "checkDocumentDirty",
                "saveDocument",
                "open_files",
                "get_all_opened_file_paths",
                "get_cursor_position",
                "set_cursor_position",
                "set_selection",
            ]
        );
        assert_eq!(agent.end().0, Some(0));
        let connected = editor.event("connected");
        assert_eq!(connected["client"], "ide-mcp-agent");
        assert!(editor.event("ide_connected")["pid"].is_u64());
        assert_eq!(editor.until("closed")["conn"], connected["conn"]);
    }
}

#[test]
fn no_editor_error_names_the_directory() {
    let place = Place::new("nothing");
    let doctor = "`ide-mcp doctor` finds out why";
    let own = "or run `ide-mcp editor`";
    let output = place
        .agent(&["tools"])
        .fails(2, &["no editor found", &format!(".claude{MAIN_SEPARATOR}ide"), doctor, own]);
    for command in ["bridge", "mcp-config", "tap"] {
        place.start(command, &[]).fails(2, &["no editor found", own]);
    }
    let report = place.start("doctor", &[]).rest().join(" ");
    let words: Vec<&str> = report.split_whitespace().collect();
    assert!(words.join(" ").contains("or run `ide-mcp editor`"), "{report}");
    assert_eq!(output.matches("ide-mcp editor").count(), 1, "{output}");
    assert!(!output.contains("--cwd"), "{output}");

    let editor = place.editor(&[]);
    let lock = format!("{}.lock", editor.port);
    let parts = [&lock, "none of its folders", "use --cwd DIR", doctor, own];
    place.agent(&["--cwd", "/", "tools"]).fails(2, &parts);
    place.agent(&["--port", "1", "tools"]).fails(2, &["1.lock", own]);
    let silent = place.closed_port();
    place.publish(silent, &json!({}));
    let port = silent.to_string();
    place.agent(&["--port", &port, "tools"]).fails(2, &["does not answer", "start the editor again", own]);
}

/// A lock file has up to 64 KiB, and each character of it can need ten on the screen.
#[test]
fn hostile_lock_files_fill_no_screen() {
    let (own, foreign) = (json!({}), "\u{202e}".repeat(1_000));
    let rows = [
        ("many folders", json!({"workspaceFolders": vec![foreign.clone(); 20]}), "and 17 more] contains"),
        ("a long transport", json!({"transport": foreign.repeat(20)}), "not \"ws\""),
        ("a long folder", json!({"workspaceFolders": foreign.repeat(20)}), "none of its folders"),
        ("many names", json!({"ideName": foreign.repeat(20)}), "several editors fit"),
        ("many editors", own, "several editors fit"),
    ];
    // On Windows an editor whose port refuses is left out, before several fit.
    let fit = |part: &str| cfg!(unix) || part != "several editors fit";
    for (name, changes, part) in rows.into_iter().filter(|(.., part)| fit(part)) {
        let place = Place::new("hostile-locks");
        for port in 1001..=1030 {
            place.publish(port, &changes);
        }
        let output = place.agent(&["tools"]).fails(2, &[part, "more"]);
        assert!(
            output.len() < 12_000 && output.lines().count() < 30,
            "{name}: {} bytes\n{output}",
            output.len()
        );
    }
}

#[test]
fn diff_paths_are_relative_to_cwd_option() {
    let place = Place::new("diff-cwd");
    let path = place.write("a.txt", "old\n");
    place.write("new.txt", "new\n");
    let mut editor = place.editor(&["--on-diff", "accept"]);
    let project = place.project();
    let diff = |arguments: &[&str]| {
        let mut command = place.command("agent", arguments);
        Process::spawn("agent", command.current_dir(place.home())).end()
    };
    let cwd = ["--cwd", project.to_str().unwrap(), "diff"];
    assert_eq!(diff(&[&cwd[..], &["a.txt", "new.txt"]].concat()), (Some(0), String::new()));
    assert_eq!(editor.until("diff")["path"], path.as_str());
    assert_eq!(place.read("a.txt"), "new\n");
    // An absolute path is used unchanged.
    let other = place.home().join("other.txt");
    fs::write(&other, "other\n").unwrap();
    assert_eq!(diff(&[&cwd[..], &["a.txt", other.to_str().unwrap()]].concat()).0, Some(0));
    assert_eq!(place.read("a.txt"), "other\n");
    let (status, output) = diff(&["--cwd", "missing", "diff", "a.txt", "new.txt"]);
    assert!(status == Some(2) && output.contains("there is no directory \"missing\""), "{output}");
}

#[test]
fn diff_is_rejected_edited_or_accepted() {
    let place = Place::new("diff");
    place.write("a.txt", "old\n");
    place.write("new.txt", "proposed ✻\n");
    let mut editor = place.editor(&[]);

    let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
    let diff = editor.until("diff");
    assert_eq!(diff["path"], json!(place.project().join("a.txt")));
    assert_eq!(diff["contents"], "proposed ✻\n");
    editor.send_line(&answer(&diff["tab"], "reject", None));
    assert_eq!(editor.until("diff_closed")["reason"], "rejected");
    assert_eq!((agent.line().as_str(), agent.end().0), ("rejected", Some(1)));
    assert_eq!(place.read("a.txt"), "old\n");

    let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
    let diff = editor.until("diff");
    editor.send_line(&answer(&diff["tab"], "accept", Some("edited\n")));
    assert_eq!(editor.until("diff_closed")["reason"], "accepted");
    assert_eq!(agent.end().0, Some(0));
    assert_eq!(place.read("a.txt"), "edited\n");

    let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
    let diff = editor.until("diff");
    editor.send_line(&answer(&diff["tab"], "accept", None));
    assert_eq!(agent.end().0, Some(0));
    assert_eq!(place.read("a.txt"), "proposed ✻\n");
}

#[test]
fn sixteen_open_diffs_delay_no_call() {
    let place = Place::new("many");
    place.write("bad.json", "{\n  \"a\": x\n}\n");
    let mut editor = place.editor(&["--on-diff", "hold"]);
    let mut agents = [place.agent(&["calls"]), place.agent(&["calls"])];
    for (which, agent) in agents.iter_mut().enumerate() {
        for diff in 0..8 {
            agent.propose(&format!("{which}.{diff}"), "y");
        }
    }
    let mut tabs: Vec<String> =
        (0..16).map(|_| editor.until("diff")["tab"].as_str().unwrap().into()).collect();
    tabs.sort();
    assert_eq!(tabs, (0..2).flat_map(|a| (0..8).map(move |d| format!("{a}.{d}"))).collect::<Vec<_>>());

    for agent in &mut agents {
        agent.send_line(r#"getDiagnostics {"uri":"bad.json"}"#);
    }
    for agent in &mut agents {
        let outcome = agent.event("outcome");
        assert_eq!(outcome["tool"], "getDiagnostics");
        let text = outcome["outcome"]["result"]["content"][0]["text"].as_str().unwrap();
        let files: Value = serde_json::from_str(text).unwrap();
        assert_eq!(files[0]["uri"], "bad.json");
        let problem = &files[0]["diagnostics"][0];
        assert_eq!(problem["severity"], "Error");
        assert_eq!(problem["range"]["start"], json!({"line": 1, "character": 7}), "{problem}");
    }

    let [mut first, mut second] = agents;
    first.kill();
    for _ in 0..8 {
        let closed = editor.until("diff_closed");
        assert_eq!(closed["reason"], "disconnected");
        assert!(closed["tab"].as_str().unwrap().starts_with("0."), "{closed}");
    }
    editor.until("closed");

    second.send_line(r#"close_tab {"tab_name":"1.7"}"#);
    assert_eq!(editor.until("diff_closed")["reason"], "close_tab");
    let texts =
        |outcome: &Value| outcome["outcome"]["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(texts(&second.event("outcome")), "DIFF_REJECTED");
    assert_eq!(texts(&second.event("outcome")), "TAB_CLOSED");

    assert!(editor.lock.exists());
    editor.terminate();
    let reason = if cfg!(windows) { "end of standard input" } else { "signal" };
    assert_eq!(editor.event("stopping")["reason"], reason);
    for _ in 0..7 {
        assert_eq!(texts(&second.event("outcome")), "DIFF_REJECTED");
        assert_eq!(editor.until("diff_closed")["reason"], "shutdown");
    }
    editor.until("closed");
    assert_eq!(editor.end().0, Some(0));
    assert!(!editor.lock.exists(), "the lock file is left behind");
    assert_eq!(second.end().0, Some(1));
}

#[test]
fn hidden_files_and_pauses_reach_no_agent() {
    let place = Place::new("hidden");
    for (name, text) in [
        (".gitignore", "ignored.txt\n"),
        ("ignored.txt", "of ignored\n"),
        (".env", "of env\n"),
        ("a.txt", "of a\n"),
        ("b.txt", "of b\n"),
    ] {
        place.write(name, text);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", place.project().join("link.txt")).unwrap();
    #[cfg(windows)]
    place.write("link.txt", "no link");
    for ignores in [true, false] {
        let mut editor = place.editor(if ignores { &[] } else { &["--no-ignore"] });
        let mut agent = place.agent(&["watch"]);
        editor.until("connected");
        let select = |editor: &mut Process, path: &str| {
            editor.send_line(
                &json!({"cmd": "select", "path": path, "start": [0, 0], "end": [0, 99]}).to_string(),
            );
        };
        select(&mut editor, "a.txt");
        agent.until_selected("of a");
        let link = cfg!(unix).then_some("link.txt");
        for path in [".env"].into_iter().chain(link).chain(ignores.then_some("ignored.txt")) {
            select(&mut editor, path);
            let hidden = editor.until("hidden");
            assert!(!hidden["path"].as_str().unwrap().ends_with("link.txt"), "{hidden}");
            assert_eq!(agent.until_selected("")["params"]["filePath"], "", "{path}");
            select(&mut editor, "a.txt");
            agent.until_selected("of a");
        }
        // The ignore file is read again after a change.
        place.write(".gitignore", "b.txt # no name\nb.txt\n");
        select(&mut editor, "ignored.txt");
        agent.until_selected("of ignored");
        if ignores {
            select(&mut editor, "b.txt");
            editor.until("hidden");
            assert_eq!(agent.until_selected("")["params"]["filePath"], "");
        }
        place.write(".gitignore", "ignored.txt\n");
        select(&mut editor, "a.txt");
        agent.until_selected("of a");

        editor.send_line(r#"{"cmd":"pause"}"#);
        editor.until("paused");
        agent.until_selected("");
        editor.send_line(r#"{"cmd":"mention","path":"a.txt"}"#);
        assert!(editor.until("error")["message"].as_str().unwrap().contains("the editor is paused"));
        let output = place.agent(&["call", "getOpenEditors"]).rest().concat();
        assert!(!output.contains("a.txt"), "{output}");
        select(&mut editor, "b.txt");
        editor.send_line(r#"{"cmd":"resume"}"#);
        editor.until("resumed");
        agent.until_selected("of b");
        let output = place.agent(&["call", "getOpenEditors"]).rest().concat();
        assert!(output.contains("a.txt") && !output.contains(".env"), "{output}");
        assert_eq!(output.contains("ignored.txt"), !ignores, "{output}");
    }
}

#[test]
fn watching_agent_gets_selections_and_mentions() {
    let place = Place::new("watch");
    let path = place.write("a.txt", "hello\nwörld 😀!\n");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["watch"]);
    editor.until("ide_connected");
    editor.send_line(r#"{"cmd":"select","path":"a.txt","start":[0,1],"end":[1,8]}"#);
    let received = agent.event("selection_changed");
    assert_eq!(received["params"]["text"], "ello\nwörld 😀");
    assert_eq!(received["params"]["filePath"], path);
    editor.send_line(r#"{"cmd":"mention","path":"a.txt","lines":[0,1]}"#);
    let received = agent.until("at_mentioned");
    assert_eq!(received["params"], json!({"filePath": path, "lineStart": 0, "lineEnd": 1}));
    editor.send_line(r#"{"cmd":"open","path":"a.txt"}"#);
    assert_eq!(agent.event("selection_changed")["params"]["text"], "");
    editor.send_line(r#"{"cmd":"clear"}"#);
    assert_eq!(agent.event("selection_changed")["params"]["filePath"], "");
    editor.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.end().0, Some(0));
    assert_eq!(agent.end(), (Some(1), "agent: the editor ended\n".into()));
}

#[test]
fn headless_editor_serves_every_offered_tool() {
    let place = Place::new("every-tool");
    let path = place.write("a.txt", "one\ntwo\n");
    place.write("b.txt", "b\n");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["calls"]);
    editor.until("ide_connected");
    let file = json!({ "filePath": "a.txt" });
    let ends = |start: [u32; 2], end: [u32; 2]| json!({"start": {"line": start[0], "character": start[1]}, "end": {"line": end[0], "character": end[1]}});
    let uri = LocalPath::parse(&path, Platform::native()).unwrap().to_uri();
    // Each call, and strings that its answer contains. A call that fails is marked with `isError`.
    let cases = [
        ("getCurrentSelection", json!({}), vec![r#""success":false"#]),
        ("getCursorPosition", json!({}), vec!["no file has the focus"]),
        ("checkDocumentDirty", file.clone(), vec!["not open"]),
        ("saveDocument", file.clone(), vec!["not open"]),
        ("getDiagnostics", json!({ "uri": uri }), vec!["only JSON and TOML are checked"]),
        ("openFiles", json!({"file_paths": ["a.txt", "b.txt", "no.txt"]}), vec!["a.txt", "b.txt\"]"]),
        ("checkDocumentDirty", file.clone(), vec![r#""isDirty":false"#]),
        ("saveDocument", file.clone(), vec![r#""saved":true"#]),
        ("getDiagnostics", json!({}), vec!["only JSON and TOML are checked"]),
        ("set_selection", json!({"filePath": "a.txt", "range": ends([1, 0], [1, 3])}), vec![]),
        ("getCurrentSelection", json!({}), vec![r#""text":"two""#, &path]),
        ("getCursorPosition", json!({}), vec![r#""line":1,"column":3"#]),
        ("set_cursor_position", json!({"line": 0, "column": 1}), vec![]),
        ("getLatestSelection", json!({}), vec![r#""isEmpty":true"#, r#""character":1"#]),
        ("getOpenEditors", json!({}), vec![r#""isActive":true"#, "b.txt", &uri]),
        ("get_all_opened_file_paths", json!({}), vec![&path, "b.txt"]),
        ("getWorkspaceFolders", json!({}), vec![r#""folders":[{"#]),
        ("getDiagnostics", json!({"uri": "new.json"}), vec![r#""diagnostics":[]"#]),
        ("reformat_file", file, vec!["-32602"]),
    ];
    for (name, arguments, expected) in cases {
        agent.send_line(&format!("{name} {arguments}"));
        // The outcome is JSON within JSON, so compare it without the inner escapes.
        let outcome = agent
            .event("outcome")
            .to_string()
            .replace("\\\"", "\"")
            .replace(r"\\\\", r"\\")
            .replace(r"\\", r"\");
        for text in expected {
            assert!(outcome.contains(text), "{name} {arguments}: {text} is not in {outcome}");
        }
    }
}

#[test]
fn dialect_option_changes_names_and_shapes() {
    let cases = [
        ("vscode", "openFile", "Opened file: "),
        ("jetbrains", "openFile", "OK"),
        ("snake-case", "open_file", "OK"),
        ("obsidian", "openFile", "Opened file: "),
    ];
    for (dialect, name, opened) in cases {
        let place = Place::new(&format!("dialect-{dialect}"));
        place.write("a.txt", "x\n");
        let _editor = place.editor(&["--dialect", dialect]);
        let tools = place.agent(&["tools"]).rest();
        assert!(tools.iter().any(|tool| tool.starts_with(&format!("{name} "))), "{dialect}: {tools:?}");
        let output = place.agent(&["call", name, r#"{"filePath":"a.txt"}"#]).rest();
        assert!(output.concat().starts_with(opened), "{dialect}: {output:?}");
    }
    let place = Place::new("no-dialect");
    place
        .start("editor", &["--headless", "--dialect", "emacs"])
        .fails(2, &["'emacs' for '--dialect <NAME>' [possible values: vscode, "]);
}

#[test]
fn offered_tools_change_while_an_agent_watches() {
    let place = Place::new("offer");
    let mut editor = place.editor(&[]);
    let mut watching = place.agent(&["watch"]);
    editor.until("ide_connected");
    editor.send_line(r#"{"cmd":"tools","offer":["openFile"]}"#);
    watching.until("notifications/tools/list_changed");
    let mut agent = place.agent(&["tools"]);
    assert!(agent.line().starts_with("openFile"));
    assert_eq!(agent.end(), (Some(0), String::new()));
    editor.send_line(r#"{"cmd":"quit"}"#);
    assert_eq!(editor.end().0, Some(0));
}

#[test]
fn impossible_command_is_an_error_event() {
    let place = Place::new("errors");
    place.write("a.txt", "x\n");
    let mut editor = place.editor(&[]);
    for (line, expected) in [
        ("nonsense", "not a command"),
        (r#"{"cmd":"dance"}"#, "not a command"),
        (r#"{"cmd":"open"}"#, "not a command"),
        (r#"{"cmd":"open","path":"missing.txt"}"#, "missing.txt"),
        (r#"{"cmd":"select","path":"a.txt","start":[9,0],"end":[9,1]}"#, "no such range"),
        (r#"{"cmd":"answer","tab":"t","verdict":"accept"}"#, "no diff is open"),
        (r#"{"cmd":"answer","tab":"t","verdict":"maybe"}"#, "not a command"),
        (r#"{"cmd":"mention","path":"a.txt","conn":7}"#, "no connection 7"),
        (r#"{"cmd":"tools","offer":["openFile","dance"]}"#, "\"dance\" is not a tool"),
    ] {
        editor.send_line(line);
        let message = editor.event("error")["message"].as_str().unwrap().to_owned();
        assert!(message.contains(expected), "{line}: {message}");
    }

    let mut agents = [place.agent(&["calls"]), place.agent(&["calls"])];
    for agent in &mut agents {
        agent.propose("same", "y");
    }
    let conns: Vec<u64> = (0..2).map(|_| editor.until("diff")["conn"].as_u64().unwrap()).collect();
    for line in [
        r#"{"cmd":"answer","tab":"same","verdict":"accept"}"#.to_owned(),
        r#"{"cmd":"mention","path":"a.txt"}"#.to_owned(),
    ] {
        editor.send_line(&line);
        let message = editor.until("error")["message"].as_str().unwrap().to_owned();
        assert!(conns.iter().all(|conn| message.contains(&conn.to_string())), "{line}: {message}");
    }
    for conn in &conns {
        editor.send_line(
            &json!({"cmd": "answer", "tab": "same", "verdict": "accept", "conn": conn}).to_string(),
        );
        assert_eq!(editor.until("diff_closed")["conn"], *conn);
    }
    for mut agent in agents {
        agent.hang_up();
        assert_eq!(agent.event("outcome")["outcome"]["result"]["content"][0]["text"], "FILE_SAVED");
        assert_eq!(agent.end().0, Some(0));
    }
    editor.hang_up();
    assert_eq!(editor.end().0, Some(0));
    assert!(!editor.lock.exists());
}

#[test]
fn on_diff_option_decides_at_once() {
    for (how, status, text) in [("accept", 0, "new\n"), ("reject", 1, "old\n")] {
        let place = Place::new(how);
        place.write("a.txt", "old\n");
        place.write("new.txt", "new\n");
        let lock = place.write("lock", r#"{"authToken":"0123456789abcdef"}"#);
        let _editor = place.editor(&["--on-diff", how, "--token-of", &lock]);
        let mut agent = place.agent(&["diff", "a.txt", "new.txt"]);
        assert_eq!(agent.end().0, Some(status));
        assert_eq!(place.read("a.txt"), text);
    }
}

#[test]
fn call_prints_texts_of_result() {
    let place = Place::new("call");
    let path = place.write("a.txt", "x\n");
    let mut editor = place.editor(&[]);
    let mut agent = place.agent(&["call", "openFile", &json!({"filePath": path}).to_string()]);
    assert_eq!(agent.line(), format!("Opened file: {path}"));
    assert_eq!(agent.end().0, Some(0));
    let mut agent = place.agent(&["call", "openFile", r#"{"filePath":"missing"}"#]);
    assert!(agent.line().contains("missing"));
    assert_eq!(agent.end().0, Some(1));
    let mut agent = place.agent(&["call", "closeAllDiffTabs"]);
    assert_eq!((agent.line().as_str(), agent.end().0), ("CLOSED_0_DIFF_TABS", Some(0)));
    let mut agent = place.agent(&["call", "executeCode", r#"{"code":"1"}"#]);
    agent.fails(1, &["executeCode not found"]);
    let mut agent =
        place.agent(&["call", "openDiff", &json!({"path": path, "new_file_contents": "y"}).to_string()]);
    agent.fails(2, &["old_file_path"]);
    for _ in 0..4 {
        let closed = editor.until("closed")["reason"].as_str().unwrap().to_owned();
        assert!(closed.ends_with("1000"), "an agent left without a close handshake: {closed}");
    }
}

/// The expected results follow the measurements of the real client in docs/protocol.md, *The lock file*.
#[test]
fn agent_follows_newest_client() {
    let place = Place::new("judges");
    let editor = place.editor(&[]);
    let (port, lock) = (&editor.port, editor.lock.to_str().unwrap());
    let sound: Value = serde_json::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
    let elsewhere = json!({"workspaceFolders": ["/elsewhere"]});
    let auto = ("CLAUDE_CODE_AUTO_CONNECT_IDE", "false");
    let skip = ("CLAUDE_CODE_IDE_SKIP_VALID_CHECK", "1");
    type Variables<'a> = &'a [(&'a str, &'a str)];
    // The name, the changes of the lock file, the variables, the arguments, and the error of an
    // agent that does not attach.
    let cases: &[(&str, Value, Variables<'_>, &[&str], Option<&str>)] = &[
        ("nothing", json!({}), &[], &[], None),
        ("no transport", json!({"transport": null}), &[], &[], Some("it has no member \"transport\"")),
        (
            "no transport, by port",
            json!({"transport": null}),
            &[],
            &["--port", port],
            Some("no member \"transport\""),
        ),
        (
            "no transport, by file",
            json!({"transport": null}),
            &[],
            &["--lock", lock],
            Some("no member \"transport\""),
        ),
        ("another transport", json!({"transport": "ws-ide"}), &[], &[], Some("its transport is \"ws-ide\"")),
        ("a pid as a string", json!({"pid": sound["pid"].to_string()}), &[], &[], None),
        ("the folder of the client", json!({"workspaceFolders": ["."]}), &[], &[], None),
        (
            "a folder below the client's",
            json!({"workspaceFolders": ["src"]}),
            &[],
            &[],
            Some("none of its folders"),
        ),
        (
            "auto-connect off",
            json!({}),
            &[auto],
            &[],
            Some("since CLAUDE_CODE_AUTO_CONNECT_IDE is \"false\""),
        ),
        ("auto-connect off, by port", json!({}), &[auto], &["--port", port], None),
        ("auto-connect off, by file", json!({}), &[auto], &["--lock", lock], None),
        ("another folder", elsewhere.clone(), &[], &[], Some("none of its folders")),
        ("another folder, unchecked", elsewhere.clone(), &[skip], &[], None),
        (
            "another folder, by the port of a terminal",
            elsewhere,
            &[("CLAUDE_CODE_SSE_PORT", port)],
            &[],
            None,
        ),
        (
            "a dead process, unchecked",
            json!({"pid": dead()}),
            &[skip],
            &[],
            // Not every system reports whether a process runs.
            Some("does not run").filter(|_| pid_alive(std::process::id()).is_some()),
        ),
    ];
    for (name, changes, variables, arguments, expected) in cases {
        fs::write(lock, sound.to_string()).unwrap();
        rewrite(lock, changes);
        let mut command = place.command("agent", &[arguments, &["tools"][..]].concat());
        let (status, output) = Process::spawn("agent", command.envs(variables.iter().copied())).end();
        let as_expected = match expected {
            None => status == Some(0),
            Some(expected) => status == Some(2) && output.contains(expected),
        };
        assert!(as_expected, "{name}: {status:?} {output}");
    }
    let mut command = place.command("agent", &["tools"]);
    let (_, output) = Process::spawn("agent", command.envs([auto])).end();
    let first = if pid_alive(std::process::id()).is_some() { "does not run" } else { "AUTO_CONNECT" };
    assert!(output.contains(first), "the last file is refused first: {output}");
    fs::write(lock, sound.to_string()).unwrap();
    let mut command = place.command("agent", &["tools"]);
    let (_, output) = Process::spawn("agent", command.envs([auto])).end();
    assert!(
        output.contains("choose an editor with --port") && output.contains(&format!("  port {port}: ")),
        "{output}"
    );
}

/// Linux only: other systems do not accept connections on 127.0.0.2 by default.
#[cfg(target_os = "linux")]
#[test]
fn host_override_is_used() {
    use rustix::net::{Shutdown, shutdown};
    use std::io::{Read as _, Write as _};
    let place = Place::new("host");
    let listener = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    place.publish(port, &json!({"ideName": null, "authToken": null}));
    let overridden = |program: &str, arguments: &[&str]| {
        let mut command = place.command(program, arguments);
        Process::spawn(program, command.env("CLAUDE_CODE_IDE_HOST_OVERRIDE", "127.0.0.2"))
    };
    let host = || {
        let mut stream = accept(&listener);
        let mut head = [0; 4096];
        let len = stream.read(&mut head).unwrap();
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").unwrap();
        String::from_utf8_lossy(&head[..len])
            .lines()
            .find(|line| line.starts_with("Host:"))
            .map(str::to_owned)
    };
    let expected = Some(format!("Host: 127.0.0.2:{port}"));
    let mut agent = overridden("agent", &["tools"]);
    assert_eq!(host(), expected);
    assert_eq!(agent.end().0, Some(1));
    let mut bridge = overridden("bridge", &[]);
    bridge.send_line(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#);
    assert_eq!(host(), expected);
    assert_eq!(bridge.end().0, Some(1));

    // A process that another test starts can inherit the listener for a moment, and would keep it open.
    let _ = shutdown(&listener, Shutdown::Both);
    drop(listener);
    let whom = format!("127.0.0.2:{port}, the host of CLAUDE_CODE_IDE_HOST_OVERRIDE");
    overridden("agent", &["tools"]).fails(2, &[&whom]);
}

#[test]
fn variable_chooses_between_two_editors() {
    let place = Place::new("two");
    let (one, mut other) = (place.editor(&[]), place.editor(&[]));
    let rows =
        [&one, &other].map(|editor| (format!("  port {}: \"ide-mcp editor", editor.port), editor.id()));
    for command in ["agent", "bridge", "mcp-config", "tap"] {
        let arguments: &[&str] = if command == "agent" { &["tools"] } else { &[] };
        let output = place
            .start(command, arguments)
            .fails(2, &["several editors", "choose an editor with --port PORT"]);
        for (row, pid) in &rows {
            let row = output
                .lines()
                .find(|line| line.starts_with(row))
                .unwrap_or_else(|| panic!("{command}: {output}"));
            assert!(
                row.contains(&format!(", process {pid}")) && row.contains(", lock file written "),
                "{row}"
            );
        }
        assert_eq!(output.matches("  port ").count(), 2, "{command}: {output}");
    }
    let mut command = place.command("agent", &["tools"]);
    assert_eq!(Process::spawn("agent", command.env("CLAUDE_CODE_SSE_PORT", &other.port)).end().0, Some(0));
    assert_eq!(other.event("connected")["client"], "ide-mcp-agent");
}

/// opencode and Kilo Code take the newest file of a folder, and do not look at the process.
#[cfg(target_os = "linux")]
#[test]
fn running_editor_outranks_what_another_left_behind() {
    let place = Place::new("outranks");
    let editor = place.editor(&[]);
    let time = |path: &std::path::Path| fs::metadata(path).unwrap().modified().unwrap();
    let left = |name: &str, scope: &Value| {
        let mut file: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
        file.as_object_mut().unwrap().extend([
            ("pid".into(), dead().into()),
            ("ideName".into(), "another".into()),
            ("ideMcpScope".into(), scope.clone()),
        ]);
        let (written, path) = (place.project().join(name), place.lock_dir().join(name));
        fs::write(&written, file.to_string()).unwrap();
        let newer = SystemTime::now() + Duration::from_secs(1);
        fs::File::open(&written).unwrap().set_modified(newer).unwrap();
        fs::rename(written, &path).unwrap();
        path
    };
    let within = |what: &str, is_true: &dyn Fn() -> bool| {
        let begin = Instant::now();
        while !is_true() {
            assert!(begin.elapsed() < Duration::from_secs(10), "{what}");
            thread::sleep(Duration::from_millis(20));
        }
    };
    let of_another_program = left("1.lock", &Value::Null);
    within("a newer file hides the editor", &|| time(&editor.lock) > time(&of_another_program));
    let scope: Value = serde_json::from_str(&fs::read_to_string(&editor.lock).unwrap()).unwrap();
    let of_this_program = left("2.lock", &scope["ideMcpScope"]);
    within("a leftover stays", &|| !of_this_program.exists());
    assert!(of_another_program.exists(), "the file of another program is not ours to remove");
}
