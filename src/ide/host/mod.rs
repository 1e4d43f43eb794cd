//! What an editor holds: the set of its connections, and what they share.

mod attached;
mod config;
mod connections;
mod deadlines;
mod debounce;
mod filter;
mod handle;
mod mentions;
mod unauthenticated;
mod wire;

pub use attached::AttachedClient;
pub use config::{HostConfig, HostEvent, LockFileEvent};
pub use filter::{Filter, Selected};
pub use handle::{AgentId, ConnId};
pub use mentions::MentionError;
pub use unauthenticated::Unauthenticated;
pub use wire::HostWire;

use super::server::CallOwner;
use super::{
    Call, DiagnosticsChanged, Mention, OpenCall, Selection, Server, ServerConfig, ServerEvent, ToolArguments,
    ToolSet,
};
use crate::rpc::{CallId, NotOpen, NotSent, RequestId};
use crate::time::earlier;
use crate::{Machine, Time};
use alloc::{collections::VecDeque, sync::Arc, vec::Vec};
use connections::Connections;
use debounce::Debounce;
use mentions::Mentions;
use serde::Serialize;

/// All the agents that are attached to an editor, and what they share: the selection, mentions, limits.
///
/// It is as free of sockets as its connections. One turn of a loop:
///
/// 1. read the readable sockets into [`wire`](Host::wire), and [`connect`](Host::connect) new ones;
/// 2. [`tick`](Machine::tick);
/// 3. [`poll_event`](Machine::poll_event) to `None`, answering;
/// 4. write the [`outgoing`](crate::Wire::outgoing) bytes of every connection that
///    [`poll_transmit`](Host::poll_transmit) names, and of every one whose socket had no room the last time; where one
///    [`is_done`](crate::Wire::is_done), drop the socket and [`remove`](Host::remove) it;
/// 5. wait until [`deadline`](Machine::deadline), or not at all while a socket is unread and wants input.
///
/// A loop that writes only the sockets that were ready never sends a selection that a timer released, and one that
/// writes only what is named never sends the rest of a short write. One whole turn, over any sockets that do not block:
#[doc = concat!("\n```\n", include_str!("turn.rs"), "# fn main() {}\n```")]
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    server: Arc<ServerConfig>,
    connections: Connections,
    debounce: Debounce,
    mentions: Mentions,
    /// The agents in the order in which they became ready.
    ready: Vec<AgentId>,
    shut_down: bool,
    /// The reports of the guard of the lock file that were not polled.
    lock_file: VecDeque<LockFileEvent>,
}

impl Host {
    /// An editor without connections.
    #[must_use]
    pub fn new(config: HostConfig) -> Self {
        Self {
            server: Arc::new(config.server.clone()),
            debounce: Debounce::new(config.debounce, config.debounce_max),
            connections: Connections::new(config.open_bytes, config.max_clients),
            config,
            mentions: Mentions::default(),
            ready: Vec::new(),
            shut_down: false,
            lock_file: VecDeque::new(),
        }
    }

    /// Adds a connection that was accepted. At [`max_pending_connections`](HostConfig::max_pending_connections) the oldest
    /// pending connection ends, unanswered.
    pub fn connect(&mut self, now: Time) -> ConnId {
        self.connections.set_now(now);
        self.connections.evict_oldest_pending(self.config.max_pending_connections);
        let selection = self.debounce.last();
        let config = &self.server;
        self.connections.accept(|id, now| {
            let mut server = Server::new(config.clone(), id.0, now);
            if let Some(selection) = selection {
                server.set_selection(selection);
            }
            server
        })
    }

    /// Lets a client in that is an [`AdmissionPending`](HostEvent::AdmissionPending), or refuses it as one with a wrong
    /// token. If all places are taken by now, it is told so. Returns false if no client waits for that on this connection.
    pub fn admit(&mut self, conn: ConnId, is_admitted: bool) -> bool {
        let is_full = self.connections.is_full(self.places());
        let Some(index) = self.connections.index(conn) else { return false };
        let admitted = self.connections.with(index, |server| {
            server.full = is_full;
            server.admit(is_admitted)
        });
        admitted.unwrap_or(false)
    }

    /// The bytes of a connection; `None` once it was [removed](Host::remove).
    pub fn wire(&mut self, conn: ConnId) -> Option<HostWire<'_>> {
        let index = self.connections.wired(conn)?;
        // It shows what is true at the latest time seen, which another connection may have brought in.
        self.connections.with(index, |_| {});
        Some(HostWire { host: self, conn })
    }

    /// The next connection that has got something to write, or is done, since it was last named.
    pub fn poll_transmit(&mut self) -> Option<ConnId> {
        self.connections.poll_transmit()
    }

    /// The transport of a connection is gone, whatever the reason. What is left to tell still comes as events; then
    /// its place is free.
    pub fn remove(&mut self, now: Time, conn: ConnId) {
        self.connections.set_now(now);
        self.connections.remove(conn);
        self.mentions.on_removed(conn.into());
    }

    /// Answers a call with the answer of its tool, in the dialect of the session.
    ///
    /// The agent closes the tab of an `openDiff` then; an editor that keeps the view until that comes handles
    /// [`Tool::CloseTab`](super::Tool::CloseTab) as well. **Do not write the file** of an accepted diff: the agent does.
    ///
    /// # Errors
    ///
    /// If the call is not open any more: how it ended. Nothing is sent.
    pub fn answer<T: ToolArguments>(&mut self, call: Call<T>, answer: &T::Answer) -> Result<(), NotOpen> {
        let answered = self.with(AgentId::of_call(call.id()), |server| server.answer(call, answer));
        answered.unwrap_or(Err(NotOpen::Closed))
    }

    /// Returns the call with this name: to fail it, to report its progress, to let it wait longer, or to answer it by
    /// its name alone.
    pub fn call(&mut self, call: impl Into<CallId>) -> OpenCall<'_> {
        OpenCall::new(self, call.into())
    }

    /// Returns one agent, to tell or ask it something.
    pub fn client(&mut self, agent: AgentId) -> AttachedClient<'_> {
        AttachedClient::new(self, agent)
    }

    /// Returns the agent with this [number](AgentId::number); `None` if it is not attached any more.
    #[must_use]
    pub fn agent(&self, number: u64) -> Option<AgentId> {
        self.agents().map(|(agent, _)| agent).find(|agent| agent.number() == number)
    }

    /// The person selected something, or moved the cursor. Call it as often as it happens: all clients are told once
    /// the person pauses, those that come later too. The [`Filter`] decides what of it.
    pub fn select(&mut self, now: Time, mut selection: Selection) -> Selected {
        self.connections.set_now(now);
        let selected = self.config.filter.selection(&mut selection, &self.server.content_limits);
        self.debounce.hold(self.connections.now, selection);
        selected
    }

    /// Mentions a file to this agent, or to the one that became ready last. The mention is sent once, when the
    /// client [accepts it](Server::mention). If that takes longer than 30 s
    /// ([`HostConfig::mention_timeout`](super::HostConfig::mention_timeout)), the host emits
    /// [`MentionExpired`](HostEvent::MentionExpired).
    ///
    /// # Errors
    ///
    /// [`MentionError`] if there is no such agent, too many mentions wait, or the [`Filter`] hides the file.
    pub fn mention(&mut self, now: Time, mention: Mention, to: Option<AgentId>) -> Result<(), MentionError> {
        self.connections.set_now(now);
        if self.config.filter.hides(&mention.file_path) {
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

    /// The problems of files are others than before. All clients that are ready are told what the [`Filter`] lets
    /// through; says which of these it did not reach, as [`notify_all`](Host::notify_all) does.
    pub fn diagnostics_changed(&mut self, changed: DiagnosticsChanged) -> Vec<AgentId> {
        let Some(changed) = self.config.filter.diagnostics(changed) else { return Vec::new() };
        self.tell_all_that(|server| server.diagnostics_changed(&changed).map(|_| ()))
    }

    /// The person looks at another file. All clients that are ready are told what the [`Filter`] lets through; says
    /// which of these it did not reach, as [`notify_all`](Host::notify_all) does.
    pub fn active_editor_changed(&mut self, mut selection: Selection) -> Vec<AgentId> {
        self.config.filter.selection(&mut selection, &self.server.content_limits);
        self.tell_all_that(|server| server.active_editor_changed(selection.clone()).map(|_| ()))
    }

    /// Sends a notification to every client that is ready, and says which of these it did not reach: those that have no
    /// room, and read too slowly.
    ///
    /// # Errors
    ///
    /// [`NotSent::Unserializable`] if the parameters cannot be written or are no object, and somebody is ready. Nobody
    /// is told then.
    pub fn notify_all<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
    ) -> Result<Vec<AgentId>, NotSent> {
        self.tell_all(|server| server.notify(method, params))
    }

    /// Gives up a request of ours and tells the client; false if it has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        let cancelled = self.with(AgentId::of_request(request), |server| server.cancel(request, reason));
        cancelled.unwrap_or(false)
    }

    /// Offers other tools from now on, and tells every client that is ready.
    pub fn set_tools(&mut self, tools: ToolSet) {
        let tools = Arc::new(tools);
        Arc::make_mut(&mut self.server).tools = tools.clone();
        // A client that is not ready yet has not listed the old ones, or is told once it is ready.
        self.connections.with_each(|server| {
            let _ = server.set_tools(tools.clone());
        });
    }

    /// Closes every connection in good order, and lets nobody in any more: open diffs are answered as rejected, other
    /// calls as failed. Poll, write and wait as before until every connection is done: 4 s at most, 2 s for the answers to
    /// our close frames ([`close`](crate::ws::Limits::close)) and 2 s for the last bytes of who reads slowly
    /// ([`drain`](crate::ws::Limits::drain)).
    pub fn shutdown(&mut self, now: Time) {
        self.connections.set_now(now);
        self.shut_down = true;
        self.connections.with_each(Server::shutdown);
    }

    /// Returns true if there is no connection, and no event about the lock file.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.lock_file.is_empty() && self.connections.iter().next().is_none()
    }

    /// Notes what the guard of the lock file reports; it becomes an event.
    pub fn on_lock_file(&mut self, event: LockFileEvent) {
        self.lock_file.push_back(event);
    }

    /// Returns how many connections ended without having been let in, by the reason. They are no events.
    #[must_use]
    pub const fn unauthenticated(&self) -> Unauthenticated {
        self.connections.unauthenticated
    }

    /// Returns the connections that are not over, oldest first, those that were not let in among them.
    pub fn connections(&self) -> impl Iterator<Item = (ConnId, &Server)> {
        self.connections.iter()
    }

    /// Returns the agents that are attached, in the order in which they came: those that were let in and whose connection
    /// has not ended.
    pub fn agents(&self) -> impl Iterator<Item = (AgentId, &Server)> {
        let attached = self.connections.iter().filter(|(_, server)| server.is_attached());
        attached.map(|(conn, server)| (conn.into(), server))
    }

    /// Tells every client that is ready, and gives those that have no room.
    fn tell_all(
        &mut self,
        mut tell: impl FnMut(&mut Server) -> Result<(), NotSent>,
    ) -> Result<Vec<AgentId>, NotSent> {
        let mut full = Vec::new();
        for agent in self.ready.clone() {
            match self.with(agent, &mut tell).unwrap_or(Err(NotSent::Closed)) {
                // Its end was not polled yet.
                Ok(()) | Err(NotSent::Closed | NotSent::NotReady) => {}
                Err(NotSent::Full) => full.push(agent),
                Err(error) => return Err(error),
            }
        }
        Ok(full)
    }

    /// The same with what can always be written.
    fn tell_all_that(&mut self, tell: impl FnMut(&mut Server) -> Result<(), NotSent>) -> Vec<AgentId> {
        let told = self.tell_all(tell);
        debug_assert!(told.is_ok());
        told.unwrap_or_default()
    }

    /// Runs `act` on the connection of an agent; `None` if the connection is gone.
    fn with<T>(&mut self, agent: AgentId, act: impl FnOnce(&mut Server) -> T) -> Option<T> {
        let index = self.connections.index(agent.conn()?)?;
        self.connections.with(index, act)
    }

    fn is_there(&self, agent: AgentId) -> bool {
        agent.conn().is_some_and(|conn| self.connections.is_attached(conn))
    }

    /// Returns how many connections can be open at once.
    const fn places(&self) -> usize {
        if self.shut_down { 0 } else { self.config.max_clients }
    }

    /// The next event of any connection.
    fn next_event(&mut self) -> Option<HostEvent> {
        let (conn, event) = self.connections.next_event(self.places())?;
        let agent = conn.into();
        if matches!(event, ServerEvent::AdmissionPending) {
            return Some(HostEvent::AdmissionPending { conn });
        }
        if matches!(event, ServerEvent::Ready { .. }) {
            self.ready.push(agent);
        } else if matches!(event, ServerEvent::Closed(_)) {
            self.ready.retain(|ready| *ready != agent);
        }
        // A client that hears from this event on hears what waits before it is answered anything else. Otherwise it
        // would depend on how its bytes were cut.
        if !self.mentions.is_empty() {
            self.send_mentions();
        }
        Some(HostEvent::Agent { agent, event })
    }

    /// Sends what waits for a client that hears it by now and has room.
    fn send_mentions(&mut self) {
        let mut index = 0;
        // A client that has to wait for one mention has to wait for the next as well, or their order is lost.
        let mut waits = Vec::new();
        while let Some(waiting) = self.mentions.at(index) {
            let to = waiting.to.or_else(|| self.ready.last().copied());
            let mention = waiting.mention.clone();
            let conn = to.filter(|to| !waits.contains(to)).and_then(AgentId::conn);
            let place = conn.and_then(|conn| self.connections.index(conn));
            let sent =
                place.and_then(|place| self.connections.with(place, |server| server.mention(&mention)));
            match to.filter(|_| sent == Some(Ok(()))) {
                Some(agent) => self.mentions.on_sent(index, agent),
                None => {
                    waits.extend(to);
                    index = index.saturating_add(1);
                }
            }
        }
    }
}

impl CallOwner for Host {
    fn connection(&self, call: CallId) -> Option<&Server> {
        let index = self.connections.index(AgentId::of_call(call).conn()?)?;
        self.connections.get(index)
    }

    fn with_connection(&mut self, call: CallId, act: &mut dyn FnMut(&mut Server)) {
        self.with(AgentId::of_call(call), act);
    }
}

impl Machine for Host {
    type Event = HostEvent;

    fn tick(&mut self, now: Time) {
        self.connections.set_now(now);
        self.connections.tick();
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        if let Some(event) = self.lock_file.pop_front() {
            return Some(HostEvent::LockFile(event));
        }
        loop {
            if let Some(event) = self.next_event() {
                return Some(event);
            }
            if let Some(selection) = self.debounce.release(self.connections.now) {
                self.connections.with_each(|server| server.set_selection(selection.clone()));
                continue;
            }
            if self.mentions.is_empty() {
                return None;
            }
            self.send_mentions();
            let ended = self.mentions.addressees().find(|agent| !self.is_there(*agent));
            let mention = self.mentions.expire(self.connections.now, ended)?;
            return Some(HostEvent::MentionExpired { mention });
        }
    }

    fn deadline(&self) -> Option<Time> {
        let addressee_gone = || self.mentions.addressees().any(|agent| !self.is_there(agent));
        if addressee_gone() || !self.lock_file.is_empty() {
            return Some(self.connections.now);
        }
        earlier(self.connections.deadline(), earlier(self.debounce.deadline(), self.mentions.deadline()))
    }
}
