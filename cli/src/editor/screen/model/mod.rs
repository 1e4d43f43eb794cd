//! The state of the editor: files, texts, proposals, agents, and what the user sees. It uses no disk, no terminal and
//! no socket.

pub(crate) mod act;
pub(crate) mod attach;
pub(crate) mod buffer;
pub(crate) mod change;
pub(crate) mod document;
mod edit;
mod files;
pub(crate) mod find;
pub(crate) mod messages;
pub(crate) mod old;
pub(crate) mod prompt;
pub(crate) mod proposal;
pub(crate) mod request;
pub(crate) mod strips;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod written;

use crate::editor::config::Source;
use crate::editor::diffs::Verdict;
use crate::editor::screen::bindings::Keymap;
use crate::editor::screen::view::palette::Theme;
use crate::support::Shell;
use attach::Attach;
use document::Document;
use ide_mcp::Time;
use ide_mcp::ide::{AgentId, Unauthenticated};
use ide_mcp::rpc::CallId;
pub(crate) use messages::Tone;
use messages::{LogEntry, Message};
use prompt::Prompt;
use proposal::Proposed;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;
use tree::Tree;
use written::WrittenFiles;

/// How long keys that decide or type are ignored after something came to the front by itself: a user who presses such a
/// key at that moment means what was there before.
const GRACE: Duration = Duration::from_millis(500);
/// After a typed key, no proposal interrupts the user for this time.
const TYPING: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(crate) struct Model {
    /// The time of the last event.
    pub(crate) now: Time,
    /// The columns and rows of the screen.
    pub(crate) size: (u16, u16),
    pub(crate) keys: Keymap,
    pub(crate) theme: Theme,
    /// The shell that lines are written for.
    pub(crate) shell: Shell,
    /// The configuration file that was read, or that would be; `None` if there can be none.
    pub(crate) config: Option<Source>,
    pub(crate) tree: Tree,
    pub(crate) documents: Vec<Document>,
    /// The index of the document that is shown.
    pub(crate) active: Option<usize>,
    /// The proposals in the order of arrival.
    pub(crate) proposals: Vec<Proposed>,
    /// The index of the proposal that is shown if the focus is [`Focus::Proposal`].
    pub(crate) front: usize,
    pub(crate) focus: Focus,
    /// The focus before a proposal came to the front.
    behind: Focus,
    /// A page that covers all of the above.
    pub(crate) page: Option<Page>,
    /// The question in the status line.
    pub(crate) prompt: Option<Prompt>,
    /// The text of the last search.
    needle: String,
    pub(crate) agents: Vec<Agent>,
    /// The address of this editor; `None` before it has a port.
    pub(crate) attach: Option<Attach>,
    /// True if agents get nothing from the editor.
    pub(crate) is_paused: bool,
    /// How many connections were never authenticated.
    pub(crate) unauthenticated: Unauthenticated,
    /// How many wrong tokens there were when the user last opened the page of the activity.
    pub(crate) read_wrong_tokens: u64,
    pub(crate) log: VecDeque<LogEntry>,
    pub(crate) written: WrittenFiles,
    /// The words of the line that starts the agent in another terminal; empty if there is none.
    pub(crate) launch: Vec<String>,
    pub(crate) message: Option<Message>,
    /// The latest event of an agent, until this time.
    pub(crate) activity: Option<(String, Time)>,
    /// The action that pressing the same key again confirms.
    confirm: Option<Confirm>,
    /// True if diffs are shown side by side when there is room.
    pub(crate) wide: bool,
    /// True if long lines are wrapped.
    pub(crate) wraps: bool,
    /// The text that was cut or copied.
    clip: String,
    typed: Option<Time>,
    /// The time from which keys that decide or type count.
    live: Time,
    /// The message about the end, if the editor ends.
    pub(crate) stopping: Option<String>,
    /// The name of this program in messages about its end.
    pub(crate) own_name: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Focus {
    Files,
    Text,
    Proposal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) kind: PageKind,
    pub(crate) top: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageKind {
    Help,
    Activity,
    /// The files that agents wrote.
    Edits,
}

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub(crate) id: AgentId,
    /// The name and version that the agent has sent, or else its number.
    pub(crate) name: String,
    pub(crate) pid: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirm {
    Quit,
    Close,
    Reload,
    Reject,
    Save,
    SaveAs,
}

impl Model {
    pub(crate) fn new(tree: Tree) -> Self {
        Self {
            now: Time::ZERO,
            size: (80, 24),
            keys: Keymap::default(),
            theme: Theme::default(),
            shell: Shell::here(),
            config: None,
            tree,
            documents: Vec::new(),
            active: None,
            proposals: Vec::new(),
            front: 0,
            focus: Focus::Files,
            behind: Focus::Files,
            page: None,
            prompt: None,
            needle: String::new(),
            agents: Vec::new(),
            attach: None,
            is_paused: false,
            unauthenticated: Unauthenticated::default(),
            read_wrong_tokens: 0,
            log: VecDeque::new(),
            written: WrittenFiles::default(),
            launch: Vec::new(),
            message: None,
            activity: None,
            confirm: None,
            wide: false,
            wraps: true,
            clip: String::new(),
            typed: None,
            live: Time::ZERO,
            stopping: None,
            own_name: "the editor",
        }
    }

    pub(crate) fn document(&self) -> Option<&Document> {
        self.active.and_then(|active| self.documents.get(active))
    }

    pub(crate) fn document_mut(&mut self) -> Option<&mut Document> {
        self.active.and_then(|active| self.documents.get_mut(active))
    }

    /// Returns the proposal that is shown.
    pub(crate) fn proposed(&self) -> Option<&Proposed> {
        self.proposals.get(self.front).filter(|_| self.focus == Focus::Proposal)
    }

    pub(crate) fn proposed_mut(&mut self) -> Option<&mut Proposed> {
        self.proposals.get_mut(self.front).filter(|_| self.focus == Focus::Proposal)
    }

    /// Returns true if this proposal is shown, and no page covers it.
    pub(crate) fn shows_proposal(&self, at: usize) -> bool {
        self.focus == Focus::Proposal && self.front == at && self.page.is_none()
    }

    /// Compares a proposal with the current texts of its files.
    pub(crate) fn compare(&mut self, at: usize) {
        let Some(open) = self.proposals.get_mut(at) else { return };
        let documents = &self.documents;
        open.set_current(|file| {
            let document = documents.iter().find(|document| file.is_of(&document.real))?;
            Some((document.buffer.text().as_str(), document.buffer.is_dirty()))
        });
    }

    /// Returns the number of wrong tokens since the user last read the activity: an old number would hide a new
    /// attempt.
    pub(crate) const fn unread_wrong_tokens(&self) -> u64 {
        self.unauthenticated.wrong_tokens.saturating_sub(self.read_wrong_tokens)
    }

    /// Returns true if keys that decide or type count again.
    pub(crate) fn is_live(&self) -> bool {
        self.live <= self.now
    }

    /// Returns when the screen changes without an event.
    pub(crate) fn deadline(&self) -> Option<Time> {
        let live = (!self.is_live()).then_some(self.live);
        live.into_iter().chain(self.expires()).min()
    }

    /// Adds a document that was just read, unless its file is open already. Returns the index of the
    /// file.
    pub(crate) fn show(&mut self, document: Document) -> usize {
        let open = self.documents.iter().position(|open| open.real == document.real);
        open.unwrap_or_else(|| {
            self.documents.push(document);
            self.documents.len().saturating_sub(1)
        })
    }

    /// Returns true if the user is typing.
    pub(crate) fn types(&self) -> bool {
        (self.focus == Focus::Text || self.prompt.is_some())
            && self.typed.is_some_and(|typed| self.now < typed.saturating_add(TYPING))
    }

    /// Moves the cursor of the list to the shown file, and scrolls the text to its cursor.
    pub(crate) fn reveal_active(&mut self) {
        self.close_prompt();
        let (_, rows) = self.size;
        if let Some(document) = self.document_mut() {
            document.buffer.reveal(usize::from(rows).saturating_sub(4), usize::MAX / 2);
            let path = PathBuf::from(&document.path);
            self.tree.point_at(&path);
        }
    }

    /// Adds a proposal. It comes to the front, unless the user is typing or another proposal is there.
    pub(crate) fn propose(&mut self, proposed: Proposed) {
        self.record(&proposed.who.clone(), format!("openDiff {}", proposed.label));
        self.proposals.push(proposed);
        if self.focus != Focus::Proposal && !self.types() {
            self.front = self.proposals.len().saturating_sub(1);
            self.bring_in_front();
        }
    }

    /// Removes and returns the proposal of a call.
    pub(crate) fn take_proposal(&mut self, call: CallId) -> Option<Proposed> {
        let at = self.proposals.iter().position(|open| open.proposal.call.id() == call)?;
        let proposal = self.proposals.remove(at);
        if at < self.front {
            self.front = self.front.saturating_sub(1);
        } else if at == self.front {
            self.front = self.front.min(self.proposals.len().saturating_sub(1));
            if self.focus == Focus::Proposal {
                self.bring_in_front();
            }
        }
        Some(proposal)
    }

    /// Shows another proposal, or none, although the user did not ask for it.
    fn bring_in_front(&mut self) {
        self.page = None;
        self.close_prompt();
        self.live = self.now.saturating_add(GRACE);
        if self.proposals.is_empty() { self.leave_proposals() } else { self.enter_proposals() }
    }

    fn enter_proposals(&mut self) {
        if self.focus != Focus::Proposal {
            self.behind = self.focus;
        }
        self.focus = Focus::Proposal;
    }

    fn leave_proposals(&mut self) {
        self.focus = if self.active.is_some() { self.behind } else { Focus::Files };
    }

    /// Reports the verdict about a proposal. `part` is empty if it is about the proposal as it was made.
    pub(crate) fn decided(&mut self, label: &str, verdict: Verdict, part: &str) {
        let (tone, rest) = match verdict {
            Verdict::Accept => (Tone::Good, "; the agent writes it"),
            Verdict::Reject => (Tone::Plain, ""),
        };
        self.report(tone, format!("{} {label}{part}{rest}", verdict.done()));
    }

    /// Returns the labels of the documents for which `holds` returns true.
    pub(crate) fn labels(&self, holds: impl Fn(&Document) -> bool) -> Vec<&str> {
        let documents = self.documents.iter().filter(|document| holds(document));
        documents.map(|document| document.label.as_str()).collect()
    }

    pub(crate) fn agent(&self, id: AgentId) -> String {
        self.agents
            .iter()
            .find(|agent| agent.id == id)
            .map_or_else(|| format!("agent {}", id.number()), |agent| agent.name.clone())
    }
}
