//! Sockets with tiny buffers. With edge-triggered readiness, a loop that stops before a socket would block,
//! and then forgets that socket, waits forever. A kernel's buffers are too large to show such a bug. These
//! sockets are in memory and may hold as little as a single byte. They report an edge as epoll does: once for
//! each call that would have blocked.

use ide_mcp::{Time, ws};
use ide_mcp_driver::{Conn, Link, Shutdown};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::rc::Rc;

/// One direction.
#[derive(Debug, Default)]
struct Pipe {
    bytes: RefCell<VecDeque<u8>>,
    capacity: usize,
    /// True if the reader found nothing, and has not got an edge since.
    reader_waits: Cell<bool>,
    /// True if the writer found no room, and has not got an edge since.
    writer_waits: Cell<bool>,
    blocked: Cell<usize>,
}

impl Pipe {
    fn new(capacity: usize) -> Rc<Self> {
        Rc::new(Self { capacity, ..Self::default() })
    }

    fn would_block(&self, waits: &Cell<bool>) -> io::Result<usize> {
        waits.set(true);
        self.blocked.set(self.blocked.get() + 1);
        Err(ErrorKind::WouldBlock.into())
    }

    /// Returns true, once, if this side has waited and need not wait any longer.
    fn edge(waits: &Cell<bool>, is_over: bool) -> bool {
        let edge = waits.get() && is_over;
        waits.set(waits.get() && !edge);
        edge
    }
}

/// One end of two pipes.
#[derive(Debug)]
struct End {
    incoming: Rc<Pipe>,
    outgoing: Rc<Pipe>,
}

impl End {
    /// Returns true if a poll would report this socket now.
    fn is_reported(&self) -> bool {
        let has_bytes = !self.incoming.bytes.borrow().is_empty();
        let has_room = self.outgoing.bytes.borrow().len() < self.outgoing.capacity;
        let readable = Pipe::edge(&self.incoming.reader_waits, has_bytes);
        Pipe::edge(&self.outgoing.writer_waits, has_room) || readable
    }
}

impl Read for End {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.incoming.bytes.borrow_mut();
        let some = bytes.len().min(space.len());
        if some == 0 {
            return self.incoming.would_block(&self.incoming.reader_waits);
        }
        space.iter_mut().zip(bytes.drain(..some)).for_each(|(to, byte)| *to = byte);
        Ok(some)
    }
}

impl Write for End {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let mut bytes = self.outgoing.bytes.borrow_mut();
        let some = self.outgoing.capacity.saturating_sub(bytes.len()).min(from.len());
        if some == 0 {
            return self.outgoing.would_block(&self.outgoing.writer_waits);
        }
        bytes.extend(from.iter().take(some));
        Ok(some)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for End {
    fn shutdown_write(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A server that echoes, and its client. Each gets a turn only if its socket is reported or its deadline has
/// come.
struct World {
    server: Conn<ws::Server, End>,
    client: Conn<ws::Client, End>,
}

impl World {
    fn new(capacity: usize) -> Self {
        let (up, down) = (Pipe::new(capacity), Pipe::new(capacity));
        let end = |incoming: &Rc<Pipe>, outgoing: &Rc<Pipe>| {
            Link::new(End { incoming: Rc::clone(incoming), outgoing: Rc::clone(outgoing) })
        };
        let mut limits = ws::Limits::default();
        limits.keepalive = None;
        let request = ws::ClientRequest::new("127.0.0.1:1");
        let client = ws::Client::new(request, getrandom::fill, limits.clone(), Time::ZERO).unwrap();
        Self {
            server: Conn::new(ws::Server::new(limits, Time::ZERO), end(&up, &down)),
            client: Conn::new(client, end(&down, &up)),
        }
    }

    fn step(&mut self, mut on: impl FnMut(&mut ws::Client, ws::OwnedEvent)) {
        // The clock stands still, so no timer moves anything.
        let now = Time::ZERO;
        let mut moved = false;
        if self.server.link().socket().is_reported() {
            self.server.ready();
            moved = true;
        }
        if moved || self.server.deadline(now) == Some(now) {
            moved = true;
            self.server.turn(now, |machine, event| match event {
                ws::OwnedEvent::Upgrade(_) => machine.accept(None).unwrap(),
                ws::OwnedEvent::Binary(bytes) => machine.sender().binary(&bytes).unwrap(),
                _ => {}
            });
        }
        let reported = self.client.link().socket().is_reported();
        if reported {
            self.client.ready();
        }
        if reported || self.client.deadline(now) == Some(now) {
            moved = true;
            self.client.turn(now, &mut on);
        }
        assert!(moved, "both wait forever: {:?} {:?}", self.server, self.client);
    }

    /// Returns how many calls would have blocked.
    fn blocked(&self) -> usize {
        let End { incoming, outgoing } = self.server.link().socket();
        incoming.blocked.get() + outgoing.blocked.get()
    }
}

/// Sends `messages` messages of `len` bytes through sockets that hold `capacity` bytes, and waits for
/// their echoes.
fn echo(capacity: usize, messages: usize, len: usize) {
    let mut world = World::new(capacity);
    let (mut sent, mut back) = (0, 0);
    while back < messages {
        world.step(|machine, event| {
            let answered = matches!(&event, ws::OwnedEvent::Binary(bytes) if bytes.len() == len);
            back += usize::from(answered);
            if matches!(event, ws::OwnedEvent::Open { .. }) || answered {
                while sent < messages && sent < back + 2 {
                    machine.sender().binary(&vec![5; len]).unwrap();
                    sent += 1;
                }
            }
        });
    }
    let minimum = 2 * messages * len / capacity / 2;
    assert!(world.blocked() >= minimum, "{capacity}: only {} calls would have blocked", world.blocked());
    assert!(!world.client.machine().wants_output() && !world.server.machine().wants_output());
}

#[test]
fn e03_large_messages_pass_through_tiny_sockets() {
    for (capacity, messages, len) in [(1, 4, 16 << 10), (7, 8, 32 << 10), (4 << 10, 64, 1 << 20)] {
        echo(capacity, messages, len);
    }
}
