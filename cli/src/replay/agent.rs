//! The agent's side: a [`Client`] for each connection, and the actions of its application.

use crate::replay::engine::{Cause, Core};
use crate::replay::script::{Expected, Script};
use crate::support::message::{Kind, Message, read_member};
use crate::support::transcript::Header;
use crate::support::units::{Piece, Unit};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ide_mcp::ide::discovery::AuthToken;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{Implementation, Root, Timeout};
use ide_mcp::rpc::{CallId, ErrorObject, Json, RequestId, SessionId};
use ide_mcp::ws::frame::Opcode;
use ide_mcp::{Output, Time};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

pub(crate) struct AgentCore<'a> {
    script: &'a Script,
    header: Option<&'a Header>,
    clients: BTreeMap<u32, Client>,
    now: Time,
    /// The events of the last passes that nobody has taken yet.
    events: VecDeque<(u32, ClientEvent)>,
    output: BTreeMap<u32, Vec<u8>>,
    own: BTreeMap<(u32, String), RequestId>,
    /// The requests of the last message, by connection.
    requests: Vec<(u32, Message)>,
    /// The open forms, by connection and id.
    forms: BTreeMap<(u32, String), CallId>,
}

/// A source of randomness that returns the recorded key of the handshake. All masks are zero, because they are not
/// compared.
fn recorded(mut key: Vec<u8>) -> impl FnMut(&mut [u8]) -> Result<(), Infallible> {
    move |out| {
        out.fill(0);
        // The client draws the key of the handshake first.
        out.iter_mut().zip(std::mem::take(&mut key)).for_each(|(byte, key)| *byte = key);
        Ok(())
    }
}

impl<'a> AgentCore<'a> {
    pub(crate) const fn new(header: Option<&'a Header>, script: &'a Script) -> Self {
        Self {
            script,
            header,
            clients: BTreeMap::new(),
            now: Time::ZERO,
            events: VecDeque::new(),
            output: BTreeMap::new(),
            own: BTreeMap::new(),
            requests: Vec::new(),
            forms: BTreeMap::new(),
        }
    }

    /// Runs a pass of each client. Its socket takes everything.
    fn pass(&mut self) {
        for (conn, client) in &mut self.clients {
            loop {
                match client.poll(self.now) {
                    Output::Event(event) => self.events.push_back((*conn, event)),
                    Output::Write { bytes, .. } => {
                        let n = bytes.len();
                        self.output.entry(*conn).or_default().extend_from_slice(bytes);
                        client.written(n);
                    }
                    Output::Close(()) => {}
                    Output::Wait(_) => break,
                }
            }
        }
    }

    /// Infers how the agent was configured from its messages.
    fn config(&self, conn: u32) -> (ClientConfig, Vec<u8>) {
        let sent = || self.script.expected.get(&conn).into_iter().flatten();
        let head = sent().find_map(|expected| match &expected.unit {
            Unit::Head(head) => Some(head.as_slice()),
            _ => None,
        });
        let field = |name| head.and_then(|head| crate::replay::script::field(head, name));
        let message = |method: &str| {
            let messages = sent().filter_map(Expected::parsed);
            messages.into_iter().find(|message| message.method.as_deref() == Some(method))
        };
        let greeting = message("initialize");
        let params = greeting.as_ref().and_then(|greeting| greeting.params.as_deref());
        let info =
            read_member(params, "clientInfo").unwrap_or_else(|| Implementation::new("agent".to_owned(), "0"));
        let token =
            field("x-claude-code-ide-authorization").and_then(|token| AuthToken::from_text(token).ok());
        let mut config = ClientConfig::new(info, self.header.map_or(0, |header| header.port), token);
        config.host = field("host").unwrap_or_default();
        config.mcp.capabilities = read_member::<Json>(params, "capabilities").filter(|raw| raw.get() != "{}");
        // The agent shows forms if it declared them in the way of this library.
        let elicitation = read_member::<Box<RawValue>>(config.mcp.capabilities.as_deref(), "elicitation");
        config.mcp.elicitation = elicitation.is_some_and(|declared| declared.get() == "{}");
        let answers = sent().filter_map(Expected::parsed);
        config.mcp.roots = answers.into_iter().find_map(|answer| Root::read_list(answer.result.as_deref()?));
        let connected = message("ide_connected");
        config.pid = connected.and_then(|sent| read_member(sent.params.as_deref(), "pid"));
        let key = field("sec-websocket-key").and_then(|key| BASE64_STANDARD.decode(key).ok());
        (config, key.unwrap_or_default())
    }

    /// Finds the request of a form in the last message, so that the recorded answer goes to this call.
    fn opened(&mut self, conn: u32, call: CallId) {
        let kinds = self.requests.iter().filter(|(of, _)| *of == conn).filter_map(|(_, sent)| sent.kind());
        let id = kinds.into_iter().find_map(|kind| match kind {
            Kind::Request { id, method: "elicitation/create" } => Some(id.to_owned()),
            _ => None,
        });
        if let Some(id) = id {
            self.forms.insert((conn, id), call);
        }
    }
}

impl Core for AgentCore<'_> {
    fn open(&mut self, now: Time, conn: u32) {
        let (config, key) = self.config(conn);
        if let Ok(client) = Client::new(config, recorded(key), SessionId::new(conn.into()), now) {
            self.clients.insert(conn, client);
        }
    }

    fn feed(&mut self, now: Time, conn: u32, piece: &Piece) {
        self.requests.retain(|(of, _)| *of != conn);
        if let Some(text) = &piece.message {
            self.requests.extend(Message::read(text).into_iter().map(|message| (conn, message)));
        }
        if let Some(client) = self.clients.get_mut(&conn) {
            client.feed(now, &piece.bytes);
        }
    }

    fn end(&mut self, now: Time, conn: u32) {
        if let Some(client) = self.clients.get_mut(&conn) {
            client.feed_eof(now);
        }
    }

    fn tick(&mut self, now: Time) {
        self.now = now;
    }

    fn deadline(&self) -> Option<Time> {
        let queued = (!self.events.is_empty()).then_some(self.now);
        self.clients.values().filter_map(Client::deadline).chain(queued).min()
    }

    fn poll(&mut self) -> bool {
        self.pass();
        let Some((conn, event)) = self.events.pop_front() else { return false };
        match event {
            // The client answers every other request itself, since it forwards none.
            ClientEvent::Form { call, .. } => self.opened(conn, call),
            ClientEvent::CallEnded { call, .. } => self.forms.retain(|_, open| *open != call),
            _ => {}
        }
        true
    }

    fn take_output(&mut self, conn: u32) -> Vec<u8> {
        self.pass();
        self.output.remove(&conn).unwrap_or_default()
    }

    fn cause_of(&self, conn: u32, expected: &Expected) -> Option<Cause> {
        let client = self.clients.get(&conn)?;
        let can = match expected.parsed().as_ref().and_then(Message::kind) {
            Some(Kind::Request { method, .. } | Kind::Notification { method }) => {
                client.is_ready() && !["initialize", "notifications/initialized"].contains(&method)
            }
            Some(Kind::Answer { id }) => self.forms.contains_key(&(conn, id.into())),
            None => is_close(&expected.unit),
        };
        can.then_some(Cause::Unprompted)
    }

    fn cause(&mut self, _now: Time, conn: u32, expected: &Expected) {
        let Some(client) = self.clients.get_mut(&conn) else { return };
        let Some(message) = expected.parsed() else { return client.close() };
        let params = message.params.as_deref();
        match message.kind() {
            Some(Kind::Request { id, method }) => {
                // The transcript does not have the timeout of the application. The recorded cancellation ends the
                // request.
                if let Ok(request) = client.request(method, params, Timeout::Never) {
                    self.own.insert((conn, id.into()), request);
                }
            }
            Some(Kind::Notification { method: "notifications/cancelled" }) => {
                let named = read_member::<Box<RawValue>>(params, "requestId");
                if let Some(request) = named.and_then(|named| self.own.remove(&(conn, named.get().into()))) {
                    client.cancel(request, read_member::<String>(params, "reason").as_deref());
                }
            }
            Some(Kind::Notification { method }) => drop(client.notify(method, params)),
            Some(Kind::Answer { id }) => {
                let Some(call) = self.forms.remove(&(conn, id.into())) else { return };
                // If the form has ended, this fails, and the missing answer is the difference.
                let _ = match (&message.result, &message.error) {
                    (Some(result), _) => client.respond_raw(call, result),
                    (None, Some(fault)) => {
                        client.fail(call, ErrorObject::new(fault.code, fault.message.as_str()))
                    }
                    (None, None) => Ok(()),
                };
            }
            None => {}
        }
    }
}

/// Returns true if this is the close frame of an agent that leaves.
fn is_close(unit: &Unit) -> bool {
    matches!(unit, Unit::Frame { opcode: Opcode::Close, payload, .. } if *payload == 1000_u16.to_be_bytes())
}
