//! The settings of a client.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    Keepalive,
    mcp::{Forward, Implementation, ProtocolVersion, Root, Timeout},
    rpc::{Json, SessionLimits},
};

/// How a [`Client`](super::Client) introduces itself, and how long it waits.
///
/// ```
/// use ide_mcp::mcp::{ClientConfig, Implementation};
/// use std::time::Duration;
///
/// let mut config = ClientConfig::new(Implementation::new("my-agent", "1.0"));
/// config.request_timeout = Duration::from_secs(20);
/// config.elicitation = true; // this client shows forms
/// assert_eq!(config.initialize_timeout, Duration::from_secs(30));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The name and version of this client.
    pub info: Implementation,
    /// The version to offer. Default: the newest. An answer with any [`ProtocolVersion`] is
    /// accepted.
    pub version: ProtocolVersion,
    /// The folders that the client works in. With a list, the client declares roots and answers `roots/list` itself;
    /// [`Client::set_roots`](super::Client::set_roots) changes it. Default none: roots are not declared.
    pub roots: Option<Vec<Root>>,
    /// Set this if you show forms to the person. The client then declares elicitation, and each `elicitation/create`
    /// becomes a [`ClientEvent::Form`](crate::mcp::ClientEvent::Form). Default false.
    pub elicitation: bool,
    /// Further capabilities to declare: a JSON object. Default none.
    pub capabilities: Option<Json>,
    /// How long the server may take to answer `initialize`. Default [`Timeout::INITIALIZE`].
    pub initialize_timeout: Duration,
    /// How long the server may take to answer a request without a timeout of its own. Default [`Timeout::REQUEST`].
    pub request_timeout: Duration,
    /// Which requests of the server you answer yourself. Default none. Declare the capabilities for them as well.
    pub forward: Forward,
    /// How long you may take to answer a request of the server before the client answers it with an error. Default
    /// [`Timeout::CALL`].
    pub call_deadline: Duration,
    /// The longest a request of the server may last, however often you report [`progress`](super::Client::progress),
    /// and how long a form waits for the person. Default [`Timeout::LONGEST_CALL`].
    pub longest_call: Duration,
    /// When to send JSON-RPC pings, for example [`Keepalive::JSON_RPC`]. Default none, because the pings of WebSocket
    /// have the same effect and are invisible to MCP. Pings do not count against [`SessionLimits::requests`]. While the
    /// [`Outbox`](crate::Outbox) is full, no ping is sent, so the owner of the transport must end a connection whose
    /// peer does not read.
    pub keepalive: Option<Keepalive>,
    /// The maximum number of pages of a list. Default 64; real lists have one.
    pub list_pages: usize,
    /// The maximum size, in bytes, of a list that comes in several pages. Default 16 MiB.
    pub list_bytes: usize,
    /// The limits of the session.
    pub limits: SessionLimits,
}

impl ClientConfig {
    /// Returns the default settings.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            version: ProtocolVersion::NEWEST,
            roots: None,
            elicitation: false,
            capabilities: None,
            initialize_timeout: Timeout::INITIALIZE,
            request_timeout: Timeout::REQUEST,
            forward: Forward::Nothing,
            call_deadline: Timeout::CALL,
            longest_call: Timeout::LONGEST_CALL,
            keepalive: None,
            list_pages: 64,
            list_bytes: 16 * 1024 * 1024,
            limits: SessionLimits::default(),
        }
    }
}
