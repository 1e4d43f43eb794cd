//! tungstenite, blocking.

use super::pipe::Pipe;
use crate::tally::Tally;
use crate::workload::Workload;
use std::net::TcpStream;
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut socket = WebSocket::from_raw_socket(Pipe::new(&workload.wire, limit), Role::Server, None);
    move |tally, until| {
        while tally.messages() < until {
            match socket.read().expect("the workload is valid") {
                Message::Text(text) => tally.take(text.as_str()),
                other => panic!("{other:?}"),
            }
        }
    }
}

pub fn encode(workload: &'static Workload, role: Role) -> impl FnMut(usize) {
    let mut socket = WebSocket::from_raw_socket(Pipe::new(&workload.wire, usize::MAX), role, None);
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for text in texts.by_ref().take(times) {
            socket.send(Message::text(text.as_str())).expect("the pipe takes everything");
        }
    }
}

pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    move |times| {
        for _ in 0..times {
            assert!(tungstenite::accept(Pipe::new(request, usize::MAX)).is_ok());
        }
    }
}

/// Echoes on a thread of the connection.
pub fn serve(stream: TcpStream) {
    let Ok(mut socket) = tungstenite::accept(stream) else { return };
    while let Ok(message) = socket.read() {
        if (message.is_text() || message.is_binary()) && socket.send(message).is_err() {
            return;
        }
    }
}
