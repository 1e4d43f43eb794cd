//! When a turn is due, and what it writes.

use crate::support::{Room, names};
use ide_mcp::Output;
use ide_mcp::ide::tool::GetDiagnostics;
use ide_mcp_embed::Event;
use std::time::Duration;

/// A loop wakes up in time, and writes what there is to write.
#[test]
fn loop_sees_deadline_and_output() {
    let mut room = Room::new("");
    room.attach();
    room.client(0).call_tool(&GetDiagnostics::new(Some("/w/a".into()))).unwrap();
    room.settle();
    let due = room.now.saturating_add(Duration::from_millis(400));
    assert_eq!(room.editor.deadline(), Some(due), "the timeout of the call");
    room.editor.command(room.now, 1, r#"{"cmd":"respond","call":1,"result":[]}"#).unwrap();
    assert_eq!(room.editor.deadline(), Some(room.now), "there is output");
    let conn = room.agents[0].conn;
    assert!(room.editor.wants_output(conn));
    assert!(matches!(room.editor.poll(room.now), Output::Write { conn: of, .. } if of == conn));
    assert!(matches!(room.editor.poll(room.now), Output::Wait(_)));
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
    assert!(room.editor.is_over() && matches!(room.editor.poll(room.now), Output::Wait(_)));
}

/// A loop that waits only until the deadline sees every event that no socket announces.
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
    assert!(!pass(&mut room).contains(&"over".to_owned()));
    assert!(!soon(&room), "the connection is open");
    room.lose(room.agents[0].conn);
    assert_eq!(pass(&mut room).last().unwrap(), "over");
    assert!(room.editor.is_over());
    assert_eq!(room.editor.deadline(), None);

    let mut room = Room::new("");
    let conn = room.editor.connect(room.now);
    room.editor.shutdown(room.now, "quit");
    assert!(matches!(room.editor.poll(room.now), Output::Event(Event::Stopping { .. })));
    assert!(matches!(room.editor.poll(room.now), Output::Close(closed) if closed == conn));
    assert!(soon(&room), "the event `over`");
    assert!(matches!(room.editor.poll(room.now), Output::Event(Event::Over {})));
    assert_eq!(pass(&mut room), [""; 0]);
    assert_eq!(room.editor.deadline(), None);
}

/// Runs a pass in which the sockets take nothing, and returns the names of its events.
fn pass(room: &mut Room) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        match room.editor.poll(room.now) {
            Output::Event(event) => names.push(event.name().to_owned()),
            Output::Write { .. } | Output::Close(_) => {}
            Output::Wait(_) => return names,
        }
    }
}
