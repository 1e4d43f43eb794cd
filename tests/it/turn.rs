//! The turn of a loop that the README and the documentation show, run over sockets that write in
//! pieces and fail.

#[path = "../../src/ide/server/turn.rs"]
mod turn_of_the_readme;

use crate::support::ide::{CONNECTED, HEAD, INITIALIZE, INITIALIZED, at, config, text};
use ide_mcp::ide::{ConnId, Mention, Server};
use ide_mcp::{Machine, Time, Wire};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use turn_of_the_readme::turn;

/// A non-blocking socket: its input, the error after the input, its room, and the number of written
/// bytes.
struct Socket {
    input: Vec<u8>,
    then: ErrorKind,
    room: usize,
    written: usize,
    /// True if each write fails.
    fails: bool,
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.input.is_empty() {
            return Err(self.then.into());
        }
        let len = buf.len().min(self.input.len());
        buf[..len].copy_from_slice(&self.input[..len]);
        self.input.drain(..len);
        Ok(len)
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if self.fails {
            return Err(ErrorKind::BrokenPipe.into());
        }
        let len = buf.len().min(self.room);
        self.room -= len;
        self.written += len;
        if len == 0 { Err(ErrorKind::WouldBlock.into()) } else { Ok(len) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn connected(then: ErrorKind, room: usize) -> (Server, BTreeMap<ConnId, Socket>) {
    let mut host = Server::new(config());
    let conn = host.connect(Time::ZERO);
    let input = [HEAD.as_bytes().to_vec(), text(INITIALIZE)].concat();
    (host, BTreeMap::from([(conn, Socket { input, then, room, written: 0, fails: false })]))
}

#[test]
fn short_write_continues_when_there_is_room() {
    let (mut host, mut sockets) = connected(ErrorKind::WouldBlock, 200);
    turn(&mut host, &mut sockets, &mut BTreeMap::new(), Time::ZERO);
    let conn = *sockets.keys().next().unwrap();
    let rest = host.wire(conn).unwrap().outgoing().len();
    assert!(rest > 0 && sockets[&conn].written == 200);
    sockets.get_mut(&conn).unwrap().room = usize::MAX;
    turn(&mut host, &mut sockets, &mut BTreeMap::new(), at(1));
    assert!(host.wire(conn).unwrap().outgoing().is_empty());
    assert_eq!(sockets[&conn].written, 200 + rest);
}

/// Attaches two agents, and mentions a file to the later one, whose socket fails when it is written.
#[test]
fn mention_on_a_lost_socket_reaches_the_other_agent() {
    let (mut host, mut sockets) = connected(ErrorKind::WouldBlock, usize::MAX);
    let second = host.connect(Time::ZERO);
    let input = [HEAD.as_bytes().to_vec(), text(INITIALIZE)].concat();
    sockets.insert(
        second,
        Socket { input, then: ErrorKind::WouldBlock, room: usize::MAX, written: 0, fails: false },
    );
    let mut open = BTreeMap::new();
    turn(&mut host, &mut sockets, &mut open, Time::ZERO);
    for socket in sockets.values_mut() {
        socket.input = [text(INITIALIZED), text(CONNECTED)].concat();
    }
    turn(&mut host, &mut sockets, &mut open, at(1));
    let written = |sockets: &BTreeMap<ConnId, Socket>| sockets.values().next().unwrap().written;
    let before = written(&sockets);
    sockets.get_mut(&second).unwrap().fails = true;
    host.mention(at(2), Mention::new("/w/a.txt", None), None).unwrap();
    turn(&mut host, &mut sockets, &mut open, at(2));
    assert_eq!((sockets.len(), written(&sockets)), (1, before), "the second agent is lost");
    turn(&mut host, &mut sockets, &mut open, at(200));
    assert!(written(&sockets) > before, "the first agent receives the mention");
}

#[test]
fn a_reset_ends_the_connection_at_once() {
    let (mut host, mut sockets) = connected(ErrorKind::ConnectionReset, usize::MAX);
    turn(&mut host, &mut sockets, &mut BTreeMap::new(), Time::ZERO);
    assert!(sockets.is_empty());
    assert!(host.poll_event().is_none() && host.connections().next().is_none());
}

#[test]
fn readme_shows_the_tested_turn() {
    assert!(include_str!("../../README.md").contains(include_str!("../../src/ide/server/turn.rs")));
}
