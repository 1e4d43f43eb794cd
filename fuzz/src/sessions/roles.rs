//! Sessions of both roles behind one trait: the operations of an application, and the events.

use ide_mcp::Time;
use ide_mcp::mcp::{
    CallEnd, Client, Event, Failure, Outcome, PeerFault, Progress, ProtocolVersion, Server, Timeout,
    ToolResult, Tools,
};
use ide_mcp::rpc::{CallId, ErrorObject, NotOpen, NotSent, RequestId, RespondError};
use ide_mcp::testing::Messages;
use serde::ser::{Error, Serialize, Serializer};
use serde_json::Value;
use std::fmt::Debug;

/// An event, in either role.
#[derive(Debug)]
pub enum Happened {
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

/// Returns an event of either role; `timeout` returns that of a call.
fn happened<C: Debug>(event: Event<C>, timeout: impl Fn(C) -> Timeout) -> Happened {
    match event {
        Event::Ready => Happened::Ready,
        Event::Failed(failure) => Happened::Failed(failure),
        Event::ToolsListed => Happened::ToolsListed,
        Event::Call { call, tool } => Happened::Call(call, timeout(tool)),
        Event::GetPrompt { call, .. } => Happened::GetPrompt(call),
        Event::ReadResource { call, .. } => Happened::ReadResource(call),
        Event::Form { call, .. } => Happened::Form(call),
        Event::Request { call, method, .. } => Happened::Request(call, method),
        Event::CallEnded { call, reason } => Happened::CallEnded(call, reason),
        Event::Outcome { request, outcome } => Happened::Outcome(request, outcome),
        Event::Progress { request, progress } => Happened::Progress(request, progress),
        Event::PeerFault(fault) => Happened::PeerFault(fault),
        Event::PeerError(error) => Happened::PeerError(error),
        Event::TooManyFaults => Happened::TooManyFaults,
        Event::PingTimeout => Happened::PingTimeout,
        Event::Notification { .. } => Happened::Notification,
        other => panic!("{other:?} is new"),
    }
}

/// Declares the operations of an application on a session of either role.
macro_rules! sessions {
    ($(fn $name:ident($($arg:ident: $kind:ty),*) $(-> $result:ty)?;)*) => {
        pub trait Session {
            const IS_SERVER: bool;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)?;)*
            fn poll(&mut self, out: &mut Messages) -> Option<Happened>;
        }

        impl<T: Tools<Call = Timeout>> Session for Server<T> {
            const IS_SERVER: bool = true;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)? { Server::$name(self, $($arg),*) })*
            fn poll(&mut self, out: &mut Messages) -> Option<Happened> {
                self.poll_event(out).map(|event| happened(shown(event), |timeout| timeout))
            }
        }

        impl Session for Client {
            const IS_SERVER: bool = false;
            $(fn $name(&mut self, $($arg: $kind),*) $(-> $result)? { Client::$name(self, $($arg),*) })*
            fn poll(&mut self, out: &mut Messages) -> Option<Happened> {
                self.poll_event(out).map(|event| happened(shown(event), |never| match never {}))
            }
        }
    };
}

sessions! {
    fn receive(now: Time, text: &str, out: &mut Messages);
    fn tick(now: Time);
    fn deadline() -> Option<Time>;
    fn respond_with(call: CallId, result: &Any<'_>, out: &mut Messages) -> Result<(), RespondError>;
    fn fail(call: CallId, code: i64, message: &str, out: &mut Messages) -> Result<(), NotOpen>;
    fn fail_with(call: CallId, error: &ErrorObject, out: &mut Messages) -> Result<(), NotOpen>;
    fn progress(call: CallId, said: &Progress<'_>, out: &mut Messages) -> Result<bool, NotOpen>;
    fn set_call_timeout(call: CallId, timeout: Timeout) -> Result<(), NotOpen>;
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

/// Returns the event after checking that it can be shown.
pub fn shown<E: Debug>(event: E) -> E {
    assert!(!format!("{event:?}").is_empty());
    event
}

/// Checks that an error is shown as one line.
pub fn told(what: &impl ToString) {
    let told = what.to_string();
    assert!(!told.is_empty() && !told.contains('\n'), "{told:?}");
}
