//! The application with a screen: it handles the input of the person, the events of the agents, and
//! the changes on disk.

use super::disk::{self, Disk, Found, Listing, Seen};
use super::keys::{Input, Mouse, MouseKind};
use super::layout::{layout, shown};
use super::model::act::{Action, Request, changes};
use super::model::document::Document;
use super::model::tree::{RowKind, Tree};
use super::model::{Focus, Model, Tone};
use super::view::{byte_in_text, fit, reveal};
use super::{bindings, view::canvas::Canvas};
use crate::editor::diffs::Verdict;
use crate::editor::edits::Expected;
use crate::editor::folders::Folders;
use crate::editor::options::OnDiff;
use crate::editor::worker::Worker;
use crate::editor::workspace::unicode;
use ide_mcp::Time;
use ide_mcp::ide::{DiagnosticsChanged, Host, Mention, Selected, Selection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{io, mem};

/// The interval between two looks at the disk, which find the changes of open files and folders. An
/// agent that has written a file asks for its problems, and that call looks at the disk at once.
const WATCH: Duration = Duration::from_secs(1);
/// The time between a change of a text and its check.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) model: Model,
    pub(crate) folders: Folders,
    /// Reads and writes files on a thread: the loop never waits for a disk.
    pub(crate) disk: Worker<Disk, Self>,
    pub(crate) on_diff: OnDiff,
    pub(super) expected_edits: Expected,
    /// The latest selection, regardless of the focus. It remains after its file is closed.
    pub(crate) latest: Option<Selection>,
    /// The selection that was last sent to the agents: file, state of the text, range.
    sent: Option<(String, u64, std::ops::Range<usize>)>,
    /// The time of the next look at the disk; `None` during a look.
    watch_at: Option<Time>,
    /// True if another look has to follow the current one.
    looks_again: bool,
    check_at: Option<Time>,
    /// The times at which the unfolded folders were last changed.
    folder_times: BTreeMap<PathBuf, Option<SystemTime>>,
    /// The problem of the lock file, which is printed once more at the end.
    pub(crate) lock_problem: Option<String>,
    /// True if the screen has to be drawn.
    pub(crate) stale: bool,
    pub(crate) quitting: Quitting,
}

/// The request of the person to end the editor.
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
    /// Creates the application. It calls `wake` when the disk thread has finished a job and
    /// [`tick`](Self::tick) has to be called.
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
            latest: None,
            sent: None,
            watch_at: Some(Time::ZERO),
            looks_again: false,
            check_at: None,
            folder_times: BTreeMap::new(),
            lock_problem: None,
            stale: true,
            quitting: Quitting::No,
        };
        app.refresh();
        Ok(app)
    }

    /// Runs the follow-ups of finished disk jobs, and starts the look and the checks that are due.
    pub(crate) fn tick(&mut self, host: &mut Host, now: Time) {
        let was_live = self.model.is_live();
        self.model.now = now;
        self.stale |= was_live != self.model.is_live();
        self.stale |= self.model.expire();
        while let Some(follow_up) = self.disk.next() {
            follow_up(self, host, now);
        }
        if self.watch_at.is_some_and(|at| at <= now) {
            self.look();
        }
        if self.check_at.is_some_and(|at| at <= now) {
            self.check(host);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        let times = [self.watch_at, self.check_at, self.model.deadline()];
        times.into_iter().flatten().min()
    }

    /// Draws the current state.
    pub(crate) fn draw(&mut self) -> Canvas {
        self.stale = false;
        fit(&mut self.model);
        super::view::draw(&self.model)
    }

    /// Handles an input of the person.
    pub(crate) fn input(&mut self, host: &mut Host, now: Time, input: &Input) -> Flow {
        self.model.now = now;
        self.stale = true;
        let request = match input {
            Input::Key(key) => {
                let action = bindings::action(self.model.context(), *key);
                action.and_then(|action| self.model.act(action, shown(&self.model)))
            }
            Input::Mouse(mouse) => self.mouse(*mouse),
            Input::Paste { text, continues } => {
                self.model.paste(text, *continues);
                None
            }
        };
        let flow = request.map_or(Flow::GoOn, |request| self.do_it(host, request));
        // The mouse wheel leaves the cursor where it is.
        let is_wheel = matches!(input, Input::Mouse(mouse) if matches!(mouse.what, MouseKind::WheelUp | MouseKind::WheelDown));
        if !is_wheel || self.model.buffer().is_none() {
            reveal(&mut self.model);
        }
        flow
    }

    /// Sends the selection to the agents if it has changed, and schedules the check of changed texts.
    pub(crate) fn settle(&mut self, host: &mut Host, now: Time) {
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
            match host.select(now, selection.unwrap_or_else(Selection::cleared)) {
                Selected::Truncated => {
                    self.model.say(Tone::Plain, "more than 256 KiB are selected: agents see the beginning");
                }
                Selected::Hidden if is_other && !host.is_paused() => {
                    self.model.say(Tone::Plain, "agents do not receive this file");
                }
                _ => {}
            }
            self.sent = selected;
        }
        let unauthenticated = host.unauthenticated();
        self.stale |= self.model.unauthenticated != unauthenticated;
        self.model.unauthenticated = unauthenticated;
        if self.check_at.is_none() && self.model.documents.iter().any(|document| !document.is_checked()) {
            self.check_at = Some(now.saturating_add(REST));
        }
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.model.size = size;
        self.stale = true;
        reveal(&mut self.model);
    }

    /// Looks for changes of files on disk. During a look, it schedules another one.
    pub(crate) fn look(&mut self) {
        if self.watch_at.take().is_none() {
            self.looks_again = true;
            return;
        }
        let seen = self.seen();
        self.disk.run(
            None,
            move |disk| disk::look(&disk.folders, seen),
            |app, _, now, found| {
                app.watch_at = Some(now.saturating_add(WATCH));
                app.found(found);
                if mem::take(&mut app.looks_again) {
                    app.look();
                }
            },
        );
    }

    /// Returns the state to which the disk is compared.
    pub(crate) fn seen(&self) -> Seen {
        let files = self.model.documents.iter().map(|document| (document.real.clone(), document.stamp));
        let time = |folder: &Path| self.folder_times.get(folder).copied().flatten();
        let folders = self.model.tree.unfolded().map(|folder| (folder.to_owned(), time(folder)));
        Seen { files: files.collect(), folders: folders.collect() }
    }

    /// Takes over the changes on disk. A text that was also changed in the editor stays.
    pub(crate) fn found(&mut self, found: Found) {
        for changed in found.files {
            let document = self.model.documents.iter_mut().find(|document| document.real == changed.real);
            // A file that was closed, read or written in the meantime is handled at the next look.
            let Some(document) = document.filter(|document| document.stamp == changed.seen) else { continue };
            self.stale = true;
            let (label, was_missing) = (document.label.clone(), !document.stamp.exists);
            document.stamp = changed.stamp;
            if !changed.stamp.exists {
                self.model.report(Tone::Bad, format!("{label} is gone from disk; it is still here"));
                continue;
            }
            match changed.text {
                Ok(text) if !document.buffer.is_dirty() || document.buffer.text().as_str() == text => {
                    document.reload(text, changed.stamp);
                    reveal(&mut self.model);
                    let what =
                        if was_missing { "is there again" } else { "was changed on disk and read again" };
                    self.model.report(Tone::Plain, format!("{label} {what}"));
                }
                Ok(_) => {
                    document.conflict = true;
                    self.model.report(Tone::Bad, format!("{label} has changed here and on disk"));
                }
                Err(error) => self.model.report(Tone::Bad, error),
            }
        }
        if let Some(listing) = found.listing {
            self.listed(listing);
        }
    }

    fn refresh(&mut self) {
        let unfolded: Vec<PathBuf> = self.model.tree.unfolded().map(Path::to_owned).collect();
        self.disk.run(
            None,
            |disk| disk::list_all(&disk.folders, unfolded),
            |app, _, _, listing| app.listed(listing),
        );
    }

    fn listed(&mut self, listing: Listing) {
        self.stale = true;
        let Listing { times, mut entries } = listing;
        self.folder_times = times;
        self.model.tree.refresh(|folder| entries.remove(folder).unwrap_or_default());
        reveal(&mut self.model);
    }

    fn check(&mut self, host: &mut Host) {
        self.check_at = None;
        let changed = self
            .model
            .documents
            .iter_mut()
            .filter_map(|document| document.check().then(|| format!("file://{}", document.path)));
        let uris: Vec<String> = changed.collect();
        if !uris.is_empty() {
            self.stale = true;
            // An agent that reads too slowly asks again when it needs the problems.
            let _ = host.diagnostics_changed(DiagnosticsChanged::Stale { uris });
        }
    }

    fn do_it(&mut self, host: &mut Host, request: Request) -> Flow {
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
            Request::Save => {
                self.save_shown();
                Ok(())
            }
            Request::Reload => {
                self.reload();
                Ok(())
            }
            Request::Mention(path) => self.mention(host, path.as_deref()),
            Request::Pause => {
                if host.is_paused() {
                    host.resume(self.model.now);
                } else {
                    host.pause(self.model.now);
                }
                self.model.is_paused = host.is_paused();
                Ok(())
            }
            Request::Decide(verdict) => self.decide(host, verdict),
            Request::UndoEdit(edit) => {
                self.undo_edit(edit);
                Ok(())
            }
        };
        self.show_problem(done);
        Flow::GoOn
    }

    fn show_problem(&mut self, done: Result<(), String>) {
        if let Err(problem) = done {
            self.model.report(Tone::Bad, problem);
        }
    }

    /// Reads or writes for the person. `then` shows the outcome.
    pub(super) fn with_disk<R: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut Disk) -> R + Send + 'static,
        then: impl FnOnce(&mut Self, &mut Host, R) + Send + 'static,
    ) {
        self.disk.run(None, job, |app, host, _, outcome| {
            app.stale = true;
            then(app, host, outcome);
        });
    }

    /// Ends the editor after the saves in progress. A second request ends it at once.
    fn quit(&mut self) {
        let saving = self.model.labels(|document| !document.saving.is_empty()).join(", ");
        self.quitting = match self.quitting {
            Quitting::No if !saving.is_empty() => {
                let said = format!("{saving} is being saved. ^Q again ends the editor at once");
                self.model.hold(said);
                Quitting::WhenSaved
            }
            Quitting::WhenSaved if !saving.is_empty() => Quitting::AtOnce,
            _ => Quitting::Now,
        };
    }

    /// Ends the editor when everything is saved, unless another change would now be lost.
    fn quit_when_saved(&mut self) {
        if self.quitting == Quitting::WhenSaved && !self.is_saving() {
            self.quitting = Quitting::No;
            if self.model.act(Action::Quit, shown(&self.model)) == Some(Request::Quit) {
                self.quitting = Quitting::Now;
            }
        }
    }

    /// Returns true if a file is being saved.
    pub(crate) fn is_saving(&self) -> bool {
        self.model.documents.iter().any(|document| !document.saving.is_empty())
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        let label = self.folders.label(path);
        let path = unicode(path)?;
        let reading = format!("{label} is being read");
        self.model.hold(reading.as_str());
        let before = self.in_front();
        self.with_disk(
            move |disk| disk::open(&disk.folders, disk.folders.find(&path)?),
            move |app, _, document| {
                app.model.message.take_if(|message| message.text == reading);
                match document {
                    Ok(document) if app.in_front() == before => {
                        app.model.active = Some(app.model.show(document));
                        app.model.focus = Focus::Text;
                        reveal(&mut app.model);
                    }
                    // The person has moved on: the next keys are meant for something else.
                    Ok(document) => {
                        app.model.show(document);
                        app.model.report(Tone::Plain, format!("{label} is open, behind the others"));
                    }
                    Err(problem) => app.model.report(Tone::Bad, problem),
                }
            },
        );
        Ok(())
    }

    /// Returns the receiver of keys: the focus and the shown file.
    fn in_front(&self) -> (Focus, Option<PathBuf>) {
        (self.model.focus, self.model.document().map(|document| document.real.clone()))
    }

    fn save_shown(&mut self) {
        let Some(document) = self.model.document() else { return };
        let (real, label) = (document.real.clone(), document.label.clone());
        self.save(&real, move |app, _, saved| match saved {
            Ok(()) => app.model.report(Tone::Good, format!("{label} is saved")),
            Err(problem) => app.model.report(Tone::Bad, problem),
        });
    }

    /// Writes an open file as it is now, and then calls `then`.
    pub(crate) fn save(
        &mut self,
        real: &Path,
        then: impl FnOnce(&mut Self, &mut Host, Result<(), String>) + Send + 'static,
    ) {
        let document = self.model.documents.iter_mut().find(|document| document.real == real);
        let Some(document) = document else { return };
        let (real, seen) = (document.real.clone(), document.stamp);
        let text = document.buffer.text().as_str().to_owned();
        document.saving.push(document.buffer.state());
        let write = move |disk: &mut Disk| {
            let written = disk.save(&real, &text, seen);
            (real, written)
        };
        self.with_disk(write, move |app, host, (real, written)| {
            let document = app.model.documents.iter_mut().find(|document| document.real == real);
            if let Some(document) = document {
                document.saved(written.as_ref().ok().copied());
            }
            if written.is_err() {
                app.quitting = Quitting::No;
                // The save has possibly failed because the file has changed.
                app.look();
            }
            then(app, host, written.map(drop));
            app.quit_when_saved();
        });
    }

    fn reload(&mut self) {
        let Some(document) = self.model.document() else { return };
        let (real, state) = (document.real.clone(), document.buffer.state());
        let read = move |_: &mut Disk| disk::reread(&real).map(|(text, stamp)| (real, text, stamp));
        self.with_disk(read, move |app, _, read| match read {
            Ok((real, text, stamp)) => {
                let document = app.model.documents.iter_mut().find(|document| document.real == real);
                let Some(document) = document else { return };
                let label = document.label.clone();
                if document.buffer.state() == state {
                    document.reload(text, stamp);
                    reveal(&mut app.model);
                    app.model.say(Tone::Good, format!("{label} is as it is on disk"));
                } else {
                    app.model
                        .report(Tone::Bad, format!("{label} was changed here while it was read: it stays"));
                }
            }
            Err(problem) => app.model.report(Tone::Bad, problem),
        });
    }

    /// Mentions a file. Without a path, it mentions the selected lines of the shown file, or the
    /// whole file.
    fn mention(&mut self, host: &mut Host, path: Option<&Path>) -> Result<(), String> {
        if let Some(path) = path {
            let path = unicode(path)?;
            let find = move |disk: &mut Disk| unicode(&disk.folders.find(&path)?.shown);
            self.with_disk(find, |app, host, found| {
                let done = found.and_then(|path| app.mention_this(host, Mention::new(path, None)));
                app.show_problem(done);
            });
            return Ok(());
        }
        let Some(document) = self.model.document() else { return Ok(()) };
        let lines = u32::try_from(document.buffer.text().lines()).unwrap_or(u32::MAX);
        let mention = Mention::new(&document.path, document.selected_lines()).with_line_count(lines);
        self.mention_this(host, mention)
    }

    fn mention_this(&mut self, host: &mut Host, mention: Mention) -> Result<(), String> {
        let label = self.folders.label(Path::new(&mention.file_path));
        let what = match mention.lines {
            None => label,
            Some((first, last)) if first == last => format!("{label} line {}", first.saturating_add(1)),
            Some((first, last)) => {
                format!("{label} lines {} to {}", first.saturating_add(1), last.saturating_add(1))
            }
        };
        host.mention(self.model.now, mention, None).map_err(|error| error.to_string())?;
        let (tone, to) = match self.model.agents.last() {
            Some(agent) => (Tone::Good, format!("mentioned to {}", agent.name)),
            None => (Tone::Plain, "waits up to 30 s for an agent".into()),
        };
        self.model.report(tone, format!("{what} {to}"));
        Ok(())
    }

    fn decide(&mut self, host: &mut Host, verdict: Verdict) -> Result<(), String> {
        let Some(call) = self.model.proposed().map(|open| open.proposal.call.id()) else { return Ok(()) };
        let Some(taken) = self.model.take_proposal(call) else { return Ok(()) };
        let (label, edited) = (taken.label.clone(), taken.is_edited());
        let (call, outcome) = taken.decided(verdict);
        host.answer(call, &outcome)
            .map_err(|gone| format!("the verdict about {label} came too late: {gone}"))?;
        self.model.decided(&label, verdict, edited && verdict == Verdict::Accept);
        Ok(())
    }

    fn mouse(&mut self, mouse: Mouse) -> Option<Request> {
        let Mouse { what, column, row, shift } = mouse;
        let places = layout(&self.model);
        match what {
            MouseKind::WheelUp => self.model.scroll(-3, shown(&self.model)),
            MouseKind::WheelDown => self.model.scroll(3, shown(&self.model)),
            MouseKind::Release => {}
            MouseKind::Press if places.banner.is_some_and(|area| area.contains(column, row)) => {
                let shown = shown(&self.model);
                return self.model.act(Action::ShowProposal, shown);
            }
            MouseKind::Press if places.files.is_some_and(|area| area.contains(column, row)) => {
                let offset = places.files.map_or(0, |area| row.saturating_sub(area.y));
                let at = self.model.tree.top.saturating_add(offset.into());
                self.model.focus = Focus::Files;
                let kind = self.model.tree.rows.get(at)?.kind;
                self.model.tree.cursor = at;
                let shown = shown(&self.model);
                return (kind != RowKind::Note).then(|| self.model.act(Action::Open, shown)).flatten();
            }
            MouseKind::Press | MouseKind::Drag => {
                let is_inside = places.main.is_some_and(|area| area.contains(column, row));
                if what == MouseKind::Press && is_inside && self.model.focus == Focus::Files {
                    self.model.focus = if self.model.active.is_some() { Focus::Text } else { Focus::Files };
                }
                let byte = byte_in_text(&self.model, column, row)?;
                if is_inside || what == MouseKind::Drag {
                    self.model.buffer()?.point_at(byte, shift || what == MouseKind::Drag);
                }
            }
        }
        None
    }

    /// Returns the text that is printed after the screen is gone.
    pub(crate) fn farewell(&self, reason: &str, rejected: usize) -> String {
        let mut text = format!("editor: ended by {reason}");
        if rejected > 0 {
            text.push_str(&format!("; {} rejected", changes(rejected)));
        }
        let unsaved = self.model.labels(|document| document.buffer.is_dirty());
        if !unsaved.is_empty() {
            text.push_str(&format!("; not saved: {}", unsaved.join(", ")));
        }
        text
    }
}
