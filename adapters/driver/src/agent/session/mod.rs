//! The session of an agent without the waiting: the search, the attempts, and the events.
//!
//! ```text
//!  find ──▶ Waiting ──due──▶ Connecting ──trusted──▶ Opening ──ready──▶ Ready   (`Ready`)
//!             ▲                  │ refused, timeout     │ closed          │ closed
//!             │                  ▼                      ▼                 ▼ (`Closed`)
//!             └─── the next attempt of `Reconnect` ◀────┴─────────────────┘
//!                                │ first attempt, no reconnect, given up, port of another user
//!                                ▼
//!                               Over   (the error)
//! ```
//!
//! Invariants:
//!
//! - Each attempt after the first reads the lock file again, since the editor may have another token or
//!   process by then. The session connects to a dead process only if that is permitted.
//! - Every attempt checks who owns the server before it sends anything.
//! - After a 404 at one of the two default targets, the same attempt asks for the other at once, on a new
//!   socket whose owner is checked too. The next attempt begins with the target that an editor has accepted.
//! - A refused token ends the session, unless the lock file has another token by now, or there is no usable
//!   lock file.
//! - Each `Ready` is followed by one `Closed`. A failed attempt is not an event.
//! - The error comes once, after all events. After a detach there is no error.

mod attempts;
mod outcomes;
mod queue;
mod target;

use super::{AgentError, AgentOptions, NotAdmitted};
use ide_mcp::Time;
use ide_mcp::ide::discovery::Reconnect;
use ide_mcp::ide::{Client, ClientConfig, ClientEvent};
use ide_mcp::mcp::{Failure, ServerInfo};
use ide_mcp::rpc::SessionId;
use ide_mcp_lockfile::{FoundEditor, Unknown};
use outcomes::Outcomes;
use queue::Queue;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::time::Duration;
use target::Target;

/// The session of an agent: its editor, the attempts to attach, and its events.
///
/// Every adapter's `Agent` gives access to it, so that you can ask for the [editor](Self::editor) and its
/// [answer](Self::server). If you write an adapter, you bring the socket and the waiting: do what
/// [`step`](Self::step) returns, report how it went, and deliver [`next_event`](Self::next_event).
#[derive(Debug)]
pub struct AgentSession {
    options: AgentOptions,
    /// The lock file as we last read it.
    editor: FoundEditor,
    stage: Stage,
    target: Target,
    reconnect: Reconnect,
    /// What the editor answered to the last handshake; `None` before the first.
    server: Option<ServerInfo>,
    /// Why the session could not be opened, until the connection closes.
    not_admitted: Option<NotAdmitted>,
    /// Why the system did not report who owns the last server.
    unknown_owner: Option<Unknown>,
    events: Queue,
    /// The error that ended the session, until it is taken.
    error: Option<AgentError>,
    outcomes: Outcomes,
    /// True if this side ended the session.
    is_detached: bool,
    /// How many attempts there were; the number becomes part of the request ids.
    attempts: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Connecting { until: Time },
    Opening,
    Ready,
    Over,
}

/// What an adapter must do next.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentStep {
    /// Connect a socket to this host (a name, or an address without brackets), then call
    /// [`on_connected`](AgentSession::on_connected) or [`on_not_connected`](AgentSession::on_not_connected).
    Connect {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// Move the bytes of the connection, and pass its events to [`on_event`](AgentSession::on_event).
    Move,
    /// Wait until this time, or for the socket that is connecting.
    Wait(Time),
    /// Stop: the session has ended.
    Over,
}

impl AgentSession {
    /// Finds the editor, but does not connect yet.
    ///
    /// # Errors
    /// [`AgentError::NoEditor`].
    pub fn find(options: AgentOptions) -> Result<Self, AgentError> {
        let editor = options.search.find().map_err(AgentError::NoEditor)?;
        let target = Target::new(options.target.clone());
        let reconnect = Reconnect::new(options.backoff, Time::ZERO);
        Ok(Self {
            options,
            editor,
            stage: Stage::Waiting,
            target,
            reconnect,
            server: None,
            not_admitted: None,
            unknown_owner: None,
            events: Queue::default(),
            error: None,
            outcomes: Outcomes::default(),
            is_detached: false,
            attempts: 0,
        })
    }

    /// Returns what to do next. Begins an attempt that is due, and ends one that takes too long. Reads the
    /// lock file, except for the first attempt.
    pub fn step(&mut self, now: Time) -> AgentStep {
        loop {
            match self.stage {
                Stage::Waiting => match self.reconnect.next_attempt() {
                    Some(due) if now < due => return AgentStep::Wait(due),
                    _ if self.begin(now) => {
                        let FoundEditor { host, port, .. } = &self.editor;
                        return AgentStep::Connect { host: host.clone(), port: *port };
                    }
                    _ => {}
                },
                Stage::Connecting { until } if until <= now => {
                    self.on_not_connected(now, io::Error::from(ErrorKind::TimedOut));
                }
                Stage::Connecting { until } => return AgentStep::Wait(until),
                Stage::Opening | Stage::Ready => return AgentStep::Move,
                Stage::Over => return AgentStep::Over,
            }
        }
    }

    /// Returns how long the socket may take to connect.
    #[must_use]
    pub const fn connect_timeout(&self) -> Duration {
        self.options.connect_timeout
    }

    /// Takes the next event; `None` if there is none now, or if the session has ended after
    /// [`detach`](Self::detach).
    ///
    /// # Errors
    /// The error that ended the session, once and after all events; from then on [`AgentError::Over`].
    pub fn next_event(&mut self) -> Result<Option<ClientEvent>, AgentError> {
        match self.events.next() {
            None if self.stage == Stage::Over && !self.is_detached => Err(self.take_error()),
            event => Ok(event),
        }
    }

    fn take_error(&mut self) -> AgentError {
        self.error.take().unwrap_or(AgentError::Over)
    }

    /// Returns the machine of this attempt; `None` if the options are not valid, which ends the session.
    pub fn machine(&mut self, now: Time) -> Option<Client> {
        let AgentOptions { info, pid, roots, elicitation, .. } = &self.options;
        let FoundEditor { host, port, token, .. } = &self.editor;
        let mut config = ClientConfig::new(info.clone(), *port, token.clone()).with_host(host, *port);
        config.target = self.target.to_string();
        config.pid = *pid;
        config.mcp.roots.clone_from(roots);
        config.mcp.elicitation = *elicitation;
        let client = Client::new(config, getrandom::fill, self.current_session(), now);
        client.map_err(|error| self.end(AgentError::Invalid(error))).ok()
    }

    /// Checks a socket that has just connected, by its addresses. Returns true if we trust the server, so
    /// that you may send. Returns false and does nothing if no attempt waits for the socket any more.
    pub fn on_connected(
        &mut self,
        now: Time,
        local: io::Result<SocketAddr>,
        peer: io::Result<SocketAddr>,
    ) -> bool {
        if !self.is_connecting() {
            return false;
        }
        match self.options.trust.check(local, peer) {
            Ok(unknown) => {
                self.unknown_owner = unknown;
                self.stage = Stage::Opening;
                true
            }
            Err(error) => {
                self.on_not_connected(now, error);
                false
            }
        }
    }

    /// Takes an event of the connection. If [`has_connection`](Self::has_connection) is false afterwards,
    /// drop the connection, after one more turn that writes its last frame.
    #[allow(clippy::wildcard_enum_match_arm, reason = "all other events of the session pass unchanged")]
    pub fn on_event(&mut self, now: Time, event: ClientEvent) {
        match event {
            ClientEvent::Ready(info) => {
                self.stage = Stage::Ready;
                self.reconnect.on_connected();
                self.server = Some(info.clone());
                self.events.push(ClientEvent::Ready(info));
            }
            // The reason comes with `Closed`.
            ClientEvent::Failed(Failure::Closed) => {}
            ClientEvent::Failed(failure) => self.not_admitted = Some(NotAdmitted::Failed(failure)),
            ClientEvent::SubprotocolMissing => self.not_admitted = Some(NotAdmitted::SubprotocolMissing),
            ClientEvent::Closed(closed) => self.on_closed(now, closed),
            event => {
                if let Some(event) = self.outcomes.filter(event) {
                    self.events.push(event);
                }
            }
        }
    }

    /// Ends the session from this side, without an error. If there is a connection, close its machine
    /// yourself.
    pub fn detach(&mut self) {
        // The error of a session that ended by itself is still to be taken.
        if self.stage == Stage::Over {
            return;
        }
        self.is_detached = true;
        if !self.has_connection() {
            self.stage = Stage::Over;
        }
    }

    /// Returns when the session needs its next step: `now` if an event or the error waits to be taken. The
    /// connection has a deadline of its own.
    #[must_use]
    pub fn deadline(&self, now: Time) -> Option<Time> {
        match self.stage {
            _ if self.has_news() => Some(now),
            // Without a scheduled time, an attempt is due now: the first one, or one at the other target.
            Stage::Waiting => Some(self.reconnect.next_attempt().unwrap_or(now)),
            Stage::Connecting { until } => Some(until),
            Stage::Opening | Stage::Ready | Stage::Over => None,
        }
    }

    /// Returns the part of the request ids that names this attempt.
    const fn current_session(&self) -> SessionId {
        SessionId::new(self.attempts)
    }

    /// Returns the editor, as its lock file was at the last attempt.
    #[must_use]
    pub const fn editor(&self) -> &FoundEditor {
        &self.editor
    }

    /// Returns what the editor answered to the last handshake; `None` before the first.
    #[must_use]
    pub const fn server(&self) -> Option<&ServerInfo> {
        self.server.as_ref()
    }

    /// Returns why the system does not report who owns the editor's port; `None` if it is our user, or if the
    /// agent trusts [every user](super::Trust::EveryUser). Show it to the person: the agent has sent its
    /// token there.
    #[must_use]
    pub const fn unknown_owner(&self) -> Option<Unknown> {
        self.unknown_owner
    }

    /// Returns true if a socket is connecting.
    #[must_use]
    pub const fn is_connecting(&self) -> bool {
        matches!(self.stage, Stage::Connecting { .. })
    }

    /// Returns true if there is a connection, before or after the handshake.
    #[must_use]
    pub const fn has_connection(&self) -> bool {
        matches!(self.stage, Stage::Opening | Stage::Ready)
    }

    /// Returns true if the agent is attached.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// Returns true if the session has ended, and its last event and its error were taken.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over && !self.has_news()
    }

    fn has_news(&self) -> bool {
        !self.events.is_empty() || self.error.is_some()
    }

    /// Ends the session. After a detach there is no error to report.
    fn end(&mut self, error: AgentError) {
        self.stage = Stage::Over;
        self.error = Some(error).filter(|_| !self.is_detached);
    }
}
