//! Bytes that arrive in pieces, and large messages.

use crate::adapter::Adapter;
use crate::plain::{HEAD, Upto, frame, read_all, script};
use crate::support::{Talk, World, proposal};
use ide_mcp::ide::{Client, ClientConfig};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::{Time, ws};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A server that receives single bytes, and a connection that sends and echoes single bytes.
pub(crate) fn single_bytes_are_joined_to_messages<A: Adapter>() {
    let mut world = World::<A>::new();
    let bytes = script(world.token(), world.addr().port(), Upto::OpenDiff);
    let addr = world.addr();
    let peer = thread::spawn(move || {
        let mut stream = TcpStream::connect(addr).unwrap();
        one_by_one(&mut stream, &bytes);
        stream
    });
    world.until(|world| !world.seen.open.is_empty());
    assert_eq!(world.seen.ready.len(), 1);
    drop(peer.join().unwrap());
    world.until(|world| world.connections() == 0);

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let token = world.token().clone();
    let peer = thread::spawn(move || {
        let mut stream = TcpStream::connect(addr).unwrap();
        one_by_one(&mut stream, &script(&token, addr.port(), Upto::Open));
        one_by_one(&mut stream, &frame(0x81, b"one by one"));
        let mut all = Vec::new();
        let mut byte = [0];
        while !all.ends_with(b"\x81\x0aone by one") {
            stream.read_exact(&mut byte).unwrap();
            all.extend(byte);
        }
        one_by_one(&mut stream, &frame(0x88, &[0x03, 0xe8]));
        assert_eq!(read_all(&mut stream), [0x88, 0x02, 0x03, 0xe8]);
    });
    let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
    let mut closed = Vec::new();
    let error = A::accept(listener.accept().unwrap().0, machine, |machine, event| match event {
        ws::OwnedEvent::Upgrade(_) => machine.accept(None).unwrap(),
        ws::OwnedEvent::Text(text) => machine.sender().text(&text).unwrap(),
        ws::OwnedEvent::Closed(end) => closed.push(end),
        _ => {}
    });
    peer.join().unwrap();
    assert_eq!(error, None);
    assert!(matches!(&*closed, [ws::Closed::Remote { .. }]), "{closed:?}");
}

fn one_by_one(stream: &mut TcpStream, bytes: &[u8]) {
    stream.set_nodelay(true).unwrap();
    for byte in bytes {
        stream.write_all(&[*byte]).unwrap();
        thread::yield_now();
    }
}

/// Sets the sizes of the socket buffers.
///
/// If only one end of a connection has small buffers, they must have at least 64 KiB: with less, TCP delays
/// small pieces until its timers expire.
fn small_buffers(stream: &TcpStream, bytes: usize) {
    rustix::net::sockopt::set_socket_recv_buffer_size(stream, bytes).unwrap();
    rustix::net::sockopt::set_socket_send_buffer_size(stream, bytes).unwrap();
}

/// A large message that repeats every 251 bytes, so that a piece which is lost, doubled or moved shows.
fn payload(len: usize) -> Vec<u8> {
    (0..=250).cycle().take(len).collect()
}

/// What an end has received, and how its connection ended.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    binary: Vec<usize>,
    closed: Option<ws::Closed>,
}

impl Seen {
    /// Takes an event. Returns true if a connection has opened or a message has arrived.
    fn note(&mut self, event: ws::OwnedEvent) -> bool {
        match event {
            ws::OwnedEvent::Upgrade(_) | ws::OwnedEvent::Open { .. } => return true,
            ws::OwnedEvent::Binary(bytes) => {
                assert!(bytes == payload(bytes.len()), "bytes are lost, doubled, or in another order");
                self.binary.push(bytes.len());
                return true;
            }
            ws::OwnedEvent::Closed(closed) => self.closed = Some(closed),
            _ => {}
        }
        false
    }
}

/// Both ends send more than the high-water mark at once. In one row the client then stops reading for some
/// seconds, so that all buffers are full for longer than any socket timeout.
pub(crate) fn e03_both_ends_send_more_than_the_high_water_mark<A: Adapter>() {
    for (mib, stops) in [(9_usize, 0), (16, 0), (24, 3), (40, 0)] {
        let len = mib << 20;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let mut seen = Seen::default();
            let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
            let error = A::accept(listener.accept().unwrap().0, machine, |machine, event| {
                if seen.note(event) && seen.binary.is_empty() {
                    machine.accept(None).unwrap();
                    machine.sender().binary(&payload(len)).unwrap();
                }
            });
            assert_eq!(error, None, "{mib} MiB");
            seen
        });
        let request = ws::ClientRequest::new(addr.to_string());
        let machine = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO).unwrap();
        let mut seen = Seen::default();
        let connected =
            A::connect(addr, machine, |machine, event| match (seen.note(event), seen.binary.is_empty()) {
                (true, true) => {
                    machine.sender().binary(&payload(len)).unwrap();
                    thread::sleep(Duration::from_secs(stops));
                }
                (true, false) => machine.sender().close(ws::CloseCode::NORMAL, "").unwrap(),
                (false, _) => {}
            });
        assert_eq!(connected.unwrap(), None, "{mib} MiB");
        let closed = Some(ws::Closed::Local { clean: true });
        assert_eq!(seen, Seen { binary: vec![len], closed }, "{mib} MiB");
        let there = server.join().unwrap();
        assert_eq!(there.binary, [len], "{mib} MiB");
        assert!(matches!(there.closed, Some(ws::Closed::Remote { .. })), "{mib} MiB: {there:?}");
    }
}

const MESSAGE: usize = 1 << 20;

/// Sends 64 MiB through sockets that never have room for a whole message.
pub(crate) fn e03_large_messages_pass_through_a_tiny_buffer<A: Adapter>() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let peer = thread::spawn(move || {
        let mut stream = TcpStream::connect(addr).unwrap();
        small_buffers(&stream, 16 * 1024);
        stream.write_all(HEAD).unwrap();
        let mut byte = [0];
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        let mut message = vec![0; 10 + MESSAGE];
        for n in 0..64_u8 {
            stream.read_exact(&mut message).unwrap();
            assert!(message.starts_with(&[0x82, 127]));
            assert!(message.iter().skip(10).all(|byte| *byte == n), "message {n}");
            // This text allows the server to send one more message.
            stream.write_all(&frame(0x81, b"next")).unwrap();
        }
        let _ = stream.write_all(&frame(0x88, &[0x03, 0xe8]));
    });
    let (stream, _) = listener.accept().unwrap();
    small_buffers(&stream, 16 * 1024);
    let (mut sent, mut received, mut closed) = (0, 0, Vec::new());
    A::accept(stream, ws::Server::new(ws::Limits::default(), Time::ZERO), |machine, event| {
        match event {
            ws::OwnedEvent::Upgrade(_) => machine.accept(None).unwrap(),
            ws::OwnedEvent::Text(_) => received += 1,
            ws::OwnedEvent::Closed(end) => return closed.push(end),
            _ => return,
        }
        while sent < 64 && sent < received + 4 {
            machine.sender().binary(&vec![sent; MESSAGE]).unwrap();
            sent += 1;
        }
    });
    peer.join().unwrap();
    assert_eq!((sent, received), (64, 64));
    assert!(matches!(&*closed, [ws::Closed::Remote { .. }]), "{closed:?}");
}

/// Sends 32 MiB to an editor, which sends them back.
pub(crate) fn e03_large_text_passes_a_server_both_ways<A: Adapter>() {
    const CONTENTS: usize = 32 << 20;
    let mut world = World::<A>::with(|config| config.ws.message = 2 * CONTENTS);
    world.seen.accepts = true;
    let contents: String = "All of this is to be proposed.\n".chars().cycle().take(CONTENTS).collect();
    let (addr, token) = (world.addr(), world.token().clone());
    let sent = contents.clone();
    let agent = thread::spawn(move || {
        let stream = TcpStream::connect(addr).unwrap();
        small_buffers(&stream, 64 * 1024);
        let config = ClientConfig::new(Implementation::new("agent", "1"), addr.port(), Some(token));
        let machine = Client::new(config, getrandom::fill, SessionId::new(1), Time::ZERO).unwrap();
        let mut talk = Talk::new(proposal(sent), false);
        let error = A::accept(stream, machine, |machine, event| talk.event(machine, event));
        assert_eq!(error, None);
        talk.report()
    });
    let report = world.serve(agent);
    assert_eq!(report.closed, ws::Closed::Local { clean: true });
    let answer: Vec<&str> = report.answers.iter().flatten().map(String::as_str).collect();
    assert!(answer == ["FILE_SAVED", contents.as_str()], "{} texts", answer.len());
}
