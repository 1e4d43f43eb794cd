//! An MCP server over standard input and output, one message per line, with two small tools.
//!
//! An MCP client starts it as its child: run `cargo build --examples`, then `cargo run --example
//! stdio_client -- --request tools/list target/debug/examples/stdio_server`. At the end of standard input
//! the server fails every open call, writes the answers, and ends.

#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::print_stderr,
    reason = "it handles only the events that it needs"
)]

use ide_mcp::mcp::{
    Implementation, Lines, Server, ServerConfig, ServerEvent, Timeout, ToolResult, ToolSpec, Tools,
};
use ide_mcp::rpc::{CallId, SessionId};
use ide_mcp::{Clock, Time};
use serde::{Deserialize, Deserializer, de::Error as _};
use std::error::Error;
use std::io::{self, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::{thread, time::Duration};

/// An hour in milliseconds.
const HOUR: u64 = 3_600_000;

/// How many lines may wait for the loop.
const WAITING: usize = 16;

fn main() -> Result<(), Box<dyn Error>> {
    // A thread reads standard input, so that the loop can wait for a line or a deadline. If the loop is late,
    // some lines wait in the channel, and more in the pipe.
    let (send, lines) = sync_channel(WAITING);
    thread::spawn(move || io::stdin().lines().try_for_each(|line| send.send(line)));

    let name = Implementation::new("stdio_server", "1.0");
    let mut program = Program {
        server: Server::new(ServerConfig::new(name), Toolbox::default(), SessionId::new(1)),
        out: Lines::new(),
        reminders: Vec::new(),
    };
    let end = program.serve(&lines);
    program.server.shutdown("the server ends", &mut program.out);
    program.write()?;
    end
}

struct Program {
    server: Server<Toolbox>,
    out: Lines,
    /// The deferred calls: when to answer, which call, and with which text.
    reminders: Vec<(Time, CallId, String)>,
}

impl Program {
    /// Serves the lines of standard input until it ends.
    fn serve(&mut self, lines: &Receiver<io::Result<String>>) -> Result<(), Box<dyn Error>> {
        let (clock, mut first) = (Clock::new(), None);
        loop {
            // Read, then poll, with the same time. Otherwise a call could time out although its
            // cancellation has arrived.
            let now = clock.now();
            for line in first.into_iter().chain(lines.try_iter().take(WAITING)) {
                let line = line?;
                if !line.trim().is_empty() {
                    self.server.receive(now, &line, &mut self.out);
                }
            }
            self.handle_events(now)?;
            self.write()?;
            let due = self.reminders.iter().map(|(at, ..)| *at).chain(self.server.deadline()).min();
            first = match lines.recv_timeout(clock.until(due).unwrap_or(Duration::MAX)) {
                Ok(line) => Some(line),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
        }
    }

    fn handle_events(&mut self, now: Time) -> Result<(), Box<dyn Error>> {
        self.reminders.sort_by_key(|(at, ..)| *at);
        let due = self.reminders.partition_point(|(at, ..)| *at <= now);
        for (_, call, text) in self.reminders.drain(..due) {
            // An error means that the call has ended in the meantime.
            let _ = self.server.respond(call, &ToolResult::text(text), &mut self.out);
        }
        while let Some(event) = self.server.poll(now, &mut self.out) {
            match event {
                // To answer a call later, keep its `CallId`.
                ServerEvent::Call { call, tool: Call::Remind { after_ms, .. } } if after_ms > HOUR => {
                    // A failed tool call carries a text for the model.
                    let failure = ToolResult::error("a reminder is due within an hour");
                    let _ = self.server.respond(call, &failure, &mut self.out);
                }
                ServerEvent::Call { call, tool: Call::Remind { after_ms, text } } => {
                    self.reminders.push((now.saturating_add(Duration::from_millis(after_ms)), call, text));
                }
                ServerEvent::Call { call, tool: Call::CountWords { text } } => {
                    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
                    let characters = text.chars().count();
                    let text = format!("{lines} lines, {words} words, {characters} characters");
                    let _ = self.server.respond(call, &ToolResult::text(text), &mut self.out);
                }
                ServerEvent::CallEnded { call, .. } => self.reminders.retain(|(_, open, _)| *open != call),
                ServerEvent::PeerFault(fault) => eprintln!("stdio_server: the client: {fault}"),
                ServerEvent::TooManyFaults => return Err("too many lines are not JSON-RPC messages".into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes the send buffer. It blocks while the client does not read; the server then takes no more
    /// input either.
    fn write(&mut self) -> io::Result<()> {
        io::stdout().write_all(self.out.outgoing())?;
        self.out.written(usize::MAX);
        io::stdout().flush()
    }
}

/// The tools. [`Tools::decode`] turns the arguments into a [`Call`]; nothing else handles their JSON.
pub(crate) struct Toolbox([ToolSpec; 2]);

pub(crate) enum Call {
    CountWords { text: String },
    Remind { after_ms: u64, text: String },
}

impl Default for Toolbox {
    fn default() -> Self {
        let text = r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
        let time = r#"{"type":"object","properties":{"after_ms":{"type":"integer","minimum":0},"text":{"type":"string"}},"required":["after_ms","text"]}"#;
        Self([
            ToolSpec::new("count_words", "Counts the lines, words and characters of a text.", text),
            ToolSpec::new("remind", "Answers with the text after a time.", time),
        ])
    }
}

impl Tools for Toolbox {
    type Call = Call;

    fn specs(&self) -> &[ToolSpec] {
        &self.0
    }

    fn timeout(&self, call: &Call) -> Timeout {
        // A reminder may take longer than the default deadline.
        if matches!(call, Call::Remind { .. }) { Timeout::Never } else { Timeout::Default }
    }

    fn decode<'de, D: Deserializer<'de>>(&self, name: &str, arguments: D) -> Result<Call, D::Error> {
        #[derive(Deserialize)]
        struct Arguments {
            text: String,
            after_ms: Option<u64>,
        }
        let Arguments { text, after_ms } = Arguments::deserialize(arguments)?;
        match (name, after_ms) {
            ("remind", Some(after_ms)) => Ok(Call::Remind { after_ms, text }),
            ("remind", None) => Err(D::Error::missing_field("after_ms")),
            _ => Ok(Call::CountWords { text }),
        }
    }
}
