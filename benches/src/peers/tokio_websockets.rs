//! tokio-websockets.

use super::{now, pipe::Pipe};
use crate::tally::Tally;
use crate::workload::Workload;
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Message, ServerBuilder, WebSocketStream};

pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut socket = ServerBuilder::new().serve(Pipe::new(&workload.wire, limit));
    move |tally, until| {
        while tally.messages() < until {
            let message = now(socket.next()).expect("it does not end").expect("the workload is valid");
            tally.take(message.as_text().expect("it is text"));
        }
    }
}

pub fn encode_server(workload: &'static Workload) -> impl FnMut(usize) {
    encode(workload, ServerBuilder::new().serve(Pipe::new(&workload.wire, usize::MAX)))
}

pub fn encode_client(workload: &'static Workload) -> impl FnMut(usize) {
    encode(workload, ClientBuilder::new().take_over(Pipe::new(&workload.wire, usize::MAX)))
}

fn encode(workload: &'static Workload, mut socket: WebSocketStream<Pipe>) -> impl FnMut(usize) {
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for text in texts.by_ref().take(times) {
            now(socket.send(Message::text(text.clone()))).expect("the pipe takes everything");
        }
    }
}

pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    move |times| {
        for _ in 0..times {
            assert!(now(ServerBuilder::new().accept(Pipe::new(request, usize::MAX))).is_ok());
        }
    }
}

/// Echoes in a task of the connection.
pub async fn serve(stream: TcpStream) {
    let Ok((_, mut socket)) = ServerBuilder::new().accept(stream).await else { return };
    while let Some(Ok(message)) = socket.next().await {
        if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
            return;
        }
    }
}
