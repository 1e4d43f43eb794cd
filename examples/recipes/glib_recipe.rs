//! An editor's server in GLib's main loop, as in a GTK application: one descriptor. While nothing happens,
//! it does not wake up.
//!
//! Needs the headers of GLib (`libglib2.0-dev`).
//! `cargo run --manifest-path examples/recipes/Cargo.toml --features glib --example glib_recipe`; Enter ends
//! it.

use glib::{ControlFlow, IOCondition, MainLoop};
use ide_mcp_mio::NestedServer;
use ide_mcp_mio::ide::tool::{Tool, ToolCall};
use ide_mcp_mio::ide::{Server, ServerConfig, ServerEvent};
use ide_mcp_mio::rpc::ErrorObject;
use std::os::fd::AsRawFd as _;
use std::{cell::RefCell, error::Error, io, rc::Rc};

fn main() -> Result<(), Box<dyn Error>> {
    let tools = [Tool::OpenDiff];
    let server = NestedServer::start(ServerConfig::new("GLib", "1.0").folder(".").tools(tools))?;
    println!("listening on port {}; Enter ends it", server.server().local_addr().port());

    let (main_loop, descriptor) = (MainLoop::new(None, false), server.as_raw_fd());
    // The callbacks of the main thread share the server.
    let server = Rc::new(RefCell::new(server));
    glib::source::unix_fd_add_local(descriptor, IOCondition::IN, {
        let (server, main_loop) = (Rc::clone(&server), main_loop.clone());
        move |_, _| {
            let dispatched = server.borrow_mut().dispatch(handle_event);
            if dispatched.is_err() || server.borrow().is_over() {
                main_loop.quit();
                return ControlFlow::Break;
            }
            ControlFlow::Continue
        }
    });
    glib::source::unix_fd_add_local(
        io::stdin().as_raw_fd(),
        IOCondition::IN | IOCondition::HUP,
        move |_, _| {
            server.borrow_mut().shutdown();
            ControlFlow::Break
        },
    );
    main_loop.run();
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
