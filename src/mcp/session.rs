//! What both roles have in common: our requests, the calls of the peer, the state of the handshake, and the events that
//! are still to be reported.

use alloc::collections::VecDeque;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    CallEnd, Outcome, PeerFault, ProtocolVersion, Timeout,
    event::SessionEvent,
    incoming::{Incoming, Terms},
    outgoing::{Outgoing, Purpose, send},
    params::Cancelled,
    progress::ProgressIn,
};
use crate::{
    Keepalive, Outbox, Time, To,
    keepalive::{Pulse, PulseEvent},
    rpc::{CallId, Id, Json, NotSent, RequestId, SessionLimits, read_object, write},
};

/// The state of a session. The diagram is in the documentation of the [module](super).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// A client that has not started.
    Idle,
    /// A server before `initialize`.
    Awaiting,
    /// A client that has sent `initialize`, or a server that has answered it.
    Opening,
    Ready,
    Draining,
    /// A client whose handshake failed.
    Failed,
    Closed,
}

/// The common part of a session; `E` is the event of the role.
#[derive(Debug)]
pub(crate) struct Session<E> {
    pub(super) limits: SessionLimits,
    pub(super) state: State,
    pub(super) version: Option<ProtocolVersion>,
    pub(crate) incoming: Incoming,
    pub(super) outgoing: Outgoing,
    /// The keepalive; `None` if it is off.
    keepalive: Option<Keepalive>,
    /// The timer of the keepalive, armed once the session is ready.
    pulse: Pulse,
    /// The latest time that was passed in.
    pub(super) now: Time,
    faults: usize,
    /// The events that were not polled yet.
    pub(crate) events: VecDeque<E>,
}

impl<E: From<SessionEvent>> Session<E> {
    pub(super) fn new(
        state: State,
        limits: SessionLimits,
        incoming: Incoming,
        outgoing: Outgoing,
        keepalive: Option<Keepalive>,
    ) -> Self {
        Self {
            limits,
            state,
            version: None,
            incoming,
            outgoing,
            keepalive,
            pulse: Pulse::new(keepalive),
            now: Time::ZERO,
            faults: 0,
            events: VecDeque::new(),
        }
    }

    /// Sets the clock. It never goes back: an earlier time changes nothing.
    pub(super) fn set_now(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    pub(super) fn push(&mut self, event: SessionEvent) {
        self.events.push_back(event.into());
    }

    /// Returns when the next call, request or ping is due.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.incoming.calls.due.min(self.outgoing.requests.due).min(self.pulse.due)
    }

    /// Releases memory that is not in use.
    pub(super) fn trim(&mut self) {
        self.incoming.trim();
        self.outgoing.trim();
        self.events.shrink_to_fit();
    }

    /// Records the end of a successful handshake.
    pub(super) fn open(&mut self) {
        self.state = State::Ready;
        self.pulse.on_activity(self.now);
    }

    /// Stops pinging the peer.
    pub(super) const fn stop_keepalive(&mut self) {
        self.keepalive = None;
        self.pulse.stop();
    }

    /// Records that a message arrived. Returns false if the session takes no more messages.
    pub(super) fn on_message(&mut self, now: Time) -> bool {
        self.now = self.now.max(now);
        // The timer is not armed before the session is ready.
        if self.pulse.due != Time::NEVER {
            self.pulse.on_activity(self.now);
        }
        !matches!(self.state, State::Closed)
    }

    /// Reports a fault of the peer.
    pub(super) fn report(&mut self, fault: PeerFault) {
        self.push(SessionEvent::PeerFault(fault));
    }

    /// Reports a message that can be neither used nor answered, and counts it.
    pub(super) fn tolerate(&mut self, fault: PeerFault) {
        self.report(fault);
        self.faults = self.faults.saturating_add(1);
        if self.faults == self.limits.faults.saturating_add(1) {
            self.push(SessionEvent::TooManyFaults);
        }
    }

    /// Opens a forwarded request, which the application answers with raw JSON. `at_once` is true if
    /// the application answers it before anything else is read.
    pub(super) fn forward(
        &mut self,
        id: Id,
        (method, params): (&str, Option<&RawValue>),
        at_once: bool,
        out: &mut impl Outbox,
    ) {
        if let Some(call) = self.open_request(id, params, Terms::forwarded(at_once), out) {
            self.push(SessionEvent::Request { call, method: method.into(), params: params.map(Json::from) });
        }
    }

    /// Opens a request other than a tool call, or answers that too many calls are open.
    pub(super) fn open_request(
        &mut self,
        id: Id,
        params: Option<&RawValue>,
        terms: Terms,
        out: &mut impl Outbox,
    ) -> Option<CallId> {
        let token = super::progress::token_of(params, &self.limits);
        self.incoming.open(self.now, id, terms, token, out)
    }

    /// Passes a notification to the application.
    pub(super) fn hand_on(&mut self, method: &str, params: Option<&RawValue>) {
        self.push(SessionEvent::Notification { method: method.into(), params: params.map(Json::from) });
    }

    /// Ends the open call with exactly the id in the notification. If there is no such call,
    /// nothing changes.
    pub(super) fn on_cancelled(&mut self, params: Option<&RawValue>) {
        let Some(cancelled) = params.and_then(read_object::<Cancelled<'_>>) else { return };
        let id = cancelled.request_id.and_then(|token| Id::read(token, &self.limits));
        if let Some(call) = id.and_then(|id| self.incoming.cancelled(&id)) {
            let reason = cancelled.reason(self.limits.reason);
            self.push(SessionEvent::CallEnded { call, reason: CallEnd::Cancelled { reason } });
        }
    }

    pub(super) fn on_progress(&mut self, params: Option<&RawValue>) {
        let report = params.and_then(read_object::<ProgressIn<'_>>).ok_or(PeerFault::UnknownProgress);
        match report.and_then(|report| self.outgoing.progressed(self.now, &report, &self.limits)) {
            Ok(Some((request, progress))) => self.push(SessionEvent::Progress { request, progress }),
            Ok(None) => {}
            Err(fault) => self.report(fault),
        }
    }

    /// Processes one call or ping that is due. Returns true if there was one.
    pub(super) fn keep_time(&mut self, out: &mut impl Outbox) -> bool {
        if let Some((call, is_answered)) = self.incoming.expire(self.now, out) {
            let reason = if is_answered { CallEnd::Expired } else { CallEnd::Closed };
            self.push(SessionEvent::CallEnded { call, reason });
            return true;
        }
        match self.pulse.check(self.now, self.keepalive) {
            None => return false,
            // A full outbox means that the peer does not read, so an unanswered ping would prove nothing.
            Some(PulseEvent::Ping) if out.is_full() || !self.outgoing.ping(out) => {
                self.pulse.put_off(self.now);
            }
            Some(PulseEvent::Ping) => {}
            Some(PulseEvent::Timeout) => {
                self.outgoing.forget_ping();
                self.stop_keepalive();
                self.push(SessionEvent::PingTimeout);
            }
        }
        true
    }

    /// Sends a request in any state, and even if the outbox is full.
    pub(super) fn send_request<P: Serialize + ?Sized>(
        &mut self,
        what: (&str, Option<&P>),
        timeout: Timeout,
        purpose: Purpose,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        self.outgoing.request(self.now, what, timeout, purpose, out)
    }

    /// Sends a notification that is a step of the protocol and cannot be left out, even if the
    /// outbox is full.
    pub(super) fn announce(&self, method: &str, out: &mut impl Outbox) {
        // If the outbox is closed, the notification is lost, and the session usually ends soon.
        let sent = send(out, To::Unsolicited, |buf| write::notification(buf, method, None::<&()>));
        debug_assert_ne!(sent, Err(NotSent::Unserializable), "nothing but a name is written");
    }

    // The methods for the application, in either role. `Endpoint` documents them.

    pub(super) fn request<P: Serialize + ?Sized>(
        &mut self,
        (method, params): (&str, Option<&P>),
        timeout: Timeout,
        purpose: Purpose,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        self.may_send(method == "ping")?;
        has_room(out)?;
        self.send_request((method, params), timeout, purpose, out)
    }

    /// Sends a notification. The caller has checked that the state permits it.
    pub(super) fn notify<P: Serialize + ?Sized>(
        &self,
        method: &str,
        params: Option<&P>,
        out: &mut impl Outbox,
    ) -> Result<(), NotSent> {
        has_room(out)?;
        send(out, To::Unsolicited, |buf| write::notification(buf, method, params))
    }

    /// Sends a serialized notification. The caller has checked that the state permits it.
    #[cfg(feature = "ide")]
    pub(super) fn notify_serialized(
        &self,
        notification: &crate::rpc::SerializedNotification,
        out: &mut impl Outbox,
    ) -> Result<(), NotSent> {
        has_room(out)?;
        send(out, To::Unsolicited, |buf| {
            buf.extend_from_slice(notification.as_bytes());
            Ok(())
        })
    }

    pub(super) fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let waited = self.outgoing.cancel(request, reason, out);
        if waited {
            self.push(SessionEvent::Outcome { request, outcome: Outcome::Cancelled });
        }
        waited
    }

    pub(super) fn drain(&mut self) {
        if self.state != State::Closed {
            self.state = State::Draining;
        }
    }

    pub(super) fn shutdown(&mut self, text: &str, out: &mut impl Outbox) {
        self.drain();
        while let Some((call, is_answered)) = self.incoming.fail_one(text, out) {
            let reason = if is_answered { CallEnd::ShutDown } else { CallEnd::Closed };
            self.push(SessionEvent::CallEnded { call, reason });
        }
    }

    /// Ends the session and every call. The role ends the requests, because one of them may be its handshake.
    pub(super) fn close(&mut self) {
        self.state = State::Closed;
        self.stop_keepalive();
        while let Some(call) = self.incoming.close_one() {
            self.push(SessionEvent::CallEnded { call, reason: CallEnd::Closed });
        }
    }

    /// Checks that the state permits a message. A ready session always does; one that is being opened does only if
    /// `early` is true.
    pub(super) const fn may_send(&self, early: bool) -> Result<(), NotSent> {
        match self.state {
            State::Ready => Ok(()),
            State::Awaiting | State::Opening if early => Ok(()),
            State::Closed => Err(NotSent::Closed),
            State::Idle | State::Awaiting | State::Opening | State::Draining | State::Failed => {
                Err(NotSent::NotReady)
            }
        }
    }
}

fn has_room(out: &impl Outbox) -> Result<(), NotSent> {
    if out.is_full() { Err(NotSent::Full) } else { Ok(()) }
}
