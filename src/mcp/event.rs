//! What a session reports: one type of event for each role.

use alloc::boxed::Box;

use super::{CallEnd, Failure, Form, GetPrompt, Outcome, PeerFault, Progress, ReadResource};
use crate::rpc::{CallId, ErrorObject, Json, RequestId};

/// What happened in a session: [`Server::poll`](super::Server::poll) returns it. `C` is the type of a decoded tool
/// call, [`Tools::Call`](super::Tools::Call).
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent<C> {
    /// The handshake has succeeded: the client has sent `notifications/initialized`. From now on you can send
    /// notifications and requests.
    Ready,
    /// The client has asked for the list of tools, and the session has answered.
    ToolsListed,
    /// The client calls a tool. Answer with `respond`, `respond_with` or `fail`, unless a
    /// [`CallEnded`](Self::CallEnded) comes first.
    Call {
        /// Answer the call with this id.
        call: CallId,
        /// The decoded call.
        tool: C,
    },
    /// The client wants the messages of a prompt that the [`Context`](super::Context) lists. Answer with
    /// `respond_with` and a [`PromptResult`](super::PromptResult), or with `fail`, unless a
    /// [`CallEnded`](Self::CallEnded) comes first.
    GetPrompt {
        /// Answer the request with this id.
        call: CallId,
        /// The prompt and its arguments. All required arguments are there.
        prompt: GetPrompt,
    },
    /// The client reads a resource that the [`Context`](super::Context) lists or can cover by a template.
    /// Answer with `respond_with` and a [`ResourceResult`](super::ResourceResult), or with `fail`, unless a
    /// [`CallEnded`](Self::CallEnded) comes first. A resource that a tool reads comes as a
    /// [`Call`](Self::Call) of the tool instead.
    ReadResource {
        /// Answer the request with this id.
        call: CallId,
        /// The URI of the resource.
        resource: ReadResource,
    },
    /// The client makes a request that you [forward](super::ServerConfig::forward) to yourself. Answer with
    /// `respond_with` or `fail`, unless a [`CallEnded`](Self::CallEnded) comes first.
    Request {
        /// Answer the request with this id.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null. A progress token in their `_meta` is valid only in this
        /// session: to pass the request on to another peer, use [`Timeout::Progress`](super::Timeout::Progress), which
        /// replaces it.
        params: Option<Json>,
    },
    /// A call or request of the client has ended without your answer. You do not get this event for one that you have
    /// answered.
    CallEnded {
        /// The call.
        call: CallId,
        /// How it ended.
        reason: CallEnd,
    },
    /// The client sent a notification that the session does not handle itself.
    Notification {
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// One of your requests has ended.
    Outcome {
        /// The request.
        request: RequestId,
        /// The outcome of the request.
        outcome: Outcome,
    },
    /// The client reports progress on a request that you sent with
    /// [`Timeout::Progress`](super::Timeout::Progress).
    Progress {
        /// The request.
        request: RequestId,
        /// The progress that the client reports.
        progress: Progress<'static>,
    },
    /// The client could not read one of our messages. Its error belongs to no request.
    PeerError(ErrorObject),
    /// The client broke a rule. The session goes on.
    PeerFault(PeerFault),
    /// More texts were invalid than the session tolerates. Reported once. Close the connection (a WebSocket with 1008).
    TooManyFaults,
    /// A ping of the [`Keepalive`](crate::Keepalive) was not answered in time. Reported once. Close the connection.
    PingTimeout,
}

/// What happened in a session: [`Client::poll`](super::Client::poll) returns it.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The handshake has succeeded: `notifications/initialized` was sent, and [`Client::server`](super::Client::server)
    /// returns the answer of the server. From now on you can send notifications and requests.
    Ready,
    /// The handshake has failed. Close the connection.
    Failed(Failure),
    /// The server has a form for the person at the client. Answer with `respond_with` and a
    /// [`FormAnswer`](super::FormAnswer), or with `fail`, unless a [`CallEnded`](Self::CallEnded) comes
    /// first, after which the form should close.
    Form {
        /// Answer the form under this id.
        call: CallId,
        /// The form.
        form: Form,
    },
    /// The server makes a request that you [forward](super::ClientConfig::forward) to yourself. Answer with
    /// `respond_with` or `fail`, unless a [`CallEnded`](Self::CallEnded) comes first.
    Request {
        /// Answer the request with this id.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null. A progress token in their `_meta` is valid only in this
        /// session: to pass the request on to another peer, use [`Timeout::Progress`](super::Timeout::Progress), which
        /// replaces it.
        params: Option<Json>,
    },
    /// A form or request of the server has ended without your answer. You do not get this event for one that you have
    /// answered.
    CallEnded {
        /// The form or request.
        call: CallId,
        /// How it ended.
        reason: CallEnd,
    },
    /// The server sent a notification that the session does not handle itself.
    Notification {
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// One of your requests has ended.
    Outcome {
        /// The request.
        request: RequestId,
        /// The outcome of the request.
        outcome: Outcome,
    },
    /// The server reports progress on a request that you sent with
    /// [`Timeout::Progress`](super::Timeout::Progress).
    Progress {
        /// The request.
        request: RequestId,
        /// The progress that the server reports.
        progress: Progress<'static>,
    },
    /// The server could not read one of our messages. Its error belongs to no request.
    PeerError(ErrorObject),
    /// The server broke a rule. The session goes on.
    PeerFault(PeerFault),
    /// More texts were invalid than the session tolerates. Reported once. Close the connection (a WebSocket with 1008).
    TooManyFaults,
    /// A ping of the [`Keepalive`](crate::Keepalive) was not answered in time. Reported once. Close the
    /// connection.
    PingTimeout,
}

/// What both roles report, for the code that both roles run.
pub(crate) enum SessionEvent {
    Request { call: CallId, method: Box<str>, params: Option<Json> },
    CallEnded { call: CallId, reason: CallEnd },
    Notification { method: Box<str>, params: Option<Json> },
    Outcome { request: RequestId, outcome: Outcome },
    Progress { request: RequestId, progress: Progress<'static> },
    PeerError(ErrorObject),
    PeerFault(PeerFault),
    TooManyFaults,
    PingTimeout,
}

/// Turns what both roles report into the events of one role.
macro_rules! from_session_event {
    ($($role:ident $(<$call:ident>)?),*) => { $(
        impl$(<$call>)? From<SessionEvent> for $role$(<$call>)? {
            #[inline]
            fn from(event: SessionEvent) -> Self {
                match event {
                    SessionEvent::Request { call, method, params } => Self::Request { call, method, params },
                    SessionEvent::CallEnded { call, reason } => Self::CallEnded { call, reason },
                    SessionEvent::Notification { method, params } => Self::Notification { method, params },
                    SessionEvent::Outcome { request, outcome } => Self::Outcome { request, outcome },
                    SessionEvent::Progress { request, progress } => Self::Progress { request, progress },
                    SessionEvent::PeerError(error) => Self::PeerError(error),
                    SessionEvent::PeerFault(fault) => Self::PeerFault(fault),
                    SessionEvent::TooManyFaults => Self::TooManyFaults,
                    SessionEvent::PingTimeout => Self::PingTimeout,
                }
            }
        }
    )* };
}

from_session_event!(ServerEvent<C>, ClientEvent);
