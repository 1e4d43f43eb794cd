//! Prints what goes through a machine, in and out, and what it reports: a wrapper for any [`Wire`] and [`Machine`],
//! which is why no machine has logging of its own. Here it is around an editor's side, with an agent's side attached in
//! memory, so that it needs neither socket nor clock; around what you hand to an adapter's `Conn` it prints a real
//! session.
//!
//! `cargo run --example tracer`. The token is not printed; what an agent and an editor say to each other is.

#![allow(clippy::print_stdout, clippy::wildcard_enum_match_arm, reason = "it shows what it does")]

use getrandom::SysRng;
use ide_mcp::ide::{
    AuthToken, Client, ClientConfig, ClientEvent, Diagnostics, GetDiagnostics, Policy, Server,
};
use ide_mcp::ide::{ServerConfig, ServerEvent, Tool, ToolCall, ToolSet, display_safe};
use ide_mcp::mcp::Implementation;
use ide_mcp::rpc::SessionId;
use ide_mcp::ws::frame::{self, Header};
use ide_mcp::{Machine, Time, Wire};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Debug;

/// A server's machine that prints.
struct Traced<M> {
    machine: M,
    input: Bytes,
    output: Bytes,
}

impl<M> Traced<M> {
    /// Clients mask what they send, servers do not (RFC 6455 section 5.3).
    const fn server(machine: M) -> Self {
        Self { machine, input: Bytes::new("◀", true), output: Bytes::new("▶", false) }
    }
}

impl<M: Wire> Wire for Traced<M> {
    fn space(&mut self) -> &mut [u8] {
        self.machine.space()
    }

    fn filled(&mut self, now: Time, n: usize) {
        self.input.show(self.machine.space().get(..n).unwrap_or_default());
        self.machine.filled(now, n);
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.input.show(bytes);
        self.machine.feed(now, bytes);
    }

    fn feed_eof(&mut self, now: Time) {
        println!("◀ the end");
        self.machine.feed_eof(now);
    }

    fn outgoing(&self) -> &[u8] {
        self.machine.outgoing()
    }

    fn sent(&mut self, n: usize) {
        self.output.show(self.machine.outgoing().get(..n).unwrap_or_default());
        self.machine.sent(n);
    }

    fn wants_input(&self) -> bool {
        self.machine.wants_input()
    }

    fn is_done(&self) -> bool {
        self.machine.is_done()
    }

    fn trim(&mut self) {
        self.machine.trim();
    }
}

impl<M: Machine<Event: Debug>> Machine for Traced<M> {
    type Event = M::Event;

    fn tick(&mut self, now: Time) {
        self.machine.tick(now);
    }

    fn poll_event(&mut self) -> Option<M::Event> {
        let event = self.machine.poll_event();
        if let Some(event) = &event {
            println!("  {}", display_safe(&format!("{event:?}")));
        }
        event
    }

    fn deadline(&self) -> Option<Time> {
        self.machine.deadline()
    }
}

/// The bytes of one direction: first a head, then frames, printed as soon as they are whole.
struct Bytes {
    arrow: &'static str,
    masked: bool,
    is_head: bool,
    waiting: Vec<u8>,
}

impl Bytes {
    const fn new(arrow: &'static str, masked: bool) -> Self {
        Self { arrow, masked, is_head: true, waiting: Vec::new() }
    }

    fn show(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        while self.show_head() || self.show_frame().is_some() {}
    }

    fn show_head(&mut self) -> bool {
        let end = self.waiting.windows(4).position(|four| four == b"\r\n\r\n");
        let (true, Some(end)) = (self.is_head, end) else { return false };
        self.is_head = false;
        let head: Vec<u8> = self.waiting.drain(..end.saturating_add(4)).collect();
        for (at, line) in String::from_utf8_lossy(&head).trim_end().lines().enumerate() {
            match line.split_once(':') {
                _ if at == 0 => println!("{} {}", self.arrow, display_safe(line)),
                Some((name, _)) if !is_secret(name) => println!("{} {}", self.arrow, display_safe(line)),
                Some((name, _)) => println!("{} {}: …", self.arrow, display_safe(name)),
                // The rest of the line before, perhaps.
                None => println!("{} …", self.arrow),
            }
        }
        true
    }

    fn show_frame(&mut self) -> Option<()> {
        if self.is_head {
            return None;
        }
        // What is no frame is printed by nobody: the machine reports it.
        let (header, size) = Header::parse(&self.waiting, self.masked).ok()??;
        let end = usize::try_from(header.len).ok()?.checked_add(size)?;
        let mut payload = self.waiting.get(size..end)?.to_vec();
        frame::mask(header.key.unwrap_or_default(), 0, &mut payload);
        let text = String::from_utf8_lossy(&payload);
        println!("{} {:?} {}", self.arrow, header.opcode, display_safe(&text));
        self.waiting.drain(..end);
        Some(())
    }
}

/// Whether what this header says may let somebody in, or is the rest of one that does.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with([' ', '\t']) || ["auth", "cookie", "token"].iter().any(|word| name.contains(word))
}

fn main() -> Result<(), Box<dyn Error>> {
    let token = AuthToken::from_text("a-token-of-this-example")?;
    let policy = Policy::new(4711, token.clone());
    let info = Implementation::new("tracer", "1.0");
    let config = ServerConfig::new(info, policy, ToolSet::new().handle(Tool::GetDiagnostics));
    let mut editor = Traced::server(Server::new(config, SessionId::new(1), Time::ZERO));

    let config = ClientConfig::new(Implementation::new("agent", "1.0"), 4711, Some(token));
    let mut agent = Client::new(config, SysRng, SessionId::new(2), Time::ZERO)?;

    while !editor.is_done() {
        hand_over(&mut agent, &mut editor);
        while let Some(event) = editor.poll_event() {
            if let ServerEvent::Call(ToolCall::GetDiagnostics(call, _)) = event {
                editor.machine.answer(call, &Diagnostics::new(Vec::new()))?;
            }
        }
        hand_over(&mut editor, &mut agent);
        while let Some(event) = agent.poll_event() {
            match event {
                ClientEvent::Ready(_) => {
                    // What a peer says may be meant for the terminal of whoever looks on.
                    agent.notify("note", Some(&BTreeMap::from([("text", "\u{9b}2J")])))?;
                    agent.call(&GetDiagnostics::new(None))?;
                }
                ClientEvent::Outcome { .. } => agent.close(),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What one has to say, the other hears: all that a socket does.
fn hand_over(from: &mut impl Wire, to: &mut impl Wire) {
    to.feed(Time::ZERO, from.outgoing());
    from.sent(from.outgoing().len());
}
