//! MCP over standard input and output: one message a line, as the stdio transport of MCP has it. To copy from.
//!
//! It shows that [`Server`] knows nothing of sockets and needs no runtime: one thread, one loop, and two pipes that are
//! waited for together, so that a call that is due is answered although no line comes. `stdio_mcp --help` says how it is
//! used, and what its exit status means.
//!
//! ```text
//! bytes ──▶ LinesIn ── a line ──▶ Server::receive      events ──▶ application ──▶ Server::respond
//!                                       └──────── answers ────────┴──▶ LinesOut (an Outbox) ──▶ bytes
//! ```
//!
//! It reads no further while a megabyte of answers waits for the client to read.

#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod pipes;
mod reminders;
mod tools;

use ide_mcp::mcp::{Event, Implementation, Server, ServerConfig, ToolResult};
use ide_mcp::rpc::SessionId;
use ide_mcp::{Clock, Outbox as _, Time};
use ide_mcp_examples::{LinesIn, LinesOut, Program, complain};
use lexopt::prelude::*;
use reminders::Reminders;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use tools::{Call, Toolbox};

/// How long the client may take to read the last answers.
const DRAIN: Duration = Duration::from_secs(2);

const USAGE: &str = "\
Serve MCP on standard input and output, one message a line: a few tools to try a client with.

usage: stdio_mcp [--call-deadline MS]

  --call-deadline MS   answer a call that is open for so long as failed (default 30000)

A client starts it as its child. It ends with standard input: every call that is still open is answered as failed, and
what was answered is written.

exit status: 0; 1, after the same, if the input cannot be used any more: a line that is not UTF-8, or longer than 64
MiB, or more lines than are tolerated that are no message; 2 if the command line is wrong";

const PROGRAM: Program = Program::new("stdio_mcp", USAGE);

fn main() -> ExitCode {
    PROGRAM.main(config, |config| PROGRAM.done(run(config)))
}

fn run(config: ServerConfig) -> Result<(), Box<dyn Error>> {
    let mut program = Session {
        // One process is one session.
        server: Server::new(config, Toolbox::default(), SessionId::new(1)),
        reminders: Reminders::default(),
        input: LinesIn::default(),
        out: LinesOut::default(),
    };
    let clock = Clock::new();

    let end = program.serve(&clock);
    // However it ends: who still waits is told, and what was said is written.
    program.server.shutdown("the server ends", &mut program.out);
    program.work(clock.now());
    let written = program.flush(&clock);
    end.and(written)
}

struct Session {
    server: Server<Toolbox>,
    reminders: Reminders,
    input: LinesIn,
    out: LinesOut,
}

impl Session {
    /// The loop, to the end of standard input.
    fn serve(&mut self, clock: &Clock) -> Result<(), Box<dyn Error>> {
        loop {
            // What has come is looked at before the clock: an answer that lies there is not overtaken by its timeout.
            let now = clock.now();
            let all_heard = self.hear(now)?;
            if all_heard {
                self.server.tick(now);
                self.reminders.answer_due(now, &mut self.server, &mut self.out);
                self.work(now);
            }
            if all_heard && self.input.has_ended() {
                return Ok(());
            }
            let deadline = [self.server.deadline(), self.reminders.next()].into_iter().flatten().min();
            let timeout = clock.until(deadline.filter(|_| all_heard));
            let ready = pipes::wait(all_heard, !self.out.waiting().is_empty(), timeout)?;
            if ready.to_write {
                self.out.sent(pipes::write(self.out.waiting())?);
            }
            if ready.to_read {
                self.input.read(pipes::read)?;
            }
        }
    }

    /// Hands over the lines that have come, one at a time, so that what one of them provokes is sent before the next is
    /// looked at. False if some are left because too much waits to be written.
    fn hear(&mut self, now: Time) -> Result<bool, Box<dyn Error>> {
        while !self.out.is_full() {
            let Some(line) = self.input.next_line()? else { return Ok(true) };
            self.server.receive(now, line, &mut self.out);
            if self.work(now) == Flow::End {
                return Err("too many lines came that are no message".into());
            }
        }
        Ok(false)
    }

    /// Does what there is to do, until there is nothing.
    fn work(&mut self, now: Time) -> Flow {
        let mut flow = Flow::GoOn;
        while let Some(event) = self.server.poll_event(&mut self.out) {
            match event {
                Event::Call { call, tool: Call::Remind(asked) } => {
                    // Not answering now is how a call is deferred.
                    self.reminders.add(now, call, asked);
                }
                Event::Call { call, tool } => {
                    let result = tool.answer().unwrap_or_else(ToolResult::error);
                    // A call that has ended meanwhile needs no answer.
                    let _ = self.server.respond(call, &result, &mut self.out);
                }
                Event::CallEnded { call, .. } => self.reminders.forget(call),
                Event::PeerFault(violation) => complain("stdio_mcp", &format!("the client: {violation}")),
                Event::PeerError(error) => complain("stdio_mcp", &format!("the client reports {error}")),
                Event::TooManyFaults => flow = Flow::End,
                _ => {}
            }
        }
        flow
    }

    /// Writes what waits, as long as somebody reads it.
    fn flush(&mut self, clock: &Clock) -> Result<(), Box<dyn Error>> {
        let end = clock.now().saturating_add(DRAIN);
        while !self.out.waiting().is_empty() {
            let left = clock.until(Some(end));
            if !pipes::wait(false, true, left)?.to_write {
                return Err("the last answers were not read in time".into());
            }
            self.out.sent(pipes::write(self.out.waiting())?);
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    GoOn,
    End,
}

/// What the command line makes of the server; `None` if help was asked for.
fn config(mut parser: lexopt::Parser) -> Result<Option<ServerConfig>, lexopt::Error> {
    let mut config = ServerConfig::new(Implementation::new("stdio_mcp", env!("CARGO_PKG_VERSION")));
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("call-deadline") => config.call_deadline = Duration::from_millis(parser.value()?.parse()?),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(config))
}
