//! A terminal program that waits in `crossterm::event::read`, so it cannot wait for sockets: the server has
//! a thread of its own. The pattern is that of every loop that cannot be interrupted by a socket.
//!
//! `cargo run --example thread_handle`, then `cargo run -- agent diff FILE PROPOSAL`; the keys `a` and `r`
//! accept and reject the proposal, `q` ends the program.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use crossterm::event::{Event, KeyCode, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ide_mcp_blocking::ide::{HostEvent, ServerEvent, Tool, ToolCall, ToolSet};
use ide_mcp_blocking::{EditorOptions, spawn};
use std::{error::Error, sync::mpsc, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let editor = EditorOptions::new("thread", "1.0").folder(".").tools(ToolSet::new().handle(Tool::OpenDiff));
    let (sender, proposals) = mpsc::channel();
    let handle = spawn(editor, move |event| {
        if let HostEvent::Agent { event: ServerEvent::Call(ToolCall::OpenDiff(call, diff)), .. } = event {
            print!("{}: accept (a) or reject (r)?\r\n", diff.new_file_path.escape_debug());
            let _ = sender.send((call, diff));
        }
    })?;
    enable_raw_mode()?;
    loop {
        let Event::Key(key) = read()? else { continue };
        match key.code {
            KeyCode::Char('q') => break,
            KeyCode::Char(verdict @ ('a' | 'r')) => {
                let Ok((call, diff)) = proposals.try_recv() else { continue };
                handle.answer(call, if verdict == 'a' { diff.accept() } else { diff.reject() })?;
            }
            _ => {}
        }
    }
    disable_raw_mode()?;
    handle.shutdown();
    // The thread removes the lock file, and closes the connections in good order.
    handle.wait_until_over(Duration::from_secs(5));
    Ok(())
}
