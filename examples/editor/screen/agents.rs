//! What agents do, and what they are answered: from the state that is on the screen.

use super::app::App;
use super::disk::{self, Problems};
use super::model::document::Document;
use super::model::proposal::Proposed;
use super::model::{Agent, Tone};
use crate::diffs::{Proposal, Verdict};
use crate::folders::Folders;
use crate::options::OnDiff;
use crate::worker::respond;
use crate::workspace::{missing_note, unicode};
use ide_mcp::Time;
use ide_mcp::ide::{
    Answer, CheckDocumentDirty, ConnId, CurrentSelection, Dialect, DiffEnd, DocumentSaved, DocumentState,
    EditorTab, FileDiagnostics, GetDiagnostics, Host, HostEvent, LatestSelection, LockFileEvent, OpenEditors,
    OpenFile, OpenedFile, SaveDocument, ServerEvent, Tool, ToolRequest, ToolSet, WorkspaceFolder,
    WorkspaceFolders, display_safe,
};
use ide_mcp::mcp::ToolResult;
use ide_mcp::rpc::CallId;
use std::path::Path;

/// Of what a peer calls something, as much as fits on a screen.
const LONGEST: usize = 200;

/// What an agent may ask of the editor with a screen. A tab is closed only where it is a proposal of the agent: the
/// person's files are the person's.
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
    /// Something happened at the host.
    pub(crate) fn event(&mut self, host: &mut Host, now: Time, event: HostEvent) {
        self.model.now = now;
        self.stale = true;
        match event {
            HostEvent::Connection { conn, event } => self.connection(host, conn, event),
            HostEvent::MentionExpired { mention } => {
                let label = self.folders.label(Path::new(&mention.file_path));
                self.model.tell(Tone::Bad, format!("nobody was there to be told of {label}"));
            }
            HostEvent::LockFile(event) => self.lock_file(event),
            _ => {}
        }
    }

    fn lock_file(&mut self, event: LockFileEvent) {
        let (tone, text, is_problem) = match event {
            LockFileEvent::Lost => (Tone::Plain, "the lock file is gone".to_owned(), false),
            LockFileEvent::Restored => (Tone::Good, "the lock file is back".into(), false),
            LockFileEvent::Taken => (
                Tone::Bad,
                "another program has the name of the lock file: agents do not find this editor".into(),
                true,
            ),
            LockFileEvent::Failed { error } => {
                (Tone::Bad, format!("agents may not find this editor: {}", of_peer(&error)), true)
            }
            _ => return,
        };
        self.lock_problem = is_problem.then(|| text.clone());
        self.model.tell(tone, text);
    }

    fn connection(&mut self, host: &mut Host, conn: ConnId, event: ServerEvent) {
        match event {
            ServerEvent::Ready { client } => {
                let name = client.map(|client| format!("{} {}", client.name, client.version));
                let name = name.map_or_else(|| format!("agent {}", conn.number()), |name| of_peer(&name));
                self.model.asked(&name, "attached".into());
                self.model.agents.push(Agent { conn, name, pid: None });
            }
            ServerEvent::IdeConnected { pid, .. } => {
                let agent = self.model.agents.iter_mut().find(|agent| agent.conn == conn);
                if let Some(agent) = agent {
                    agent.pid = pid;
                }
            }
            ServerEvent::Call { call, request: ToolRequest::OpenDiff(diff) } => {
                self.proposed(Proposal { conn, call, diff });
            }
            ServerEvent::Call { call, request } => self.called(host, conn, call, request),
            ServerEvent::CallEnded { call, .. } => self.disk.cancel(call),
            ServerEvent::DiffClosed { call, reason: why, .. } => {
                self.disk.cancel(call);
                // The agent may have written the file.
                self.look();
                if let Some(closed) = self.model.take_proposal(call) {
                    let edited = if closed.is_edited() || closed.editing.is_some() {
                        ", and your edit with it"
                    } else {
                        ""
                    };
                    let text = format!("{}: {}{edited}", closed.label, ended(why));
                    self.model.tell(Tone::Bad, text);
                }
            }
            ServerEvent::Closed(why) => {
                let at = self.model.agents.iter().position(|agent| agent.conn == conn);
                if let Some(agent) = at.map(|at| self.model.agents.remove(at)) {
                    self.model.happened(format!("{} is gone: {}", agent.name, of_peer(&why.to_string())));
                }
            }
            _ => {}
        }
    }

    fn proposed(&mut self, proposal: Proposal) {
        let (who, call, seen) = (self.model.agent(proposal.conn), proposal.call, self.seen());
        let read = move |folders: &mut Folders| {
            let label = of_peer(&label_of(folders, &proposal.diff.new_file_path));
            let old_path = &proposal.diff.old_file_path;
            let (old, place) = (disk::old_text(folders, old_path), folders.find(old_path));
            (disk::look(folders, seen), Proposed::new(proposal, who, label, old), place)
        };
        self.disk.run(Some(call), read, |app, host, _, (found, proposed, place)| {
            app.found(found);
            app.propose(host, proposed, place.ok().map(|place| place.real).as_deref());
        });
    }

    fn propose(&mut self, host: &mut Host, mut proposed: Proposed, real: Option<&Path>) {
        let verdict = match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => {
                let mut documents = self.model.documents.iter();
                if documents.any(|open| Some(open.real.as_path()) == real && open.buffer.is_dirty()) {
                    let notice = "the file has changes here that are not saved: they are not in it";
                    proposed.notices.push(notice.into());
                }
                return self.model.propose(proposed);
            }
            OnDiff::Accept => Verdict::Accept,
            OnDiff::Reject => Verdict::Reject,
        };
        let (call, label) = (proposed.proposal.call, proposed.label.clone());
        if host.decide(call, &proposed.outcome(verdict)).is_ok() {
            self.model.decided(&label, verdict, false);
        }
    }

    /// Answers a call, at once where it needs no disk.
    fn called(&mut self, host: &mut Host, conn: ConnId, call: CallId, request: ToolRequest) {
        let asked = Asked { call, who: self.model.agent(conn), tool: request.name().to_owned() };
        let at_once = match request {
            ToolRequest::GetDiagnostics(GetDiagnostics { uri, .. }) => {
                let path = uri.clone();
                let read = |folders: &Folders| uri.map(|uri| disk::problems(folders, uri)).transpose();
                return self.read_for(asked, path, read, move |app, host, read| {
                    let found = read.map(|read| ToolResult::diagnostics(&app.diagnostics(read)));
                    respond(host, call, found);
                });
            }
            ToolRequest::OpenFile(file) => {
                let path = file.file_path.clone();
                let read = move |folders: &Folders| Ok((disk::open(folders, &file.file_path)?, file));
                return self.read_for(asked, Some(path), read, move |app, host, read| {
                    let opened = read.and_then(|(document, file)| app.open_file(&file, document));
                    respond(host, call, opened.map(|opened| owned(&opened)));
                });
            }
            ToolRequest::CheckDocumentDirty(CheckDocumentDirty { file_path, .. }) => {
                let path = file_path.clone();
                let read = move |folders: &Folders| folders.find(&path).map(|place| place.real);
                return self.read_for(asked, Some(file_path.clone()), read, move |app, host, real| {
                    respond(host, call, Ok(owned(&app.document_state(file_path, real.ok().as_deref()))));
                });
            }
            ToolRequest::SaveDocument(SaveDocument { file_path, .. }) => {
                let path = file_path.clone();
                let read = move |folders: &Folders| folders.find(&path).map(|place| place.real);
                return self.read_for(asked, Some(file_path.clone()), read, move |app, host, real| {
                    app.save_document(host, call, file_path, real.ok().as_deref());
                });
            }
            ToolRequest::GetOpenEditors => Ok(owned(&self.open_editors())),
            ToolRequest::GetWorkspaceFolders => {
                let folders = self.folders.given().iter().map(|path| unicode(path));
                let folders: Result<Vec<String>, String> = folders.collect();
                folders.map(|folders| {
                    owned(&WorkspaceFolders::new(folders.into_iter().map(WorkspaceFolder::new).collect()))
                })
            }
            ToolRequest::GetCurrentSelection => {
                Ok(owned(&CurrentSelection(self.model.document().map(|document| document.selection()))))
            }
            ToolRequest::GetLatestSelection => Ok(owned(&LatestSelection(match self.model.document() {
                Some(document) => Some(document.selection()),
                None => self.latest.clone(),
            }))),
            other => Err(format!("{} is not served by this editor", other.name())),
        };
        self.model.asked(&asked.who, asked.tool);
        respond(host, call, at_once);
        // What the agent has just written shows soon.
        self.look();
    }

    /// Reads what a call needs; `then` answers it. It may be about a file that the agent has just written, so the disk is
    /// looked at first.
    fn read_for<R: Send + 'static>(
        &mut self,
        asked: Asked,
        path: Option<String>,
        read: impl FnOnce(&Folders) -> Result<R, String> + Send + 'static,
        then: impl FnOnce(&mut Self, &mut Host, Result<R, String>) + Send + 'static,
    ) {
        let (call, seen) = (asked.call, self.seen());
        let read = move |folders: &mut Folders| {
            let label = path.map(|path| label_of(folders, &path)).unwrap_or_default();
            (disk::look(folders, seen), label, read(folders))
        };
        self.disk.run(Some(call), read, move |app, host, _, (found, label, read)| {
            app.found(found);
            app.model.asked(&asked.who, of_peer(&format!("{} {label}", asked.tool)).trim_end().to_owned());
            then(app, host, read);
        });
    }

    /// The problems of the texts that are open, and else of what is on disk: of one file, or of all that are open.
    fn diagnostics(&mut self, of: Option<Problems>) -> Vec<FileDiagnostics> {
        for document in &mut self.model.documents {
            document.check();
        }
        let mut documents = self.model.documents.iter();
        match of {
            Some(Problems { uri, real, on_disk }) => {
                let open = documents.find(|document| document.real == real);
                vec![FileDiagnostics::new(uri, open.map_or(on_disk, |document| document.diagnostics.clone()))]
            }
            None => documents
                .map(|document| {
                    FileDiagnostics::new(format!("file://{}", document.path), document.diagnostics.clone())
                })
                .collect(),
        }
    }

    fn open_file(&mut self, asked: &OpenFile, document: Document) -> Result<OpenedFile, String> {
        let at = self.model.show(document);
        let types = self.model.types();
        let Some(document) = self.model.documents.get_mut(at) else { return Err("it is not open".into()) };
        let text = document.buffer.text().as_str();
        let path = document.path.clone();
        if !asked.make_frontmost {
            return Ok(OpenedFile::unfocused(path, document.language(), text.lines().count()));
        }
        let passage = asked.passage(text);
        let mut note = missing_note(passage.missing);
        if types && self.model.active != Some(at) {
            note = Some("in the background: the person is typing in another file".into());
        } else {
            document.select(passage.range);
            self.model.active = Some(at);
            self.model.reveal_active();
        }
        Ok(OpenedFile::focused(path, note))
    }

    fn open_editors(&self) -> OpenEditors {
        let tab = |(at, document): (usize, &Document)| {
            let name = document.path.rsplit('/').next().unwrap_or(&document.path);
            let mut tab = EditorTab::new(format!("file://{}", document.path), name, document.language());
            tab.is_active = self.model.active == Some(at);
            tab.is_dirty = document.buffer.is_dirty();
            tab.file_name = Some(document.path.clone());
            tab.line_count = u32::try_from(document.buffer.text().as_str().lines().count()).ok();
            tab
        };
        OpenEditors::new(self.model.documents.iter().enumerate().map(tab).collect())
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

    fn save_document(&mut self, host: &mut Host, call: CallId, path: String, real: Option<&Path>) {
        let open = self.model.documents.iter().find(|open| Some(open.real.as_path()) == real);
        let Some(open) = open else {
            return respond(host, call, Ok(owned(&DocumentSaved::NotOpen { file_path: path })));
        };
        let file_path = open.path.clone();
        let saved = move |host: &mut Host, done: Result<&str, String>| {
            let (saved, message) = match done {
                Ok(message) => (true, message.to_owned()),
                Err(problem) => (false, problem),
            };
            respond(host, call, Ok(owned(&DocumentSaved::Open { file_path, saved, message })));
        };
        match (open.buffer.is_dirty(), open.conflict) {
            (false, _) => saved(host, Ok("nothing was left to save")),
            (true, true) => {
                saved(host, Err("it was changed on disk as well: the person has to decide".into()));
            }
            (true, false) => {
                let real = open.real.clone();
                self.save(&real, move |_, host, done| {
                    saved(host, done.map(|()| "Document saved successfully"));
                });
            }
        }
    }
}

/// A call that is answered after something was read.
#[derive(Debug)]
struct Asked {
    call: CallId,
    /// What the agent calls itself.
    who: String,
    tool: String,
}

/// What a file that an agent names is called on the screen.
fn label_of(folders: &Folders, path: &str) -> String {
    folders.find(path).map_or_else(|_| path.to_owned(), |place| folders.label(&place.shown))
}

/// A text of a peer, safe to be shown, and no longer than makes sense.
pub(crate) fn of_peer(text: &str) -> String {
    let safe = display_safe(text);
    match safe.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", safe.get(..at).unwrap_or_default()),
        None => safe.into_owned(),
    }
}

const fn ended(why: DiffEnd) -> &'static str {
    match why {
        DiffEnd::TabClosed => "the agent closed the proposal, it was decided elsewhere",
        DiffEnd::AllClosed => "the agent closed all its proposals",
        DiffEnd::ShutDown => "the proposal was rejected, the editor ends",
        DiffEnd::Cancelled => "the agent took the proposal back",
        DiffEnd::Disconnected => "the agent is gone, and its proposal",
        _ => "the proposal has ended",
    }
}

fn owned<A: Answer>(answer: &A) -> ToolResult<'static> {
    answer.result(Dialect::VsCode).into_owned()
}
