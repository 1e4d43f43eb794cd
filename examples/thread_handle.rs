//! A terminal program that waits in `crossterm::event::read`, so it cannot wait for sockets: the server has
//! a thread of its own. The pattern is that of every loop that cannot be interrupted by a socket.
//!
//! `cargo run --example thread_handle`, then `cargo run -- agent diff FILE PROPOSAL`; the keys `a` and `r`
//! accept and reject the proposal, `q` ends the program.

#![allow(clippy::print_stdout, reason = "it shows what it does")]

use crossterm::event::read;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ide_mcp_blocking::ide::{Tool, ToolCall};
use ide_mcp_blocking::{EditorOptions, spawn};
use std::{error::Error, sync::mpsc, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, proposals) = mpsc::channel();
    let editor = EditorOptions::new("thread", "1.0").folder(".").tools([Tool::OpenDiff]);
    let handle = spawn(editor, move |event| {
        let Some(ToolCall::OpenDiff(call, diff)) = event.into_call() else { return };
        let question = format!("{}: accept (a) or reject (r)?\r\n", diff.new_file_path.escape_debug());
        // The proposal comes first, so that a key can decide it as soon as the question is shown.
        let _ = sender.send((call, diff)).map(|()| print!("{question}"));
    })?;
    enable_raw_mode()?;
    let mut key = None;
    while key != Some('q') {
        key = read()?.as_key_press_event().and_then(|key| key.code.as_char());
        let Some(verdict @ ('a' | 'r')) = key else { continue };
        let Ok((call, diff)) = proposals.try_recv() else { continue };
        handle.answer(call, if verdict == 'a' { diff.accept() } else { diff.reject() })?;
    }
    disable_raw_mode()?;
    // The thread of the server removes the lock file, and closes the connections in good order.
    handle.end(Duration::from_secs(5));
    Ok(())
}
