//! Editors made of sockets only, some of which misbehave.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tungstenite::Message;
use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::CloseFrame;

pub(crate) const TOKEN: &str = "QZQZ-the-token";

/// The behavior of the listener on the port of a lock file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaves {
    Well,
    /// Accepts a request without the token.
    WithoutToken,
    /// Accepts a request with an `Origin` field, as browsers send.
    WithOrigin,
    /// Refuses every request with this status.
    Status(u16),
    /// Accepts every request and closes with 1008.
    Closes,
    WithoutSubprotocol,
    UnknownVersion,
    /// Sends these bytes and closes the socket.
    Says(&'static str),
    /// Accepts the socket and sends nothing.
    NotAtAll,
}

/// Listens on 127.0.0.1 as long as the tests run, and returns the port.
pub(crate) fn fake(behaves: Behaves) -> u16 {
    fake_at("127.0.0.1:0", behaves)
}

/// Listens on this address and port as long as the tests run, and returns the port.
pub(crate) fn fake_at(address: &str, behaves: Behaves) -> u16 {
    listen(address, behaves, Arc::default())
}

/// Listens on 127.0.0.1, and returns the port and the number of connections.
pub(crate) fn counted(behaves: Behaves) -> (u16, Arc<AtomicUsize>) {
    let count = Arc::default();
    (listen("127.0.0.1:0", behaves, Arc::clone(&count)), count)
}

fn listen(address: &str, behaves: Behaves, count: Arc<AtomicUsize>) -> u16 {
    let listener = TcpListener::bind(address).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            count.fetch_add(1, Ordering::Relaxed);
            match (stream.unwrap(), behaves) {
                (stream, Behaves::NotAtAll) => held.push(stream),
                (mut stream, Behaves::Says(text)) => {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = stream.write_all(text.as_bytes());
                }
                (stream, _) => drop(serve(stream, behaves)),
            }
        }
    });
    port
}

/// Serves one connection to its end.
fn serve(stream: TcpStream, behaves: Behaves) -> Option<()> {
    let judge = |request: &Request, mut response: Response| {
        let field = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        let knows = field("X-Claude-Code-Ide-Authorization") == Some(TOKEN);
        let status = match behaves {
            Behaves::Status(status) => Some(status),
            Behaves::WithoutToken | Behaves::Closes => None,
            _ if !knows => Some(401),
            Behaves::WithOrigin => None,
            _ => field("Origin").map(|_| 403),
        };
        if let Some(status) = status {
            let mut refusal = ErrorResponse::new(None);
            *refusal.status_mut() = status.try_into().unwrap();
            return Err(refusal);
        }
        if behaves != Behaves::WithoutSubprotocol {
            response.headers_mut().insert("Sec-WebSocket-Protocol", "mcp".parse().unwrap());
        }
        Ok(response)
    };
    let mut socket = tungstenite::accept_hdr(stream, judge).ok()?;
    if behaves == Behaves::Closes {
        let _ = socket
            .send(Message::Close(Some(CloseFrame { code: 1008.into(), reason: "Unauthorized".into() })));
    }
    loop {
        let Message::Text(text) = socket.read().ok()? else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        if message["method"] != "initialize" {
            continue;
        }
        let version = if behaves == Behaves::UnknownVersion {
            &json!("1999-12-31")
        } else {
            &message["params"]["protocolVersion"]
        };
        let info = json!({"name": "fake", "version": "1"});
        let result = json!({"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info});
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        socket.send(Message::Text(answer.to_string().into())).ok()?;
    }
}
