//! The user's files: opening, saving, reading again, and mentioning to agents.

use super::{App, Quitting};
use crate::editor::folders::{Folders, Inside};
use crate::editor::paths::{Target, split_place};
use crate::editor::screen::disk::{self, Disk};
use crate::editor::screen::model::{Focus, Tone};
use crate::editor::screen::view::reveal;
use crate::editor::workspace::unicode;
use crate::support::save;
use ide_mcp::ide::{Mention, Server};
use std::path::{Path, PathBuf};

/// A line and a column from 0, if the user has given them.
type Place = Option<(usize, usize)>;

impl App {
    pub(super) fn open(&mut self, path: &Path) -> Result<(), String> {
        let label = self.folders.label(path);
        let path = unicode(path)?;
        let reading = format!("{label} is being read");
        self.model.hold(reading.as_str());
        let before = self.in_front();
        self.with_disk(
            move |disk| {
                let place = disk.folders.find(&path)?;
                Ok((cut_short(&disk.folders, &place), disk::open(&disk.folders, place)?))
            },
            move |app, _, document: Result<_, String>| {
                app.model.message.take_if(|message| message.text == reading);
                match document {
                    Ok((notes, document)) if app.in_front() == before => {
                        app.model.active = Some(app.model.show(document));
                        app.model.focus = Focus::Text;
                        reveal(&mut app.model);
                        notes.into_iter().for_each(|note| app.model.report(Tone::Bad, note));
                    }
                    // The user has moved on: the next keys are meant for something else.
                    Ok((notes, document)) => {
                        app.model.show(document);
                        app.model.report(Tone::Plain, format!("{label} is open in the background"));
                        notes.into_iter().for_each(|note| app.model.report(Tone::Bad, note));
                    }
                    Err(problem) => app.model.report(Tone::Bad, problem),
                }
            },
        );
        Ok(())
    }

    /// Opens the files of the command line, and shows the first of them.
    ///
    /// # Errors
    /// A path that is not Unicode.
    pub(crate) fn open_targets(&mut self, files: &[Target]) -> Result<(), String> {
        for Target { path, place } in files {
            let (name, place) = (unicode(path)?, *place);
            self.open_or_new(move |folders| Ok((folders.find(&name)?, place)));
        }
        Ok(())
    }

    /// Opens a file by what the user typed: a name, `FILE:LINE` or `FILE:LINE:COLUMN`.
    pub(super) fn open_typed(&mut self, typed: String) {
        self.open_or_new(move |folders| {
            let exists = |name: &str| folders.find(name).is_ok_and(|place| place.real.exists());
            let (name, place) = split_place(&typed, exists);
            Ok((folders.find(name)?, place))
        });
    }

    /// Opens the file that `find` returns, at its place. A file that does not exist is opened as a new one.
    fn open_or_new(
        &mut self,
        find: impl FnOnce(&Folders) -> Result<(Inside, Place), String> + Send + 'static,
    ) {
        let before = self.in_front();
        let open = move |disk: &mut Disk| {
            let (file, place) = find(&disk.folders)?;
            Ok((cut_short(&disk.folders, &file), disk::open_or_new(&disk.folders, file)?, place))
        };
        self.with_disk(open, move |app, _, opened: Result<_, String>| match opened {
            Ok((notes, document, place)) => {
                let note = document.seen.is_absent().then(|| new_file(&document.label, place));
                let at = app.model.show(document);
                if let (Some((line, column)), Some(document)) = (place, app.model.documents.get_mut(at)) {
                    document.buffer.point(line, column, false);
                }
                if app.in_front() == before {
                    app.model.active = Some(at);
                    app.model.focus = Focus::Text;
                    let path = app.model.document().map(|document| PathBuf::from(&document.path));
                    path.iter().for_each(|path| app.model.tree.point_at(path));
                }
                if let Some(note) = note {
                    app.model.notify(Tone::Plain, note);
                }
                notes.into_iter().for_each(|note| app.model.report(Tone::Bad, note));
                reveal(&mut app.model);
            }
            Err(problem) => app.model.report(Tone::Bad, problem),
        });
    }

    /// Returns the focus and the shown file, which the next keys apply to.
    fn in_front(&self) -> (Focus, Option<PathBuf>) {
        (self.model.focus, self.model.document().map(|document| document.real.clone()))
    }

    pub(super) fn save_shown(&mut self) {
        let Some(document) = self.model.document() else { return };
        let (real, label) = (document.real.clone(), document.label.clone());
        self.save(&real, move |app, _, saved| {
            if saved.is_ok() {
                app.model.report(Tone::Good, format!("{label} is saved"));
            }
        });
    }

    /// Saves the current text of an open file, shows a failure to the user, and then calls `then`.
    pub(crate) fn save(
        &mut self,
        real: &Path,
        then: impl FnOnce(&mut Self, &mut Server, Result<(), String>) + Send + 'static,
    ) {
        let document = self.model.documents.iter_mut().find(|document| document.real == real);
        let Some(document) = document else { return };
        let (real, seen) = (document.real.clone(), document.seen);
        let text = document.buffer.text().as_str().to_owned();
        document.saving.push(document.buffer.state());
        let write = move |disk: &mut Disk| {
            let written = disk.save(&real, &text, seen);
            (real, written)
        };
        self.with_disk(write, move |app, server, (real, written)| {
            let document = app.model.documents.iter_mut().find(|document| document.real == real);
            if let Some(document) = document {
                document.saved(written.as_ref().ok().copied());
            }
            if let Err(problem) = &written {
                app.model.save_failed(problem.clone());
                app.quitting = Quitting::No;
                // Maybe the save failed because the file has changed.
                app.look();
            }
            then(app, server, written.map(drop));
            app.quit_when_saved();
        });
    }

    /// Writes the shown file under another name, which it has from then on.
    pub(super) fn save_as(&mut self, name: String, overwrite: bool) {
        let open: Vec<PathBuf> = self.model.documents.iter().map(|document| document.real.clone()).collect();
        let Some(document) = self.model.document_mut() else { return };
        // The name changes only once all earlier writes under the old one have ended.
        if !document.saving.is_empty() {
            return self.model.notify(Tone::Plain, "this file is being saved: try again in a moment");
        }
        let (old, state) = (document.real.clone(), document.buffer.state());
        let text = document.buffer.text().as_str().to_owned();
        document.saving.push(state);
        document.is_renamed = true;
        let requested = name.clone();
        let write = move |disk: &mut Disk| {
            let place = disk.folders.find(&name)?;
            if place.real != old && open.contains(&place.real) {
                return Err(format!("{name} is open here: close it first"));
            }
            let saved = disk.save_as(&place.real, &text, overwrite)?;
            Ok((unicode(&place.shown)?, disk.folders.label(&place.shown), place.real, saved))
        };
        let old = document.real.clone();
        self.with_disk(write, move |app, _, written| {
            let document = app.model.documents.iter_mut().find(|document| document.real == old);
            let Some(document) = document else { return };
            document.is_renamed = false;
            match written {
                Ok((path, label, real, Some(seen))) => {
                    document.saved(Some(seen));
                    document.rename(path, real, label.clone());
                    app.model.saved_as();
                    app.model.report(Tone::Good, format!("saved as {label}"));
                    app.look();
                }
                Ok((.., None)) => {
                    document.saved(None);
                    app.model.ask_overwrite(requested);
                }
                Err(problem) => {
                    document.saved(None);
                    app.model.save_failed(problem);
                }
            }
            app.quit_when_saved();
        });
    }

    pub(super) fn reload(&mut self) {
        let Some(document) = self.model.document() else { return };
        let (real, state) = (document.real.clone(), document.buffer.state());
        let read = move |_: &mut Disk| disk::reread(&real).map(|(text, seen)| (real, text, seen));
        self.with_disk(read, move |app, _, read| match read {
            Ok((real, text, seen)) => {
                let document = app.model.documents.iter_mut().find(|document| document.real == real);
                let Some(document) = document else { return };
                let label = document.label.clone();
                if document.buffer.state() == state {
                    document.reload(text, seen);
                    reveal(&mut app.model);
                    app.model.notify(Tone::Good, format!("{label} was read again from disk"));
                } else {
                    app.model.report(
                        Tone::Bad,
                        format!("{label} was not read again: you changed it in the meantime"),
                    );
                }
            }
            Err(problem) => app.model.report(Tone::Bad, problem),
        });
    }

    /// Mentions a file. Without a path, it mentions the selected lines of the shown file, or the
    /// whole file.
    pub(super) fn mention(&mut self, server: &mut Server, path: Option<&Path>) -> Result<(), String> {
        if let Some(path) = path {
            let path = unicode(path)?;
            let find = move |disk: &mut Disk| unicode(&disk.folders.find(&path)?.shown);
            self.with_disk(find, |app, server, found| {
                let done = found.and_then(|path| app.mention_this(server, Mention::new(path, None)));
                app.show_problem(done);
            });
            return Ok(());
        }
        let Some(document) = self.model.document() else { return Ok(()) };
        let lines = u32::try_from(document.buffer.text().lines()).unwrap_or(u32::MAX);
        let mention = Mention::new(&document.path, document.selected_lines()).with_line_count(lines);
        self.mention_this(server, mention)
    }

    fn mention_this(&mut self, server: &mut Server, mention: Mention) -> Result<(), String> {
        let label = self.folders.label(Path::new(&mention.file_path));
        let what = match mention.lines {
            None => label,
            Some((first, last)) if first == last => format!("{label} line {}", first.saturating_add(1)),
            Some((first, last)) => {
                format!("{label} lines {} to {}", first.saturating_add(1), last.saturating_add(1))
            }
        };
        server.mention(self.model.now, mention, None).map_err(|error| error.to_string())?;
        let (tone, text) = match self.model.agents.last() {
            Some(agent) => (Tone::Good, format!("mentioned {what} to {}", agent.name)),
            None => (Tone::Plain, format!("the mention of {what} waits up to 30 s for an agent")),
        };
        self.model.report(tone, text);
        Ok(())
    }
}

/// Returns a note about each copy of an old text of this file that a killed write has left behind.
fn cut_short(folders: &Folders, file: &Inside) -> Vec<String> {
    let label = folders.label(&file.shown);
    let copies = save::cut_short(&file.real).into_iter();
    copies.map(|copy| save::note(folders.label(&copy), &label)).collect()
}

/// Returns the note about a new file. A user who gives a line expects a file that exists.
fn new_file(label: &str, place: Place) -> String {
    match place {
        Some(_) => format!("{label} does not exist: ^S creates it"),
        None => format!("{label} is a new file: ^S creates it"),
    }
}
