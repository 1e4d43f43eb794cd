//! An editor's server as a task of smol, on the same thread as another task of the application.
//!
//! The future of `next_event` can be dropped at any time, so it can race another one: here, a signal.
//! `cargo run --example smol_loop`; Ctrl-C ends it.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp_smol::Server;
use ide_mcp_smol::ide::kit::display_safe;
use ide_mcp_smol::ide::tool::{Tool, ToolCall};
use ide_mcp_smol::ide::{ServerConfig, ServerEvent};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use smol::future::FutureExt as _;
use std::error::Error;
use std::time::Duration;

/// The result of the race.
enum Next {
    Event(Option<ServerEvent>),
    Quit,
}

fn main() -> Result<(), Box<dyn Error>> {
    let executor = smol::LocalExecutor::new();
    // Another task of the application, on the same thread.
    executor
        .spawn(async {
            loop {
                smol::Timer::after(Duration::from_secs(60)).await;
                println!("another minute");
            }
        })
        .detach();
    smol::block_on(executor.run(serve()))
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let tools = [Tool::OpenDiff];
    let mut server = Server::start(ServerConfig::new("smol loop", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}", server.local_addr().port());

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let mut quit = smol::unblock(move || signals.forever().next());
    while !server.is_over() {
        let next = async { Next::Event(server.next_event().await) };
        let is_signalled = async {
            (&mut quit).await;
            Next::Quit
        };
        match next.or(is_signalled).await {
            Next::Event(Some(event)) => handle_event(&mut server, event).await,
            Next::Event(None) => {}
            Next::Quit => {
                server.shutdown();
                // The future of the signal has completed. From here on only events end the wait.
                quit = smol::spawn(smol::future::pending());
            }
        }
    }
    Ok(())
}

async fn handle_event(server: &mut Server, event: ServerEvent) {
    match event {
        ServerEvent::Ready { client, .. } => {
            let name = client.map_or_else(|| "a client".into(), |client| client.name);
            println!("{} is attached", display_safe(&name));
        }
        ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
            // A quick decision can be awaited here, but the server makes no progress in the meantime.
            smol::Timer::after(Duration::from_millis(10)).await;
            let _ = server.machine_mut().answer(call, diff.accept());
        }
        _ => {}
    }
}
