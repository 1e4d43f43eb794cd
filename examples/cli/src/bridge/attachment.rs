//! The editor's side: the connection, and its reconnection.

use crate::bridge::routes::Above;
use crate::support::{find, not_connected, report_unknown};
use getrandom::SysRng;
use ide_mcp::ide::{Backoff, Client, ClientConfig, ClientEvent, Reconnect, display_safe};
use ide_mcp::mcp::{Forward, Implementation, ServerInfo};
use ide_mcp::rpc::SessionId;
use ide_mcp::ws::Closed;
use ide_mcp::{Time, Wire as _};
use ide_mcp_lockfile::{EditorSearch, FoundEditor};
use ide_mcp_mio::{Conn, Trust, address_of};
use mio::event::Event;
use mio::{Registry, Token};
use serde_json::value::RawValue;
use std::process;

/// The maximum number of pending requests to the editor: the 256 that the client is allowed to have
/// open, and 64 more that end some of them.
const REQUESTS: usize = 256 + 64;

/// The identity that the editor receives: that of the client that started the bridge.
#[derive(Clone, Debug)]
pub(crate) struct Guise {
    pub(crate) info: Implementation,
    pub(crate) capabilities: Option<Box<RawValue>>,
}

#[derive(Debug)]
pub(crate) struct Attachment {
    search: EditorSearch,
    trust: Trust,
    /// The editor that the last search found.
    editor: FoundEditor,
    guise: Guise,
    registry: Registry,
    token: Token,
    conn: Option<Conn<Above>>,
    /// True if the server of the connection belongs to our user. Before that the connection has no
    /// turn, so it sends nothing.
    is_checked: bool,
    /// The reason why the bridge dropped the connection before it sent anything, until reported.
    refused: Option<String>,
    reconnect: Reconnect,
    /// The end of the connection, until the turn reports it.
    closed: Option<Closed>,
    /// The number of the last session, which is a part of the ids of its calls and requests.
    sessions: u64,
    /// True if the session of the last connection was open once.
    was_attached: bool,
    /// True if the bridge has given up reconnecting until the next message of the client.
    rests: bool,
    /// The reason why the bridge gave up, until reported.
    rest: Option<String>,
    /// True if the bridge has left the editor for good.
    is_left: bool,
}

/// A change of the connection in a turn.
#[derive(Debug)]
pub(crate) enum Change {
    Attached(ServerInfo),
    /// There is no editor to connect to, for this reason.
    NotConnected(String),
    Lost(Closed),
}

impl Attachment {
    /// Creates the attachment; `place` has the registry and the token for the socket.
    pub(crate) fn new(
        search: EditorSearch,
        trust: Trust,
        editor: FoundEditor,
        guise: Guise,
        place: (Registry, Token),
    ) -> Self {
        let (registry, token) = place;
        let reconnect = Reconnect::new(Backoff::default(), Time::ZERO);
        Self {
            search,
            trust,
            editor,
            guise,
            registry,
            token,
            conn: None,
            is_checked: false,
            refused: None,
            reconnect,
            closed: None,
            // The session of the client has number one.
            sessions: 1,
            was_attached: false,
            rests: false,
            rest: None,
            is_left: false,
        }
    }

    /// Attaches with this identity from now on.
    pub(crate) fn set_guise(&mut self, guise: Guise, now: Time) {
        self.guise = guise;
        self.reconnect = Reconnect::new(Backoff::default(), now);
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        let Some(conn) = &mut self.conn else { return };
        if conn.handle_event(event) && !self.is_checked {
            let stream = conn.stream();
            // Without a peer address the socket is not connected yet, or connecting failed; the
            // turn finds out which.
            let (Ok(local), Ok(peer)) = (stream.local_addr(), stream.peer_addr()) else { return };
            match self.trust.check(Ok(local), Ok(peer)) {
                Ok(unknown) => {
                    self.is_checked = true;
                    if let Some(unknown) = unknown {
                        report_unknown("bridge", peer, unknown);
                    }
                }
                Err(error) => {
                    self.refused = Some(not_connected(&error));
                    self.conn = None;
                }
            }
        }
    }

    /// Returns the client of the editor while the session is open.
    pub(crate) fn client(&mut self) -> Option<&mut Above> {
        self.conn.as_mut().map(Conn::machine_mut).filter(|client| client.is_ready())
    }

    /// Returns the size of the send buffer to the editor.
    pub(crate) fn waiting(&self) -> usize {
        self.conn.as_ref().map_or(0, |conn| conn.machine().outgoing().len())
    }

    /// Performs one turn: connects if an attempt is due, and moves bytes and events.
    pub(crate) fn turn(&mut self, now: Time, mut on: impl FnMut(&mut Above, ClientEvent)) -> Option<Change> {
        if self.reconnect.next_attempt().is_some_and(|due| due <= now) && self.conn.is_none() && !self.is_left
        {
            self.reconnect.on_attempt();
            if let Err(reason) = self.connect(now) {
                self.lost(now, &Closed::Abnormal);
                return Some(Change::NotConnected(reason));
            }
        }
        if let Some(reason) = self.refused.take() {
            self.lost(now, &Closed::Abnormal);
            return Some(Change::NotConnected(reason));
        }
        let conn = self.conn.as_mut()?;
        let (mut change, closed) = (None, &mut self.closed);
        conn.turn(now, |client, event| match event {
            ClientEvent::Ready(info) => change = Some(Change::Attached(info)),
            ClientEvent::Closed(reason) => *closed = Some(reason),
            event => on(client, event),
        });
        if matches!(change, Some(Change::Attached(_))) {
            self.reconnect.on_connected();
            self.was_attached = true;
        }
        if conn.is_over() {
            self.conn = None;
        }
        match self.closed.take() {
            Some(closed) if !self.is_left => {
                self.lost(now, &closed);
                Some(Change::Lost(closed))
            }
            _ => change,
        }
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        let conn = self.conn.as_ref().and_then(|conn| conn.deadline(now));
        let due = self.reconnect.next_attempt().filter(|_| self.conn.is_none() && !self.is_left);
        conn.into_iter().chain(due).min()
    }

    /// Makes a new attempt if the bridge had given up, since the client has sent a message.
    pub(crate) fn wanted(&mut self, now: Time) {
        if self.rests {
            self.rests = false;
            self.reconnect = Reconnect::new(Backoff::default(), now);
        }
    }

    /// Takes the reason why the bridge has just given up, for a person.
    pub(crate) fn take_rest(&mut self) -> Option<String> {
        self.rest.take()
    }

    /// Leaves the editor with a close frame.
    pub(crate) fn leave(&mut self) {
        self.is_left = true;
        if let Some(conn) = &mut self.conn {
            conn.machine_mut().close();
        }
    }

    /// Returns true if there is no connection any more.
    pub(crate) const fn is_over(&self) -> bool {
        self.conn.is_none()
    }

    /// Describes the end of the last connection for a person.
    pub(crate) fn explain(&self, closed: &Closed) -> String {
        let (name, port, lock) =
            (display_safe(&self.editor.name), self.editor.port, self.editor.lock_file.display());
        let reason = display_safe(&closed.to_string()).into_owned();
        let what = if self.was_attached { "is lost" } else { "cannot be attached to" };
        format!("the editor {name:?} on port {port} {what}: {reason}; its lock file is {lock}")
    }

    fn connect(&mut self, now: Time) -> Result<(), String> {
        // An editor that was restarted can have another port and another token.
        self.editor = find::editor(&self.search)?;
        let FoundEditor { host, port, token, .. } = &self.editor;
        let mut config =
            ClientConfig::new(self.guise.info.clone(), *port, token.clone()).with_host(host, *port);
        config.pid = Some(process::id());
        config.raw_notifications = true;
        config.mcp.capabilities = self.guise.capabilities.clone();
        config.mcp.forward = Forward::All;
        config.mcp.limits.requests = REQUESTS;
        (self.was_attached, self.is_checked) = (false, false);
        self.sessions = self.sessions.saturating_add(1);
        let client = Client::new(config, SysRng, SessionId::new(self.sessions), now);
        let client = client.map_err(|error| error.to_string())?;
        let address = address_of(host, *port).map_err(|error| error.to_string())?;
        let conn = Conn::connect(address, client, &self.registry, self.token);
        self.conn = Some(conn.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn lost(&mut self, now: Time, closed: &Closed) {
        if let Err(reason) = self.reconnect.on_disconnected(now, closed) {
            // A later attempt can succeed: a new lock file can have another token.
            self.rest = Some(format!("{reason}; the next message of the client tries again"));
            self.rests = true;
        }
    }
}
