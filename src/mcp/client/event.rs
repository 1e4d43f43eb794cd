//! What a client reports.

use alloc::{boxed::Box, string::String};
use core::fmt;

use serde_json::value::RawValue;

use crate::{
    mcp::{Implementation, Outcome, ProtocolVersion, session::Common},
    rpc::{ErrorObject, RequestId, Violation},
};

/// What happened in the session of a [`Client`](super::Client).
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server accepted the handshake and was told `notifications/initialized`.
    Ready(ServerInfo),
    /// The handshake failed. Whoever owns the connection should close it.
    Failed(Failure),
    /// A request of the application ended.
    Outcome {
        /// Which one.
        request: RequestId,
        /// And how.
        outcome: Outcome,
    },
    /// The server said something.
    Notification {
        /// What.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// The server reports an error that belongs to no request: it could not read something.
    PeerError(ErrorObject),
    /// The server broke a rule; the session goes on.
    Violation(Violation),
    /// More texts that are no message came than are tolerated. Reported once. Whoever owns the connection should
    /// close it (in WebSocket, with 1008).
    TooManyViolations,
}

/// What a server says of itself in the handshake.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerInfo {
    /// Who it says it is; `None` if it does not say so readably.
    pub info: Option<Implementation>,
    /// The version that is spoken.
    pub protocol_version: ProtocolVersion,
    /// What a model should know about the server.
    pub instructions: Option<String>,
    /// What it declares that it can do, as it is written.
    pub capabilities: Option<Box<RawValue>>,
}

/// Why a handshake failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// No answer in time.
    TimedOut,
    /// The server answered an error.
    Refused(ErrorObject),
    /// The server chose a version that is not known here.
    UnknownVersion(Box<str>),
    /// The answer could not be read.
    Malformed,
    /// The session ended first.
    Closed,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => f.write_str("the server did not answer in time"),
            Self::Refused(error) => write!(f, "the server refused: {error}"),
            Self::UnknownVersion(version) => write!(f, "the server chose the unknown version {version:?}"),
            Self::Malformed => f.write_str("the answer of the server could not be read"),
            Self::Closed => f.write_str("the session ended first"),
        }
    }
}

impl core::error::Error for Failure {}

impl From<Common> for ClientEvent {
    fn from(common: Common) -> Self {
        match common {
            Common::Violation(violation) => Self::Violation(violation),
            Common::TooManyViolations => Self::TooManyViolations,
            Common::PeerError(error) => Self::PeerError(error),
        }
    }
}
