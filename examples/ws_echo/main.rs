//! A WebSocket server that says everything back: text as text, binary as binary, any number of connections.
//!
//! The same machine is driven by either adapter: by `mio` on one thread, by `blocking` on a thread a connection.
//! `ws_echo --help` says how it is used, and what its exit status means.
//!
//! It lets in whoever reaches the port, a web page included: an editor uses `ide_mcp_mio::Server`, which does not.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod on_mio;
mod on_threads;

use ide_mcp::ws;
use ide_mcp_examples::{Program, parse_port};
use lexopt::prelude::*;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

const USAGE: &str = "\
Listen for WebSocket clients on 127.0.0.1, and say everything back.

usage: ws_echo --port N [--subprotocol P] [--adapter mio|blocking]

  --port N          listen on this port; 0 is one that is free
  --subprotocol P   choose this one where a client offers it
  --adapter A       mio (default) has one thread, blocking has one for each connection

Once it listens it prints {\"event\":\"listening\",\"port\":N}. It lets in whoever reaches the port, a web page included.
It ends with SIGINT or SIGTERM, and every client gets a close frame (1001).

exit status: 0; 1 if it cannot listen, or not go on; 2 if the command line is wrong";

const PROGRAM: Program = Program::new("ws_echo", USAGE);

fn main() -> ExitCode {
    PROGRAM.main(Options::parse, |options| {
        let (address, subprotocol) =
            (SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)), options.subprotocol.as_deref());
        PROGRAM.done(match options.adapter {
            Adapter::Mio => on_mio::serve(address, subprotocol),
            Adapter::Blocking => on_threads::serve(address, subprotocol),
        })
    })
}

/// The application: what is done about an event is the same for every adapter.
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

/// Tells a client that the server goes away; false if it has not come in yet, so that there is nothing to end in order.
fn say_goodbye(machine: &mut ws::Server) -> bool {
    // A connection that is ending already refuses, and goes on ending.
    machine.sender().close(ws::CloseCode::GOING_AWAY, "") != Err(ws::SendError::NotOpen)
}

fn say_listening(address: SocketAddr) {
    ide_mcp_examples::say(&format!(r#"{{"event":"listening","port":{}}}"#, address.port()));
}

struct Options {
    port: u16,
    subprotocol: Option<String>,
    adapter: Adapter,
}

#[derive(Clone, Copy)]
enum Adapter {
    Mio,
    Blocking,
}

impl Options {
    /// `None` if help was asked for.
    fn parse(mut parser: lexopt::Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut port, mut subprotocol, mut adapter) = (None, None, Adapter::Mio);
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Long("port") => port = Some(parse_port(&parser.value()?, 0)?),
                Long("subprotocol") => subprotocol = Some(parser.value()?.string()?),
                Long("adapter") => {
                    adapter = match parser.value()?.string()?.as_str() {
                        "mio" => Adapter::Mio,
                        "blocking" => Adapter::Blocking,
                        _ => return Err("--adapter is mio or blocking".into()),
                    }
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(Some(Self { port: port.ok_or("--port is missing")?, subprotocol, adapter }))
    }
}
