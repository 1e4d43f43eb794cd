//! What the user does with files: open, save, close, and end the editor.

use super::act::{Action, changes};
use super::document::Document;
use super::request::Request;
use super::tree::RowKind;
use super::{Confirm, Focus, Model, Tone};
use std::path::PathBuf;

impl Model {
    pub(super) fn open(&mut self) -> Option<Request> {
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
    pub(super) fn mentioned(&mut self) -> Option<Option<PathBuf>> {
        let listed = self.tree.current().filter(|row| row.kind != RowKind::Note).map(|row| row.path.clone());
        match (self.focus, self.active, listed) {
            (Focus::Files, _, Some(path)) => Some(Some(path)),
            (Focus::Text, Some(_), _) => Some(None),
            _ => {
                self.notify(Tone::Plain, "there is no file here to mention");
                None
            }
        }
    }

    pub(super) fn next_file(&mut self) {
        let next = self.active.and_then(|active| active.checked_add(1));
        self.active = match next.filter(|next| *next < self.documents.len()) {
            Some(next) => Some(next),
            None => (!self.documents.is_empty()).then_some(0),
        };
    }

    pub(super) fn next_problem(&mut self) {
        let Some(document) = self.document_mut() else { return };
        document.check();
        let Some(problem) = document.diagnostics.first() else {
            return self.notify(Tone::Good, "no problem is known in this file");
        };
        let place = ide_mcp::ide::kit::Range::new(problem.range.start, problem.range.start);
        document.select(place);
    }

    pub(super) fn save(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let document = self.document()?;
        if document.is_renamed {
            self.notify(Tone::Plain, "this file is being saved under another name");
            return None;
        }
        if document.conflict && confirmed != Some(Confirm::Save) {
            self.confirm = Some(Confirm::Save);
            let (save, reload) = (self.keys.key(Action::Save, true), self.keys.key(Action::Reload, true));
            self.notify(
                Tone::Bad,
                format!("{save} again overwrites it, {reload} reads it: the file has changed on disk"),
            );
            return None;
        }
        Some(Request::Save)
    }

    pub(super) fn reload(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let document = self.document()?;
        if document.buffer.is_dirty() && confirmed != Some(Confirm::Reload) {
            self.confirm = Some(Confirm::Reload);
            self.notify(Tone::Bad, self.discards(Action::Reload));
            return None;
        }
        Some(Request::Reload)
    }

    pub(super) fn close(&mut self, confirmed: Option<Confirm>) {
        let Some(active) = self.active else { return };
        if self.document().is_some_and(|document| !document.saving.is_empty()) {
            return self.notify(Tone::Plain, "this file is being saved: try again in a moment");
        }
        if self.document().is_some_and(|document| document.buffer.is_dirty())
            && confirmed != Some(Confirm::Close)
        {
            self.confirm = Some(Confirm::Close);
            return self.notify(Tone::Bad, self.discards(Action::Close));
        }
        self.documents.remove(active);
        self.active = self.documents.len().checked_sub(1).map(|last| active.min(last));
        if self.active.is_none() {
            self.focus = Focus::Files;
        }
    }

    pub(super) fn quit(&mut self, confirmed: Option<Confirm>) -> Option<Request> {
        let unsaved = self.labels(Document::is_unsaved);
        let open = self.proposals.len();
        if unsaved.is_empty() && open == 0 {
            return Some(Request::Quit);
        }
        if confirmed == Some(Confirm::Quit) {
            return Some(Request::QuitAnyway);
        }
        // The names are last, so that a narrow screen cuts them and not the advice.
        let rejects = if open > 0 { format!(" and rejects {}", changes(open)) } else { String::new() };
        let lost =
            if unsaved.is_empty() { String::new() } else { format!("; not saved: {}", unsaved.join(", ")) };
        self.confirm = Some(Confirm::Quit);
        let key = self.keys.key(Action::Quit, true);
        self.notify(Tone::Bad, format!("{key} again ends {}{rejects}{lost}", self.own_name));
        None
    }

    fn discards(&self, action: Action) -> String {
        let key = self.keys.key(action, true);
        format!("{key} again discards the changes in this file, which are not saved")
    }
}
