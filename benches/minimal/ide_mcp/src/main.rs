//! The smallest editor on this crate. Like the other two, it accepts each proposal, and ends when Enter is
//! pressed.

use ide_mcp_blocking::ide::tool::{Tool, ToolCall};
use ide_mcp_blocking::ide::{ServerConfig, ServerEvent};
use ide_mcp_blocking::spawn;
use std::{error::Error, io, sync::mpsc, thread, time::Duration};

fn main() -> Result<(), Box<dyn Error>> {
    let (sender, events) = mpsc::channel();
    let editor = ServerConfig::new("minimal", "1.0").folder(".").tools([Tool::OpenDiff]);
    let server = spawn(editor, move |event| drop(sender.send(event)))?;
    let answers = server.clone();
    thread::spawn(move || {
        for event in events {
            if let ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } = event {
                let _ = answers.answer(call, diff.accept());
            }
        }
    });
    io::stdin().read_line(&mut String::new())?;
    server.end(Duration::from_secs(5));
    Ok(())
}
