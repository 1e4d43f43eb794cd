//! The messages of an agent to an editor, written by hand: the head, the opening of the session, calls.

use super::frames::masked;
use ide_mcp::ide::discovery::AuthToken;
use std::fmt::Display;

pub const PORT: u16 = 41111;
pub const TOKEN: &str = "tok-0123456789abcdef0123456789abcdef";

/// The head of the real client, with the key of RFC 6455 section 1.3.
pub const HEAD: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:41111\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\
    User-Agent: claude-code/2.1.330 (cli)\r\n\
    X-Claude-Code-Ide-Authorization: tok-0123456789abcdef0123456789abcdef\r\n\r\n";

/// The answer to [`HEAD`].
pub const ACCEPTED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";

pub const INITIALIZE: &str = r#"{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.330"}},"jsonrpc":"2.0","id":0}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub const CONNECTED: &str = r#"{"jsonrpc":"2.0","method":"ide_connected","params":{"pid":24316}}"#;

/// The first byte of a final frame, by opcode.
pub const TEXT: u8 = 0x81;
pub const BINARY: u8 = 0x82;
pub const CLOSE: u8 = 0x88;
pub const PING: u8 = 0x89;

pub fn token() -> AuthToken {
    AuthToken::from_text(TOKEN).unwrap()
}

pub fn request(id: impl Display, method: &str) -> String {
    format!(r#"{{"method":"{method}","jsonrpc":"2.0","id":{id}}}"#)
}

pub fn call(id: impl Display, name: &str, arguments: &str) -> String {
    format!(
        r#"{{"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}},"jsonrpc":"2.0","id":{id}}}"#
    )
}

pub fn cancelled(id: impl Display) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// Returns an `openDiff` that proposes its own id as the new text.
pub fn open_diff(id: impl Display, tab: &str) -> String {
    let contents = serde_json::to_string(&id.to_string()).unwrap();
    let arguments = format!(
        r#"{{"old_file_path":"/w/a","new_file_path":"/w/a","new_file_contents":{contents},"tab_name":"{tab}"}}"#
    );
    call(id, "openDiff", &arguments)
}

pub fn close_tab(id: impl Display, tab: &str) -> String {
    call(id, "close_tab", &format!(r#"{{"tab_name":"{tab}"}}"#))
}

/// Returns a text message of a client.
pub fn text(text: &str) -> Vec<u8> {
    masked(TEXT, text.as_bytes())
}

/// Returns text messages of a client, one after the other.
pub fn talk(texts: &[&str]) -> Vec<u8> {
    texts.iter().flat_map(|message| text(message)).collect()
}

/// Returns the bytes of a client from its head to `ide_connected`.
pub fn attached() -> Vec<u8> {
    [HEAD.as_bytes(), &talk(&[INITIALIZE, INITIALIZED, CONNECTED])].concat()
}
