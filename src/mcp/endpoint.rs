//! The methods that both roles of a session offer the application.

use serde::Serialize;

use super::{
    Progress, ProtocolVersion, Timeout,
    event::SessionEvent,
    inbound::{self, Role},
    outgoing::Purpose,
    session::{Session, State},
};
use crate::{
    Outbox, Time,
    rpc::{CallId, ErrorObject, NotAnswered, NotSent, RequestId},
};

/// One side of a session: [`Server`](super::Server) or [`Client`](super::Client). `R` is the role and `E` its event.
#[derive(Debug)]
pub struct Endpoint<R, E> {
    pub(super) role: R,
    pub(crate) session: Session<E>,
}

#[allow(private_bounds, reason = "a session has these two roles and no other")]
impl<R, E> Endpoint<R, E>
where
    Self: Role<Event = E>,
    E: From<SessionEvent>,
{
    /// Takes one message of the peer. If the session can answer it without you, the answer goes to `out` at once.
    pub fn receive(&mut self, now: Time, text: &str, out: &mut impl Outbox) {
        if self.session.on_message(now) {
            self.take_text(text, out);
        }
    }

    /// Returns the next event: first those of received messages, then those of calls, requests and pings that are due
    /// at `now`. Timers write to `out`: a ping, a cancellation, or the answer to a call that you forgot.
    ///
    /// Poll until `None`; then nothing more happens before the next message or the [`deadline`](Self::deadline). Before
    /// you poll, pass every message that has arrived to [`receive`](Self::receive), with the same `now`. Otherwise a
    /// request could time out although its answer has already arrived.
    pub fn poll(&mut self, now: Time, out: &mut impl Outbox) -> Option<E> {
        self.session.set_now(now);
        loop {
            if let Some(event) = self.session.events.pop_front() {
                return Some(event);
            }
            if !inbound::keep_time(self, out) {
                return None;
            }
        }
    }

    /// Sets the time for a message that is sent between two polls.
    #[cfg(feature = "ide")]
    pub(crate) fn set_now(&mut self, now: Time) {
        self.session.set_now(now);
    }

    /// Processes what is due next, and queues its event.
    #[cfg(feature = "ide")]
    pub(crate) fn keep_time(&mut self, now: Time, out: &mut impl Outbox) {
        self.session.set_now(now);
        inbound::keep_time(self, out);
    }

    /// Releases memory that is not in use. Nothing else changes.
    pub fn trim(&mut self) {
        self.session.trim();
    }

    /// Returns when to [`poll`](Self::poll) next: not in the future while an event is queued, and `None` if only a
    /// message can bring one.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let has_event = !self.session.events.is_empty();
        if has_event { Some(self.session.now) } else { self.session.due().finite() }
    }

    /// Answers a call with any value that is written as an object, as all results of MCP are.
    ///
    /// # Errors
    ///
    /// If the call is not open, the error says how it ended. If the outbox is closed, or the result cannot be written
    /// as a JSON object, the call stays open. Either way nothing was sent.
    pub fn respond_with<A: Serialize + ?Sized>(
        &mut self,
        call: CallId,
        result: &A,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        self.session.incoming.respond_with(call, result, out)
    }

    /// Answers a call with a JSON-RPC error. A plain text means that this side failed (-32603); pass an [`ErrorObject`]
    /// for another code, or data. If a tool failed, use [`ToolResult::error`](crate::mcp::ToolResult::error) instead,
    /// which the model can read.
    ///
    /// # Errors
    ///
    /// If the call is not open, the error says how it ended. If the outbox is closed, it is [`NotAnswered::Closed`],
    /// and the call stays open until the session is closed. Either way nothing was sent.
    pub fn fail(
        &mut self,
        call: CallId,
        error: impl Into<ErrorObject>,
        out: &mut impl Outbox,
    ) -> Result<(), NotAnswered> {
        let error = error.into();
        self.session.incoming.fail(call, (error.code, &error.message, error.data.as_deref()), out)
    }

    /// Reports the progress of an open call. The number must be finite and greater than in the last report; otherwise
    /// nothing happens.
    ///
    /// This also restarts the timeout of the call, at the latest time that the session has seen, as far as its
    /// [`Timeout`](crate::mcp::Timeout) permits: with `Default` up to the longest time that a call may wait, with
    /// `After` not at all. It does so even if the peer gets no report.
    ///
    /// Returns true if the report was sent, and false if nothing happened, the peer wants no reports, or the outbox is
    /// full or closed. A report that was not sent is not sent later either.
    ///
    /// # Errors
    ///
    /// If the call is not open, the error says how it ended.
    pub fn progress(
        &mut self,
        call: CallId,
        report: &Progress<'_>,
        out: &mut impl Outbox,
    ) -> Result<bool, NotAnswered> {
        let Session { incoming, now, version, .. } = &mut self.session;
        incoming.progress(*now, call, report, *version, out)
    }

    /// Gives an open call another timeout, counted from the latest time that the session has seen. The answer that the
    /// session gives when the time is over stays the same.
    ///
    /// # Errors
    ///
    /// If the call is not open, the error says how it ended.
    pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotAnswered> {
        self.session.incoming.set_call_timeout(self.session.now, call, timeout)
    }

    /// Sends a notification. `params` must be an object.
    ///
    /// # Errors
    ///
    /// [`Closed`](NotSent::Closed) once the session is closed. [`NotReady`](NotSent::NotReady) before the session is
    /// ready, because the peer would ignore the notification, and once it is drained. [`Full`](NotSent::Full) if the
    /// outbox is full. [`Unserializable`](NotSent::Unserializable) if the parameters cannot be written as an object.
    pub fn notify<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        out: &mut impl Outbox,
    ) -> Result<(), NotSent> {
        self.session.may_send(false)?;
        self.session.notify(method, params, out)
    }

    /// Sends a notification that was written for several peers.
    ///
    /// # Errors
    ///
    /// As for [`notify`](Self::notify), but never [`Unserializable`](NotSent::Unserializable).
    #[cfg(feature = "ide")]
    pub(crate) fn notify_serialized(
        &mut self,
        notification: &crate::rpc::SerializedNotification,
        out: &mut impl Outbox,
    ) -> Result<(), NotSent> {
        self.session.may_send(false)?;
        self.session.notify_serialized(notification, out)
    }

    /// Sends a request. `params` must be an object. Exactly one [`Outcome`](crate::mcp::Outcome) event follows.
    ///
    /// # Errors
    ///
    /// As for [`notify`](Self::notify), but `ping` is also permitted while the session is being opened. A server may
    /// send `ping` from the beginning, a client once it has started. [`TooManyInFlight`](NotSent::TooManyInFlight) if
    /// as many requests wait as the limit allows.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, NotSent> {
        self.session.request((method, params), timeout, Purpose::Application, out)
    }

    /// Cancels a request: its outcome is `Cancelled`, the peer is notified, and a late answer is dropped. Returns
    /// false, and does nothing, if the request is no longer waiting.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        self.session.cancel(request, reason, out)
    }

    /// Winds the session down without telling the peer: from now on it accepts no requests except `ping`, and sends
    /// none except the pings of the [`Keepalive`](crate::Keepalive). Open requests can still be answered, on both
    /// sides. Does nothing if the session is closed.
    pub fn drain(&mut self) {
        self.session.drain();
    }

    /// Like [`drain`](Self::drain), but also answers all open calls as failed, with this text. Each of them ends with
    /// an event.
    pub fn shutdown(&mut self, text: &str, out: &mut impl Outbox) {
        self.session.shutdown(text, out);
    }

    /// Ends the session. Every open call and every request ends with an event, except keepalive pings. From now on the
    /// session takes and sends nothing, not even an answer; `poll` still returns the events that you have not polled
    /// yet.
    pub fn close(&mut self) {
        inbound::close(self);
    }

    /// Returns true if the handshake succeeded and the session has not been drained or closed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.session.state == State::Ready
    }

    /// Returns true if you have [closed](Self::close) the session. It never closes itself.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.session.state == State::Closed
    }

    /// Returns the negotiated version, once there is one.
    #[must_use]
    pub const fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.session.version
    }

    /// Returns how many calls of the peer wait for their answer.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.session.incoming.len()
    }

    /// Returns the total size of the messages of the open calls, in bytes.
    #[must_use]
    pub const fn open_bytes(&self) -> usize {
        self.session.incoming.bytes
    }

    /// Returns how many of your requests wait for their answer, pings included.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.session.outgoing.len()
    }

    /// Returns true if this call waits for its answer.
    #[must_use]
    pub fn is_open(&self, call: CallId) -> bool {
        self.session.incoming.is_open(call)
    }
}

#[cfg(all(test, feature = "ide"))]
mod tests {
    use super::*;
    use crate::mcp::{Client, ClientConfig, Implementation, Lines, RawTools, Server, ServerConfig};
    use crate::rpc::{SerializedNotification, SessionId};

    /// A notification written for several peers is sent in the same states as any other, with the same text.
    fn check<R, E: From<SessionEvent>>(
        side: &mut Endpoint<R, E>,
        mut outs: [Lines; 2],
        expected: Result<(), NotSent>,
        state: &str,
    ) where
        Endpoint<R, E>: Role<Event = E>,
    {
        let written = SerializedNotification::new("n", None::<&()>);
        let [plain, serialized] = &mut outs;
        let before = plain.outgoing().len();
        assert_eq!(side.notify("n", None::<&()>, plain), expected, "{state}");
        let sent = written.and_then(|written| side.notify_serialized(&written, serialized));
        assert_eq!(sent, expected, "{state}");
        assert_eq!(plain.outgoing(), serialized.outgoing(), "{state}");
        assert_eq!(plain.outgoing().len() > before, expected.is_ok(), "{state}");
    }

    fn empty() -> [Lines; 2] {
        [Lines::new(), Lines::new()]
    }

    #[test]
    fn server_sends_a_serialized_notification_like_any_other() {
        let config = ServerConfig::new(Implementation::new("e", "1"));
        let mut server = Server::new(config, RawTools::default(), SessionId::new(1));
        check(&mut server, empty(), Err(NotSent::NotReady), "awaiting initialize");
        let initialize =
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
        server.receive(Time::ZERO, initialize, &mut Lines::new());
        check(&mut server, empty(), Err(NotSent::NotReady), "initializing");
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        server.receive(Time::ZERO, initialized, &mut Lines::new());
        check(&mut server, empty(), Ok(()), "ready");
        let mut full = empty();
        for out in &mut full {
            out.message(crate::To::Unsolicited, |buf| buf.resize(Lines::HIGH_WATER_MARK, b' ')).unwrap();
        }
        check(&mut server, full, Err(NotSent::Full), "full");
        server.drain();
        check(&mut server, empty(), Err(NotSent::NotReady), "draining");
        server.close();
        check(&mut server, empty(), Err(NotSent::Closed), "closed");
    }

    #[test]
    fn client_sends_a_serialized_notification_like_any_other() {
        let new = || Client::new(ClientConfig::new(Implementation::new("a", "1")), SessionId::new(1));
        let mut client = new();
        check(&mut client, empty(), Err(NotSent::NotReady), "idle");
        client.start(Time::ZERO, &mut Lines::new()).unwrap();
        check(&mut client, empty(), Err(NotSent::NotReady), "negotiating");
        let answer =
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
        client.receive(Time::ZERO, answer, &mut Lines::new());
        check(&mut client, empty(), Ok(()), "ready");
        client.close();
        check(&mut client, empty(), Err(NotSent::Closed), "closed");
        let mut failed = new();
        failed.start(Time::ZERO, &mut Lines::new()).unwrap();
        while failed.poll(Time::from_millis(30_000), &mut Lines::new()).is_some() {}
        check(&mut failed, empty(), Err(NotSent::NotReady), "failed");
    }
}
