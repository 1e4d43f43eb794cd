//! One agent of an editor: what we know of it, and messages to it alone.

use super::{AgentId, Server};
use crate::Time;
use crate::ide::Pending;
use crate::ide::connection::Connection;
use crate::ide::paths::LocalPath;
use crate::mcp::{Form, FormAnswer, Implementation, Root, Timeout};
use crate::rpc::{CallId, NotSent, RequestId};
use serde::Serialize;

/// What we know of an agent: its name, its process, its folders, its open diffs.
/// [`Server::agents`](super::Server::agents) lists all of them, and [`Server::agent`](super::Server::agent) finds one.
///
/// ```
/// use ide_mcp::ide::Server;
///
/// /// What the status bar shows: the attached agents, each with its open diffs.
/// fn status(server: &Server) -> Vec<String> {
///     let name = |agent: ide_mcp::ide::Agent<'_>| agent.client().map_or("?".into(), |client| client.name.clone());
///     server.agents().map(|agent| format!("{} ({})", name(agent), agent.open_diffs().count())).collect()
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Agent<'a> {
    id: AgentId,
    connection: &'a Connection,
}

impl<'a> Agent<'a> {
    pub(super) const fn new(id: AgentId, connection: &'a Connection) -> Self {
        Self { id, connection }
    }

    /// Returns the id of the agent, for everything that you send to it.
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

    /// Returns the folders that the agent works in, as it wrote them in its answer to `roots/list`: at most 64. Empty
    /// before the answer, and if we did not ask.
    #[must_use]
    pub fn roots(self) -> &'a [Root] {
        self.connection.roots()
    }

    /// Returns the [`roots`](Self::roots) that are absolute paths on this machine.
    #[must_use]
    pub fn folders(self) -> &'a [LocalPath] {
        self.connection.folders()
    }

    /// Returns the index of the window where you should show a call of this agent, by its folders and the file of the
    /// call: see [`closest_window`](crate::ide::paths::closest_window).
    #[must_use]
    pub fn closest_window<W: AsRef<[LocalPath]>>(
        self,
        windows: &[W],
        file: Option<&LocalPath>,
    ) -> Option<usize> {
        self.connection.closest_window(windows, file)
    }

    /// Returns true while you can send to the agent: until its connection begins to end.
    #[must_use]
    pub fn is_open(self) -> bool {
        self.connection.is_open()
    }

    /// Returns the diffs that wait for the person: the call of each, and the name of its tab.
    pub fn open_diffs(self) -> impl Iterator<Item = (CallId, &'a str)> {
        self.connection.open_diffs()
    }

    /// Returns the size of the messages of its open calls, in bytes.
    #[must_use]
    pub const fn open_bytes(self) -> usize {
        self.connection.open_bytes()
    }

    /// Returns true if this is the connection [for the model](crate::ide::MODELS_TARGET) of an agent, which calls the
    /// tools for models and gets no pushes.
    #[must_use]
    pub fn is_for_models(self) -> bool {
        self.connection.is_for_models()
    }

    /// Returns true while the agent waits for the [consent](crate::ide::ServerConfig::asks_for_consent) of the person:
    /// [`AgentMut::allow`] gives it.
    #[must_use]
    pub fn waits_for_consent(self) -> bool {
        self.connection.waits_for_consent()
    }

    /// Returns true if the agent accepts pushes, as far as we can know: its [settle
    /// time](crate::ide::ServerConfig::settle) is over. Mentions wait for this.
    #[must_use]
    pub fn accepts_pushes(self) -> bool {
        self.connection.accepts_pushes()
    }
}

/// Sends notifications and requests to one agent, gives it the person's consent, or disconnects it. You get it from
/// [`Server::agent_mut`](super::Server::agent_mut).
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
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the parameters cannot be
    /// written as a JSON object; [`NotSent::Closed`] also if there is no such agent.
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
    /// [outcome](crate::ide::ServerEvent::Outcome), and only returns an answer that [fits](Form::check) the form. The
    /// form waits for the person without a timeout, until you [cancel](crate::ide::Server::cancel) it. In the [settle
    /// time](crate::ide::ServerConfig::settle) after `initialized` we hold it back, because the real client would
    /// cancel it before the person sees it (measured).
    ///
    /// # Errors
    ///
    /// [`NotSent::Undeclared`] if the client does not show forms. Otherwise the errors of [`request`](Self::request).
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

    /// Gives the person's consent to a client that waits for it, even if the server has [not
    /// asked](crate::ide::ServerConfig::asks_for_consent) about this client yet. Returns false if the client does not
    /// wait.
    pub fn allow(self) -> bool {
        let is_allowed = self.server.with(self.agent, Connection::allow).unwrap_or(false);
        if is_allowed {
            self.server.questions.on_allowed(self.agent);
        }
        is_allowed
    }

    /// Ends the connection of this client properly; the other clients stay. You still get the events of its end.
    /// Calling this again does nothing. If the server is [asking](crate::ide::ServerConfig::asks_for_consent) about the
    /// client, this counts as a refusal.
    pub fn disconnect(self, now: Time) {
        self.server.connections.set_now(now);
        self.server.questions.on_disconnected(self.server.connections.now, self.agent);
        let _ = self.server.with(self.agent, Connection::disconnect);
    }

    fn with<T>(self, act: impl FnOnce(&mut Connection) -> Result<T, NotSent>) -> Result<T, NotSent> {
        self.server.with(self.agent, act).unwrap_or(Err(NotSent::Closed))
    }
}
