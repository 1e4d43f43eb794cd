//! What a server reports.

use alloc::boxed::Box;

use serde_json::value::RawValue;

use crate::{
    mcp::{CallEnd, Outcome, PeerFault, Progress, session::Common},
    rpc::{CallId, ErrorObject, RequestId},
};

/// What happened in the session of a [`Server`](super::Server); `C` is a decoded call.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent<C> {
    /// The client said `notifications/initialized`: it can be notified and asked from now on.
    Ready,
    /// The client asked for the list of tools and was answered.
    ToolsListed,
    /// The client calls a tool. It waits for `respond`, `respond_with` or `fail`, or for a [`CallEnded`](ServerEvent::CallEnded).
    Call {
        /// What to answer it by.
        call: CallId,
        /// What it asks for.
        tool: C,
    },
    /// The client asks for something that the configuration forwards. It waits for `respond_with` or `fail`, or for a
    /// [`CallEnded`](ServerEvent::CallEnded).
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
    /// A call or a forwarded request ended without an answer of the application. One that was answered is not reported.
    CallEnded {
        /// Which one.
        call: CallId,
        /// And how.
        reason: CallEnd,
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
    /// The client says how far a request has come that was sent with
    /// [`Timeout::Progress`](crate::mcp::Timeout::Progress).
    Progress {
        /// Which one.
        request: RequestId,
        /// And how far.
        progress: Progress<'static>,
    },
    /// The client reports an error that belongs to no request: it could not read something.
    PeerError(ErrorObject),
    /// The client broke a rule; the session goes on.
    PeerFault(PeerFault),
    /// More texts that are no message came than are tolerated. Reported once. The owner of the connection
    /// should close it (in WebSocket, with 1008).
    TooManyFaults,
    /// The client did not answer a ping of the [`Keepalive`](crate::mcp::Keepalive) in time. Reported once. The owner
    /// of the connection should close it.
    PingTimeout,
}

impl<C> From<Common> for ServerEvent<C> {
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
