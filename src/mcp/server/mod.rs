//! The server's side of a session: the editor.
//!
//! It answers the handshake, `ping`, the lists and everything it does not know by itself, within `receive`; calls of
//! tools go to the application as events. Not answering a call is how it is deferred; one that is forgotten is answered
//! at its deadline. What is permitted when is decided in `inbound`.

use alloc::format;
use core::{fmt, time::Duration};

use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    Implementation, Outcome, ProtocolVersion, Timeout, ToolResult, Tools,
    session::{Inbound, Purpose, Session},
};
use crate::{
    Outbox, Time,
    rpc::{CallId, Calls, Gone, Id, RequestId, SendError, SessionId, write},
    time::earlier,
};

mod config;
mod event;
mod inbound;

pub use config::ServerConfig;
pub use event::{CallEnd, ServerEvent};

/// One session, as a server.
///
/// ```
/// use ide_mcp::mcp::{Implementation, RawTools, Server, ServerConfig, ServerEvent, ToolResult, ToolSpec};
/// use ide_mcp::{Outbox, Time, rpc::SessionId};
///
/// struct Lines(Vec<u8>);
/// impl Outbox for Lines {
///     fn message(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
///         write(&mut self.0);
///         self.0.push(b'\n');
///     }
///     fn is_full(&self) -> bool {
///         false
///     }
/// }
///
/// let tools = RawTools::new(vec![ToolSpec::new("greet", "says hello", r#"{"type":"object"}"#)]);
/// let config = ServerConfig::new(Implementation::new("demo", "1.0"));
/// let mut server = Server::new(config, tools, SessionId::new(1));
/// let mut out = Lines(Vec::new());
/// for text in [
///     r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
///     r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
///     r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet"}}"#,
/// ] {
///     server.receive(Time::ZERO, text, &mut out);
///     while let Some(event) = server.poll_event(&mut out) {
///         if let ServerEvent::Call { call, .. } = event {
///             server.respond(call, &ToolResult::text("hello"), &mut out).unwrap();
///         }
///     }
/// }
/// assert!(String::from_utf8(out.0).unwrap().contains("hello"));
/// ```
pub struct Server<T: Tools> {
    config: ServerConfig,
    tools: T,
    session: Session<ServerEvent<T::Call>>,
    calls: Calls<Expiry>,
    state: State,
    client: Option<Implementation>,
    version: Option<ProtocolVersion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    AwaitingInitialize,
    Initializing,
    Ready,
    Draining,
    Closed,
}

/// What a call is answered with when its deadline passes.
#[derive(Clone, Copy, Debug)]
struct Expiry {
    span: Duration,
    result: Option<&'static str>,
}

impl<T: Tools> Server<T> {
    /// A session that waits for `initialize`. `session` marks its handles, so no two sessions of a program that share
    /// code for them may have the same.
    pub fn new(config: ServerConfig, tools: T, session: SessionId) -> Self {
        Self {
            session: Session::new(session, config.limits.clone(), config.request_timeout),
            calls: Calls::new(session, config.limits.open_calls),
            config,
            tools,
            state: State::AwaitingInitialize,
            client: None,
            version: None,
        }
    }

    /// Takes one message of the client. Whatever can be answered at once is, into `out`.
    pub fn receive(&mut self, now: Time, text: &str, out: &mut impl Outbox) {
        self.session.see(now);
        if self.state == State::Closed {
            return;
        }
        match self.session.receive(text, out) {
            Some(Inbound::Request { id, method, params }) => self.on_request(id, &method, params, out),
            Some(Inbound::Notification { method, params }) => self.on_notification(&method, params),
            Some(Inbound::Outcome { request, outcome, .. }) => {
                self.session.push(ServerEvent::Outcome { request, outcome });
            }
            None => {}
        }
    }

    /// Notes that time has passed. What is due comes out of [`poll_event`](Server::poll_event), after what was
    /// received.
    pub fn tick(&mut self, now: Time) {
        self.session.see(now);
    }

    /// What happened, one event at a time; `None` when only input or time can bring more. Calls and requests that are
    /// due end here.
    pub fn poll_event(&mut self, out: &mut impl Outbox) -> Option<ServerEvent<T::Call>> {
        if let Some(event) = self.session.pop() {
            return Some(event);
        }
        if let Some((call, id, expiry)) = self.calls.expire(self.session.now()) {
            expiry.answer(&id, out);
            return Some(ServerEvent::CallEnded { call, how: CallEnd::Expired });
        }
        let (request, _) = self.session.expire(out)?;
        Some(ServerEvent::Outcome { request, outcome: Outcome::TimedOut })
    }

    /// What happened and was not polled yet, without letting time end anything. For a layer that has more input to
    /// look at first.
    #[cfg(feature = "ide")]
    pub(crate) fn queued_event(&mut self) -> Option<ServerEvent<T::Call>> {
        self.session.pop()
    }

    #[cfg(feature = "ide")]
    pub(crate) fn has_queued_event(&self) -> bool {
        self.session.has_event()
    }

    /// When to call [`tick`](Server::tick) and poll again at the latest: not in the future while an event waits, `None`
    /// if no time matters.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        earlier(self.session.deadline(), self.calls.deadline())
    }

    /// Answers a call. A result that cannot be written as JSON is answered as an error with -32603.
    ///
    /// # Errors
    ///
    /// If the call is not open: how it ended. Nothing is sent.
    pub fn respond<R: Serialize + ?Sized>(
        &mut self,
        call: CallId,
        result: &R,
        out: &mut impl Outbox,
    ) -> Result<(), Gone> {
        let (id, _) = self.calls.finish(call)?;
        out.message(|buf| write::result(buf, &id, result));
        Ok(())
    }

    /// Answers a call with a JSON-RPC error. A tool that failed answers a result with `isError`, see [`ToolResult`].
    ///
    /// # Errors
    ///
    /// If the call is not open: how it ended. Nothing is sent.
    pub fn fail(
        &mut self,
        call: CallId,
        code: i64,
        message: &str,
        out: &mut impl Outbox,
    ) -> Result<(), Gone> {
        let (id, _) = self.calls.finish(call)?;
        out.message(|buf| write::error(buf, &id, code, message, None));
        Ok(())
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// If the client has not said `notifications/initialized`, before which it loses what it is told, or if there is no
    /// room, or the parameters cannot be written.
    pub fn notify<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        out: &mut impl Outbox,
    ) -> Result<(), SendError> {
        self.may_send(false)?;
        self.session.notify(method, params, out)
    }

    /// Tells the client that the list of tools has changed. Only on a real change: the real client forgets the
    /// selection of the editor whenever it hears this (measured, see docs/evidence.md).
    ///
    /// # Errors
    ///
    /// As [`notify`](Server::notify), and if [`ServerConfig::tools_list_changed`] is off.
    pub fn tools_list_changed(&mut self, out: &mut impl Outbox) -> Result<(), SendError> {
        if !self.config.tools_list_changed {
            return Err(SendError::Undeclared);
        }
        self.notify("notifications/tools/list_changed", None::<&()>, out)
    }

    /// Asks the client something. Exactly one [`Outcome`] event follows.
    ///
    /// # Errors
    ///
    /// If the client has not said `notifications/initialized` (but `ping` may be sent before), or if there is no room,
    /// too many requests wait, or the parameters cannot be written.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, SendError> {
        self.may_send(method == "ping")?;
        self.session.request(method, params, timeout, Purpose::Application, out)
    }

    /// Gives up a request: its outcome is `Cancelled`, the client is told, a late answer is dropped. False, and nothing
    /// happens, if it does not wait any more.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let waited = self.session.cancel(request, reason, out);
        if waited {
            self.session.push(ServerEvent::Outcome { request, outcome: Outcome::Cancelled });
        }
        waited
    }

    /// Takes no more requests; those that are open may still be answered. The client is not told.
    pub fn drain(&mut self) {
        if self.state != State::Closed {
            self.state = State::Draining;
        }
    }

    /// Takes no more requests and answers those that are open as failed, with this text. Each ends with an event.
    pub fn shut_down(&mut self, text: &str, out: &mut impl Outbox) {
        self.drain();
        let result = ToolResult::error(text);
        while let Some(call) = self.calls.first() {
            if self.respond(call, &result, out).is_ok() {
                self.session.push(ServerEvent::CallEnded { call, how: CallEnd::ShutDown });
            }
        }
    }

    /// Ends the session: every open call and every request of ours ends with an event, and nothing is taken or sent
    /// any more.
    pub fn close(&mut self) {
        self.state = State::Closed;
        while let Some((call, _)) = self.calls.close_one() {
            self.session.push(ServerEvent::CallEnded { call, how: CallEnd::Closed });
        }
        while let Some((request, _)) = self.session.close_one() {
            self.session.push(ServerEvent::Outcome { request, outcome: Outcome::Closed });
        }
    }

    /// Whether the client said `notifications/initialized` and the session has not been drained or closed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Who the client says it is, once it has.
    #[must_use]
    pub const fn client(&self) -> Option<&Implementation> {
        self.client.as_ref()
    }

    /// The version that was negotiated, once it was.
    #[must_use]
    pub const fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// How many calls wait for their answer.
    #[must_use]
    pub fn open_calls(&self) -> usize {
        self.calls.len()
    }

    /// Whether this call waits for its answer.
    #[must_use]
    pub fn is_open(&self, call: CallId) -> bool {
        self.calls.is_open(call)
    }

    /// What is offered.
    #[must_use]
    pub const fn tools(&self) -> &T {
        &self.tools
    }

    /// What is offered, to change it.
    pub const fn tools_mut(&mut self) -> &mut T {
        &mut self.tools
    }

    fn may_send(&self, early: bool) -> Result<(), SendError> {
        match self.state {
            State::Ready => Ok(()),
            State::AwaitingInitialize | State::Initializing if early => Ok(()),
            State::AwaitingInitialize | State::Initializing | State::Draining => Err(SendError::NotReady),
            State::Closed => Err(SendError::Closed),
        }
    }
}

impl<T: Tools + fmt::Debug> fmt::Debug for Server<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("state", &self.state)
            .field("client", &self.client)
            .field("version", &self.version)
            .field("open_calls", &self.calls.len())
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Expiry {
    fn answer(self, id: &Id, out: &mut impl Outbox) {
        let said = self.result.and_then(|json| serde_json::from_str::<&RawValue>(json).ok());
        match said {
            Some(result) => answer(id, result, out),
            None => {
                answer(id, &ToolResult::error(format!("no answer to this call within {:?}", self.span)), out)
            }
        }
    }
}

fn answer<R: Serialize + ?Sized>(id: &Id, result: &R, out: &mut impl Outbox) {
    out.message(|buf| write::result(buf, id, result));
}
