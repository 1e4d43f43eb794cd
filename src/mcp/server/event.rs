//! What a server reports.

use alloc::boxed::Box;

use serde_json::value::RawValue;

use crate::{
    mcp::{Outcome, session::Common},
    rpc::{CallId, ErrorObject, RequestId, Violation},
};

/// What happened in the session of a [`Server`](super::Server); `C` is a decoded call.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent<C> {
    /// The client said `notifications/initialized`: it can be notified and asked from now on.
    Ready,
    /// The client asked for the list of tools and was answered.
    ToolsListed,
    /// The client calls a tool. It waits for `respond` or `fail`, or for a [`CallEnded`](ServerEvent::CallEnded).
    Call {
        /// What to answer it by.
        call: CallId,
        /// What it asks for.
        tool: C,
    },
    /// A call ended without an answer of the application. One that was answered is not reported.
    CallEnded {
        /// Which one.
        call: CallId,
        /// And how.
        how: CallEnd,
    },
    /// A notification that the session does not handle itself.
    Notification {
        /// What is said.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A request of this server ended.
    Outcome {
        /// Which one.
        request: RequestId,
        /// And how.
        outcome: Outcome,
    },
    /// The client reports an error that belongs to no request: it could not read something.
    PeerError(ErrorObject),
    /// The client broke a rule; the session goes on.
    Violation(Violation),
    /// More texts that are no message came than are tolerated. Reported once. Whoever owns the connection should
    /// close it (in WebSocket, with 1008).
    TooManyViolations,
}

/// How a call ended without an answer of the application.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEnd {
    /// The client does not want the answer any more. Nothing was and will be sent.
    Cancelled {
        /// What the client said about it, cut to [`Limits::reason`](crate::rpc::Limits::reason).
        reason: Option<Box<str>>,
    },
    /// Its deadline passed, and it was answered for the application.
    Expired,
    /// This side shut down, and it was answered as failed.
    ShutDown,
    /// The session ended first; it was not answered.
    Closed,
}

impl<C> From<Common> for ServerEvent<C> {
    fn from(common: Common) -> Self {
        match common {
            Common::Violation(violation) => Self::Violation(violation),
            Common::TooManyViolations => Self::TooManyViolations,
            Common::PeerError(error) => Self::PeerError(error),
        }
    }
}
