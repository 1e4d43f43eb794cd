//! The settings of a host, and what it reports.

use super::{ConnId, Filter};
use crate::ide::{Mention, ServerConfig, ServerEvent};
use core::time::Duration;

/// The settings of a [`Host`](super::Host).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostConfig {
    /// What every connection shares: who may attach, the tools, the limits.
    pub server: ServerConfig,
    /// How many clients may be attached. Default 16: editors see one to five. At it: 503 for who has the token.
    pub connections: usize,
    /// How many connections may be there beside them that have not been let in. Default 8. One more ends the oldest of
    /// them, unanswered.
    ///
    /// One that has ended counts neither here nor there, but is kept for what is left to write and to tell, until it is
    /// [removed](super::Host::remove): whoever connects has to remove what [is done](crate::Wire::is_done).
    pub strangers: usize,
    /// How long the selection must rest before it is sent. Default 50 ms; zero sends each at once.
    pub debounce: Duration,
    /// How long a selection that does not rest is held back at most. Default 200 ms.
    pub debounce_at_most: Duration,
    /// How long a mention waits for a client that accepts it. Default 30 s: clients take up to 20 s to start (measured).
    pub mention_patience: Duration,
    /// What may leave the editor unasked. Default everything.
    pub filter: Filter,
}

impl HostConfig {
    /// The default settings for these connections.
    #[must_use]
    pub const fn new(server: ServerConfig) -> Self {
        Self {
            server,
            connections: 16,
            strangers: 8,
            debounce: Duration::from_millis(50),
            debounce_at_most: Duration::from_millis(200),
            mention_patience: Duration::from_secs(30),
            filter: Filter::new(),
        }
    }
}

/// What happened at a [`Host`](super::Host).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum HostEvent {
    /// Something on one connection.
    Connection {
        /// Which one.
        conn: ConnId,
        /// What.
        event: ServerEvent,
    },
    /// A mention found no client that accepts it in time.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
}
