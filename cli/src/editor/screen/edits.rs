//! The files that agents wrote without asking: the warning about unsaved text, the list, and the undoing.

use super::agents::of_peer;
use super::app::App;
use super::disk::Disk;
use super::model::Tone;
use super::model::act::Action;
use super::model::written::Written;
use crate::editor::edits::{Edited, Expected, FollowEdits};
use crate::editor::worker::Worker;
use ide_mcp::ide::{AgentId, EditEnd};
use ide_mcp::rpc::CallId;
use std::path::Path;
use std::sync::Arc;

impl FollowEdits for App {
    type Disk = Disk;

    fn parts(&mut self) -> (&mut Worker<Disk, Self>, &mut Expected) {
        (&mut self.disk, &mut self.expected_edits)
    }

    fn on_edit_ended(&mut self, edit: CallId, path: &str, _: EditEnd, is_confirmed: bool) {
        if is_confirmed {
            let who = self.model.agent(AgentId::of_call(edit));
            let label = self.label(path);
            let key = self.model.keys.key(Action::Edits, false);
            self.model.record(&who, format!("wrote {label}: {key} lists what agents wrote, with undo"));
            self.list_edits();
        }
    }
}

impl App {
    /// Warns the user if the agent is about to write a file that has changes here.
    pub(super) fn edit_expected(&mut self, edit: CallId, path: Arc<str>) {
        let is_dirty = |open: &super::model::document::Document| {
            open.buffer.is_dirty() && (open.path == *path || open.real == Path::new(&*path))
        };
        if self.model.documents.iter().any(is_dirty) {
            let (who, label) = (self.model.agent(AgentId::of_call(edit)), self.label(&path));
            let warning = format!("about to be written, with unsaved changes here: {label}, by {who}");
            self.model.report(Tone::Bad, warning);
        }
        self.expect_edit(edit, path);
    }

    /// Undoes an edit, if the file is as the agent left it.
    pub(super) fn undo_edit(&mut self, edit: CallId) {
        self.with_disk(
            move |disk| disk.as_mut().undo(edit),
            |app, _, undone| {
                match undone {
                    Ok(path) => {
                        let label = app.label(&path);
                        app.model
                            .report(Tone::Good, format!("{label} is as it was before the agent wrote it"));
                    }
                    Err(problem) => app.model.report(Tone::Bad, of_peer(&problem)),
                }
                app.list_edits();
                app.look();
            },
        );
    }

    fn list_edits(&mut self) {
        self.with_disk(
            |disk| disk.as_mut().list(),
            |app, _, edits| {
                let written = edits.into_iter().rev().map(|Edited { id, path, kind, at }| Written {
                    who: app.model.agent(AgentId::of_call(id)),
                    label: app.label(&path),
                    path: path.into(),
                    id,
                    kind,
                    at,
                });
                let written = written.collect();
                app.model.written.replace(written);
            },
        );
    }

    /// Returns the name of a file in the lists of the screen.
    fn label(&self, path: &str) -> String {
        of_peer(&self.folders.label_of(path))
    }
}
