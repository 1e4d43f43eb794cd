//! The edits that agents make without a question: the states of the files before and after, the list of the
//! edits, and their undoing.

use super::app::Headless;
use super::report::{Event, Listed};
use crate::editor::workspace::Workspace;
use ide_mcp::Time;
use ide_mcp::ide::{AgentId, EditEnd, EditLog, FileState, Host};
use ide_mcp::rpc::CallId;
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;

impl Headless {
    /// Reads the file before the agent writes it. The answer to the call that announces the edit comes after
    /// this read, because its job comes later in the queue. The log takes the state only while the edit is
    /// expected: if the call ends first, no other step follows, and the log would keep the state.
    pub(super) fn edit_expected(&mut self, edit: CallId, path: Arc<str>) {
        let conn = AgentId::of_call(edit).number();
        self.report().write(&Event::EditExpected { conn, edit: edit.number(), path: &path });
        self.expected_edits.insert(edit, false);
        self.disk.run(
            Some(edit),
            move |workspace| (workspace.state(&path), path),
            move |app, _, _, (before, path)| {
                if let Some(is_read) = app.expected_edits.get_mut(&edit) {
                    *is_read = true;
                    let expect = move |workspace: &mut Workspace| workspace.edits.expect(edit, path, before);
                    app.disk.run(None, expect, |_, _, _, ()| {});
                }
            },
        );
    }

    /// Reads the file after the agent wrote it. If the read before the edit is not done, the disk hangs or is
    /// slow. Then the edit is not confirmed, and no further job waits for the disk.
    pub(super) fn edit_ended(&mut self, now: Time, edit: CallId, path: Arc<str>, reason: EditEnd) {
        if self.expected_edits.remove(&edit) != Some(true) {
            return self.report_end(edit, &path, reason, false);
        }
        self.disk.run(
            None,
            move |workspace| (workspace.end_edit(now, edit, &path), path),
            move |app, _, _, (confirmed, path)| app.report_end(edit, &path, reason, confirmed),
        );
    }

    fn report_end(&mut self, edit: CallId, path: &str, reason: EditEnd, confirmed: bool) {
        let reason = match reason {
            EditEnd::TurnDone => "turn_done",
            EditEnd::NextEdit => "next_edit",
            EditEnd::Expired => "expired",
            EditEnd::TooMany => "too_many",
            EditEnd::Disconnected => "disconnected",
            _ => "ended",
        };
        let (conn, edit) = (AgentId::of_call(edit).number(), edit.number());
        self.report().write(&Event::EditEnded { conn, edit, path, reason, confirmed });
    }

    /// Lists the confirmed edits.
    pub(super) fn list_edits(&mut self, number: u64) {
        self.disk.run(
            None,
            |workspace| workspace.list_edits(),
            move |app, _, now, mut edits: Vec<(Time, Listed)>| {
                for (at, listed) in &mut edits {
                    listed.ago_ms = now.saturating_since(*at).as_millis();
                }
                let edits = edits.into_iter().map(|(_, listed)| listed).collect();
                app.report().write(&Event::Edits { line: number, edits });
            },
        );
    }

    /// Undoes an edit, if the file is as the agent left it.
    pub(super) fn undo(&mut self, number: u64, conn: u64, edit: u64) {
        self.disk.run(
            None,
            move |workspace| workspace.undo(conn, edit),
            move |app, _: &mut Host, _, undone| {
                let done =
                    undone.map(|path| app.report().write(&Event::EditUndone { conn, edit, path: &path }));
                app.done(number, done);
            },
        );
    }
}

impl Workspace {
    /// Returns true if the edit is confirmed.
    fn end_edit(&mut self, now: Time, edit: CallId, path: &str) -> bool {
        let after = self.state(path);
        self.edits.end(now, edit, after).is_some()
    }

    fn list_edits(&mut self) -> Vec<(Time, Listed)> {
        let edits = self.edits.edits().map(|edit| {
            let kind = match (edit.before(), edit.after()) {
                (Some(FileState::Absent), Some(_)) => "created",
                (Some(_), Some(FileState::Absent)) => "removed",
                (Some(_), Some(_)) => "changed",
                _ => "dropped",
            };
            let (conn, number) = (edit.agent().number(), edit.id().number());
            (edit.at(), Listed { conn, edit: number, path: edit.path().to_owned(), kind, ago_ms: 0 })
        });
        edits.collect()
    }

    /// Restores the state before an edit. Returns the path of the file. Between the comparison and the
    /// write, another program can still change the file.
    fn undo(&mut self, conn: u64, edit: u64) -> Result<String, String> {
        let is_named = |id: CallId| id.number() == edit && AgentId::of_call(id).number() == conn;
        let found = self.edits.edits().find(|edit| is_named(edit.id()));
        let found = found.ok_or_else(|| format!("there is no edit {edit} of conn {conn}"))?;
        let (id, path) = (found.id(), found.path().to_owned());
        let real = self.folders().find(&path)?.real;
        let before = self.edits.undo(id, &state(&real)).map_err(|error| format!("{path}: {error}"))?;
        let restored = match before {
            FileState::Absent => fs::remove_file(&real),
            FileState::Contents(bytes) => fs::write(&real, bytes),
            _ => return Err(format!("{path}: its state before the edit is unknown")),
        };
        restored.map_err(|error| format!("{path}: {error}"))?;
        self.edits.remove(id);
        Ok(path)
    }

    /// Returns the state of a file in the folders; the state of any other file is unknown.
    fn state(&self, path: &str) -> FileState {
        self.folders().find(path).map_or(FileState::Unknown, |inside| state(&inside.real))
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

/// Returns the contents of a file; `None` if they are too large for the log or cannot be read.
fn contents(real: &Path) -> Option<FileState> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(EditLog::MAX_TEXT).ok()?.saturating_add(1);
    File::open(real).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
    (bytes.len() <= EditLog::MAX_TEXT).then_some(FileState::Contents(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::report::Report;
    use super::super::tools::all_tools;
    use super::*;
    use crate::editor::folders::Folders;
    use crate::editor::options::OnDiff;
    use ide_mcp::ide::{HostConfig, Policy, ServerConfig};
    use ide_mcp::mcp::Implementation;

    #[test]
    fn cancelled_call_leaves_no_state() {
        let folder = std::env::temp_dir().join(format!("ide-mcp-cancelled-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path: Arc<str> = folder.join("a.json").to_str().unwrap().into();
        for (is_cancelled, confirmed) in [(false, true), (true, false), (true, false)] {
            let info = Implementation::new("editor", "1");
            let config = ServerConfig::new(info, Policy::without_authentication(1), all_tools());
            let mut host = Host::new(HostConfig::new(config));
            let folders = Folders::open(std::slice::from_ref(&folder)).unwrap();
            let report = Report::new(|| ());
            let mut app = Headless::new(Workspace::new(folders), OnDiff::Ask, report, || ()).unwrap();
            let edit = AgentId::from(host.connect(Time::ZERO)).call(7);
            fs::write(&*path, "before").unwrap();
            app.edit_expected(edit, path.clone());
            if is_cancelled {
                app.disk.cancel(edit);
            }
            let wait = |app: &mut Headless, host: &mut Host| {
                while let Some(follow_up) = app.disk.wait() {
                    follow_up(app, host, Time::ZERO);
                }
            };
            wait(&mut app, &mut host);
            if is_cancelled {
                app.edit_ended(Time::ZERO, edit, path.clone(), EditEnd::Expired);
                wait(&mut app, &mut host);
            }
            let end = move |workspace: &mut Workspace| {
                let after = FileState::Contents(b"after".to_vec());
                let is_known = workspace.edits.end(Time::ZERO, edit, after).is_some();
                assert_eq!(is_known, confirmed, "cancelled: {is_cancelled}");
            };
            app.disk.run(None, end, |_, _, _, ()| {});
            wait(&mut app, &mut host);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
