//! Faults that newcomers found in the editor, so that they do not come back.

use super::Desk;
use crate::editor::neighbors::Neighbor;
use crate::editor::paths::Target;
use crate::editor::screen::model::attach::Attach;

/// Returns the text of the shown file.
fn text(desk: &Desk) -> String {
    desk.app.model.document().unwrap().buffer.text().as_str().to_owned()
}

#[test]
fn message_leaves_with_its_cause() {
    let mut desk = Desk::new(&[("long.txt", "text\n")]);
    std::fs::write(desk.root.join("latin1.txt"), [0xe9]).unwrap();
    desk.wait(1000);
    desk.open("latin1.txt");
    desk.shows("is not UTF-8");
    desk.wait(60_000);
    desk.shows("is not UTF-8");
    desk.open("long.txt");
    desk.shows("1  text");
    let screen = desk.screen();
    assert!(!screen.contains("is not UTF-8"), "{screen}");
}

#[test]
fn sideways_scroll_recovers() {
    let mut desk = Desk::new(&[("a.txt", &format!("short\n{}\nshort too\n", "0123456789".repeat(9)))]);
    desk.open("a.txt");
    desk.app.resize((60, 10));
    desk.keys("\x1b[B\x1b[F");
    desk.app.resize((200, 10));
    desk.shows("1  short");
    desk.app.resize((60, 10));
    desk.keys("\x1b[B");
    desk.shows("1  short");
    desk.shows("3  short too");
}

#[test]
fn paste_of_any_size_is_one_undo() {
    for lines in [1, 10, 20_000] {
        let mut desk = Desk::new(&[("a.txt", "before")]);
        desk.open("a.txt");
        let pasted = "0123456789\n".repeat(lines);
        desk.keys(&format!("\x1b[200~{pasted}\x1b[201~"));
        assert!(text(&desk) == format!("{pasted}before"), "{lines} lines");
        desk.keys("\x1a");
        assert!(text(&desk) == "before", "{lines} lines, {} bytes are left", text(&desk).len());
    }
}

#[test]
fn messages_leave_by_key_or_time() {
    let mut desk = Desk::new(&[("a.txt", "text\n"), ("b.txt", "")]);
    let agent = desk.attach("claude-code");
    // A bad message is tested above. An event of an agent leaves with time.
    desk.ask(agent, &ide_mcp::ide::tool::GetOpenEditors);
    desk.shows("getOpenEditors");
    desk.wait(7_999);
    desk.shows("getOpenEditors");
    desk.wait(1);
    assert!(!desk.screen().contains("getOpenEditors"), "{}", desk.screen());
    for (name, gone_by_key) in [("a key", true), ("time", false)] {
        desk.open("a.txt");
        desk.keys("x\x13");
        desk.shows("a.txt is saved");
        desk.wait(7_999);
        desk.shows("a.txt is saved");
        if gone_by_key {
            desk.keys("\x1b[B")
        } else {
            desk.wait(1)
        }
        assert!(!desk.screen().contains("is saved"), "{name}: {}", desk.screen());
    }
    // A question stays as long as its key counts.
    desk.keys("x\x11");
    desk.wait(3_600_000);
    desk.shows("^Q again ends the editor");
}

#[test]
fn files_of_the_command_line_are_shown() {
    let mut desk = Desk::new(&[("a.txt", "one\ntwo\n"), ("b.txt", "beta\n")]);
    std::fs::write(desk.root.join("latin1.txt"), [0xe9]).unwrap();
    let target = |name: &str, place| Target { path: desk.root.join(name), place };
    let targets = [target("a.txt", Some((1, 2))), target("b.txt", None), target("new.txt", None)];
    let unreadable = [target("latin1.txt", None)];
    desk.app.open_targets(&targets).unwrap();
    desk.turn();
    desk.shows("1  one");
    desk.shows("2:3");
    for next in ["beta", "not on disk", "1  one"] {
        desk.keys("\x02");
        desk.shows(next);
    }
    desk.app.open_targets(&unreadable).unwrap();
    desk.turn();
    desk.shows("is not UTF-8");
    desk.shows("1  one");
}

#[test]
fn address_and_commands_are_shown() {
    let neighbor = |name: &str| Neighbor { name: name.into(), port: 50_001, pid: None };
    type Row<'a> = (&'a str, Vec<Neighbor>, &'a [&'a str], &'a [&'a str]);
    let by_port = "CLAUDE_CODE_SSE_PORT=41234 claude --ide";
    let cases: [Row<'_>; 3] = [
        ("alone", vec![], &["claude --ide", "in claude; choose editor", by_port], &["editors here"]),
        (
            "with another name",
            vec![neighbor("other")],
            &[
                "one of 2 editors here",
                "2 editors here: claude --ide attaches to none",
                "in claude; choose editor",
                by_port,
            ],
            &["claude --ide  from these"],
        ),
        (
            "with the same name",
            vec![neighbor("editor"), neighbor("x")],
            &["one of 3 editors here", by_port],
            &["/ide"],
        ),
    ];
    for (name, neighbors, shown, absent) in cases {
        for size in [(80, 24), (120, 35)] {
            let mut desk = Desk::new(&[("a.txt", "")]);
            desk.app.resize(size);
            desk.app.model.attach =
                Some(Attach { name: "editor".into(), port: 41_234, neighbors: neighbors.clone() });
            let screen = desk.screen();
            assert!(screen.contains("nobody attached · port 41234 · editor"), "{name}:\n{screen}");
            assert!(shown.iter().all(|text| screen.contains(text)), "{name}:\n{screen}");
            assert!(!absent.iter().any(|text| screen.contains(text)), "{name}:\n{screen}");
            desk.keys("\x1bOS");
            desk.shows(by_port);
            let page = desk.screen();
            assert_eq!(page.contains("port 50001"), !neighbors.is_empty(), "{name}:\n{page}");
            // The address stays when an agent is there, and a message is in front of it.
            desk.keys("\x1b");
            desk.attach("claude-code");
            desk.wait(8_000);
            desk.shows("● claude-code 2.1 · port 41234 · editor");
            desk.keys("\x1bOR");
            desk.shows("no change is proposed");
            assert!(!desk.screen().contains("41234 · editor"), "{name}:\n{}", desk.screen());
        }
    }
}

#[test]
fn command_by_port_is_whole_at_any_width() {
    let name = "ide-mcp editor".to_owned();
    for width in [40, 41, 42, 45, 60, 61, 80, 120] {
        for keys in ["", "\x1bOS"] {
            let mut desk = Desk::new(&[("a.txt", "")]);
            desk.app.resize((width, 30));
            desk.app.model.attach = Some(Attach { name: name.clone(), port: 41_234, neighbors: Vec::new() });
            desk.keys(keys);
            let screen = desk.screen();
            // A narrow screen shows the list of files, and the commands only on the page of F4.
            if width < 60 && keys.is_empty() {
                continue;
            }
            let rows = screen.lines().map(|row| row.rsplit('│').next().unwrap_or(row).trim());
            let text = rows.collect::<Vec<_>>().join(" ").replace(" \\ ", " ");
            let expected = "CLAUDE_CODE_SSE_PORT=41234 claude --ide from any folder";
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(expected), "{width}:\n{screen}");
            assert!(text.contains("/ide in claude; choose ide-mcp editor"), "{width}:\n{screen}");
        }
    }
}

#[test]
fn address_is_cut_on_a_small_screen() {
    let mut desk = Desk::new(&[]);
    desk.app.resize((40, 10));
    desk.app.model.attach = Some(Attach { name: "editor".into(), port: 41_234, neighbors: Vec::new() });
    desk.shows("nobody attached · port 41234 · e");
}

/// A terminal without bracketed paste sends a pasted text as keys: each row of them is one change.
#[test]
fn keys_that_arrive_together_are_one_change() {
    let mut desk = Desk::new(&[("a.txt", "")]);
    desk.open("a.txt");
    let state = |desk: &Desk| desk.app.model.document().unwrap().buffer.state();
    for (keys, changes) in [("x".repeat(2_000), 1), ("one\r".repeat(100), 200), ("a\tb".into(), 1)] {
        let before = state(&desk);
        desk.keys(&keys);
        assert_eq!(state(&desk) - before, changes, "{keys}");
    }
    let text = format!("{}{}a\tb", "x".repeat(2_000), "one\n".repeat(100));
    assert_eq!(desk.app.model.document().unwrap().buffer.text().as_str(), text);
}
