//! What an application does with a session of either role. It is the same in both, so it is written once.

/// The methods that [`Server`](super::Server) and [`Client`](super::Client) share. The role has a field `session`.
macro_rules! session_methods {
    ($call:ty) => {
        /// Takes one message of the peer. Whatever can be answered at once is, into `out`.
        pub fn receive(&mut self, now: Time, text: &str, out: &mut impl Outbox) {
            self.session.set_now(now);
            if self.session.state != State::Closed {
                self.session.on_message();
                self.take_text(text, out);
            }
        }

        /// Notes that time has passed. What is due comes out of `poll_event`, after what was received.
        pub fn tick(&mut self, now: Time) {
            self.session.set_now(now);
        }

        /// What happened, one event at a time; `None` when only input or time can bring more. Calls and requests that
        /// are due end here, and pings go out.
        pub fn poll_event(&mut self, out: &mut impl Outbox) -> Option<Event<$call>> {
            inbound::poll(self, out)
        }

        /// Returns the next event that is queued, without ending anything whose time is over: for a layer that has more
        /// input to look at first.
        pub fn queued_event(&mut self) -> Option<Event<$call>> {
            self.session.pop()
        }

        /// Returns true if an event is queued.
        #[must_use]
        pub fn has_queued_event(&self) -> bool {
            self.session.has_event()
        }

        /// When to `tick` and poll again at the latest: not in the future while an event waits, `None` if no time
        /// matters.
        #[must_use]
        pub fn deadline(&self) -> Option<Time> {
            self.session.deadline()
        }

        /// Answers a call with a result of any shape that is written as an object, as all results of MCP are.
        ///
        /// # Errors
        ///
        /// If the call is not open: how it ended; or if the outbox is closed, or the result cannot be written as JSON or is
        /// no object, in which cases the call is still open. Nothing is sent.
        pub fn respond_with<R: Serialize + ?Sized>(
            &mut self,
            call: CallId,
            result: &R,
            out: &mut impl Outbox,
        ) -> Result<(), RespondError> {
            self.session.incoming.respond_with(call, result, out)
        }

        /// Answers a call with a JSON-RPC error. A tool that failed answers a result with `isError`, see
        /// [`ToolResult`](crate::mcp::ToolResult).
        ///
        /// # Errors
        ///
        /// If the call is not open: how it ended. [`NotOpen::Closed`] also if the outbox is closed: then the call stays open
        /// until the session is closed. Nothing is sent.
        pub fn fail(
            &mut self,
            call: CallId,
            code: i64,
            message: &str,
            out: &mut impl Outbox,
        ) -> Result<(), NotOpen> {
            self.session.incoming.fail(call, (code, message, None), out)
        }

        /// The same with an error that came from elsewhere, data and all.
        ///
        /// # Errors
        ///
        /// If the call is not open: how it ended. [`NotOpen::Closed`] also if the outbox is closed: then the call stays open
        /// until the session is closed. Nothing is sent.
        pub fn fail_with(
            &mut self,
            call: CallId,
            error: &ErrorObject,
            out: &mut impl Outbox,
        ) -> Result<(), NotOpen> {
            self.session.incoming.fail(call, (error.code, &error.message, error.data.as_deref()), out)
        }

        /// Says how far an open call has come. The number must be greater than the last one, and finite; otherwise
        /// nothing happens at all.
        ///
        /// The clock of its deadline starts again at the latest time seen, as far as its
        /// [`Timeout`](crate::mcp::Timeout) permits: under `Default` up to the longest that a call may wait, under
        /// `After` not at all. That is so whether or not the peer is told.
        ///
        /// True if the peer is told. False if it did not ask to be, or there is no room, in which case this is not made
        /// up for later; and where nothing happens.
        ///
        /// # Errors
        ///
        /// If the call is not open: how it ended. [`NotOpen::Closed`] also if the outbox is closed: then the call stays open
        /// until the session is closed. Nothing is sent.
        pub fn progress(
            &mut self,
            call: CallId,
            said: &Progress<'_>,
            out: &mut impl Outbox,
        ) -> Result<bool, NotOpen> {
            let Session { incoming, now, version, .. } = &mut self.session;
            incoming.progress(*now, call, said, *version, out)
        }

        /// Lets an open call wait this long, counted from the latest time seen, in place of what was said before. What
        /// it is answered with at the end stays what it was.
        ///
        /// # Errors
        ///
        /// If the call is not open: how it ended.
        pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotOpen> {
            self.session.incoming.set_call_timeout(self.session.now, call, timeout)
        }

        /// Sends a notification; `params` are an object.
        ///
        /// # Errors
        ///
        /// [`Closed`](NotSent::Closed) once the session was closed; [`NotReady`](NotSent::NotReady) before it is
        /// ready, when the peer would lose what it is told, and once it was drained; [`Full`](NotSent::Full) if there
        /// is no room; [`Unserializable`](NotSent::Unserializable) if the parameters cannot be written as an object.
        pub fn notify<P: Serialize + ?Sized>(
            &mut self,
            method: &str,
            params: Option<&P>,
            out: &mut impl Outbox,
        ) -> Result<(), NotSent> {
            self.session.may_speak(false)?;
            self.session.notify(method, params, out)
        }

        /// Asks the peer something; `params` are an object. Exactly one [`Outcome`](crate::mcp::Outcome) event follows.
        ///
        /// # Errors
        ///
        /// As [`notify`](Self::notify), but `ping` may be sent while the session is being opened: by a server from the
        /// beginning, by a client once it has started. And [`TooManyInFlight`](NotSent::TooManyInFlight) if as many
        /// requests wait as may.
        pub fn request<P: Serialize + ?Sized>(
            &mut self,
            method: &str,
            params: Option<&P>,
            timeout: Timeout,
            out: &mut impl Outbox,
        ) -> Result<RequestId, NotSent> {
            self.session.request((method, params), timeout, Purpose::Application, out)
        }

        /// Gives up a request: its outcome is `Cancelled`, the peer is told, a late answer is dropped. False, and
        /// nothing happens, if it does not wait any more.
        pub fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
            self.session.cancel(request, reason, out)
        }

        /// Takes no more requests of the peer but `ping`, and sends none but the pings of the
        /// [`Keepalive`](crate::Keepalive); what is open may still be answered, on both sides. The peer is not told.
        /// Nothing happens to a session that was closed.
        pub fn drain(&mut self) {
            self.session.drain();
        }

        /// As [`drain`](Self::drain), and answers the calls that are open as failed, with this text. Each ends with an
        /// event.
        pub fn shutdown(&mut self, text: &str, out: &mut impl Outbox) {
            self.session.shutdown(text, out);
        }

        /// Ends the session: every open call and every request of ours ends with an event, and nothing is taken or
        /// sent any more, not even an answer. What was not polled yet still comes out of `poll_event`.
        pub fn close(&mut self) {
            inbound::close(self);
        }

        /// Whether the handshake succeeded and the session has not been drained or closed.
        #[must_use]
        pub fn is_ready(&self) -> bool {
            self.session.state == State::Ready
        }

        /// Whether the session was closed: by its owner, for it never closes itself.
        #[must_use]
        pub fn is_closed(&self) -> bool {
            self.session.state == State::Closed
        }

        /// The version that was negotiated, once it was.
        #[must_use]
        pub const fn protocol_version(&self) -> Option<ProtocolVersion> {
            self.session.version
        }

        /// How many calls of the peer wait for their answer.
        #[must_use]
        pub fn open_calls(&self) -> usize {
            self.session.incoming.len()
        }

        /// Returns the size of the messages of these calls, in bytes.
        #[must_use]
        pub const fn open_bytes(&self) -> usize {
            self.session.incoming.bytes()
        }

        /// Limits the open calls to this many bytes, in addition to [`SessionLimits::open_bytes`](crate::rpc::SessionLimits::open_bytes):
        /// the share of this session in what several sessions may hold together. Calls that are open stay open.
        pub const fn set_quota(&mut self, bytes: usize) {
            self.session.incoming.set_quota(bytes);
        }

        /// How many requests of this side, its pings included, wait for theirs.
        #[must_use]
        pub fn open_requests(&self) -> usize {
            self.session.outgoing.len()
        }

        /// Whether this call waits for its answer.
        #[must_use]
        pub fn is_open(&self, call: CallId) -> bool {
            self.session.incoming.is_open(call)
        }
    };
}

pub(super) use session_methods;
