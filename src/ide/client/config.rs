//! The settings of the agent's side of a connection.

use crate::ide::Dialect;
use crate::ide::discovery::client_env::{LOOPBACK, authority};
use crate::ide::discovery::{AuthToken, LockFile, Transport};
use crate::mcp::{self, Implementation};
use crate::ws;
use alloc::{string::String, vec::Vec};

/// The settings of a [`Client`](super::Client): the editor that it attaches to, and its own identity.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The host and port, as in the `Host` field: `127.0.0.1:41111`.
    pub host: String,
    /// The request target of the opening handshake: a path, with a query if there is one. It is valid if
    /// it begins with `/` and consists of visible ASCII without `#`. Default `/`, for which the real client
    /// asks (measured).
    pub target: String,
    /// The token of the lock file; `None` if the lock file has none.
    pub token: Option<AuthToken>,
    /// Further header fields of the opening handshake: name and value. A test of an editor can add an
    /// `Origin`, for example. Default none.
    pub fields: Vec<(String, String)>,
    /// The process id to send in `ide_connected`.
    pub pid: Option<u32>,
    /// The dialect of the names of tools and arguments that the client sends. The client reads the
    /// messages of the editor in every dialect. Default [`Dialect::VsCode`].
    pub dialect: Dialect,
    /// True if every notification of the editor becomes a
    /// [`ClientEvent::Notification`](super::ClientEvent::Notification), unchanged, even a known one. A
    /// bridge needs this. Default false.
    pub raw_notifications: bool,
    /// The identity of the client, its timeouts, and the limits of a session.
    pub mcp: mcp::ClientConfig,
    /// The limits of a connection.
    pub ws: ws::Limits,
}

impl ClientConfig {
    /// Creates the settings of the client `info` for the editor on this port of this machine.
    #[must_use]
    pub fn new(info: Implementation, port: u16, token: Option<AuthToken>) -> Self {
        // The timeout of the handshake is that of the real client, so an editor that is still starting
        // has time to answer.
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

    /// Creates the settings of the client `info` for an editor of this dialect, on this port of this
    /// machine: the names of tools and arguments, and the request target. The target is `/mcp` for
    /// [`Dialect::SnakeCase`], as described, and `/` for the others.
    #[must_use]
    pub fn for_dialect(dialect: Dialect, info: Implementation, port: u16, token: Option<AuthToken>) -> Self {
        Self { dialect, target: dialect.rules().target.into(), ..Self::new(info, port, token) }
    }

    /// Sets the host that the `Host` field names, as
    /// [`ClientEnv::host`](crate::ide::discovery::client_env::ClientEnv::host) returns it. The socket has to be
    /// connected to that host.
    #[must_use]
    pub fn with_host(mut self, host: &str, port: u16) -> Self {
        self.host = authority(host, port);
        self
    }

    /// Creates the settings of the client `info` for the editor of this lock file for `port`; `None` if
    /// the editor does not use WebSocket. Every file that [`choose`](crate::ide::discovery::matching::choose)
    /// accepts names WebSocket.
    #[must_use]
    pub fn of_lock_file(info: Implementation, port: u16, file: &LockFile) -> Option<Self> {
        let speaks = file.transport == Transport::WebSocket;
        speaks.then(|| Self::new(info, port, file.auth_token.clone()))
    }
}
