//! The settings of an agent's side.

use crate::ide::client_env::{LOOPBACK, authority};
use crate::ide::{AuthToken, Dialect, LockFile, Transport};
use crate::mcp::{self, Implementation};
use crate::ws;
use alloc::{string::String, vec::Vec};
use core::time::Duration;

/// Whom a client attaches to, and as whom.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The host and port, as the `Host` field has them: `127.0.0.1:41111`.
    pub host: String,
    /// The token of the lock file; `None` where the lock file has none.
    pub token: Option<AuthToken>,
    /// Header fields that the request to open has beside its own: name and value. For a probe, such as one with an
    /// `Origin`. Default none.
    pub fields: Vec<(String, String)>,
    /// The process id to say in `ide_connected`.
    pub pid: Option<u32>,
    /// In which dialect the editor is spoken to: the names of tools and arguments. What it says is understood in all.
    /// Default [`Dialect::VsCode`].
    pub dialect: Dialect,
    /// Whether all that the editor says unasked comes as [`ClientEvent::Notification`](super::ClientEvent::Notification),
    /// as it is written, be it known or not. For a bridge. Default no.
    pub raw_notifications: bool,
    /// Who the client is, how long it waits, and the limits of a session.
    pub mcp: mcp::ClientConfig,
    /// The limits of a connection.
    pub ws: ws::Limits,
}

impl ClientConfig {
    /// The client `info`, attaching to the editor on this port of this machine.
    #[must_use]
    pub fn new(info: Implementation, port: u16, token: Option<AuthToken>) -> Self {
        // As long as the real client: an editor that is busy starting is not given up.
        let limits = ws::Limits { handshake: Duration::from_secs(30), ..ws::Limits::default() };
        Self {
            host: authority(LOOPBACK, port),
            token,
            fields: Vec::new(),
            pid: None,
            dialect: Dialect::VsCode,
            raw_notifications: false,
            mcp: mcp::ClientConfig::new(info),
            ws: limits,
        }
    }

    /// Sets the host that the `Host` field names, as [`ClientEnv::host`](crate::ide::ClientEnv::host) returns it. The
    /// socket must be connected to that host.
    #[must_use]
    pub fn with_host(mut self, host: &str, port: u16) -> Self {
        self.host = authority(host, port);
        self
    }

    /// The client `info`, attaching to the editor that this lock file for `port` is of; `None` if that does not speak
    /// WebSocket. What [`choose`](crate::ide::matching::choose) accepts does.
    #[must_use]
    pub fn of_lock_file(info: Implementation, port: u16, file: &LockFile) -> Option<Self> {
        let speaks = file.transport == Transport::WebSocket;
        speaks.then(|| Self::new(info, port, file.auth_token.clone()))
    }
}
