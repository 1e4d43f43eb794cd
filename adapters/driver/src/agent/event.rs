//! The events of an agent.

use super::AgentError;
use ide_mcp::ide::ClientEvent;
use ide_mcp::mcp::ServerInfo;
use ide_mcp::ws::Closed;
use ide_mcp_lockfile::Unknown;
use std::net::SocketAddr;

/// An event of an agent: of its session, or a change of its connection.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The agent is attached for the first time. An `attach` that waits takes this event.
    Attached(ServerInfo),
    /// An event of the session, never [`Ready`](ClientEvent::Ready) or [`Closed`](ClientEvent::Closed).
    Session(ClientEvent),
    /// The connection has ended for this reason, and the agent tries to attach again. Every request has had
    /// its outcome. [`Back`](Self::Back) or [`Ended`](Self::Ended) follows.
    Lost(Closed),
    /// The agent is attached again, in a new session: the editor has none of the earlier requests.
    Back(ServerInfo),
    /// The system does not report the owner of the server, and the agent sends it the token. For the person;
    /// this event comes once.
    UnknownOwner {
        /// The address of the server.
        server: SocketAddr,
        /// The reason.
        reason: Unknown,
    },
    /// The end of the agent. This event comes exactly once and last.
    Ended(AgentError),
}
