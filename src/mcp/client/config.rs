//! What a client says of itself and how long it waits.

use alloc::boxed::Box;
use core::time::Duration;

use serde_json::value::RawValue;

use crate::{
    Keepalive,
    mcp::{Forward, Implementation, ProtocolVersion},
    rpc::SessionLimits,
};

/// The settings of a [`Client`](super::Client).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClientConfig {
    /// Who this client is.
    pub info: Implementation,
    /// The version to offer. Default the newest. Every answer with a [`ProtocolVersion`] is accepted.
    pub version: ProtocolVersion,
    /// The capabilities to declare, a JSON object. Default none.
    pub capabilities: Option<Box<RawValue>>,
    /// How long the server may take to answer `initialize`. Default 30 s, as the real client.
    pub initialize_timeout: Duration,
    /// How long it may take to answer other requests that do not say otherwise. Default 60 s.
    pub request_timeout: Duration,
    /// Which requests of the server go to the application as they are. Default none. What is forwarded should also be
    /// declared as a capability.
    pub forward: Forward,
    /// After how long a request of the server is answered for the application, with an error. Default 30 s.
    pub call_deadline: Duration,
    /// For how long the [`progress`](super::Client::progress) of such a request can put its deadline off. Default 10
    /// minutes.
    pub longest_call: Duration,
    /// JSON-RPC pings, as [`Keepalive::JSON_RPC`]. Default none: over WebSocket its own pings serve the same and are
    /// invisible to MCP. A ping does not count against [`SessionLimits::requests`], and none is sent while the
    /// [`Outbox`](crate::Outbox) is full: a peer that does not read is for the owner of the transport to end.
    pub keepalive: Option<Keepalive>,
    /// How many pages of a list are asked for. Default 64: real lists have one.
    pub list_pages: usize,
    /// The bytes of a list that comes in several pages. Default 16 MiB.
    pub list_bytes: usize,
    /// How much of everything one session takes.
    pub limits: SessionLimits,
}

impl ClientConfig {
    /// The default settings.
    #[must_use]
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            version: ProtocolVersion::NEWEST,
            capabilities: None,
            initialize_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(60),
            forward: Forward::Nothing,
            call_deadline: Duration::from_secs(30),
            longest_call: Duration::from_secs(600),
            keepalive: None,
            list_pages: 64,
            list_bytes: 16 * 1024 * 1024,
            limits: SessionLimits::default(),
        }
    }
}
