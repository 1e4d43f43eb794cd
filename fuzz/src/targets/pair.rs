//! An editor and an agent, joined by links that cut, delay and stall bytes and can end, with applications that do
//! anything at any time.

use ide_mcp::Time;
use ide_mcp::ide::kit::{Position, Range};
use ide_mcp::ide::tool::{DiffOutcome, Tool, ToolCall, ToolSet};
use ide_mcp::ide::{
    Auth, Client, ClientConfig, ClientEvent, Mention, Policy, Push, Selection, Server, ServerConfig,
    ServerEvent,
};
use ide_mcp::mcp::{Implementation, Progress, Timeout, ToolResult};
use ide_mcp::rpc::{CallId, ErrorObject, RequestId, SessionId};
use ide_mcp::testing::arbitrary::{self, Arbitrary};
use ide_mcp::testing::{AgentAct, Change, Pair, Random, Step, script};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Arbitrary, Clone, Debug)]
enum Act {
    Agent(AgentAct),
    Editor(EditorAct),
    /// The agent requests the diagnostics, with progress.
    Watch,
}

#[derive(Arbitrary, Clone, Debug)]
enum EditorAct {
    /// Answers one of the open calls.
    Answer(u8),
    Fail(u8),
    Select(u8),
    Mention,
    Ping,
    Cancel(u8),
    SetTools,
    ShutDown,
    /// Reports progress of one of the open calls.
    Progress(u8, u8),
}

/// Checks that every request of either side has one outcome and every call one end, whatever the link does, and that
/// the size of the pieces does not matter.
pub fn pair(data: &[u8]) {
    let whole = play(data, None);
    for piece in [1, 61] {
        let cut = play(data, Some(piece));
        assert_eq!(whole.0, cut.0, "what the editor saw, cut into pieces of {piece}");
        assert_eq!(whole.1, cut.1, "what the agent saw, cut into pieces of {piece}");
    }
    play_as_scripted(data);
}

/// Returns the events of both sides, with all bytes in pieces of this size, and each selection once. Skips steps that
/// change the size or end the link, since the size would then decide which answers leave before the end.
fn play(data: &[u8], piece: Option<usize>) -> (Vec<String>, Vec<String>) {
    let mut run = Run::new();
    run.pair.cut_into(piece.unwrap_or(usize::MAX));
    for step in script::<Act>(data) {
        if !matches!(step, Step::Link(_, Change::Piece(_) | Change::Clear | Change::Finish | Change::Cut)) {
            run.step(&step);
        }
    }
    run.finish();
    let shown = |events: &[ServerEvent]| events.iter().map(|event| format!("{event:?}")).collect();
    let seen = shown(&run.pair.server_events);
    // The editor repeats a selection after each list of tools, unless the previous one is still unwritten. So the size
    // of the pieces affects how often an unchanged selection is repeated.
    let mut latest = None;
    let is_news = |event: &&ClientEvent| match event {
        ClientEvent::Pushed(Push::SelectionChanged(selection)) => {
            latest.replace(selection.clone()).as_ref() != Some(selection)
        }
        _ => true,
    };
    (seen, run.pair.client_events.iter().filter(is_news).map(|event| format!("{event:?}")).collect())
}

fn play_as_scripted(data: &[u8]) {
    let mut run = Run::new();
    for step in script::<Act>(data) {
        run.step(&step);
    }
    run.finish();
}

struct Run {
    pair: Pair<Server, Client>,
    /// The requests of each side.
    by_agent: Vec<RequestId>,
    by_editor: Vec<RequestId>,
    /// The calls that wait for the editor, with their answers.
    waiting: Vec<(CallId, ToolResult<'static>)>,
    /// The number of ends of each call.
    ended: BTreeMap<CallId, usize>,
    /// The requests of the agent that want progress, with the last report.
    watched: BTreeMap<RequestId, f64>,
    /// The number of progress notifications that the editor sent.
    reported: usize,
    /// The number of events that have been examined.
    looked_at: usize,
}

fn tools() -> ToolSet {
    ToolSet::new().handle(Tool::OpenDiff).handle(Tool::GetDiagnostics).handle(Tool::OpenFile)
}

/// Returns the editor's answer to a call.
fn answer(call: &ToolCall) -> ToolResult<'static> {
    match call {
        ToolCall::OpenDiff(..) => ide_mcp::testing::written_answer(
            &DiffOutcome::Rejected { tab_name: "t".into() },
            ide_mcp::ide::Dialect::VsCode,
        )
        .into_owned(),
        ToolCall::OpenFile(..) => ToolResult::text("Opened file: /w/a"),
        _ => ToolResult::text("[]"),
    }
}

impl Run {
    fn new() -> Self {
        let mut server = ServerConfig::new("e", "1").policy(Policy::new(1, Auth::Disabled)).tools(tools());
        server.mcp.limits.open_calls = 4;
        let mut client = ClientConfig::new(Implementation::new("a", "1"), 1, None);
        client.pid = Some(7);
        let mut server = Server::new(server);
        let conn = server.connect(Time::ZERO);
        let client = Client::new(client, Random::new(1).source(), SessionId::new(2), Time::ZERO)
            .expect("a good server");
        Self {
            pair: Pair::joined(server, conn, client, Time::ZERO),
            by_agent: Vec::new(),
            by_editor: Vec::new(),
            waiting: Vec::new(),
            ended: BTreeMap::new(),
            watched: BTreeMap::new(),
            reported: 0,
            looked_at: 0,
        }
    }

    fn step(&mut self, step: &Step<Act>) {
        match self.pair.play(step, |_, _| {}, |_, _| {}) {
            Some(Act::Agent(act)) => act.on(&mut self.pair.client, &mut self.by_agent),
            Some(Act::Editor(act)) => self.edit(act),
            Some(Act::Watch) => self.watch(),
            None => {}
        }
        self.pair.settle();
        self.look();
    }

    fn watch(&mut self) {
        let params = json!({"name": "getDiagnostics", "arguments": {}});
        let timeout = Timeout::Progress { idle: Duration::from_secs(5), total: Duration::from_secs(20) };
        let sent = self.pair.client.request("tools/call", Some(&params), timeout);
        self.watched.extend(sent.iter().map(|request| (*request, f64::NEG_INFINITY)));
        self.by_agent.extend(sent);
    }

    fn edit(&mut self, act: &EditorAct) {
        let Pair { server, conn, .. } = &mut self.pair;
        let agent = (*conn).into();
        let pick = |which: &u8, len: usize| usize::from(*which).checked_rem(len);
        match act {
            EditorAct::Answer(which) | EditorAct::Fail(which) => {
                let Some(at) = pick(which, self.waiting.len()) else { return };
                let (call, result) = self.waiting.remove(at);
                let answered = match act {
                    EditorAct::Fail(_) => server.call(call).fail(ErrorObject::new(-1, "no")),
                    _ => server.call(call).respond(&result),
                };
                answered.expect("no event has reported the end of the call");
                *self.ended.entry(call).or_default() += 1;
            }
            EditorAct::Select(lines) => {
                let range = Range::new(Position::new(0, 0), Position::new(u32::from(*lines), 0));
                server
                    .select(Time::ZERO, Selection::new("/w/a", range, "text\n".repeat(usize::from(*lines))));
            }
            EditorAct::Mention => {
                let _ = server.mention(Time::ZERO, Mention::new("/w/a", None), Some(agent));
            }
            EditorAct::Ping => {
                let sent = server.agent_mut(agent).request("ping", None::<&()>, Timeout::Default);
                self.by_editor.extend(sent);
            }
            EditorAct::Cancel(which) => {
                if let Some(request) = pick(which, self.by_editor.len()).map(|at| self.by_editor[at]) {
                    server.cancel(request, None);
                }
            }
            EditorAct::SetTools => server.set_tools(tools()),
            EditorAct::ShutDown => server.shutdown(Time::ZERO),
            EditorAct::Progress(which, to) => {
                let Some(at) = pick(which, self.waiting.len()) else { return };
                let call = self.waiting[at].0;
                let sent = server.call(call).progress(&Progress::new(f64::from(*to)).of(255.0).message("so"));
                self.reported += usize::from(sent.expect("no event has reported the end of the call"));
            }
        }
    }

    /// Updates the records of the calls.
    fn look(&mut self) {
        for event in &self.pair.server_events[self.looked_at..] {
            match event {
                ServerEvent::Call { call, .. } => {
                    self.waiting.push((call.id(), answer(call)));
                    assert_eq!(self.ended.insert(call.id(), 0), None, "two calls have the same handle");
                }
                ServerEvent::CallEnded { call, .. } | ServerEvent::DiffClosed { call, .. } => {
                    self.waiting.retain(|(waiting, _)| waiting != call);
                    *self.ended.get_mut(call).expect("it has begun") += 1;
                }
                _ => {}
            }
        }
        self.looked_at = self.pair.server_events.len();
        assert!(self.waiting.len() <= 4, "more calls wait than the limit allows");
        let due = self.pair.deadline();
        assert!(due.is_none_or(|due| due >= self.pair.now) || self.pair.server.deadline().is_some());
    }

    /// Checks that progress belongs to an open request, and grows.
    fn progress_goes_on(&mut self) {
        let mut received = 0;
        for event in &self.pair.client_events {
            match event {
                ClientEvent::Progress { request, progress } => {
                    let reached = self.watched.get_mut(request).expect("it waits and is watched");
                    assert!(progress.progress > *reached, "{progress:?} after {reached}");
                    *reached = progress.progress;
                    received += 1;
                }
                ClientEvent::Outcome { request, .. } => drop(self.watched.remove(request)),
                _ => {}
            }
        }
        assert!(received <= self.reported, "progress that was not reported");
    }

    fn finish(&mut self) {
        self.pair.finish_with(|_, _| {}, |_, _| {});
        self.look();
        assert!(self.waiting.is_empty(), "never ended: {:?}", self.waiting);
        assert!(self.ended.values().all(|ends| *ends == 1), "{:?}", self.ended);
        self.progress_goes_on();
        for request in &self.by_agent {
            let ends = |event: &&ClientEvent| matches!(event, ClientEvent::Outcome { request: r, .. } if r == request);
            assert_eq!(self.pair.client_events.iter().filter(ends).count(), 1, "{request:?}");
        }
        for request in &self.by_editor {
            let ends = |event: &&ServerEvent| matches!(event, ServerEvent::Outcome { request: r, .. } if r == request);
            assert_eq!(self.pair.server_events.iter().filter(ends).count(), 1, "{request:?}");
        }
        let of_agent = |event: &&ServerEvent| event.agent().is_some();
        let last = self.pair.server_events.iter().rev().find(of_agent);
        let was_let_in = self.pair.server.unauthenticated().total() == 0;
        assert_eq!(matches!(last, Some(ServerEvent::Closed { .. })), was_let_in, "{last:?}");
        assert!(was_let_in || last.is_none(), "{last:?}");
        assert!(matches!(self.pair.client_events.last(), Some(ClientEvent::Closed(_))));
    }
}
