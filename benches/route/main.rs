//! Sends one `getOpenEditors` and its answer through an editor's machine, in four functions that a
//! profiler can tell apart. `benches/route/count.py` counts which functions of the core each of them runs.

use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{Call, GetOpenEditors, OpenEditors, Tool, ToolCall};
use ide_mcp::ide::{ConnId, Server, ServerConfig, ServerEvent};
use ide_mcp::rpc::NotAnswered;
use ide_mcp::{Output, Time};
use std::error::Error;

const NOW: Time = Time::ZERO;

#[inline(never)]
fn bytes_in(server: &mut Server, conn: ConnId, bytes: &[u8]) {
    server.feed(NOW, conn, bytes);
}

#[inline(never)]
fn event(server: &mut Server) -> Option<Call<GetOpenEditors>> {
    next_call(server)
}

#[inline(never)]
fn answer(server: &mut Server, call: Call<GetOpenEditors>) -> Result<(), NotAnswered> {
    server.answer(call, OpenEditors { tabs: Vec::new() })
}

#[inline(never)]
fn bytes_out(server: &mut Server) -> Vec<u8> {
    write_all(server)
}

fn next_call(server: &mut Server) -> Option<Call<GetOpenEditors>> {
    match server.poll(NOW) {
        Output::Event(ServerEvent::Call { call: ToolCall::GetOpenEditors(call, _), .. }) => Some(call),
        _ => None,
    }
}

/// Writes what the server offers, and polls until it waits.
fn write_all(server: &mut Server) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let Output::Write { conn, bytes } = server.poll(NOW) else { return out };
        out.extend_from_slice(bytes);
        let n = bytes.len();
        server.written(conn, n);
    }
}

const TOKEN: &str = "550e8400-e29b-41d4-a716-446655440000";
const OPENING: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\
    X-Claude-Code-Ide-Authorization: 550e8400-e29b-41d4-a716-446655440000\r\n\r\n";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.332"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn call(id: u64) -> String {
    let params = r#"{"name":"getOpenEditors","arguments":{}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

/// Returns the text as one masked frame. The masking key is zero, so the text stays readable.
fn frame(text: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut frame = match u8::try_from(text.len())? {
        len @ ..126 => vec![0x81, 0x80 | len],
        len => vec![0x81, 0xFE, 0, len],
    };
    frame.extend([0; 4]);
    frame.extend(text.as_bytes());
    Ok(frame)
}

fn main() -> Result<(), Box<dyn Error>> {
    let editor = ServerConfig::new("editor", "1").listening(1, AuthToken::from_text(TOKEN)?);
    let mut server = Server::new(editor.tools([Tool::GetOpenEditors]));
    let conn = server.connect(NOW);
    for opening in [OPENING.as_bytes(), &frame(INITIALIZE)?, &frame(INITIALIZED)?] {
        server.feed(NOW, conn, opening);
        while matches!(server.poll(NOW), Output::Event(_)) {}
        write_all(&mut server);
    }
    // The first call also allocates memory that the session keeps. So we count the functions that the
    // second call runs.
    server.feed(NOW, conn, &frame(&call(1))?);
    let first = next_call(&mut server).ok_or("no first call")?;
    server.answer(first, OpenEditors { tabs: Vec::new() })?;
    write_all(&mut server);

    bytes_in(&mut server, conn, &frame(&call(2))?);
    let second = event(&mut server).ok_or("no second call")?;
    answer(&mut server, second)?;
    let out = bytes_out(&mut server);
    assert!(String::from_utf8_lossy(&out).contains(r#""id":2"#), "the answer to the second call");
    Ok(())
}
