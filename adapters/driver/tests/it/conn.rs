//! A server and a client, each on a `Conn`, joined by pipes that take few bytes at a time, block, or break.
//! Time is virtual.

use crate::support::{End, Fault, pair};
use ide_mcp::{Time, ws};
use ide_mcp_driver::{Conn, Link};
use std::fmt;
use std::io::ErrorKind;
use std::time::Duration;

type Server = Conn<ws::Server, End>;
type Client = Conn<ws::Client, End>;

fn joined(capacity: usize) -> (Server, Client) {
    let (near, far) = pair(capacity);
    let server = ws::Server::new(ws::Limits::default(), Time::ZERO);
    let client = ws::Client::new(
        ws::ClientRequest::new("127.0.0.1:1"),
        getrandom::fill,
        ws::Limits::default(),
        Time::ZERO,
    )
    .unwrap();
    (Conn::new(server, Link::new(near)), Conn::new(client, Link::new(far)))
}

/// The events of the two applications.
#[derive(Default)]
struct Seen {
    echoed: Vec<String>,
    server: Vec<ws::Closed>,
    client: Vec<ws::Closed>,
    turns: usize,
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { echoed, server, client, turns } = self;
        write!(f, "{} echoes in {turns} turns, server {server:?}, client {client:?}", echoed.len())
    }
}

/// Runs both sides, and advances the time by a millisecond when no byte moves. The server echoes; the client
/// sends the texts, and closes after the last echo.
fn run(server: &mut Server, client: &mut Client, texts: &[String]) -> Seen {
    run_by(server, client, texts, usize::MAX)
}

/// Runs both sides as [`run`] does, but the server leaves a turn after `at_most` events and continues it
/// later.
fn run_by(server: &mut Server, client: &mut Client, texts: &[String], at_most: usize) -> Seen {
    let (mut now, mut seen) = (Time::ZERO, Seen::default());
    while !(server.is_over() && client.is_over()) {
        seen.turns += 1;
        assert!(seen.turns < 200_000, "never idle: {seen:?}");
        let before = server.link().socket().moves();
        server.ready();
        let mut taken = 0;
        while taken < at_most {
            let Some(event) = server.event_of_turn(now) else { break };
            taken += 1;
            match event {
                ws::OwnedEvent::Upgrade(_) => server.machine_mut().accept(None).unwrap(),
                ws::OwnedEvent::Text(text) => server.machine_mut().sender().text(&text).unwrap(),
                ws::OwnedEvent::Closed(closed) => seen.server.push(closed),
                _ => {}
            }
        }
        if taken == at_most {
            assert_eq!(server.deadline(now), Some(now), "the turn has not ended yet");
        }
        client.ready();
        client.turn(now, |machine, event| match event {
            ws::OwnedEvent::Open { .. } => {
                for text in texts {
                    machine.sender().text(text).unwrap();
                }
            }
            ws::OwnedEvent::Text(text) => {
                seen.echoed.push(text);
                if seen.echoed.len() == texts.len() {
                    machine.sender().close(ws::CloseCode::NORMAL, "").unwrap();
                }
            }
            ws::OwnedEvent::Closed(closed) => seen.client.push(closed),
            _ => {}
        });
        if server.link().socket().moves() == before {
            now = now.saturating_add(Duration::from_millis(1));
            assert!(now < Time::from_millis(60_000), "it takes too long: {seen:?}");
        }
        // A loop drops a connection that has ended. The other side then reads the end.
        let (server_over, client_over) = (server.is_over(), client.is_over());
        server.link_mut().socket_mut().close_if(server_over);
        client.link_mut().socket_mut().close_if(client_over);
    }
    seen
}

fn texts() -> Vec<String> {
    (0..64).map(|n| format!("{n} ").repeat(n * 3)).collect()
}

#[test]
fn messages_return_through_pipes_of_any_size() {
    for capacity in [1, 2, 7, 500, 100_000] {
        let (mut server, mut client) = joined(capacity);
        let seen = run(&mut server, &mut client, &texts());
        assert!(seen.echoed == texts(), "capacity {capacity}: {seen:?}");
        assert_eq!(seen.client, [ws::Closed::Local { clean: true }], "capacity {capacity}");
        assert!(matches!(&*seen.server, [ws::Closed::Remote { .. }]), "capacity {capacity}: {seen:?}");
    }
}

#[test]
fn interrupted_turn_continues_later() {
    for at_most in [1, 2, 5] {
        let (mut server, mut client) = joined(4000);
        let seen = run_by(&mut server, &mut client, &texts(), at_most);
        assert!(seen.echoed == texts(), "{at_most} at a time: {seen:?}");
        assert_eq!(seen.client, [ws::Closed::Local { clean: true }], "{at_most} at a time");
    }
}

#[test]
fn interrupted_and_blocked_calls_change_nothing() {
    for (name, kind) in [("interrupted", ErrorKind::Interrupted), ("would block", ErrorKind::WouldBlock)] {
        for seed in 0..8 {
            let (mut server, mut client) = joined(300);
            server.link_mut().socket_mut().fault = Fault::Often(seed, kind);
            client.link_mut().socket_mut().fault = Fault::Often(!seed, kind);
            let seen = run(&mut server, &mut client, &texts());
            assert!(seen.echoed == texts(), "{name}, seed {seed}: {seen:?}");
        }
    }
}

#[test]
fn error_at_any_call_ends_both_sides_once() {
    let mut whole = false;
    for n in 1..2000 {
        let (mut server, mut client) = joined(400);
        server.link_mut().socket_mut().fault = Fault::From(n, ErrorKind::ConnectionReset);
        let seen = run(&mut server, &mut client, &texts());
        assert_eq!((seen.server.len(), seen.client.len()), (1, 1), "call {n}: {seen:?}");
        assert!(texts().starts_with(&seen.echoed), "call {n}");
        whole = seen.echoed.len() == 64 && server.link().error().is_none();
        if whole {
            break;
        }
    }
    assert!(whole, "once the faulty call is after the last one, everything succeeds");
}

#[test]
fn deadline_is_now_only_while_work_is_left() {
    let (mut server, _client) = joined(100);
    assert_eq!(server.deadline(Time::ZERO), Some(Time::ZERO), "the socket was not read yet");
    server.turn(Time::ZERO, |_, _| {});
    assert_eq!(server.deadline(Time::ZERO), server.machine().deadline());
    assert!(server.deadline(Time::ZERO) > Some(Time::ZERO));
    server.ready();
    assert_eq!(server.deadline(Time::ZERO), Some(Time::ZERO), "the socket may be ready");
}
