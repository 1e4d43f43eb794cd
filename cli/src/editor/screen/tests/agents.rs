//! The tools that agents call, and the notifications that they receive.

use super::Desk;
use super::proposals::diff;
use crate::editor::screen::agents::of_peer;
use crate::support::local::uri_unencoded;
use crate::support::temp::symlink;
use ide_mcp::ide::tool::{
    CheckDocumentDirty, GetCurrentSelection, GetDiagnostics, GetLatestSelection, GetOpenEditors,
    GetWorkspaceFolders, OpenDiff, OpenFile, SaveDocument,
};
use ide_mcp::ide::{ClientEvent, Push};
use serde_json::{Value, json};
use std::slice;

fn open(desk: &Desk, name: &str) -> OpenFile {
    OpenFile::new(desk.path(name))
}

#[test]
fn tools_report_state_on_the_screen() {
    let mut desk = Desk::new(&[("a.json", "{\n  \"a\": 1\n}\n"), ("b.txt", "b\n")]);
    let agent = desk.attach("agent");
    let json =
        |text: String| serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let path = desk.path("a.json");
    let current = |desk: &mut Desk| json(desk.ask(agent, &GetCurrentSelection));
    let latest = |desk: &mut Desk| json(desk.ask(agent, &GetLatestSelection));
    let dirty = |desk: &mut Desk| json(desk.ask(agent, &CheckDocumentDirty::new(path.clone())));
    let save = |desk: &mut Desk| json(desk.ask(agent, &SaveDocument::new(path.clone())));
    let problems =
        |desk: &mut Desk, uri: Option<&str>| json(desk.ask(agent, &GetDiagnostics::new(uri.map(Into::into))));

    assert_eq!(current(&mut desk)["success"], false);
    assert_eq!(latest(&mut desk)["success"], false);
    assert_eq!(dirty(&mut desk)["message"], format!("Document not open: {path}"));
    assert_eq!(save(&mut desk)["message"], format!("Document not open: {path}"));
    assert_eq!(problems(&mut desk, None), json!([]));
    let folders = json(desk.ask(agent, &GetWorkspaceFolders));
    assert_eq!(folders["folders"][0]["path"], desk.root.to_str().unwrap());

    let mut file = open(&desk, "a.json");
    (file.start_text, file.end_text) = (Some("\"a\"".into()), Some("1".into()));
    assert_eq!(desk.ask(agent, &file), format!("Opened file: {path}"));
    desk.shows("\"a\": 1");
    assert_eq!(current(&mut desk)["text"], "\"a\": 1");
    assert_eq!(dirty(&mut desk)["isDirty"], false);
    let mut background = open(&desk, "b.txt");
    background.make_frontmost = false;
    let described = json(desk.ask(agent, &background));
    assert_eq!((&described["languageId"], &described["lineCount"]), (&json!("plaintext"), &json!(1)));

    desk.open("a.json");
    desk.keys("x");
    assert_eq!(dirty(&mut desk)["isDirty"], true);
    let found = problems(&mut desk, Some(&path));
    assert_eq!(found[0]["uri"], path, "as the request spells it");
    assert_eq!(found[0]["diagnostics"].as_array().unwrap().len(), 1, "the problems of the unsaved text");
    assert_eq!(problems(&mut desk, None).as_array().unwrap().len(), 1, "the problems of b.txt are unknown");
    let tabs = json(desk.ask(agent, &GetOpenEditors));
    let states: Vec<_> = tabs["tabs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tab| {
            (
                tab["label"].as_str().unwrap(),
                tab["isActive"].as_bool().unwrap(),
                tab["isDirty"].as_bool().unwrap(),
            )
        })
        .collect();
    assert_eq!(states, [("a.json", true, true), ("b.txt", false, false)]);

    assert_eq!(save(&mut desk)["saved"], true);
    assert_eq!(desk.read("a.json"), "{\n  x\n}\n");
    assert_eq!(dirty(&mut desk)["isDirty"], false);
    desk.keys("y");
    desk.write("a.json", "of another");
    desk.wait(1000);
    let refused = save(&mut desk);
    assert_eq!(refused["saved"], false, "{refused}");
    assert_eq!(desk.read("a.json"), "of another");
    desk.keys("\x17\x17");
    desk.keys("\x17");
    assert_eq!(current(&mut desk)["success"], false);
    assert_eq!(latest(&mut desk)["filePath"], desk.path("b.txt"), "what was selected last");
    let elsewhere = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    assert!(desk.ask(agent, &OpenFile::new(&elsewhere)).contains("is outside"));
    assert!(desk.ask(agent, &GetDiagnostics::new(Some(elsewhere))).contains("is outside"));
}

#[test]
fn agent_gets_problems_of_written_file() {
    let mut desk = Desk::new(&[("a.json", "{}")]);
    let agent = desk.attach("agent");
    desk.open("a.json");
    desk.write("a.json", "{broken");
    let request = GetDiagnostics::new(Some(uri_unencoded(&desk.path("a.json"))));
    let text = desk.ask(agent, &request);
    assert!(text.contains("key must be a string"), "{text}");
    desk.shows("{broken");
}

#[test]
fn all_problems_include_files_requested_before() {
    let mut desk = Desk::new(&[("a.json", "{}"), ("b.txt", "")]);
    let agent = desk.attach("agent");
    desk.open("a.json");
    let new = uri_unencoded(&desk.path("new.json"));
    let of_all = |desk: &mut Desk| {
        let found: Value = serde_json::from_str(&desk.ask(agent, &GetDiagnostics::new(None))).unwrap();
        let file = |file: &Value| (file["uri"].to_string(), file["diagnostics"].as_array().unwrap().len());
        found.as_array().unwrap().iter().map(file).collect::<Vec<_>>()
    };
    let open = (json!(uri_unencoded(&desk.path("a.json"))).to_string(), 0);
    for uri in [&new, &uri_unencoded(&desk.path("never.json"))] {
        desk.ask(agent, &GetDiagnostics::new(Some(uri.clone())));
    }
    assert_eq!(of_all(&mut desk), slice::from_ref(&open), "the files do not exist");
    desk.write("new.json", "[");
    let written = (json!(new).to_string(), 1);
    assert_eq!(of_all(&mut desk), [open.clone(), written.clone()], "the agent has written the file");
    desk.app.look();
    desk.turn();
    desk.open("new.json");
    assert_eq!(of_all(&mut desk), [open, written], "once");
}

#[test]
fn hidden_files_and_pauses_show_agents_nothing() {
    let mut desk = Desk::new(&[("a.txt", "of a"), ("b.log", "of b"), (".gitignore", "*.log\n")]);
    let agent = desk.attach("agent");
    let latest = |desk: &mut Desk| {
        let pushed = desk.received.iter().rev().find_map(|(_, event)| match event {
            ClientEvent::Pushed(Push::SelectionChanged(selection)) => Some(selection.file_path.clone()),
            _ => None,
        });
        pushed.unwrap_or_default()
    };
    let editors = |desk: &mut Desk| desk.ask(agent, &GetOpenEditors);
    desk.open("a.txt");
    desk.wait(300);
    assert_eq!(latest(&mut desk), desk.path("a.txt"));
    desk.open("b.log");
    desk.shows("agents do not receive this file");
    desk.wait(300);
    assert_eq!(latest(&mut desk), "");
    assert!(!editors(&mut desk).contains("b.log"));
    // A change of the ignore file counts from the next look at the disk on.
    desk.write(".gitignore", "*.tmp.*\n");
    desk.wait(1_000);
    desk.keys("\x1b[C");
    desk.wait(300);
    assert_eq!(latest(&mut desk), desk.path("b.log"));
    for _ in 0..2 {
        desk.keys("\x1b[15~");
        desk.shows("paused: agents receive nothing");
        assert_eq!(latest(&mut desk), "");
        assert!(!editors(&mut desk).contains("a.txt"));
        desk.keys("\x0b");
        desk.shows("the editor is paused");
        desk.keys("\x0f");
        desk.shows("● agent");
        assert_eq!(latest(&mut desk), desk.path("b.log"), "even if the cursor has not moved");
        assert!(editors(&mut desk).contains("a.txt"));
    }
}

#[test]
fn link_to_hidden_file_is_refused() {
    let mut desk =
        Desk::new(&[(".gitignore", "*.log\n"), (".env", "x"), ("b.log", "{"), ("secrets.json", "{")]);
    let mut names = vec![".env", "b.log", "secrets.json", "gone.log"];
    for (file, link) in [(".env", "env.json"), ("b.log", "log.json"), ("secrets.json", "linked.json")] {
        names.extend(symlink(file, desk.root.join(link)).then_some(link));
    }
    let agent = desk.attach("agent");
    for opens in [false, true] {
        for name in names.iter().copied() {
            if opens && name != "gone.log" {
                desk.open(name);
            }
            let problems = GetDiagnostics::new(Some(uri_unencoded(&desk.path(name))));
            let refused = "the file may not leave the editor";
            assert_eq!(desk.ask(agent, &problems), refused, "{name}");
            let file = open(&desk, name);
            assert_eq!(desk.ask(agent, &file), refused, "{name}");
            let state = desk.ask(agent, &CheckDocumentDirty::new(desk.path(name)));
            assert!(state.contains("not open"), "{name}: {state}");
        }
        assert_eq!(desk.ask(agent, &GetDiagnostics::new(None)), "[]", "hidden files of any kind");
    }
}

#[test]
fn selections_mentions_and_problems_are_pushed() {
    let mut desk = Desk::new(&[("a.json", "{\n\"a\": 1}\n")]);
    desk.keys("\x0b");
    desk.shows("the mention of a.json waits up to 30 s for an agent");
    desk.wait(31_000);
    desk.shows("no agent received the mention of a.json");
    desk.attach("agent");
    desk.open("a.json");
    desk.received.clear();
    desk.keys("\x1b[1;2B\x1b[1;2C");
    desk.wait(300);
    let sent = |desk: &mut Desk| -> Vec<Value> {
        let of = |(_, event): (usize, ClientEvent)| match event {
            ClientEvent::Pushed(Push::SelectionChanged(selection)) => {
                Some(json!({"selected": selection.text}))
            }
            ClientEvent::Pushed(Push::AtMentioned(mention)) => Some(json!({"mentioned": mention.lines})),
            ClientEvent::Pushed(Push::DiagnosticsChanged(changed)) => {
                Some(serde_json::to_value(changed).unwrap())
            }
            _ => None,
        };
        desk.received.drain(..).filter_map(of).collect()
    };
    assert_eq!(sent(&mut desk), [json!({"selected": "{\n\""})]);
    desk.keys("\x0b");
    desk.shows("mentioned a.json lines 1 to 2 to agent 2.1");
    assert_eq!(sent(&mut desk), [json!({"mentioned": [0, 1]})]);
    desk.keys("\x1b");
    desk.keys("\x0b");
    desk.wait(300);
    desk.shows("mentioned a.json to agent");
    assert_eq!(sent(&mut desk), [json!({"selected": ""}), json!({"mentioned": null})]);
    desk.keys("\"");
    desk.wait(500);
    let uri = uri_unencoded(&desk.path("a.json"));
    assert!(sent(&mut desk).contains(&json!({"uris": [uri]})));
    // A selection in the text of a proposal is not sent to agents.
    let request = diff(&desk, "a.json", "proposed\n");
    desk.wait(3000);
    desk.call(0, &request);
    desk.wait(500);
    desk.received.clear();
    desk.keys("e\x01");
    desk.wait(500);
    assert_eq!(sent(&mut desk), [Value::Null; 0]);
    desk.keys("\x1b");
    desk.keys("\x1b");
    desk.keys("\x17\x17");
    desk.wait(500);
    assert_eq!(sent(&mut desk), [json!({"selected": ""})], "no file has the focus");
}

#[test]
fn peer_cannot_write_over_the_screen() {
    let mut desk = Desk::new(&[]);
    let agent = desk.attach("agent");
    assert_eq!(of_peer("evil\x1b[2J\u{202e}"), "evil\u{fffd}[2J\u{fffd}");
    let path = format!("/tmp/\x1b]0;pwn\x07{}", "x".repeat(10_000));
    desk.call(agent, &OpenDiff::new(path.clone(), "a\x1b[2J\u{9b}\n", "t"));
    desk.shows("+ a␛[2J\u{fffd}");
    desk.ask(agent, &OpenFile::new(path));
    desk.keys("\x1bOS");
    desk.shows("openFile /tmp/\u{fffd}]0;pwn\u{fffd}xxx");
    for row in desk.frame().rows() {
        assert!(!row.contains(|character: char| character.is_control()), "{row:?}");
    }
    assert!(desk.app.model.log.iter().all(|entry| entry.text.chars().count() < 300));
}
