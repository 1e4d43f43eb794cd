//! The deadline and the output of a turn.

use crate::support::{Room, names};
use ide_mcp::ide::GetDiagnostics;
use std::time::Duration;

/// Checks that a loop wakes up in time, and writes what there is to write.
#[test]
fn loop_sees_deadline_and_output() {
    let mut room = Room::new("");
    room.attach();
    room.client(0).call(&GetDiagnostics::new(Some("/w/a".into()))).unwrap();
    room.settle();
    assert_eq!(room.editor.next_output(), None);
    let due = room.now.saturating_add(Duration::from_millis(400));
    assert_eq!(room.editor.deadline(), Some(due), "the timeout of the call");
    room.editor.command(room.now, 1, r#"{"cmd":"respond","call":1,"result":[]}"#).unwrap();
    assert_eq!(room.editor.deadline(), Some(room.now), "there is output");
    assert_eq!(room.editor.next_output(), Some(room.agents[0].conn));
    assert_eq!(room.editor.next_output(), None);
}

#[test]
fn last_events_come_although_events_are_left_out() {
    let mut room = Room::new("");
    room.attach();
    room.editor.set_taking_events(false);
    room.editor.shutdown(room.now, "quit");
    let events = room.settle();
    assert_eq!(names(&events), ["gap", "status", "over"]);
    assert_eq!(events[0]["events"], 2, "`stopping` and `closed`: {events:?}");
    assert_eq!(events[1]["agents"], serde_json::json!([]));
    room.editor.command_line(room.now, 1, b"{");
    assert!(room.editor.is_over() && room.editor.next_event().is_none());
}

/// Waits only until the deadline, and sees each event that no socket announces.
#[test]
fn deadline_is_now_while_an_event_waits() {
    let mut room = Room::new("");
    room.attach();
    let soon = |room: &Room| room.editor.deadline().is_some_and(|due| due <= room.now);
    room.editor.command_line(room.now, 7, b"no command");
    assert!(soon(&room), "an error");
    assert_eq!(names(&room.settle()), ["error"]);
    assert!(!soon(&room), "nothing is left");
    room.editor.shutdown(room.now, "quit");
    assert!(soon(&room), "the end begins");
    while room.editor.next_event().is_some() {}
    while room.editor.next_output().is_some() {}
    assert!(!soon(&room), "the connection is open");
    room.editor.remove(room.now, room.agents[0].conn);
    while room.editor.next_event().is_some_and(|event| event.name() != "over") {}
    assert!(room.editor.is_over());
    assert_eq!(room.editor.deadline(), None);

    let mut room = Room::new("");
    room.editor.connect(room.now);
    room.editor.shutdown(room.now, "quit");
    while room.editor.next_event().is_some() {}
    room.editor.remove(room.now, 1);
    while room.editor.next_output().is_some() {}
    assert!(soon(&room), "the event `over`");
    assert_eq!(room.editor.next_event().unwrap().name(), "over");
    assert_eq!(room.editor.deadline(), None);
}
