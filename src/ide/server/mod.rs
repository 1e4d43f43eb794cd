//! An editor: all its connections, and what they share.

mod agent;
mod config;
mod connections;
mod deadlines;
mod debounce;
mod event;
mod filter;
mod handle;
mod lock_file;
mod mentions;
mod passes;
mod pause;
mod questions;
mod unauthenticated;

pub use agent::{Agent, AgentMut};
pub use config::ServerConfig;
pub use event::ServerEvent;
pub use filter::{Filter, Selected};
pub use handle::{AgentId, ConnId};
pub use lock_file::LockFileEvent;
pub use mentions::MentionError;
pub use unauthenticated::Unauthenticated;

use super::connection::{Connection, session_settings};
use super::tool::{Call, Shape, ToolArguments, ToolSet};
use super::{DiagnosticsChanged, Mention, OpenCall, Selection};
use crate::Time;
use crate::mcp::{self, Context};
use crate::rpc::{CallId, NotAnswered, NotSent, RequestId, SerializedNotification};
use alloc::{collections::VecDeque, sync::Arc, vec::Vec};
use connections::Connections;
use core::borrow::Borrow;
use debounce::Debounce;
use mentions::Mentions;
use pause::Paused;
use questions::Questions;
use serde::Serialize;

/// An editor with all its agents. You answer their calls, and send them the selection, mentions of files, and changes.
///
/// A server has no sockets of its own. Your loop calls [`connect`](Server::connect) for each connection it accepts,
/// feeds what each socket reads, and polls until there is nothing to do. This is one whole turn, over any non-blocking
/// sockets:
///
/// ```
/// use ide_mcp::ide::{ConnId, Server, ServerEvent};
/// use ide_mcp::{Output, Time};
/// use std::collections::BTreeMap;
/// use std::io::{Read, Write};
///
/// /// Reads the sockets, does what the machine wants, and returns the time of the next turn if no socket is ready before.
/// pub fn turn<S: Read + Write>(
///     server: &mut Server,
///     sockets: &mut BTreeMap<ConnId, S>,
///     now: Time,
///     mut on_event: impl FnMut(&mut Server, ServerEvent),
/// ) -> Option<Time> {
///     for (conn, socket) in sockets.iter_mut() {
///         server.read_from(now, *conn, socket);
///     }
///     loop {
///         match server.poll(now) {
///             Output::Event(event) => on_event(server, event),
///             Output::Write { conn, .. } => match sockets.get_mut(&conn) {
///                 Some(socket) => server.write_to(now, conn, socket),
///                 None => server.feed_eof(now, conn),
///             },
///             Output::Close(conn) => drop(sockets.remove(&conn)),
///             Output::Wait(until) => return until,
///         }
///     }
/// }
/// ```
///
/// [`Output`](crate::Output) has the six rules of such a loop. Each agent has an [`AgentId`]: [`agent`](Server::agent)
/// returns what we know of it, [`agent_mut`](Server::agent_mut) sends to it, and [`answer`](Server::answer) or
/// [`call`](Server::call) answers its calls.
#[derive(Debug)]
pub struct Server {
    /// Shared by all connections.
    config: Arc<ServerConfig>,
    /// The configured filter, or during a pause one that hides everything.
    filter: Filter,
    /// The settings of the sessions, which follow from `config`. All connections share them.
    session: Arc<mcp::ServerConfig>,
    connections: Connections,
    debounce: Debounce,
    /// The last selection sent, in the dialect of all connections. A client that attaches gets it too.
    selection: Option<SerializedNotification>,
    mentions: Mentions,
    questions: Questions,
    /// The agents, in the order in which they became ready.
    ready: Vec<AgentId>,
    /// What the pause has replaced; `None` if the server is not paused.
    paused: Option<Paused>,
    /// Reports of the guard of the lock file, not polled yet.
    lock_file: VecDeque<LockFileEvent>,
}

impl Server {
    /// Creates an editor without connections.
    #[must_use]
    pub fn new(mut config: ServerConfig) -> Self {
        Self {
            filter: core::mem::take(&mut config.filter),
            session: session_settings(&config),
            debounce: Debounce::new(config.debounce, config.debounce_max),
            connections: Connections::new(config.open_bytes, config.max_clients),
            config: Arc::new(config),
            selection: None,
            mentions: Mentions::default(),
            questions: Questions::default(),
            ready: Vec::new(),
            paused: None,
            lock_file: VecDeque::new(),
        }
    }

    /// Adds a connection that your listener has accepted. If
    /// [`max_pending_connections`](ServerConfig::max_pending_connections) are already pending, the oldest of them ends
    /// without an answer.
    pub fn connect(&mut self, now: Time) -> ConnId {
        self.connections.set_now(now);
        self.connections.evict_oldest_pending(self.config.max_pending_connections);
        self.clear_hidden_selection();
        let (config, session, selection) = (&self.config, &self.session, &self.selection);
        self.connections.accept(|id, now| {
            let mut connection = Connection::new(config.clone(), session.clone(), id, now);
            if let Some(selection) = selection {
                connection.set_selection(selection.clone());
            }
            connection
        })
    }

    /// Accepts a client that waits after an [`AdmissionPending`](ServerEvent::AdmissionPending). If
    /// [`max_clients`](ServerConfig::max_clients) are already attached, it gets a 503. Returns false if no client waits
    /// on this connection.
    pub fn admit(&mut self, conn: ConnId) -> bool {
        let is_full = self.connections.is_full();
        self.connections.with(conn, |connection| connection.admit(is_full)).unwrap_or(false)
    }

    /// Refuses a client that waits after an [`AdmissionPending`](ServerEvent::AdmissionPending), like one with a wrong
    /// token. Returns false if no client waits on this connection.
    pub fn refuse(&mut self, conn: ConnId) -> bool {
        self.connections.with(conn, Connection::refuse).unwrap_or(false)
    }

    /// Answers a tool call, in the dialect of the session. This is what you do with nearly every
    /// [`Call`](ServerEvent::Call).
    ///
    /// **Do not write the file** of an accepted diff: the agent does. Afterwards it calls `close_tab`; if you want to
    /// keep the view until then, handle [`Tool::CloseTab`](crate::ide::tool::Tool::CloseTab) as well.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is no longer open. Nothing is sent.
    pub fn answer<T: ToolArguments>(
        &mut self,
        call: Call<T>,
        answer: impl Borrow<T::Answer>,
    ) -> Result<(), NotAnswered> {
        let answer = answer.borrow();
        let shown = answer.without_hidden(&|text| self.filter.hides(text));
        let answer = shown.as_ref().unwrap_or(answer);
        let conn = ConnId(call.id.session());
        let answered = self.connections.with(conn, |connection| connection.answer(call, answer));
        answered.unwrap_or(Err(NotAnswered::Closed))
    }

    /// Returns a call, for what [`answer`](Server::answer) does not do: fail it, report its progress, change its
    /// deadline, or answer it by its id alone.
    pub fn call(&mut self, call: impl Into<CallId>) -> OpenCall<'_> {
        OpenCall::new(self, call.into())
    }

    /// Returns what we know of an agent; `None` once it is gone. Also finds a connection [for
    /// models](crate::ide::MODELS_TARGET).
    #[must_use]
    pub fn agent(&self, id: AgentId) -> Option<Agent<'_>> {
        let connection = self.connections.get(id.conn()?)?;
        connection.is_let_in().then(|| Agent::new(id, connection))
    }

    /// Returns an agent, to send something to it alone. If it is gone, every message is refused with
    /// [`NotSent::Closed`].
    pub fn agent_mut(&mut self, id: AgentId) -> AgentMut<'_> {
        AgentMut::new(self, id)
    }

    /// Call this whenever the person selects something or moves the cursor, as often as it happens. All clients get the
    /// selection once the person pauses, and those that attach later get it too. The [`Filter`] decides what of it is
    /// sent; if it hides the file at a later [`connect`](Server::connect), all clients get an empty selection.
    pub fn select(&mut self, now: Time, mut selection: Selection) -> Selected {
        self.connections.set_now(now);
        if let Some(paused) = &mut self.paused {
            return paused.select(selection, &self.config.content_limits);
        }
        let selected = self.filter.selection(&mut selection, &self.config.content_limits);
        self.debounce.hold(self.connections.now, selection);
        selected
    }

    /// Mentions a file to this agent, or to the one that became ready last: it appears in the prompt. The mention is
    /// sent once the client [accepts it](super::Agent::accepts_pushes). If none does within 30 s
    /// ([`ServerConfig::mention_timeout`](super::ServerConfig::mention_timeout)), you get a
    /// [`MentionExpired`](ServerEvent::MentionExpired).
    ///
    /// # Errors
    ///
    /// [`MentionError`] if there is no such agent, too many mentions wait, the [`Filter`] hides the file, or the server
    /// is [paused](Server::pause).
    pub fn mention(&mut self, now: Time, mention: Mention, to: Option<AgentId>) -> Result<(), MentionError> {
        self.connections.set_now(now);
        if self.is_paused() {
            return Err(MentionError::Paused);
        }
        if self.filter.hides(&mention.file_path) {
            return Err(MentionError::Hidden);
        }
        if to.is_some_and(|agent| !self.is_there(agent)) {
            return Err(MentionError::NoSuchAgent);
        }
        let until = self.connections.now.saturating_add(self.config.mention_timeout);
        self.mentions.push(mention, to, until)?;
        self.send_mentions();
        Ok(())
    }

    /// Tells every ready client that the problems of files have changed, as far as the [`Filter`] permits. Returns the
    /// clients that did not get it, as [`notify_all`](Server::notify_all) does.
    pub fn diagnostics_changed(&mut self, changed: DiagnosticsChanged) -> Vec<AgentId> {
        let Some(changed) = self.filter.diagnostics(changed) else { return Vec::new() };
        self.push_to_all(|connection| connection.diagnostics_changed(&changed).map(|_| ()))
    }

    /// Tells every ready client that another file has the focus. The [`Filter`] applies as for
    /// [`select`](Server::select). Returns the clients that did not get it, as [`notify_all`](Server::notify_all) does.
    pub fn active_editor_changed(&mut self, mut selection: Selection) -> Vec<AgentId> {
        self.filter.selection(&mut selection, &self.config.content_limits);
        self.push_to_all(|connection| connection.active_editor_changed(selection.clone()).map(|_| ()))
    }

    /// Sends a notification to every ready client. Returns those that did not get it, because they read too slowly and
    /// their send buffers are full.
    ///
    /// # Errors
    ///
    /// [`NotSent::Unserializable`] if the parameters cannot be written as an object, and at least one client is ready.
    /// No client gets anything then.
    pub fn notify_all<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
    ) -> Result<Vec<AgentId>, NotSent> {
        self.send_to_all(|connection| connection.notify(method, params))
    }

    /// Cancels one of your requests and notifies the client. Returns false if the request has already ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        let cancelled =
            self.with(AgentId::of_request(request), |connection| connection.cancel(request, reason));
        cancelled.unwrap_or(false)
    }

    /// Offers other tools from now on, and notifies every ready client.
    pub fn set_tools(&mut self, tools: ToolSet) {
        Arc::make_mut(&mut self.config).tools = Arc::new(tools);
        self.session = session_settings(&self.config);
        let (config, context) = (&self.config, &self.session.context);
        // A client that is not ready has either not listed the old tools, or is notified once it is ready.
        self.connections.with_each(|connection| {
            let _ = connection.offer_tools(config.clone(), context.clone());
        });
    }

    /// Offers other prompts and resources from now on, beside the resources that the tools read, and notifies every
    /// client. A client never learns of what [`mcp::ServerConfig::context`](crate::mcp::ServerConfig::context) did not
    /// declare when its session began.
    pub fn set_context(&mut self, context: impl Into<Arc<Context>>) {
        Arc::make_mut(&mut self.config).mcp.context = context.into();
        self.session = session_settings(&self.config);
        let (config, context) = (&self.config, &self.session.context);
        self.connections.with_each(|connection| connection.offer_context(config.clone(), context.clone()));
    }

    /// Closes every connection properly, and accepts no more clients. Open diffs are answered as rejected, other calls
    /// as failed. Keep your loop running until every connection is done.
    ///
    /// A client that reads nothing gets 4 s: 2 s to answer our close frame ([`close`](crate::ws::Limits::close)), and
    /// then 2 s to read the last bytes ([`drain`](crate::ws::Limits::drain)). The first 2 s start over with each write,
    /// so a slow client may take longer.
    pub fn shutdown(&mut self, now: Time) {
        self.connections.set_now(now);
        self.connections.max_open = 0;
        self.connections.with_each(Connection::shutdown);
    }

    /// Returns true if there are no connections, and no events about the lock file.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.lock_file.is_empty() && self.connections.iter().next().is_none()
    }

    /// Takes a report of the guard of the lock file, which becomes an event.
    pub fn on_lock_file(&mut self, event: LockFileEvent) {
        self.lock_file.push_back(event);
    }

    /// Returns how many connections ended without being accepted, by reason. You get no events for them.
    #[must_use]
    pub const fn unauthenticated(&self) -> Unauthenticated {
        self.connections.unauthenticated
    }

    /// Returns all connections, oldest first, even those not accepted yet. A connection is listed until
    /// [`Close`](crate::Output::Close) has named it.
    pub fn connections(&self) -> impl Iterator<Item = ConnId> {
        self.connections.iter().map(|(conn, _)| conn)
    }

    /// Returns the attached agents, in the order in which they connected. Connections [for
    /// models](crate::ide::MODELS_TARGET) are not agents.
    pub fn agents(&self) -> impl Iterator<Item = Agent<'_>> {
        let attached = self.connections.iter().filter(|(_, connection)| connection.is_attached());
        attached.map(|(conn, connection)| Agent::new(conn.into(), connection))
    }

    /// Runs `send` on every ready client, and returns those whose send buffer is full.
    fn send_to_all(
        &mut self,
        mut send: impl FnMut(&mut Connection) -> Result<(), NotSent>,
    ) -> Result<Vec<AgentId>, NotSent> {
        let mut full = Vec::new();
        for agent in self.ready.clone() {
            match self.with(agent, &mut send).unwrap_or(Err(NotSent::Closed)) {
                // The client has ended, but that event was not polled yet.
                Ok(()) | Err(NotSent::Closed | NotSent::NotReady) => {}
                Err(NotSent::Full) => full.push(agent),
                Err(error) => return Err(error),
            }
        }
        Ok(full)
    }

    /// Runs `send` on every ready client, and returns those whose send buffer is full. Only for messages that can
    /// always be written as JSON, so there is no error.
    fn push_to_all(&mut self, send: impl FnMut(&mut Connection) -> Result<(), NotSent>) -> Vec<AgentId> {
        let full = self.send_to_all(send);
        debug_assert!(full.is_ok());
        full.unwrap_or_default()
    }

    /// Runs `act` on the connection of an agent; `None` if the connection is gone.
    pub(crate) fn with<T>(&mut self, agent: AgentId, act: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        self.connections.with(agent.conn()?, act)
    }

    fn is_there(&self, agent: AgentId) -> bool {
        agent.conn().is_some_and(|conn| self.connections.is_attached(conn))
    }

    /// Returns the next event of any connection.
    #[allow(clippy::wildcard_enum_match_arm, reason = "every other event goes to the application as it is")]
    fn next_event_of_agent(&mut self) -> Option<ServerEvent> {
        loop {
            let event = self.connections.next_event()?;
            match event {
                ServerEvent::AdmissionPending { .. } => return Some(event),
                ServerEvent::ConsentPending { agent, .. }
                    if !self.questions.add(self.connections.now, agent) =>
                {
                    continue;
                }
                ServerEvent::Ready { agent, .. } => self.ready.push(agent),
                ServerEvent::Closed { agent, .. } => {
                    self.ready.retain(|ready| *ready != agent);
                    self.questions.on_closed(self.connections.now, agent);
                }
                _ => {}
            }
            // From this event on the client may accept mentions. They go out before any further answer to this client;
            // otherwise the order would depend on how its bytes were split.
            if !self.mentions.is_idle() {
                self.send_mentions();
            }
            return Some(event);
        }
    }

    /// Returns the question about the next client that waits for one, if it is time.
    fn next_question(&mut self) -> Option<ServerEvent> {
        let Connections { now, .. } = self.connections;
        let connection = |agent: AgentId| self.connections.get(agent.conn()?);
        let waits = |agent| connection(agent).is_some_and(Connection::waits_for_consent);
        let agent = self.questions.next(now, waits)?;
        Some(connection(agent)?.consent_pending())
    }

    /// Sends this selection to every client, and later to each client that attaches.
    fn send_selection(&mut self, selection: &Selection) {
        self.selection = selection.serialized(self.config.dialect);
        if let Some(selection) = &self.selection {
            self.connections.with_each(|connection| connection.set_selection(selection.clone()));
        }
    }

    /// Clears the selection that was sent last if the filter now hides its file, because an ignore file has changed.
    fn clear_hidden_selection(&mut self) {
        let filter = &self.filter;
        let is_hidden = |last: &Selection| last.is_hidden(&|text| filter.hides(text));
        if self.debounce.clear_last(self.connections.now, is_hidden) {
            self.send_selection(&Selection::cleared());
        }
    }

    /// Sends the waiting mentions whose client now accepts them and has room in its send buffer.
    fn send_mentions(&mut self) {
        if self.is_paused() {
            return;
        }
        let mut index = 0;
        // If one mention for a client must wait, all later ones for it wait too, to keep their order.
        let mut waits = Vec::new();
        while let Some(waiting) = self.mentions.at(index) {
            let to = waiting.to.or_else(|| self.ready.last().copied());
            let mention = waiting.mention.clone();
            let conn = to.filter(|to| !waits.contains(to)).and_then(AgentId::conn);
            let conn = conn.filter(|conn| self.connections.get(*conn).is_some());
            // By now the filter may decide otherwise, because an ignore file has changed.
            if conn.is_some() && self.filter.hides(&mention.file_path) {
                self.mentions.end_at(index, self.connections.now);
                index = index.saturating_add(1);
                continue;
            }
            let sent =
                conn.and_then(|conn| self.connections.with(conn, |connection| connection.mention(&mention)));
            match to.filter(|_| sent == Some(Ok(()))) {
                Some(agent) => self.mentions.on_sent(index, agent),
                None => {
                    waits.extend(to);
                    index = index.saturating_add(1);
                }
            }
        }
    }

    /// Returns the connection of a call; `None` once it is gone.
    pub(crate) fn connection_of(&self, call: CallId) -> Option<&Connection> {
        self.connections.get(AgentId::of_call(call).conn()?)
    }

    /// Returns true if the filter hides the file that this text names.
    pub(crate) fn hides(&self, text: &str) -> bool {
        self.filter.hides(text)
    }
}
