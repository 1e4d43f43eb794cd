//! What agents do, and what they are answered: from the state that is on the screen.

use super::app::{App, save};
use super::disk;
use super::model::proposal::Proposed;
use super::model::{Agent, Tone};
use crate::diffs::{Proposal, Verdict};
use crate::options::OnDiff;
use crate::workspace::{self, missing_note, on_disk};
use ide_mcp::Time;
use ide_mcp::ide::{
    Answer, ConnId, CurrentSelection, Dialect, DiffEnd, DocumentSaved, DocumentState, EditorTab,
    FileDiagnostics, Host, HostEvent, LatestSelection, LockFileEvent, OpenEditors, OpenFile, OpenedFile,
    ServerEvent, Tool, ToolRequest, ToolSet, WorkspaceFolder, WorkspaceFolders, display_safe,
};
use ide_mcp::mcp::ToolResult;
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
                self.proposed(host, Proposal { conn, call, diff });
            }
            ServerEvent::Call { call, request } => {
                // It may ask about what it has just written.
                self.look();
                let who = self.model.agent(conn);
                self.model.asked(&who, said(&request, &self.folders));
                let answer = self.answer(&request).unwrap_or_else(ToolResult::error);
                // Where the connection has ended by now, nobody wants to know.
                let _ = host.respond(call, &answer);
            }
            ServerEvent::DiffClosed { call, why, .. } => {
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

    fn proposed(&mut self, host: &mut Host, proposal: Proposal) {
        let who = self.model.agent(proposal.conn);
        let label = of_peer(&self.label_of(&proposal.diff.new_file_path));
        let verdict = match self.on_diff {
            OnDiff::Ask | OnDiff::Hold => {
                let old = disk::old_text(&self.folders, &proposal.diff.old_file_path);
                let real = self.folders.find(&proposal.diff.old_file_path).map(|place| place.real);
                let mut proposed = Proposed::new(proposal, who, label, old);
                let is_dirty = |real| {
                    self.model.documents.iter().any(|open| open.real == real && open.buffer.is_dirty())
                };
                if real.is_ok_and(is_dirty) {
                    proposed
                        .notices
                        .push("the file has changes here that are not saved: they are not in it".into());
                }
                return self.model.propose(proposed);
            }
            OnDiff::Accept => Verdict::Accept,
            OnDiff::Reject => Verdict::Reject,
        };
        let call = proposal.call;
        if host.decide(call, &proposal.outcome(verdict, None)).is_ok() {
            self.model.decided(&label, verdict, false);
        }
    }

    /// The answer to a call, or why there is none.
    fn answer(&mut self, request: &ToolRequest) -> Result<ToolResult<'static>, String> {
        Ok(match request {
            ToolRequest::GetDiagnostics(asked) => {
                ToolResult::diagnostics(&self.diagnostics(asked.uri.as_deref())?)
            }
            ToolRequest::OpenFile(file) => owned(&self.open_file(file)?),
            ToolRequest::GetOpenEditors => owned(&self.open_editors()),
            ToolRequest::GetWorkspaceFolders => {
                let folders = self.folders.given().iter().map(|path| workspace::unicode(path));
                let folders: Result<Vec<String>, String> = folders.collect();
                owned(&WorkspaceFolders::new(folders?.into_iter().map(WorkspaceFolder::new).collect()))
            }
            ToolRequest::GetCurrentSelection => {
                owned(&CurrentSelection(self.model.document().map(|document| document.selection())))
            }
            ToolRequest::GetLatestSelection => owned(&LatestSelection(match self.model.document() {
                Some(document) => Some(document.selection()),
                None => self.latest.clone(),
            })),
            ToolRequest::CheckDocumentDirty(asked) => owned(&self.document_state(&asked.file_path)),
            ToolRequest::SaveDocument(asked) => owned(&self.save_document(&asked.file_path)),
            other => return Err(format!("{} is not served by this editor", other.name())),
        })
    }

    /// The [`workspace::diagnostics`] of the texts that are open, and else of what is on disk.
    fn diagnostics(&mut self, uri: Option<&str>) -> Result<Vec<FileDiagnostics>, String> {
        for document in &mut self.model.documents {
            document.check();
        }
        let documents = &self.model.documents;
        let open = documents.iter().map(|document| (document.real.as_path(), &document.path));
        workspace::diagnostics(&self.folders, uri, open, |real| {
            let open = documents.iter().find(|document| document.real == real);
            open.map_or_else(|| on_disk(real), |document| document.diagnostics.clone())
        })
    }

    fn open_file(&mut self, asked: &OpenFile) -> Result<OpenedFile, String> {
        let document = disk::open(&self.folders, &asked.file_path)?;
        let at = self.model.show(document);
        let types = self.model.types();
        let Some(document) = self.model.documents.get_mut(at) else { return Err("it is not open".into()) };
        let text = document.buffer.text().as_str();
        let path = document.path.clone();
        if !asked.make_frontmost {
            return Ok(OpenedFile::in_background(path, document.language(), text.lines().count()));
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
        Ok(OpenedFile::in_front(path, note))
    }

    fn open_editors(&self) -> OpenEditors {
        let tab = |(at, document): (usize, &super::model::document::Document)| {
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

    fn document_state(&self, path: &str) -> DocumentState {
        let real = self.folders.find(path).map(|place| place.real);
        let open =
            self.model.documents.iter().find(|open| real.as_ref().is_ok_and(|real| *real == open.real));
        match open {
            Some(open) => DocumentState::Open {
                file_path: open.path.clone(),
                is_dirty: open.buffer.is_dirty(),
                is_untitled: false,
            },
            None => DocumentState::NotOpen { file_path: path.into() },
        }
    }

    fn save_document(&mut self, path: &str) -> DocumentSaved {
        let real = self.folders.find(path).map(|place| place.real);
        let mut open = self.model.documents.iter_mut();
        let Some(open) = open.find(|open| real.as_ref().is_ok_and(|real| *real == open.real)) else {
            return DocumentSaved::NotOpen { file_path: path.into() };
        };
        let done = match (open.buffer.is_dirty(), open.conflict) {
            (false, _) => Ok("nothing was left to save"),
            (true, true) => Err("it was changed on disk as well: the person has to decide".into()),
            (true, false) => save(open).map(|()| "Document saved successfully"),
        };
        let (saved, message) = match done {
            Ok(message) => (true, message.to_owned()),
            Err(problem) => (false, problem),
        };
        DocumentSaved::Open { file_path: open.path.clone(), saved, message }
    }

    fn label_of(&self, path: &str) -> String {
        self.folders.find(path).map_or_else(|_| path.to_owned(), |place| self.folders.label(&place.shown))
    }
}

/// What a call asks for, in a few words.
fn said(request: &ToolRequest, folders: &crate::folders::Folders) -> String {
    let about = match request {
        ToolRequest::GetDiagnostics(asked) => asked.uri.as_deref(),
        ToolRequest::OpenFile(asked) => Some(asked.file_path.as_str()),
        ToolRequest::CheckDocumentDirty(asked) => Some(asked.file_path.as_str()),
        ToolRequest::SaveDocument(asked) => Some(asked.file_path.as_str()),
        _ => None,
    };
    let label = about
        .map(|path| folders.find(path).map_or_else(|_| path.to_owned(), |place| folders.label(&place.shown)));
    of_peer(&format!("{} {}", request.name(), label.unwrap_or_default())).trim_end().to_owned()
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
