//! What the user does to the model. An action that needs a disk or an agent returns a request.

use super::buffer::Motion;
use super::prompt::{Kind, Prompt};
use super::request::Request;
use super::{Confirm, Focus, Model, Page, PageKind, Tone};
use crate::editor::diffs::Verdict;
use crate::editor::screen::review;

/// From this number of columns on, a diff can be shown side by side.
pub(crate) const SIDE_BY_SIDE: u16 = 100;

/// Where a key is pressed, which decides what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Context {
    Files,
    Text,
    /// A proposal.
    Proposal,
    /// The text of a proposal, while it is edited.
    Editing,
    /// The text to find.
    Find,
    /// The answer to another question.
    Prompt,
    /// The pages of help and activity.
    Page,
    /// The page of the files that agents wrote.
    Edits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Action {
    /// Moves the cursor; with true, it selects.
    Go(Motion, bool),
    Type(char),
    NewLine,
    Backspace,
    Delete,
    Undo,
    Redo,
    Find,
    FindNext,
    FindPrevious,
    GoToLine,
    /// Asks for the name of a file, which may be new.
    OpenNamed,
    SaveAs,
    /// Opens the prompt for a question to the user at an agent.
    AskAgent,
    /// Answers the question in the status line.
    Answer,
    /// Leaves the question without an answer.
    LeavePrompt,
    Mark,
    SelectAll,
    Copy,
    Cut,
    Paste,
    Open,
    /// Opens the marked file that an agent wrote.
    OpenEdit,
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
    AcceptChange,
    RejectChange,
    UndecideChange,
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
    /// Returns the character that the action types.
    pub(crate) const fn typed(self) -> Option<char> {
        if let Self::Type(character) = self { Some(character) } else { None }
    }

    /// Returns the name of the action in the configuration file; `None` for those whose keys are fixed.
    pub(crate) const fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Go(..) | Self::Type(_) | Self::NewLine | Self::Backspace | Self::Delete => return None,
            Self::Undo => "undo",
            Self::Redo => "redo",
            Self::Find => "find",
            Self::FindNext => "find-next",
            Self::FindPrevious => "find-previous",
            Self::GoToLine => "go-to-line",
            Self::OpenNamed => "open-named",
            Self::SaveAs => "save-as",
            Self::AskAgent => "ask-agent",
            Self::Answer => "answer",
            Self::LeavePrompt => "leave-prompt",
            Self::Mark => "mark",
            Self::SelectAll => "select-all",
            Self::Copy => "copy",
            Self::Cut => "cut",
            Self::Paste => "paste",
            Self::Open => "open",
            Self::OpenEdit => "open-edit",
            Self::Fold => "fold",
            Self::SwitchPane => "switch-pane",
            Self::NextFile => "next-file",
            Self::NextProblem => "next-problem",
            Self::Save => "save",
            Self::Reload => "reload",
            Self::Close => "close",
            Self::Leave => "leave",
            Self::Mention => "mention",
            Self::ShowProposal => "show-proposal",
            Self::NextProposal => "next-proposal",
            Self::Later => "later",
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::EditProposal => "edit-proposal",
            Self::StopEditing => "stop-editing",
            Self::SideBySide => "side-by-side",
            Self::NextChange => "next-change",
            Self::PreviousChange => "previous-change",
            Self::AcceptChange => "accept-change",
            Self::RejectChange => "reject-change",
            Self::UndecideChange => "undecide-change",
            Self::Help => "help",
            Self::Activity => "activity",
            Self::Edits => "edits",
            Self::UndoEdit => "undo-edit",
            Self::ClosePage => "close-page",
            Self::Redraw => "redraw",
            Self::Wrap => "wrap",
            Self::Pause => "pause",
            Self::Quit => "quit",
        })
    }

    /// Returns true if the action could harm something that came to the front while the key was pressed.
    const fn changes_what_is_shown(self) -> bool {
        matches!(
            self,
            Self::Accept
                | Self::Reject
                | Self::AcceptChange
                | Self::RejectChange
                | Self::UndecideChange
                | Self::Type(_)
                | Self::NewLine
                | Self::Backspace
                | Self::Delete
                | Self::Cut
                | Self::Paste
        )
    }
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
            _ if matches!(&self.prompt, Some(Prompt { kind: Kind::Find(_), .. })) => Context::Find,
            _ if self.prompt.is_some() => Context::Prompt,
            Focus::Files => Context::Files,
            Focus::Text => Context::Text,
            Focus::Proposal if self.proposed().is_some_and(|open| open.editing.is_some()) => Context::Editing,
            Focus::Proposal => Context::Proposal,
        }
    }

    /// Carries out an action. Returns a request for work that the model cannot do itself, if there is any.
    pub(crate) fn act(&mut self, action: Action, shown: Shown) -> Option<Request> {
        self.dismiss();
        let confirmed = self.confirm.take();
        if action.changes_what_is_shown() && !self.is_live() {
            self.notify(Tone::Plain, "the screen has just changed: look at it first");
            return None;
        }
        match action {
            Action::Go(motion, extend) => self.go(motion, extend, shown),
            Action::Type(character) => self.type_text(character.encode_utf8(&mut [0; 4])),
            Action::NewLine
            | Action::Backspace
            | Action::Delete
            | Action::Cut
            | Action::Paste
            | Action::Undo
            | Action::Redo => {
                self.typed = Some(self.now);
                self.edit(action);
            }
            Action::OpenEdit => {
                let path = self.written.current()?.path.clone();
                self.page = None;
                return Some(Request::Open(path));
            }
            Action::Mark | Action::SelectAll | Action::Copy => self.edit(action),
            Action::Find => self.ask_find(),
            Action::FindNext => self.find_next(),
            Action::FindPrevious => self.find_previous(),
            Action::GoToLine => self.ask_line(),
            Action::OpenNamed => self.ask_open(),
            Action::SaveAs => self.ask_save_as(),
            Action::AskAgent => self.ask_question(),
            Action::Answer => return self.answer(confirmed),
            Action::LeavePrompt => self.leave_prompt(),
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
                self.notify(Tone::Plain, "no change is proposed")
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
            Action::NextProposal => self.notify(Tone::Plain, "no other change is proposed"),
            Action::Later => self.leave_proposals(),
            Action::Accept => return self.accept(),
            Action::Reject => return self.reject(confirmed),
            Action::EditProposal => self.proposed_mut()?.edit(),
            Action::StopEditing => self.proposed_mut()?.stop_editing(),
            Action::SideBySide => self.switch(),
            Action::NextChange => self.proposed_mut()?.next_hunk(true, shown.rows),
            Action::PreviousChange => self.proposed_mut()?.next_hunk(false, shown.rows),
            Action::AcceptChange => self.decide_change(review::Verdict::Accepted, shown),
            Action::RejectChange => self.decide_change(review::Verdict::Rejected, shown),
            Action::UndecideChange => self.decide_change(review::Verdict::Undecided, shown),
            Action::Help => self.page = Some(Page { kind: PageKind::Help, top: 0 }),
            Action::Activity => {
                self.read_wrong_tokens = self.unauthenticated.wrong_tokens;
                self.page = Some(Page { kind: PageKind::Activity, top: 0 });
            }
            Action::Edits => self.page = Some(Page { kind: PageKind::Edits, top: 0 }),
            Action::UndoEdit => return Some(Request::UndoEdit(self.written.current()?.id)),
            Action::ClosePage => self.page = None,
            Action::Wrap => {
                self.wraps = !self.wraps;
                self.notify(
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

    fn accept(&mut self) -> Option<Request> {
        let key = self.keys.key(Action::Accept, true);
        let open = self.proposed_mut()?;
        if open.accepted().is_none() {
            let question = open.question(&key);
            self.notify(Tone::Bad, question);
            return None;
        }
        // The typed keys went into this proposal, so they must not hold back the next one.
        self.typed = None;
        Some(Request::Decide(Verdict::Accept))
    }

    fn reject(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let (accepted, _, all) = self.proposed()?.counts();
        if accepted > 0 && confirmed != Some(Confirm::Reject) {
            self.confirm = Some(Confirm::Reject);
            let key = self.keys.key(Action::Reject, true);
            self.notify(
                Tone::Bad,
                format!("{key} again rejects all: {accepted} of {all} changes are accepted"),
            );
            return None;
        }
        self.typed = None;
        Some(Request::Decide(Verdict::Reject))
    }

    fn decide_change(&mut self, verdict: review::Verdict, shown: Shown) {
        let is_decided = self.proposed_mut().is_some_and(|open| open.decide(verdict, shown.rows));
        if !is_decided {
            self.notify(Tone::Plain, "there is no change here to decide about");
        }
    }

    fn switch(&mut self) {
        self.wide = !self.wide;
        if self.wide && self.size.0 < SIDE_BY_SIDE {
            self.wide = false;
            self.notify(Tone::Plain, "side by side needs a screen of 100 columns");
        }
    }
}

/// Returns a number of proposed changes in words.
pub(crate) fn changes(count: usize) -> String {
    if count == 1 { "1 proposed change".into() } else { format!("{count} proposed changes") }
}
