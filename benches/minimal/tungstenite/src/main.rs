//! The same editor as benches/minimal/ide_mcp, on tungstenite and serde_json: a thread for each connection, and no
//! states, limits, deadlines or keepalive.

#[path = "../../lock_file.rs"]
mod lock_file;

use lock_file::{LockFile, new_token};
use serde_json::{Value, json};
use std::error::Error;
use std::net::{TcpListener, TcpStream};
use std::{io, thread};
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};

fn main() -> Result<(), Box<dyn Error>> {
    let token = new_token()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let _lock_file = LockFile::publish(listener.local_addr()?.port(), &token)?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let token = token.clone();
            thread::spawn(move || serve(stream, &token));
        }
    });
    io::stdin().read_line(&mut String::new())?;
    Ok(())
}

fn serve(stream: TcpStream, token: &str) {
    #[allow(clippy::result_large_err, reason = "tungstenite asks for it")]
    let judge = |request: &Request, mut response: Response| {
        let shown = request.headers().get("x-claude-code-ide-authorization");
        if shown.is_none_or(|shown| shown.as_bytes() != token.as_bytes()) {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = tungstenite::http::StatusCode::UNAUTHORIZED;
            return Err(refusal);
        }
        response.headers_mut().insert("sec-websocket-protocol", "mcp".parse().expect("a good value"));
        Ok(response)
    };
    let Ok(mut socket) = tungstenite::accept_hdr(stream, judge) else { return };
    while let Ok(message) = socket.read() {
        let Message::Text(text) = message else { continue };
        let Ok(message) = serde_json::from_str::<Value>(text.as_str()) else { return };
        // Notifications have no id and get no answer.
        let Some(id) = message.get("id") else { continue };
        let mut response = answer(message["method"].as_str().unwrap_or_default(), &message["params"]);
        response["jsonrpc"] = "2.0".into();
        response["id"] = id.clone();
        if socket.send(Message::text(response.to_string())).is_err() {
            return;
        }
    }
}

fn answer(method: &str, params: &Value) -> Value {
    match method {
        "initialize" => json!({ "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "minimal", "version": "1.0" },
        } }),
        "ping" => json!({ "result": {} }),
        "tools/list" => json!({ "result": { "tools": [
            { "name": "openDiff", "description": "Shows a proposed change", "inputSchema": schema(
                &["old_file_path", "new_file_path", "new_file_contents", "tab_name"]) },
        ] } }),
        "tools/call" => call(params),
        _ => json!({ "error": { "code": -32601, "message": "there is no such method" } }),
    }
}

fn schema(names: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).into(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties })
}

fn call(params: &Value) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    match params["name"].as_str() {
        Some("openDiff") => {
            let contents = params["arguments"]["new_file_contents"].as_str().unwrap_or_default();
            json!({ "result": { "content": [text("FILE_SAVED"), text(contents)] } })
        }
        _ => json!({ "error": { "code": -32601, "message": "there is no such tool" } }),
    }
}
