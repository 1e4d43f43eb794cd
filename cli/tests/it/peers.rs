//! A WebSocket client of another author, tungstenite, attaches to the editor, and the editor
//! refuses its wrong requests.

use crate::support::Place;
use serde_json::{Value, json};
use std::net::TcpStream;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::handshake::HandshakeError;
use tungstenite::http::{HeaderName, HeaderValue, Response};
use tungstenite::{Message, WebSocket};

const TOKEN: &str = "0123456789abcdef";
const TOKEN_FIELD: &str = "X-Claude-Code-Ide-Authorization";

/// Attaches with these fields. Returns the open socket and the response, or the status and body of
/// a refusal.
fn attach(port: u16, fields: &[(&str, &str)]) -> Result<(WebSocket<TcpStream>, Response<()>), (u16, String)> {
    let mut request = format!("ws://127.0.0.1:{port}/").into_client_request().unwrap();
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        // A request has a Host field already, and a second one would not be sent.
        let value = HeaderValue::from_str(value).unwrap();
        if name == "host" {
            request.headers_mut().insert(name, value);
        } else {
            request.headers_mut().append(name, value);
        }
    }
    let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    match tungstenite::client(request, stream) {
        Ok((socket, response)) => Ok((socket, response.map(drop))),
        Err(HandshakeError::Failure(tungstenite::Error::Http(response))) => {
            let body = response.body().clone().unwrap_or_default();
            Err((response.status().as_u16(), String::from_utf8(body).unwrap()))
        }
        Err(error) => panic!("{error}"),
    }
}

fn ask(socket: &mut WebSocket<TcpStream>, message: &Value) -> Value {
    socket.send(Message::text(message.to_string())).unwrap();
    serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap()
}

#[test]
fn tungstenite_attaches_only_with_the_token() {
    let place = Place::new("tungstenite");
    let lock = place.write("lock", &format!(r#"{{"authToken":"{TOKEN}"}}"#));
    let mut editor = place.editor(&["--token-of", &lock]);
    let port: u16 = editor.port.parse().unwrap();

    let good = [(TOKEN_FIELD, TOKEN), ("Sec-WebSocket-Protocol", "mcp")];
    let (mut socket, response) = attach(port, &good).unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "mcp");
    assert!(!response.headers().contains_key("sec-websocket-extensions"));
    let initialize = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "tungstenite", "version": "0"},
    }});
    let initialized = ask(&mut socket, &initialize);
    assert_eq!(initialized["id"], "a");
    assert_eq!(initialized["result"]["protocolVersion"], "2025-06-18");
    socket.send(Message::text(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)).unwrap();
    assert_eq!(editor.event("connected")["client"], "tungstenite");
    let closed =
        json!({"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {"name": "closeAllDiffTabs"}});
    let answer = ask(&mut socket, &closed);
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": 0, "result": {"content": [{"type": "text", "text": "CLOSED_0_DIFF_TABS"}]}})
    );
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    assert_eq!(editor.until("closed")["conn"], 1);

    let refused = |fields: &[(&str, &str)]| match attach(port, fields) {
        Ok(_) => panic!("{fields:?} was let in"),
        Err(refusal) => refusal,
    };
    let without = refused(&[("Sec-WebSocket-Protocol", "mcp")]);
    assert_eq!(without.0, 401);
    assert_eq!(refused(&[(TOKEN_FIELD, "wrong")]), without);
    assert_eq!(refused(&[good[0], good[0]]), without);
    assert_eq!(refused(&[good[0], ("Origin", "http://localhost:3000")]).0, 403);
    assert_eq!(refused(&[good[0], ("Host", "evil.example")]).0, 403);
}
