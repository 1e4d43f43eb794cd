//! An editor's server in a loop on the crate `polling`: one descriptor, watched level-triggered.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example polling_recipe`; Enter ends it.

use ide_mcp_mio::NestedServer;
use ide_mcp_mio::ide::ServerConfig;
use ide_mcp_mio::ide::tool::{Tool, ToolCall};
use polling::{Event, Events, PollMode, Poller};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut server = NestedServer::start(ServerConfig::new("poll", "1").folder(".").tools([Tool::OpenDiff]))?;
    println!("listening on port {}; Enter ends it", server.server().local_addr().port());
    let handle = server.handle();
    std::thread::spawn(move || std::io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));
    let poller = Poller::new()?;
    // SAFETY: the server is dropped after the poller.
    unsafe { poller.add_with_mode(&server, Event::readable(0), PollMode::Level)? };
    while !server.is_over() {
        poller.wait(&mut Events::new(), None)?;
        server.dispatch(|server, event| {
            // It accepts every proposal at once. An editor keeps the call, shows the diff, and answers when
            // the person has decided, as `tokio_recipe.rs` does.
            let Some(ToolCall::OpenDiff(call, diff)) = event.into_call() else { return };
            let _ = server.answer(call, diff.accept());
        })?;
    }
    Ok(())
}
