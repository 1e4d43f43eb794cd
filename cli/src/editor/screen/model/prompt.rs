//! The question in the status line that the user answers: a search, a line, or the name of a file.

use super::act::Action;
use super::buffer::{Buffer, Spot};
use super::find::{LONGEST, Needle, is_too_long};
use super::request::Request;
use super::{Confirm, Focus, Model, Tone};
use std::path::Path;

/// The maximum length in bytes of a text whose matches are counted: each key counts them anew.
const COUNTED: usize = 1024 * 1024;

#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    pub(crate) kind: Kind,
    pub(crate) answer: Buffer,
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Find(Find),
    Line,
    /// A question to the user at an agent.
    Question,
    /// The name of a file to open, which is new if it does not exist.
    Open,
    SaveAs {
        /// The answer that names a file that exists: a second Enter overwrites only this file.
        existing: Option<String>,
    },
}

/// A search: it goes to a match at each change of the answer.
#[derive(Clone, Debug)]
pub(crate) struct Find {
    /// The place of the user before the search.
    before: Spot,
    /// The [state](Buffer::state) of the answer that was searched for last.
    searched: Option<u64>,
    /// The number of the match in front, from 1, and the number of all.
    pub(crate) counted: Option<(usize, usize)>,
}

impl Prompt {
    pub(crate) const fn label(&self) -> &'static str {
        match self.kind {
            Kind::Find(_) => "find",
            Kind::Line => "line",
            Kind::Question => "ask the user at the agent",
            Kind::Open => "open or new file",
            Kind::SaveAs { .. } => "save as",
        }
    }
}

impl Model {
    /// Asks for the text to find: first the selected text of one line, or the text of the search before. From the
    /// list of files, the search goes to the file that is shown.
    pub(super) fn ask_find(&mut self) {
        if self.focus == Focus::Files {
            if self.active.is_none() {
                let key = self.keys.key(Action::Find, true);
                return self.notify(Tone::Plain, format!("open a file first: {key} finds text in it"));
            }
            self.focus = Focus::Text;
        }
        let last = self.needle.clone();
        let Some(text) = self.text() else { return };
        let selected = text.selected();
        let is_word = !selected.is_empty() && !selected.contains('\n');
        let answer = if is_word { selected.to_owned() } else { last };
        let before = text.spot();
        self.open_prompt(Kind::Find(Find { before, searched: None, counted: None }), answer);
        self.answer_changed();
    }

    pub(super) fn ask_line(&mut self) {
        if self.text().is_some() {
            self.open_prompt(Kind::Line, String::new());
        }
    }

    pub(super) fn ask_open(&mut self) {
        self.open_prompt(Kind::Open, String::new());
    }

    pub(super) fn ask_save_as(&mut self) {
        let typed = |path: &str| self.tree.typed(Path::new(path)).display().to_string();
        if let Some(path) = self.document().map(|document| typed(&document.path)) {
            self.open_prompt(Kind::SaveAs { existing: None }, path);
        }
    }

    pub(super) fn ask_question(&mut self) {
        if self.agents.is_empty() {
            return self.notify(Tone::Bad, "no agent is attached");
        }
        self.open_prompt(Kind::Question, String::new());
    }

    fn open_prompt(&mut self, kind: Kind, answer: String) {
        let mut answer = Buffer::new(answer);
        answer.select_all();
        self.prompt = Some(Prompt { kind, answer });
    }

    /// Handles the user's answer.
    pub(super) fn answer(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let prompt = self.prompt.as_ref()?;
        let answer = prompt.answer.text().as_str().to_owned();
        match &prompt.kind {
            Kind::Line => match line_and_column(&answer) {
                Some((line, column)) => {
                    self.close_prompt();
                    self.text()?.point(line, column, false);
                }
                None => self.notify(Tone::Bad, "type a line as 12, or with a column as 12:5"),
            },
            Kind::Find(_) => self.close_prompt(),
            Kind::Question | Kind::Open | Kind::SaveAs { .. } if answer.is_empty() => self.close_prompt(),
            Kind::Question => {
                self.close_prompt();
                return Some(Request::AskAgent(answer));
            }
            Kind::Open => {
                self.close_prompt();
                return Some(Request::OpenNamed(answer));
            }
            // The question stays until the file is written.
            Kind::SaveAs { existing } => {
                let overwrite = confirmed == Some(Confirm::SaveAs) && existing.as_ref() == Some(&answer);
                return Some(Request::SaveAs { name: answer, overwrite });
            }
        }
        None
    }

    /// Leaves the question without an answer. A search returns to the place before.
    pub(super) fn leave_prompt(&mut self) {
        if let Some(Prompt { kind: Kind::Find(find), .. }) = &self.prompt {
            let before = find.before.clone();
            if let Some(text) = self.text() {
                text.return_to(before);
            }
        }
        self.close_prompt();
    }

    /// Ends the question.
    pub(crate) fn close_prompt(&mut self) {
        if let Some(Prompt { kind: Kind::Find(_), answer }) = self.prompt.take() {
            self.needle = answer.text().as_str().to_owned();
            let documents = self.documents.iter_mut().map(|document| &mut document.buffer);
            let edited = self.proposals.iter_mut().filter_map(|open| open.editing.as_mut());
            documents.chain(edited).for_each(|buffer| buffer.highlight = None);
        }
    }

    /// Asks for a second Enter before a file is overwritten. If the user has left the question, the file stays.
    pub(crate) fn ask_overwrite(&mut self, name: String) {
        if let Some(Prompt { kind: Kind::SaveAs { existing }, .. }) = &mut self.prompt {
            *existing = Some(name.clone());
            self.confirm = Some(Confirm::SaveAs);
            let key = self.keys.key(Action::Answer, true);
            self.notify(Tone::Bad, format!("{key} again overwrites {name}"));
        } else {
            self.report(Tone::Bad, format!("not written, because it exists: {name}"));
        }
    }

    /// Ends the question for the name of the file that was saved.
    pub(crate) fn saved_as(&mut self) {
        if matches!(&self.prompt, Some(Prompt { kind: Kind::SaveAs { .. }, .. })) {
            self.close_prompt();
        }
    }

    /// Searches from the place before the search, if the answer has changed.
    pub(super) fn answer_changed(&mut self) {
        let Some(state) = self.prompt.as_ref().map(|prompt| prompt.answer.state()) else { return };
        let Some(find) = self.finding() else { return };
        if find.searched.replace(state) == Some(state) {
            return;
        }
        let before = find.before.clone();
        let Some(text) = self.text() else { return };
        let from = before.start();
        text.return_to(before);
        self.search(|needle, text, _| {
            let found = needle.next(text, from).map(|found| (found, ""));
            found.or_else(|| needle.next(text, 0).map(|found| (found, FROM_BEGIN)))
        });
    }

    pub(super) fn find_next(&mut self) {
        self.search(|needle, text, current| {
            let step = text.get(current..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            let found = needle.next(text, current.saturating_add(step)).map(|found| (found, ""));
            found.or_else(|| needle.next(text, 0).map(|found| (found, FROM_BEGIN)))
        });
    }

    pub(super) fn find_previous(&mut self) {
        self.search(|needle, text, current| {
            let found = needle.previous(text, current).map(|found| (found, ""));
            found.or_else(|| needle.previous(text, text.len()).map(|found| (found, FROM_END)))
        });
    }

    /// Goes to the match that `choose` returns for the needle, the text and the start of the selection,
    /// and shows the note of that match.
    fn search(
        &mut self,
        choose: impl FnOnce(&Needle, &str, usize) -> Option<(std::ops::Range<usize>, &'static str)>,
    ) {
        let Some(answer) = self.prompt.as_ref().map(|prompt| prompt.answer.text().as_str().to_owned()) else {
            return;
        };
        if self.finding().is_none() {
            return;
        }
        let needle = Needle::new(&answer);
        let Some(text) = self.text() else { return };
        text.highlight.clone_from(&needle);
        let content = text.text().as_str();
        let found = needle.as_ref().and_then(|needle| choose(needle, content, text.selection().start));
        let counted = match (&found, &needle) {
            (Some((found, _)), Some(needle)) if content.len() <= COUNTED => {
                let all: Vec<usize> = needle.matches(content).map(|range| range.start).collect();
                Some((all.partition_point(|start| *start <= found.start), all.len()))
            }
            _ => None,
        };
        let (tone, note) = match found {
            Some((range, note)) => {
                text.select(range);
                (Tone::Plain, note.to_owned())
            }
            None if answer.is_empty() => (Tone::Plain, String::new()),
            None if is_too_long(&answer) => (Tone::Bad, format!("a search has at most {LONGEST} characters")),
            None => (Tone::Bad, "not found".into()),
        };
        if let Some(find) = self.finding() {
            find.counted = counted;
        }
        if !note.is_empty() {
            self.notify(tone, note);
        }
    }

    fn finding(&mut self) -> Option<&mut Find> {
        match self.prompt.as_mut()?.kind {
            Kind::Find(ref mut find) => Some(find),
            Kind::Line | Kind::Question | Kind::Open | Kind::SaveAs { .. } => None,
        }
    }
}

const FROM_BEGIN: &str = "from the beginning again";
const FROM_END: &str = "from the end again";

/// Reads a line, or a line and a column, which count from 1. The results count from 0.
pub(crate) fn line_and_column(text: &str) -> Option<(usize, usize)> {
    let (line, column) = text.split_once(':').unwrap_or((text, "1"));
    let number = |text: &str| text.trim().parse::<usize>().ok()?.checked_sub(1);
    Some((number(line)?, number(column)?))
}
