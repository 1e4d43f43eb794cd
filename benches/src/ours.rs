//! This crate, driven as an application drives it: through `space`, `filled`, `poll_borrowed`, and passes that write.

use crate::floor::accept_key;
use crate::tally::Tally;
use crate::workload::{Source, Workload};
use chacha20::ChaCha12Rng;
use ide_mcp::ws::{Client, ClientRequest, Event, Limits, Server};
use ide_mcp::{Machine, Output, Time};
use rand_core::{SeedableRng as _, TryRng as _};
use std::hint::black_box;

/// The time of every step: in these measurements no time passes.
const NOW: Time = Time::ZERO;

/// Returns a server that has accepted a request.
pub fn open_server() -> Server {
    let mut server = Server::new(Limits::default(), NOW);
    accept(&mut server, crate::handshake::request());
    write_all(&mut server, |_| {});
    server
}

/// Returns a client whose request was accepted.
pub fn open_client() -> Client {
    let mut random = ChaCha12Rng::from_seed([7; 32]);
    let random = move |bytes: &mut [u8]| random.try_fill_bytes(bytes);
    let mut client =
        Client::new(ClientRequest::new("127.0.0.1:1"), random, Limits::default(), NOW).expect("a good ask");
    let mut request = Vec::new();
    write_all(&mut client, |bytes| request.extend_from_slice(bytes));
    let request = String::from_utf8(request).expect("a request is text");
    let key = request.split("Sec-WebSocket-Key: ").nth(1).and_then(|rest| rest.get(..24)).expect("a key");
    let mut answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: "
        .to_vec();
    answer.extend(accept_key(key.as_bytes()));
    answer.extend(b"\r\n\r\n");
    client.feed(NOW, &answer);
    assert!(matches!(client.poll_borrowed(), Some((Event::Open { .. }, _))));
    client
}

/// Receives the workload in reads of at most `limit` bytes.
pub fn decode(workload: &'static Workload, limit: usize) -> impl FnMut(&mut Tally, usize) {
    let mut source = Source::new(&workload.wire, limit);
    let mut server = open_server();
    move |tally, until| {
        while tally.messages() < until {
            match server.poll_borrowed() {
                Some((Event::Text(text), _)) => tally.take(text),
                Some((other, _)) => panic!("{other:?}"),
                None => {
                    let n = source.read(server.space());
                    server.filled(NOW, n);
                }
            }
        }
    }
}

/// Sends the texts, and passes each to `write` at once.
pub fn encode_server(workload: &'static Workload, mut write: impl FnMut(&[u8])) -> impl FnMut(usize) {
    let mut server = open_server();
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for _ in 0..times {
            let text = texts.next().expect("a cycle has no end");
            server.sender().text(text).expect("it is open");
            write_all(&mut server, &mut write);
        }
    }
}

/// Sends the texts, `batch` of them for each write.
pub fn encode_server_batched(workload: &'static Workload, batch: usize) -> impl FnMut(usize) {
    let mut server = open_server();
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for _ in 0..times / batch {
            for text in texts.by_ref().take(batch) {
                server.sender().text(text).expect("it is open");
            }
            write_all(&mut server, |_| {});
        }
    }
}

/// Sends the texts masked, and passes each to `write` at once.
pub fn encode_client(workload: &'static Workload, mut write: impl FnMut(&[u8])) -> impl FnMut(usize) {
    let mut client = open_client();
    let mut texts = workload.texts.iter().cycle();
    move |times| {
        for _ in 0..times {
            let text = texts.next().expect("a cycle has no end");
            client.sender().text(text).expect("it is open");
            write_all(&mut client, &mut write);
        }
    }
}

/// Receives the texts and echoes each; the answers to one read are written together.
pub fn echo(workload: &'static Workload) -> impl FnMut(usize) {
    let mut source = Source::new(&workload.wire, usize::MAX);
    let mut server = open_server();
    let mut left_over = 0;
    move |times| {
        let mut echoed = left_over;
        while echoed < times {
            let n = source.read(server.space());
            server.filled(NOW, n);
            while let Some((event, mut sender)) = server.poll_borrowed() {
                if let Event::Text(text) = event {
                    sender.text(text).expect("it is open");
                    echoed += 1;
                }
            }
            write_all(&mut server, |_| {});
        }
        left_over = echoed - times;
    }
}

/// Writes all that a machine has to write, in a pass.
fn write_all<M: Machine<Conn = ()>>(machine: &mut M, mut write: impl FnMut(&[u8])) {
    loop {
        match machine.poll(NOW) {
            Output::Write { bytes, .. } => {
                write(black_box(bytes));
                let n = bytes.len();
                machine.written((), n);
            }
            Output::Wait(_) => return,
            Output::Event(event) => panic!("{event:?}"),
            Output::Close(()) => panic!("it is open"),
        }
    }
}

/// Opens new connections: each server receives the request, makes every check, and accepts.
pub fn handshake(request: &'static [u8]) -> impl FnMut(usize) {
    move |times| {
        for _ in 0..times {
            let mut server = Server::new(Limits::default(), NOW);
            accept(&mut server, request);
            write_all(&mut server, |_| {});
            black_box(&server);
        }
    }
}

/// Feeds bytes in reads of at most `limit` and drops the events.
#[cfg(feature = "check")]
pub fn drive(server: &mut Server, mut bytes: &[u8], limit: usize) {
    while !bytes.is_empty() {
        let space = server.space();
        let n = bytes.len().min(space.len()).min(limit);
        space[..n].copy_from_slice(&bytes[..n]);
        server.filled(NOW, n);
        while server.poll_borrowed().is_some() {}
        bytes = &bytes[n..];
    }
}

fn accept(server: &mut Server, request: &[u8]) {
    server.space()[..request.len()].copy_from_slice(request);
    server.filled(NOW, request.len());
    let is_upgrade = matches!(server.poll_borrowed(), Some((Event::Upgrade(_), _)));
    assert!(is_upgrade, "the request is good");
    server.accept(Some("mcp")).expect("it was offered");
}
