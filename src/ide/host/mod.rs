//! What an editor holds: the set of its connections, and what they share.

mod conn_id;
mod debounce;
mod mentions;
mod wire;

pub use conn_id::ConnId;
pub use mentions::MentionError;
pub use wire::HostWire;

use super::{DiffOutcome, Mention, Selection, Server, ServerConfig, ServerEvent, ToolSet};
use crate::mcp::{Timeout, ToolResult};
use crate::rpc::{CallId, Gone, RequestId, SendError};
use crate::time::earlier;
use crate::{Machine, Time, Wire};
use alloc::{collections::VecDeque, sync::Arc, vec::Vec};
use core::time::Duration;
use debounce::Debounce;
use mentions::Mentions;
use serde::Serialize;

/// The settings of a [`Host`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostConfig {
    /// What every connection shares: who may attach, the tools, the limits.
    pub server: ServerConfig,
    /// How many clients may be attached. Default 16: editors see one to five. At it: 503 for who has the token.
    pub connections: usize,
    /// How many connections may be there beside them that have not been let in. Default 8. One more ends the oldest of
    /// them, unanswered.
    pub strangers: usize,
    /// How long the selection must rest before it is sent. Default 50 ms; zero sends each at once.
    pub debounce: Duration,
    /// How long a selection that does not rest is held back at most. Default 200 ms.
    pub debounce_at_most: Duration,
    /// How long a mention waits for a client that hears it. Default 5 s.
    pub mention_patience: Duration,
}

impl HostConfig {
    /// The default settings for these connections.
    #[must_use]
    pub const fn new(server: ServerConfig) -> Self {
        Self {
            server,
            connections: 16,
            strangers: 8,
            debounce: Duration::from_millis(50),
            debounce_at_most: Duration::from_millis(200),
            mention_patience: Duration::from_secs(5),
        }
    }
}

/// What happened at a [`Host`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// Something on one connection.
    Connection {
        /// Which one.
        conn: ConnId,
        /// What.
        event: ServerEvent,
    },
    /// A mention found no client that hears it in time.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
}

/// All the agents that are attached to an editor, and what they share: the selection, mentions, limits.
///
/// It is as free of sockets as its connections. One turn of a loop:
///
/// 1. read the readable sockets into [`wire`](Host::wire), and [`connect`](Host::connect) new ones;
/// 2. [`tick`](Machine::tick);
/// 3. [`poll_event`](Machine::poll_event) to `None`, answering;
/// 4. write the [`outgoing`](Wire::outgoing) bytes of every connection that
///    [`poll_transmit`](Host::poll_transmit) names, and of every one whose socket had no room the last time; where one
///    [`is_done`](Wire::is_done), drop the socket and [`remove`](Host::remove) it;
/// 5. wait until [`deadline`](Machine::deadline), or not at all while a socket is unread and wants input.
///
/// A loop that writes only the sockets that were ready never sends a selection that a timer released, and one that
/// writes only what is named never sends the rest of a short write. One whole turn, over any sockets that do not block:
#[doc = concat!("\n```\n", include_str!("turn.rs"), "# fn main() {}\n```")]
#[derive(Debug)]
pub struct Host {
    config: HostConfig,
    server: Arc<ServerConfig>,
    slots: Vec<Slot>,
    /// How many connections there ever were.
    accepted: u32,
    /// The places whose server may have an event, in the order of their turns.
    eventful: VecDeque<usize>,
    /// The places that got output or became done since they were last named.
    transmitting: VecDeque<usize>,
    debounce: Debounce,
    mentions: Mentions,
    /// Who became ready when: the last is the most recent.
    ready: Vec<ConnId>,
    now: Time,
    shut_down: bool,
}

/// A place for a connection.
#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    server: Option<Server>,
    /// Its transport is gone.
    removed: bool,
    is_eventful: bool,
    is_transmitting: bool,
    /// How far its output was when it was last named.
    named_at: u64,
    named_done: bool,
}

impl Slot {
    fn id(&self, index: usize) -> ConnId {
        ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.generation)
    }

    /// Whether it got output or became done since it was last named.
    fn has_unnamed(&self) -> bool {
        self.server.as_ref().is_some_and(|server| {
            let news = server.position() > self.named_at || (server.is_done() && !self.named_done);
            news && !self.removed
        })
    }
}

impl Host {
    /// An editor without connections.
    #[must_use]
    pub fn new(config: HostConfig) -> Self {
        Self {
            server: Arc::new(config.server.clone()),
            debounce: Debounce::new(config.debounce, config.debounce_at_most),
            config,
            slots: Vec::new(),
            accepted: 0,
            eventful: VecDeque::new(),
            transmitting: VecDeque::new(),
            mentions: Mentions::default(),
            ready: Vec::new(),
            now: Time::ZERO,
            shut_down: false,
        }
    }

    /// A connection was accepted. If too many strangers are there, the oldest of them ends, unanswered.
    pub fn connect(&mut self, now: Time) -> ConnId {
        self.sees(now);
        let strangers = || self.slots.iter().enumerate().filter(|(_, slot)| is_stranger(slot));
        if strangers().count() >= self.config.strangers.max(1) {
            let oldest = strangers().min_by_key(|(_, slot)| slot.generation).map(|(index, _)| index);
            if let Some(index) = oldest {
                self.with(index, Server::drop_unanswered);
            }
        }
        let free = self.slots.iter().position(|slot| slot.server.is_none());
        let index = free.unwrap_or(self.slots.len());
        if free.is_none() {
            self.slots.push(Slot::default());
        }
        self.accepted = self.accepted.saturating_add(1);
        let id = ConnId::new(u32::try_from(index).unwrap_or(u32::MAX), self.accepted);
        let mut server = Server::new(self.server.clone(), id.session(), self.now);
        if let Some(selection) = self.debounce.last() {
            server.set_selection(selection);
        }
        if let Some(slot) = self.slots.get_mut(index) {
            let (is_eventful, is_transmitting) = (slot.is_eventful, slot.is_transmitting);
            *slot = Slot {
                generation: self.accepted,
                server: Some(server),
                is_eventful,
                is_transmitting,
                ..Slot::default()
            };
        }
        id
    }

    /// The bytes of a connection; `None` once it was [removed](Host::remove).
    pub fn wire(&mut self, conn: ConnId) -> Option<HostWire<'_>> {
        let index =
            self.index(conn).filter(|index| self.slots.get(*index).is_some_and(|slot| !slot.removed))?;
        Some(HostWire { host: self, index })
    }

    /// The next connection that has got something to write, or is done, since it was last named.
    pub fn poll_transmit(&mut self) -> Option<ConnId> {
        while let Some(index) = self.transmitting.pop_front() {
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_transmitting = false;
            // By now another connection may have the place, and nothing to write.
            if slot.has_unnamed() {
                slot.named_at = slot.server.as_ref().map_or(0, Server::position);
                slot.named_done = slot.server.as_ref().is_some_and(Wire::is_done);
                return Some(slot.id(index));
            }
        }
        None
    }

    /// The transport of a connection is gone, whatever the reason. What is left to tell still comes as events; then
    /// its place is free.
    pub fn remove(&mut self, now: Time, conn: ConnId) {
        self.sees(now);
        let Some(index) = self.index(conn) else { return };
        if let Some(slot) = self.slots.get_mut(index) {
            slot.removed = true;
        }
        self.with(index, |server| server.feed_eof(now));
        // Where its end has not been told yet, the place is free after that.
        if let Some(slot) = self.slots.get_mut(index) {
            slot.server.take_if(|server| server.is_done());
        }
    }

    /// Answers a call, on the connection that it came in.
    ///
    /// # Errors
    ///
    /// If the call is not open: how it ended. Nothing is sent.
    pub fn respond(&mut self, call: CallId, result: &ToolResult<'_>) -> Result<(), Gone> {
        self.of_call(call, |server| server.respond(call, result))
    }

    /// Answers an `openDiff` with the verdict of a person. Keep its view until the client closes the tab if you like;
    /// **do not write the file**, the client does.
    ///
    /// # Errors
    ///
    /// As [`respond`](Host::respond).
    pub fn decide(&mut self, call: CallId, outcome: &DiffOutcome) -> Result<(), Gone> {
        self.of_call(call, |server| server.decide(call, outcome))
    }

    /// Answers a call with a JSON-RPC error. A tool that failed answers [`ToolResult::error`].
    ///
    /// # Errors
    ///
    /// As [`respond`](Host::respond).
    pub fn fail(&mut self, call: CallId, code: i64, message: &str) -> Result<(), Gone> {
        self.of_call(call, |server| server.fail(call, code, message))
    }

    /// The person selected something, or moved the cursor. Call it as often as it happens: all clients are told once
    /// the person pauses, those that come later too. True if the text was above 256 KiB and was cut.
    pub fn select(&mut self, now: Time, mut selection: Selection) -> bool {
        self.sees(now);
        let cut = selection.cut(super::MAX_SELECTION);
        self.debounce.hold(self.now, selection);
        cut
    }

    /// The person mentions a file: to this client, or to the one that became ready last. It waits up to 5 s for a
    /// client that hears it; if none comes there is a [`MentionExpired`](HostEvent::MentionExpired).
    ///
    /// # Errors
    ///
    /// [`MentionError`] if there is no such connection, or too many mentions wait.
    pub fn mention(&mut self, now: Time, mention: Mention, to: Option<ConnId>) -> Result<(), MentionError> {
        self.sees(now);
        if to.is_some_and(|conn| !self.is_there(conn)) {
            return Err(MentionError::NoSuchConnection);
        }
        self.mentions.push(mention, to, self.now.after(self.config.mention_patience))?;
        self.send_mentions();
        Ok(())
    }

    /// Sends a notification to one client.
    ///
    /// # Errors
    ///
    /// [`SendError`] if it is not ready, there is no room, or there is no such connection.
    pub fn notify<P: Serialize + ?Sized>(
        &mut self,
        conn: ConnId,
        method: &str,
        params: Option<&P>,
    ) -> Result<(), SendError> {
        self.of_conn(conn, |server| server.notify(method, params))
    }

    /// Asks one client something. One [`Outcome`](ServerEvent::Outcome) follows.
    ///
    /// # Errors
    ///
    /// As [`notify`](Host::notify).
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        conn: ConnId,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, SendError> {
        self.of_conn(conn, |server| server.request(method, params, timeout))
    }

    /// Gives up a request of ours and tells the client; false if it has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        let index = self.index(ConnId::of_request(request));
        index.and_then(|index| self.with(index, |server| server.cancel(request, reason))).unwrap_or(false)
    }

    /// Offers other tools from now on, and tells every client that is ready.
    pub fn set_tools(&mut self, tools: ToolSet) {
        let tools = Arc::new(tools);
        Arc::make_mut(&mut self.server).tools = tools.clone();
        for index in 0..self.slots.len() {
            // A client that is not ready yet has not listed the old ones.
            let _ = self.with(index, |server| server.set_tools(tools.clone()));
        }
    }

    /// Closes every connection in good order, and lets nobody in any more: open diffs are answered as rejected, other
    /// calls as failed. Poll, write and wait as before until every connection is done (2 s at most).
    pub fn shutdown(&mut self, now: Time) {
        self.sees(now);
        self.shut_down = true;
        for index in 0..self.slots.len() {
            self.with(index, Server::shutdown);
        }
    }

    /// The connections that are not over, oldest first.
    pub fn connections(&self) -> impl Iterator<Item = (ConnId, &Server)> {
        let mut all: Vec<_> = self
            .slots
            .iter()
            .enumerate()
            .filter_map(|(index, slot)| Some((slot.id(index), slot.server.as_ref()?)))
            .collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter()
    }

    fn sees(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    fn index(&self, conn: ConnId) -> Option<usize> {
        let slot = self.slots.get(conn.index())?;
        (slot.server.is_some() && slot.id(conn.index()) == conn).then_some(conn.index())
    }

    fn server_mut(&mut self, index: usize) -> Option<&mut Server> {
        self.slots.get_mut(index)?.server.as_mut()
    }

    /// Does something with a connection, at the latest time seen, and notes what came of it.
    fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Server) -> T) -> Option<T> {
        let now = self.now;
        let done = self.server_mut(index).map(|server| {
            server.tick(now);
            act(server)
        });
        self.touch(index);
        done
    }

    fn of_call<T>(
        &mut self,
        call: CallId,
        act: impl FnOnce(&mut Server) -> Result<T, Gone>,
    ) -> Result<T, Gone> {
        let index = self.index(ConnId::of_call(call)).ok_or(Gone::Closed)?;
        self.with(index, act).unwrap_or(Err(Gone::Closed))
    }

    fn of_conn<T>(
        &mut self,
        conn: ConnId,
        act: impl FnOnce(&mut Server) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let index = self.index(conn).ok_or(SendError::Closed)?;
        self.with(index, act).unwrap_or(Err(SendError::Closed))
    }

    /// Queues a connection where it has something: an event, new output, its end.
    fn touch(&mut self, index: usize) {
        let now = self.now;
        let Some(slot) = self.slots.get_mut(index) else { return };
        let Some(server) = &slot.server else { return };
        if !slot.is_eventful && server.deadline().is_some_and(|at| at <= now) {
            slot.is_eventful = true;
            self.eventful.push_back(index);
        }
        if !slot.is_transmitting && slot.has_unnamed() {
            slot.is_transmitting = true;
            self.transmitting.push_back(index);
        }
    }

    /// One event of a connection whose turn it is. Then it is the turn of the next, so that nobody waits behind one
    /// that always has something to say.
    fn next_event(&mut self) -> Option<(ConnId, ServerEvent)> {
        while let Some(index) = self.eventful.pop_front() {
            let attached = self.slots.iter().filter_map(|slot| slot.server.as_ref());
            let full = self.shut_down || attached.filter(|s| s.is_open()).count() >= self.config.connections;
            let Some(slot) = self.slots.get_mut(index) else { continue };
            slot.is_eventful = false;
            let id = slot.id(index);
            let Some(server) = &mut slot.server else { continue };
            server.set_full(full);
            // It is to see the time by which its turn was found to have come, or it would be found again for ever.
            server.tick(self.now);
            let event = server.poll_event();
            if event.is_some() {
                slot.is_eventful = true;
                self.eventful.push_back(index);
            }
            self.touch(index);
            match event {
                Some(ServerEvent::Closed(closed)) => {
                    self.ready.retain(|ready| *ready != id);
                    // What may still wait to be written cannot be.
                    if let Some(slot) = self.slots.get_mut(index).filter(|slot| slot.removed) {
                        slot.server = None;
                    }
                    return Some((id, ServerEvent::Closed(closed)));
                }
                Some(event) => {
                    if matches!(event, ServerEvent::Ready { .. }) {
                        self.ready.push(id);
                    }
                    return Some((id, event));
                }
                None => {}
            }
        }
        None
    }

    /// Whether there is such a connection and it has not ended.
    fn is_there(&self, conn: ConnId) -> bool {
        let slot = self.index(conn).and_then(|index| self.slots.get(index));
        slot.is_some_and(|slot| slot.server.as_ref().is_some_and(|server| !server.has_ended()))
    }

    /// Sends what waits for a client that hears it by now and has room.
    fn send_mentions(&mut self) {
        let mut index = 0;
        // A client that has to wait for one mention has to wait for the next as well, or their order is lost.
        let mut waits = Vec::new();
        while let Some(waiting) = self.mentions.at(index) {
            let to = waiting.to.or_else(|| self.ready.last().copied());
            let mention = waiting.mention.clone();
            let place = to.filter(|to| !waits.contains(to)).and_then(|to| self.index(to));
            let sent = place.and_then(|place| self.with(place, |server| server.mention(&mention)));
            if sent == Some(Ok(())) {
                self.mentions.remove(index);
            } else {
                waits.extend(to);
                index = index.saturating_add(1);
            }
        }
    }
}

/// Neither let in nor turned away, and still there.
fn is_stranger(slot: &Slot) -> bool {
    let waits = |server: &Server| !server.was_let_in() && !server.has_ended();
    !slot.removed && slot.server.as_ref().is_some_and(waits)
}

impl Machine for Host {
    type Event = HostEvent;

    fn tick(&mut self, now: Time) {
        self.sees(now);
        for index in 0..self.slots.len() {
            self.with(index, |_| {});
        }
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        loop {
            if let Some((conn, event)) = self.next_event() {
                return Some(HostEvent::Connection { conn, event });
            }
            if let Some(selection) = self.debounce.release(self.now) {
                for index in 0..self.slots.len() {
                    self.with(index, |server| server.set_selection(selection.clone()));
                }
                continue;
            }
            if self.mentions.is_empty() {
                return None;
            }
            self.send_mentions();
            let ended = self.mentions.addressees().find(|conn| !self.is_there(*conn));
            let mention = self.mentions.expire(self.now, ended)?;
            return Some(HostEvent::MentionExpired { mention });
        }
    }

    fn deadline(&self) -> Option<Time> {
        let bereft = || self.mentions.addressees().any(|conn| !self.is_there(conn));
        if !self.eventful.is_empty() || !self.transmitting.is_empty() || bereft() {
            return Some(self.now);
        }
        let servers = self.slots.iter().filter_map(|slot| slot.server.as_ref()?.deadline()).min();
        earlier(servers, earlier(self.debounce.deadline(), self.mentions.deadline()))
    }
}
