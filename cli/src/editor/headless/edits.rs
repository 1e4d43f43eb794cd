//! Reports the edits that agents make without asking, and lists and undoes them by command.

use super::app::Headless;
use super::report::{Event, Listed};
use crate::editor::edits::{Edited, Expected, FollowEdits};
use crate::editor::worker::Worker;
use crate::editor::workspace::Workspace;
use ide_mcp::ide::{AgentId, EditEnd, Server};
use ide_mcp::rpc::CallId;

impl FollowEdits for Headless {
    type Disk = Workspace;

    fn parts(&mut self) -> (&mut Worker<Workspace, Self>, &mut Expected) {
        (&mut self.disk, &mut self.expected_edits)
    }

    fn on_edit_ended(&mut self, edit: CallId, path: &str, reason: EditEnd, confirmed: bool) {
        let (conn, edit) = (AgentId::of_call(edit).number(), edit.number());
        self.report().write(&Event::EditEnded { conn, edit, path, reason: reason.as_str(), confirmed });
    }
}

impl Headless {
    /// Lists the confirmed edits.
    pub(super) fn list_edits(&mut self, number: u64) {
        self.disk.run(
            None,
            |workspace| workspace.as_mut().list(),
            move |app, _, now, edits| {
                let listed = edits.into_iter().map(|Edited { id, path, kind, at }| Listed {
                    conn: AgentId::of_call(id).number(),
                    edit: id.number(),
                    path,
                    kind,
                    ago_ms: now.saturating_since(at).as_millis(),
                });
                let edits = listed.collect();
                app.report().write(&Event::Edits { line: number, edits });
            },
        );
    }

    /// Undoes an edit, if the file is as the agent left it.
    pub(super) fn undo(&mut self, number: u64, conn: u64, edit: u64) {
        self.disk.run(
            None,
            move |workspace| {
                let edits = workspace.as_mut();
                let found = edits.find(conn, edit);
                edits.undo(found.ok_or_else(|| format!("there is no edit {edit} of conn {conn}"))?)
            },
            move |app, _: &mut Server, _, undone| {
                let done =
                    undone.map(|path| app.report().write(&Event::EditUndone { conn, edit, path: &path }));
                app.done(number, done);
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::offer::all_tools;
    use super::super::report::Report;
    use super::*;
    use crate::editor::folders::Folders;
    use crate::editor::options::OnDiff;
    use ide_mcp::Time;
    use ide_mcp::ide::{Auth, Dialect, Policy, ServerConfig};

    use std::fs;
    use std::sync::Arc;

    #[test]
    fn cancelled_call_leaves_no_state() {
        let temp = crate::support::temp::private_temp_dir();
        let folder = temp.path().join("cancelled");
        fs::create_dir_all(&folder).unwrap();
        let path: Arc<str> = folder.join("a.json").to_str().unwrap().into();
        for (is_cancelled, confirmed) in [(false, true), (true, false), (true, false)] {
            let config =
                ServerConfig::new("editor", "1").policy(Policy::new(1, Auth::Disabled)).tools(all_tools());
            let mut server = Server::new(config);
            let folders = Folders::open(std::slice::from_ref(&folder)).unwrap();
            let report = Report::new(|| ());
            let mut app =
                Headless::new(Workspace::new(folders), Dialect::VsCode, OnDiff::Ask, report, || ()).unwrap();
            let edit = AgentId::from(server.connect(Time::ZERO)).call(7);
            fs::write(&*path, "before").unwrap();
            app.expect_edit(edit, path.clone());
            if is_cancelled {
                app.disk.cancel(edit);
            }
            let wait = |app: &mut Headless, server: &mut Server| {
                while let Some(follow_up) = app.disk.wait() {
                    follow_up(app, server, Time::ZERO);
                }
            };
            wait(&mut app, &mut server);
            if is_cancelled {
                app.end_edit(Time::ZERO, edit, path.clone(), EditEnd::Expired);
                wait(&mut app, &mut server);
            }
            fs::write(&*path, "after").unwrap();
            let written = path.clone();
            let end = move |workspace: &mut Workspace| {
                let is_known = workspace.as_mut().end(Time::ZERO, edit, &written);
                assert_eq!(is_known, confirmed, "cancelled: {is_cancelled}");
            };
            app.disk.run(None, end, |_, _, _, ()| {});
            wait(&mut app, &mut server);
        }
    }
}
