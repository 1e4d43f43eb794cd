//! Tests with a disk that hangs: the disk delays only the work that needs the disk, and late results do
//! no harm.

use super::Desk;
use crate::editor::options::OnDiff;
use crate::editor::screen::app::Quitting;
use crate::editor::screen::model::{Focus, Tone};
use crate::support::temp::waiting_program;
use ide_mcp::ide::tool::{GetCurrentSelection, GetDiagnostics, GetWorkspaceFolders, OpenDiff, SaveDocument};
use std::fs;

const SAVE: &str = "\x13";
const QUIT: &str = "\x11";
const RELOAD: &str = "\x12";

fn diff(desk: &Desk, name: &str, contents: &str) -> OpenDiff {
    OpenDiff::new(desk.path(name), contents, name)
}

/// Creates a desk with an open `a.txt` with "x" typed into it, on a disk that hangs.
fn dirty() -> Desk {
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "beta\n")]);
    desk.open("a.txt");
    desk.keys("x");
    desk.hang();
    desk
}

fn text(desk: &Desk) -> &str {
    desk.app.model.document().unwrap().buffer.text().as_str()
}

#[test]
fn work_without_disk_goes_on() {
    let mut desk = Desk::new(&[("a.json", "{\"a\": 1}\n")]);
    desk.open("a.json");
    let agent = desk.attach("agent");
    desk.hang();
    let uri = desk.path("a.json");
    let waits = desk.call(agent, &GetDiagnostics::new(Some(uri)));
    let kept = diff(&desk, "a.json", "{}\n");
    let kept = desk.call(agent, &kept);
    let dropped = diff(&desk, "b.json", "{}\n");
    let dropped = desk.call(agent, &dropped);
    desk.keys("x");
    desk.shows("x{\"a\": 1}");
    assert!(desk.ask(agent, &GetWorkspaceFolders).contains("ide-mcp-desk"));
    assert!(desk.ask(agent, &GetCurrentSelection).contains("a.json"));
    assert!(desk.agents[agent].1.cancel(dropped, None));
    desk.wait(300);
    assert_eq!((desk.app.model.proposals.len(), desk.result(waits)), (0, None));
    desk.recover();
    assert!(
        desk.result(waits).unwrap().concat().contains("expected value"),
        "the problems are those of the changed text"
    );
    let labels: Vec<&str> = desk.app.model.proposals.iter().map(|open| open.label.as_str()).collect();
    assert_eq!(labels, ["a.json"], "the agent cancelled the other proposal before the editor could show it");
    assert!(desk.result(kept).is_none());
}

#[test]
fn calls_queue_one_look_at_most() {
    let mut desk = dirty();
    let agent = desk.attach("agent");
    for _ in 0..100 {
        assert!(desk.ask(agent, &GetCurrentSelection).contains("a.txt"));
    }
    let waiting = format!("{:?}", desk.app.disk);
    assert!(waiting.contains("waiting: 1,"), "{waiting}");
    desk.write("b.txt", "other\n");
    desk.recover();
    assert!(!desk.app.disk.has_own_jobs());
}

#[test]
fn automatic_verdict_needs_no_disk() {
    let mut desk = Desk::with(&[("a.txt", "alpha\n")], OnDiff::Accept);
    let agent = desk.attach("agent");
    desk.hang();
    let request = diff(&desk, "a.txt", "beta\n");
    assert_eq!(desk.ask(agent, &request), "FILE_SAVED|beta\n");
}

#[test]
fn quit_waits_for_save_in_progress() {
    let mut desk = dirty();
    desk.keys(&[SAVE, QUIT].concat());
    desk.shows("^Q again ends the editor at once; being saved: a.txt");
    assert_eq!((desk.app.quitting, desk.app.is_saving()), (Quitting::WhenSaved, true));
    desk.recover();
    assert_eq!((desk.app.quitting, desk.read("a.txt")), (Quitting::Now, "xalpha\n".into()));
}

#[test]
fn second_quit_ends_without_waiting() {
    let mut desk = dirty();
    desk.keys(&[SAVE, QUIT, QUIT].concat());
    assert_eq!(desk.app.quitting, Quitting::AtOnce);
    assert!(desk.app.farewell("Ctrl+Q", 0).contains("not saved: a.txt"));
}

#[test]
fn quit_asks_again_after_new_changes() {
    let mut desk = dirty();
    let agent = desk.attach("agent");
    desk.keys(&[SAVE, QUIT, "y"].concat());
    let proposal = diff(&desk, "b.txt", "better\n");
    desk.call(agent, &proposal);
    desk.recover();
    assert_eq!((desk.read("a.txt").as_str(), desk.app.quitting), ("xalpha\n", Quitting::No));
    let id = desk.app.model.message.as_ref().map(|message| message.text.as_str());
    assert_eq!(id, Some("^Q again ends the editor; not saved: a.txt"));
}

#[test]
fn failed_save_cancels_quit() {
    let mut desk = Desk::new(&[("sub/a.txt", "alpha\n")]);
    desk.keys("\r");
    desk.open("sub/a.txt");
    desk.keys("x");
    desk.hang();
    desk.keys(&[SAVE, QUIT].concat());
    fs::remove_dir_all(desk.root.join("sub")).unwrap();
    desk.recover();
    assert_eq!(desk.app.quitting, Quitting::No);
    desk.shows("was not saved: it was removed on disk");
    let document = desk.app.model.document().unwrap();
    assert!(document.buffer.is_dirty() && document.saving.is_empty());
    assert!(desk.app.model.log.iter().any(|entry| entry.text.contains("deleted on disk")));
}

/// A failed save stays visible until a key, whatever else happens, and whoever wanted the save.
#[test]
fn failed_save_outranks_every_message() {
    for is_of_an_agent in [false, true] {
        let mut desk = Desk::new(&[("sub/a.txt", "alpha\n")]);
        let agent = desk.attach("agent");
        desk.keys("\r");
        desk.open("sub/a.txt");
        desk.keys("x");
        desk.hang();
        let shown = if is_of_an_agent {
            let path = desk.path("sub/a.txt");
            desk.call(agent, &SaveDocument::new(path));
            if cfg!(windows) { "a.txt was not saved: " } else { "a.txt was not saved: No such file" }
        } else {
            desk.keys(SAVE);
            "a.txt was not saved: it was removed on disk"
        };
        fs::remove_dir_all(desk.root.join("sub")).unwrap();
        desk.recover();
        desk.shows(shown);
        desk.app.model.report(Tone::Bad, "another error".into());
        desk.app.model.hold("another question");
        desk.app.model.notify(Tone::Good, "another success");
        desk.wait(60_000);
        desk.shows(shown);
        assert!(desk.app.model.log.iter().any(|entry| entry.text.contains("another error")));
        // A question that cannot be shown is withdrawn: the next key does not answer it.
        desk.keys("\x1b[C");
        desk.app.model.notify(Tone::Plain, "another message");
        desk.shows("another message");
    }
}

#[test]
fn copy_of_a_killed_write_is_named() {
    let mut desk = Desk::new(&[("a.txt", "half")]);
    let mut child = waiting_program();
    child.kill().unwrap();
    child.wait().unwrap();
    let copy = format!(".a.txt.ide-mcp-{}-0.old~", child.id());
    desk.write(&copy, "the whole text\n");
    desk.open("a.txt");
    desk.shows(&format!("{copy} may have the text of a.txt before a write"));
    desk.keys(&["x", SAVE].concat());
    assert_eq!((desk.read("a.txt").as_str(), desk.read(&copy).as_str()), ("xhalf", "the whole text\n"));
}

#[test]
fn save_keeps_a_change_on_disk() {
    let mut desk = dirty();
    desk.keys(SAVE);
    desk.write("a.txt", "of the agent\n");
    desk.recover();
    assert_eq!((desk.read("a.txt").as_str(), text(&desk)), ("of the agent\n", "xalpha\n"));
    assert!(desk.app.model.document().unwrap().conflict);
    desk.keys(SAVE);
    desk.shows("^S again overwrites it");
    desk.keys(SAVE);
    assert_eq!(desk.read("a.txt"), "xalpha\n");

    let mut desk = dirty();
    let agent = desk.attach("agent");
    let path = desk.path("a.txt");
    let saving = desk.call(agent, &SaveDocument::new(path));
    desk.write("a.txt", "of the agent\n");
    desk.recover();
    assert!(desk.result(saving).unwrap().concat().contains("the user must decide"));
    assert_eq!(desk.read("a.txt"), "of the agent\n");
}

/// `cp --preserve` does this: the length and the time are those that the editor has seen.
#[test]
fn save_keeps_a_change_that_attributes_hide() {
    let mut desk = dirty();
    desk.keys(SAVE);
    let time = fs::metadata(desk.path("a.txt")).unwrap().modified().unwrap();
    desk.write("a.txt", "other\n");
    fs::File::options().write(true).open(desk.path("a.txt")).unwrap().set_modified(time).unwrap();
    desk.recover();
    assert_eq!((desk.read("a.txt").as_str(), text(&desk)), ("other\n", "xalpha\n"));
    desk.shows("a.txt was not saved: it has changed on disk");
    assert!(desk.app.model.document().unwrap().conflict);
    desk.keys(SAVE);
    desk.shows("^S again overwrites it");
    desk.keys(SAVE);
    assert_eq!(desk.read("a.txt"), "xalpha\n");
}

#[test]
fn save_asks_before_it_replaces_a_binary_file() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.keys("x");
    fs::write(desk.path("a.txt"), b"\xff\xfe").unwrap();
    desk.wait(1000);
    desk.shows("is not UTF-8");
    desk.keys(SAVE);
    desk.shows("^S again overwrites it");
    assert_eq!(fs::read(desk.path("a.txt")).unwrap(), b"\xff\xfe");
    desk.keys(SAVE);
    assert_eq!(desk.read("a.txt"), "xalpha\n");
}

#[test]
fn same_text_written_again_is_not_a_change() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.keys("x");
    fs::remove_file(desk.path("a.txt")).unwrap();
    desk.write("a.txt", "alpha\n");
    desk.wait(1000);
    assert!(!desk.app.model.document().unwrap().conflict);
    desk.keys(SAVE);
    assert_eq!(desk.read("a.txt"), "xalpha\n");
}

#[test]
fn each_saved_text_is_written() {
    let mut desk = dirty();
    desk.keys(&[SAVE, "\r", SAVE, "\x1a", SAVE].concat());
    assert_eq!(desk.app.model.document().unwrap().saving.len(), 3);
    desk.keys(QUIT);
    desk.recover();
    assert_eq!((desk.read("a.txt").as_str(), desk.app.quitting), ("xalpha\n", Quitting::Now));
    assert!(!desk.app.model.document().unwrap().buffer.is_dirty());
}

#[test]
fn file_cannot_close_during_its_save() {
    let mut desk = dirty();
    desk.keys(&[SAVE, "\x17", "\x17"].concat());
    desk.shows("this file is being saved: try again in a moment");
    desk.recover();
    assert_eq!((desk.read("a.txt").as_str(), text(&desk)), ("xalpha\n", "xalpha\n"));
    desk.keys("\x17");
    assert!(desk.app.model.document().is_none());
}

#[test]
fn late_reload_keeps_typed_text() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.hang();
    desk.keys(&[RELOAD, "x"].concat());
    desk.recover();
    assert_eq!(text(&desk), "xalpha\n");
    desk.shows("was not read again: you changed it");
    desk.keys("\x1a");
    assert_eq!(text(&desk), "alpha\n");
}

#[test]
fn file_read_late_receives_no_keys() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n"), ("b.txt", "beta\n")]);
    desk.open("a.txt");
    desk.hang();
    desk.open("b.txt");
    desk.shows("b.txt is being read");
    desk.app.model.focus = Focus::Text;
    desk.keys("x");
    desk.recover();
    assert_eq!(text(&desk), "xalpha\n");
    desk.shows("b.txt is open in the background");
    assert_eq!(desk.app.model.documents.len(), 2);
}

#[test]
fn folding_twice_before_listing_folds_once() {
    let mut desk = Desk::new(&[("sub/a.txt", "alpha\n")]);
    desk.keys("\r");
    assert_eq!(desk.app.model.tree.unfolded().count(), 2);
    desk.hang();
    desk.keys("\x1b[D\x1b[D");
    desk.recover();
    assert_eq!(desk.app.model.tree.unfolded().count(), 1);
}

#[test]
fn shortened_file_stays_in_sight() {
    let long: String = (0..200).map(|line| format!("line {line}\n")).collect();
    let mut desk = Desk::new(&[("a.txt", &long)]);
    desk.open("a.txt");
    desk.keys("\x1b[1;5F");
    desk.shows("line 199");
    desk.write("a.txt", "short");
    desk.keys(RELOAD);
    desk.shows("short");
}
