//! The settings of an agent.

use crate::ide::Dialect;
use crate::ide::discovery::client_env::{LOOPBACK, authority};
use crate::ide::discovery::{AuthToken, LockFile, Transport};
use crate::mcp::{self, Implementation};
use crate::ws;
use alloc::{string::String, vec::Vec};

/// Which editor your [`Client`](super::Client) attaches to, and who it is.
///
/// Usually you create it [from a lock file](Self::of_lock_file). By hand, all you need is a port and the token:
///
/// ```
/// use ide_mcp::ide::{ClientConfig, discovery::AuthToken};
/// use ide_mcp::mcp::Implementation;
///
/// let token = AuthToken::from_text("550e8400-e29b-41d4-a716-446655440000").unwrap();
/// let config = ClientConfig::new(Implementation::new("my-agent", "1.0"), 41111, Some(token));
/// assert_eq!(config.host, "127.0.0.1:41111");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The host and port, as in the `Host` field: `127.0.0.1:41111`.
    pub host: String,
    /// The request target of the opening handshake: a path, with a query if there is one. It must begin with `/` and be
    /// visible ASCII without `#`. Default `/`, which the real client requests (measured).
    pub target: String,
    /// The token of the lock file; `None` if the lock file has none.
    pub token: Option<AuthToken>,
    /// Further header fields of the opening handshake, name and value: a test of an editor may add an `Origin`, for
    /// example. Default none.
    pub fields: Vec<(String, String)>,
    /// The process id to send in `ide_connected`.
    pub pid: Option<u32>,
    /// How to spell the names of tools and arguments. What the editor sends is read in every dialect. Default
    /// [`Dialect::VsCode`].
    pub dialect: Dialect,
    /// Set this if you want every notification of the editor unchanged, as a
    /// [`ClientEvent::Notification`](super::ClientEvent::Notification), even those that this crate knows. A bridge
    /// needs it. Default false.
    pub raw_notifications: bool,
    /// Who the client is, its timeouts, and the limits of a session.
    pub mcp: mcp::ClientConfig,
    /// The limits of a connection.
    pub ws: ws::Limits,
}

impl ClientConfig {
    /// Describes the client `info` of the editor on this port of this machine.
    #[must_use]
    pub fn new(info: Implementation, port: u16, token: Option<AuthToken>) -> Self {
        // As long as the real client waits, so that an editor that is still starting has time to answer.
        let limits = ws::Limits { handshake: mcp::Timeout::INITIALIZE, ..ws::Limits::default() };
        Self {
            host: authority(LOOPBACK, port),
            target: "/".into(),
            token,
            fields: Vec::new(),
            pid: None,
            dialect: Dialect::VsCode,
            raw_notifications: false,
            mcp: mcp::ClientConfig::new(info),
            ws: limits,
        }
    }

    /// Describes the client `info` of an editor of this dialect, on this port of this machine. The dialect sets the
    /// names of tools and arguments, and the target: `/mcp` for [`Dialect::SnakeCase`], as described, and `/` for the
    /// others.
    #[must_use]
    pub fn for_dialect(dialect: Dialect, info: Implementation, port: u16, token: Option<AuthToken>) -> Self {
        Self { dialect, target: dialect.rules().target.into(), ..Self::new(info, port, token) }
    }

    /// Sets the host for the `Host` field, as [`ClientEnv::host`](crate::ide::discovery::client_env::ClientEnv::host)
    /// returns it. Connect your socket to that host.
    #[must_use]
    pub fn with_host(mut self, host: &str, port: u16) -> Self {
        self.host = authority(host, port);
        self
    }

    /// Describes the client `info` of the editor with this lock file for `port`; `None` if the editor does not use
    /// WebSocket. Every file that [`choose`](crate::ide::discovery::matching::choose) accepts does.
    #[must_use]
    pub fn of_lock_file(info: Implementation, port: u16, file: &LockFile) -> Option<Self> {
        let speaks = file.transport == Transport::WebSocket;
        speaks.then(|| Self::new(info, port, file.auth_token.clone()))
    }
}
