//! What happens to a received message in a session, for both roles: it is classified, and then answered at once or
//! passed to the part of the session that handles it.

use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::{
    Outcome, PeerFault, ProtocolVersion,
    batch::{self, Gather},
    event::SessionEvent,
    incoming::{answer, not_found, refuse, refuse_duplicate},
    outgoing::Purpose,
    params::Empty,
    session::{Session, State},
};
use crate::{
    Outbox, To,
    rpc::{Answer, Id, Message, NotSent, RequestId, classify, code},
};

/// All methods of requests, in any version of MCP. A message that has one of these methods but no id is neither
/// executed nor passed on.
const REQUESTS: &[&str] = &[
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
    "subscriptions/listen",
];

/// A request of the peer.
pub(super) struct Request<'t> {
    pub(super) id: Id,
    pub(super) method: &'t str,
    pub(super) params: Option<&'t RawValue>,
}

/// What differs between the two roles.
pub(super) trait Role: Sized {
    /// What the role reports to the application.
    type Event: From<SessionEvent>;

    /// Returns what both roles have in common.
    fn session(&mut self) -> &mut Session<Self::Event>;

    /// Takes one text of the peer.
    fn take_text(&mut self, text: &str, out: &mut impl Outbox) {
        receive(self, text, out);
    }

    /// Takes a request that is neither a ping nor `server/discover`, in a session that is not drained, failed or
    /// closed. No open call has its id.
    fn on_request(&mut self, request: Request<'_>, out: &mut impl Outbox);

    /// Takes a notification that is neither a cancellation nor a report of progress.
    fn on_notification(&mut self, method: &str, params: Option<&RawValue>);

    /// Takes the outcome of a request whose result is read by the role, not by the application: the handshake, a page
    /// of a list, or a form.
    fn on_own_outcome(
        &mut self,
        request: RequestId,
        purpose: Purpose,
        outcome: Outcome,
        out: &mut impl Outbox,
    );
}

/// Classifies a text and takes its messages.
pub(super) fn receive<R: Role>(role: &mut R, text: &str, out: &mut impl Outbox) {
    let out = &mut Gather::passing(out);
    let session = role.session();
    session.incoming.message = text.len();
    match (classify(text, &session.limits), session.version) {
        (Message::Batch(array), Some(ProtocolVersion::V2025_03_26)) => receive_batch(role, array, out),
        (message, _) => take(role, message, out),
    }
}

fn receive_batch<R: Role>(role: &mut R, array: &RawValue, out: &mut Gather<'_, impl Outbox>) {
    let Some(elements) = batch::elements(array) else {
        // Send nothing: the answer that JSON-RPC demands here has no id, and peers end the session when they get it.
        return role.session().tolerate(PeerFault::BatchLength);
    };
    let mut gather = Gather::gathering(out.direct());
    for element in elements {
        let session = role.session();
        session.incoming.message = element.get().len();
        let message = classify(element.get(), &session.limits);
        if matches!(message, Message::Batch(_)) {
            role.session().tolerate(PeerFault::NestedBatch);
        } else if matches!(message, Message::Response { .. }) {
            // A response may make this side send a request, which does not belong in an array of answers.
            take(role, message, &mut Gather::passing(gather.direct()));
        } else {
            take(role, message, &mut gather);
        }
    }
    gather.send();
}

fn take<R: Role>(role: &mut R, message: Message<'_>, out: &mut impl Outbox) {
    let session = role.session();
    match message {
        Message::Request { id, method, params } => {
            take_request(role, Request { id, method: &method, params }, out);
        }
        Message::Notification { method, params } => take_notification(role, &method, params),
        Message::Response { id, answer } => take_response(role, &id, answer, out),
        Message::PeerError(error) => session.push(SessionEvent::PeerError(error)),
        Message::Batch(_) => session.tolerate(PeerFault::Batch),
        Message::Invalid { answer: Some((id, code)), error } => {
            refuse(&id, code, error.text(), out);
            session.report(PeerFault::Message(error));
        }
        Message::Invalid { answer: None, error } => session.tolerate(PeerFault::Message(error)),
    }
}

fn take_request<R: Role>(role: &mut R, request: Request<'_>, out: &mut impl Outbox) {
    let session = role.session();
    let id = &request.id;
    if session.incoming.find(id).is_some() {
        return refuse_duplicate(id, out);
    }
    match (session.state, request.method) {
        (_, "ping") => answer(id, &Empty {}, out),
        // Answered at once and in every state: a client that probes for a newer protocol falls back to `initialize`
        // after this error, and hangs without an answer.
        (_, "server/discover") => not_found(id, request.method, out),
        (State::Draining | State::Failed | State::Closed, _) => {
            refuse(id, code::INVALID_REQUEST, "shutting down", out);
        }
        (State::Idle | State::Awaiting | State::Opening | State::Ready, _) => role.on_request(request, out),
    }
}

fn take_notification<R: Role>(role: &mut R, method: &str, params: Option<&RawValue>) {
    let session = role.session();
    match (session.state, method) {
        (_, method) if REQUESTS.contains(&method) => session.report(PeerFault::RequestWithoutId),
        // No call can be open before `initialize`, so these mean nothing.
        (State::Awaiting, "notifications/cancelled" | "notifications/progress") => {}
        (_, "notifications/cancelled") => session.on_cancelled(params),
        (_, "notifications/progress") => session.on_progress(params),
        _ => role.on_notification(method, params),
    }
}

fn take_response<R: Role>(role: &mut R, id: &Id, answer: Answer<'_>, out: &mut impl Outbox) {
    let session = role.session();
    let (request, purpose) = match session.outgoing.resolve(id) {
        Ok(found) => found,
        Err(fault) => return session.report(fault),
    };
    let outcome = match answer {
        Answer::Result(result) => Outcome::Result(result.into()),
        Answer::Error(error) => Outcome::Error(error),
        Answer::Malformed(fault) => {
            session.report(PeerFault::Message(fault));
            Outcome::Malformed
        }
    };
    ended(role, request, purpose, outcome, out);
}

/// Passes on the end of a request, with an answer or without one.
fn ended<R: Role>(
    role: &mut R,
    request: RequestId,
    purpose: Purpose,
    outcome: Outcome,
    out: &mut impl Outbox,
) {
    match purpose {
        Purpose::Application => role.session().push(SessionEvent::Outcome { request, outcome }),
        // Nothing to do: every message shows that the peer is alive.
        Purpose::Ping => {}
        Purpose::Initialize | Purpose::Page(_) | Purpose::Form(_) => {
            role.on_own_outcome(request, purpose, outcome, out)
        }
    }
}

/// Processes one call, ping or request that is due, and queues its event. Returns true if there was one.
pub(super) fn keep_time<R: Role>(role: &mut R, out: &mut impl Outbox) -> bool {
    let session = role.session();
    if !session.due().is_due(session.now) {
        return false;
    }
    if session.keep_time(out) {
        return true;
    }
    let Some((request, purpose)) = session.outgoing.expire(session.now, out) else { return false };
    ended(role, request, purpose, Outcome::TimedOut, out);
    true
}

/// Ends the session. Every call and every request ends with an event, except keepalive pings.
pub(super) fn close<R: Role>(role: &mut R) {
    role.session().close();
    while let Some((request, purpose)) = role.session().outgoing.close_one() {
        ended(role, request, purpose, Outcome::Closed, &mut Nowhere);
    }
}

/// A closed outbox, for messages written after the end of the session.
struct Nowhere;

impl Outbox for Nowhere {
    fn message(&mut self, _: To<'_>, _: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        Err(NotSent::Closed)
    }

    fn is_full(&self) -> bool {
        true
    }
}
