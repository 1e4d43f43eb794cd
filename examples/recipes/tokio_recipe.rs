//! An editor on tokio: one task waits for the agents and for the keyboard, and you decide about each proposal.
//!
//! `ide-mcp-smol` runs on any executor. It adds one thread, async-io's reactor, which waits for the sockets.
//!
//! `cargo run --manifest-path examples/recipes/Cargo.toml --example tokio_recipe`; Enter or Ctrl+C ends it.

use ide_mcp_smol::Server;
use ide_mcp_smol::ide::kit::{display_line, display_safe_lines};
use ide_mcp_smol::ide::tool::{Call, OpenDiff, Tool, ToolCall};
use ide_mcp_smol::ide::{ServerConfig, ServerEvent};
use std::{collections::VecDeque, error::Error, pin::pin, process::exit};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};
use tokio::signal::ctrl_c;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let editor = ServerConfig::new("tokio", "1.0").folder(".").tools([Tool::OpenDiff]);
    let mut server = Server::start(editor)?;
    println!("listening on port {}; Enter or Ctrl+C ends it", server.local_addr().port());
    let (mut lines, mut interrupt) = (BufReader::new(stdin()).lines(), pin!(ctrl_c()));
    // The proposals that wait for a decision. A real editor shows each in a view.
    let mut open = VecDeque::<(Call<OpenDiff>, OpenDiff)>::new();
    loop {
        // No future loses anything when another one completes first.
        tokio::select! {
            event = server.next_event() => match event {
                Some(ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. }) => {
                    let (path, text) = (&diff.new_file_path, &diff.new_file_contents);
                    println!("{}\n{}\nAccept? [y/N]", display_line(path, 200), display_safe_lines(text));
                    open.push_back((call, diff));
                }
                // The agent has gone, or the person decided in its terminal: close the view.
                Some(ServerEvent::DiffClosed { call, .. }) => open.retain(|(of_view, _)| of_view.id() != call),
                _ => {}
            },
            line = lines.next_line() => match (line?, open.pop_front()) {
                (Some(line), Some((call, diff))) => {
                    let verdict = if line.trim() == "y" { diff.accept() } else { diff.reject() };
                    // An error means that the call has ended in the meantime. The agent writes the file.
                    let _ = server.machine_mut().answer(call, verdict);
                }
                _ => break,
            },
            _ = &mut interrupt => break,
        }
    }
    server.shutdown();
    while !server.is_over() {
        server.next_event().await;
    }
    // A thread of tokio still waits for the keyboard, and the end of `main` would wait for that thread.
    exit(0)
}
