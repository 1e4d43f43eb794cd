//! A session whose peer does not read: it adds no ping to the unread bytes, and the connection still ends
//! in time.

use crate::support::ide::{Editor, at, call, called, config, shown};
use ide_mcp::Keepalive;
use ide_mcp::mcp::ToolResult;

/// Returns an editor that pings, with an answer of 1,000 bytes that its peer has not read.
fn with_unread_answer() -> Editor {
    let mut config = config();
    config.ws.outgoing = 1_000;
    config.ws.keepalive = None;
    config.mcp.keepalive = Some(Keepalive::JSON_RPC);
    let mut editor = Editor::attached(config);
    let pending = called(&editor.receive(&call(1, "countLines", "{}")));
    editor.at(1_000);
    editor.server.call(pending).respond(&ToolResult::text("x".repeat(1_000))).unwrap();
    editor
}

#[test]
fn peer_that_reads_nothing_gets_no_ping() {
    let mut editor = with_unread_answer();
    let unread = editor.waiting();
    assert_eq!(shown(&editor.at(30_999)), [""; 0]);
    assert_eq!(editor.waiting(), unread, "nothing is added to the unread bytes");
    assert!(editor.server.deadline().is_some_and(|due| due <= at(31_000)));
    assert_eq!(shown(&editor.at(31_000)), ["Closed(Stalled)"]);
}

#[test]
fn late_reading_peer_is_pinged_after_reading() {
    let mut editor = with_unread_answer();
    editor.at(20_000);
    let texts = editor.texts();
    assert_eq!(texts.len(), 2, "the answer, and the ping in the same pass");
    assert_eq!(texts[1], r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "overdue since 5 s");
}
