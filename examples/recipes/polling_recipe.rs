//! An editor's server in a loop on the crate `polling`: one descriptor, watched level-triggered.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example polling_recipe`; Enter ends it.

use ide_mcp_mio::ide::{HostEvent, ServerEvent, Tool, ToolCall, ToolSet};
use ide_mcp_mio::{EditorOptions, NestedServer};
use polling::{Event, Events, PollMode, Poller};
use std::{error::Error, io, thread};

fn main() -> Result<(), Box<dyn Error>> {
    let editor =
        EditorOptions::new("polling", "1.0").folder(".").tools(ToolSet::new().handle(Tool::OpenDiff));
    let mut server = NestedServer::start(editor)?;
    println!("listening on port {}; Enter ends it", server.server().port());
    let handle = server.handle();
    thread::spawn(move || io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));
    let (poller, mut events) = (Poller::new()?, Events::new());
    // SAFETY: the server lives longer than the poller.
    unsafe { poller.add_with_mode(&server, Event::readable(0), PollMode::Level)? };
    while !server.is_over() {
        events.clear();
        poller.wait(&mut events, None)?;
        server.dispatch(|host, event| {
            let HostEvent::Agent { event: ServerEvent::Call(ToolCall::OpenDiff(call, diff)), .. } = event
            else {
                return;
            };
            let _ = host.answer(call, &diff.accept());
        })?;
    }
    Ok(())
}
