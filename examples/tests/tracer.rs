//! The tracer as a process.

use crate::process::Place;
use ide_mcp::ide::kit::is_display_unsafe;

#[test]
fn tracer_shows_the_session_without_the_token() {
    let mut tracer = Place::new("tracer").start("tracer", &[]);
    let lines = tracer.rest();
    let obeyed = lines.iter().find(|line| line.contains(is_display_unsafe));
    assert_eq!(obeyed, None, "a terminal would obey this character");
    let output = lines.join("\n");
    assert_eq!(tracer.end(), (Some(0), String::new()));
    for line in
        ["◀ GET / HTTP/1.1", "▶ HTTP/1.1 101 Switching Protocols", "  Ready {", "▶ Close", "  Closed {"]
    {
        assert!(output.contains(line), "{line}: {output}");
    }
    assert!(output.contains("  Notification {") && output.contains("\u{fffd}2J"), "{output}");
    assert!(output.contains(r#"◀ Text {"jsonrpc":"2.0","id":2,"method":"tools/call""#), "{output}");
    assert!(!output.contains("a-token-of-this-example"), "{output}");
}
