//! An editor whose messages the test writes and reads.

use crate::support::accept;
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Message, WebSocket};

/// An editor whose messages the test writes and reads.
pub struct Scripted(pub WebSocket<TcpStream>);

impl Scripted {
    /// Accepts a connection, with the sub-protocol `mcp`.
    #[allow(clippy::result_large_err, reason = "the callback of tungstenite")]
    pub fn accept(listener: &TcpListener) -> Self {
        let choose = |_: &Request, mut response: Response| {
            response.headers_mut().insert("Sec-WebSocket-Protocol", "mcp".parse().unwrap());
            Ok(response)
        };
        Self(tungstenite::accept_hdr(accept(listener), choose).unwrap())
    }

    /// Answers `initialize` with these capabilities, and reads the two notifications that follow.
    pub fn open_session(&mut self, capabilities: &Value) {
        let greeting = self.receive();
        let info = json!({"name": "s", "version": "1"});
        self.answer(
            &greeting,
            &json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}),
        );
        assert_eq!(self.receive()["method"], "notifications/initialized");
        assert_eq!(self.receive()["method"], "ide_connected");
    }

    /// Answers a request with this result.
    pub fn answer(&mut self, request: &Value, result: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}).to_string());
    }

    /// Reads the next message.
    pub fn receive(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Sends a message, or any other text.
    pub fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }
}
