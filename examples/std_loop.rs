//! An editor without an adapter: the machine, `std::net`, and a loop of your own.
//!
//! `cargo run --example std_loop`, then `claude --ide` in the same folder. A real editor waits until a socket is ready,
//! with `poll(2)` or whatever its platform has; this one looks every 10 ms, so that you see only how to use the
//! machine. Ctrl+C ends it, but its lock file stays; `blocking_loop` shows how to remove it.

#![allow(clippy::print_stdout, reason = "the example shows what it does")]

use ide_mcp::ide::kit::display_line;
use ide_mcp::ide::tool::{Tool, ToolCall};
use ide_mcp::ide::{ConnId, Server, ServerConfig, ServerEvent};
use ide_mcp::rpc::ErrorObject;
use ide_mcp::{Clock, Output, Time};
use ide_mcp_lockfile::{LockDir, new_token, workspace_folders};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::{error::Error, process, thread, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let editor = ServerConfig::new("std loop", "1.0")
        .folders(workspace_folders(["."])?)
        .listening(port, new_token()?)
        .tools([Tool::OpenDiff]);
    // Agents find the editor by this file, which exists as long as this value.
    let _published = LockDir::from_environment()?.publish(port, &editor.lock_file(process::id()))?;
    println!("listening on port {port}");

    let (clock, mut server, mut sockets) = (Clock::new(), Server::new(editor), BTreeMap::new());
    loop {
        while let Ok((socket, _)) = listener.accept() {
            socket.set_nonblocking(true)?;
            sockets.insert(server.connect(clock.now()), socket);
        }
        let until = turn(&mut server, &mut sockets, clock.now(), on_event);
        let at_most = Duration::from_millis(10);
        thread::sleep(clock.until(until).map_or(at_most, |wait| wait.min(at_most)));
    }
}

/// Reads the sockets, does what the machine asks for, and returns when the next turn is due if no socket is ready
/// before.
pub fn turn<S: Read + Write>(
    server: &mut Server,
    sockets: &mut BTreeMap<ConnId, S>,
    now: Time,
    mut on_event: impl FnMut(&mut Server, ServerEvent),
) -> Option<Time> {
    for (conn, socket) in sockets.iter_mut() {
        server.read_from(now, *conn, socket);
    }
    loop {
        match server.poll(now) {
            Output::Event(event) => on_event(server, event),
            Output::Write { conn, .. } => match sockets.get_mut(&conn) {
                Some(socket) => server.write_to(now, conn, socket),
                None => server.feed_eof(now, conn),
            },
            Output::Close(conn) => drop(sockets.remove(&conn)),
            Output::Wait(until) => return until,
        }
    }
}

/// Accepts every proposal. You would show it to a person, keep the call, and answer when they have decided.
fn on_event(server: &mut Server, event: ServerEvent) {
    match event.into_call() {
        Some(ToolCall::OpenDiff(call, diff)) => {
            println!("accepting {}", display_line(&diff.new_file_path, 200));
            // An error means that the agent has gone.
            let _ = server.answer(call, diff.accept());
        }
        Some(other) => {
            let _ = server.call(other).fail(ErrorObject::method_not_found("this editor only shows diffs"));
        }
        None => {}
    }
}
