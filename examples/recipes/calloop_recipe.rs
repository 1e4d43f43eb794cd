//! An editor's server in calloop's event loop: one descriptor.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example calloop_recipe`; Enter ends it.

use calloop::generic::Generic;
use calloop::{EventLoop, Interest, Mode, PostAction};
use ide_mcp_mio::NestedServer;
use ide_mcp_mio::ide::tool::{Tool, ToolCall};
use ide_mcp_mio::ide::{Server, ServerConfig, ServerEvent};
use ide_mcp_mio::rpc::ErrorObject;
use std::{error::Error, io, os::fd::AsFd as _};

fn main() -> Result<(), Box<dyn Error>> {
    let tools = [Tool::OpenDiff];
    let mut server = NestedServer::start(ServerConfig::new("calloop", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}; Enter ends it", server.server().local_addr().port());

    let mut outer: EventLoop<'_, NestedServer> = EventLoop::try_new()?;
    let signal = outer.get_signal();
    let descriptor = Generic::new(server.as_fd().try_clone_to_owned()?, Interest::READ, Mode::Level);
    outer.handle().insert_source(descriptor, move |_, _, server: &mut NestedServer| {
        server.dispatch(handle_event)?;
        if server.is_over() {
            signal.stop();
        }
        Ok(PostAction::Continue)
    })?;
    let keys = Generic::new(io::stdin(), Interest::READ, Mode::Level);
    outer.handle().insert_source(keys, |_, _, server: &mut NestedServer| {
        server.shutdown();
        Ok(PostAction::Remove)
    })?;
    outer.run(None, &mut server, |_| {})?;
    Ok(())
}

/// Accepts every proposal at once, to keep the focus on the loop. An editor keeps the call, shows the
/// diff, and answers when the person has decided, as `tokio_recipe.rs` does.
fn handle_event(server: &mut Server, event: ServerEvent) {
    let Some(call) = event.into_call() else { return };
    // An error means that the agent has gone or has cancelled the call.
    let _ = match call {
        ToolCall::OpenDiff(call, diff) => server.answer(call, diff.accept()),
        other => server.call(other).fail(ErrorObject::method_not_found("this editor does not have the tool")),
    };
}
