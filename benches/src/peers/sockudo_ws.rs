//! sockudo-ws: its stream, and the bare protocol on which the stream is built.

use super::{now, pipe::Pipe};
use crate::tally::Tally;
use crate::workload::{Drain, Source, Workload};
use bytes::BytesMut;
use futures_util::{SinkExt as _, StreamExt as _};
use sockudo_ws::protocol::Protocol;
use sockudo_ws::{Config, Message, Role, WebSocketStream, handshake};
use tokio::net::TcpStream;

const LIMIT: usize = 64 * 1024 * 1024;

pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut socket = WebSocketStream::server(Pipe::new(&workload.wire, limit), config());
    move |tally, until| {
        while tally.messages() < until {
            let message = now(socket.next()).expect("it does not end").expect("the workload is valid");
            take(tally, &message);
        }
    }
}

pub fn decode_protocol(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut source = Source::new(&workload.wire, limit);
    let mut protocol = Protocol::new(Role::Server, LIMIT, LIMIT);
    let (mut buf, mut messages) = (BytesMut::with_capacity(64 * 1024), Vec::new());
    move |tally, until| {
        while tally.messages() < until {
            buf.extend_from_slice(source.next(64 * 1024));
            protocol.process_into(&mut buf, &mut messages).expect("the workload is valid");
            messages.iter().for_each(|message| take(tally, message));
        }
    }
}

fn take(tally: &mut Tally, message: &Message) {
    match message {
        // The text is valid, but sockudo-ws returns it as a `&str` only after a second validation.
        Message::Text(text) => tally.take_bytes(text),
        other => panic!("{other:?}"),
    }
}

pub fn encode(workload: &'static Workload, role: Role) -> impl FnMut(usize) {
    let mut socket = WebSocketStream::from_raw(Pipe::new(&workload.wire, usize::MAX), role, config());
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for text in texts.by_ref().take(times) {
            now(socket.send(Message::text(text.as_str()))).expect("the pipe takes everything");
        }
    }
}

/// Answers requests with the handshake functions of sockudo-ws: the parser of the request, the key,
/// and the answer.
pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    let (mut read, mut drain) = (vec![0; 8192], Drain::default());
    move |times| {
        for _ in 0..times {
            read[..request.len()].copy_from_slice(request);
            let parsed = handshake::parse_request(&read[..request.len()]).expect("the request is good");
            let (parsed, _) = parsed.expect("the request is whole");
            let key = handshake::generate_accept_key(parsed.key);
            drain.write(&handshake::build_response(&key, parsed.protocol, None));
        }
    }
}

/// Echoes in a task of the connection, after the handshake.
pub async fn serve(stream: TcpStream) {
    let mut socket = WebSocketStream::server(stream, config());
    while let Some(Ok(message)) = socket.next().await {
        if (message.is_text() || message.is_binary()) && socket.send(message).await.is_err() {
            return;
        }
    }
}

fn config() -> Config {
    Config::builder().max_payload_length(LIMIT).max_message_size(LIMIT).max_frame_size(LIMIT).build()
}
