//! What both roles do alike: read messages, ask and match the answers, notify, count faults, keep events.

use alloc::{
    borrow::{Cow, ToOwned},
    boxed::Box,
    collections::VecDeque,
    vec::Vec,
};
use core::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Timeout, params::CancelledOut};
use crate::{
    Outbox, Time,
    rpc::{
        Answer, ErrorObject, Id, Limits, Message, RequestId, Requests, SendError, SessionId, Violation,
        classify, requests::Match, write,
    },
    text::truncate,
};

/// What is a request by its name. Without an id it is neither executed nor passed on.
const REQUESTS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
];

/// How a request of ours ended. There is exactly one for each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The peer served it.
    Result(Box<RawValue>),
    /// The peer refused it, or failed.
    Error(ErrorObject),
    /// No answer came in time. The peer was told that none is expected any more.
    TimedOut,
    /// We cancelled it.
    Cancelled,
    /// The peer answered something that is neither a result nor an error.
    Malformed,
    /// The session ended first.
    Closed,
}

/// What both roles report in their own enum.
#[derive(Debug)]
pub(super) enum Common {
    Violation(Violation),
    TooManyViolations,
    PeerError(ErrorObject),
}

/// What a message means where the role decides what to do about it.
pub(super) enum Inbound<'t> {
    Request { id: Id, method: Cow<'t, str>, params: Option<&'t RawValue> },
    Notification { method: Cow<'t, str>, params: Option<&'t RawValue> },
    Outcome { request: RequestId, purpose: Purpose, outcome: Outcome },
}

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The application's: its end is reported as an outcome.
    Application,
    /// The handshake of a client. It is never cancelled.
    Initialize,
}

/// The common part of a session; `E` is what its role reports.
#[derive(Debug)]
pub(super) struct Session<E> {
    pub(super) limits: Limits,
    now: Time,
    timeout: Duration,
    requests: Requests<Purpose>,
    violations: usize,
    events: VecDeque<E>,
}

impl<E: From<Common>> Session<E> {
    pub(super) const fn new(id: SessionId, limits: Limits, timeout: Duration) -> Self {
        let requests = Requests::new(id, limits.requests);
        Self { limits, now: Time::ZERO, timeout, requests, violations: 0, events: VecDeque::new() }
    }

    /// Notes the time. One that lies back counts as the latest.
    pub(super) fn see(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    pub(super) const fn now(&self) -> Time {
        self.now
    }

    pub(super) fn push(&mut self, event: E) {
        self.events.push_back(event);
    }

    #[cfg(feature = "ide")]
    pub(super) fn has_event(&self) -> bool {
        !self.events.is_empty()
    }

    pub(super) fn pop(&mut self) -> Option<E> {
        self.events.pop_front()
    }

    /// The latest time seen while an event waits, else when the next request of ours is due.
    pub(super) fn deadline(&self) -> Option<Time> {
        if self.events.is_empty() { self.requests.deadline() } else { Some(self.now) }
    }

    /// Reads a message and deals with all that is the same for both roles.
    pub(super) fn receive<'t>(&mut self, text: &'t str, out: &mut impl Outbox) -> Option<Inbound<'t>> {
        match classify(text, &self.limits) {
            Message::Request { id, method, params } => Some(Inbound::Request { id, method, params }),
            Message::Notification { method, .. } if REQUESTS.contains(&&*method) => {
                self.report(Violation::RequestWithoutId);
                None
            }
            Message::Notification { method, params } => Some(Inbound::Notification { method, params }),
            Message::Response { id, answer } => self.resolve(&id, answer),
            Message::PeerError(error) => {
                self.push(Common::PeerError(error).into());
                None
            }
            Message::Batch(_) => {
                self.tolerate(Violation::Batch);
                None
            }
            Message::Invalid { answer: Some((id, code)), violation } => {
                out.message(|buf| write::error(buf, &id, code, violation.text(), None));
                self.report(violation);
                None
            }
            Message::Invalid { answer: None, violation } => {
                self.tolerate(violation);
                None
            }
        }
    }

    /// Reports a fault of the peer.
    pub(super) fn report(&mut self, violation: Violation) {
        self.push(Common::Violation(violation).into());
    }

    /// Reports a text that can be neither used nor answered, and counts it.
    fn tolerate(&mut self, violation: Violation) {
        self.report(violation);
        self.violations = self.violations.saturating_add(1);
        if self.violations == self.limits.violations.saturating_add(1) {
            self.push(Common::TooManyViolations.into());
        }
    }

    fn resolve<'t>(&mut self, id: &Id, answer: Answer<'_>) -> Option<Inbound<'t>> {
        match self.requests.resolve(id) {
            Match::Waiting(request, purpose) => {
                let outcome = match answer {
                    Answer::Result(result) => Outcome::Result(result.to_owned()),
                    Answer::Error(error) => Outcome::Error(error),
                    Answer::Malformed(violation) => {
                        self.report(violation);
                        Outcome::Malformed
                    }
                };
                return Some(Inbound::Outcome { request, purpose, outcome });
            }
            Match::Late => self.report(Violation::LateResponse),
            Match::Unknown => self.report(Violation::UnknownResponse),
        }
        None
    }

    /// Sends a request. Whether the state allows it is for the role to know.
    pub(super) fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
        purpose: Purpose,
        out: &mut impl Outbox,
    ) -> Result<RequestId, SendError> {
        if out.is_full() {
            return Err(SendError::Full);
        }
        let id = self.requests.next_id().ok_or(SendError::TooManyInFlight)?;
        send(out, |buf| write::request(buf, id, method, params))?;
        Ok(self.requests.open(timeout.deadline(self.now, self.timeout), purpose))
    }

    /// Sends a notification. Whether the state allows it is for the role to know.
    pub(super) fn notify<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: Option<&P>,
        out: &mut impl Outbox,
    ) -> Result<(), SendError> {
        if out.is_full() {
            return Err(SendError::Full);
        }
        send(out, |buf| write::notification(buf, method, params))
    }

    /// Sends a notification that is a step of the protocol and nothing that could be left out, however much waits.
    pub(super) fn announce(&self, method: &str, out: &mut impl Outbox) {
        out.message(|buf| {
            let written = write::notification(buf, method, None::<&()>);
            debug_assert!(written.is_ok(), "nothing but a name is written");
        });
    }

    /// Gives up a request of the application and tells the peer. False if it does not wait.
    pub(super) fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        // The handle of a handshake is never handed out, so what is cancelled here may be.
        let waited = self.requests.cancel(request).is_some();
        if waited {
            self.send_cancelled(request, reason, out);
        }
        waited
    }

    /// Ends one request that is due, and tells the peer.
    pub(super) fn expire(&mut self, out: &mut impl Outbox) -> Option<(RequestId, Purpose)> {
        let (request, purpose) = self.requests.expire(self.now)?;
        match purpose {
            Purpose::Application => self.send_cancelled(request, Some("timed out"), out),
            Purpose::Initialize => {}
        }
        Some((request, purpose))
    }

    /// Ends one request because the session ends. To be repeated until `None`.
    pub(super) fn close_one(&mut self) -> Option<(RequestId, Purpose)> {
        self.requests.close_one()
    }

    fn send_cancelled(&self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) {
        let reason = reason.map(|reason| truncate(reason, self.limits.reason));
        let params = CancelledOut { request_id: request.serial(), reason };
        let sent = send(out, |buf| write::notification(buf, "notifications/cancelled", Some(&params)));
        debug_assert!(sent.is_ok(), "a number and a string are always JSON");
    }
}

/// Puts one message into the outbox; none if it cannot be written.
fn send(
    out: &mut impl Outbox,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), write::Unserializable>,
) -> Result<(), SendError> {
    let mut written = Ok(());
    out.message(|buf| written = write(buf));
    written.map_err(|write::Unserializable| SendError::Unserializable)
}
