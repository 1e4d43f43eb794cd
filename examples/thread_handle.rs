//! A terminal program that waits in `crossterm::event::read`, so it cannot wait for sockets: the server has
//! a thread of its own. The pattern is that of every loop that cannot be interrupted by a socket.
//!
//! `cargo run --example thread_handle`, then `ide-mcp agent diff FILE PROPOSAL`; the keys `a` and `r`
//! accept and reject the proposal, `q` ends the program.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use crossterm::event::read;
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ide_mcp_blocking::ide::{Call, HostEvent, OpenDiff, ServerEvent, Tool, ToolCall};
use ide_mcp_blocking::{EditorOptions, spawn};
use std::{error::Error, sync::mpsc, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, events) = mpsc::channel();
    let editor = EditorOptions::new("thread", "1.0").folder(".").tools([Tool::OpenDiff]);
    let handle = spawn(editor, move |event| {
        let is_call = matches!(event, HostEvent::Agent { event: ServerEvent::Call(_), .. });
        // The event comes first, so that a key can decide as soon as the question is shown.
        if sender.send(event).is_ok() && is_call {
            print!("an agent proposes a change: accept (a) or reject (r)?\r\n");
        }
    })?;
    enable_raw_mode()?;
    let (mut key, mut open) = (None, Vec::<(Call<OpenDiff>, OpenDiff)>::new());
    while key != Some('q') {
        key = read()?.as_key_press_event().and_then(|key| key.code.as_char());
        for event in events.try_iter() {
            let HostEvent::Agent { event, .. } = event else { continue };
            match event {
                ServerEvent::Call(ToolCall::OpenDiff(call, diff)) => open.push((call, diff)),
                // The agent has gone, or the proposal was decided in its terminal.
                ServerEvent::DiffClosed { call, .. } => open.retain(|(of_diff, _)| of_diff.id() != call),
                _ => {}
            }
        }
        let Some(verdict @ ('a' | 'r')) = key else { continue };
        let Some((call, diff)) = open.pop() else { continue };
        handle.answer(call, if verdict == 'a' { diff.accept() } else { diff.reject() })?;
    }
    disable_raw_mode()?;
    // The thread of the server removes the lock file, and closes the connections in good order.
    handle.end(Duration::from_secs(5));
    Ok(())
}
