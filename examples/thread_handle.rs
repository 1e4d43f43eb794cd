//! A terminal program that waits for keys in `crossterm::event::read`, which a socket cannot interrupt. So
//! it has one thread for the server, one for the keys, and a loop that waits for both on one channel.
//!
//! `cargo run --example thread_handle`, then `ide-mcp agent diff FILE PROPOSAL`. The keys `a` and `r` accept
//! and reject the proposal, `q` ends the program.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use crossterm::event::{Event, read};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ide_mcp_blocking::ide::tool::{Call, OpenDiff, Tool, ToolCall};
use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
use ide_mcp_blocking::{Handle, spawn};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{error::Error, io, thread, time::Duration};

/// What the loop waits for.
enum Input {
    Terminal(io::Result<Event>),
    Editor(ServerEvent),
}

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, inputs) = channel();
    let notify = sender.clone();
    let editor = ServerConfig::new("thread", "1.0").folder(".").tools([Tool::OpenDiff]);
    let handle = spawn(editor, move |event| drop(notify.send(Input::Editor(event))))?;
    let result = run(&handle, sender, inputs);
    let restored = disable_raw_mode();
    // The thread of the server removes the lock file and closes the connections cleanly.
    handle.end(Duration::from_secs(5));
    result.and_then(|()| Ok(restored?))
}

/// Runs the loop. If it fails, `main` still restores the terminal and ends the server.
fn run(handle: &Handle, keys: Sender<Input>, inputs: Receiver<Input>) -> Result<(), Box<dyn Error>> {
    enable_raw_mode()?;
    thread::spawn(move || while keys.send(Input::Terminal(read())).is_ok() {});
    let mut open = Vec::<(Call<OpenDiff>, OpenDiff)>::new();
    for input in inputs {
        match input {
            Input::Terminal(event) => match event?.as_key_press_event().and_then(|key| key.code.as_char()) {
                Some('q') => break,
                Some(key @ ('a' | 'r')) => {
                    let Some((call, diff)) = open.pop() else { continue };
                    handle.answer(call, if key == 'a' { diff.accept() } else { diff.reject() })?;
                }
                _ => {}
            },
            Input::Editor(event) => match event {
                ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
                    print!("an agent proposes a change: accept (a) or reject (r)?\r\n");
                    open.push((call, diff));
                }
                // The agent has gone, or the person decided in its terminal.
                ServerEvent::DiffClosed { call, .. } => open.retain(|(of_diff, _)| of_diff.id() != call),
                _ => {}
            },
        }
    }
    Ok(())
}
