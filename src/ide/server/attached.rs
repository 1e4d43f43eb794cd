//! One agent of a host, for messages to this agent alone.

use super::{AgentId, Server};
use crate::Time;
use crate::ide::{Connection, Pending};
use crate::mcp::{Form, FormAnswer, Timeout};
use crate::rpc::{NotSent, RequestId};
use serde::Serialize;

/// An attached agent, as [`Server::client`](super::Server::client) returns it: for notifications and
/// requests to this agent alone.
#[derive(Debug)]
#[must_use = "nothing is sent yet"]
pub struct AttachedClient<'a> {
    host: &'a mut Server,
    agent: AgentId,
}

impl<'a> AttachedClient<'a> {
    pub(super) const fn new(host: &'a mut Server, agent: AgentId) -> Self {
        Self { host, agent }
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the
    /// parameters cannot be written as a JSON object; [`NotSent::Closed`] also if there is no such
    /// agent.
    pub fn notify<P: Serialize + ?Sized>(self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        self.with(|server| server.notify(method, params))
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
        self.with(|server| server.request(method, params, timeout))
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
        self.with(|server| server.elicit(form))
    }

    /// Asks the person as [`elicit`](Self::elicit) does, and waits this long.
    ///
    /// # Errors
    ///
    /// As for [`elicit`](Self::elicit).
    pub fn elicit_within(self, form: Form, timeout: Timeout) -> Result<Pending<FormAnswer>, NotSent> {
        self.with(|server| server.elicit_within(form, timeout))
    }

    /// Allows a client that waits for the consent of the person, as [`Connection::allow`] does, even if the host
    /// has [not asked](crate::ide::ServerConfig::asks_for_consent) about it yet. Returns false if the client
    /// does not wait.
    pub fn allow(self) -> bool {
        let is_allowed = self.host.with(self.agent, Connection::allow).unwrap_or(false);
        if is_allowed {
            self.host.questions.on_allowed(self.agent);
        }
        is_allowed
    }

    /// Ends the connection of the client in good order, as [`Connection::disconnect`] does. The other clients stay.
    /// The host still reports the events of the end. Another call has no effect. For a client about which the
    /// host [asks](crate::ide::ServerConfig::asks_for_consent) this is a refusal.
    pub fn disconnect(self, now: Time) {
        self.host.connections.set_now(now);
        self.host.questions.on_disconnected(self.host.connections.now, self.agent);
        let _ = self.host.with(self.agent, Connection::disconnect);
    }

    fn with<T>(self, act: impl FnOnce(&mut Connection) -> Result<T, NotSent>) -> Result<T, NotSent> {
        self.host.with(self.agent, act).unwrap_or(Err(NotSent::Closed))
    }
}
