//! When the server lets an idle link free its memory, in virtual time: a second after the first byte that the
//! link moved. What the link then frees is tested with `Link`.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

mod peer;

use super::*;
use ide_mcp::Output;
use ide_mcp::ide::{Auth, Policy, ServerConfig};
use peer::Peer;
use std::time::Duration;

/// The time between the first byte that a link moves and the step that frees unused memory.
const REST: Duration = Duration::from_secs(1);

/// A server and its sockets, and the peers at their other ends.
struct Room {
    server: Server,
    connections: Connections<Peer>,
}

impl Room {
    fn new() -> Self {
        let policy = Policy::new(0, Auth::Disabled);
        let config = ServerConfig::new("editor", "1").policy(policy);
        Self { server: Server::new(config), connections: Connections::new() }
    }

    fn connect(&mut self, now: Time) -> (ConnId, Peer) {
        let (id, peer) = (self.server.connect(now), Peer::default());
        self.connections.insert(id, Link::new(peer.clone()));
        self.step(now);
        (id, peer)
    }

    /// Sends `n` bytes of a request that never ends.
    fn send(&mut self, now: Time, (id, peer): &(ConnId, Peer), n: usize) {
        peer.0.borrow_mut().extend(std::iter::repeat_n(b'x', n));
        self.connections.ready(id.index());
        self.step(now);
    }

    fn step(&mut self, now: Time) {
        self.connections.read(&mut self.server, now);
        loop {
            match self.server.poll(now) {
                Output::Event(_) => {}
                Output::Write { conn, bytes } => {
                    let taken = self.connections.write(conn, bytes, now).unwrap();
                    self.server.written(conn, taken);
                }
                Output::Close(conn) => self.connections.close(conn, now),
                Output::Wait(_) => break,
            }
        }
        self.connections.rest(&mut self.server, now);
        self.connections.linger(now, drop);
    }

    /// Ends the connection in both directions, so that the server can reuse its number.
    fn lose(&mut self, id: ConnId) {
        self.server.feed_eof(Time::ZERO, id);
        self.server.feed_eof(Time::ZERO, id);
        self.step(Time::ZERO);
    }

    fn deadline(&self, now: Time) -> Option<Time> {
        self.connections.deadline(&self.server, now)
    }
}

#[test]
fn link_is_due_once_after_each_burst() {
    let mut room = Room::new();
    let (mut now, one) = (Time::ZERO, room.connect(Time::ZERO));
    assert_eq!(room.deadline(now), None, "nothing has moved");
    for _ in 0..3 {
        room.send(now, &one, 1000);
        let rest = now.saturating_add(REST);
        for _ in 0..100 {
            now = now.saturating_add(Duration::from_millis(5));
            room.send(now, &one, 1);
            assert_eq!(room.deadline(now), Some(rest));
        }
        assert_eq!(room.connections.resting.len(), 1, "however often it writes");
        room.step(rest);
        assert_eq!((room.deadline(rest), room.connections.resting.len()), (None, 0));
        now = rest;
    }
}

#[test]
fn deadline_is_the_earliest_of_all_links() {
    let mut room = Room::new();
    let all: Vec<_> = (0..5).map(|_| room.connect(Time::ZERO)).collect();
    let at = Time::from_millis;
    for (millis, one) in (0..).zip(&all) {
        room.send(at(10 * millis), one, 100);
    }
    for millis in 0..5 {
        assert_eq!(room.deadline(at(500)), Some(at(1000 + 10 * millis)));
        room.step(at(1000 + 10 * millis));
    }
    assert_eq!(room.deadline(at(2000)), None);
}

/// Two links are read, 5 ms apart, before either rests. Then the later one rests first.
#[test]
fn deadline_counts_from_the_first_byte() {
    let mut room = Room::new();
    let (slow, quick) = (room.connect(Time::ZERO), room.connect(Time::ZERO));
    slow.1.0.borrow_mut().extend(b"slow");
    room.connections.ready(slow.0.index());
    room.connections.read(&mut room.server, Time::ZERO);
    quick.1.0.borrow_mut().extend(b"quick");
    room.connections.ready(quick.0.index());
    let later = Time::from_millis(5);
    room.connections.read(&mut room.server, later);
    room.connections.busy.reverse();
    room.connections.rest(&mut room.server, later);
    assert_eq!(room.deadline(later), Some(Time::ZERO.saturating_add(REST)));
}

#[test]
fn new_connection_inherits_no_deadline() {
    let mut room = Room::new();
    let one = room.connect(Time::ZERO);
    room.send(Time::ZERO, &one, 100);
    room.lose(one.0);
    let other = room.connect(Time::ZERO);
    assert_eq!(other.0.index(), one.0.index());
    assert_eq!((room.deadline(Time::ZERO), room.connections.resting.len()), (None, 0));
    room.send(Time::ZERO, &other, 100);
    assert_eq!(room.deadline(Time::ZERO), Some(Time::ZERO.saturating_add(REST)));
}

/// A new connection gets the number of an old one whose socket is still marked as ready.
#[test]
fn replaced_connection_is_busy_once() {
    let mut room = Room::new();
    let one = room.connect(Time::ZERO);
    room.connections.ready(one.0.index());
    room.server.feed_eof(Time::ZERO, one.0);
    room.server.feed_eof(Time::ZERO, one.0);
    assert!(matches!(room.server.poll(Time::ZERO), Output::Close(_)), "a loop that does not close");
    let other = room.server.connect(Time::ZERO);
    room.connections.insert(other, Link::new(Peer::default()));
    assert_eq!((other.index(), room.connections.busy.len()), (one.0.index(), 1));
}

/// When their connections have ended, sockets linger for a second, up to the limit. Whatever their peers
/// still send is discarded.
#[test]
fn ended_sockets_linger_up_to_their_limit() {
    let mut room = Room::new();
    let mut peers = Vec::new();
    for count in 1..=20 {
        let (id, peer) = room.connect(Time::ZERO);
        peer.0.borrow_mut().extend(b"no request\r\n\r\n");
        room.connections.ready(id.index());
        room.step(Time::ZERO);
        room.step(Time::ZERO);
        assert_eq!(room.connections.lingering.len(), count.min(16), "the oldest is released");
        assert!(!room.connections.is_empty());
        peers.push((id, peer));
    }
    let (id, last) = peers.pop().unwrap();
    last.0.borrow_mut().extend(b"late");
    room.connections.ready(id.index().saturating_add(1));
    room.step(Time::ZERO);
    assert_eq!(last.0.borrow().len(), 4, "another socket is ready");
    room.connections.ready(id.index());
    room.step(Time::ZERO);
    assert_eq!(last.0.borrow().len(), 0, "discarded");
    room.step(Time::ZERO.saturating_add(Duration::from_secs(1)));
    assert!(room.connections.is_empty(), "their time is over");
}

#[test]
fn lost_connection_is_released() {
    let mut room = Room::new();
    let (other, _) = room.connect(Time::ZERO);
    let (id, _) = room.connect(Time::ZERO);
    room.lose(id);
    assert!(room.connections.socket(id).is_none() && room.connections.socket(other).is_some());
    room.lose(other);
    assert!(room.connections.is_empty());
}
