//! An editor that draws sixty frames a second, such as a game or an immediate-mode interface (egui, bevy,
//! imgui): it lets its server run once in each frame. This works on every system.
//!
//! A frame without traffic costs one system call. `cargo run --example frame_loop`; Ctrl-C ends it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::wildcard_enum_match_arm,
    reason = "it shows what it does"
)]

use ide_mcp_mio::NestedServer;
use ide_mcp_mio::ide::kit::display_safe;
use ide_mcp_mio::ide::tool::{Tool, ToolCall};
use ide_mcp_mio::ide::{LockFileEvent, Server, ServerConfig, ServerEvent};
use ide_mcp_mio::rpc::ErrorObject;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> Result<(), Box<dyn Error>> {
    let tools = [Tool::OpenDiff];
    let mut server = NestedServer::start(ServerConfig::new("frames", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}", server.server().local_addr().port());

    let quit = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register(signal, Arc::clone(&quit))?;
    }
    while !server.is_over() {
        if quit.swap(false, Ordering::Relaxed) {
            server.shutdown();
        }
        server.dispatch(handle_event)?;
        // Draw here. Report what the person does in this frame to `server.machine_mut()`; the next frame
        // sends it.
        thread::sleep(FRAME);
    }
    Ok(())
}

fn handle_event(server: &mut Server, event: ServerEvent) {
    let call = match event {
        ServerEvent::Call { call, .. } => call,
        ServerEvent::LockFile(LockFileEvent::Failed { error }) => {
            return eprintln!("frame_loop: the lock file: {}", display_safe(&error));
        }
        _ => return,
    };
    // An error means that the agent has gone or has cancelled the call.
    let _ = match call {
        // A real editor keeps the call, shows the diff, and answers in the frame in which the person decides.
        ToolCall::OpenDiff(call, diff) => server.answer(call, diff.accept()),
        other => server.call(other).fail(ErrorObject::method_not_found("this editor does not have the tool")),
    };
}
