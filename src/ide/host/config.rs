//! The settings of a host, and its events.

use super::{AgentId, ConnId, Filter};
use crate::ide::{Mention, ServerConfig, ServerEvent, ToolCall};
use alloc::string::String;
use core::time::Duration;

/// The settings of a [`Host`](super::Host).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostConfig {
    /// The settings that all connections share: the policy, the tools, the limits.
    pub server: ServerConfig,
    /// The greatest number of attached clients, connections [for models](crate::ide::MODELS_TARGET)
    /// included: each of them can hold as much memory as an agent. Default 16: editors have one to five
    /// agents, and each can have a model. At this number, a further client with the token receives 503.
    pub max_clients: usize,
    /// The greatest number of pending connections: those that have not been let in. They do not count
    /// towards [`max_clients`](HostConfig::max_clients). Default 8. For one more connection, the host
    /// closes the oldest pending connection without an HTTP answer, however young it is: a flood of 2,400
    /// connections a second leaves each of them 3 ms for its request.
    ///
    /// A connection that has ended counts towards neither limit. The host keeps the connection for its
    /// remaining bytes and events until it is [removed](super::Host::remove), so the caller of
    /// `connect` has to remove each connection that [is done](crate::Wire::is_done).
    pub max_pending_connections: usize,
    /// The maximum total size of the messages of all open calls of all clients, in bytes. Default 128
    /// MiB: four times the limit of one client ([`open_bytes`](crate::rpc::SessionLimits::open_bytes)).
    /// The host answers a call beyond this limit with the error -32603. A call beyond
    /// [`open_calls`](crate::rpc::SessionLimits::open_calls), the limit of each client (256), receives
    /// this error too.
    ///
    /// One half is reserved in equal shares for [`max_clients`](HostConfig::max_clients) clients (4 MiB
    /// each by default), so that no client can use up the bytes that another client needs. The other
    /// half is shared: first come, first served.
    pub open_bytes: usize,
    /// The time for which the selection has to stay unchanged before it is sent. Default 50 ms; with
    /// zero, each selection is sent at once.
    pub debounce: Duration,
    /// The longest time for which a selection that keeps changing is held back. Default 200 ms.
    pub debounce_max: Duration,
    /// The time for which a mention waits for a client that accepts it. Default 30 s: clients take up
    /// to 20 s to start (measured).
    pub mention_timeout: Duration,
    /// The filter for pushes and answers. By default everything passes.
    pub filter: Filter,
}

impl HostConfig {
    /// Returns the greatest number of bytes that a host with these settings holds for its clients,
    /// apart from one answer for each client and the constant costs of a connection.
    ///
    /// | held | one client | 16 clients |
    /// | --- | --: | --: |
    /// | received and not yet delivered: the [`message`](crate::ws::Limits::message) in progress, one more message, and [`outgoing`](crate::ws::Limits::outgoing) bytes | 40 MiB | 640 MiB |
    /// | the messages of open calls: [`rpc::SessionLimits::open_bytes`](crate::rpc::SessionLimits::open_bytes), [`HostConfig::open_bytes`] | 32 MiB | 128 MiB |
    /// | unwritten output: [`ServerConfig::max_unwritten`] | 32 MiB | 512 MiB |
    #[must_use]
    pub const fn max_held(&self) -> usize {
        let limits = &self.server.ws;
        let received = limits.message.saturating_mul(2).saturating_add(limits.outgoing);
        let each = received.saturating_add(self.server.max_unwritten());
        each.saturating_mul(self.max_clients).saturating_add(self.open_bytes)
    }

    /// Creates the default settings of a host whose connections share `server`.
    #[must_use]
    pub const fn new(server: ServerConfig) -> Self {
        Self {
            server,
            max_clients: 16,
            max_pending_connections: 8,
            open_bytes: 128 * 1024 * 1024,
            debounce: Duration::from_millis(50),
            debounce_max: Duration::from_millis(200),
            mention_timeout: Duration::from_secs(30),
            filter: Filter::new(),
        }
    }
}

/// An event of a [`Host`](super::Host).
#[derive(Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// An event of an agent that was let in, or of a connection [for models](crate::ide::MODELS_TARGET), which
    /// is answered in the same way. Connections that were never let in are
    /// [counted](super::Host::unauthenticated).
    Agent {
        /// The agent.
        agent: AgentId,
        /// The event of its connection.
        event: ServerEvent,
    },
    /// A client has sent the token of an earlier process ([`Auth::Resumed`](crate::ide::Auth::Resumed))
    /// and waits for [`admit`](super::Host::admit). No timer ends this wait. The host reports
    /// this event only with `Auth::Resumed`. The adapters of this project do not report it: they decide
    /// by the owner of the socket.
    AdmissionPending {
        /// The connection of the client.
        conn: ConnId,
    },
    /// A change of the lock file, as its guard reported it with
    /// [`Host::on_lock_file`](super::Host::on_lock_file).
    LockFile(LockFileEvent),
    /// A mention that expired: no client accepted it in time, the client to which it was addressed
    /// disconnected, or the [`Filter`](super::Filter) hides the file by now.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
}

impl HostEvent {
    /// Returns the tool call of this event; `None` for every other event. An application that keeps proposals
    /// for a person matches the events instead: [`DiffClosed`](ServerEvent::DiffClosed) ends a proposal.
    #[must_use]
    pub fn into_call(self) -> Option<ToolCall> {
        match self {
            Self::Agent { event: ServerEvent::Call(call), .. } => Some(call),
            Self::Agent { .. }
            | Self::AdmissionPending { .. }
            | Self::LockFile(_)
            | Self::MentionExpired { .. } => None,
        }
    }
}

/// A change of the lock file of an editor, to show to a person: without the lock file no agent finds
/// the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileEvent {
    /// The file is gone, and the guard is restoring it.
    Lost,
    /// The file exists again.
    Restored,
    /// Another file has the name of the lock file. The guard left that file alone.
    Taken,
    /// The guard could not check, restore, change or remove the file. The guard tries again.
    Failed {
        /// The error, as text.
        error: String,
    },
}
