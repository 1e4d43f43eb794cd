//! What a client says of itself and how long it waits.

use alloc::boxed::Box;
use core::time::Duration;

use serde_json::value::RawValue;

use crate::{
    mcp::{Implementation, ProtocolVersion},
    rpc::Limits,
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
    /// How much of everything one session takes.
    pub limits: Limits,
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
            limits: Limits::default(),
        }
    }
}
