//! The smallest editor that asks a person: it prints each proposal, and `y` accepts it.
//!
//! `cargo run --example minimal_server`, then `claude --ide` in the same folder, or `ide-mcp agent diff FILE PROPOSAL`.
//! Ctrl+D at a question ends it. Ctrl+C ends it at any time, but then its lock file stays; `blocking_loop` shows how to
//! handle signals.

#![allow(clippy::print_stdout, reason = "it shows what it does")]

use ide_mcp_blocking::ide::kit::{display_line, display_safe_lines};
use ide_mcp_blocking::ide::tool::{Tool, ToolCall};
use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
use ide_mcp_blocking::spawn;
use std::{error::Error, io, sync::mpsc, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, events) = mpsc::channel();
    let editor = ServerConfig::new("minimal", "1.0").folder(".").tools([Tool::OpenDiff]);
    // The server has a thread of its own, so no connection is lost while the person reads.
    let server = spawn(editor, move |event| drop(sender.send(event)))?;
    println!("Run `claude --ide` in this folder, and let it edit a file.");
    for event in events {
        let ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } = event else { continue };
        let (path, text) = (&diff.new_file_path, &diff.new_file_contents);
        println!("{}\n{}\nAccept? [y/N]", display_line(path, 200), display_safe_lines(text));
        let mut answer = String::new();
        if io::stdin().read_line(&mut answer)? == 0 {
            break;
        }
        // The agent writes the file.
        server.answer(call, if answer.trim() == "y" { diff.accept() } else { diff.reject() })?;
    }
    server.end(Duration::from_secs(5));
    Ok(())
}
