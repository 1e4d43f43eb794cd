//! fastwebsockets, with its collector of fragments, which validates texts.

use super::{now, pipe::Pipe};
use crate::tally::Tally;
use crate::workload::Workload;
use fastwebsockets::{FragmentCollector, Frame, OpCode, Payload, Role, WebSocket};
use tokio::net::TcpStream;

pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let socket = WebSocket::after_handshake(Pipe::new(&workload.wire, limit), Role::Server);
    let mut socket = FragmentCollector::new(socket);
    move |tally, until| {
        while tally.messages() < until {
            let frame = now(socket.read_frame()).expect("the workload is valid");
            assert!(frame.opcode == OpCode::Text);
            // The collector has validated the text, but does not return it as a `&str`. The examples of
            // fastwebsockets use the bytes too.
            tally.take_bytes(&frame.payload);
        }
    }
}

pub fn encode(workload: &'static Workload, role: Role) -> impl FnMut(usize) {
    let mut socket = WebSocket::after_handshake(Pipe::new(&workload.wire, usize::MAX), role);
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for text in texts.by_ref().take(times) {
            let frame = Frame::text(Payload::Borrowed(text.as_bytes()));
            now(socket.write_frame(frame)).expect("the pipe takes everything");
        }
    }
}

/// Echoes in a task of the connection, after the handshake.
pub async fn serve(stream: TcpStream) {
    let mut socket = FragmentCollector::new(WebSocket::after_handshake(stream, Role::Server));
    while let Ok(frame) = socket.read_frame().await {
        if matches!(frame.opcode, OpCode::Text | OpCode::Binary) && socket.write_frame(frame).await.is_err() {
            return;
        }
    }
}
