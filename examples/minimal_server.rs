//! The smallest editor that an agent can attach to: it accepts every proposal.
//!
//! `cargo run --example minimal_server`, then `cargo run -- agent tools` in the same folder. Enter
//! ends it. Ctrl-C would leave its lock file behind; `mio_loop` shows how to handle signals.

#![allow(
    clippy::print_stdout,
    clippy::wildcard_enum_match_arm,
    reason = "it shows what it does, and answers what it lists"
)]

use ide_mcp_mio::Clock;
use ide_mcp_mio::ide::{HostConfig, HostEvent, LockFile, Policy};
use ide_mcp_mio::ide::{ServerConfig, ServerEvent, Tool, ToolCall, ToolSet};
use ide_mcp_mio::lockfile::{LockDir, new_token, workspace_folders};
use ide_mcp_mio::mcp::Implementation;
use ide_mcp_mio::{Bind, Server, Waker, mio};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{io, process, thread};

fn main() -> Result<(), Box<dyn Error>> {
    // The tools for agents, and the policy: an agent attaches with the token from the lock file.
    let token = new_token()?;
    // Add `Tool::GetDiagnostics` if the editor has diagnostics: an agent takes an empty list for "no
    // problems".
    let tools = ToolSet::new().handle(Tool::OpenDiff);
    let name = Implementation::new("minimal", "1.0");
    let config = HostConfig::new(ServerConfig::new(name, Policy::new(0, token.clone()), tools));

    // Listen first, publish second, so that a client that finds the lock file can connect.
    let mut poll = mio::Poll::new()?;
    let mut server = Server::bind(Bind::AnyPort, config, poll.registry(), mio::Token(1))?;
    let file = LockFile::new(process::id(), workspace_folders(["."])?, "Minimal", token);
    server.publish(&LockDir::from_environment()?, &file)?;

    println!("listening on port {}; Enter ends it", server.port());

    // The Enter key ends the program: the thread sets the flag, and then wakes the loop. The thread
    // has a clone of the waker, because dropping the last waker would drop its wake-ups as well.
    let quit = Arc::new(AtomicBool::new(false));
    let waker = Waker::new(poll.registry(), mio::Token(0))?;
    thread::spawn({
        let (quit, waker) = (Arc::clone(&quit), waker.clone());
        move || {
            let _ = io::stdin().read_line(&mut String::new());
            quit.store(true, Ordering::Release);
            waker.wake()
        }
    });

    let (clock, mut events) = (Clock::new(), mio::Events::with_capacity(64));
    while !server.is_over() {
        let wait = clock.until(server.deadline(clock.now()));
        match poll.poll(&mut events, wait) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error.into()),
            _ => {}
        }
        for event in &events {
            server.handle_event(event);
        }
        if quit.load(Ordering::Acquire) {
            server.shutdown(clock.now());
        }
        let now = clock.now();
        while let Some(event) = server.next_event(now) {
            let HostEvent::Agent { event: ServerEvent::Call(call), .. } = event else { continue };
            let host = server.host_mut();
            // An error means that the agent has gone or has cancelled the call, so nobody waits for
            // the answer.
            let _ = match call {
                // The agent writes the file. If the editor writes it as well, the next edit of the
                // agent fails.
                ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
                other => host.call(other).fail(-32601, "this editor shows diffs and nothing else"),
            };
        }
    }
    Ok(())
}
