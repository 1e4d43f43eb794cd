//! Connections in a `Poll`, over real loopback sockets.

use crate::plain::{HEAD, PATIENCE};
use ide_mcp::{Clock, Time, ws};
use ide_mcp_mio::Conn;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const LISTENER: Token = Token(0);

/// A loop on one thread: a listener whose connections echo, and clients.
struct World {
    poll: Poll,
    events: Events,
    clock: Clock,
    listener: TcpListener,
    servers: Vec<Conn<ws::Server>>,
    clients: Vec<Conn<ws::Client>>,
    tokens: usize,
    /// How many pings the connections of the listener have received.
    pings: usize,
}

impl World {
    fn new() -> Self {
        let poll = Poll::new().unwrap();
        let mut listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).unwrap();
        Self {
            poll,
            events: Events::with_capacity(64),
            clock: Clock::new(),
            listener,
            servers: Vec::new(),
            clients: Vec::new(),
            tokens: 1,
            pings: 0,
        }
    }

    fn addr(&self) -> SocketAddr {
        self.listener.local_addr().unwrap()
    }

    fn token(&mut self) -> Token {
        self.tokens += 1;
        Token(self.tokens)
    }

    fn connect(&mut self, addr: SocketAddr) {
        let token = self.token();
        let request = ws::ClientRequest::new(addr.to_string());
        let machine =
            ws::Client::new(request, getrandom::fill, ws::Limits::default(), self.clock.now()).unwrap();
        self.clients.push(Conn::connect(addr, machine, self.poll.registry(), token).unwrap());
    }

    /// Waits once, and takes a turn of every connection.
    fn step(&mut self, on: impl FnMut(&mut ws::Client, ws::OwnedEvent)) {
        self.step_within(PATIENCE, on);
    }

    /// Like [`step`](Self::step), but waits for `at_most`.
    fn step_within(&mut self, at_most: Duration, mut on: impl FnMut(&mut ws::Client, ws::OwnedEvent)) {
        let now = self.clock.now();
        assert!(now < Time::ZERO.saturating_add(PATIENCE), "it takes too long");
        let servers = self.servers.iter().filter_map(|conn| conn.deadline(now));
        let clients = self.clients.iter().filter_map(|conn| conn.deadline(now));
        let wait = self.clock.until(servers.chain(clients).min()).unwrap_or(at_most).min(at_most);
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => return,
            polled => polled.unwrap(),
        }
        let now = self.clock.now();
        for event in &self.events {
            let servers = self.servers.iter_mut().any(|conn| conn.handle_event(event));
            let _ = servers || self.clients.iter_mut().any(|conn| conn.handle_event(event));
        }
        while let Ok((stream, _)) = self.listener.accept() {
            self.tokens += 1;
            let machine = ws::Server::new(ws::Limits::default(), now);
            self.servers.push(Conn::new(stream, machine, self.poll.registry(), Token(self.tokens)).unwrap());
        }
        for conn in &mut self.servers {
            conn.turn(now, |machine, event| match event {
                ws::OwnedEvent::Upgrade(_) => machine.accept(None).unwrap(),
                ws::OwnedEvent::Text(text) => machine.sender().text(&text).unwrap(),
                ws::OwnedEvent::Binary(bytes) => machine.sender().binary(&bytes).unwrap(),
                ws::OwnedEvent::Ping(_) => self.pings += 1,
                _ => {}
            });
        }
        for conn in &mut self.clients {
            conn.turn(now, &mut on);
        }
        self.servers.retain(|conn| !conn.is_over());
    }
}

#[test]
fn eight_clients_receive_all_their_echoes() {
    let mut world = World::new();
    for _ in 0..8 {
        world.connect(world.addr());
    }
    let (mut echoed, mut closed) = (0, 0);
    while closed < 8 {
        world.step(|machine, event| match event {
            ws::OwnedEvent::Open { .. } => {
                for n in 0..64_usize {
                    machine.sender().text(&format!("{n} ").repeat(n * n)).unwrap();
                }
                // A ping after the messages must not disturb their echoes.
                machine.sender().ping(b"done").unwrap();
            }
            ws::OwnedEvent::Text(text) => {
                echoed += 1;
                if text.starts_with("63 ") {
                    machine.sender().close(ws::CloseCode::NORMAL, "").unwrap();
                }
            }
            ws::OwnedEvent::Closed(end) => {
                assert_eq!(end, ws::Closed::Local { clean: true });
                closed += 1;
            }
            _ => {}
        });
    }
    assert_eq!(echoed, 8 * 64);
}

#[test]
fn e03_loop_rests_after_heavy_traffic() {
    const MESSAGE: usize = 1 << 20;
    let mut world = World::new();
    world.connect(world.addr());
    let (mut sent, mut back) = (0, 0);
    while back < 64 {
        world.step(|machine, event| {
            let answered = matches!(&event, ws::OwnedEvent::Binary(bytes) if bytes.len() == MESSAGE);
            back += usize::from(answered);
            if matches!(event, ws::OwnedEvent::Open { .. }) || answered {
                // Four messages are in flight at any time: more than the buffers of the sockets hold.
                while sent < 64 && sent < back + 4 {
                    machine.sender().binary(&vec![5; MESSAGE]).unwrap();
                    sent += 1;
                }
            }
        });
    }
    // The memory of the last messages is freed within a second. Where edges are emulated, as on Windows, a
    // read that finds nothing makes the system report the socket's room again.
    let settled = world.clock.now().saturating_add(Duration::from_millis(1_500));
    while world.clock.now() < settled {
        world.step_within(Duration::from_millis(50), |_, _| {});
    }
    for _ in 0..6 {
        let before = world.clock.now();
        world.step_within(Duration::from_millis(50), |_, _| {});
        let waited = world.clock.now().saturating_since(before);
        assert!(
            world.events.is_empty() && waited >= Duration::from_millis(45),
            "{:?} after {waited:?}",
            world.events
        );
    }
}

#[test]
fn e03_noisy_connection_never_starves_a_quiet_one() {
    let mut world = World::new();
    let addr = world.addr();
    world.connect(addr);
    static QUIET_IS_DONE: AtomicBool = AtomicBool::new(false);
    let noisy = thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(addr).unwrap();
        stream.write_all(HEAD).unwrap();
        // The peer sends a ping of 125 bytes, masked with zeros, again and again, and never reads the pongs.
        let ping: Vec<u8> = [0x89, 0xfd, 0, 0, 0, 0].into_iter().chain([0; 125]).collect();
        let flood = ping.repeat(500);
        while !QUIET_IS_DONE.load(Ordering::Relaxed) {
            if stream.write_all(&flood).is_err() {
                break;
            }
        }
    });
    let (mut rounds, mut noise, mut earlier) = (0, 0, 0);
    while rounds < 100 {
        world.step(|machine, event| {
            if matches!(event, ws::OwnedEvent::Open { .. } | ws::OwnedEvent::Text(_)) {
                machine.sender().text("hi").unwrap();
                // Only a round in which the noisy peer was served counts.
                rounds += usize::from(noise > earlier);
                earlier = noise;
            }
        });
        noise = world.pings;
    }
    QUIET_IS_DONE.store(true, Ordering::Relaxed);
    drop(world);
    noisy.join().unwrap();
}

#[test]
fn dropping_a_connection_frees_its_token() {
    let mut world = World::new();
    let registry = world.poll.registry().try_clone().unwrap();
    let addr = world.addr();
    for _ in 0..3 {
        let stream = TcpStream::connect(addr).unwrap();
        let conn =
            Conn::new(stream, ws::Server::new(ws::Limits::default(), Time::ZERO), &registry, Token(77))
                .unwrap();
        assert_eq!(conn.token(), Token(77));
        assert!(conn.machine().wants_input() && conn.machine().deadline().is_some());
        drop(conn);
    }
    world.step(|_, _| {});
    assert!(world.events.iter().all(|event| event.token() == LISTENER), "{:?}", world.events);
}
