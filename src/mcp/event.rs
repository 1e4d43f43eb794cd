//! The events of a session.

use alloc::boxed::Box;
use core::convert::Infallible;

use serde_json::value::RawValue;

use super::{CallEnd, Failure, Outcome, PeerFault, Progress};
use crate::rpc::{CallId, ErrorObject, RequestId};

/// An event of a session. `C` is a decoded call of a tool, which a [`Server`](super::Server) alone reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<C = Infallible> {
    /// The handshake is over. To a server the client said `notifications/initialized`: it can be notified and asked from
    /// now on. A client has said so, and knows [who the server is](super::Client::server).
    Ready,
    /// The handshake of a client failed. The owner of the connection should close it.
    Failed(Failure),
    /// The client asked for the list of tools and was answered.
    ToolsListed,
    /// The client calls a tool. It waits for `respond`, `respond_with` or `fail`, or for a [`CallEnded`](Event::CallEnded).
    Call {
        /// The name by which the call is answered.
        call: CallId,
        /// The decoded call.
        tool: C,
    },
    /// The peer asks for something that the configuration forwards. It waits for `respond_with` or `fail`, or for a
    /// [`CallEnded`](Event::CallEnded).
    Request {
        /// The name by which the request is answered.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent. A progress token in its `_meta` belongs to this session: an application
        /// that sends the request on leaves it to [`Timeout::Progress`](super::Timeout::Progress) to put another in
        /// its place.
        params: Option<Box<RawValue>>,
    },
    /// A call or a forwarded request ended without an answer of the application. One that was answered is not reported.
    CallEnded {
        /// The call.
        call: CallId,
        /// How it ended.
        reason: CallEnd,
    },
    /// A notification that the session does not handle itself.
    Notification {
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A request of this side ended.
    Outcome {
        /// The request.
        request: RequestId,
        /// How it ended.
        outcome: Outcome,
    },
    /// The peer reports the progress of a request that was sent with [`Timeout::Progress`](super::Timeout::Progress).
    Progress {
        /// The request.
        request: RequestId,
        /// How far it has come.
        progress: Progress<'static>,
    },
    /// The peer reports an error that belongs to no request: it could not read something.
    PeerError(ErrorObject),
    /// The peer broke a rule; the session goes on.
    PeerFault(PeerFault),
    /// More texts that are no message came than are tolerated. Reported once. The owner of the connection
    /// should close it (in WebSocket, with 1008).
    TooManyFaults,
    /// The peer did not answer a ping of the [`Keepalive`](crate::Keepalive) in time. Reported once. The owner
    /// of the connection should close it.
    PingTimeout,
}
