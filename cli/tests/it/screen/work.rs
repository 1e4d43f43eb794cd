//! The work of a user with one file, on screens of three sizes, with colors and without.

use super::Desk;
use crate::support::tmux;

#[test]
fn person_works_on_every_screen() {
    for (width, height) in [(80, 24), (120, 35), (40, 10)] {
        for variables in [&[][..], &[("NO_COLOR", "1")]] {
            work(width, height, variables);
        }
    }
}

fn work(width: u16, height: u16, variables: &[(&str, &str)]) {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::with("work", variables);
    let (tmux, place) = (&desk.tmux, &desk.place);
    let long = format!("a needle, \u{6f22}\u{5b57} and a tab\there, {}the end\r\n", "many words ".repeat(12));
    let path = place.write("a.txt", &format!("first\r\n{long}last Needle\r\n"));
    tmux.resize(width, height);
    desk.start_with("a.txt:2");
    tmux.wait("2  a needle, \u{6f22}\u{5b57}");
    // Long lines are wrapped.
    tmux.wait("the end");
    let screen = tmux.wait("  2:1");
    assert!(screen.lines().all(|line| line.chars().count() <= width.into()), "{screen}");

    // The match of a search is the selection of the agent.
    let mut watching = place.agent(&["watch"]);
    tmux.wait("● ide-mcp-agent");
    tmux.keys(&["C-f"]);
    tmux.type_text("needle");
    tmux.wait("1 of 2");
    tmux.keys(&["C-f"]);
    tmux.wait("2 of 2");
    tmux.keys(&["Enter"]);
    tmux.wait("selected");
    let mut received = watching.event("selection_changed");
    while received["params"]["text"] != "Needle" {
        received = watching.event("selection_changed");
    }
    assert_eq!(received["params"]["filePath"], path);

    // A paste is one step, which is undone, made again and saved.
    tmux.keys(&["C-g"]);
    tmux.type_text("1:6");
    tmux.keys(&["Enter"]);
    tmux.wait("  1:6");
    tmux.type_text("!");
    tmux.wait("first!");
    tmux.keys(&["C-z"]);
    tmux.until("the first text", |screen| screen.contains("1  first") && !screen.contains("first!"));
    tmux.keys(&["C-y"]);
    tmux.wait("first!");
    tmux.keys(&["C-s"]);
    tmux.until("the save", |_| place.read("a.txt") == format!("first!\r\n{long}last Needle\r\n"));

    // Without wrapping, each line has one row.
    tmux.keys(&["M-z"]);
    tmux.until("cut lines", |screen| screen.contains('›') && screen.contains("3  last Needle"));
    tmux.keys(&["C-u"]);
    tmux.wait("the end");

    // Agents receive nothing while the editor is paused, and the screen shows this state.
    tmux.keys(&["F5"]);
    tmux.wait("paused");
    tmux.keys(&["C-o"]);
    tmux.until("the end of the pause", |screen| !screen.contains("paused"));

    // A new file, which is saved under another name.
    tmux.keys(&["C-n"]);
    tmux.type_text("new.txt");
    tmux.wait("file: new.txt");
    tmux.keys(&["Enter"]);
    tmux.wait("not on disk");
    tmux.type_text("new text");
    tmux.keys(&["F12"]);
    tmux.wait("save as: new.txt");
    tmux.type_text("other.txt");
    tmux.keys(&["Enter"]);
    tmux.until("the file", |_| place.project().join("other.txt").exists());
    assert_eq!(place.read("other.txt"), "new text");
    assert!(!place.project().join("new.txt").exists());
    tmux.keys(&["C-q"]);
    tmux.wait("editor: ended by Ctrl+Q");
    desk.assert_sane("the work");
    watching.end();
}

#[test]
fn joined_emoji_leave_no_old_cells() {
    if tmux::is_missing() {
        return;
    }
    let desk = Desk::new("joined");
    desk.place.write("a.txt", &"x".repeat(30));
    desk.place.write("b.txt", "a\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}b end\n");
    desk.start_with("a.txt b.txt");
    desk.tmux.wait("xxx");
    desk.tmux.keys(&["C-b"]);
    let row = "1  a\u{1f468}\u{1f469}\u{1f467}b end";
    desk.tmux.until("the row without old letters", |screen| screen.contains(row) && !screen.contains("xx"));
    desk.tmux.keys(&["C-q"]);
    desk.assert_sane("joined");
}
