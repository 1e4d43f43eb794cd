//! `ws` against tungstenite, in memory: its client with our server, and its server with our client.

use crate::support::joined::{drain, waiting};
use ide_mcp::testing::{Random, pass_with};
use ide_mcp::ws::{self, CloseCode, Closed, OwnedEvent, Sender};
use ide_mcp::{Machine, Time};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::rc::Rc;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode as TheirCode};
use tungstenite::{HandshakeError, Message, WebSocket};

/// One end of a transport in memory. A read returns the bytes that the other end wrote, or would
/// block.
#[derive(Clone, Debug, Default)]
struct End {
    incoming: Rc<RefCell<VecDeque<u8>>>,
    outgoing: Rc<RefCell<VecDeque<u8>>>,
}

impl Read for End {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.incoming.borrow_mut().read(out)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            n => Ok(n),
        }
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl End {
    /// Carries bytes both ways between the peer at this end and our machine, in pieces of a random
    /// size. Returns the events, to which the machine reacts with `react`, and whether it has closed.
    fn exchange<M: Machine<Conn = ()>>(
        &self,
        machine: &mut M,
        random: &mut Random,
        react: impl FnMut(&mut M, &M::Event),
    ) -> (Vec<M::Event>, bool) {
        let mut from_peer: VecDeque<u8> = self.outgoing.take();
        while machine.wants_input(()) && !from_peer.is_empty() {
            let n = (1 + random.below(5000)).min(from_peer.len());
            let piece: Vec<u8> = from_peer.drain(..n).collect();
            machine.feed(Time::ZERO, (), &piece);
        }
        self.outgoing.borrow_mut().extend(from_peer);
        let passed = pass_with(machine, Time::ZERO, usize::MAX, react);
        self.incoming.borrow_mut().extend(passed.written_bytes());
        (passed.events, !passed.closed.is_empty())
    }
}

/// Returns text and binary messages with each encoding of the length.
fn messages() -> Vec<Message> {
    let mut messages = Vec::new();
    for len in [0, 1, 125, 126, 127, 65_535, 65_536, 200_000] {
        messages.push(Message::text("\u{e9}".repeat(len / 2) + &"x".repeat(len % 2)));
        messages.push(Message::binary(vec![0xa5; len]));
    }
    messages
}

/// Returns a message to its sender.
fn echo(mut sender: Sender<'_>, event: &OwnedEvent) {
    match event {
        OwnedEvent::Text(text) => sender.text(text).unwrap(),
        OwnedEvent::Binary(bytes) => sender.binary(bytes).unwrap(),
        _ => {}
    }
}

fn echo_server(server: &mut ws::Server, event: &OwnedEvent) {
    echo(server.sender(), event);
}

fn echo_client(client: &mut ws::Client, event: &OwnedEvent) {
    echo(client.sender(), event);
}

/// Reads all available messages.
fn read_all(peer: &mut WebSocket<End>) -> Vec<Message> {
    let mut found = Vec::new();
    loop {
        match peer.read() {
            Ok(message) => found.push(message),
            Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return found,
            Err(tungstenite::Error::ConnectionClosed) => return found,
            Err(error) => panic!("{error}"),
        }
    }
}

fn our_server(random: &mut Random) -> (ws::Server, End, WebSocket<End>) {
    let end = End::default();
    let Err(HandshakeError::Interrupted(waiting)) = tungstenite::client("ws://127.0.0.1:1/mcp", end.clone())
    else {
        panic!()
    };
    let mut server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    end.exchange(&mut server, random, |server, event| {
        let OwnedEvent::Upgrade(upgrade) = event else { panic!("{event:?}") };
        assert_eq!(upgrade.request().target(), "/mcp");
        server.accept(None).unwrap();
    });
    let (peer, response) = waiting.handshake().unwrap();
    assert_eq!(response.status(), 101);
    (server, end, peer)
}

fn our_client(random: &mut Random) -> (ws::Client, End, WebSocket<End>) {
    let end = End::default();
    let Err(HandshakeError::Interrupted(waiting)) = tungstenite::accept(end.clone()) else { panic!() };
    let ask = ws::ClientRequest::new("127.0.0.1:1").target("/x?y");
    let mut client =
        ws::Client::new(ask, Random::new(5).source(), ws::Limits::default(), Time::ZERO).unwrap();
    end.exchange(&mut client, random, echo_client);
    let peer = waiting.handshake().unwrap();
    let (events, _) = end.exchange(&mut client, random, echo_client);
    assert_eq!(events, [OwnedEvent::Open { subprotocol: None }]);
    (client, end, peer)
}

#[test]
fn their_client_talks_to_our_server() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let (mut server, end, mut peer) = our_server(&mut random);
        for message in messages() {
            peer.send(message.clone()).unwrap();
            while !end.outgoing.borrow().is_empty() {
                end.exchange(&mut server, &mut random, echo_server);
            }
            assert_eq!(read_all(&mut peer), [message], "seed {seed}");
        }
        peer.send(Message::Ping(b"1"[..].into())).unwrap();
        end.exchange(&mut server, &mut random, echo_server);
        assert_eq!(read_all(&mut peer), [Message::Pong(b"1"[..].into())]);

        let frame = CloseFrame { code: TheirCode::Away, reason: "bye".into() };
        peer.close(Some(frame)).unwrap();
        let ending = end.exchange(&mut server, &mut random, echo_server);
        let code = Some(CloseCode::GOING_AWAY);
        assert_eq!(ending, (vec![OwnedEvent::Closed(Closed::Remote { code, reason: "bye".into() })], true));
        assert!(
            matches!(read_all(&mut peer).as_slice(), [Message::Close(Some(frame))] if frame.code == TheirCode::Away)
        );
    }
}

#[test]
fn our_client_talks_to_their_server() {
    for seed in 0..4 {
        let mut random = Random::new(seed);
        let (mut client, end, mut peer) = our_client(&mut random);
        for message in messages() {
            peer.send(message.clone()).unwrap();
            while !end.outgoing.borrow().is_empty() {
                end.exchange(&mut client, &mut random, echo_client);
            }
            assert_eq!(read_all(&mut peer), [message], "seed {seed}");
        }
        client.sender().ping(b"2").unwrap();
        client.sender().close(CloseCode::NORMAL, "done").unwrap();
        end.exchange(&mut client, &mut random, echo_client);
        let found = read_all(&mut peer);
        let expected = CloseFrame { code: TheirCode::Normal, reason: "done".into() };
        assert_eq!(found, [Message::Ping(b"2"[..].into()), Message::Close(Some(expected))]);
        let _ = peer.flush();
        let (events, is_closed) = end.exchange(&mut client, &mut random, echo_client);
        assert_eq!(events.last(), Some(&OwnedEvent::Closed(Closed::Local { clean: true })));
        assert!(is_closed);
    }
}

#[test]
fn their_parser_reads_our_random_messages() {
    let mut random = Random::new(77);
    let config = WebSocketConfig::default();
    let (mut server, ..) = our_server(&mut random);
    let mut sent = Vec::new();
    for _ in 0..200 {
        let len = if random.one_in(10) { random.below(70_000) } else { random.below(300) };
        let bytes = random.bytes(len);
        server.sender().binary(&bytes).unwrap();
        sent.push(Message::binary(bytes));
    }
    let end = End::default();
    end.incoming.borrow_mut().extend(waiting(&mut server));
    let mut peer = WebSocket::from_raw_socket(end, Role::Client, Some(config));
    assert_eq!(read_all(&mut peer), sent);
}

/// Both implementations judge random frames alike, except for rules that only this crate enforces.
#[test]
fn both_judge_the_same_frames_alike() {
    let mut agreed = 0;
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let bytes = random_frames(&mut random);
        let end = End::default();
        end.incoming.borrow_mut().extend(&bytes);
        let mut peer = WebSocket::from_raw_socket(end, Role::Server, None);
        let mut theirs = Vec::new();
        let their_end = loop {
            match peer.read() {
                Ok(Message::Close(_)) => break "closed",
                Ok(message) => theirs.push(message),
                Err(tungstenite::Error::Io(_)) => break "more",
                Err(_) => break "error",
            }
        };

        let (mut server, ..) = our_server(&mut random);
        server.feed(Time::ZERO, &bytes);
        let mut ours = Vec::new();
        let mut our_end = "more";
        for event in drain(&mut server) {
            match event {
                OwnedEvent::Text(text) => ours.push(Message::text(text)),
                OwnedEvent::Binary(bytes) => ours.push(Message::binary(bytes)),
                OwnedEvent::Ping(bytes) => ours.push(Message::Ping(bytes.into_vec().into())),
                OwnedEvent::Pong(bytes) => ours.push(Message::Pong(bytes.into_vec().into())),
                OwnedEvent::Closed(Closed::Remote { .. }) => our_end = "closed",
                OwnedEvent::Closed(Closed::ProtocolError(_)) => our_end = "error",
                other => panic!("seed {seed}: {other:?}"),
            }
        }
        // tungstenite waits for the rest of a header, or answers an invalid close code as if it
        // were valid.
        let stricter = our_end == "error" && their_end != "error";
        if stricter {
            assert!(theirs.starts_with(&ours), "seed {seed}");
        } else {
            assert_eq!((ours, our_end), (theirs, their_end), "seed {seed}: {}", bytes.escape_ascii());
            agreed += 1;
        }
    }
    assert!(agreed > 2000, "they agree on {agreed} of 3000");
}

/// Returns a few frames, mostly valid.
fn random_frames(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..=random.below(6) {
        let first = match random.below(12) {
            0 => random.bytes(1)[0],
            1 => 0x88,
            2 | 3 => 0x89,
            4 => 0x8a,
            5 | 6 => 0x01,
            7 => 0x00,
            8 => 0x80,
            9 => 0x82,
            _ => 0x81,
        };
        let len = random.below(20);
        let payload = match random.below(4) {
            0 => random.bytes(len),
            1 => "\u{1f980}".as_bytes()[..random.below(5)].to_vec(),
            2 if first == 0x88 => b"\x03\xe8fine".to_vec(),
            _ => vec![b'a'; len],
        };
        bytes.extend(crate::support::frames::masked(first, &payload));
    }
    if random.one_in(5) {
        bytes.truncate(random.below(bytes.len() + 1));
    }
    bytes
}
