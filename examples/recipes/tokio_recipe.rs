//! An editor's server in a task of tokio, with `ide-mcp-smol`, whose future runs on any executor. One more
//! thread, that of async-io's reactor, waits for the sockets.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example tokio_recipe`; Enter ends it.

use ide_mcp_smol::Server;
use ide_mcp_smol::ide::tool::{Tool, ToolCall};
use ide_mcp_smol::ide::{ServerConfig, ServerEvent};
use ide_mcp_smol::rpc::ErrorObject;
use std::{error::Error, io};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let editor = ServerConfig::new("tokio", "1.0").folder(".").tools([Tool::OpenDiff]);
    let mut server = Server::start(editor)?;
    println!("listening on port {}; Enter ends it", server.local_addr().port());
    let handle = server.handle();
    tokio::task::spawn_blocking(move || io::stdin().read_line(&mut String::new()).map(|_| handle.shutdown()));
    while !server.is_over() {
        // You can drop this future at any time, so you can use it in a `tokio::select!`.
        let Some(call) = server.next_event().await.and_then(ServerEvent::into_call) else { continue };
        let _ = match call {
            ToolCall::OpenDiff(call, diff) => server.machine_mut().answer(call, diff.accept()),
            other => server
                .machine_mut()
                .call(other)
                .fail(ErrorObject::method_not_found("this editor does not have the tool")),
        };
    }
    Ok(())
}
