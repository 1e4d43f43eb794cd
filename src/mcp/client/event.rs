//! What a client reports.

use alloc::{boxed::Box, string::String};
use core::fmt;

use serde_json::value::RawValue;

use crate::{
    mcp::{CallEnd, Implementation, Outcome, PeerFault, Progress, ProtocolVersion, session::Common},
    rpc::{CallId, ErrorObject, RequestId},
};

/// What happened in the session of a [`Client`](super::Client).
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The server accepted the handshake and was told `notifications/initialized`.
    Ready(ServerInfo),
    /// The handshake failed. The owner of the connection should close it.
    Failed(Failure),
    /// The server asks for something that the configuration forwards. It waits for `respond_with` or `fail`, or for a
    /// [`CallEnded`](ClientEvent::CallEnded).
    Request {
        /// What to answer it by.
        call: CallId,
        /// What is asked.
        method: Box<str>,
        /// An object; `None` if absent. A progress token in its `_meta` belongs to this session: an application
        /// that sends the request on leaves it to [`Timeout::Progress`](crate::mcp::Timeout::Progress) to put another in
        /// its place.
        params: Option<Box<RawValue>>,
    },
    /// A forwarded request ended without an answer of the application. One that was answered is not reported.
    CallEnded {
        /// Which one.
        call: CallId,
        /// And how.
        reason: CallEnd,
    },
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
    /// The server says how far a request has come that was sent with
    /// [`Timeout::Progress`](crate::mcp::Timeout::Progress).
    Progress {
        /// Which one.
        request: RequestId,
        /// And how far.
        progress: Progress<'static>,
    },
    /// The server reports an error that belongs to no request: it could not read something.
    PeerError(ErrorObject),
    /// The server broke a rule; the session goes on.
    PeerFault(PeerFault),
    /// More texts that are no message came than are tolerated. Reported once. The owner of the connection
    /// should close it (in WebSocket, with 1008).
    TooManyFaults,
    /// The server did not answer a ping of the [`Keepalive`](crate::mcp::Keepalive) in time. Reported once. The owner
    /// of the connection should close it.
    PingTimeout,
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
            Common::Request { call, method, params } => Self::Request { call, method, params },
            Common::CallEnded { call, reason: how } => Self::CallEnded { call, reason: how },
            Common::Notification { method, params } => Self::Notification { method, params },
            Common::Outcome { request, outcome } => Self::Outcome { request, outcome },
            Common::Progress { request, progress } => Self::Progress { request, progress },
            Common::PeerError(error) => Self::PeerError(error),
            Common::PeerFault(fault) => Self::PeerFault(fault),
            Common::TooManyFaults => Self::TooManyFaults,
            Common::PingTimeout => Self::PingTimeout,
        }
    }
}
