//! The events of a session.

use alloc::boxed::Box;
use core::convert::Infallible;

use serde_json::value::RawValue;

use super::{CallEnd, Failure, Form, GetPrompt, Outcome, PeerFault, Progress, ReadResource};
use crate::rpc::{CallId, ErrorObject, RequestId};

/// An event of a session. `C` is the type of a decoded tool call, which only a
/// [`Server`](super::Server) reports.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<C = Infallible> {
    /// The end of a successful handshake. A server has received `notifications/initialized`, and
    /// can send notifications and requests from now on. A client has sent it, and
    /// [`Client::server`](super::Client::server) returns the answer of the server.
    Ready,
    /// The failure of the handshake of a client. The owner of the connection should close the
    /// connection.
    Failed(Failure),
    /// A request of the client for the list of tools, which the session has answered.
    ToolsListed,
    /// A tool call of the client. It waits for `respond`, `respond_with` or `fail`, or for a
    /// [`CallEnded`](Event::CallEnded).
    Call {
        /// The name by which the application answers the call.
        call: CallId,
        /// The decoded call.
        tool: C,
    },
    /// A request of the client for the messages of a prompt that the [`Context`](super::Context)
    /// lists. It waits for `respond_with` with a [`PromptResult`](super::PromptResult), for `fail`, or
    /// for a [`CallEnded`](Event::CallEnded).
    GetPrompt {
        /// The name by which the application answers the request.
        call: CallId,
        /// The prompt and its arguments. All required arguments are there.
        prompt: GetPrompt,
    },
    /// A request of the client for a resource that the [`Context`](super::Context) lists or can cover
    /// by a template. It waits for `respond_with` with a [`ResourceResult`](super::ResourceResult),
    /// for `fail`, or for a [`CallEnded`](Event::CallEnded). A resource that a tool reads comes as a
    /// [`Call`](Event::Call) of the tool instead.
    ReadResource {
        /// The name by which the application answers the request.
        call: CallId,
        /// The URI of the resource.
        resource: ReadResource,
    },
    /// A form of the server for the person at the client. It waits for `respond_with` with a
    /// [`FormAnswer`](super::FormAnswer), for `fail`, or for a [`CallEnded`](Event::CallEnded), after
    /// which the form should close.
    Form {
        /// The name by which the application answers the form.
        call: CallId,
        /// The form.
        form: Form,
    },
    /// A request of the peer that the configuration forwards. It waits for `respond_with` or
    /// `fail`, or for a [`CallEnded`](Event::CallEnded).
    Request {
        /// The name by which the application answers the request.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent. A progress token in their `_meta` is valid
        /// in this session only. An application that sends the request to another peer uses
        /// [`Timeout::Progress`](super::Timeout::Progress), which replaces the token.
        params: Option<Box<RawValue>>,
    },
    /// The end of a call or a forwarded request without an answer of the application. The end of an
    /// answered call is not reported.
    CallEnded {
        /// The call.
        call: CallId,
        /// The way in which the call ended.
        reason: CallEnd,
    },
    /// A notification that the session does not handle itself.
    Notification {
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// The end of a request of this side.
    Outcome {
        /// The request.
        request: RequestId,
        /// The outcome of the request.
        outcome: Outcome,
    },
    /// A report of the peer on the progress of a request that was sent with
    /// [`Timeout::Progress`](super::Timeout::Progress).
    Progress {
        /// The request.
        request: RequestId,
        /// The progress that the peer reports.
        progress: Progress<'static>,
    },
    /// An error of the peer that belongs to no request: the peer could not read a message.
    PeerError(ErrorObject),
    /// A rule that the peer broke. The session goes on.
    PeerFault(PeerFault),
    /// More texts that are no message than the session tolerates. Reported once. The owner of the
    /// connection should close the connection (in WebSocket, with 1008).
    TooManyFaults,
    /// A ping of the [`Keepalive`](crate::Keepalive) without an answer in time. Reported once. The
    /// owner of the connection should close the connection.
    PingTimeout,
}
