//! Prints what passes through a machine: the opening handshake, each frame and each event.
//!
//! Here [`Tracer`] wraps the server of an editor, and an agent attaches in memory, so the program needs
//! neither socket nor clock. To trace a real session, wrap the machine that you pass to an adapter's `Conn`.
//!
//! `cargo run --example tracer` prints the trace, with the messages but without the token.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::tool::{GetOpenEditors, OpenEditors, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{
    Auth, Client, ClientConfig, ClientEvent, ConnId, Policy, Server, ServerConfig, ServerEvent,
};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::testing::Tracer;
use ide_mcp::{Machine, Output, Time};
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let token = AuthToken::from_text("a-token-of-this-example")?;
    let policy = Policy::new(4711, Auth::Token(token.clone()));
    let config =
        ServerConfig::new("tracer", "1.0").policy(policy).tools(ToolSet::new().handle(Tool::GetOpenEditors));
    let mut editor = Server::new(config);
    let conn = editor.connect(Time::ZERO);
    let mut editor = Tracer::new(editor, |line: &str| println!("{line}"));

    let config = ClientConfig::new(Implementation::new("agent", "1.0"), 4711, Some(token));
    let mut agent = Client::new(config, getrandom::fill, SessionId::new(2), Time::ZERO)?;

    loop {
        match editor.poll(Time::ZERO) {
            Output::Event(ServerEvent::Call { call: ToolCall::GetOpenEditors(call, _), .. }) => {
                editor.machine.answer(call, OpenEditors::default())?;
            }
            Output::Event(_) => {}
            Output::Write { bytes, .. } => {
                agent.feed(Time::ZERO, bytes);
                let n = bytes.len();
                editor.written(conn, n);
            }
            Output::Close(_) => return Ok(()),
            Output::Wait(_) => act(&mut agent, &mut editor, conn)?,
        }
    }
}

/// Lets the agent react to what the editor has written, and feeds the editor what the agent writes.
fn act(
    agent: &mut Client,
    editor: &mut impl Machine<Conn = ConnId>,
    conn: ConnId,
) -> Result<(), Box<dyn Error>> {
    loop {
        match agent.poll(Time::ZERO) {
            Output::Event(ClientEvent::Ready(_)) => {
                // A terminal would obey this control character, so the tracer replaces it.
                agent.notify("note", Some(&BTreeMap::from([("text", "\u{9b}2J")])))?;
                agent.call_tool(&GetOpenEditors)?;
            }
            Output::Event(ClientEvent::Outcome { .. }) => agent.close(),
            Output::Event(_) | Output::Close(()) => {}
            Output::Write { bytes, .. } => {
                editor.feed(Time::ZERO, conn, bytes);
                let n = bytes.len();
                agent.written(n);
            }
            Output::Wait(_) => return Ok(()),
        }
    }
}
