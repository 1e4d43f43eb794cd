//! What the Autobahn test suite examines, for tests/lab/autobahn/run.sh: an echo server on the adapter for mio or on
//! the blocking one, or a client.
//!
//! ```text
//! autobahn mio | blocking     serves on a free port of 127.0.0.1, which it prints
//! autobahn HOST:PORT AGENT    lets the server there examine it, under the name AGENT
//! ```

#![allow(clippy::wildcard_enum_match_arm, clippy::print_stdout, reason = "a test program")]

use ide_mcp::ws::{self, OwnedEvent};
use ide_mcp::{Clock, Time};
use ide_mcp_mio::mio::net::TcpListener;
use ide_mcp_mio::mio::{Events, Interest, Poll, Token};
use std::collections::BTreeMap;
use std::error::Error;
use std::{env, io, net, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["mio"] => Ok(serve_on_mio()?),
        ["blocking"] => Ok(serve_on_threads()?),
        [server, agent] => examine(server, agent),
        _ => Err("usage: autobahn mio | blocking | HOST:PORT AGENT".into()),
    }
}

/// Serves all connections on one thread.
fn serve_on_mio() -> io::Result<()> {
    const LISTENER: Token = Token(0);
    let mut poll = Poll::new()?;
    let mut listener = TcpListener::bind(([127, 0, 0, 1], 0).into())?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    println!("\"port\":{}", listener.local_addr()?.port());

    let (clock, mut events) = (Clock::new(), Events::with_capacity(256));
    let mut conns = BTreeMap::new();
    let mut next = LISTENER.0;
    loop {
        let deadline =
            conns.values().filter_map(|conn: &ide_mcp_mio::Conn<_>| conn.deadline(clock.now())).min();
        poll.poll(&mut events, clock.until(deadline))?;
        for event in &events {
            if let Some(conn) = conns.get_mut(&event.token()) {
                conn.handle_event(event);
            }
        }
        let now = clock.now();
        while let Ok((stream, _)) = listener.accept() {
            next = next.wrapping_add(1);
            let machine = ws::Server::new(ws::Limits::default(), now);
            let conn = ide_mcp_mio::Conn::new(stream, machine, poll.registry(), Token(next))?;
            conns.insert(Token(next), conn);
        }
        for conn in conns.values_mut() {
            conn.turn(now, serve);
        }
        conns.retain(|_, conn| !conn.is_over());
    }
}

/// Serves each connection on a thread of its own.
fn serve_on_threads() -> io::Result<()> {
    let listener = net::TcpListener::bind(("127.0.0.1", 0))?;
    println!("\"port\":{}", listener.local_addr()?.port());
    for stream in listener.incoming() {
        let machine = ws::Server::new(ws::Limits::default(), Time::ZERO);
        let mut conn = ide_mcp_blocking::Conn::from_stream(stream?, machine)?;
        thread::spawn(move || {
            while let Some(event) = conn.next_event() {
                serve(conn.machine_mut(), event);
            }
        });
    }
    Ok(())
}

fn serve(server: &mut ws::Server, event: OwnedEvent) {
    match event {
        // An error means that the connection has ended in the meantime.
        OwnedEvent::Upgrade(_) => drop(server.accept(None)),
        OwnedEvent::Text(text) => drop(server.sender().text(&text)),
        OwnedEvent::Binary(bytes) => drop(server.sender().binary(&bytes)),
        _ => {}
    }
}

/// Lets the server examine the client, case by case, and then write its report.
fn examine(server: &str, agent: &str) -> Result<(), Box<dyn Error>> {
    let mut count = None;
    converse(server, "/getCaseCount", |_, event| {
        if let OwnedEvent::Text(text) = event {
            count = text.parse().ok();
        }
    })?;
    let count = count.ok_or("the server does not report the number of its cases")?;
    for case in 1..=count {
        converse(server, &format!("/runCase?case={case}&agent={agent}"), |client, event| match event {
            OwnedEvent::Text(text) => drop(client.sender().text(&text)),
            OwnedEvent::Binary(bytes) => drop(client.sender().binary(&bytes)),
            _ => {}
        })?;
    }
    converse(server, &format!("/updateReports?agent={agent}"), |_, _| {})
}

/// Passes every event of a connection to `on`, up to its end, which the server examines too.
fn converse(
    server: &str,
    target: &str,
    mut on: impl FnMut(&mut ws::Client, OwnedEvent),
) -> Result<(), Box<dyn Error>> {
    let request = ws::ClientRequest::new(server).target(target);
    let machine = ws::Client::new(request, getrandom::fill, ws::Limits::default(), Time::ZERO)?;
    let mut conn = ide_mcp_blocking::Conn::connect(server, machine)?;
    while let Some(event) = conn.next_event() {
        if let OwnedEvent::Closed(ws::Closed::NotAccepted(error)) = &event {
            return Err(format!("{target}: {error}").into());
        }
        on(conn.machine_mut(), event);
    }
    Ok(())
}
