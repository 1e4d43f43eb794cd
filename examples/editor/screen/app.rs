//! What happens, from either side: the person at the terminal, the agents, and the disk.

use super::disk;
use super::keys::{Input, Mouse, MouseKind};
use super::layout::{layout, shown};
use super::model::act::{Request, changes};
use super::model::document::Document;
use super::model::tree::{RowKind, Tree};
use super::model::{Focus, Model, Tone};
use super::view::{place_in_text, reveal};
use super::{bindings, view::canvas::Canvas};
use crate::diffs::Verdict;
use crate::folders::Folders;
use crate::options::OnDiff;
use ide_mcp::Time;
use ide_mcp::ide::{DiagnosticsChanged, Host, Mention, Selected, Selection};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often the disk is looked at. An agent that has written a file asks for its problems, and is looked after at once.
const WATCH: Duration = Duration::from_secs(1);
/// How long a text must rest before it is checked.
const REST: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub(crate) struct App {
    pub(crate) model: Model,
    pub(crate) folders: Folders,
    pub(crate) on_diff: OnDiff,
    /// What was selected last, wherever the focus is.
    pub(crate) latest: Option<Selection>,
    /// What the agents were told of the selection: file, text, range.
    told: Option<(String, u64, std::ops::Range<usize>)>,
    watch_at: Time,
    check_at: Option<Time>,
    /// When the unfolded folders were changed last.
    folder_times: BTreeMap<PathBuf, Option<SystemTime>>,
    /// What is wrong with the lock file, to be said once more at the end.
    pub(crate) lock_problem: Option<String>,
    /// Whether the screen has to be drawn.
    pub(crate) stale: bool,
}

/// What the loop has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    /// Draw everything again.
    Redraw,
    Quit,
}

impl App {
    pub(crate) fn new(folders: Folders, on_diff: OnDiff) -> Self {
        let mut app = Self {
            model: Model::new(Tree::new(folders.given().to_vec())),
            folders,
            on_diff,
            latest: None,
            told: None,
            watch_at: Time::ZERO,
            check_at: None,
            folder_times: BTreeMap::new(),
            lock_problem: None,
            stale: true,
        };
        app.refresh();
        app
    }

    /// Time passed: looks at the disk, and checks texts that rest.
    pub(crate) fn tick(&mut self, host: &mut Host, now: Time) {
        let was_live = self.model.is_live();
        self.model.now = now;
        self.stale |= was_live != self.model.is_live();
        if self.watch_at <= now {
            self.look();
        }
        if self.check_at.is_some_and(|at| at <= now) {
            self.check(host);
        }
    }

    pub(crate) fn deadline(&self) -> Option<Time> {
        let times = [Some(self.watch_at), self.check_at, self.model.deadline()];
        times.into_iter().flatten().min()
    }

    /// The screen as it is now.
    pub(crate) fn draw(&mut self) -> Canvas {
        self.stale = false;
        super::view::draw(&self.model)
    }

    /// The person did something.
    pub(crate) fn input(&mut self, host: &mut Host, now: Time, input: &Input) -> Flow {
        self.model.now = now;
        self.stale = true;
        let request = match input {
            Input::Key(key) => {
                let action = bindings::action(self.model.context(), *key);
                action.and_then(|action| self.model.act(action, shown(&self.model)))
            }
            Input::Mouse(mouse) => self.mouse(*mouse),
            Input::Paste(text) => {
                self.model.paste(text);
                None
            }
        };
        let flow = request.map_or(Flow::GoOn, |request| self.do_it(host, request));
        // The wheel leaves the cursor where it is.
        let is_wheel = matches!(input, Input::Mouse(mouse) if matches!(mouse.what, MouseKind::WheelUp | MouseKind::WheelDown));
        if !is_wheel || self.model.buffer().is_none() {
            reveal(&mut self.model);
        }
        flow
    }

    /// Tells the agents what is selected, if it is something else, and has texts checked that have changed.
    pub(crate) fn settle(&mut self, host: &mut Host, now: Time) {
        let selected = self
            .model
            .document()
            .map(|document| (document.path.clone(), document.buffer.state(), document.buffer.selection()));
        if selected != self.told {
            let selection = self.model.document().map(Document::selection);
            if let Some(selection) = &selection {
                self.latest = Some(selection.clone());
            }
            if host.select(now, selection.unwrap_or_else(Selection::cleared)) == Selected::Cut {
                self.model.say(Tone::Plain, "more than 256 KiB are selected: agents see the beginning");
            }
            self.told = selected;
        }
        let strangers = host.strangers();
        self.stale |= self.model.strangers != strangers;
        self.model.strangers = strangers;
        if self.check_at.is_none() && self.model.documents.iter().any(|document| !document.is_checked()) {
            self.check_at = Some(now.after(REST));
        }
    }

    pub(crate) fn resize(&mut self, size: (u16, u16)) {
        self.model.size = size;
        self.stale = true;
        reveal(&mut self.model);
    }

    /// Looks whether files have changed on disk: reads those that are not changed here.
    pub(crate) fn look(&mut self) {
        self.watch_at = self.model.now.after(WATCH);
        for index in 0..self.model.documents.len() {
            let Some(document) = self.model.documents.get_mut(index) else { continue };
            let stamp = disk::stamp(&document.real);
            if stamp == document.stamp {
                continue;
            }
            self.stale = true;
            let (label, was_missing) = (document.label.clone(), !document.stamp.exists);
            if !stamp.exists {
                document.stamp = stamp;
                self.model.tell(Tone::Bad, format!("{label} is gone from disk; it is still here"));
                continue;
            }
            match crate::read::read(&document.real) {
                Ok(text) if !document.buffer.is_dirty() || document.buffer.text().as_str() == text => {
                    document.reload(text, stamp);
                    let what =
                        if was_missing { "is there again" } else { "was changed on disk and read again" };
                    self.model.tell(Tone::Plain, format!("{label} {what}"));
                }
                Ok(_) => {
                    document.stamp = stamp;
                    document.conflict = true;
                    self.model.tell(Tone::Bad, format!("{label} has changed here and on disk"));
                }
                Err(error) => {
                    document.stamp = stamp;
                    self.model.tell(Tone::Bad, error);
                }
            }
        }
        let times: BTreeMap<_, _> = self.model.tree.unfolded().map(modified).collect();
        if times != self.folder_times {
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        self.stale = true;
        self.folder_times = self.model.tree.unfolded().map(modified).collect();
        let folders = &self.folders;
        self.model.tree.refresh(|folder| disk::list(folders, folder));
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
            // Who reads too slowly asks again when it wants to know.
            let _ = host.diagnostics_changed(DiagnosticsChanged::Stale { uris });
        }
    }

    fn do_it(&mut self, host: &mut Host, request: Request) -> Flow {
        let done = match request {
            Request::Quit => return Flow::Quit,
            Request::Redraw => {
                self.refresh();
                return Flow::Redraw;
            }
            Request::Refresh => {
                self.refresh();
                Ok(())
            }
            Request::Open(path) => self.open(&path),
            Request::Save => self.save(),
            Request::Reload => self.reload(),
            Request::Mention(path) => self.mention(host, path.as_deref()),
            Request::Decide(verdict) => self.decide(host, verdict),
        };
        if let Err(problem) = done {
            self.model.tell(Tone::Bad, problem);
        }
        Flow::GoOn
    }

    fn open(&mut self, path: &Path) -> Result<(), String> {
        let document = disk::open(&self.folders, &crate::workspace::unicode(path)?)?;
        self.model.active = Some(self.model.show(document));
        self.model.focus = Focus::Text;
        Ok(())
    }

    fn save(&mut self) -> Result<(), String> {
        let Some(document) = self.model.document_mut() else { return Ok(()) };
        let label = document.label.clone();
        save(document)?;
        self.model.tell(Tone::Good, format!("{label} is saved"));
        Ok(())
    }

    fn reload(&mut self) -> Result<(), String> {
        let Some(document) = self.model.document_mut() else { return Ok(()) };
        let stamp = disk::stamp(&document.real);
        document.reload(crate::read::read(&document.real)?, stamp);
        let text = format!("{} is as it is on disk", document.label);
        self.model.say(Tone::Good, text);
        Ok(())
    }

    /// Without a path, what is selected in the file that is shown, or that file.
    fn mention(&mut self, host: &mut Host, path: Option<&Path>) -> Result<(), String> {
        let mention = match (path, self.model.document()) {
            (Some(path), _) => {
                let inside = self.folders.find(&crate::workspace::unicode(path)?)?;
                Mention::new(crate::workspace::unicode(&inside.shown)?, None)
            }
            (None, Some(document)) => {
                let lines = u32::try_from(document.buffer.text().lines()).unwrap_or(u32::MAX);
                Mention::new(&document.path, document.selected_lines()).with_line_count(lines)
            }
            (None, None) => return Ok(()),
        };
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
        self.model.tell(tone, format!("{what} {to}"));
        Ok(())
    }

    fn decide(&mut self, host: &mut Host, verdict: Verdict) -> Result<(), String> {
        let Some(call) = self.model.proposed().map(|open| open.proposal.call) else { return Ok(()) };
        let Some(taken) = self.model.take_proposal(call) else { return Ok(()) };
        let (label, edited) = (taken.label.clone(), taken.is_edited());
        let outcome = taken.outcome(verdict);
        host.decide(call, &outcome)
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
                return self.model.act(super::model::act::Action::ShowProposal, shown);
            }
            MouseKind::Press if places.files.is_some_and(|area| area.contains(column, row)) => {
                let offset = places.files.map_or(0, |area| row.saturating_sub(area.y));
                let at = self.model.tree.top.saturating_add(offset.into());
                self.model.focus = Focus::Files;
                let kind = self.model.tree.rows.get(at)?.kind;
                self.model.tree.cursor = at;
                let shown = shown(&self.model);
                return (kind != RowKind::Note)
                    .then(|| self.model.act(super::model::act::Action::Open, shown))
                    .flatten();
            }
            MouseKind::Press | MouseKind::Drag => {
                let is_inside = places.main.is_some_and(|area| area.contains(column, row));
                if what == MouseKind::Press && is_inside && self.model.focus == Focus::Files {
                    self.model.focus = if self.model.active.is_some() { Focus::Text } else { Focus::Files };
                }
                let (line, column) = place_in_text(&self.model, column, row)?;
                // Above and below what is shown: on to there.
                let above = places.main.is_some_and(|area| row < area.y);
                let line = if above { line.saturating_sub(1) } else { line };
                if is_inside || what == MouseKind::Drag {
                    self.model.buffer()?.point(line, column, shift || what == MouseKind::Drag);
                }
            }
        }
        None
    }

    /// What to say after the screen is gone.
    pub(crate) fn farewell(&self, why: &str, rejected: usize) -> String {
        let mut text = format!("editor: ended by {why}");
        if rejected > 0 {
            text.push_str(&format!("; {} rejected", changes(rejected)));
        }
        let unsaved = self.model.unsaved();
        if !unsaved.is_empty() {
            text.push_str(&format!("; not saved: {}", unsaved.join(", ")));
        }
        text
    }
}

/// Writes a file that is open.
pub(crate) fn save(document: &mut Document) -> Result<(), String> {
    let stamp = disk::write(&document.real, document.buffer.text().as_str())?;
    document.saved(stamp);
    Ok(())
}

fn modified(folder: &Path) -> (PathBuf, Option<SystemTime>) {
    (folder.to_owned(), folder.metadata().and_then(|metadata| metadata.modified()).ok())
}
