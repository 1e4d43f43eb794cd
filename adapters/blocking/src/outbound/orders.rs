//! The buffer and its thread in thousands of orders.

use super::*;
use crate::inbound::Inbound;
use crate::parking::{park, waker};
use crate::sync::thread;
use ide_mcp::Time;
use std::io::Read;
use std::sync::Arc;

/// A socket that takes few bytes at a time, and fails after `capacity` bytes. It has `received` bytes to
/// read, and then the end once it is shut down.
#[derive(Clone)]
struct Socket(Arc<(Mutex<Peer>, Condvar)>);

struct Peer {
    capacity: usize,
    got: Vec<u8>,
    sends: usize,
    received: usize,
    shutdowns: Vec<Shutdown>,
}

impl Socket {
    fn new(capacity: usize, received: usize) -> Self {
        let peer = Peer { capacity, got: Vec::new(), sends: 0, received, shutdowns: Vec::new() };
        Self(Arc::new((Mutex::new(peer), Condvar::new())))
    }

    /// Writes without waiting. Every second write finds no room.
    fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut peer = lock(&self.0.0);
        peer.sends += 1;
        if peer.sends % 2 == 0 || peer.got.len() >= peer.capacity {
            return Err(ErrorKind::WouldBlock.into());
        }
        let bytes = &bytes[..bytes.len().min(1_000)];
        peer.got.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn shutdown(&self, how: Shutdown) {
        lock(&self.0.0).shutdowns.push(how);
        self.0.1.notify_one();
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut peer = lock(&self.0.0);
        if peer.got.len() >= peer.capacity {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let n = bytes.len().min(30_000);
        peer.got.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Socket {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let is_open = |peer: &mut Peer| peer.received == 0 && !peer.shutdowns.contains(&Shutdown::Both);
        let mut peer = self.0.1.wait_while(lock(&self.0.0), is_open).unwrap();
        let n = peer.received.min(space.len());
        peer.received -= n;
        Ok(n)
    }
}

/// Sends `total` bytes and ends the socket. Takes none of the received bytes meanwhile.
fn send(total: usize, socket: &Socket) -> io::Result<()> {
    let (outbound, inbound) = (Arc::new(Outbound::default()), Arc::new(Inbound::default()));
    let writer = thread::spawn({
        let (socket, outbound, wakes) = (socket.clone(), outbound.clone(), waker());
        move || outbound.drain(socket.clone(), |how| socket.shutdown(how), &wakes)
    });
    let reader = thread::spawn({
        let (socket, inbound, wakes) = (socket.clone(), inbound.clone(), waker());
        move || inbound.fill(socket, &wakes)
    });
    let bytes: Vec<u8> = (0..total).map(|n| u8::try_from(n % 251).unwrap()).collect();
    let mut rest = &bytes[..];
    let result = loop {
        if rest.is_empty() {
            break Ok(());
        }
        match outbound.put(rest, |bytes| socket.send(bytes), || inbound.is_stuck()) {
            Ok(n) => rest = &rest[n..],
            Err(error) if error.kind() == ErrorKind::WouldBlock => park(Time::ZERO, None),
            Err(error) => break Err(error),
        }
    };
    outbound.go_on_to(Stage::Finishing);
    outbound.go_on_to(Stage::Abandoned);
    inbound.close();
    writer.join().unwrap();
    reader.join().unwrap();
    assert!(bytes.starts_with(&lock(&socket.0.0).got), "the bytes are out of order");
    result
}

/// The buffer is full twice. If a thread is not woken, shuttle reports a deadlock.
#[test]
fn no_order_loses_a_sent_byte() {
    let test = || {
        let (socket, total) = (Socket::new(usize::MAX, 10), 3 * ROOM + 1);
        send(total, &socket).unwrap();
        let peer = lock(&socket.0.0);
        assert_eq!((peer.got.len(), &peer.shutdowns[..]), (total, &[Shutdown::Write, Shutdown::Both][..]));
    };
    shuttle::check_random(test, 1_000);
    shuttle::check_pct(test, 1_000, 3);
}

/// The application learns of the failure when the reading thread has ended, and also when that thread
/// waits for room.
#[test]
fn no_order_hides_a_failed_socket() {
    for received in [10, 2 * ROOM] {
        let test = move || {
            let socket = Socket::new(ROOM, received);
            let result = send(4 * ROOM, &socket);
            assert_eq!(result.unwrap_err().kind(), ErrorKind::ConnectionReset);
            assert_eq!(lock(&socket.0.0).shutdowns.last(), Some(&Shutdown::Both));
        };
        shuttle::check_random(test, 1_000);
        shuttle::check_pct(test, 1_000, 3);
    }
}
