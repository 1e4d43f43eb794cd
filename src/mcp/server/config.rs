//! The settings of a server.

use alloc::{borrow::Cow, collections::BTreeMap, string::String, sync::Arc, vec::Vec};
use core::time::Duration;

use crate::{
    Keepalive,
    mcp::{Context, Forward, Implementation, LogLevel, Timeout},
    rpc::SessionLimits,
};

/// How a [`Server`](super::Server) introduces itself, what it offers, and how long it waits.
///
/// ```
/// use ide_mcp::mcp::{Context, Implementation, PromptSpec, ServerConfig};
///
/// let context = Context::new().prompt(PromptSpec::new("review", "Reviews the changes."));
/// let mut config = ServerConfig::new(Implementation::new("demo", "1.0"));
/// config.context = context.into();
/// assert_eq!(config.call_deadline.as_secs(), 30);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The name and version of this server.
    pub info: Implementation,
    /// What this server is, for a client to pass to its model. Absent by default.
    pub instructions: Option<String>,
    /// True if the list of tools may change during the session. Declared to the client; default true.
    pub tools_list_changed: bool,
    /// The least severe level that is sent, until the client sets another one. Declared to the client. Default `None`:
    /// logging is not offered.
    pub logging: Option<LogLevel>,
    /// The prompts and resources of this server, declared to the client. Default none.
    pub context: Arc<Context>,
    /// Other capabilities to declare: the name of each, and a JSON object (a value that is not one is sent as `{}`).
    /// Serve them through [`forward`](ServerConfig::forward). Default none.
    pub capabilities: BTreeMap<Cow<'static, str>, Cow<'static, str>>,
    /// Which requests of the client you answer yourself. Default none.
    pub forward: Forward,
    /// The forwarded methods that you answer as soon as you poll the request. Such requests are accepted however many
    /// calls wait. Do not list `tools/call` here: [`Tools::check`](crate::mcp::Tools::check) decides for each tool,
    /// even if the call is forwarded. Default none.
    pub at_once: Vec<Cow<'static, str>>,
    /// The forwarded methods that a client may request before `initialize`, for clients of a protocol without sessions.
    /// You get such a [`Request`](crate::mcp::ServerEvent::Request) before [`Ready`](crate::mcp::ServerEvent::Ready),
    /// which may never come. Default none.
    pub without_session: Vec<Cow<'static, str>>,
    /// How long you may take to answer a call before the server answers it for you, unless
    /// [`Tools::timeout`](crate::mcp::Tools::timeout) returns another time. Default [`Timeout::CALL`].
    pub call_deadline: Duration,
    /// The longest a call may last, however often you report [`progress`](super::Server::progress). Default
    /// [`Timeout::LONGEST_CALL`].
    pub longest_call: Duration,
    /// How long the client may take to answer a request without a timeout of its own. Default [`Timeout::REQUEST`].
    pub request_timeout: Duration,
    /// When to send JSON-RPC pings, for example [`Keepalive::JSON_RPC`]. Default none, because the pings of WebSocket
    /// have the same effect and are invisible to MCP. Pings do not count against [`SessionLimits::requests`]. While the
    /// [`Outbox`](crate::Outbox) is full, no ping is sent, so the owner of the transport must end a connection whose
    /// peer does not read.
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
