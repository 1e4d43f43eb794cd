//! The six methods of the Obsidian dialect, with and without a session.

use crate::support::{Room, names, native};
use ide_mcp::ide::tool::{DirectRequest, ListFiles, ReadFile, WriteFile};
use serde_json::{Value, json};

fn room() -> Room {
    Room::new(r#","dialect":"obsidian""#)
}

fn requests() -> [(DirectRequest, Value, &'static str, Value); 6] {
    [
        (
            DirectRequest::ReadFile(ReadFile::new("/n/a.md")),
            json!({"method": "readFile", "params": {"path": "n/a.md"}, "path": native("/w/n/a.md")}),
            r#","result":"text""#,
            json!("text"),
        ),
        (
            DirectRequest::WriteFile(WriteFile::new("a.md", "new")),
            json!({"method": "writeFile", "params": {"path": "a.md", "content": "new"}, "path": native("/w/a.md")}),
            "",
            json!({"success": true}),
        ),
        (
            DirectRequest::ListFiles(ListFiles::new(Some("*.md".into()))),
            json!({"method": "listFiles", "params": {"pattern": "*.md"}}),
            r#","result":["a.md"]"#,
            json!(["a.md"]),
        ),
        (
            DirectRequest::GetWorkspaceInfo,
            json!({"method": "getWorkspaceInfo", "params": {}}),
            r#","result":{"name":"w","path":"/w","fileCount":3,"type":"obsidian-vault"}"#,
            json!({"name": "w", "path": "/w", "fileCount": 3, "type": "obsidian-vault"}),
        ),
        (
            DirectRequest::GetOpenFiles,
            json!({"method": "getOpenFiles", "params": {}}),
            r#","result":["a.md","b.md"]"#,
            json!(["a.md", "b.md"]),
        ),
        (
            DirectRequest::GetCurrentFile,
            json!({"method": "getCurrentFile", "params": {}}),
            r#","result":null"#,
            Value::Null,
        ),
    ]
}

#[test]
fn each_method_becomes_an_event_and_is_answered() {
    for (request, expected, result, answer) in requests() {
        let mut room = room();
        room.attach();
        let send = |room: &mut Room| {
            room.client(0).request_direct(&request).unwrap();
            room.settle().pop().unwrap()
        };
        let mut event = send(&mut room);
        for (member, value) in [("event", json!("request")), ("conn", json!(1)), ("call", json!(1))] {
            assert_eq!(event.as_object_mut().unwrap().remove(member), Some(value), "{event}");
        }
        assert_eq!(event, expected);
        room.no_event(&format!(r#"{{"cmd":"respond","call":1{result}}}"#));
        assert_eq!(serde_json::from_str::<Value>(&room.outcome(0)).unwrap(), answer, "{}", request.method());
        // A failure, and an answer that cannot be used, are errors with -32603.
        assert_eq!(send(&mut room)["call"], 2);
        room.no_event(r#"{"cmd":"fail","call":2,"message":"failed to read file: File not found"}"#);
        let failed = room.outcome(0);
        assert!(
            failed.contains("-32603") && failed.contains("failed to read file: File not found"),
            "{failed}"
        );
        assert_eq!(send(&mut room)["call"], 3);
        let problem = room.refused(r#"{"cmd":"respond","call":3,"result":7}"#);
        assert!(problem.starts_with("`result` must be "), "{problem}");
        room.settle();
        assert!(room.outcome(0).contains("-32603"), "{}", room.outcome(0));
        // During a pause the request fails, and the editor gets no event.
        room.one(r#"{"cmd":"pause"}"#);
        room.client(0).request_direct(&request).unwrap();
        assert_eq!(names(&room.settle()), [""; 0]);
        assert!(room.outcome(0).contains("the user has paused the editor"), "{}", room.outcome(0));
    }
}

#[test]
fn methods_need_no_session() {
    let mut room = room();
    let conn = room.connect_raw("/");
    room.settle();
    room.feed_message(
        conn,
        &json!({"jsonrpc": "2.0", "id": "r", "method": "readFile", "params": {"path": "a"}}),
    );
    let events = room.settle();
    assert_eq!(names(&events), ["request"], "{events:?}");
    room.written(conn);
    room.no_event(r#"{"cmd":"respond","call":1,"result":"x"}"#);
    let output = room.written(conn);
    assert!(output.ends_with(r#"{"jsonrpc":"2.0","id":"r","result":"x"}"#), "{output}");
    room.lose(conn);
    assert_eq!(names(&room.settle()), ["closed"]);
}

#[test]
fn other_dialects_have_no_such_method() {
    let mut room = Room::new("");
    room.attach();
    room.client(0).request_direct(&DirectRequest::GetOpenFiles).unwrap();
    assert_eq!(names(&room.settle()), [""; 0]);
    assert!(room.outcome(0).contains("-32601"), "{}", room.outcome(0));
}
