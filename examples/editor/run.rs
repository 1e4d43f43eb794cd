//! The loop: sockets, timers, signals and standard input, one turn after another on one thread.

use crate::folders::Folders;
use crate::headless::{Flow, Headless};
use crate::input::{Input, Line};
use crate::options::Options;
use crate::report::Event;
use crate::workspace::Workspace;
use ide_mcp::ide::locate::Extras;
use ide_mcp::ide::{HostConfig, LockFile, Policy, ServerConfig, Tool, ToolSet};
use ide_mcp::mcp::Implementation;
use ide_mcp::{Clock, Time};
use ide_mcp_lockfile::{LockDir, from_environment, new_token, workspace_folders};
use ide_mcp_mio::{Bind, Server};
use mio::{Events, Poll, Token};
use std::error::Error;
use std::io::{self, ErrorKind};
use std::process;

/// The tokens in the `Poll`; the server owns a range behind its own.
const INPUT: Token = Token(0);
const SERVER: Token = Token(1);

pub(crate) struct Editor {
    server: Server,
    input: Input,
    app: Headless,
    clock: Clock,
    stopping: bool,
}

impl Editor {
    /// Listens first and publishes second: whoever finds the lock file finds somebody there.
    pub(crate) fn start(options: Options) -> Result<(Self, Poll), Box<dyn Error>> {
        let folders = Folders::open(&options.folders)?;
        let token = options.token.map_or_else(new_token, Ok)?;
        let tools = ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).handle(Tool::OpenFile);
        let info = Implementation::new(options.name.as_str(), env!("CARGO_PKG_VERSION"));
        // The port stands in for the one that is bound.
        let policy = if options.asks_for_token {
            Policy::new(0, token.clone())
        } else {
            Policy::without_authentication(0)
        };
        let config = HostConfig::new(ServerConfig::new(info, policy, tools));

        let poll = Poll::new()?;
        let input = Input::new(poll.registry(), INPUT)?;
        let bind = if options.port == 0 { Bind::AnyPort } else { Bind::Port(options.port) };
        let bound = Server::bind(bind, config, poll.registry(), SERVER);
        let mut server = bound.map_err(|error| no_port(options.port, &error))?;
        let file = LockFile::new(process::id(), workspace_folders(folders.given())?, options.name, token);
        let candidates = from_environment(Extras::default())?;
        let candidate = candidates.first().ok_or("there is no directory for lock files")?;
        server.publish(&LockDir::create(&candidate.dir)?, &file)?;

        let lock = server.published().map(|lock| lock.path().display().to_string());
        let mut app = Headless::new(Workspace::new(folders), options.on_diff);
        app.report().tell(&Event::Listening { port: server.port(), lock });
        Ok((Self { server, input, app, clock: Clock::new(), stopping: false }, poll))
    }

    pub(crate) fn run(mut self, mut poll: Poll) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        loop {
            // An editor whose events nobody reads waits for commands that nobody will send.
            if self.app.report().failure().is_some() {
                self.stop(self.clock.now());
            }
            if self.server.is_over() {
                break;
            }
            let wait = self.clock.until(self.server.deadline(self.clock.now()));
            match poll.poll(&mut events, wait) {
                Err(interrupted) if interrupted.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
            for event in &events {
                self.server.handle(event);
            }
            let now = self.clock.now();
            self.take_lines(now);
            self.server.turn(now, |host, event| self.app.event(host, now, event));
        }
        if let Some(problem) = self.server.lock_error() {
            self.app.report().error(&problem.to_string());
        }
        match self.app.report().failure() {
            None => Ok(()),
            Some(error) => {
                Err(format!("standard output cannot be written, so open diffs were rejected: {error}").into())
            }
        }
    }

    fn take_lines(&mut self, now: Time) {
        let lines: Vec<Line> = self.input.lines().collect();
        for line in lines {
            if self.stopping {
                return;
            }
            let why = match line {
                Line::Command { number, text } => {
                    match self.app.line(self.server.host_mut(), now, number, text.as_deref()) {
                        Flow::GoOn => continue,
                        Flow::Quit => "quit".into(),
                    }
                }
                Line::End(why) => why,
            };
            self.app.report().tell(&Event::Stopping { why: &why });
            self.stop(now);
        }
    }

    fn stop(&mut self, now: Time) {
        if !self.stopping {
            self.stopping = true;
            self.server.shutdown(now);
        }
    }
}

/// Why there is nothing to listen on, and what to do.
fn no_port(port: u16, error: &io::Error) -> String {
    match (port, error.kind()) {
        (0, _) => format!("no port of 127.0.0.1 can be listened on: {error}"),
        (port, ErrorKind::AddrInUse) => format!(
            "port {port} is in use: end the program that listens there, choose another port, or leave --port out \
             for one that is free"
        ),
        (port, _) => {
            format!("port {port} cannot be listened on: {error}; leave --port out for one that is free")
        }
    }
}
