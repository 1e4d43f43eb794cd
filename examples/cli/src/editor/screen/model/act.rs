//! The actions of the person on the model. An action that needs a disk or an agent results in a
//! request.

use super::buffer::{Buffer, Motion};
use super::document::Document;
use super::tree::RowKind;
use super::{Confirm, Focus, Model, Page, PageKind, Tone};
use crate::editor::diffs::Verdict;
use ide_mcp::rpc::CallId;
use std::path::PathBuf;

/// A context in which keys have a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Files,
    Text,
    /// A proposal.
    Proposal,
    /// The text of a proposal, while it is edited.
    Editing,
    /// The pages of help and activity.
    Page,
    /// The page of the files that agents wrote.
    Edits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Moves the cursor; with true, it selects.
    Go(Motion, bool),
    Type(char),
    NewLine,
    Backspace,
    Delete,
    Undo,
    Redo,
    Mark,
    SelectAll,
    Copy,
    Cut,
    Paste,
    Open,
    Fold,
    SwitchPane,
    NextFile,
    NextProblem,
    Save,
    Reload,
    Close,
    Leave,
    Mention,
    ShowProposal,
    NextProposal,
    Later,
    Accept,
    Reject,
    EditProposal,
    StopEditing,
    SideBySide,
    NextChange,
    PreviousChange,
    Help,
    Activity,
    /// Lists the files that agents wrote.
    Edits,
    /// Undoes the marked edit of an agent.
    UndoEdit,
    ClosePage,
    Redraw,
    /// Wraps long lines, or ends the wrapping.
    Wrap,
    /// Begins or ends a pause.
    Pause,
    Quit,
}

impl Action {
    /// Returns true if the action could harm something that came to the front while the key was
    /// pressed.
    const fn is_meant_for_what_is_seen(self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Reject
                | Self::Type(_)
                | Self::NewLine
                | Self::Backspace
                | Self::Delete
                | Self::Cut
                | Self::Paste
        )
    }
}

/// A request to the application, for work that the model cannot do itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Open(PathBuf),
    /// Lists the folders again.
    Refresh,
    Save,
    Reload,
    /// Mentions this file, or the shown file.
    Mention(Option<PathBuf>),
    Decide(Verdict),
    UndoEdit(CallId),
    Redraw,
    /// Begins or ends a pause.
    Pause,
    /// Ends the editor after the saves in progress.
    Quit,
    /// Ends the editor, even if changes are lost.
    QuitAnyway,
}

/// The visible extent of the view in front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) rows: usize,
    /// True if a diff is shown side by side.
    pub(crate) wide: bool,
}

impl Model {
    /// Returns the context of the next key.
    pub(crate) fn context(&self) -> Context {
        match self.focus {
            _ if self.page.is_some_and(|page| page.kind == PageKind::Edits) => Context::Edits,
            _ if self.page.is_some() => Context::Page,
            Focus::Files => Context::Files,
            Focus::Text => Context::Text,
            Focus::Proposal if self.proposed().is_some_and(|open| open.editing.is_some()) => Context::Editing,
            Focus::Proposal => Context::Proposal,
        }
    }

    /// Carries out an action. Returns the request for the work that the model cannot do itself, if
    /// any.
    pub(crate) fn act(&mut self, action: Action, shown: Shown) -> Option<Request> {
        self.dismiss();
        let confirmed = self.confirm.take();
        if action.is_meant_for_what_is_seen() && !self.is_live() {
            self.say(Tone::Plain, "the screen has just changed: look at it first");
            return None;
        }
        match action {
            Action::Go(motion, extend) => self.go(motion, extend, shown),
            Action::Type(_)
            | Action::NewLine
            | Action::Backspace
            | Action::Delete
            | Action::Cut
            | Action::Paste
            | Action::Undo
            | Action::Redo => {
                self.typed = Some(self.now);
                self.edit(action);
            }
            Action::Open if self.context() == Context::Edits => {
                let path = self.written.current()?.path.clone();
                self.page = None;
                return Some(Request::Open(path));
            }
            Action::Mark | Action::SelectAll | Action::Copy => self.edit(action),
            Action::Open => return self.open(),
            Action::Fold => return self.tree.fold().then_some(Request::Refresh),
            Action::SwitchPane => {
                self.focus = match self.focus {
                    Focus::Files if self.active.is_some() => Focus::Text,
                    _ => Focus::Files,
                };
            }
            Action::NextFile => self.next_file(),
            Action::NextProblem => self.next_problem(),
            Action::Save => return self.save(confirmed),
            Action::Reload => return self.reload(confirmed),
            Action::Close => self.close(confirmed),
            Action::Leave => {
                let unselected = self.document_mut().is_some_and(|document| document.buffer.unselect());
                if !unselected {
                    self.focus = Focus::Files;
                }
            }
            Action::Mention => return Some(Request::Mention(self.mentioned()?)),
            Action::ShowProposal if self.proposals.is_empty() => {
                self.say(Tone::Plain, "no change is proposed")
            }
            Action::ShowProposal => {
                self.enter_proposals();
                self.live = self.now;
            }
            Action::NextProposal if self.proposals.len() > 1 => {
                self.front =
                    self.front.checked_add(1).filter(|next| *next < self.proposals.len()).unwrap_or(0);
                self.live = self.now;
            }
            Action::NextProposal => self.say(Tone::Plain, "no other change is proposed"),
            Action::Later => self.leave_proposals(),
            Action::Accept => return self.decide(Verdict::Accept),
            Action::Reject => return self.decide(Verdict::Reject),
            Action::EditProposal => self.proposed_mut()?.edit(),
            Action::StopEditing => self.proposed_mut()?.stop_editing(),
            Action::SideBySide => self.switch(shown),
            Action::NextChange => self.proposed_mut()?.next_change(true, shown.wide, shown.rows),
            Action::PreviousChange => self.proposed_mut()?.next_change(false, shown.wide, shown.rows),
            Action::Help => self.page = Some(Page { kind: PageKind::Help, top: 0 }),
            Action::Activity => self.page = Some(Page { kind: PageKind::Activity, top: 0 }),
            Action::Edits => self.page = Some(Page { kind: PageKind::Edits, top: 0 }),
            Action::UndoEdit => return Some(Request::UndoEdit(self.written.current()?.id)),
            Action::ClosePage => self.page = None,
            Action::Wrap => {
                self.wraps = !self.wraps;
                self.say(
                    Tone::Plain,
                    if self.wraps { "long lines are wrapped" } else { "long lines are cut" },
                );
            }
            Action::Redraw => return Some(Request::Redraw),
            Action::Pause => return Some(Request::Pause),
            Action::Quit => return self.quit(confirmed),
        }
        None
    }

    /// Inserts a text that was pasted in the terminal.
    pub(crate) fn paste(&mut self, text: &str, continues: bool) {
        self.dismiss();
        self.typed = Some(self.now);
        if let Some(buffer) = self.buffer() {
            buffer.paste(text, continues);
        }
    }

    /// Returns the text that is shown, with or without the focus.
    pub(crate) fn text_in_front(&mut self) -> Option<&mut Buffer> {
        if self.proposed().is_some() {
            return self.proposed_mut()?.editing.as_mut();
        }
        self.document_mut().map(|document| &mut document.buffer)
    }

    /// Returns the text that keys change.
    pub(crate) fn buffer(&mut self) -> Option<&mut Buffer> {
        match self.context() {
            Context::Text => self.document_mut().map(|document| &mut document.buffer),
            Context::Editing => self.proposed_mut()?.editing.as_mut(),
            Context::Files | Context::Proposal | Context::Page | Context::Edits => None,
        }
    }

    /// Scrolls the view in front.
    pub(crate) fn scroll(&mut self, rows: isize, shown: Shown) {
        if self.context() == Context::Edits {
            self.written.step(rows);
        } else if let Some(page) = &mut self.page {
            page.top = page.top.saturating_add_signed(rows);
        } else if let Some(buffer) = self.buffer() {
            buffer.scroll(rows);
        } else if let Some(open) = self.proposed_mut() {
            open.scroll(rows, shown.wide, shown.rows);
        } else {
            self.tree.step(rows);
        }
    }

    fn go(&mut self, motion: Motion, extend: bool, shown: Shown) {
        if let Some(buffer) = self.buffer() {
            return buffer.go(motion, extend, shown.rows.saturating_sub(1).max(1));
        }
        let page = isize::try_from(shown.rows.saturating_sub(1).max(1)).unwrap_or(1);
        let far = isize::MAX / 2;
        let rows = match motion {
            Motion::Up => -1,
            Motion::Down => 1,
            Motion::PageUp => page.saturating_neg(),
            Motion::PageDown => page,
            Motion::LineStart | Motion::Start => -far,
            Motion::LineEnd | Motion::End => far,
            Motion::Left | Motion::Right | Motion::WordLeft | Motion::WordRight => 0,
        };
        if let (Motion::Left | Motion::Right, Some(open)) = (motion, self.proposed_mut()) {
            let by = if motion == Motion::Left { -8 } else { 8 };
            open.left = open.left.saturating_add_signed(by);
        }
        self.scroll(rows, shown);
    }

    fn edit(&mut self, action: Action) {
        let clip = self.clip.clone();
        let Some(buffer) = self.buffer() else { return };
        match action {
            Action::Type(character) => buffer.insert(character.encode_utf8(&mut [0; 4])),
            Action::NewLine => buffer.new_line(),
            Action::Backspace => buffer.backspace(),
            Action::Delete => buffer.delete(),
            Action::Mark => buffer.mark(),
            Action::SelectAll => buffer.select_all(),
            Action::Paste if !clip.is_empty() => buffer.insert(&clip),
            Action::Undo if !buffer.undo() => self.say(Tone::Plain, "nothing is left to take back"),
            Action::Redo if !buffer.redo() => self.say(Tone::Plain, "nothing was taken back"),
            Action::Copy | Action::Cut if !buffer.selected().is_empty() => {
                let text = buffer.selected().replace("\r\n", "\n");
                if action == Action::Cut {
                    buffer.delete();
                }
                self.clip = text;
            }
            Action::Copy | Action::Cut => {
                self.say(Tone::Plain, "nothing is selected; Ctrl+Q ends the editor")
            }
            _ => {}
        }
    }

    fn open(&mut self) -> Option<Request> {
        let row = self.tree.current()?;
        let path = row.path.clone();
        match row.kind {
            RowKind::File => Some(Request::Open(path)),
            RowKind::Folder { .. } => {
                self.tree.toggle(&path);
                Some(Request::Refresh)
            }
            RowKind::Note => None,
        }
    }

    /// Returns the file for a mention: a path, `Some(None)` for the shown file, or `None` if there is
    /// no file.
    fn mentioned(&mut self) -> Option<Option<PathBuf>> {
        let listed = self.tree.current().filter(|row| row.kind != RowKind::Note).map(|row| row.path.clone());
        match (self.focus, self.active, listed) {
            (Focus::Files, _, Some(path)) => Some(Some(path)),
            (Focus::Text, Some(_), _) => Some(None),
            _ => {
                self.say(Tone::Plain, "no file is here to be mentioned");
                None
            }
        }
    }

    fn next_file(&mut self) {
        let next = self.active.and_then(|active| active.checked_add(1));
        self.active = match next.filter(|next| *next < self.documents.len()) {
            Some(next) => Some(next),
            None => (!self.documents.is_empty()).then_some(0),
        };
    }

    fn next_problem(&mut self) {
        let Some(document) = self.document_mut() else { return };
        document.check();
        let Some(problem) = document.diagnostics.first() else {
            return self.say(Tone::Good, "no problem is known here");
        };
        let place = ide_mcp::ide::Range::new(problem.range.start, problem.range.start);
        document.select(place);
    }

    fn save(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let document = self.document()?;
        if document.conflict && confirmed != Some(Confirm::Save) {
            self.confirm = Some(Confirm::Save);
            self.say(Tone::Bad, "it has changed on disk: ^S again writes over that, ^R reads it");
            return None;
        }
        Some(Request::Save)
    }

    fn reload(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let document = self.document()?;
        if document.buffer.is_dirty() && confirmed != Some(Confirm::Reload) {
            self.confirm = Some(Confirm::Reload);
            self.say(Tone::Bad, "it is not saved: ^R again gives up what you changed");
            return None;
        }
        Some(Request::Reload)
    }

    fn close(&mut self, confirmed: Option<Confirm>) {
        let Some(active) = self.active else { return };
        if self.document().is_some_and(|document| !document.saving.is_empty()) {
            return self.say(Tone::Plain, "it is being saved: close it then");
        }
        if self.document().is_some_and(|document| document.buffer.is_dirty())
            && confirmed != Some(Confirm::Close)
        {
            self.confirm = Some(Confirm::Close);
            return self.say(Tone::Bad, "it is not saved: ^W again gives up what you changed");
        }
        self.documents.remove(active);
        self.active = self.documents.len().checked_sub(1).map(|last| active.min(last));
        if self.active.is_none() {
            self.focus = Focus::Files;
        }
    }

    fn decide(&mut self, verdict: Verdict) -> Option<Request> {
        self.proposed()?;
        // The typed keys went into this proposal, so they do not hold back the next proposal.
        self.typed = None;
        Some(Request::Decide(verdict))
    }

    fn switch(&mut self, shown: Shown) {
        self.wide = !self.wide;
        if self.wide && self.size.0 < crate::editor::screen::layout::SIDE_BY_SIDE {
            self.wide = false;
            return self.say(Tone::Plain, "side by side needs 100 columns");
        }
        if let Some(open) = self.proposed_mut() {
            open.switch(!shown.wide);
        }
    }

    fn quit(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let unsaved = self.labels(Document::is_unsaved);
        let lost = match (unsaved.as_slice(), self.proposals.len()) {
            ([], 0) => return Some(Request::Quit),
            _ if confirmed == Some(Confirm::Quit) => return Some(Request::QuitAnyway),
            ([], open) => format!("{} will be rejected", changes(open)),
            (names, 0) => format!("not saved: {}", names.join(", ")),
            (names, open) => format!("not saved: {}; {} will be rejected", names.join(", "), changes(open)),
        };
        self.confirm = Some(Confirm::Quit);
        self.say(Tone::Bad, format!("{lost}. ^Q again ends the editor"));
        None
    }
}

/// Returns the words for a number of proposed changes.
pub(crate) fn changes(count: usize) -> String {
    if count == 1 { "1 proposed change".into() } else { format!("{count} proposed changes") }
}
