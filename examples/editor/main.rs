//! An editor that coding agents attach to: one thread, one loop.
//!
//! `editor --help` says how it is used. Exit status: 0; 1 if it cannot go on; 2 where it cannot begin.
#![allow(clippy::wildcard_enum_match_arm, reason = "a program takes the events that concern it")]

mod command;
mod headless;
mod input;
mod options;
mod workspace;

use headless::{Flow, Headless, error, tell};
use ide_mcp::Clock;
use ide_mcp::ide::locate::Extras;
use ide_mcp::ide::{HostConfig, LockFile, Policy, ServerConfig, Tool, ToolSet};
use ide_mcp::mcp::Implementation;
use ide_mcp_examples::{complain, say};
use ide_mcp_lockfile::{LockDir, from_environment, new_token, workspace_folders};
use ide_mcp_mio::{Bind, Server};
use input::{Input, Line};
use mio::{Events, Poll, Token};
use options::Options;
use serde_json::json;
use std::error::Error;
use std::io::ErrorKind;
use std::process::{self, ExitCode};
use workspace::Workspace;

/// The tokens in the `Poll`; the server owns a range behind its own.
const INPUT: Token = Token(0);
const SERVER: Token = Token(1);

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(Some(options)) => options,
        Ok(None) => return if say(options::USAGE) { ExitCode::SUCCESS } else { ExitCode::FAILURE },
        Err(problem) => {
            complain("editor", &format!("{problem}\n\n{}", options::USAGE));
            return ExitCode::from(2);
        }
    };
    let (editor, poll) = match Editor::start(options) {
        Ok(started) => started,
        Err(problem) => {
            complain("editor", &problem.to_string());
            return ExitCode::from(2);
        }
    };
    match editor.run(poll) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain("editor", &problem.to_string());
            ExitCode::FAILURE
        }
    }
}

struct Editor {
    server: Server,
    input: Input,
    app: Headless,
    clock: Clock,
}

impl Editor {
    /// Listens first and publishes second: whoever finds the lock file finds somebody there.
    fn start(options: Options) -> Result<(Self, Poll), Box<dyn Error>> {
        let workspace = Workspace::new(&options.folders)?;
        let token = options.token.map_or_else(new_token, Ok)?;
        let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).handle(Tool::OpenFile);
        let info = Implementation::new(options.name.as_str(), env!("CARGO_PKG_VERSION"));
        // The port stands in for the one that is bound.
        let config = HostConfig::new(ServerConfig::new(info, Policy::new(0, token.clone()), tools));

        let poll = Poll::new()?;
        let input = Input::new(poll.registry(), INPUT)?;
        let bind = if options.port == 0 { Bind::AnyPort } else { Bind::Port(options.port) };
        let mut server = Server::bind(bind, config, poll.registry(), SERVER)?;
        let file = LockFile::new(process::id(), workspace_folders(workspace.folders())?, options.name, token);
        let candidates = from_environment(Extras::default())?;
        let candidate = candidates.first().ok_or("there is no directory for lock files")?;
        server.publish(&LockDir::create(&candidate.dir)?, &file)?;

        let lock = server.published().map(|lock| lock.path().display().to_string());
        tell(&json!({"event": "listening", "port": server.port(), "lock": lock}));
        let app = Headless::new(workspace, options.on_diff);
        Ok((Self { server, input, app, clock: Clock::new() }, poll))
    }

    fn run(mut self, mut poll: Poll) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        while !self.server.is_over() {
            let wait = self.clock.until(self.server.deadline(self.clock.now()));
            match poll.poll(&mut events, wait) {
                Err(interrupted) if interrupted.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
            for event in &events {
                self.server.handle(event);
            }
            let now = self.clock.now();
            for line in self.input.lines() {
                let flow = match line {
                    Line::Command(text) => self.app.line(self.server.host_mut(), now, &text),
                    Line::End => Flow::Quit,
                };
                if flow == Flow::Quit {
                    self.server.shutdown(now);
                }
            }
            self.server.turn(now, |host, event| self.app.event(host, event));
        }
        if let Some(problem) = self.server.lock_error() {
            error(&problem.to_string());
        }
        Ok(())
    }
}
