//! The actions of the user on the text, the diff, the list or the page in front.

use super::act::{Action, Context, Shown};
use super::buffer::{Buffer, Motion};
use super::{Focus, Model, Tone};

impl Model {
    /// Inserts a text that was pasted in the terminal.
    pub(crate) fn paste(&mut self, text: &str) {
        self.dismiss();
        self.confirm = None;
        self.typed = Some(self.now);
        let text = self.fitting(text);
        if let Some(buffer) = self.buffer() {
            buffer.insert(&text);
        }
        self.answer_changed();
    }

    /// Types characters of one line.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.dismiss();
        self.confirm = None;
        self.typed = Some(self.now);
        if let Some(buffer) = self.buffer() {
            buffer.type_text(text);
        }
        self.answer_changed();
    }

    /// Returns the part of a text that can be inserted: its first line into an answer, all of it into a text.
    fn fitting(&self, text: &str) -> String {
        let line = text.lines().next().filter(|_| self.prompt.is_some());
        line.unwrap_or(text).to_owned()
    }

    /// Returns the text that the keys change.
    pub(crate) fn buffer(&mut self) -> Option<&mut Buffer> {
        if self.page.is_some() {
            return None;
        }
        if self.prompt.is_none() {
            return self.text();
        }
        self.prompt.as_mut().map(|prompt| &mut prompt.answer)
    }

    /// Returns the text with the focus, even if a question in the status line is in front.
    pub(crate) fn text(&mut self) -> Option<&mut Buffer> {
        match self.focus {
            Focus::Files => None,
            Focus::Text | Focus::Proposal => self.text_in_front(),
        }
    }

    /// Returns the text that is shown, with or without the focus.
    pub(crate) fn text_in_front(&mut self) -> Option<&mut Buffer> {
        if self.proposed().is_some() {
            return self.proposed_mut()?.editing.as_mut();
        }
        self.document_mut().map(|document| &mut document.buffer)
    }

    /// Scrolls the view in front.
    pub(crate) fn scroll(&mut self, rows: isize, shown: Shown) {
        if self.context() == Context::Edits {
            self.written.step(rows);
        } else if let Some(page) = &mut self.page {
            page.top = page.top.saturating_add_signed(rows);
        } else if let Some(text) = self.text() {
            text.scroll(rows);
        } else if let Some(open) = self.proposed_mut() {
            open.scroll(rows, shown.rows);
        } else {
            self.tree.step(rows);
        }
    }

    pub(super) fn go(&mut self, motion: Motion, extend: bool, shown: Shown) {
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
        let is_at_an_end =
            matches!(motion, Motion::LineStart | Motion::Start | Motion::LineEnd | Motion::End);
        let has_page = self.page.is_some();
        match self.proposed_mut().filter(|_| is_at_an_end && !has_page) {
            Some(open) => open.go_to_end(rows > 0, shown.rows),
            None => self.scroll(rows, shown),
        }
    }

    pub(super) fn edit(&mut self, action: Action) {
        let clip = self.fitting(&self.clip);
        let Some(buffer) = self.buffer() else { return };
        match action {
            Action::NewLine => buffer.new_line(),
            Action::Backspace => buffer.backspace(),
            Action::Delete => buffer.delete(),
            Action::Mark => buffer.mark(),
            Action::SelectAll => buffer.select_all(),
            Action::Paste if !clip.is_empty() => buffer.insert(&clip),
            Action::Undo if !buffer.undo() => self.notify(Tone::Plain, "nothing to undo"),
            Action::Redo if !buffer.redo() => self.notify(Tone::Plain, "nothing to redo"),
            Action::Copy | Action::Cut if !buffer.selected().is_empty() => {
                let text = buffer.selected().replace("\r\n", "\n");
                if action == Action::Cut {
                    buffer.delete();
                }
                self.clip = text;
            }
            Action::Copy | Action::Cut => {
                let key = self.keys.key(Action::Quit, true);
                self.notify(Tone::Plain, format!("nothing is selected; {key} ends {}", self.own_name));
            }
            _ => {}
        }
        self.answer_changed();
    }
}
