//! A WebSocket server that says everything back: any number of connections, one thread, one `Poll`.
//!
//! `ws_echo --port N [--subprotocol P]` listens on 127.0.0.1; port 0 lets the system choose. It prints
//! `{"event":"listening","port":N}` once it does. The sub-protocol is chosen where a client offers it.
//!
//! It lets in whoever reaches the port, a web page included: an editor uses `ide_mcp_mio::Server`, which does not.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

use ide_mcp::{Clock, ws};
use ide_mcp_mio::Conn;
use lexopt::prelude::*;
use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};

const LISTENER: Token = Token(0);

fn main() -> Result<(), Box<dyn Error>> {
    let (port, subprotocol) = options()?;
    let mut poll = Poll::new()?;
    let mut listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    ide_mcp_examples::say(&format!(r#"{{"event":"listening","port":{}}}"#, listener.local_addr()?.port()));

    let (clock, mut events) = (Clock::new(), Events::with_capacity(256));
    let (mut conns, mut last) = (BTreeMap::<Token, Conn<ws::Server>>::new(), LISTENER);
    loop {
        // Wait for a socket, or for the first thing that is due.
        let deadline = conns.values().filter_map(|conn| conn.deadline(clock.now())).min();
        match poll.poll(&mut events, clock.until(deadline)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            if let Some(conn) = conns.get_mut(&event.token()) {
                conn.handle(event);
            }
        }
        let now = clock.now();
        // Readiness comes once for all that wait.
        while let Ok((stream, _)) = listener.accept() {
            last = Token(last.0.wrapping_add(1).max(1));
            let machine = ws::Server::new(ws::Limits::default(), now);
            if let Ok(conn) = Conn::new(stream, machine, poll.registry(), last) {
                conns.insert(last, conn);
            }
        }
        for conn in conns.values_mut() {
            conn.turn(now, |machine, event| echo(machine, event, subprotocol.as_deref()));
        }
        conns.retain(|_, conn| !conn.is_over());
    }
}

fn echo(machine: &mut ws::Server, event: ws::OwnedEvent, subprotocol: Option<&str>) {
    // What cannot be sent any more was asked for by somebody who has gone.
    match event {
        ws::OwnedEvent::Upgrade(upgrade) => {
            let chosen = subprotocol.filter(|offered| upgrade.request().offers(offered));
            let _ = machine.accept(chosen);
        }
        ws::OwnedEvent::Text(text) => {
            let _ = machine.sender().text(&text);
        }
        ws::OwnedEvent::Binary(bytes) => {
            let _ = machine.sender().binary(&bytes);
        }
        _ => {}
    }
}

fn options() -> Result<(u16, Option<String>), lexopt::Error> {
    let (mut parser, mut port, mut subprotocol) = (lexopt::Parser::from_env(), None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("port") => port = Some(parser.value()?.parse()?),
            Long("subprotocol") => subprotocol = Some(parser.value()?.string()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok((port.ok_or("--port is missing")?, subprotocol))
}
