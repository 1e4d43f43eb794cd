//! The settings of a client.

use alloc::vec::Vec;
use core::time::Duration;

use crate::{
    Keepalive,
    mcp::{Forward, Implementation, ProtocolVersion, Root, Timeout},
    rpc::{Json, SessionLimits},
};

/// The settings of a [`Client`](super::Client).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// The name and version of this client.
    pub info: Implementation,
    /// The version to offer. Default: the newest. An answer with any [`ProtocolVersion`] is
    /// accepted.
    pub version: ProtocolVersion,
    /// The folders in which the client works. With a list, the client declares roots and answers
    /// `roots/list` itself; [`Client::set_roots`](super::Client::set_roots) changes the list. Default
    /// none: roots are not declared.
    pub roots: Option<Vec<Root>>,
    /// True if the client shows forms to its person. The client declares elicitation then, and each
    /// `elicitation/create` becomes an [`ClientEvent::Form`](crate::mcp::ClientEvent::Form). Default false.
    pub elicitation: bool,
    /// Further capabilities to declare: a JSON object. Default none.
    pub capabilities: Option<Json>,
    /// The time that the server has to answer `initialize`. Default [`Timeout::INITIALIZE`].
    pub initialize_timeout: Duration,
    /// The time that the server has to answer a request without a timeout of its own. Default [`Timeout::REQUEST`].
    pub request_timeout: Duration,
    /// The requests of the server that go to the application as they are. Default none. The
    /// capability of a forwarded request should also be declared.
    pub forward: Forward,
    /// The time after which a request of the server is answered for the application, with an error.
    /// Default [`Timeout::CALL`].
    pub call_deadline: Duration,
    /// The time up to which [`progress`](super::Client::progress) can put off the deadline of a
    /// request of the server, and the time for which a form waits for the person. Default
    /// [`Timeout::LONGEST_CALL`].
    pub longest_call: Duration,
    /// The keepalive by JSON-RPC pings, for example [`Keepalive::JSON_RPC`]. Default none: the
    /// pings of WebSocket have the same effect and are invisible to MCP. A ping does not count
    /// against [`SessionLimits::requests`]. No ping is sent while the [`Outbox`](crate::Outbox) is
    /// full, so the owner of the transport has to end a connection whose peer does not read.
    pub keepalive: Option<Keepalive>,
    /// The maximum number of pages of a list. Default 64: real lists have one.
    pub list_pages: usize,
    /// The maximum size of a list that comes in several pages, in bytes. Default 16 MiB.
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
