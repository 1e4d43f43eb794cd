//! The editor without a screen. This module is its loop: sockets, timers, signals and standard input, one turn after
//! another on one thread. Another thread reads the files.

mod agents;
mod app;
mod command;
mod context;
mod edits;
mod forms;
mod input;
mod offer;
mod own;
mod report;
mod tools;
mod unauthenticated;
mod vault;

use crate::editor::launch::Launch;
use crate::editor::listen::{Listening, listen};
use crate::editor::neighbors::Neighbors;
use crate::editor::options::Settings;
use crate::editor::workspace::Workspace;
use crate::support::{END_OF_INPUT, Input, Shell, complain};
use app::Headless;
use ide_mcp::ide::Unauthenticated;
use ide_mcp::mcp::Context;
use ide_mcp::{Clock, Time};
use ide_mcp_mio::{Server, Wake, Waker};
use input::{Note, Notes};
use mio::{Events, Poll, Token};
use offer::all_tools;
use report::{Event, Report};
use std::error::Error;
use std::io::ErrorKind;
use unauthenticated::Reported;

/// The tokens in the `Poll`; the server owns the range after its own token.
const WAKER: Token = Token(0);
const SERVER: Token = Token(1);

pub(crate) struct Editor {
    server: Server,
    notes: Notes,
    app: Headless,
    clock: Clock,
    unauthenticated: Reported,
    stopping: bool,
}

impl Editor {
    pub(crate) fn start(settings: &Settings<'_>) -> Result<(Self, Poll), Box<dyn Error>> {
        let options = settings.options;
        let (folders, files) = settings.open()?;
        if let Some(file) = files.first() {
            let path = file.path.display();
            return Err(
                format!("{path} is not a folder; without a screen, the command `open` opens a file").into()
            );
        }
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let notes = Notes::new(waker.clone())?;
        let (of_lock, of_disk) = (waker.clone(), waker.clone());
        let wake = Wake::new(move || drop(of_lock.wake()));
        let name = options.name(&Neighbors::new(&folders));
        let Listening { mut server, notices } =
            listen(settings, &name, &folders, all_tools(), poll.registry(), SERVER, wake)?;
        for notice in settings.notice().into_iter().chain(notices) {
            complain("editor", &notice);
        }
        // A client only learns of lists that are declared when its session begins, so declare empty ones.
        server.machine_mut().set_context(Context::new().prompts([]).resources([]));
        let lock = server.lock_file().path().map(|path| path.display().to_string());
        let report = Report::new(move || drop(waker.wake()));
        let cwd = folders.first().to_owned();
        let workspace = Workspace::new(folders);
        let mut app = Headless::new(workspace, settings.dialect, settings.on_diff, report, move || {
            drop(of_disk.wake())
        })?;
        app.report().write(&Event::Listening { port: server.local_addr().port(), lock });
        if let Some(launch) = Launch::of(options, &server)? {
            let (is_started, problem) = match launch.split(&cwd) {
                Ok(is_started) => (is_started, None),
                Err(problem) => (false, Some(problem)),
            };
            let (line, problem) = match launch.line(Shell::here()) {
                Ok(pieces) => (pieces.join(" "), problem),
                Err(no_line) => (String::new(), problem.or(Some(no_line))),
            };
            app.report().write(&Event::Launch { line, is_started, problem });
        }
        let (clock, unauthenticated) = (Clock::new(), Reported::default());
        Ok((Self { server, notes, app, clock, unauthenticated, stopping: false }, poll))
    }

    pub(crate) fn run(mut self, mut poll: Poll) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        loop {
            // If nobody reads the events, nobody will send a command either.
            if self.app.report().failure().is_some() {
                self.stop(self.clock.now());
            }
            if self.server.is_over() {
                break;
            }
            let unauthenticated = self.unauthenticated.deadline(self.server.machine().unauthenticated());
            let deadline = self.server.deadline(self.clock.now());
            let deadlines = [deadline, unauthenticated, self.app.deadline()];
            let wait = self.clock.until(deadlines.into_iter().flatten().min());
            match poll.poll(&mut events, wait) {
                Err(interrupted) if interrupted.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
            for event in &events {
                self.server.handle_event(event);
            }
            let now = self.clock.now();
            self.take_lines(now);
            self.app.tick(self.server.machine_mut(), now);
            if let Some(reason) = self.app.end(now) {
                self.end(now, &reason);
            }
            self.server.turn(now, |server, event| self.app.event(server, now, event));
            self.report_unauthenticated(now);
        }
        self.app.into_report().end().map_err(|error| {
            format!("standard output cannot be written, so open diffs were rejected: {error}").into()
        })
    }

    fn report_unauthenticated(&mut self, now: Time) {
        let is_read = self.app.report().is_read();
        if let Some(counts) = self.unauthenticated.due(now, self.server.machine().unauthenticated(), is_read)
        {
            let Unauthenticated { refused, wrong_tokens, ended, .. } = counts;
            self.app.report().write(&Event::Unauthenticated { refused, wrong_tokens, ended });
        }
    }

    fn take_lines(&mut self, now: Time) {
        let notes: Vec<Note> = self.notes.take().collect();
        for note in notes {
            match note {
                Note::Signal => self.end(now, "signal"),
                // The editor is already ending, and takes no further command.
                _ if self.stopping || self.app.is_ending() => {}
                Note::Input(Input::Line(line)) => self.app.line(self.server.machine_mut(), now, line),
                Note::Input(Input::End) => self.app.end_after_commands(now, END_OF_INPUT.into()),
                Note::Input(Input::Fault(reason)) => self.app.end_after_commands(now, reason),
            }
        }
    }

    fn end(&mut self, now: Time, reason: &str) {
        if !self.stopping {
            self.app.report().write(&Event::Stopping { reason });
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
