//! The state of an editor beside its server: the numbers, the forms, and the events that wait.

use crate::config::Config;
use crate::event::Event;
use crate::gate::{self, Gate};
use crate::numbers::Numbers;
use ide_mcp::ide::tool::{LatestSelection, WorkspaceFolder, WorkspaceFolders};
use ide_mcp::ide::{AgentId, Pending, Server};
use ide_mcp::mcp::FormAnswer;
use ide_mcp::rpc::normalized;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::borrow::Cow;
use std::collections::VecDeque;

/// The state of an editor beside its server.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) numbers: Numbers,
    /// The connections that were announced and have not ended, including those of models.
    pub(crate) conns: Vec<AgentId>,
    /// The open forms: the line of each command, and the request to the agent.
    pub(crate) forms: Vec<(u64, Pending<FormAnswer>)>,
    pub(crate) selection: LatestSelection,
    /// True until the command `clear`, which keeps the latest selection.
    pub(crate) has_focus: bool,
    pub(crate) workspace: WorkspaceFolders,
    /// Judges what agents name, by the folders that are open now.
    pub(crate) gate: Gate,
    queue: VecDeque<Event>,
    /// What was left out since the editor stopped taking events; `None` while it takes them.
    pub(crate) gap: Option<Gap>,
}

/// How many events were left out, and the question about an agent, which is kept for later.
#[derive(Debug, Default)]
pub(crate) struct Gap {
    pub(crate) events: u64,
    pub(crate) calls: u64,
    /// The event `consent` of the agent that waits for an answer. If it were left out, the person would not
    /// be asked, and all agents would wait forever. The server asks about one agent at a time.
    consent: Option<Event>,
}

/// What is left to do of a command that concerns more than the server.
#[derive(Debug)]
#[must_use = "the caller must carry out the rest of the command"]
pub(crate) enum Rest {
    Nothing,
    /// These folders are open from now on.
    Folders(Vec<String>),
    Quit,
}

impl Core {
    pub(crate) fn new(config: &Config) -> Self {
        let mut core = Self {
            numbers: Numbers::default(),
            conns: Vec::new(),
            forms: Vec::new(),
            selection: LatestSelection::default(),
            has_focus: false,
            workspace: WorkspaceFolders::default(),
            gate: Gate::new(),
            queue: VecDeque::new(),
            gap: None,
        };
        core.set_folders(&config.folders);
        core
    }

    pub(crate) fn set_folders(&mut self, folders: &[String]) {
        self.gate.set_folders(folders);
        self.workspace.folders = folders.iter().map(WorkspaceFolder::new).collect();
    }

    /// Adds an event. While the editor takes no events, counts the event instead; a question about an agent
    /// is kept for later.
    pub(crate) fn put(&mut self, event: Event) {
        let Some(gap) = &mut self.gap else { return self.queue.push_back(event) };
        if let Event::Consent { .. } = event {
            gap.consent = Some(event);
            return;
        }
        if let Event::Closed { conn: closed, .. } = event {
            gap.consent.take_if(|event| matches!(event, Event::Consent { conn, .. } if *conn == closed));
        }
        gap.events = gap.events.saturating_add(1);
    }

    pub(crate) fn next(&mut self) -> Option<Event> {
        self.queue.pop_front()
    }

    /// Returns true if the next event has the text of a file.
    #[cfg(feature = "listen")]
    pub(crate) fn next_has_file(&self) -> bool {
        matches!(self.queue.front(), Some(Event::Diff { old: Some(_), .. }))
    }

    /// Remembers that the editor knows this agent.
    pub(crate) fn announce(&mut self, agent: AgentId) {
        if !self.conns.contains(&agent) {
            self.conns.push(agent);
        }
    }

    pub(crate) fn has_event(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes events again, or starts to leave them out.
    pub(crate) fn set_taking(&mut self, server: &Server, is_taking: bool) {
        if !is_taking {
            self.gap.get_or_insert_default();
            return;
        }
        let Some(Gap { events, calls, consent }) = self.gap.take() else { return };
        if events > 0 {
            self.put(Event::Gap { events, calls });
            let status = self.status(server, None);
            self.put(status);
        }
        self.queue.extend(consent);
    }

    /// Adds the last event. If events were left out, reports that first.
    pub(crate) fn end(&mut self, server: &Server) {
        self.set_taking(server, true);
        self.put(Event::Over {});
    }

    /// Returns the state of the editor as an event.
    pub(crate) fn status(&self, server: &Server, line: Option<u64>) -> Event {
        let agents = self.conns.iter().filter_map(|id| Some((id, server.agent(*id)?)));
        let agents = agents.map(|(id, agent)| Attached {
            conn: id.number(),
            client: agent.client().map(|client| gate::name(&client.name)),
            version: agent.client().map(|client| gate::name(&client.version)),
            pid: agent.pid(),
            roots: agent.roots(),
            model: agent.is_for_models(),
            consent: agent.waits_for_consent(),
        });
        let counts = server.unauthenticated();
        Event::Status {
            line,
            agents: json(&agents.collect::<Vec<_>>()),
            calls: json(&self.numbers.all().collect::<Vec<_>>()),
            forms: json(&self.forms.iter().map(|form| form.0).collect::<Vec<_>>()),
            paused: server.is_paused(),
            refused: counts.refused,
            wrong_tokens: counts.wrong_tokens,
            ended: counts.ended,
        }
    }
}

/// An agent in a `status`.
#[derive(Serialize)]
struct Attached<'a> {
    conn: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    roots: &'a [ide_mcp::mcp::Root],
    model: bool,
    consent: bool,
}

/// Returns a value as JSON that every editor can read: without line breaks, without halves of surrogate
/// pairs, and with plain integers. Values from agents may have all three.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Box<RawValue> {
    let raw = to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned());
    let normal = normalized(raw.get());
    if matches!(normal, Cow::Borrowed(_)) && !normal.contains(['\n', '\r']) {
        return raw;
    }
    RawValue::from_string(normal.replace(['\n', '\r'], " ")).unwrap_or(raw)
}
