//! An editor whose messages the test writes and reads.

use crate::support::Place;
use serde_json::{Value, json};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use tungstenite::handshake::server::{Request, Response};
use tungstenite::{Message, WebSocket};

/// Binds a listener and writes its lock file. The listener answers nothing by itself.
pub fn silent(place: &Place) -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    publish(place, listener.local_addr().unwrap().port());
    listener
}

/// Writes a lock file for this port, whether a listener exists or not, and returns its path.
pub fn publish(place: &Place, port: u16) -> PathBuf {
    fs::create_dir_all(place.lock_dir()).unwrap();
    let file = json!({"pid": std::process::id(), "workspaceFolders": [place.project()], "ideName": "scripted", "transport": "ws", "authToken": "t"});
    let lock = place.lock_dir().join(format!("{port}.lock"));
    fs::write(&lock, file.to_string()).unwrap();
    lock
}

/// An editor whose messages the test writes and reads.
pub struct Scripted(pub WebSocket<TcpStream>);

impl Scripted {
    #[allow(clippy::result_large_err, reason = "the callback of tungstenite")]
    pub fn accept(listener: &TcpListener) -> Self {
        let choose = |_: &Request, mut response: Response| {
            response.headers_mut().insert("Sec-WebSocket-Protocol", "mcp".parse().unwrap());
            Ok(response)
        };
        Self(tungstenite::accept_hdr(listener.accept().unwrap().0, choose).unwrap())
    }

    pub fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    pub fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }
}
