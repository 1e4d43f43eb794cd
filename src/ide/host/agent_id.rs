//! The name of an agent of a host.

use super::ConnId;
use crate::rpc::{CallId, RequestId};

/// Names one agent that is attached to a [`Host`](super::Host), for ever: an agent that attaches again has another name.
///
/// Every agent of this version has one connection, and both have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(ConnId);

impl AgentId {
    /// Returns the agent that made this call.
    #[must_use]
    pub const fn of_call(call: CallId) -> Self {
        Self(ConnId(call.session()))
    }

    /// Returns the agent that this request was sent to.
    #[must_use]
    pub const fn of_request(request: RequestId) -> Self {
        Self(ConnId(request.session()))
    }

    /// Returns the number of the agent, in the order in which the connections were accepted, from 1: for people, and
    /// for other languages. [`Host::agent`](super::Host::agent) finds the agent again.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0.number()
    }

    /// Returns the call of this agent that has this [number](CallId::number), whether it was ever made or not.
    #[must_use]
    pub const fn call(self, number: u64) -> CallId {
        CallId::new(self.0.0, number)
    }

    /// Returns the connection of the agent; `None` for an agent that has none of its own.
    #[must_use]
    pub const fn conn(self) -> Option<ConnId> {
        Some(self.0)
    }
}

impl From<ConnId> for AgentId {
    /// Returns the agent that attached by this connection.
    fn from(conn: ConnId) -> Self {
        Self(conn)
    }
}
