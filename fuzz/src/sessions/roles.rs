//! One trait for sessions of both roles: what an application does with them, and the events.

use ide_mcp::Time;
use ide_mcp::mcp::{
    CallEnd, Client, ClientEvent, Failure, Outcome, PeerFault, Progress, ProtocolVersion, Server,
    ServerEvent, Timeout, ToolResult, Tools,
};
use ide_mcp::rpc::{CallId, ErrorObject, NotAnswered, NotSent, RequestId};
use ide_mcp::testing::Messages;
use serde::ser::{Error, Serialize, Serializer};
use serde_json::Value;
use std::fmt::Debug;

/// An event, in either role.
#[derive(Debug)]
pub enum Event {
    Ready,
    Failed(Failure),
    ToolsListed,
    /// A call of a tool, and its timeout.
    Call(CallId, Timeout),
    GetPrompt(CallId),
    ReadResource(CallId),
    Form(CallId),
    Request(CallId, Box<str>),
    CallEnded(CallId, CallEnd),
    Outcome(RequestId, Outcome),
    Progress(RequestId, Progress<'static>),
    PeerFault(PeerFault),
    PeerError(ErrorObject),
    TooManyFaults,
    PingTimeout,
    Notification,
}

/// Maps an event: the arms of one role, and those that both share.
macro_rules! event {
    ($event:expr, $role:ident { $($own:pat => $mapped:expr,)* }) => {
        match shown($event) {
            $($own => $mapped,)*
            $role::Ready => Self::Ready,
            $role::Request { call, method, .. } => Self::Request(call, method),
            $role::CallEnded { call, reason } => Self::CallEnded(call, reason),
            $role::Outcome { request, outcome } => Self::Outcome(request, outcome),
            $role::Progress { request, progress } => Self::Progress(request, progress),
            $role::PeerFault(fault) => Self::PeerFault(fault),
            $role::PeerError(error) => Self::PeerError(error),
            $role::TooManyFaults => Self::TooManyFaults,
            $role::PingTimeout => Self::PingTimeout,
            $role::Notification { .. } => Self::Notification,
            other => panic!("{other:?} is new"),
        }
    };
}

impl From<ServerEvent<Timeout>> for Event {
    fn from(event: ServerEvent<Timeout>) -> Self {
        event!(event, ServerEvent {
            ServerEvent::ToolsListed => Self::ToolsListed,
            ServerEvent::Call { call, tool } => Self::Call(call, tool),
            ServerEvent::GetPrompt { call, .. } => Self::GetPrompt(call),
            ServerEvent::ReadResource { call, .. } => Self::ReadResource(call),
        })
    }
}

impl From<ClientEvent> for Event {
    fn from(event: ClientEvent) -> Self {
        event!(event, ClientEvent {
            ClientEvent::Failed(failure) => Self::Failed(failure),
            ClientEvent::Form { call, .. } => Self::Form(call),
        })
    }
}

/// Declares the operations of an application on a session of either role.
macro_rules! sessions {
    ($(fn $name:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        pub trait Session {
            const IS_SERVER: bool;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)?;)*
            fn poll(&mut self, now: Time, out: &mut Messages) -> Option<Event>;
        }

        impl<T: Tools<Call = Timeout>> Session for Server<T> {
            const IS_SERVER: bool = true;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)? { Server::$name(self, $($arg),*) })*
            fn poll(&mut self, now: Time, out: &mut Messages) -> Option<Event> {
                Server::poll(self, now, out).map(Event::from)
            }
        }

        impl Session for Client {
            const IS_SERVER: bool = false;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)? { Client::$name(self, $($arg),*) })*
            fn poll(&mut self, now: Time, out: &mut Messages) -> Option<Event> {
                Client::poll(self, now, out).map(Event::from)
            }
        }
    };
}

sessions! {
    fn receive(now: Time, text: &str, out: &mut Messages);
    fn deadline() -> Option<Time>;
    fn respond_with(call: CallId, result: &Any<'_>, out: &mut Messages) -> Result<(), NotAnswered>;
    fn fail(call: CallId, error: ErrorObject, out: &mut Messages) -> Result<(), NotAnswered>;
    fn progress(call: CallId, report: &Progress<'_>, out: &mut Messages) -> Result<bool, NotAnswered>;
    fn set_call_timeout(call: CallId, timeout: Timeout) -> Result<(), NotAnswered>;
    fn notify(method: &str, params: Option<&Any<'_>>, out: &mut Messages) -> Result<(), NotSent>;
    fn request(method: &str, params: Option<&Any<'_>>, timeout: Timeout, out: &mut Messages) -> Result<RequestId, NotSent>;
    fn cancel(request: RequestId, reason: Option<&str>, out: &mut Messages) -> bool;
    fn drain();
    fn shutdown(text: &str, out: &mut Messages);
    fn close();
    fn is_ready() -> bool;
    fn is_closed() -> bool;
    fn protocol_version() -> Option<ProtocolVersion>;
    fn open_calls() -> usize;
    fn open_bytes() -> usize;
    fn open_requests() -> usize;
    fn is_open(call: CallId) -> bool;
}

/// A value to be written as JSON, or one that cannot be written.
#[derive(Debug)]
pub enum Any<'a> {
    Result(ToolResult<'a>),
    Value(Value),
    Unwritable,
}

impl Any<'_> {
    /// Returns true if the value is written as an object.
    pub fn is_object(&self) -> bool {
        match self {
            Self::Result(_) => true,
            Self::Value(value) => value.is_object(),
            Self::Unwritable => false,
        }
    }
}

impl Serialize for Any<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Result(result) => result.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Unwritable => Err(S::Error::custom("never")),
        }
    }
}

/// Returns the event, after checking that its `Debug` does not panic.
pub fn shown<E: Debug>(event: E) -> E {
    assert!(!format!("{event:?}").is_empty());
    event
}

/// Checks that an error is shown as one line.
pub fn check_error_text(what: &impl ToString) {
    let check_error_text = what.to_string();
    assert!(!check_error_text.is_empty() && !check_error_text.contains('\n'), "{check_error_text:?}");
}
