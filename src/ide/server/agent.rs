//! One agent of an editor: what the editor knows of it, and messages to it alone.

use super::{AgentId, Server};
use crate::Time;
use crate::ide::Pending;
use crate::ide::connection::Connection;
use crate::ide::paths::LocalPath;
use crate::mcp::{Form, FormAnswer, Implementation, Root, Timeout};
use crate::rpc::{CallId, NotSent, RequestId};
use serde::Serialize;

/// What the editor knows of an agent: its name, its process, its folders, its open diffs.
/// [`Server::agents`](super::Server::agents) lists the agents, and [`Server::agent`](super::Server::agent) finds one.
#[derive(Clone, Copy, Debug)]
pub struct Agent<'a> {
    id: AgentId,
    connection: &'a Connection,
}

impl<'a> Agent<'a> {
    pub(super) const fn new(id: AgentId, connection: &'a Connection) -> Self {
        Self { id, connection }
    }

    /// Returns the id by which the editor answers, asks and mentions.
    #[must_use]
    pub const fn id(self) -> AgentId {
        self.id
    }

    /// Returns the name and version that the agent sent in `initialize`; `None` before `initialize`, or if they cannot
    /// be read.
    #[must_use]
    pub const fn client(self) -> Option<&'a Implementation> {
        self.connection.client()
    }

    /// Returns the process id that the agent sent in `ide_connected`; `None` if it sent none.
    #[must_use]
    pub const fn pid(self) -> Option<u32> {
        self.connection.pid()
    }

    /// Returns the folders in which the agent works, as it wrote them in its answer to `roots/list`: at most 64. Empty
    /// before the answer, and for an agent that the editor does not ask.
    #[must_use]
    pub fn roots(self) -> &'a [Root] {
        self.connection.roots()
    }

    /// Returns those of the [`roots`](Self::roots) that are absolute paths on this machine.
    #[must_use]
    pub fn folders(self) -> &'a [LocalPath] {
        self.connection.folders()
    }

    /// Returns the index of the window in which to show a call of this agent, by its folders and the file of the call:
    /// see [`closest_window`](crate::ide::paths::closest_window).
    #[must_use]
    pub fn closest_window<W: AsRef<[LocalPath]>>(
        self,
        windows: &[W],
        file: Option<&LocalPath>,
    ) -> Option<usize> {
        self.connection.closest_window(windows, file)
    }

    /// Returns true until the end of its connection begins. Until then messages to the agent can be sent.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.connection.is_open()
    }

    /// Returns the diffs that wait for the person: each call, and the name of its tab.
    pub fn open_diffs(self) -> impl Iterator<Item = (CallId, &'a str)> {
        self.connection.open_diffs()
    }

    /// Returns the size of the messages of its open calls, in bytes.
    #[must_use]
    pub const fn open_bytes(self) -> usize {
        self.connection.open_bytes()
    }

    /// Returns true if this is the connection [for the model](crate::ide::MODELS_TARGET) of an agent, which calls the
    /// tools for models and receives no pushes.
    #[must_use]
    pub fn is_for_models(self) -> bool {
        self.connection.is_for_models()
    }

    /// Returns true if the agent waits for the [consent](crate::ide::ServerConfig::asks_for_consent) of the person, by
    /// [`AgentMut::allow`].
    #[must_use]
    pub fn waits_for_consent(self) -> bool {
        self.connection.waits_for_consent()
    }

    /// Returns true if the agent accepts pushes, as far as can be known: its
    /// [settle time](crate::ide::ServerConfig::settle) is over. Mentions wait for this.
    #[must_use]
    pub fn accepts_pushes(self) -> bool {
        self.connection.accepts_pushes()
    }
}

/// An agent to speak to: for notifications and requests to this agent alone, for the consent, and to disconnect it.
/// [`Server::agent_mut`](super::Server::agent_mut) returns it.
#[derive(Debug)]
#[must_use = "nothing is sent yet"]
pub struct AgentMut<'a> {
    server: &'a mut Server,
    agent: AgentId,
}

impl<'a> AgentMut<'a> {
    pub(super) const fn new(server: &'a mut Server, agent: AgentId) -> Self {
        Self { server, agent }
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the
    /// parameters cannot be written as a JSON object; [`NotSent::Closed`] also if there is no such
    /// agent.
    pub fn notify<P: Serialize + ?Sized>(self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        self.with(|connection| connection.notify(method, params))
    }

    /// Sends a request to the client, such as `roots/list`. One
    /// [`Outcome`](crate::ide::ServerEvent::Outcome) follows.
    ///
    /// # Errors
    ///
    /// The errors of [`notify`](Self::notify).
    pub fn request<P: Serialize + ?Sized>(
        self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, NotSent> {
        self.with(|connection| connection.request(method, params, timeout))
    }

    /// Asks the person at the client, with a form in the client's terminal. [`Pending::answer`] reads the
    /// [outcome](crate::ide::ServerEvent::Outcome) and returns only an answer that [fits](Form::check)
    /// the form. The form waits for the person without a timeout;
    /// [`Server::cancel`](crate::ide::Server::cancel) ends it.
    ///
    /// # Errors
    ///
    /// [`NotSent::Undeclared`] if the client does not show forms. Otherwise the errors of
    /// [`request`](Self::request).
    pub fn elicit(self, form: Form) -> Result<Pending<FormAnswer>, NotSent> {
        self.with(|connection| connection.elicit(form))
    }

    /// Asks the person as [`elicit`](Self::elicit) does, and waits this long.
    ///
    /// # Errors
    ///
    /// As for [`elicit`](Self::elicit).
    pub fn elicit_within(self, form: Form, timeout: Timeout) -> Result<Pending<FormAnswer>, NotSent> {
        self.with(|connection| connection.elicit_within(form, timeout))
    }

    /// Allows a client that waits for the consent of the person, even if the server
    /// has [not asked](crate::ide::ServerConfig::asks_for_consent) about it yet. Returns false if the client
    /// does not wait.
    pub fn allow(self) -> bool {
        let is_allowed = self.server.with(self.agent, Connection::allow).unwrap_or(false);
        if is_allowed {
            self.server.questions.on_allowed(self.agent);
        }
        is_allowed
    }

    /// Ends the connection of the client in good order. The other clients stay.
    /// The server still reports the events of the end. Another call has no effect. For a client about which the
    /// server [asks](crate::ide::ServerConfig::asks_for_consent) this is a refusal.
    pub fn disconnect(self, now: Time) {
        self.server.connections.set_now(now);
        self.server.questions.on_disconnected(self.server.connections.now, self.agent);
        let _ = self.server.with(self.agent, Connection::disconnect);
    }

    fn with<T>(self, act: impl FnOnce(&mut Connection) -> Result<T, NotSent>) -> Result<T, NotSent> {
        self.server.with(self.agent, act).unwrap_or(Err(NotSent::Closed))
    }
}
