//! The actions of the person on the text, the diff, the list or the page in front.

use super::act::{Action, Context, Shown};
use super::buffer::{Buffer, Motion};
use super::{Model, Tone};

impl Model {
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
        if let (Motion::Left | Motion::Right, Some(open)) = (motion, self.proposed_mut()) {
            let by = if motion == Motion::Left { -8 } else { 8 };
            open.left = open.left.saturating_add_signed(by);
        }
        self.scroll(rows, shown);
    }

    pub(super) fn edit(&mut self, action: Action) {
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
}
