//! The paths and names that agents send, for an editor without a disk: which paths are refused, and what a
//! person sees of the names.

use crate::support::{Room, names, native};
use ide_mcp::ide::Client;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{
    CheckDocumentDirty, CloseTab, GetDiagnostics, OpenDiff, OpenFile, ReformatFile, SaveDocument,
    SetCursorPosition, SetSelection,
};
use serde_json::{Value, json};

/// A call of each tool that names a file.
const TOOLS: &[(&str, fn(&mut Client, &str))] = &[
    ("openDiff, new path", |client, path| {
        let mut diff = OpenDiff::new("/w/a", "x", "t");
        diff.new_file_path = path.into();
        let _ = client.call_tool(&diff).unwrap();
    }),
    ("openDiff, old path", |client, path| {
        let mut diff = OpenDiff::new("/w/a", "x", "t");
        diff.old_file_path = path.into();
        let _ = client.call_tool(&diff).unwrap();
    }),
    ("getDiagnostics", |client, path| {
        let _ = client.call_tool(&GetDiagnostics::new(Some(path.into()))).unwrap();
    }),
    ("openFile", |client, path| {
        let _ = client.call_tool(&OpenFile::new(path)).unwrap();
    }),
    ("checkDocumentDirty", |client, path| {
        let _ = client.call_tool(&CheckDocumentDirty::new(path)).unwrap();
    }),
    ("saveDocument", |client, path| {
        let _ = client.call_tool(&SaveDocument::new(path)).unwrap();
    }),
    ("reformat_file", |client, path| {
        let _ = client.call_tool(&ReformatFile::new(path)).unwrap();
    }),
    ("set_cursor_position", |client, path| {
        let mut at = SetCursorPosition::new(Position::new(0, 0));
        at.file_path = Some(path.into());
        let _ = client.call_tool(&at).unwrap();
    }),
    ("set_selection", |client, path| {
        let mut at = SetSelection::new(Range::default());
        at.file_path = Some(path.into());
        let _ = client.call_tool(&at).unwrap();
    }),
];

fn room() -> Room {
    let mut room = Room::new("");
    room.attach();
    let offer = r#""openDiff","getDiagnostics","openFile","checkDocumentDirty","saveDocument","reformat_file","set_cursor_position","set_selection","close_tab""#;
    room.no_event(&format!(r#"{{"cmd":"tools","offer":[{offer}]}}"#));
    room
}

/// Attaches an agent with a name that our own client would not send, and returns the events.
fn introduce(room: &mut Room, name: &str, target: &str) -> Vec<Value> {
    let conn = room.connect_raw(target);
    let info = json!({"name": name, "version": name});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    for message in [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ] {
        room.feed_message(conn, &message);
    }
    room.settle()
}

#[test]
fn dangerous_paths_do_not_reach_the_editor() {
    let long = format!("/w/{}", "a".repeat(4094));
    let everywhere = [
        ("a line feed", "/w/x\ncq", "control character"),
        ("a carriage return", "/w/x\r", "control character"),
        ("a NUL", "/w/x\0y", "control character"),
        ("an escape", "/w/\u{1b}]0;x\u{7}", "control character"),
        ("a control character of two bytes", "/w/\u{9b}2J", "control character"),
        ("a line feed in a URI", "file:///w/x%0Acq", "control character"),
        ("a URL", "https://host/x", "does not have the scheme file"),
        ("another machine in a URI", "file://server/a", "another machine"),
        ("a relative path", "a", "not absolute"),
        ("a command", "|touch x", if cfg!(windows) { "no name may have" } else { "not absolute" }),
        ("4,097 bytes", &long, "4097 bytes"),
    ];
    let unix = [
        ("TRAMP", "/ssh:host:/x", "another machine"),
        ("TRAMP as root", "/sudo:root@localhost:/etc/shadow", "another machine"),
        ("TRAMP over two hosts", "/ssh:a|sudo:b:/x", "another machine"),
        ("TRAMP without a method", "/host:/x", "another machine"),
        ("TRAMP after a detour", "/w/../ssh:host:/x", "another machine"),
        ("TRAMP after several slashes", "///ssh:host:/x", "another machine"),
        ("TRAMP in a URI", "file:///ssh%3Ahost%3A/x", "another machine"),
        ("a quoted name of Emacs", "/:/w/x", "another machine"),
        ("ange-ftp", "/user@host:/x", "another machine"),
        ("netrw", "scp://host/x", "does not have the scheme file"),
    ];
    let windows = [
        ("a share", r"\\server\share\a", "another machine"),
        ("a share with slashes", "//server/share/a", "another machine"),
        ("a share in a URI", "file://server/share/a", "another machine"),
        ("a pipe", r"\\.\pipe\x", "bypasses the rules"),
        ("a volume without a drive", r"\\?\Volume{0}\a", "bypasses the rules"),
        ("a device", r"W:\NUL", "a device"),
        ("a device with an extension", r"W:\CON.txt", "a device"),
        ("a stream", r"W:\a:hidden", "a colon"),
        ("a stream in a URI", "file:///W:/a::$DATA", "a colon"),
        ("TRAMP", "/ssh:host:/x", "a colon"),
        ("another name of a file", r"W:\.env.", "a dot or a space"),
        ("a drive without a root", "W:a", "not absolute"),
    ];
    let of_the_system = if cfg!(windows) { &windows[..] } else { &unix };
    for (tool, call) in TOOLS {
        let mut room = room();
        for (name, path, reason) in everywhere.iter().chain(of_the_system) {
            room.agents[0].events.clear();
            call(room.client(0), path);
            let mut events = room.settle();
            // The real client does not encode its URIs, so an edit is announced for the file of this very
            // name.
            events.retain(|event| !event["path"].as_str().is_some_and(|path| path.contains('%')));
            assert_eq!(names(&events), [""; 0], "{tool}: {name}");
            assert!(room.outcome(0).contains(reason), "{tool}: {name}: {}", room.outcome(0));
        }
        assert_eq!(room.one(r#"{"cmd":"status"}"#)["calls"], json!([]), "{tool}");
    }
}

#[test]
fn odd_file_names_reach_the_editor() {
    let rows = [
        "/w/a|b",
        "/w/%",
        "/w/#",
        "/w/`x`",
        "/w/\"",
        "/w/'",
        "/w/$(x)",
        "/w/=x",
        "/w/%{x}",
        "/w/-x",
        "/w/+x",
        "/w/a b",
        "/w/a:b",
        "/w/é",
        "/w/\u{202e}x",
        "/w/~",
        "/w/$HOME",
        "/w/*",
        "/w/a\\b",
    ];
    // Windows has no such names, and there the backslash is a separator.
    let is_possible = |path: &&str| !cfg!(windows) || !path.contains(['|', '"', ':', '*', '\\']);
    for (tool, call) in TOOLS {
        let mut room = room();
        for path in rows.into_iter().filter(is_possible) {
            call(room.client(0), path);
            let event = room.settle().pop().unwrap_or_else(|| panic!("{tool}: {path}: {}", room.outcome(0)));
            let member = if tool.ends_with("old path") { "old_path" } else { "path" };
            assert_eq!(event[member], json!(native(path)), "{tool}");
        }
    }
}

/// URIs as the real client writes them: it encodes nothing.
#[test]
fn uri_that_is_not_encoded_names_its_file() {
    let rows = [
        ("file:///w/a b", "/w/a b"),
        ("file:///w/a%20b", "/w/a b"),
        ("file:///w/C#/a.cs", "/w/C#/a.cs"),
        ("file:///w/what?", "/w/what?"),
        ("file:///w/100%", "/w/100%"),
        ("file:///w/50%#1", "/w/50%#1"),
        #[cfg(windows)]
        ("file:///W:/C#/a b.cs", "/w/C#/a b.cs"),
    ];
    let mut room = room();
    for (uri, path) in rows.into_iter().filter(|(_, path)| !(cfg!(windows) && path.contains('?'))) {
        room.client(0).call_tool(&GetDiagnostics::new(Some(uri.into()))).unwrap();
        let event = room.settle().pop().unwrap();
        assert_eq!((&event["event"], &event["path"]), (&json!("call"), &json!(native(path))), "{uri}");
    }
    let tramp = if cfg!(windows) { "a colon" } else { "another machine" };
    for (uri, reason) in [("file://server/a#b", "not absolute"), ("file:///ssh:host:/x#y", tramp)] {
        room.client(0).call_tool(&GetDiagnostics::new(Some(uri.into()))).unwrap();
        let mut events = room.settle();
        events.retain(|event| event["event"] == "call");
        assert_eq!(events, [Value::Null; 0], "{uri}");
        assert!(room.outcome(0).contains(reason), "{uri}: {}", room.outcome(0));
    }
}

#[test]
fn edit_of_a_refused_file_is_not_announced() {
    let mut room = room();
    for (path, announced) in [("/w/x\ncq", 0), ("/ssh:host:/x", 0), ("/w/a", 1), ("/w/x\ncq", 0)] {
        room.client(0).call_tool(&GetDiagnostics::new(Some(path.into()))).unwrap();
        let mut events = room.settle();
        room.client(0).call_tool(&GetDiagnostics::default()).unwrap();
        events.extend(room.settle());
        events.extend(room.wait(10_000));
        for name in ["edit_expected", "edit_ended"] {
            let count = events.iter().filter(|event| event["event"] == name).count();
            assert_eq!(count, announced, "{path:?}: {events:?}");
        }
    }
}

#[test]
fn names_of_peers_are_one_short_line() {
    let imitation = "claude-code attach?\n1: no\n2: yes\n\n";
    let rows = [
        ("a typical one", "claude-code", "claude-code".to_owned()),
        ("several lines", imitation, "claude-code attach?\u{fffd}1: no\u{fffd}2: yes\u{fffd}\u{fffd}".into()),
        ("a quotation mark", "a\" wants", "a' wants".into()),
        ("escapes", "\u{1b}[2J\u{9b}1m", "\u{fffd}[2J\u{fffd}1m".into()),
        ("marks for the direction of writing", "a\u{202e}b\u{2066}", "a\u{fffd}b\u{fffd}".into()),
        ("separators", "a\u{2028}b\u{2029}", "a\u{fffd}b\u{fffd}".into()),
        ("64 characters", &"n".repeat(64), "n".repeat(64)),
        ("65 characters", &"é".repeat(65), format!("{}…", "é".repeat(63))),
        ("an empty name", "", String::new()),
    ];
    for (name, given, expected) in rows {
        for (target, event) in [("/", "connected"), ("/models", "model_connected")] {
            let mut room = Room::new("");
            let events = introduce(&mut room, given, target);
            let event = events.iter().find(|found| found["event"] == event).unwrap();
            assert_eq!((&event["client"], &event["version"]), (&json!(expected), &json!(expected)), "{name}");
            let agent = &room.one(r#"{"cmd":"status"}"#)["agents"][0];
            assert_eq!((&agent["client"], &agent["version"]), (&json!(expected), &json!(expected)), "{name}");
        }
        let mut room = Room::new(r#","consent":true"#);
        let events = introduce(&mut room, given, "/");
        let consent = events.iter().find(|event| event["event"] == "consent").unwrap();
        assert_eq!(consent["client"], json!(expected), "{name}");

        if given.is_empty() {
            continue; // such a tab has the name of its file
        }
        let mut room = self::room();
        room.client(0).call_tool(&OpenDiff::new("/w/a", "x", given)).unwrap();
        assert_eq!(room.settle().pop().unwrap()["tab"], json!(expected), "{name}");
        room.client(0).call_tool(&CloseTab::new(given)).unwrap();
        let closed = room.settle().into_iter().find(|event| event["event"] == "diff_closed").unwrap();
        assert_eq!(closed["tab"], json!(expected), "{name}: the tab has its whole name");
    }
}

#[test]
fn rejection_has_the_whole_name_of_the_tab() {
    let mut room = room();
    let tab = format!("✻ \"{}\"\n", "t".repeat(100));
    room.client(0).call_tool(&OpenDiff::new("/w/a", "x", tab.as_str())).unwrap();
    room.settle();
    room.no_event(r#"{"cmd":"answer","call":1,"verdict":"reject"}"#);
    let answer: Value = serde_json::from_str(&room.outcome(0)).unwrap();
    assert_eq!(answer["content"][1]["text"], json!(tab));
}

#[test]
fn label_tells_files_apart_on_one_safe_line() {
    let long = |count| format!("/w/d/{}", "n".repeat(count));
    let everywhere = [
        ("in the folder", r#"["/w"]"#, "/w/a.txt", "a.txt".to_owned()),
        ("in a subfolder", r#"["/w"]"#, "/w/src/one/mod.rs", native("src/one/mod.rs")),
        ("in an open folder inside another one", r#"["/w","/w/lib"]"#, "/w/lib/a", native("lib/a")),
        ("without folders", "[]", "/w/a", native("/w/a")),
        ("a mark for the direction of writing", r#"["/w"]"#, "/w/\u{202e}txt.exe", "\u{fffd}txt.exe".into()),
        ("64 characters", r#"["/w"]"#, &long(62), native(&format!("d/{}", "n".repeat(62)))),
        ("65 characters", r#"["/w"]"#, &long(63), format!("…{}", "n".repeat(63))),
        (
            "65 characters of several bytes",
            r#"["/w"]"#,
            &format!("/w/d/{}", "ä".repeat(63)),
            format!("…{}", "ä".repeat(63)),
        ),
    ];
    let unix = [
        ("in a folder whose name begins the same", r#"["/w"]"#, "/web/a", "/web/a".into()),
        ("elsewhere", r#"["/w"]"#, "/etc/passwd", "/etc/passwd".into()),
        ("one of several folders", r#"["/w","/v"]"#, "/v/src/a", "v/src/a".into()),
        ("the root", r#"["/"]"#, "/etc/passwd", "etc/passwd".into()),
        ("a format", r#"["/w"]"#, "/w/%{x}|\"y", "%{x}|'y".into()),
    ];
    let windows = [
        ("in a folder whose name begins the same", r#"["C:/w"]"#, "C:/web/a", r"C:\web\a".into()),
        ("elsewhere", r#"["C:/w"]"#, "D:/w/a", r"D:\w\a".into()),
        ("one of several folders", r#"["C:/w","C:/v"]"#, "C:/v/src/a", r"v\src\a".into()),
        ("the root", r#"["C:/"]"#, "C:/Windows/a", r"Windows\a".into()),
        ("a format", r#"["C:/w"]"#, "C:/w/%{x}y", "%{x}y".into()),
    ];
    let of_the_system = if cfg!(windows) { windows } else { unix };
    let mut room = room();
    for (name, folders, path, label) in everywhere.into_iter().chain(of_the_system) {
        room.no_event(&format!(r#"{{"cmd":"folders","folders":{folders}}}"#));
        room.client(0).call_tool(&OpenDiff::new(path, "x", "t")).unwrap();
        assert_eq!(room.settle().pop().unwrap()["label"], json!(label), "{name}");
    }
}

/// The editor never sees a byte order mark, and the agent gets its own mark back.
#[test]
fn byte_order_mark_is_hidden_from_the_editor() {
    let rows = [
        ("with one, accepted as it is", "\u{feff}a\n", "a\n", None, "\u{feff}a\n"),
        ("with one, edited", "\u{feff}a\n", "a\n", Some("b\n"), "\u{feff}b\n"),
        ("with one, by an editor that keeps it", "\u{feff}a\n", "a\n", Some("\u{feff}b\n"), "\u{feff}b\n"),
        ("without one", "a\n", "a\n", None, "a\n"),
        ("without one, edited", "a\n", "a\n", Some("b\n"), "b\n"),
        ("with two", "\u{feff}\u{feff}", "\u{feff}", None, "\u{feff}\u{feff}"),
        ("only a mark", "\u{feff}", "", Some(""), "\u{feff}"),
    ];
    for (name, proposed, shown, edited, expected) in rows {
        let mut room = room();
        room.client(0).call_tool(&OpenDiff::new("/w/a", proposed, "t")).unwrap();
        assert_eq!(room.settle().pop().unwrap()["contents"], json!(shown), "{name}");
        let mut answer = json!({"cmd": "answer", "call": 1, "verdict": "accept"});
        if let Some(edited) = edited {
            answer["contents"] = json!(edited);
        }
        room.no_event(&answer.to_string());
        let outcome: Value = serde_json::from_str(&room.outcome(0)).unwrap();
        let saved = &outcome["content"][1]["text"];
        // Two marks in a row are strange, so the second one is part of the text.
        assert_eq!(saved, &json!(expected), "{name}");
    }
}
