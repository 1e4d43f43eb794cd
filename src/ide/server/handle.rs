//! Ids of agents and connections. Each has a number that is never reused, and the index of a table entry, which can be.

use crate::rpc::{CallId, RequestId, SessionId};
use core::fmt;

/// Identifies an agent of a [`Server`](super::Server). Never reused: an agent that attaches again has another id.
///
/// In this version every agent has one connection, and both have the same number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentId(pub(crate) ConnId);

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

    /// Returns the number of the agent: agents are numbered from 1, in the order in which their connections were
    /// accepted. For display, and for bindings to other languages; [`Server::agent`](super::Server::agent) finds the
    /// agent again.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0.number()
    }

    /// Returns the id of this agent's call with this [number](CallId::number). It does not check that the agent ever
    /// made such a call.
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
    /// Returns the agent on this connection.
    fn from(conn: ConnId) -> Self {
        Self(conn)
    }
}

/// Identifies a connection of a [`Server`](super::Server). Never reused: a later connection with the same
/// [index](Self::index) has another id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnId(pub(super) SessionId);

impl ConnId {
    /// Creates the id of the connection at this index of the table. The number is never reused: at 100,000 connections
    /// a second the numbers last for 5 million years.
    pub(crate) const fn new(index: u32, number: u64) -> Self {
        Self(SessionId::at_place(number, index))
    }

    /// Returns the session on this connection.
    pub(crate) const fn session(self) -> SessionId {
        self.0
    }

    /// Returns a small number that no other connection has at the same time, for the tables and tokens of an event
    /// loop. A later connection may get it again.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0.place as usize
    }

    /// Returns the number of the connection: they are numbered from 1, in the order in which they were accepted. For
    /// display.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0.number()
    }
}

/// Only the number, as `AgentId(3)`, because this is in every event.
impl fmt::Debug for AgentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentId").field(&self.number()).finish()
    }
}

/// Only the number, as for an [`AgentId`].
impl fmt::Debug for ConnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConnId").field(&self.number()).finish()
    }
}
