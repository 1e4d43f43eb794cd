//! The tools of the headless editor, and the answers to their calls.
//!
//! This editor has no buffers: its open files are as they are on disk, and never have unsaved changes.

use super::app::Headless;
use super::vault;
use crate::editor::options::OnDiff;
use crate::editor::worker::{answer, not_served};
use crate::editor::workspace::{Opened, Workspace, folder_list, missing_note};
use crate::support::local;
use ide_mcp::Time;
use ide_mcp::ide::kit::Range;
use ide_mcp::ide::tool::{
    CurrentSelection, CursorPosition, Diagnostics, DirectRequest, DocumentSaved, DocumentState, Done,
    FilePaths, LatestSelection, OpenEditors, OpenFile, OpenedFile, OpenedFiles, ToolCall,
};
use ide_mcp::ide::{Dialect, Selection, Server};
use ide_mcp::rpc::CallId;

const NO_FILE: &str = "no file has the focus";

impl Headless {
    /// Answers a call, after the disk was read if the answer needs it.
    pub(super) fn called(&mut self, server: &mut Server, call: ToolCall) {
        match call {
            ToolCall::GetDiagnostics(call, request) => {
                // As JetBrains describes its tools, a call without a file means the file with the focus.
                let means_focus = self.dialect == Dialect::JetBrains;
                let focus = self.focus().filter(|_| means_focus).map(|at| at.file_path.clone());
                let found = move |workspace: &mut Workspace| {
                    // Failing for a hidden file would reveal that such a file has the focus.
                    let focus = focus.filter(|path| workspace.folders().find_for_agent(path).is_ok());
                    let uri = request.uri.or_else(|| focus.map(|path| local::uri_unencoded(&path)));
                    workspace.diagnostics(uri.as_deref())
                };
                self.read(call.id(), found, move |_, server, _, found| {
                    answer(server, call, found.map(|files| Diagnostics { files }));
                });
            }
            ToolCall::OpenFile(call, file) => self.read(
                call.id(),
                move |workspace| workspace.open_file(&file).map(|opened| (file, opened)),
                move |app, server, now, opened| {
                    let opened = opened.map(|(file, opened)| match opened {
                        Some(opened) => app.opened(server, now, &file, opened),
                        None => OpenedFile::NotFound { path: file.file_path },
                    });
                    answer(server, call, opened);
                },
            ),
            ToolCall::OpenFiles(call, request) => self.read(
                call.id(),
                move |workspace| workspace.open_files(&request.file_paths),
                move |_, server, _, opened| answer(server, call, Ok(OpenedFiles { opened_files: opened })),
            ),
            ToolCall::GetOpenEditors(call, _) => {
                let active = self.focus().map(|selection| selection.file_path.clone());
                self.read(
                    call.id(),
                    move |workspace| workspace.tabs(active.as_deref()),
                    move |_, server, _, tabs| answer(server, call, Ok(OpenEditors { tabs })),
                );
            }
            ToolCall::GetAllOpenedFilePaths(call, _) => self.read(
                call.id(),
                |workspace| workspace.paths(),
                move |_, server, _, paths| answer(server, call, Ok(FilePaths { paths })),
            ),
            ToolCall::GetWorkspaceFolders(call, _) => self.read(
                call.id(),
                |workspace| folder_list(workspace.folders()),
                move |_, server, _, folders| answer(server, call, folders),
            ),
            ToolCall::GetCurrentSelection(call, _) => {
                answer(server, call, Ok(CurrentSelection(self.focus().cloned())));
            }
            ToolCall::GetLatestSelection(call, _) => {
                answer(server, call, Ok(LatestSelection(self.latest.clone())));
            }
            ToolCall::CheckDocumentDirty(call, request) => {
                let state = move |workspace: &mut Workspace| match workspace.shown(&request.file_path) {
                    Some(file_path) => DocumentState::Open { file_path, is_dirty: false, is_untitled: false },
                    None => DocumentState::NotOpen { file_path: request.file_path },
                };
                self.read(call.id(), state, move |_, server, _, state| answer(server, call, Ok(state)));
            }
            ToolCall::SaveDocument(call, request) => {
                let saved = move |workspace: &mut Workspace| match workspace.shown(&request.file_path) {
                    Some(file_path) => {
                        let message = "nothing was left to save".into();
                        DocumentSaved::Open { file_path, saved: true, message }
                    }
                    None => DocumentSaved::NotOpen { file_path: request.file_path },
                };
                self.read(call.id(), saved, move |_, server, _, saved| answer(server, call, Ok(saved)));
            }
            ToolCall::GetCursorPosition(call, _) => {
                let cursor = self.focus().map(|at| CursorPosition::new(at.file_path.as_str(), at.range.end));
                answer(server, call, cursor.ok_or_else(|| NO_FILE.into()));
            }
            ToolCall::SetCursorPosition(call, request) => {
                let range = Range::new(request.position(), request.position());
                let select = self.selects(request.file_path, range);
                self.read(call.id(), select, move |app, server, now, selection| {
                    let moved = app.moved(server, now, selection);
                    answer(server, call, moved);
                });
            }
            ToolCall::SetSelection(call, request) => {
                let select = self.selects(request.file_path, request.range);
                self.read(call.id(), select, move |app, server, now, selection| {
                    let moved = app.moved(server, now, selection);
                    answer(server, call, moved);
                });
            }
            // The server cannot filter the output of a program.
            ToolCall::Other(call, _) if server.is_paused() => {
                answer(server, call, Err("the user has paused the editor".into()));
            }
            ToolCall::Other(call, request) => {
                let arguments = serde_json::to_string(&request).unwrap_or_default();
                self.own.called(server, call.into(), &request.name, arguments);
            }
            other => not_served(server, other),
        }
    }

    /// Answers a request of the Obsidian dialect.
    pub(super) fn answer_direct(&mut self, call: CallId, request: DirectRequest) {
        let writes = self.on_diff == OnDiff::Accept;
        let current = self.focus().map(|selection| selection.file_path.clone());
        let read = move |workspace: &mut Workspace| vault::answer(workspace, request, writes, current);
        self.read(call, read, move |_, server, _, read| {
            // If this fails, the agent is gone, and nobody waits for the answer.
            let _ = match read {
                Ok(answer) => server.call(call).respond_direct(&answer).map_err(drop),
                Err(problem) => server.call(call).fail(problem).map_err(drop),
            };
        });
    }

    fn read<R: Send + 'static>(
        &mut self,
        call: CallId,
        job: impl FnOnce(&mut Workspace) -> R + Send + 'static,
        then: impl FnOnce(&mut Self, &mut Server, Time, R) + Send + 'static,
    ) {
        self.disk.run(Some(call), job, then);
    }

    /// Returns the selection, if a file has the focus.
    fn focus(&self) -> Option<&Selection> {
        self.latest.as_ref().filter(|_| self.has_focus)
    }

    /// Returns the answer to `openFile`. Selects the passage only if the file comes to the front:
    /// agents also open files in the background while the user works elsewhere.
    fn opened(&mut self, server: &mut Server, now: Time, file: &OpenFile, opened: Opened) -> OpenedFile {
        if file.make_frontmost {
            self.select(server, now, opened.selection);
            OpenedFile::focused(opened.path, missing_note(opened.missing))
        } else {
            OpenedFile::unfocused(opened.path, "plaintext", opened.lines)
        }
    }

    /// Returns the job that selects a range of a file; without a path, of the file with the focus.
    fn selects(
        &self,
        path: Option<String>,
        range: Range,
    ) -> impl FnOnce(&mut Workspace) -> Result<Selection, String> + Send + use<> {
        let focus = self.focus().map(|at| at.file_path.clone());
        move |workspace| match path {
            Some(path) => workspace.select_for_agent(&path, range),
            // Failing for a hidden file would reveal that such a file has the focus.
            None if workspace.folders().find_for_agent(focus.as_deref().ok_or(NO_FILE)?).is_err() => {
                Err(NO_FILE.into())
            }
            None => workspace.select(&focus.ok_or(NO_FILE)?, range),
        }
    }

    fn moved(
        &mut self,
        server: &mut Server,
        now: Time,
        selection: Result<Selection, String>,
    ) -> Result<Done, String> {
        selection.map(|selection| {
            self.select(server, now, selection);
            Done
        })
    }
}
