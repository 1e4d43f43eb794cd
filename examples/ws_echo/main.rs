//! A WebSocket server that says everything back: text as text, binary as binary, any number of connections.
//!
//! `ws_echo --port N [--subprotocol P] [--adapter mio|blocking]` listens on 127.0.0.1; port 0 lets the system choose.
//! It prints `{"event":"listening","port":N}` once it does. The sub-protocol is chosen where a client offers it. The
//! same machine is driven by either adapter: by `mio` (the default) on one thread, by `blocking` on a thread a
//! connection. SIGTERM and SIGINT end it: every client is told 1001, and it exits with 0.
//!
//! It lets in whoever reaches the port, a web page included: an editor uses `ide_mcp_mio::Server`, which does not.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod on_mio;
mod on_threads;

use ide_mcp::ws;
use lexopt::prelude::*;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            ide_mcp_examples::complain("ws_echo", &error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::from_env()?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
    match options.adapter {
        Adapter::Mio => on_mio::serve(address, options.subprotocol.as_deref())?,
        Adapter::Blocking => on_threads::serve(address, options.subprotocol.as_deref())?,
    }
    Ok(())
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

/// Calls `stop` on a thread of its own once a signal asks to end.
fn on_signal(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        if signals.wait().next().is_some() {
            stop();
        }
    });
    Ok(())
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
    fn from_env() -> Result<Self, lexopt::Error> {
        let mut parser = lexopt::Parser::from_env();
        let (mut port, mut subprotocol, mut adapter) = (None, None, Adapter::Mio);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("port") => port = Some(parser.value()?.parse()?),
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
        Ok(Self { port: port.ok_or("--port is missing")?, subprotocol, adapter })
    }
}
