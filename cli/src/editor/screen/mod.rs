//! The editor with a screen. This module is its loop: sockets, timers, signals and input, one turn after another on
//! one thread. Other threads read and write the files, read the terminal, and write to it; each wakes the loop.
//!
//! ```text
//!   reader ──▶ bindings ──▶ model ──▶ view ──▶ terminal
//!                             ▲
//!          disk, agents ──▶  app
//! ```
//! `model` uses no disk and no socket, `view` draws it in the cells of ratatui, `app` handles the events from
//! outside, and crossterm writes to the terminal.

mod agents;
mod app;
pub(super) mod bindings;
mod calls;
mod context;
mod disk;
mod edits;
pub(super) mod keys;
pub(crate) mod layout;
pub(super) mod model;
#[cfg_attr(not(feature = "demo"), allow(dead_code, reason = "only the demo has a panel"))]
pub(crate) mod panel;
mod reader;
mod review;
mod signals;
pub(crate) mod terminal;
mod verdict;
pub(crate) mod view;

#[cfg(test)]
mod tests;

use crate::editor::launch::Launch;
use crate::editor::listen::{Listening, listen};
use crate::editor::neighbors::Neighbors;
use crate::editor::options::Settings;
use crate::support::signals::{Meaning, stop};
use app::{App, Quitting};
use ide_mcp::ide::kit::display_safe_lines;
use ide_mcp::{Clock, Time};
use ide_mcp_mio::{Server, Wake, Waker};
use mio::{Events, Poll, Token};
use model::Tone;
#[cfg(feature = "demo")]
use panel::PanelWriter;
use reader::Reader;
use signals::Signals;
use std::env;
use std::error::Error;
use std::io::{self, ErrorKind};
#[cfg(feature = "demo")]
use std::path::PathBuf;
use std::time::Duration;
use terminal::Terminal;
use view::palette::ColorDepth;

/// The tokens in the `Poll`; the server owns the range after its own token.
const WAKER: Token = Token(0);
const SERVER: Token = Token(1);

/// How long a turn takes input before the agents get theirs.
const FOR_INPUT: Duration = Duration::from_millis(50);
/// How long the end waits for a disk: as long as for the close handshakes.
const FOR_DISK: Duration = Duration::from_secs(2);

pub(crate) struct Editor {
    // Dropped first, so that later messages appear on the original screen.
    terminal: Terminal,
    colors: ColorDepth,
    reader: Reader,
    /// True if the last turn left input unread.
    has_input: bool,
    server: Server,
    signals: Signals,
    app: App,
    #[cfg(feature = "demo")]
    waker: Waker,
    clock: Clock,
    stopping: Option<Stopping>,
}

#[derive(Debug)]
struct Stopping {
    reason: String,
    /// The number of proposals that were open at that time.
    rejected: usize,
    /// The time until which the editor waits for saves in progress.
    saves_until: Time,
}

impl Editor {
    pub(crate) fn start(settings: Settings<'_>) -> Result<(Self, Poll), Box<dyn Error>> {
        let options = settings.options;
        let (folders, files) = settings.open()?;
        let poll = Poll::new()?;
        let waker = Waker::new(poll.registry(), WAKER)?;
        let wakes = || {
            let waker = waker.clone();
            move || drop(waker.wake())
        };
        let signals = Signals::new(wakes())?;
        let wake = Wake::new(wakes());
        let neighbors = if options.is_apart() { Neighbors::none() } else { Neighbors::new(&folders) };
        let name = options.name(&neighbors);
        let Listening { mut server, notices } =
            listen(&settings, &name, &folders, calls::tools(), poll.registry(), SERVER, wake)?;
        let mut app = App::new(folders, settings.on_diff, wakes())?;
        if let Some(notice) = settings.notice() {
            app.model.report(Tone::Plain, notice);
        }
        app.model.theme = settings.config.theme();
        app.model.keys = settings.config.keys;
        app.model.config = settings.config.source;
        app.announce(name, server.local_addr().port(), neighbors);
        for notice in notices {
            app.model.report(Tone::Bad, notice);
        }
        app.open_targets(&files)?;
        server.machine_mut().set_context(context::context());
        let launch = Launch::of(options, &server)?;
        // Last, so that earlier errors appear on the original screen.
        let colors = ColorDepth::of_environment(|name| env::var(name).ok());
        let unusable =
            |error: io::Error| format!("the terminal cannot be used: {error}; --headless needs none");
        let terminal = Terminal::take(wakes()).map_err(unusable)?;
        let reader = Reader::new(wakes()).map_err(unusable)?;
        if let Some(launch) = launch {
            app.launch(launch);
        }
        let clock = Clock::new();
        let editor = Self {
            terminal,
            colors,
            reader,
            server,
            signals,
            app,
            #[cfg(feature = "demo")]
            waker,
            clock,
            has_input: false,
            stopping: None,
        };
        Ok((editor, poll))
    }

    /// Gives a part of the screen to a panel. Returns its writer, and the lock file of this editor.
    ///
    /// # Errors
    /// The editor has no lock file.
    #[cfg(feature = "demo")]
    pub(crate) fn add_panel(&mut self, farewell: String) -> Result<(PanelWriter, PathBuf), String> {
        let lock = self.server.lock_file().path().ok_or("the editor has no lock file")?.to_owned();
        let waker = self.waker.clone();
        let (beside, writer) = panel::panel(farewell, move || drop(waker.wake()));
        self.app.beside = Some(beside);
        self.app.model.own_name = "the demo";
        Ok((writer, lock))
    }

    /// Runs the editor until it ends, and prints why it did.
    pub(crate) fn run(mut self, mut poll: Poll) -> Result<(), Box<dyn Error>> {
        let mut events = Events::with_capacity(64);
        self.app.resize(Terminal::size()?);
        while !self.is_over(self.clock.now()) {
            self.show();
            let now = self.clock.now();
            let stopping = self.stopping.as_ref().filter(|_| self.app.is_saving());
            let saves_until = stopping.map(|stopping| stopping.saves_until).filter(|until| now < *until);
            let input_at = self.has_input.then_some(now);
            let deadlines = [self.server.deadline(now), self.app.deadline(), saves_until, input_at];
            let deadline = deadlines.into_iter().flatten().min();
            match poll.poll(&mut events, self.clock.until(deadline)) {
                Err(interrupted) if interrupted.kind() == ErrorKind::Interrupted => {}
                polled => polled?,
            }
            for event in &events {
                self.server.handle_event(event);
            }
            let now = self.clock.now();
            self.take_signals(now);
            self.take_input(now);
            self.app.tick(self.server.machine_mut(), now);
            match self.app.quitting {
                Quitting::No | Quitting::WhenSaved => {}
                Quitting::Now => self.stop_by_key(now),
                Quitting::AtOnce => {
                    self.stop_by_key(now);
                    self.stopping.iter_mut().for_each(|stopping| stopping.saves_until = now);
                }
            }
            let app = &mut self.app;
            self.server.turn(now, |server, event| app.event(server, now, event));
            app.settle(self.server.machine_mut(), now);
        }
        let stopping = self.stopping.take();
        let (reason, rejected) =
            stopping.map(|stopping| (stopping.reason, stopping.rejected)).unwrap_or_default();
        let mut farewell = self.app.farewell(&reason, rejected);
        if let Some(problem) = self.app.lock_problem.take() {
            farewell.push_str(&format!("\neditor: {problem}"));
        }
        if let Some(beside) = &self.app.beside {
            farewell.push_str(&beside.farewell);
        }
        self.terminal.close(&display_safe_lines(&farewell));
        Ok(())
    }

    /// Returns true if all agents are disconnected, and the saves in progress are done or take too long.
    fn is_over(&self, now: Time) -> bool {
        let waits = |stopping: &Stopping| now < stopping.saves_until && self.app.is_saving();
        self.server.is_over() && !self.stopping.as_ref().is_some_and(waits)
    }

    fn show(&mut self) {
        if self.app.stale && self.terminal.is_idle() {
            // An error means that the terminal is gone: then a signal arrives, or the input ends.
            let _ = self.terminal.show(self.app.draw(self.colors));
        }
    }

    fn take_signals(&mut self, now: Time) {
        for signal in self.signals.take() {
            match signal {
                Meaning::Resized => self.resize(),
                Meaning::Stop => {
                    self.terminal.leave();
                    // Execution continues here after SIGCONT.
                    let _ = stop();
                }
                Meaning::Continued => {
                    let _ = self.terminal.enter();
                    self.resize();
                }
                Meaning::End(name) => self.stop(now, name),
            }
        }
    }

    fn resize(&mut self) {
        self.terminal.forget();
        if let Ok(size) = Terminal::size() {
            self.app.resize(size);
        }
    }

    fn take_input(&mut self, now: Time) {
        self.has_input = false;
        if self.stopping.is_some() {
            return;
        }
        let (reader, clock, mut end) = (&self.reader, &self.clock, None);
        let until = clock.now().saturating_add(FOR_INPUT);
        let has_input = &mut self.has_input;
        let next = || {
            *has_input = clock.now() >= until;
            if *has_input {
                return None;
            }
            reader.next().unwrap_or_else(|error| {
                end = Some(error);
                None
            })
        };
        if self.app.inputs(self.server.machine_mut(), now, next) {
            self.resize();
        }
        if let Some(error) = end {
            self.stop(now, &format!("the end of its terminal ({error})"));
        }
    }

    fn stop_by_key(&mut self, now: Time) {
        let key = self.app.quit_key();
        self.stop(now, &key);
    }

    fn stop(&mut self, now: Time, reason: &str) {
        if cfg!(debug_assertions) {
            // The editor can also end by a panic, and a test must be able to cause one. A release build does not contain
            // this.
            let place = env::var_os("IDE_MCP_EDITOR_PANICS_AT");
            assert!(place.is_none_or(|at| at != reason), "asked to panic at {reason}");
        }
        if self.stopping.is_none() {
            let rejected = self.app.model.proposals.len();
            self.stopping = Some(Stopping {
                reason: reason.to_owned(),
                rejected,
                saves_until: now.saturating_add(FOR_DISK),
            });
            self.app.model.stopping = Some(format!("ends by {reason} …"));
            self.app.stale = true;
            self.server.shutdown(now);
        }
    }
}
