//! The calls that every contestant receives, and how its answers are checked.

use crate::workload::push_frame;

/// The sizes of the arguments, in bytes.
pub const SIZES: [(&str, usize); 4] =
    [("100 B", 100), ("8 KiB", 8 * 1024), ("64 KiB", 64 * 1024), ("1 MiB", 1024 * 1024)];

/// A custom tool of the application.
pub const OWN_TOOL: &str = "review";

/// The request that opens a session. The agent declares no capability, so the editor sends it no request.
pub const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}},"jsonrpc":"2.0","id":0}"#;

/// The notification that ends the handshake.
pub const INITIALIZED: &str = r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#;

/// The tab of every call, which is part of the answer.
pub const TAB: &str = "tab";

/// Returns an `openDiff` with arguments of this many bytes, with the members in the order of the real client.
///
/// The text is code: lines of 18 characters, each followed by the escape of a line feed.
pub fn open_diff(id: u32, size: usize) -> String {
    call(id, "openDiff", &sized_arguments(size))
}

/// Returns a call of the custom tool, with the arguments of an `openDiff` of this size.
#[cfg(feature = "check")]
pub fn own_tool(id: u32, size: usize) -> String {
    call(id, OWN_TOOL, &sized_arguments(size))
}

fn sized_arguments(size: usize) -> String {
    let empty = arguments("");
    let mut text = "let value = 12345;\\n".repeat(size / 20 + 1);
    text.truncate(size.saturating_sub(empty.len()));
    if text.ends_with('\\') {
        text.pop();
        text.push('x');
    }
    arguments(&text)
}

/// Returns a `getDiagnostics`, whose only argument is a short string.
#[cfg(feature = "check")]
pub fn get_diagnostics(id: u32) -> String {
    call(id, "getDiagnostics", r#"{"uri":"file:///w/a.rs"}"#)
}

fn arguments(text: &str) -> String {
    format!(
        r#"{{"old_file_path":"/w/a.rs","new_file_path":"/w/a.rs","new_file_contents":"{text}","tab_name":"{TAB}"}}"#
    )
}

fn call(id: u32, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

/// Returns a text frame of a client.
pub fn frame(text: &str) -> Vec<u8> {
    let mut wire = Vec::new();
    push_frame(&mut wire, text.as_bytes(), [0x37, 0xfa, 0x21, 0x3d]);
    wire
}

/// Checks that an answer belongs to the call with this id and is correct. Each contestant has its own order
/// of members.
pub fn check(answer: &str, id: u32) {
    for part in [format!("\"id\":{id}"), "\"DIFF_REJECTED\"".into(), format!("\"{TAB}\"")] {
        assert!(answer.contains(&part), "{answer} has no {part}");
    }
}
