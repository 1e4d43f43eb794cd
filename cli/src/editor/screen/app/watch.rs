//! The changes on disk, which the editor follows.

use super::App;
use crate::editor::neighbors::Neighbors;
use crate::editor::screen::disk::{self, Found, Known, Listing};
use crate::editor::screen::model::Tone;
use crate::editor::screen::model::attach::Attach;
use crate::editor::screen::model::proposal::Proposed;
use crate::editor::screen::view::reveal;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often the disk is looked at for changes of open files and folders. An agent that has written a file asks for
/// its problems, and that call looks at once.
const WATCH: Duration = Duration::from_secs(1);

impl App {
    /// Shows the name and the port of this editor, and looks for other editors in its folders from now on.
    pub(crate) fn announce(&mut self, name: String, port: u16, neighbors: Neighbors) {
        self.model.attach = Some(Attach { name, port, neighbors: neighbors.found().to_vec() });
        self.disk.run(None, move |disk| disk.neighbors = Some(neighbors), |_, _, _, ()| {});
    }

    /// Looks for changes of files on disk. During a look, it schedules another one.
    pub(crate) fn look(&mut self) {
        if self.watch_at.take().is_none() {
            self.looks_again = true;
            return;
        }
        let seen = self.seen();
        self.disk.run(
            None,
            move |disk| {
                let neighbors = disk.neighbors.as_mut();
                let changed =
                    neighbors.and_then(|neighbors| neighbors.look().then(|| neighbors.found().to_vec()));
                (disk::look(&disk.folders, seen), changed)
            },
            |app, _, now, (found, neighbors)| {
                if let (Some(attach), Some(neighbors)) = (&mut app.model.attach, neighbors) {
                    attach.neighbors = neighbors;
                    let address = attach.address();
                    app.stale = true;
                    app.model.happened(address);
                }
                app.watch_at = Some(now.saturating_add(WATCH));
                app.found(found);
                if mem::take(&mut app.looks_again) {
                    app.look();
                }
            },
        );
    }

    /// Returns the state to compare the disk with.
    pub(crate) fn seen(&self) -> Known {
        let files = self.model.documents.iter().map(|document| (document.real.clone(), document.seen));
        let is_open = |real: &Path| self.model.documents.iter().any(|document| document.real == real);
        let proposed =
            self.model.proposals.iter().flat_map(Proposed::files).filter_map(|file| file.place.clone());
        let files = files.chain(proposed.filter(|(real, _)| !is_open(real)));
        let time = |folder: &Path| self.folder_times.get(folder).copied().flatten();
        let folders = self.model.tree.unfolded().map(|folder| (folder.to_owned(), time(folder)));
        Known { files: files.collect(), folders: folders.collect(), rules: self.rules }
    }

    /// Takes over the changes on disk. A text that was also changed in the editor stays.
    pub(crate) fn found(&mut self, found: Found) {
        for changed in found.files {
            self.stale |= !self.model.proposals.is_empty();
            self.model.proposals.iter_mut().for_each(|open| open.found(&changed));
            let document = self.model.documents.iter_mut().find(|document| document.real == changed.real);
            // A file that was closed, read or written in the meantime is handled at the next look.
            let Some(document) = document.filter(|document| document.seen == changed.seen) else { continue };
            self.stale = true;
            let (label, was_missing) = (document.label.clone(), document.seen.is_absent());
            // A program may write the same text again.
            let is_same = changed.now.has_text_of(&document.seen);
            document.seen = changed.now;
            if changed.now.is_absent() {
                self.model.report(Tone::Bad, format!("deleted on disk, and its text is still here: {label}"));
                continue;
            }
            match changed.text {
                Ok(text) if document.can_take(&text) => {
                    document.reload(text, changed.now);
                    reveal(&mut self.model);
                    let what =
                        if was_missing { "is on disk again" } else { "was changed on disk and read again" };
                    if !is_same {
                        self.model.report(Tone::Plain, format!("{label} {what}"));
                    }
                }
                Ok(_) if is_same => {}
                Ok(_) => {
                    document.conflict = true;
                    self.model.report(Tone::Bad, format!("changed here and on disk: {label}"));
                }
                Err(error) => {
                    document.conflict = true;
                    self.model.report(Tone::Bad, error);
                }
            }
        }
        for document in &mut self.model.documents {
            let is_hidden = self.folders.hides(&document.real);
            self.stale |= is_hidden != document.is_hidden;
            document.is_hidden = is_hidden;
        }
        if let Some(listing) = found.listing {
            self.listed(listing);
        }
    }

    pub(super) fn refresh(&mut self) {
        let unfolded: Vec<PathBuf> = self.model.tree.unfolded().map(Path::to_owned).collect();
        self.disk.run(
            None,
            |disk| disk::list_all(&disk.folders, unfolded),
            |app, _, _, listing| app.listed(listing),
        );
    }

    pub(super) fn listed(&mut self, listing: Listing) {
        self.stale = true;
        let Listing { times, mut entries, rules } = listing;
        self.rules = rules;
        self.folder_times = times;
        self.model.tree.refresh(|folder| entries.remove(folder).unwrap_or_default());
        reveal(&mut self.model);
    }
}
