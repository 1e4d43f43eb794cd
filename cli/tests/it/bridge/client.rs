//! The client of a bridge, line by line.

use crate::support::{Place, Process};
use serde_json::{Value, json};

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"experimental":{"x":{}}},"clientInfo":{"name":"peer","version":"7"}}}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Starts a bridge and opens its session.
pub fn bridge(place: &Place, arguments: &[&str]) -> Process {
    let mut bridge = place.start("bridge", arguments);
    bridge.send_line(INITIALIZE);
    assert_eq!(bridge.json()["id"], "i");
    bridge.send_line(INITIALIZED);
    bridge
}

pub fn ask(bridge: &mut Process, id: &Value, method: &str, params: &Value) {
    bridge.send_line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
}

pub fn call(bridge: &mut Process, id: &Value, name: &str, arguments: &Value) {
    ask(bridge, id, "tools/call", &json!({"name": name, "arguments": arguments}));
}

pub fn diff(tab: &str) -> Value {
    json!({"old_file_path": "/x", "new_file_path": "/x", "new_file_contents": "y", "tab_name": tab})
}

pub fn texts(answer: &Value) -> Vec<&str> {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer}"));
    content.iter().map(|block| block["text"].as_str().unwrap()).collect()
}
