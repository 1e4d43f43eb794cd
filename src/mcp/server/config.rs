//! The settings of a server.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    Keepalive,
    mcp::{Context, Forward, Implementation, LogLevel, Timeout},
    rpc::SessionLimits,
};

/// The settings of a [`Server`](super::Server).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The name and version of this server.
    pub info: Implementation,
    /// A text about this server, which a client can pass to its model. Absent by default.
    pub instructions: Option<String>,
    /// True if the list of tools can change while the session lasts. Declared to the client;
    /// default true.
    pub tools_list_changed: bool,
    /// The level from which on the log is sent, until the client sets another one. Declared to the
    /// client; default `None`: no log is offered.
    pub logging: Option<LogLevel>,
    /// The prompts and resources of this server, whose capabilities are declared to the client.
    /// Default none.
    pub context: Arc<Context>,
    /// The other capabilities to declare: the name of each, and an object as JSON. If the text is
    /// no object, `{}` is declared. Default none. The application serves them through
    /// [`forward`](ServerConfig::forward).
    pub capabilities: BTreeMap<Cow<'static, str>, Cow<'static, str>>,
    /// The requests of the client that go to the application as they are. Default none.
    pub forward: Forward,
    /// The forwarded methods whose requests the application answers as soon as they are polled.
    /// Such a request is accepted for any number of waiting calls. `tools/call` need not be in this
    /// list, because [`Tools::check`](crate::mcp::Tools::check) decides
    /// for each tool, also if the call is forwarded. Default none.
    pub at_once: Vec<Cow<'static, str>>,
    /// The forwarded methods that a client can also request before `initialize`. For clients of a protocol
    /// that has no session. The application receives such a [`Request`](crate::mcp::ServerEvent::Request) before
    /// [`Ready`](crate::mcp::ServerEvent::Ready), which possibly never comes. Default none.
    pub without_session: Vec<Cow<'static, str>>,
    /// The time after which a call is answered for the application, unless
    /// [`Tools::timeout`](crate::mcp::Tools::timeout) returns another. Default
    /// [`Timeout::CALL`].
    pub call_deadline: Duration,
    /// The time up to which [`progress`](super::Server::progress) can put off the deadline of a
    /// call. Default [`Timeout::LONGEST_CALL`].
    pub longest_call: Duration,
    /// The time that the client has to answer a request without a timeout of its own. Default
    /// [`Timeout::REQUEST`].
    pub request_timeout: Duration,
    /// The keepalive by JSON-RPC pings, for example [`Keepalive::JSON_RPC`]. Default none: the
    /// pings of WebSocket have the same effect and are invisible to MCP. A ping does not count
    /// against [`SessionLimits::requests`]. No ping is sent while the [`Outbox`](crate::Outbox) is
    /// full, so the owner of the transport has to end a connection whose peer does not read.
    pub keepalive: Option<Keepalive>,
    /// The limits of the session.
    pub limits: SessionLimits,
}

impl ServerConfig {
    /// Returns the default settings.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            instructions: None,
            tools_list_changed: true,
            logging: None,
            context: Arc::default(),
            capabilities: BTreeMap::new(),
            forward: Forward::Nothing,
            at_once: Vec::new(),
            without_session: Vec::new(),
            call_deadline: Timeout::CALL,
            longest_call: Timeout::LONGEST_CALL,
            request_timeout: Timeout::REQUEST,
            keepalive: None,
            limits: SessionLimits::default(),
        }
    }
}
