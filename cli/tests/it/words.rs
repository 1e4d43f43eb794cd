//! What the commands print for a user at a terminal of 80 columns.

use crate::support::tmux::{self, Tmux};
use crate::support::{Editor, Place};
use serde_json::{Value, json};
use std::fs;

/// Returns a terminal in the project.
fn terminal(place: &Place) -> Tmux {
    let home = place.home();
    Tmux::new(&home, &place.project(), &[("HOME", home.to_str().unwrap()), ("NO_COLOR", "1")])
}

/// Types a command of the program, and an `echo` of its status after it.
fn run(tmux: &Tmux, arguments: &str) {
    tmux.line("clear");
    tmux.until("an empty screen", |screen| !screen.contains("status"));
    tmux.line(&format!("'{}' {arguments}; echo \"status $?\"", crate::executable()));
}

fn select(editor: &mut Editor, end: u32) {
    editor
        .send_line(&json!({"cmd": "select", "path": "a.txt", "start": [0, 0], "end": [0, end]}).to_string());
}

#[test]
fn watch_shows_rows_at_a_terminal_and_ends_in_words() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("words-watch");
    place.write("a.txt", "hello\n");
    let mut editor = place.editor(&[]);
    select(&mut editor, 5);
    let tmux = terminal(&place);
    run(&tmux, "agent watch");
    let screen = tmux.wait("selection_changed");
    let row = screen.lines().find(|line| line.contains("selection_changed")).unwrap();
    assert!(row.contains(" 1 editor → notification selection_changed {"), "{screen}");
    assert!(screen.lines().any(|line| line.ends_with(" 1          open")), "{screen}");
    select(&mut editor, 2);
    let two = tmux.until("both", |screen| screen.matches("selection_changed").count() == 2);
    assert!(!two.contains("{\"event\""), "{two}");
    editor.send_line(r#"{"cmd":"quit"}"#);
    let end = tmux.wait("status 1");
    assert!(end.contains("agent: the editor ended\n"), "{end}");

    let mut editor = place.editor(&[]);
    run(&tmux, "agent --json watch");
    editor.until("ide_connected");
    select(&mut editor, 5);
    tmux.wait("{\"event\":\"selection_changed\"");
}

/// The editor sends a selection up to three times, because an agent that has just attached can miss it.
#[test]
fn watch_prints_a_repeated_selection_once() {
    let place = Place::new("words-repeated");
    place.write("a.txt", "hello\n");
    let mut editor = place.editor(&[]);
    select(&mut editor, 5);
    let mut agent = place.agent(&["watch"]);
    assert_eq!(agent.event("selection_changed")["params"]["text"], "hello");
    // After the settle time the editor has sent it again. A newer one follows.
    editor.until("ide_connected");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    select(&mut editor, 4);
    assert_eq!(agent.event("selection_changed")["params"]["text"], "hell");
    select(&mut editor, 5);
    assert_eq!(agent.event("selection_changed")["params"]["text"], "hello", "another than the last");
}

#[test]
fn person_at_a_terminal_chooses_among_editors() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("words-choice");
    let mut editors = [place.editor(&[]), place.editor(&[])];
    let tmux = terminal(&place);
    let question = "Type its number; Ctrl+C ends:";
    let is_prompted = |screen: &str| screen.trim_end().ends_with(question);
    // By a number of the list, after two answers that are not in it.
    run(&tmux, "agent tools");
    let screen = tmux.until("the question", is_prompted);
    for editor in &editors {
        let row = format!("port {}: \"ide-mcp editor", editor.port);
        let row = screen.lines().find(|line| line.contains(&row)).unwrap_or_else(|| panic!("{screen}"));
        assert!(row.contains(&format!("process {}", editor.id())), "{screen}");
    }
    for wrong in ["3", "x"] {
        tmux.line(wrong);
        let why = format!("\"{wrong}\" is neither a number of the list nor a port");
        tmux.until("again", |screen| is_prompted(screen) && screen.contains(&why));
    }
    let second = screen.lines().find_map(|line| line.trim_start().strip_prefix("2  port ")).unwrap();
    tmux.line("2");
    tmux.wait("status 0");
    let chosen = editors.iter_mut().find(|editor| second.starts_with(&editor.port)).unwrap();
    assert_eq!(chosen.event("connected")["client"], "ide-mcp-agent");
    // By its port, and with the tap.
    let port = editors[0].port.clone();
    run(&tmux, "tap");
    tmux.until("the question", is_prompted);
    tmux.line(&port);
    let screen = tmux.wait("in the environment of an agent");
    assert!(screen.contains(&format!(" on port {port}")), "{screen}");
    tmux.keys(&["C-c"]);
    tmux.wait("status 0");
    // The end of the input chooses none.
    run(&tmux, "agent tools");
    tmux.until("the question", is_prompted);
    tmux.keys(&["C-d"]);
    let screen = tmux.wait("status 2");
    assert!(screen.contains("choose an editor with --port PORT"), "{screen}");
    // A program gets the error, and so does one in the background, which may not read the terminal.
    for command in ["agent --json tools", "agent tools < /dev/null", "agent tools 2> said"] {
        run(&tmux, command);
        let screen = tmux.wait("status 2");
        assert!(!screen.contains(question), "{command}: {screen}");
    }
}

/// Each way to attach has a row of its own, so that the terminal breaks none of them.
#[test]
fn tap_names_the_command_that_attaches() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("words-tap");
    let _editor = place.editor(&[]);
    let tmux = terminal(&place);
    run(&tmux, "tap");
    let screen = tmux.wait("in the environment of an agent");
    let lock = |path: &std::path::PathBuf| {
        let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        file["ideName"].as_str().unwrap().ends_with("(tap)")
    };
    let locks = place.in_lock_dir();
    let tap =
        locks.iter().find(|path| path.extension().is_some_and(|end| end == "lock") && lock(path)).unwrap();
    let port = tap.file_stem().unwrap().to_str().unwrap();
    let command = format!("ide-mcp agent --port {port} tools");
    for way in [
        "/ide in Claude Code",
        &command,
        &format!("CLAUDE_CODE_SSE_PORT={port} in the environment of an agent"),
    ] {
        assert!(screen.lines().any(|line| line == format!("  {way}")), "{way}: {screen}");
    }
    let arguments = command.strip_prefix("ide-mcp ").unwrap().split(' ').collect::<Vec<_>>();
    assert_eq!(
        place.start(arguments[0], &arguments[1..]).end(),
        (Some(0), String::new()),
        "it works as it is printed"
    );
}

#[test]
fn report_of_the_doctor_fits_80_columns() {
    if tmux::is_missing() {
        return;
    }
    let place = Place::new("words-doctor");
    let _editor = place.editor(&[]);
    fs::write(place.lock_dir().join("1.lock"), "{").unwrap();
    let tmux = terminal(&place);
    tmux.resize(80, 60);
    run(&tmux, "doctor");
    let screen = tmux.wait("status 1");
    assert!(screen.contains("[lock-unparsable-beside-editor]"), "{screen}");
    let headline: String = screen.lines().take(3).collect::<Vec<_>>().join(" ");
    assert!(headline.contains(" attaches to ") && !headline.contains("1 problem"), "{screen}");
    assert!(screen.contains("found nothing wrong; --verbose lists them"), "{screen}");
    assert!(!screen.contains("lock-sound"), "{screen}");
    // A line that the terminal breaks has all of its 80 columns, and ends within a word.
    let rows: Vec<&str> = screen.lines().collect();
    for (row, next) in rows.iter().zip(&rows[1..]) {
        let is_broken = row.chars().count() == 80 && next.starts_with(|first: char| first != ' ');
        assert!(!is_broken || row.trim_start().starts_with('$'), "{row}\n{next}");
    }
}
