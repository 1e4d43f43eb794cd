//! What a server says of itself and how long it waits.

use alloc::string::String;
use core::time::Duration;

use crate::{mcp::Implementation, rpc::Limits};

/// The settings of a [`Server`](super::Server).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Who this server is.
    pub info: Implementation,
    /// What a client may tell its model about this server. Absent by default.
    pub instructions: Option<String>,
    /// Whether the list of tools may change while the session lasts. Declared to the client; default true.
    pub tools_list_changed: bool,
    /// After how long a call is answered for the application, unless [`Tools::patience`](crate::mcp::Tools::patience)
    /// says otherwise. Default 30 s: the real client waits without end.
    pub call_deadline: Duration,
    /// How long a request of this server waits for its answer, unless it says otherwise. Default 60 s, as in most
    /// implementations.
    pub request_timeout: Duration,
    /// How much of everything one session takes.
    pub limits: Limits,
}

impl ServerConfig {
    /// The default settings.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            tools_list_changed: true,
            call_deadline: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            limits: Limits::default(),
        }
    }
}
