//! What a server says of itself and how long it waits.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, vec::Vec};
use core::time::Duration;

use crate::{
    Keepalive,
    mcp::{Forward, Implementation, LogLevel},
    rpc::SessionLimits,
};

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
    /// From which level on the log is sent until the client says otherwise. Declared to the client; default `None`: no
    /// log is offered.
    pub logging: Option<LogLevel>,
    /// What else is declared: the name of a capability, and an object as JSON (where it is none, `{}` is declared).
    /// Default nothing. To be served through [`forward`](ServerConfig::forward).
    pub capabilities: BTreeMap<Cow<'static, str>, Cow<'static, str>>,
    /// Which requests go to the application as they are. Default none.
    pub forward: Forward,
    /// Which of these are answered as soon as they are polled, and are let in however many calls wait, as
    /// [`Tools::is_answered_at_once`](crate::mcp::Tools::is_answered_at_once) says of tools, be they forwarded or not:
    /// `tools/call` need not stand here. Default none.
    pub at_once: Vec<Cow<'static, str>>,
    /// After how long a call is answered for the application, unless [`Tools::timeout`](crate::mcp::Tools::timeout)
    /// says otherwise. Default 30 s: the real client waits without end.
    pub call_deadline: Duration,
    /// For how long the [`progress`](super::Server::progress) of a call can put its deadline off. Default 10 minutes.
    pub longest_call: Duration,
    /// How long a request of this server waits for its answer, unless it says otherwise. Default 60 s, as in most
    /// implementations.
    pub request_timeout: Duration,
    /// JSON-RPC pings, as [`Keepalive::JSON_RPC`]. Default none: over WebSocket its own pings serve the same and are
    /// invisible to MCP. A ping does not count against [`SessionLimits::requests`], and none is sent while the
    /// [`Outbox`](crate::Outbox) is full: a peer that does not read is for the owner of the transport to end.
    pub keepalive: Option<Keepalive>,
    /// How much of everything one session takes.
    pub limits: SessionLimits,
}

impl ServerConfig {
    /// The default settings.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            tools_list_changed: true,
            logging: None,
            capabilities: BTreeMap::new(),
            forward: Forward::Nothing,
            at_once: Vec::new(),
            call_deadline: Duration::from_secs(30),
            longest_call: Duration::from_secs(600),
            request_timeout: Duration::from_secs(60),
            keepalive: None,
            limits: SessionLimits::default(),
        }
    }
}
