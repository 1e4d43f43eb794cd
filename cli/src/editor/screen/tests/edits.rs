//! The files that agents write without a question.

use super::Desk;
use crate::support::local::uri_unencoded;
use ide_mcp::ide::tool::GetDiagnostics;
use std::fs;

const F11: &str = "\x1b[23~";

/// Writes files as an agent in auto mode does: it asks for the problems of each file before the write, and for all
/// problems after the last one.
fn write(desk: &mut Desk, agent: usize, files: &[(&str, &str)]) {
    for (name, text) in files {
        let uri = uri_unencoded(&desk.path(name));
        desk.ask(agent, &GetDiagnostics::new(Some(uri)));
        desk.write(name, text);
    }
    desk.ask(agent, &GetDiagnostics::new(None));
}

#[test]
fn written_files_are_listed_and_undone() {
    let mut desk = Desk::new(&[("a.json", "1\n"), ("b.json", "2\n")]);
    let agent = desk.attach("claude-code");
    desk.keys(F11);
    desk.shows("nothing");
    desk.keys("u\r");
    write(&mut desk, agent, &[("a.json", "10\n"), ("new.json", "3\n")]);
    desk.shows("created new.json");
    desk.shows("claude-code 2.1, now");

    // The latest file is marked.
    desk.keys("u");
    assert!(!fs::exists(desk.path("new.json")).unwrap());
    desk.shows("new.json is as it was before the agent wrote it");
    desk.shows("changed a.json");

    // A file that has changed since is not undone. The name of an agent stays after its end.
    desk.write("a.json", "11\n");
    // The message has the whole path.
    desk.app.resize((200, 24));
    desk.keys("u");
    assert_eq!(desk.read("a.json"), "11\n");
    desk.shows("the file has changed since");
    desk.write("a.json", "10\n");
    for _ in 0..2 {
        desk.server.feed_eof(desk.now, desk.agents[agent].0);
    }
    desk.turn();
    let second = desk.attach("opencode");
    write(&mut desk, second, &[("b.json", "20\n")]);
    desk.shows("changed b.json");
    desk.shows("claude-code 2.1, ");
    desk.keys("\x1b[Bu");
    assert_eq!(desk.read("a.json"), "1\n");
    desk.keys("u");
    assert_eq!(desk.read("b.json"), "2\n");

    // Enter opens a file, and the key of the page closes it.
    write(&mut desk, second, &[("b.json", "21\n")]);
    desk.keys("\r");
    desk.shows("21");
    desk.keys(F11);
    desk.shows("What agents wrote");
    desk.keys(F11);
    assert!(!desk.screen().contains("What agents wrote"));
}

/// On Windows a file is overwritten in place.
#[cfg(unix)]
#[test]
fn undo_replaces_the_whole_file() {
    let mut desk = Desk::new(&[("a.json", "1\n")]);
    let agent = desk.attach("claude-code");
    write(&mut desk, agent, &[("a.json", "10\n")]);
    let mut open = fs::File::open(desk.path("a.json")).unwrap();
    desk.keys(F11);
    desk.keys("u");
    assert_eq!(desk.read("a.json"), "1\n");
    let text = std::io::read_to_string(&mut open).unwrap();
    assert_eq!(text, "10\n", "an undo that fails in the middle leaves the text of the agent");
}

#[test]
fn unsaved_text_is_announced_before_the_write() {
    let mut desk = Desk::new(&[("a.json", "1\n")]);
    let agent = desk.attach("claude-code");
    desk.open("a.json");
    let uri = uri_unencoded(&desk.path("a.json"));
    let warning = "about to be written, with unsaved changes here: a.json, by claude-code 2.1";
    desk.ask(agent, &GetDiagnostics::new(Some(uri.clone())));
    assert!(!desk.screen().contains(warning));
    desk.keys("x");
    desk.ask(agent, &GetDiagnostics::new(Some(uri)));
    desk.shows(warning);
}
