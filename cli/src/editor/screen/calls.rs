//! The tools of the editor with a screen: answers the calls of agents from the state on the screen.

use super::agents::of_peer;
use super::app::App;
use super::disk::{self, Disk, Problems};
use super::model::document::Document;
use crate::editor::diagnostics::{checks, of_known};
use crate::editor::folders::Folders;
use crate::editor::worker::{answer, not_served};
use crate::editor::workspace::{folder_list, missing_note};
use crate::support::local;
use ide_mcp::ide::tool::{
    Call, CheckDocumentDirty, CurrentSelection, Diagnostics, DocumentSaved, DocumentState, EditorTab,
    FileDiagnostics, GetDiagnostics, LatestSelection, OpenEditors, OpenFile, OpenedFile, SaveDocument, Tool,
    ToolCall, ToolSet,
};
use ide_mcp::ide::{AgentId, Server};
use ide_mcp::rpc::CallId;
use std::path::Path;

/// Returns the tools of the editor with a screen. An agent can close a tab only if it is a proposal of its own: the
/// user's files are the user's.
pub(crate) fn tools() -> ToolSet {
    let all = [
        Tool::OpenDiff,
        Tool::GetDiagnostics,
        Tool::OpenFile,
        Tool::GetOpenEditors,
        Tool::GetWorkspaceFolders,
        Tool::GetCurrentSelection,
        Tool::GetLatestSelection,
        Tool::CheckDocumentDirty,
        Tool::SaveDocument,
    ];
    all.into_iter().fold(ToolSet::new(), ToolSet::handle)
}

impl App {
    /// Answers a call, at once if it needs no disk.
    pub(super) fn called(&mut self, server: &mut Server, agent: AgentId, call: ToolCall) {
        let who = self.model.agent(agent);
        self.model.record(&who, summary(&call, &self.folders));
        match call {
            ToolCall::GetDiagnostics(call, GetDiagnostics { uri, .. }) => {
                let is_of_all = uri.is_none();
                let read = |disk: &mut Disk| disk::problems(disk, uri);
                return self.read_for(call.id(), read, move |app, server, read| {
                    let found = read.and_then(|read| app.diagnostics(is_of_all, read));
                    answer(server, call, found.map(|files| Diagnostics { files }));
                });
            }
            ToolCall::OpenFile(call, file) => {
                let read = move |disk: &mut Disk| {
                    let place = disk.folders.find_for_agent(&file.file_path)?;
                    Ok((disk::open(&disk.folders, place)?, file))
                };
                return self.read_for(call.id(), read, move |app, server, read| {
                    let opened = read.and_then(|(document, file)| app.open_file(&file, document));
                    answer(server, call, opened);
                });
            }
            ToolCall::CheckDocumentDirty(call, CheckDocumentDirty { file_path, .. }) => {
                let path = file_path.clone();
                let read = move |disk: &mut Disk| disk.folders.find_for_agent(&path).map(|place| place.real);
                return self.read_for(call.id(), read, move |app, server, real| {
                    answer(server, call, Ok(app.document_state(file_path, real.ok().as_deref())));
                });
            }
            ToolCall::SaveDocument(call, SaveDocument { file_path, .. }) => {
                let path = file_path.clone();
                let read = move |disk: &mut Disk| disk.folders.find_for_agent(&path).map(|place| place.real);
                return self.read_for(call.id(), read, move |app, server, real| {
                    app.save_document(server, call, file_path, real.ok().as_deref());
                });
            }
            ToolCall::GetOpenEditors(call, _) => answer(server, call, Ok(self.open_editors())),
            ToolCall::GetWorkspaceFolders(call, _) => answer(server, call, folder_list(&self.folders)),
            ToolCall::GetCurrentSelection(call, _) => {
                let selection = self.model.document().map(|document| document.selection());
                answer(server, call, Ok(CurrentSelection(selection)));
            }
            ToolCall::GetLatestSelection(call, _) => {
                let selection = self.model.document().map(|document| document.selection());
                answer(server, call, Ok(LatestSelection(selection.or_else(|| self.latest.clone()))));
            }
            other => not_served(server, other),
        }
        // This look at the disk also finds a file that the agent has just written, so that the screen shows it soon.
        self.look();
    }

    /// Reads the data for a call; `then` answers it. Looks at the disk first, because the call may concern a file
    /// that the agent has just written.
    fn read_for<R: Send + 'static>(
        &mut self,
        call: CallId,
        read: impl FnOnce(&mut Disk) -> Result<R, String> + Send + 'static,
        then: impl FnOnce(&mut Self, &mut Server, Result<R, String>) + Send + 'static,
    ) {
        let seen = self.seen();
        let read = move |disk: &mut Disk| (disk::look(&disk.folders, seen), read(disk));
        self.disk.run(Some(call), read, move |app, server, _, (found, read)| {
            app.stale = true;
            app.found(found);
            then(app, server, read);
        });
    }

    /// Returns the problems of one file, or of all open files and those that agents requested before. For an open file
    /// they are those of its text in the editor, for others those on disk. Leaves out files that are not checked, and
    /// fails if none remains.
    fn diagnostics(&mut self, is_of_all: bool, found: Vec<Problems>) -> Result<Vec<FileDiagnostics>, String> {
        for document in &mut self.model.documents {
            document.check();
        }
        let in_editor = |open: &Document| checks(&open.real).map(|()| open.diagnostics.clone());
        let mut documents =
            self.model.documents.iter().filter(|document| !self.folders.hides(&document.real));
        if !is_of_all {
            let of_one = |Problems { name, real, on_disk }| {
                let open = documents.find(|document| document.real == real);
                Ok(FileDiagnostics::new(name, open.map_or(on_disk, in_editor)?))
            };
            return found.into_iter().map(of_one).collect();
        }
        let is_open = |real: &Path| self.model.documents.iter().any(|document| document.real == real);
        let others = found.into_iter().filter(|found| !is_open(&found.real));
        let others = others.map(|found| (found.name, found.on_disk));
        of_known(documents.map(|open| (open.path.clone(), in_editor(open))).chain(others))
    }

    fn open_file(&mut self, request: &OpenFile, document: Document) -> Result<OpenedFile, String> {
        let at = self.model.show(document);
        let types = self.model.types();
        let Some(document) = self.model.documents.get_mut(at) else { return Err("it is not open".into()) };
        let text = document.buffer.text().as_str();
        let path = document.path.clone();
        if !request.make_frontmost {
            return Ok(OpenedFile::unfocused(path, document.language(), text.lines().count()));
        }
        let passage = request.passage(text);
        let mut note = missing_note(passage.missing);
        if types && self.model.active != Some(at) {
            note = Some("in the background: the user is typing in another file".into());
        } else {
            document.select(passage.range);
            self.model.active = Some(at);
            self.model.reveal_active();
        }
        Ok(OpenedFile::focused(path, note))
    }

    fn open_editors(&self) -> OpenEditors {
        let tab = |(at, document): (usize, &Document)| {
            let (uri, name) = (local::uri(&document.path), local::name(&document.path));
            let mut tab = EditorTab::new(uri, name, document.language());
            tab.is_active = self.model.active == Some(at);
            tab.is_dirty = document.buffer.is_dirty();
            tab.file_name = Some(document.path.clone());
            tab.line_count = u32::try_from(document.buffer.text().as_str().lines().count()).ok();
            tab
        };
        OpenEditors { tabs: self.model.documents.iter().enumerate().map(tab).collect() }
    }

    fn document_state(&self, path: String, real: Option<&Path>) -> DocumentState {
        let open = self.model.documents.iter().find(|open| Some(open.real.as_path()) == real);
        match open {
            Some(open) => DocumentState::Open {
                file_path: open.path.clone(),
                is_dirty: open.buffer.is_dirty(),
                is_untitled: false,
            },
            None => DocumentState::NotOpen { file_path: path },
        }
    }

    fn save_document(
        &mut self,
        server: &mut Server,
        call: Call<SaveDocument>,
        path: String,
        real: Option<&Path>,
    ) {
        let open = self.model.documents.iter().find(|open| Some(open.real.as_path()) == real);
        let Some(open) = open else {
            return answer(server, call, Ok(DocumentSaved::NotOpen { file_path: path }));
        };
        let file_path = open.path.clone();
        let saved = move |server: &mut Server, done: Result<&str, String>| {
            let (saved, message) = match done {
                Ok(message) => (true, message.to_owned()),
                Err(problem) => (false, problem),
            };
            answer(server, call, Ok(DocumentSaved::Open { file_path, saved, message }));
        };
        match (open.buffer.is_dirty(), open.conflict) {
            (false, _) => saved(server, Ok("nothing was left to save")),
            _ if open.is_renamed => saved(server, Err("this file is being saved under another name".into())),
            (true, true) => {
                saved(server, Err("it was changed on disk as well: the user must decide".into()));
            }
            (true, false) => {
                let real = open.real.clone();
                self.save(&real, move |_, server, done| {
                    saved(server, done.map(|()| "Document saved successfully"));
                });
            }
        }
    }
}

/// Returns a short description of a call.
fn summary(call: &ToolCall, folders: &Folders) -> String {
    let about = match call {
        ToolCall::GetDiagnostics(_, request) => request.uri.as_deref(),
        ToolCall::OpenFile(_, request) => Some(request.file_path.as_str()),
        ToolCall::CheckDocumentDirty(_, request) => Some(request.file_path.as_str()),
        ToolCall::SaveDocument(_, request) => Some(request.file_path.as_str()),
        _ => None,
    };
    let label = about.map(|about| folders.label_of(about)).unwrap_or_default();
    of_peer(&format!("{} {label}", call.name())).trim_end().to_owned()
}
