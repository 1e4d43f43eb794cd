//! Ends the editor.

use super::{App, Quitting};
use crate::editor::screen::bindings::name;
use crate::editor::screen::layout::shown;
use crate::editor::screen::model::act::{Action, changes};
use crate::editor::screen::model::request::Request;

impl App {
    /// Ends the editor after the saves in progress. A second request ends it at once.
    pub(super) fn quit(&mut self) {
        let saving = self.model.labels(|document| !document.saving.is_empty()).join(", ");
        self.quitting = match self.quitting {
            Quitting::No if !saving.is_empty() => {
                let key = self.model.keys.key(Action::Quit, true);
                let name = self.model.own_name;
                let message = format!("{key} again ends {name} at once; being saved: {saving}");
                self.model.hold(message);
                Quitting::WhenSaved
            }
            Quitting::WhenSaved if !saving.is_empty() => Quitting::AtOnce,
            _ => Quitting::Now,
        };
    }

    /// Ends the editor when everything is saved, unless another change would now be lost.
    pub(super) fn quit_when_saved(&mut self) {
        if self.quitting == Quitting::WhenSaved && !self.is_saving() {
            self.quitting = Quitting::No;
            if self.model.act(Action::Quit, shown(&self.model)) == Some(Request::Quit) {
                self.quitting = Quitting::Now;
            }
        }
    }

    /// Returns the name of the key that ended the editor.
    pub(crate) fn quit_key(&self) -> String {
        self.quit_by.map_or_else(|| self.model.keys.key(Action::Quit, false), |key| name(key, false))
    }

    /// Returns true if a file is being saved.
    pub(crate) fn is_saving(&self) -> bool {
        self.model.documents.iter().any(|document| !document.saving.is_empty())
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
