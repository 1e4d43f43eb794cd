//! An editor that reads no events for a while.

use crate::support::{Room, names};
use ide_mcp::ide::ClientEvent;
use ide_mcp::ide::tool::{GetOpenEditors, OpenDiff};
use ide_mcp::mcp::FormAnswer;
use serde_json::json;

#[test]
fn calls_fail_while_editor_reads_nothing() {
    let mut room = Room::new("");
    room.attach();
    room.editor.set_taking_events(false);
    for _ in 0..3 {
        room.client(0).call_tool(&OpenDiff::new("/w/a", "", "t")).unwrap();
        assert_eq!(names(&room.settle()), [""; 0]);
        assert!(room.outcome(0).contains("-32601"), "{}", room.outcome(0));
    }
    room.client(0).call_tool(&GetOpenEditors).unwrap();
    room.settle();
    assert!(room.outcome(0).contains("does not read its events"), "{}", room.outcome(0));
    room.attach();
    room.editor.set_taking_events(true);
    let events = room.settle();
    assert_eq!(names(&events), ["gap", "status"]);
    assert_eq!((&events[0]["calls"], &events[0]["events"]), (&json!(4), &json!(7)));
    assert_eq!(events[1]["agents"].as_array().unwrap().len(), 2);
    room.editor.set_taking_events(false);
    room.editor.set_taking_events(true);
    assert_eq!(names(&room.settle()), [""; 0], "nothing was left out the second time");
    room.client(0).call_tool(&OpenDiff::new("/w/a", "", "t")).unwrap();
    assert_eq!(names(&room.settle()), ["diff"]);
}

/// The question about an agent follows the gap, unless the agent has gone by then.
#[test]
fn question_about_an_agent_comes_after_the_gap() {
    let mut room = Room::new(r#","consent":true"#);
    // The second time is like the first.
    for round in 0..2 {
        let first = 5 * round;
        room.editor.set_taking_events(false);
        for _ in 0..3 {
            assert_eq!(names(&room.attach()), [""; 0]);
        }
        // The call of an agent that waits for consent does not reach the editor yet.
        room.client(first).call_tool(&OpenDiff::new("/w/a", "", "t")).unwrap();
        assert_eq!(names(&room.cut(first + 1)), [""; 0]);
        room.editor.set_taking_events(true);
        let events = room.settle();
        assert_eq!(names(&events), ["gap", "status", "consent"]);
        let [pending, other] = [first, first + 2].map(|at| room.agents[at].conn);
        assert_eq!(events[2]["conn"], json!(pending));
        let allowed = room.command(&format!(r#"{{"cmd":"allow","conn":{pending}}}"#)).unwrap();
        assert!(names(&allowed).ends_with(&["diff", "consent"]), "{allowed:?}");
        assert_eq!(allowed.last().unwrap()["conn"], json!(other));
        let status = room.one(r#"{"cmd":"status"}"#);
        let consents: Vec<_> =
            status["agents"].as_array().unwrap().iter().map(|agent| &agent["consent"]).collect();
        assert_eq!(consents, [&json!(false), &json!(true)], "{status}");

        // The agent that was asked about leaves during a gap. The question about the next one comes 10 s later.
        room.cut(first);
        room.cut(first + 2);
        room.editor.set_taking_events(false);
        let (gone, next) = (room.agents.len(), room.agents.len() + 1);
        for _ in 0..2 {
            room.attach();
        }
        room.wait(10_000);
        room.cut(gone);
        room.editor.set_taking_events(true);
        assert_eq!(names(&room.settle()), ["gap", "status"]);
        let events = room.wait(10_000);
        assert_eq!(events.last().map(|event| &event["conn"]), Some(&json!(room.agents[next].conn)));
        room.command(&format!(r#"{{"cmd":"allow","conn":{}}}"#, room.agents[next].conn)).unwrap();
        room.cut(next);
    }
}

#[test]
fn status_after_a_gap_has_the_open_forms() {
    let mut room = Room::new("");
    room.attach();
    room.wait(1_600); // a client shows no form before
    for line in [1, 2] {
        room.no_event(
            r#"{"cmd":"form","form":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#,
        );
        assert_eq!(
            room.agents[0].events.iter().filter(|event| matches!(event, ClientEvent::Form { .. })).count(),
            line
        );
    }
    room.editor.set_taking_events(false);
    let call = room.agents[0].events.iter().find_map(|event| match event {
        ClientEvent::Form { call, .. } => Some(*call),
        _ => None,
    });
    room.client(0).answer_form(call.unwrap(), &FormAnswer::Declined).unwrap();
    assert_eq!(names(&room.settle()), [""; 0]);
    room.editor.set_taking_events(true);
    let events = room.settle();
    assert_eq!(names(&events), ["gap", "status"]);
    assert_eq!((&events[0]["events"], &events[1]["forms"]), (&json!(1), &json!([2])));
}
