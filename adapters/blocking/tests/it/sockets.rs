//! Blocking connections over real loopback sockets.

use crate::plain::{HEAD, PATIENCE, contains, read_all};
use ide_mcp::{Clock, Time, ws};
use ide_mcp_blocking::Conn;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub(crate) fn accept(listener: &TcpListener, limits: ws::Limits) -> Conn<ws::Server> {
    let (stream, _) = listener.accept().unwrap();
    Conn::from_stream(stream, ws::Server::new(limits, Time::ZERO)).unwrap()
}

/// Starts an echo server for one connection on a thread, which returns the `Closed` values.
fn echo() -> (SocketAddr, JoinHandle<Vec<ws::Closed>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let mut conn = accept(&listener, ws::Limits::default());
        let mut closed = Vec::new();
        while let Some(event) = conn.next_event() {
            match event {
                ws::OwnedEvent::Upgrade(_) => conn.machine_mut().accept(None).unwrap(),
                ws::OwnedEvent::Text(text) => conn.machine_mut().sender().text(&text).unwrap(),
                ws::OwnedEvent::Binary(bytes) => conn.machine_mut().sender().binary(&bytes).unwrap(),
                ws::OwnedEvent::Closed(end) => closed.push(end),
                _ => {}
            }
        }
        assert!(conn.is_over());
        closed
    });
    (addr, server)
}

pub(crate) fn client(addr: SocketAddr) -> Conn<ws::Client> {
    let request = ws::ClientRequest::new(addr.to_string());
    let machine = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO).unwrap();
    Conn::connect(addr, machine).unwrap()
}

/// Returns a plain TCP socket (no WebSocket machine) with a read timeout.
fn plain(addr: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Returns a plain peer that has sent the opening handshake, and the connection that accepted it.
pub(crate) fn opened(limits: ws::Limits) -> (TcpStream, Conn<ws::Server>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = plain(listener.local_addr().unwrap());
    stream.write_all(HEAD).unwrap();
    (stream, accept(&listener, limits))
}

#[test]
fn sixty_four_messages_come_back() {
    let (addr, server) = echo();
    let mut client = client(addr);
    let sent: Vec<String> = (0..64).map(|n| format!("{n} ").repeat(n * n)).collect();
    let mut echoed = Vec::new();
    while let Some(event) = client.next_event() {
        match event {
            ws::OwnedEvent::Open { .. } => {
                for text in &sent {
                    client.machine_mut().sender().text(text).unwrap();
                }
            }
            ws::OwnedEvent::Text(text) => {
                echoed.push(text);
                if echoed.len() == sent.len() {
                    client.machine_mut().sender().close(ws::CloseCode::NORMAL, "").unwrap();
                }
            }
            ws::OwnedEvent::Closed(closed) => assert_eq!(closed, ws::Closed::Local { clean: true }),
            _ => {}
        }
    }
    assert!(echoed == sent, "{} came back", echoed.len());
    assert!(matches!(&*server.join().unwrap(), [ws::Closed::Remote { .. }]));
}

#[test]
fn calls_never_wait_for_a_stalled_peer() {
    let mut limits = ws::Limits::default();
    limits.stalled = Duration::from_millis(300);
    let (_stream, mut conn) = opened(limits);
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
    conn.machine_mut().accept(None).unwrap();
    let mut slices = 0;
    let closed = loop {
        // At first the sockets take some of the data. `flush` and `poll` must return just as fast once they
        // are full.
        while conn.machine_mut().sender().binary(&vec![7; 1 << 20]).is_ok() {}
        conn.flush(Duration::from_millis(1));
        if let Some(ws::OwnedEvent::Closed(closed)) = conn.poll(Duration::from_millis(10)) {
            break closed;
        }
        slices += 1;
    };
    assert!(slices > 3, "{slices} slices");
    assert_eq!(closed, ws::Closed::Stalled);
    assert_eq!(conn.next_event(), None);
}

#[test]
fn wait_ends_at_its_time_or_at_a_deadline() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut stream = plain(listener.local_addr().unwrap());
    let mut limits = ws::Limits::default();
    limits.handshake = Duration::from_millis(200);
    let mut conn = accept(&listener, limits);
    assert_eq!(conn.poll(Duration::ZERO), None);
    assert_eq!(conn.poll(Duration::from_millis(10)), None);
    assert!(conn.now() >= Time::from_millis(10) && !conn.is_over());
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Closed(ws::Closed::Refused(_)))));
    assert!(conn.now() >= Time::from_millis(200));
    let reader = thread::spawn(move || read_all(&mut stream));
    assert_eq!(conn.next_event(), None);
    assert!(reader.join().unwrap().starts_with(b"HTTP/1.1 408"));
}

#[test]
fn late_poll_reads_input_before_the_timeout() {
    let mut limits = ws::Limits::default();
    limits.handshake = Duration::from_millis(20);
    let (_stream, mut conn) = opened(limits);
    while conn.now() < Time::from_millis(40) || conn.stream().peek(&mut [0]).is_err() {
        thread::yield_now();
    }
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
}

#[test]
fn undecided_upgrade_leaves_input_in_place() {
    let (mut stream, mut conn) = opened(ws::Limits::default());
    stream.write_all(&[0; 16 * 1024]).unwrap();
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
    // The application has not decided about the opening handshake, so the machine takes no more input and has
    // no timer.
    assert_eq!(conn.poll(Duration::from_millis(30)), None);
    conn.machine_mut().accept(None).unwrap();
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Closed(ws::Closed::ProtocolError(_)))));
}

#[test]
fn room_in_the_buffer_resumes_work() {
    let mut limits = ws::Limits::default();
    limits.outgoing = 1000;
    let (mut stream, mut conn) = opened(limits);
    let server = thread::spawn(move || {
        while let Some(event) = conn.next_event() {
            match event {
                ws::OwnedEvent::Upgrade(_) => conn.machine_mut().accept(None).unwrap(),
                ws::OwnedEvent::Text(text) => conn.machine_mut().sender().text(&text).unwrap(),
                _ => {}
            }
        }
    });
    let clock = Clock::new();
    let text = [&b"\x81\xfe\x02\x58\0\0\0\0"[..], &[b'x'; 600]].concat();
    stream.write_all(&text.repeat(10)).unwrap();
    let mut back = 0;
    while back < 10 * 604 {
        let n = stream.read(&mut [0; 4096]).unwrap();
        assert!(n > 0);
        back += n;
    }
    // If it missed the wake-up, it would wait until the link frees memory: one second after the first byte.
    assert!(clock.now() < Time::from_millis(900), "{:?}", clock.now());
    drop(stream);
    server.join().unwrap();
}

#[test]
fn peer_that_floods_still_receives_answers() {
    let (mut stream, mut conn) = opened(ws::Limits::default());
    assert!(matches!(conn.next_event(), Some(ws::OwnedEvent::Upgrade(_))));
    conn.machine_mut().accept(None).unwrap();
    assert!(conn.flush(PATIENCE));
    let mut peer = stream.try_clone().unwrap();
    // The flood lasts as long as the connection.
    let flood = thread::spawn(move || {
        let message = [&b"\x82\xfe\x03\xe8\0\0\0\0"[..], &[7; 1000]].concat();
        let messages = message.repeat(64);
        while peer.write_all(&messages).is_ok() {}
    });
    let mut received = 0;
    while received < 4000 {
        if let Some(ws::OwnedEvent::Binary(_)) = conn.next_event() {
            received += 1;
        }
        if received == 1 {
            conn.machine_mut().sender().text("answer").unwrap();
        }
    }
    assert!(!conn.machine().wants_output(), "the answer still waits after 4 MB of messages");
    let (mut written, mut piece) = (Vec::new(), [0; 512]);
    while !contains(&written, b"\x81\x06answer") {
        let len = stream.read(&mut piece).unwrap();
        assert!(len > 0);
        written.extend(piece.iter().take(len));
    }
    drop(conn);
    flood.join().unwrap();
}
