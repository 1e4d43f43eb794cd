//! The edits that agents make without asking, for the editor with a screen and for the one without.
//!
//! ```text
//!   EditExpected ──▶ the file is read ──▶ logged ──┐
//!   EditEnded    ──▶ the file is read again ───────┴──▶ confirmed if the file has changed ──▶ listed, undone
//! ```

use crate::editor::folders::Folders;
use crate::editor::worker::Worker;
use crate::support::save::{Seen, remove, save, save_new};
use ide_mcp::Time;
use ide_mcp::ide::kit::{EditLog, FileState};
use ide_mcp::ide::{AgentId, EditEnd};
use ide_mcp::rpc::CallId;
use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

/// The expected edits, each with true if the file was read before the edit.
pub(crate) type Expected = BTreeMap<CallId, bool>;

/// An editor that follows the edits of agents, with or without a screen.
pub(crate) trait FollowEdits: Sized + 'static {
    /// The state of its disk thread.
    type Disk: AsMut<Edits> + Send + 'static;

    /// Returns the disk thread and the expected edits.
    fn parts(&mut self) -> (&mut Worker<Self::Disk, Self>, &mut Expected);

    /// Reports the end of an expected edit. `is_confirmed` is true if the file has changed.
    fn on_edit_ended(&mut self, edit: CallId, path: &str, reason: EditEnd, is_confirmed: bool);

    /// Reads the file before the agent writes it. Its job is queued before the answer to the call that announces the
    /// edit, so the file is read first. The log takes the state only while the edit is expected: if the call ends
    /// first, no other step follows, and the log would keep the state forever.
    fn expect_edit(&mut self, edit: CallId, path: Arc<str>) {
        let (disk, expected) = self.parts();
        expected.insert(edit, false);
        disk.run(
            Some(edit),
            move |disk| {
                let edits = disk.as_mut();
                (edits.state(&path), edits.permissions(&path), path)
            },
            move |app: &mut Self, _, _, (before, permissions, path)| {
                let (disk, expected) = app.parts();
                if let Some(is_read) = expected.get_mut(&edit) {
                    *is_read = true;
                    disk.run(
                        None,
                        move |disk| disk.as_mut().expect(edit, path, before, permissions),
                        |_, _, _, ()| {},
                    );
                }
            },
        );
    }

    /// Reads the file after the agent wrote it. If the read before the edit is not done, the disk hangs or is slow.
    /// Then the edit is not confirmed, and no further job waits for the disk.
    fn end_edit(&mut self, now: Time, edit: CallId, path: Arc<str>, reason: EditEnd) {
        let (disk, expected) = self.parts();
        if expected.remove(&edit) != Some(true) {
            return self.on_edit_ended(edit, &path, reason, false);
        }
        disk.run(
            None,
            move |disk| (disk.as_mut().end(now, edit, &path), path),
            move |app: &mut Self, _, _, (is_confirmed, path)| {
                app.on_edit_ended(edit, &path, reason, is_confirmed);
            },
        );
    }
}

/// The confirmed edits, on the disk thread.
#[derive(Debug)]
pub(crate) struct Edits {
    folders: Folders,
    log: EditLog,
    /// The permissions of the files before the expected edits.
    permissions: BTreeMap<CallId, Permissions>,
    /// The permissions of the files that confirmed edits have removed.
    removed: BTreeMap<CallId, Permissions>,
}

/// A confirmed edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) id: CallId,
    pub(crate) path: String,
    /// `created`, `changed` or `removed`, or `dropped` if the editor no longer has the text to undo it.
    pub(crate) kind: &'static str,
    pub(crate) at: Time,
}

impl Edits {
    pub(crate) fn new(folders: Folders) -> Self {
        Self { folders, log: EditLog::new(), permissions: BTreeMap::new(), removed: BTreeMap::new() }
    }

    /// Lists the confirmed edits, oldest first.
    pub(crate) fn list(&self) -> Vec<Edited> {
        let edits = self.log.edits().map(|edit| {
            let kind = match (edit.before(), edit.after()) {
                (Some(FileState::Absent), Some(_)) => "created",
                (Some(_), Some(FileState::Absent)) => "removed",
                (Some(_), Some(_)) => "changed",
                _ => "dropped",
            };
            Edited { id: edit.id, path: String::from(&*edit.path), kind, at: edit.at }
        });
        edits.collect()
    }

    /// Returns an agent's confirmed edit by its number.
    pub(crate) fn find(&self, conn: u64, edit: u64) -> Option<CallId> {
        let is_named = |id: &CallId| id.number() == edit && AgentId::of_call(*id).number() == conn;
        self.log.edits().map(|edit| edit.id).find(is_named)
    }

    /// Restores the state before an edit, if the file is as the agent left it. Returns the path of the file.
    pub(crate) fn undo(&mut self, edit: CallId) -> Result<String, String> {
        let path = self.log.get(edit).map(|edit| String::from(&*edit.path)).unwrap_or_default();
        let real = self.folders.find(&path)?.real;
        let now = state(&real);
        let before = self.log.undo(edit, &now).map_err(|error| format!("{path}: {error}"))?;
        let seen = match &now {
            FileState::Contents(text) => Seen::ABSENT.with_text(text),
            _ => Seen::ABSENT,
        };
        let restored = match before {
            FileState::Absent => remove(&real, &seen),
            FileState::Contents(bytes) => match self.removed.get(&edit) {
                Some(permissions) => save_new(&real, bytes, permissions),
                None => save(&real, bytes, Some(&seen)).map(drop),
            },
            _ => return Err(format!("{path}: its state before the edit is unknown")),
        };
        restored.map_err(|error| format!("{path}: {error}"))?;
        self.log.remove(edit);
        self.removed.remove(&edit);
        Ok(path)
    }

    /// Takes the state and the permissions of the file before an expected edit.
    fn expect(&mut self, edit: CallId, path: Arc<str>, before: FileState, permissions: Option<Permissions>) {
        self.log.expect(edit, path, before);
        self.permissions.extend(permissions.map(|permissions| (edit, permissions)));
    }

    /// Reads the file after an edit. Returns true if the edit is confirmed.
    pub(crate) fn end(&mut self, now: Time, edit: CallId, path: &str) -> bool {
        let after = self.state(path);
        let permissions = self.permissions.remove(&edit).filter(|_| after == FileState::Absent);
        let is_confirmed = self.log.end(now, edit, after).is_some();
        if let Some(permissions) = permissions.filter(|_| is_confirmed) {
            // The log forgets old edits, so their permissions go too.
            self.removed.retain(|known, _| self.log.get(*known).is_some());
            self.removed.insert(edit, permissions);
        }
        is_confirmed
    }

    /// Returns the state of a file in the folders; that of any other file is unknown.
    fn state(&self, path: &str) -> FileState {
        self.folders.find(path).map_or(FileState::Unknown, |inside| state(&inside.real))
    }

    fn permissions(&self, path: &str) -> Option<Permissions> {
        fs::metadata(self.folders.find(path).ok()?.real).ok().map(|metadata| metadata.permissions())
    }
}

fn state(real: &Path) -> FileState {
    match fs::metadata(real) {
        Err(error) if error.kind() == ErrorKind::NotFound => FileState::Absent,
        // Opening a pipe would block until a program opens it for writing.
        Ok(metadata) if metadata.is_file() => contents(real).unwrap_or(FileState::Unknown),
        Ok(_) | Err(_) => FileState::Unknown,
    }
}

/// Returns the contents of a file; `None` if they cannot be read or are too large for the log.
fn contents(real: &Path) -> Option<FileState> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(EditLog::MAX_TEXT).ok()?.saturating_add(1);
    File::open(real).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= EditLog::MAX_TEXT).then_some(FileState::Contents(bytes))
}
