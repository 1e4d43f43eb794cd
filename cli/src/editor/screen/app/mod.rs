//! The application with a screen: handles what the user types, what agents send, and what changes on disk.

mod end;
mod files;
mod mouse;
mod watch;

use crate::editor::edits::Expected;
use crate::editor::folders::Folders;
use crate::editor::launch::Launch;
use crate::editor::options::OnDiff;
use crate::editor::screen::disk::Disk;
use crate::editor::screen::keys::Key;
use crate::editor::screen::layout::shown;
use crate::editor::screen::model::act::Action;
use crate::editor::screen::model::document::Document;
use crate::editor::screen::model::request::Request;
use crate::editor::screen::model::tree::Tree;
use crate::editor::screen::model::{Model, Tone};
use crate::editor::screen::panel::{Beside, SKIP, divide};
use crate::editor::screen::view::frame::Frame;
use crate::editor::screen::view::palette::ColorDepth;
use crate::editor::screen::view::{self, fit, fit_proposal, reveal};
use crate::editor::worker::Worker;
use crate::support::local;
use crossterm::event::Event;
use ide_mcp::Time;
use ide_mcp::ide::{DiagnosticsChanged, Pending, Selected, Selection, Server};
use ide_mcp::mcp::FormAnswer;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};
use std::{io, mem};

/// How long after a change a text is checked for problems.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) model: Model,
    pub(crate) folders: Folders,
    /// Reads and writes files on a thread: the loop never waits for a disk.
    pub(crate) disk: Worker<Disk, Self>,
    pub(crate) on_diff: OnDiff,
    pub(super) expected_edits: Expected,
    /// The open questions to users at agents.
    pub(super) questions: Vec<Pending<FormAnswer>>,
    /// The latest selection, whatever has the focus. It stays after its file is closed.
    pub(crate) latest: Option<Selection>,
    /// What was last sent to the agents as the selection: file, state of the text, range.
    sent: Option<(String, u64, std::ops::Range<usize>)>,
    /// When to look at the disk next; `None` during a look.
    watch_at: Option<Time>,
    /// True if another look must follow the current one.
    looks_again: bool,
    check_at: Option<Time>,
    /// When the unfolded folders were last changed.
    folder_times: BTreeMap<PathBuf, Option<SystemTime>>,
    /// The version of the rules that mark files as hidden in the list.
    rules: u64,
    /// What is wrong with the lock file. It is printed once more at the end.
    pub(crate) lock_problem: Option<String>,
    /// The whole screen. [`Model::size`] is what the panel leaves of it.
    screen: (u16, u16),
    /// The panel next to the editor, if there is one.
    pub(crate) beside: Option<Beside>,
    /// True if the screen must be drawn.
    pub(crate) stale: bool,
    pub(crate) quitting: Quitting,
    /// The key last pressed to end the editor.
    quit_by: Option<Key>,
}

/// The request of the user to end the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quitting {
    No,
    /// The editor ends after the saves in progress.
    WhenSaved,
    Now,
    /// The editor ends without waiting for the saves in progress.
    AtOnce,
}

/// The next step of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    /// Draws the whole screen again.
    Redraw,
}

impl App {
    /// Creates the application. It calls `wake` when the disk thread has finished a job; then call
    /// [`tick`](Self::tick).
    ///
    /// # Errors
    /// Returns the error of the system if it cannot create a thread.
    pub(crate) fn new(
        folders: Folders,
        on_diff: OnDiff,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let mut app = Self {
            model: Model::new(Tree::new(folders.given().to_vec())),
            disk: Worker::new(Disk::new(folders.clone()), wake)?,
            folders,
            on_diff,
            expected_edits: Expected::new(),
            questions: Vec::new(),
            latest: None,
            sent: None,
            watch_at: Some(Time::ZERO),
            looks_again: false,
            check_at: None,
            folder_times: BTreeMap::new(),
            rules: 0,
            lock_problem: None,
            screen: (80, 24),
            beside: None,
            stale: true,
            quitting: Quitting::No,
            quit_by: None,
        };
        app.refresh();
        Ok(app)
    }

    /// Starts the command of the command line in a split of tmux, or shows the line that starts it.
    pub(crate) fn launch(&mut self, launch: Launch) {
        let (cwd, shell) = (self.folders.first().to_owned(), self.model.shell);
        self.with_disk(
            move |_| (launch.split(&cwd), launch.line(shell)),
            |app, _, (split, line)| {
                match split {
                    Ok(true) => return app.model.happened("tmux has started the command in a split".into()),
                    Ok(false) => {}
                    Err(problem) => app.model.report(Tone::Bad, problem),
                }
                match line {
                    Ok(line) => app.model.launch = line,
                    Err(problem) => app.model.report(Tone::Bad, problem),
                }
            },
        );
    }

    /// Runs the follow-ups of finished disk jobs, and starts the look and the checks that are due.
    pub(crate) fn tick(&mut self, server: &mut Server, now: Time) {
        self.set_now(now);
        self.stale |= self.model.expire();
        self.stale |= self.beside.as_mut().is_some_and(Beside::look);
        while let Some(follow_up) = self.disk.next() {
            follow_up(self, server, now);
        }
        if self.watch_at.is_some_and(|at| at <= now) {
            self.look();
        }
        if self.check_at.is_some_and(|at| at <= now) {
            self.check(server);
        }
    }

    /// Sets the time of a turn. Once the keys count again, the screen shows them again.
    fn set_now(&mut self, now: Time) {
        let was_live = self.model.is_live();
        self.model.now = now;
        self.stale |= was_live != self.model.is_live();
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        let times = [self.watch_at, self.check_at, self.model.deadline()];
        times.into_iter().flatten().min()
    }

    /// Draws the current state.
    pub(crate) fn draw(&mut self, colors: ColorDepth) -> Frame {
        self.stale = false;
        self.compare();
        fit(&mut self.model);
        let mut frame = view::draw(&self.model, self.screen, colors);
        if let (Some(beside), (_, Some(area))) = (&self.beside, divide(self.screen)) {
            view::panel::draw(&beside.panel, area, &mut frame);
        }
        frame
    }

    /// Handles inputs until `next` returns none. A run of typed characters is one change of the text, so that a text
    /// that a terminal sends as keys costs as much as a paste. Returns true if the terminal has another size.
    pub(crate) fn inputs(
        &mut self,
        server: &mut Server,
        now: Time,
        mut next: impl FnMut() -> Option<Event>,
    ) -> bool {
        self.set_now(now);
        let (mut typed, mut is_resized) = (String::new(), false);
        while let Some(event) = next() {
            let character = match &event {
                Event::Key(key) if !key.is_release() && self.model.is_live() => self
                    .model
                    .keys
                    .action(self.model.context(), Key::of(*key))
                    .and_then(|action| action.typed()),
                _ => None,
            };
            typed.extend(character);
            if character.is_none() {
                self.type_text(&mem::take(&mut typed));
                is_resized |= matches!(self.input(server, event), Flow::Redraw);
            }
        }
        self.type_text(&typed);
        is_resized
    }

    fn type_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.compare();
            self.model.type_text(text);
            self.stale = true;
            reveal(&mut self.model);
        }
    }

    /// Handles an input of the user.
    fn input(&mut self, server: &mut Server, event: Event) -> Flow {
        let is_wheel = matches!(&event, Event::Mouse(mouse) if mouse::is_wheel(mouse.kind));
        let request = match event {
            Event::Key(key) if key.is_release() => return Flow::GoOn,
            Event::Resize(width, height) if (width, height) != self.screen => return Flow::Redraw,
            Event::Paste(text) if text.is_empty() => return Flow::GoOn,
            Event::Resize(..) | Event::FocusGained | Event::FocusLost => return Flow::GoOn,
            Event::Key(key) if self.skips(Key::of(key)) => return Flow::GoOn,
            Event::Key(key) => {
                self.compare();
                match self.model.keys.action(self.model.context(), Key::of(key)) {
                    Some(action) => {
                        if action == Action::Quit {
                            self.quit_by = Some(Key::of(key));
                        }
                        self.model.act(action, shown(&self.model))
                    }
                    None => {
                        self.model.hint();
                        None
                    }
                }
            }
            Event::Mouse(mouse) => {
                self.compare();
                self.mouse(mouse)
            }
            Event::Paste(text) => {
                self.compare();
                self.model.paste(&text.replace("\r\n", "\n").replace('\r', "\n"));
                None
            }
        };
        self.stale = true;
        let flow = request.map_or(Flow::GoOn, |request| self.do_it(server, request));
        // The mouse wheel leaves the cursor where it is.
        if !is_wheel || self.model.text().is_none() {
            reveal(&mut self.model);
        }
        flow
    }

    /// Passes a key of the panel on to it. Returns false for any other key.
    fn skips(&self, key: Key) -> bool {
        let beside = self.beside.as_ref().filter(|_| SKIP.contains(&key));
        beside.map(Beside::skip).is_some()
    }

    /// Compares the shown proposal with the current text, and fits it to the screen. The others are compared when
    /// they are shown, because that may take longer than a key.
    fn compare(&mut self) {
        if self.model.proposed().is_some() {
            self.model.compare(self.model.front);
            fit_proposal(&mut self.model);
        }
    }

    /// Sends the selection to the agents if it has changed, and schedules the check of changed texts.
    pub(crate) fn settle(&mut self, server: &mut Server, now: Time) {
        let selected = self
            .model
            .document()
            .map(|document| (document.path.clone(), document.buffer.state(), document.buffer.selection()));
        if selected != self.sent {
            let selection = self.model.document().map(Document::selection);
            if let Some(selection) = &selection {
                self.latest = Some(selection.clone());
            }
            let path =
                |of: &Option<(String, u64, std::ops::Range<usize>)>| of.as_ref().map(|of| of.0.clone());
            let is_other = path(&selected) != path(&self.sent);
            match server.select(now, selection.unwrap_or_else(Selection::cleared)) {
                Selected::Truncated => {
                    self.model
                        .notify(Tone::Plain, "more than 256 KiB are selected: agents receive the beginning");
                }
                Selected::Hidden if is_other && !server.is_paused() => {
                    self.model.notify(Tone::Plain, "agents do not receive this file");
                }
                _ => {}
            }
            self.sent = selected;
        }
        let unauthenticated = server.unauthenticated();
        self.stale |= self.model.unauthenticated != unauthenticated;
        self.model.unauthenticated = unauthenticated;
        if self.check_at.is_none() && self.model.documents.iter().any(|document| !document.is_checked()) {
            self.check_at = Some(now.saturating_add(REST));
        }
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.screen = size;
        self.model.size = if self.beside.is_some() { divide(size).0 } else { size };
        self.stale = true;
        reveal(&mut self.model);
    }

    fn check(&mut self, server: &mut Server) {
        self.check_at = None;
        let changed = self
            .model
            .documents
            .iter_mut()
            .filter_map(|document| document.check().then(|| local::uri_unencoded(&document.path)));
        let uris: Vec<String> = changed.collect();
        if !uris.is_empty() {
            self.stale = true;
            // An agent that reads too slowly will ask again when it needs the problems.
            let _ = server.diagnostics_changed(DiagnosticsChanged::Stale { uris });
        }
    }

    fn do_it(&mut self, server: &mut Server, request: Request) -> Flow {
        let done = match request {
            Request::Quit => {
                self.quit();
                Ok(())
            }
            Request::QuitAnyway => {
                self.quitting = Quitting::Now;
                Ok(())
            }
            Request::Redraw => {
                self.refresh();
                return Flow::Redraw;
            }
            Request::Refresh => {
                self.refresh();
                Ok(())
            }
            Request::Open(path) => self.open(&path),
            Request::OpenNamed(name) => {
                self.open_typed(name);
                Ok(())
            }
            Request::SaveAs { name, overwrite } => {
                self.save_as(name, overwrite);
                Ok(())
            }
            Request::Save => {
                self.save_shown();
                Ok(())
            }
            Request::Reload => {
                self.reload();
                Ok(())
            }
            Request::Mention(path) => self.mention(server, path.as_deref()),
            Request::Pause => {
                if server.is_paused() {
                    server.resume(self.model.now);
                } else {
                    server.pause(self.model.now);
                }
                self.model.is_paused = server.is_paused();
                Ok(())
            }
            Request::Decide(verdict) => self.decide(server, verdict),
            Request::AskAgent(question) => self.ask_agent(server, &question),
            Request::UndoEdit(edit) => {
                self.undo_edit(edit);
                Ok(())
            }
        };
        self.show_problem(done);
        Flow::GoOn
    }

    pub(crate) fn show_problem(&mut self, done: Result<(), String>) {
        if let Err(problem) = done {
            self.model.report(Tone::Bad, problem);
        }
    }

    /// Reads or writes for the user. `then` shows the outcome.
    pub(super) fn with_disk<R: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut Disk) -> R + Send + 'static,
        then: impl FnOnce(&mut Self, &mut Server, R) + Send + 'static,
    ) {
        self.disk.run(None, job, |app, server, _, outcome| {
            app.stale = true;
            then(app, server, outcome);
        });
    }
}
