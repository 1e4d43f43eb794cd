//! An editor's server on its own thread, with two other threads: one stands in for a person who decides on
//! proposals, one waits for signals. Both use a handle of the server. `cargo run --example blocking_loop`;
//! Ctrl-C ends it.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_blocking::ide::kit::display_safe;
use ide_mcp_blocking::ide::tool::{Call, OpenDiff, Tool, ToolCall};
use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
use ide_mcp_blocking::{Handle, Server};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::error::Error;
use std::sync::mpsc::{self, Receiver, SendError, Sender};
use std::thread;

fn main() -> Result<(), Box<dyn Error>> {
    let tools = [Tool::OpenDiff];
    let mut server = Server::start(ServerConfig::new("blocking loop", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}", server.local_addr().port());

    let (proposals, proposed) = mpsc::channel();
    thread::spawn({
        let handle = server.handle();
        move || decide_all(&proposed, &handle)
    });
    let (mut signals, handle) = (Signals::new([SIGINT, SIGTERM])?, server.handle());
    thread::spawn(move || signals.forever().for_each(|_| handle.shutdown()));

    while !server.is_over() {
        // The thread sleeps here until bytes arrive, a timer is due or a handle is used.
        if let Some(event) = server.next_event() {
            handle_event(&mut server, event, &proposals);
        }
    }
    Ok(())
}

fn handle_event(server: &mut Server, event: ServerEvent, proposals: &Sender<(Call<OpenDiff>, OpenDiff)>) {
    match event {
        ServerEvent::Ready { client, .. } => {
            let name = client.map_or_else(|| "a client".into(), |client| client.name);
            println!("{} is attached", display_safe(&name));
        }
        // The answer comes later, from the other thread: a proposal that waits for a person delays nothing
        // else.
        ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
            let Err(SendError((call, _))) = proposals.send((call, diff)) else { return };
            let _ = server.machine_mut().call(call).fail("there is no person to decide");
        }
        _ => {}
    }
}

/// Stands in for a person who accepts every proposal unchanged.
fn decide_all(proposed: &Receiver<(Call<OpenDiff>, OpenDiff)>, handle: &Handle) {
    for (call, diff) in proposed {
        // If the agent has gone or has closed the diff, the answer does nothing.
        if handle.answer(call, diff.accept()).is_err() {
            return;
        }
    }
}
