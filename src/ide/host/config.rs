//! The settings of a host, and what it reports.

use super::{AgentId, ConnId, Filter};
use crate::ide::{Mention, ServerConfig, ServerEvent};
use alloc::string::String;
use core::time::Duration;

/// The settings of a [`Host`](super::Host).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostConfig {
    /// What every connection shares: who may attach, the tools, the limits.
    pub server: ServerConfig,
    /// How many clients may be attached. Default 16: editors see one to five. At it: 503 for who has the token.
    pub max_clients: usize,
    /// How many connections may be there beside them that have not been let in. Default 8. One more ends the oldest of
    /// them, unanswered.
    ///
    /// One that has ended counts neither here nor there, but is kept for what is left to write and to tell, until it is
    /// [removed](super::Host::remove): the caller of `connect` has to remove what [is done](crate::Wire::is_done).
    pub max_pending_connections: usize,
    /// The bytes that the open calls of all clients may hold together, by the size of their messages. Default 128 MiB:
    /// four times what one client may ([`open_bytes`](crate::rpc::SessionLimits::open_bytes)). A call beyond it is answered with
    /// -32603, as the 257th of a client is.
    ///
    /// One half is divided among the [places](HostConfig::max_clients), so that no client can use up what another one
    /// needs: 4 MiB each. The other half is for the first clients that ask.
    pub open_bytes: usize,
    /// How long the selection must rest before it is sent. Default 50 ms; zero sends each at once.
    pub debounce: Duration,
    /// How long a selection that does not rest is held back at most. Default 200 ms.
    pub debounce_max: Duration,
    /// The time for which a mention waits for a client that accepts it. Default 30 s: clients take up to 20 s to start
    /// (measured).
    pub mention_timeout: Duration,
    /// What may leave the editor unasked. Default everything.
    pub filter: Filter,
}

impl HostConfig {
    /// Returns how many bytes a host with these settings holds for its clients at most, one answer per client and the
    /// constant costs of a connection aside.
    ///
    /// | held | one client | 16 clients |
    /// | --- | --: | --: |
    /// | received and not yet delivered: a [`message`](crate::ws::Limits::message) in progress, and behind it one message and the mark ([`outgoing`](crate::ws::Limits::outgoing)) | 40 MiB | 640 MiB |
    /// | the messages of open calls: [`rpc::SessionLimits::open_bytes`](crate::rpc::SessionLimits::open_bytes), [`HostConfig::open_bytes`] | 32 MiB | 128 MiB |
    /// | unwritten output: [`ServerConfig::max_unwritten`] | 32 MiB | 512 MiB |
    #[must_use]
    pub const fn max_held(&self) -> usize {
        let limits = &self.server.ws;
        let received = limits.message.saturating_mul(2).saturating_add(limits.outgoing);
        let each = received.saturating_add(self.server.max_unwritten());
        each.saturating_mul(self.max_clients).saturating_add(self.open_bytes)
    }

    /// The default settings for these connections.
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

/// What happened at a [`Host`](super::Host).
#[derive(Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// Something happened to an agent that was let in. Connections that never were are
    /// [counted](super::Host::unauthenticated).
    Agent {
        /// The agent.
        agent: AgentId,
        /// The event of its connection.
        event: ServerEvent,
    },
    /// A client knows the token of an earlier process ([`Auth::Resumed`](crate::ide::Auth::Resumed)) and waits for
    /// [`admit`](super::Host::admit), up to the 5 s that the opening handshake has. There is no such event with another
    /// [`Auth`](crate::ide::Auth), and none from the adapters of this project, which decide by the owner of the socket.
    AdmissionPending {
        /// The connection of the client.
        conn: ConnId,
    },
    /// Something happened to the lock file, as its guard reported with [`Host::on_lock_file`](super::Host::on_lock_file).
    LockFile(LockFileEvent),
    /// A mention found no client that accepts it in time.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
}

/// A change of the lock file of an editor. For a person to know: without the lock file no agent finds the editor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LockFileEvent {
    /// The file is gone, and is being brought back.
    Lost,
    /// The file is in place again.
    Restored,
    /// Another file has its name, and was left alone.
    Taken,
    /// The file could not be looked for, brought back, changed or removed. The guard tries again.
    Failed {
        /// The error, as text.
        error: String,
    },
}
