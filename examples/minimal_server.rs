//! The smallest editor that an agent can attach to: it accepts every proposal.
//!
//! `cargo run --example minimal_server`, then `ide-mcp agent tools` in the same folder. Enter ends it.
//! Ctrl-C would leave its lock file behind; `blocking_loop` shows how to handle signals.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_blocking::ide::{ServerEvent, Tool, ToolCall};
use ide_mcp_blocking::{EditorOptions, Server};
use std::{error::Error, io, thread};

fn main() -> Result<(), Box<dyn Error>> {
    // `Tool::GetDiagnostics` is for an editor that knows problems (`mio_loop`, `context`): an agent takes an empty
    // answer for "no problems".
    let tools = [Tool::OpenDiff];
    let mut server = Server::start(EditorOptions::new("minimal", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}; Enter ends it", server.port());

    let handle = server.handle();
    thread::spawn(move || io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));

    while !server.is_over() {
        let Some(call) = server.next_event().and_then(ServerEvent::into_call) else { continue };
        let host = server.machine_mut();
        // An error means that the agent has gone or has cancelled the call: nobody waits for the answer.
        let _ = match call {
            // The agent writes the file. If the editor writes it as well, the agent's next edit fails.
            ToolCall::OpenDiff(call, diff) => host.answer(call, &diff.accept()),
            other => host.call(other).fail(-32601, "this editor does not have the tool"),
        };
    }
    Ok(())
}
