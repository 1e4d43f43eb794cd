//! The editor's side: a [`Server`], and the actions of its application.

use crate::replay::editor_config::{EditorConfig, TOOLS_CHANGED};
use crate::replay::engine::{Cause, Core};
use crate::replay::script::Expected;
use crate::support::message::{Kind, Message, read_member};
use crate::support::units::{Piece, Unit};
use ide_mcp::ide::{AgentId, ConnId, Dialect, EditorNotification, Mention, Selection, Server, ServerEvent};
use ide_mcp::mcp::{Progress, Timeout};
use ide_mcp::rpc::{CallId, ErrorObject, RequestId, from_json};
use ide_mcp::ws::frame::Opcode;
use ide_mcp::{Output, Time};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(crate) struct EditorCore {
    server: Server,
    now: Time,
    config: EditorConfig,
    conns: BTreeMap<u32, ConnId>,
    /// The events of the last passes that nobody has taken yet.
    events: VecDeque<ServerEvent>,
    output: BTreeMap<ConnId, Vec<u8>>,
    /// The requests of the last message, by connection, until an event reports them.
    requests: Vec<(u32, Message)>,
    open: BTreeMap<(u32, String), CallId>,
    /// The calls that want progress, by their token.
    progress: BTreeMap<(u32, String), CallId>,
    own: BTreeMap<(u32, String), RequestId>,
    ready: BTreeSet<u32>,
    is_shut: bool,
}

impl EditorCore {
    pub(crate) fn new(config: &EditorConfig) -> Self {
        Self {
            server: Server::new(config.server.clone()),
            now: Time::ZERO,
            config: config.clone(),
            conns: BTreeMap::new(),
            events: VecDeque::new(),
            output: BTreeMap::new(),
            requests: Vec::new(),
            open: BTreeMap::new(),
            progress: BTreeMap::new(),
            own: BTreeMap::new(),
            ready: BTreeSet::new(),
            is_shut: false,
        }
    }

    /// Runs a pass. Each socket takes everything.
    fn pass(&mut self) {
        loop {
            match self.server.poll(self.now) {
                Output::Event(event) => self.events.push_back(event),
                Output::Write { conn, bytes } => {
                    let n = bytes.len();
                    self.output.entry(conn).or_default().extend_from_slice(bytes);
                    self.server.written(conn, n);
                }
                Output::Close(_) => {}
                Output::Wait(_) => return,
            }
        }
    }

    fn number(&self, agent: AgentId) -> Option<u32> {
        self.conns.iter().find(|(_, conn)| AgentId::from(**conn) == agent).map(|(number, _)| *number)
    }

    /// Finds the request of a call in the last message, so that the recorded answer and progress go to this call.
    fn called(&mut self, conn: u32, call: CallId, method: impl Fn(&str) -> bool) {
        let is_it =
            |(of, message): &(u32, Message)| *of == conn && message.method.as_deref().is_some_and(&method);
        let Some(place) = self.requests.iter().position(is_it) else { return };
        let (_, message) = self.requests.remove(place);
        let meta = message.param("_meta");
        if let Some(token) = read_member::<Box<RawValue>>(meta.as_deref(), "progressToken") {
            self.progress.insert((conn, token.get().into()), call);
        }
        if let Some(Kind::Request { id, .. }) = message.kind() {
            self.open.insert((conn, id.into()), call);
        }
    }

    fn ended(&mut self, call: CallId) {
        self.open.retain(|_, open| *open != call);
        self.progress.retain(|_, open| *open != call);
    }

    fn notify(&mut self, conn: u32, id: ConnId, message: &Message, method: &str) {
        let raw = message.params.as_deref();
        let text = raw.map_or("{}", RawValue::get);
        let written_by_core = self.config.server.dialect == Dialect::VsCode;
        match EditorNotification::from_name(method).filter(|_| written_by_core) {
            // When and how often the editor sent the selection depends on times that the transcript does not have, so
            // the replay sends each push itself. In the dialect of VS Code the core writes the push; in others the
            // replay sends the recorded text.
            Some(EditorNotification::SelectionChanged) => {
                if let Ok(selection) = from_json::<Selection>(text) {
                    let _ = self.server.agent_mut(id.into()).notify(method, Some(&selection));
                    return;
                }
            }
            Some(EditorNotification::AtMentioned) => {
                if let Ok(mention) = from_json::<Mention>(text) {
                    let _ = self.server.agent_mut(id.into()).notify(method, Some(&mention));
                    return;
                }
            }
            _ => {}
        }
        match method {
            "notifications/progress" => {
                let token = read_member::<Box<RawValue>>(raw, "progressToken");
                let call = token.and_then(|token| self.progress.get(&(conn, token.get().into())));
                if let (Some(call), Some(progress)) = (call, progress(raw)) {
                    let _ = self.server.call(*call).progress(&progress);
                }
            }
            "notifications/cancelled" => {
                let named = read_member::<Box<RawValue>>(raw, "requestId");
                let request = named.and_then(|named| self.own.remove(&(conn, named.get().into())));
                if let Some(request) = request {
                    self.server.cancel(request, read_member::<String>(raw, "reason").as_deref());
                }
            }
            TOOLS_CHANGED => {
                if let Some(tools) = self.config.next_tools() {
                    self.server.set_tools(tools);
                }
            }
            _ => {
                let _ = self.server.agent_mut(id.into()).notify(method, raw);
            }
        }
    }
}

impl Core for EditorCore {
    fn open(&mut self, now: Time, conn: u32) {
        let id = self.server.connect(now);
        self.conns.insert(conn, id);
    }

    fn feed(&mut self, now: Time, conn: u32, piece: &Piece) {
        // By now, the requests of the previous message were reported by events or answered by the server.
        self.requests.retain(|(of, _)| *of != conn);
        if let Some(text) = &piece.message {
            self.requests.extend(Message::read(text).into_iter().map(|message| (conn, message)));
        }
        if let Some(id) = self.conns.get(&conn) {
            self.server.feed(now, *id, &piece.bytes);
        }
    }

    fn end(&mut self, now: Time, conn: u32) {
        if let Some(id) = self.conns.get(&conn) {
            self.server.feed_eof(now, *id);
        }
    }

    fn tick(&mut self, now: Time) {
        self.now = now;
    }

    fn deadline(&self) -> Option<Time> {
        if self.events.is_empty() { self.server.deadline() } else { Some(self.now) }
    }

    fn poll(&mut self) -> bool {
        self.pass();
        let Some(event) = self.events.pop_front() else { return false };
        let Some(conn) = event.agent().and_then(|agent| self.number(agent)) else { return true };
        match event {
            ServerEvent::Ready { .. } => drop(self.ready.insert(conn)),
            ServerEvent::Call { call, .. } => self.called(conn, call.id(), |method| method == "tools/call"),
            ServerEvent::Request { call, method, .. } => self.called(conn, call, |called| *called == *method),
            ServerEvent::Direct { call, .. } => self.called(conn, call, |_| true),
            ServerEvent::CallEnded { call, .. } | ServerEvent::DiffClosed { call, .. } => self.ended(call),
            ServerEvent::Closed { .. } => drop(self.ready.remove(&conn)),
            _ => {}
        }
        true
    }

    fn take_output(&mut self, conn: u32) -> Vec<u8> {
        self.pass();
        self.conns.get(&conn).and_then(|id| self.output.remove(id)).unwrap_or_default()
    }

    fn cause_of(&self, conn: u32, expected: &Expected) -> Option<Cause> {
        if is_going_away(&expected.unit) {
            return (!self.is_shut).then_some(Cause::Unprompted);
        }
        let message = expected.parsed()?;
        let can = match message.kind()? {
            Kind::Answer { id } => {
                return self.open.contains_key(&(conn, id.into())).then_some(Cause::Request);
            }
            Kind::Request { .. } => self.ready.contains(&conn),
            Kind::Notification { .. } => self.ready.contains(&conn),
        };
        can.then_some(Cause::Unprompted)
    }

    fn cause(&mut self, now: Time, conn: u32, expected: &Expected) {
        if is_going_away(&expected.unit) {
            self.is_shut = true;
            return self.server.shutdown(now);
        }
        let (Some(message), Some(id)) = (expected.parsed(), self.conns.get(&conn).copied()) else { return };
        match message.kind() {
            Some(Kind::Answer { id }) => {
                let Some(call) = self.open.remove(&(conn, id.into())) else { return };
                // If the call has ended, this fails, and the missing answer is the difference.
                let _ = match (&message.result, &message.error) {
                    (Some(result), _) => self.server.call(call).respond_raw(result),
                    (None, Some(fault)) => {
                        self.server.call(call).fail(ErrorObject::new(fault.code, fault.message.as_str()))
                    }
                    (None, None) => Ok(()),
                };
                self.ended(call);
            }
            Some(Kind::Request { id: named, method }) => {
                let client = self.server.agent_mut(id.into());
                if let Ok(request) = client.request(method, message.params.as_deref(), Timeout::Never) {
                    self.own.insert((conn, named.into()), request);
                }
            }
            Some(Kind::Notification { method }) => self.notify(conn, id, &message, method),
            None => {}
        }
    }
}

/// Returns true if this is the close frame of an editor that ends.
fn is_going_away(unit: &Unit) -> bool {
    matches!(unit, Unit::Frame { opcode: Opcode::Close, payload, .. } if payload.starts_with(&1001_u16.to_be_bytes()))
}

fn progress(params: Option<&RawValue>) -> Option<Progress<'static>> {
    let mut progress = Progress::new(read_member(params, "progress")?);
    if let Some(total) = read_member(params, "total") {
        progress = progress.of(total);
    }
    match read_member::<String>(params, "message") {
        Some(message) => Some(progress.message(message)),
        None => Some(progress),
    }
}
