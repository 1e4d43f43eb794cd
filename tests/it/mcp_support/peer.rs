//! Both roles behind one trait, for one model.

use ide_mcp::{
    Time,
    mcp::{CallEnd, Client, Event, Outcome, PeerFault, Progress, ProtocolVersion, Server, Timeout},
    rpc::{CallId, ErrorObject, NotOpen, NotSent, RequestId, RespondError},
};
use serde_json::Value;

use super::{Messages, TestTools};

/// An event of either role.
#[derive(Debug)]
#[allow(dead_code, reason = "all of it is shown")]
pub enum Happened {
    Ready,
    Failed,
    ToolsListed,
    Call(CallId),
    CallEnded(CallId, CallEnd),
    Outcome(RequestId, Outcome),
    Progress(RequestId, f64),
    Notification(Box<str>),
    PeerError(ErrorObject),
    PeerFault(PeerFault),
    TooManyFaults,
    PingTimeout,
}

/// The operations that both roles have.
pub trait Peer {
    fn receive(&mut self, now: Time, text: &str, out: &mut Messages);
    fn tick(&mut self, now: Time);
    fn poll(&mut self, out: &mut Messages) -> Option<Happened>;
    fn deadline(&self) -> Option<Time>;
    fn respond(&mut self, call: CallId, result: &Value, out: &mut Messages) -> Result<(), RespondError>;
    fn fail(&mut self, call: CallId, out: &mut Messages) -> Result<(), NotOpen>;
    fn progress(&mut self, call: CallId, said: &Progress<'_>, out: &mut Messages) -> Result<bool, NotOpen>;
    fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotOpen>;
    fn notify(&mut self, method: &str, out: &mut Messages) -> Result<(), NotSent>;
    fn request(&mut self, method: &str, timeout: Timeout, out: &mut Messages) -> Result<RequestId, NotSent>;
    fn cancel(&mut self, request: RequestId, out: &mut Messages) -> bool;
    fn drain(&mut self);
    fn shutdown(&mut self, out: &mut Messages);
    fn close(&mut self);
    fn is_closed(&self) -> bool;
    fn is_open(&self, call: CallId) -> bool;
    fn version(&self) -> Option<ProtocolVersion>;
    fn open_calls(&self) -> usize;
    fn open_requests(&self) -> usize;
}

macro_rules! peer {
    ($role:ty) => {
        impl Peer for $role {
            fn receive(&mut self, now: Time, text: &str, out: &mut Messages) {
                self.receive(now, text, out);
            }
            fn tick(&mut self, now: Time) {
                self.tick(now);
            }
            fn poll(&mut self, out: &mut Messages) -> Option<Happened> {
                self.poll_event(out).map(Happened::from)
            }
            fn deadline(&self) -> Option<Time> {
                self.deadline()
            }
            fn respond(
                &mut self,
                call: CallId,
                result: &Value,
                out: &mut Messages,
            ) -> Result<(), RespondError> {
                self.respond_with(call, result, out)
            }
            fn fail(&mut self, call: CallId, out: &mut Messages) -> Result<(), NotOpen> {
                self.fail(call, -1, "no", out)
            }
            fn progress(
                &mut self,
                call: CallId,
                said: &Progress<'_>,
                out: &mut Messages,
            ) -> Result<bool, NotOpen> {
                self.progress(call, said, out)
            }
            fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotOpen> {
                self.set_call_timeout(call, timeout)
            }
            fn notify(&mut self, method: &str, out: &mut Messages) -> Result<(), NotSent> {
                self.notify(method, None::<&()>, out)
            }
            fn request(
                &mut self,
                method: &str,
                timeout: Timeout,
                out: &mut Messages,
            ) -> Result<RequestId, NotSent> {
                self.request(method, None::<&()>, timeout, out)
            }
            fn cancel(&mut self, request: RequestId, out: &mut Messages) -> bool {
                self.cancel(request, Some("why"), out)
            }
            fn drain(&mut self) {
                self.drain();
            }
            fn shutdown(&mut self, out: &mut Messages) {
                self.shutdown("shutting down", out);
            }
            fn close(&mut self) {
                self.close();
            }
            fn is_closed(&self) -> bool {
                self.is_closed()
            }
            fn is_open(&self, call: CallId) -> bool {
                self.is_open(call)
            }
            fn version(&self) -> Option<ProtocolVersion> {
                self.protocol_version()
            }
            fn open_calls(&self) -> usize {
                self.open_calls()
            }
            fn open_requests(&self) -> usize {
                self.open_requests()
            }
        }
    };
}

peer!(Server<TestTools>);
peer!(Client);

impl<C: std::fmt::Debug> From<Event<C>> for Happened {
    fn from(event: Event<C>) -> Self {
        match event {
            Event::Ready => Self::Ready,
            Event::Failed(_) => Self::Failed,
            Event::ToolsListed => Self::ToolsListed,
            Event::Call { call, .. } | Event::Request { call, .. } => Self::Call(call),
            Event::CallEnded { call, reason } => Self::CallEnded(call, reason),
            Event::Outcome { request, outcome } => Self::Outcome(request, outcome),
            Event::Progress { request, progress } => Self::Progress(request, progress.progress),
            Event::Notification { method, .. } => Self::Notification(method),
            Event::PeerError(error) => Self::PeerError(error),
            Event::PeerFault(fault) => Self::PeerFault(fault),
            Event::TooManyFaults => Self::TooManyFaults,
            Event::PingTimeout => Self::PingTimeout,
            other => panic!("unknown event {other:?}"),
        }
    }
}
