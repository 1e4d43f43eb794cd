//! How a connection can end, in every state.

use crate::adapter::{Adapter, Editor as _};
use crate::plain::{Upto, contains, frame, read_all, script};
use crate::support::World;
use ide_mcp::{Time, ws};
use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A name, what the peer sends, how it ends the connection then, how the expected `Closed` begins, and the expected
/// error.
const ENDINGS: &[(&str, Upto, fn(TcpStream), &str, Option<ErrorKind>)] = &[
    ("the peer vanishes before the request", Upto::Nothing, drop, "Abnormal", None),
    ("the peer vanishes within the request", Upto::HalfRequest, drop, "Abnormal", None),
    ("the peer vanishes after the request", Upto::Open, finish, "Abnormal", None),
    ("the peer vanishes within a frame", Upto::HalfFrame, finish, "Abnormal", None),
    ("the peer closes", Upto::CloseFrame, finish, "Remote", None),
    ("a reset before the request", Upto::Nothing, reset_soon, "Abnormal", Some(ErrorKind::ConnectionReset)),
    ("a reset in the request", Upto::HalfRequest, reset_soon, "Abnormal", Some(ErrorKind::ConnectionReset)),
    ("a reset after the request", Upto::Open, reset_soon, "Abnormal", Some(ErrorKind::ConnectionReset)),
    ("a reset within a frame", Upto::HalfFrame, reset_soon, "Abnormal", Some(ErrorKind::ConnectionReset)),
    ("junk instead of a request", Upto::Nothing, junk_request, "Refused", None),
    ("junk instead of a frame", Upto::Open, junk_frame, "ProtocolError", None),
];

/// More than the server reads before it refuses, but no more than fits into the buffers of the socket: the
/// server lingers for a second, and must not wait that long for the peer's writes.
const JUNK: usize = 64 * 1024;

/// Sends junk; the refusal must arrive.
fn junk_request(mut stream: TcpStream) {
    let _ = stream.write_all(&[b'x'; JUNK]);
    assert!(read_all(&mut stream).starts_with(b"HTTP/1.1 431"));
}

/// Sends junk; a close frame with 1002 must arrive.
fn junk_frame(mut stream: TcpStream) {
    // The server stops reading at the first frame, so writing the rest may fail.
    let _ = stream.write_all(&[0xff; JUNK]);
    let all = read_all(&mut stream);
    assert!(all.starts_with(b"HTTP/1.1 101"));
    assert!(contains(&all, &[0x03, 0xea]), "a close frame with 1002, in {} bytes", all.len());
}

/// Shuts the write side down and reads to the end, since closing with unread bytes would be a reset.
fn finish(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    read_all(&mut stream);
}

/// Resets the connection, after a pause so that the reset does not overtake the bytes before it.
fn reset_soon(stream: TcpStream) {
    thread::sleep(Duration::from_millis(50));
    reset(stream);
}

/// Ends a connection by a reset.
fn reset(stream: TcpStream) {
    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// Tries the endings by a reset, or all others.
fn connections_end<A: Adapter>(by_reset: bool) {
    let token = ide_mcp_lockfile::new_token().unwrap();
    // How many bytes our side has sent before the end: none, or more than one write takes.
    let endings = ENDINGS.iter().filter(|(.., error)| error.is_some() == by_reset);
    let rounds = endings.flat_map(|ending| [0, 100_000].map(|size| (size, ending)));
    for (size, (name, upto, end, ends, expected)) in rounds {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (bytes, end) = (script(&token, addr.port(), *upto), *end);
        let peer = thread::spawn(move || {
            let mut stream = TcpStream::connect(addr).unwrap();
            stream.write_all(&bytes).unwrap();
            end(stream);
        });
        let (mut closed, machine) = (Vec::new(), ws::Server::new(ws::Limits::default(), Time::ZERO));
        let error = A::accept(listener.accept().unwrap().0, machine, |machine, event| match event {
            ws::OwnedEvent::Upgrade(_) => {
                machine.accept(None).unwrap();
                machine.sender().text(&"x".repeat(size)).unwrap();
            }
            ws::OwnedEvent::Closed(end) => closed.push(end),
            _ => {}
        });
        peer.join().unwrap();
        assert_eq!(error, *expected, "{name}, {size} B");
        let as_expected = matches!(&*closed, [end] if format!("{end:?}").starts_with(ends));
        assert!(as_expected, "{name}, {size} B: {closed:?}");
    }
}

pub(crate) fn one_connection_ends_by_a_reset<A: Adapter>() {
    connections_end::<A>(true);
}

pub(crate) fn one_connection_ends_in_every_way<A: Adapter>() {
    connections_end::<A>(false);
    let token = ide_mcp_lockfile::new_token().unwrap();
    // Our side closes, and the peer answers or does not.
    for (name, answers) in [("the peer answers", true), ("the peer does not answer", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let (open, bye) = (script(&token, addr.port(), Upto::Open), frame(0x88, &[0x03, 0xe8]));
        let peer = thread::spawn(move || {
            let mut stream = TcpStream::connect(addr).unwrap();
            stream.write_all(&open).unwrap();
            if answers {
                stream.write_all(&bye).unwrap();
            }
            read_all(&mut stream)
        });
        let mut limits = ws::Limits::default();
        limits.close = Duration::from_millis(200);
        let mut closed = Vec::new();
        A::accept(listener.accept().unwrap().0, ws::Server::new(limits, Time::ZERO), |machine, event| {
            match event {
                ws::OwnedEvent::Upgrade(_) => {
                    machine.accept(None).unwrap();
                    machine.sender().close(ws::CloseCode::GOING_AWAY, "").unwrap();
                }
                ws::OwnedEvent::Closed(end) => closed.push(end),
                _ => {}
            }
        });
        assert!(contains(&peer.join().unwrap(), &[0x88, 0x02, 0x03, 0xe9]), "{name}");
        assert_eq!(closed, [ws::Closed::Local { clean: answers }], "{name}");
    }
}

pub(crate) fn unused_address_refuses_connection<A: Adapter>() {
    // The local address of a connection has no listener, and no other program can listen there while the connection
    // exists.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let held = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let addr = held.local_addr().unwrap();
    let request = ws::ClientRequest::new(addr.to_string());
    let machine = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO).unwrap();
    let mut events = Vec::new();
    let refused = match A::connect(addr, machine, |_, event| events.push(event)) {
        Ok(error) => {
            assert_eq!(events, [ws::OwnedEvent::Closed(ws::Closed::Abnormal)]);
            error
        }
        // An adapter that waits in `connect` returns the error itself.
        Err(error) => Some(error.kind()),
    };
    assert_eq!(refused, Some(ErrorKind::ConnectionRefused));
}

pub(crate) fn junk_is_answered_with_a_close_frame<A: Adapter>() {
    let mut world = World::<A>::new();
    let stream = world.plain(Upto::Open);
    world.serve(thread::spawn(|| junk_frame(stream)));
    world.until(|world| world.connections() == 0);
    assert!(matches!(&*world.seen.closed, [(_, ws::Closed::ProtocolError(_))]), "{:?}", world.seen.closed);
}

/// The server counts one ended connection for each combination, and still works afterwards.
pub(crate) fn server_survives_every_ending_in_every_state<A: Adapter>() {
    let mut world = World::<A>::new();
    let mut ended = 0;
    for upto in Upto::ALL {
        for (name, end) in [("vanishes", drop as fn(TcpStream)), ("resets", reset), ("closes its half", half)]
        {
            let stream = world.plain(upto);
            world.until(|world| world.has_handled(ended, upto));
            end(stream);
            ended += 1;
            world.until(|world| world.ended() == ended && world.connections() == 0);
            let closed = world.seen.closed.last().map(|(_, closed)| closed);
            let expected = match upto {
                Upto::Nothing | Upto::HalfRequest => closed.is_none(),
                Upto::CloseFrame => matches!(closed, Some(ws::Closed::Remote { .. })),
                _ => closed == Some(&ws::Closed::Abnormal),
            };
            assert!(expected, "a peer that {name} after {upto:?}: {closed:?}");
            assert!(world.seen.open.is_empty(), "a diff stays open after a peer that {name}");
        }
    }
}

/// What a peer has sent before it ends its stream is answered, as with `nc -N` or a pipe, whenever the end
/// arrives. `ROUNDS` sets the number of rounds, 20 by default.
pub(crate) fn requests_before_the_end_are_answered<A: Adapter>() {
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    let mut world = World::<A>::new();
    for round in 0..rounds {
        if round % 100 == 0 {
            world = World::new();
            world.seen.answers_late = true;
        }
        let mut stream = world.plain(Upto::Initialized);
        let random = getrandom::u64().unwrap();
        let peer = thread::spawn(move || {
            let pause = |at: u32| thread::sleep(Duration::from_micros(random >> at & 0x7ff));
            pause(0);
            let mut bytes = frame(0x81, br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#);
            for id in 10..15 {
                let call = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"getDiagnostics","arguments":{{}}}}}}"#
                );
                bytes.extend(frame(0x81, call.as_bytes()));
            }
            // In one piece or in two.
            let (first, rest) = bytes.split_at(if random >> 60 > 7 { bytes.len() } else { 100 });
            stream.write_all(first).unwrap();
            pause(11);
            stream.write_all(rest).unwrap();
            pause(22);
            stream.shutdown(Shutdown::Write).unwrap();
            read_all(&mut stream)
        });
        let all = world.serve(peer);
        for id in [0, 7, 10, 11, 12, 13, 14] {
            let answer = format!(r#""id":{id},"result""#);
            assert!(contains(&all, answer.as_bytes()), "round {round}: {id} is not answered");
        }
        world.until(|world| world.connections() == 0);
    }
}

/// Shuts the write side down, and closes once the server has closed.
fn half(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    thread::spawn(move || read_all(&mut stream));
}

impl<A: Adapter> World<A> {
    /// Returns how many connections have ended, including those that were never admitted.
    fn ended(&mut self) -> usize {
        let unauthenticated = self.editor.machine_mut().unauthenticated().total();
        self.seen.closed.len() + usize::try_from(unauthenticated).unwrap()
    }

    /// Returns true if the server has handled the bytes of a plain peer. `ended` is how many connections had ended
    /// before.
    pub(crate) fn has_handled(&mut self, ended: usize, upto: Upto) -> bool {
        match upto {
            Upto::Nothing | Upto::HalfRequest => self.connections() == 1,
            Upto::Open | Upto::HalfFrame => self.attached() == 1,
            Upto::Initialized => self.attached() == 1 && !self.seen.ready.is_empty(),
            Upto::OpenDiff => !self.seen.open.is_empty(),
            Upto::CloseFrame => self.ended() > ended,
        }
    }
}
