//! The turns of a server over a transport in memory: how a turn shares its bytes among the connections, and
//! how the server ends.

#[path = "../../src/server/connections/tests/peer.rs"]
mod peer;

use ide_mcp::Time;
use ide_mcp::ide::{Auth, Mention, Policy, ServerConfig, ServerEvent};
use ide_mcp_driver::{Bind, HandleError, Server, Shutdown, Transport};
use peer::Peer;
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::rc::Rc;
use std::time::Duration;

/// The number of bytes that a turn reads from all connections.
const TURN: usize = 256 * 1024;

/// An upper bound for one read. A turn can exceed [`TURN`] by its last read.
const LAST: usize = 128 * 1024;

const PING: &[u8] = b"\x89\x80\0\0\0\0";

fn left(peer: &Peer) -> usize {
    peer.0.borrow().len()
}

#[derive(Clone, Debug, Default)]
struct Memory(Rc<RefCell<Vec<Peer>>>);

impl Transport for Memory {
    type Incoming = Peer;
    type Socket = Peer;

    fn accept(&mut self) -> io::Result<Peer> {
        self.0.borrow_mut().pop().ok_or_else(|| ErrorKind::WouldBlock.into())
    }

    fn adopt(&mut self, _: usize, peer: Peer) -> io::Result<Peer> {
        Ok(peer)
    }

    fn ends(_: &Peer) -> io::Result<(SocketAddr, SocketAddr)> {
        Err(ErrorKind::Unsupported.into())
    }

    fn release(&mut self, _: Peer) {}

    fn close(&mut self) {}
}

/// Returns a server and `clients` admitted clients.
fn attached(clients: usize) -> (Server<Memory>, Vec<Peer>) {
    let policy = Policy::new(0, Auth::Disabled);
    let config = ServerConfig::new("editor", "1").policy(policy);
    let memory = Memory::default();
    let open = |_: TcpListener| Ok(memory.clone());
    let mut server = Server::bind(Bind::AnyPort, config, open).unwrap();
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
        server.local_addr().port()
    );
    let mut peers = Vec::new();
    for count in 1..=clients {
        let peer = Peer(Rc::new(RefCell::new(head.clone().into_bytes())));
        memory.0.borrow_mut().push(peer.clone());
        server.acceptable();
        server.turn(Time::ZERO, |_, _| {});
        assert_eq!(
            server.machine().connections().filter(|conn| server.machine().wants_input(*conn)).count(),
            count
        );
        peers.push(peer);
    }
    (server, peers)
}

fn send(server: &mut Server<Memory>, (number, peer): (usize, &Peer), pings: usize) {
    peer.0.borrow_mut().extend(PING.repeat(pings));
    server.ready(number);
}

#[test]
fn e02_turn_reads_a_limited_total() {
    for clients in [1, 2, 15] {
        let (mut server, peers) = attached(clients);
        peers.iter().enumerate().for_each(|peer| send(&mut server, peer, 200_000));
        let unread = || peers.iter().map(left).sum::<usize>();
        let before = unread();
        server.turn(Time::ZERO, |_, _| {});
        let read = before - unread();
        assert!((TURN..TURN + LAST).contains(&read), "{read} bytes of {clients}");
    }
}

#[test]
fn e02_unreached_connection_is_first_next_turn() {
    let (mut server, peers) = attached(16);
    peers.iter().enumerate().for_each(|peer| send(&mut server, peer, if peer.0 == 15 { 1 } else { 200_000 }));
    for _ in 0..16 {
        server.turn(Time::ZERO, |_, _| {});
        assert_eq!(server.deadline(Time::ZERO), Some(Time::ZERO), "there is more");
    }
    let (quiet, flood) = peers.split_last().unwrap();
    assert_eq!(left(quiet), 0);
    let unread: Vec<usize> = flood.iter().map(left).collect();
    let (least, most) = (unread.iter().min().unwrap(), unread.iter().max().unwrap());
    assert!(*most < 200_000 * PING.len() && most - least <= 2 * LAST, "{unread:?}");
    for _ in 0..1_000 {
        server.turn(Time::ZERO, |_, _| {});
    }
    assert!(flood.iter().all(|peer| left(peer) == 0), "all is read in the end");
}

/// The handles end with the last event, since a loop that stops there takes no further turn.
#[test]
fn last_event_ends_the_handles() {
    let (mut server, _) = attached(0);
    let handle = server.handle(|| {});
    server.machine_mut().pause(Time::ZERO);
    handle.mention(Mention::new("/w/a", None), None).unwrap();
    handle.shutdown();
    assert!(matches!(server.event_of_turn(Time::ZERO), Some(ServerEvent::MentionExpired { .. })));
    assert!(server.is_over());
    assert_eq!(handle.with(|_, _| ()), Err(HandleError::Ended));
    assert!(handle.end(Duration::ZERO), "a wait for the end returns at once");
    assert!(server.event_of_turn(Time::ZERO).is_none());
}
