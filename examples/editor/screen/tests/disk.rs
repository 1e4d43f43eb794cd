//! A disk that hangs holds up what needs it, and nothing else.

use super::Desk;
use ide_mcp::ide::{GetDiagnostics, OpenDiff, ToolRequest};
use std::fs;

fn diff(desk: &Desk, name: &str, contents: &str) -> ToolRequest {
    ToolRequest::OpenDiff(OpenDiff::new(desk.path(name), contents, name))
}

#[test]
fn what_needs_no_disk_goes_on() {
    let mut desk = Desk::new(&[("a.json", "{\"a\": 1}\n")]);
    desk.open("a.json");
    let agent = desk.attach("agent");
    desk.hang();
    let uri = desk.path("a.json");
    let waits = desk.call(agent, &ToolRequest::GetDiagnostics(GetDiagnostics::new(Some(uri))));
    let kept = diff(&desk, "a.json", "{}\n");
    let kept = desk.call(agent, &kept);
    let dropped = diff(&desk, "b.json", "{}\n");
    let dropped = desk.call(agent, &dropped);
    desk.keys("x");
    desk.shows("x{\"a\": 1}");
    assert!(desk.ask(agent, &ToolRequest::GetWorkspaceFolders).contains("ide-mcp-desk"));
    assert!(desk.ask(agent, &ToolRequest::GetCurrentSelection).contains("a.json"));
    assert!(desk.agents[agent].1.cancel(dropped, None));
    desk.wait(300);
    assert_eq!((desk.app.model.proposals.len(), desk.result(waits)), (0, None));
    desk.recover();
    assert!(desk.result(waits).unwrap().concat().contains("expected value"), "of the text as it is now");
    let labels: Vec<&str> = desk.app.model.proposals.iter().map(|open| open.label.as_str()).collect();
    assert_eq!(labels, ["a.json"], "the other one was taken back before it could be shown");
    assert!(desk.result(kept).is_none());
}

#[test]
fn the_end_waits_for_what_is_being_saved() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.keys("x");
    desk.hang();
    desk.keys("\x13\x11");
    desk.shows("a.txt is being saved. ^Q again ends the editor at once");
    desk.keys("y");
    assert!(!desk.app.quits() && desk.app.is_saving());
    desk.recover();
    assert_eq!(desk.read("a.txt"), "xalpha\n", "as it was when it was saved");
    assert!(desk.app.quits());
    assert!(desk.app.farewell("Ctrl+Q", 0).contains("not saved: a.txt"), "what was typed after that is not");
}

#[test]
fn a_second_time_it_does_not_wait() {
    let mut desk = Desk::new(&[("a.txt", "alpha\n")]);
    desk.open("a.txt");
    desk.keys("x");
    desk.hang();
    desk.keys("\x13\x11\x11");
    assert!(desk.app.quits());
    assert!(desk.app.farewell("Ctrl+Q", 0).contains("not saved: a.txt"));
}

#[test]
fn what_cannot_be_saved_ends_nothing() {
    let mut desk = Desk::new(&[("sub/a.txt", "alpha\n")]);
    desk.keys("\r");
    desk.open("sub/a.txt");
    desk.keys("x");
    desk.hang();
    desk.keys("\x13\x11");
    fs::remove_dir_all(desk.root.join("sub")).unwrap();
    desk.recover();
    assert!(!desk.app.quits());
    desk.shows("was not saved");
    let document = desk.app.model.document().unwrap();
    assert!(document.buffer.is_dirty() && document.saving.is_none());
}
