//! One of the agents of a host, for what concerns it alone.

use super::{AgentId, Host};
use crate::ide::Server;
use crate::mcp::Timeout;
use crate::rpc::{NotSent, RequestId};
use serde::Serialize;

/// An agent that is attached, as [`Host::client`](super::Host::client) gives it: to tell or ask this one something.
#[derive(Debug)]
#[must_use = "nothing is sent yet"]
pub struct AttachedClient<'a> {
    host: &'a mut Host,
    agent: AgentId,
}

impl<'a> AttachedClient<'a> {
    pub(super) const fn new(host: &'a mut Host, agent: AgentId) -> Self {
        Self { host, agent }
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room; [`NotSent::Closed`] if there is no such agent.
    pub fn notify<P: Serialize + ?Sized>(self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        self.with(|server| server.notify(method, params))
    }

    /// Asks the client something, such as `roots/list`. One [`Outcome`](crate::ide::ServerEvent::Outcome) follows.
    ///
    /// # Errors
    ///
    /// As [`notify`](Self::notify).
    pub fn request<P: Serialize + ?Sized>(
        self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, NotSent> {
        self.with(|server| server.request(method, params, timeout))
    }

    fn with<T>(self, act: impl FnOnce(&mut Server) -> Result<T, NotSent>) -> Result<T, NotSent> {
        self.host.with(self.agent, act).unwrap_or(Err(NotSent::Closed))
    }
}
