//! The client's side of a session: the agent.
//!
//! [`start`](Client::start) opens the handshake; [`ClientEvent::Ready`] or [`ClientEvent::Failed`] ends it. Then the
//! application asks, and each request ends with one outcome. What the server asks is answered here: `ping` with `{}`,
//! everything else with -32601.

use alloc::{borrow::ToOwned, format};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{
    Outcome, ProtocolVersion, Timeout,
    params::{CallOut, ClientCapabilities, Empty, InitializeOut, InitializeResult},
    session::{Inbound, Purpose, Session},
};
use crate::{
    Outbox, Time,
    rpc::{RequestId, SendError, SessionId, code, write},
    text::truncate,
};

mod config;
mod event;

pub use config::ClientConfig;
pub use event::{ClientEvent, Failure, ServerInfo};

/// One session, as a client.
#[derive(Debug)]
pub struct Client {
    config: ClientConfig,
    session: Session<ClientEvent>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Negotiating,
    Ready,
    Failed,
    Closed,
}

impl Client {
    /// A session that has not begun. `session` marks its handles, so no two sessions of a program that share code for
    /// them may have the same.
    #[must_use]
    pub fn new(config: ClientConfig, session: SessionId) -> Self {
        let session = Session::new(session, config.limits.clone(), config.request_timeout);
        Self { config, session, state: State::Idle }
    }

    /// Sends `initialize`.
    ///
    /// # Errors
    ///
    /// If that has been done before, or there is no room.
    pub fn start(&mut self, now: Time, out: &mut impl Outbox) -> Result<(), SendError> {
        self.session.see(now);
        match self.state {
            State::Idle => {}
            State::Negotiating | State::Ready | State::Failed => return Err(SendError::NotReady),
            State::Closed => return Err(SendError::Closed),
        }
        let capabilities =
            self.config.capabilities.as_deref().map_or(ClientCapabilities::None {}, ClientCapabilities::Raw);
        let params = InitializeOut {
            protocol_version: self.config.version.as_str(),
            capabilities,
            client_info: &self.config.info,
        };
        let timeout = Timeout::After(self.config.initialize_timeout);
        self.session.request("initialize", Some(&params), timeout, Purpose::Initialize, out)?;
        self.state = State::Negotiating;
        Ok(())
    }

    /// Takes one message of the server. Whatever can be answered at once is, into `out`.
    pub fn receive(&mut self, now: Time, text: &str, out: &mut impl Outbox) {
        self.session.see(now);
        if self.state == State::Closed {
            return;
        }
        match self.session.receive(text, out) {
            Some(Inbound::Request { id, method, .. }) => match &*method {
                "ping" => out.message(|buf| write::result(buf, &id, &Empty {})),
                _ => {
                    let message = format!("method not found: {method}");
                    out.message(|buf| write::error(buf, &id, code::METHOD_NOT_FOUND, &message, None));
                }
            },
            // Nothing that the server asks is ever open here, so there is nothing to cancel.
            Some(Inbound::Notification { method, .. }) if method == "notifications/cancelled" => {}
            Some(Inbound::Notification { method, params }) => self.session.push(ClientEvent::Notification {
                method: (&*method).into(),
                params: params.map(ToOwned::to_owned),
            }),
            Some(Inbound::Outcome { request, purpose, outcome }) => match purpose {
                Purpose::Application => self.session.push(ClientEvent::Outcome { request, outcome }),
                Purpose::Initialize => {
                    let event = self.negotiated(outcome, out);
                    self.session.push(event);
                }
            },
            None => {}
        }
    }

    /// Notes that time has passed. What is due comes out of [`poll_event`](Client::poll_event), after what was
    /// received.
    pub fn tick(&mut self, now: Time) {
        self.session.see(now);
    }

    /// What happened, one event at a time; `None` when only input or time can bring more. Requests that are due end
    /// here.
    pub fn poll_event(&mut self, out: &mut impl Outbox) -> Option<ClientEvent> {
        if let Some(event) = self.session.pop() {
            return Some(event);
        }
        let (request, purpose) = self.session.expire(out)?;
        Some(match purpose {
            Purpose::Application => ClientEvent::Outcome { request, outcome: Outcome::TimedOut },
            Purpose::Initialize => self.negotiated(Outcome::TimedOut, out),
        })
    }

    /// What happened and was not polled yet, without letting time end anything. For a layer that has more input to
    /// look at first.
    #[cfg(feature = "ide")]
    pub(crate) fn queued_event(&mut self) -> Option<ClientEvent> {
        self.session.pop()
    }

    #[cfg(feature = "ide")]
    pub(crate) fn has_started(&self) -> bool {
        self.state != State::Idle
    }

    #[cfg(feature = "ide")]
    pub(crate) fn has_queued_event(&self) -> bool {
        self.session.has_event()
    }

    /// When to call [`tick`](Client::tick) and poll again at the latest: not in the future while an event waits, `None`
    /// if no time matters.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.session.deadline()
    }

    /// Asks for the tools of the server.
    ///
    /// # Errors
    ///
    /// As [`request`](Client::request).
    pub fn list_tools(&mut self, out: &mut impl Outbox) -> Result<RequestId, SendError> {
        self.request("tools/list", None::<&()>, Timeout::Default, out)
    }

    /// Calls a tool. `arguments` are an object; what comes out as `null` is left out. The result can be read with
    /// [`ToolResult::read`](super::ToolResult::read). For a tool that waits for a person, use [`Timeout::Never`].
    ///
    /// # Errors
    ///
    /// As [`request`](Client::request).
    pub fn call_tool<A: Serialize + ?Sized>(
        &mut self,
        name: &str,
        arguments: &A,
        timeout: Timeout,
        out: &mut impl Outbox,
    ) -> Result<RequestId, SendError> {
        let arguments = to_raw_value(arguments).map_err(|_| SendError::Unserializable)?;
        let arguments = Some(&*arguments).filter(|arguments| arguments.get() != "null");
        self.request("tools/call", Some(&CallOut { name, arguments }), timeout, out)
    }

    /// Asks the server something. Exactly one [`Outcome`] event follows.
    ///
    /// # Errors
    ///
    /// If the handshake is not over (but `ping` may be sent while it lasts), if there is no room, too many requests
    /// wait, or the parameters cannot be written.
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

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// If the handshake is not over, there is no room, or the parameters cannot be written.
    pub fn notify<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        out: &mut impl Outbox,
    ) -> Result<(), SendError> {
        self.may_send(false)?;
        self.session.notify(method, params, out)
    }

    /// Gives up a request: its outcome is `Cancelled`, the server is told, a late answer is dropped. False, and nothing
    /// happens, if it does not wait any more.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>, out: &mut impl Outbox) -> bool {
        let waited = self.session.cancel(request, reason, out);
        if waited {
            self.session.push(ClientEvent::Outcome { request, outcome: Outcome::Cancelled });
        }
        waited
    }

    /// Ends the session: every request ends with an event, and nothing is taken or sent any more.
    pub fn close(&mut self) {
        self.state = State::Closed;
        while let Some((request, purpose)) = self.session.close_one() {
            self.session.push(match purpose {
                Purpose::Application => ClientEvent::Outcome { request, outcome: Outcome::Closed },
                Purpose::Initialize => ClientEvent::Failed(Failure::Closed),
            });
        }
    }

    /// Whether the handshake succeeded and the session has not been closed.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    fn may_send(&self, early: bool) -> Result<(), SendError> {
        match self.state {
            State::Ready => Ok(()),
            State::Negotiating if early => Ok(()),
            State::Idle | State::Negotiating | State::Failed => Err(SendError::NotReady),
            State::Closed => Err(SendError::Closed),
        }
    }

    /// The handshake ended like this: either `notifications/initialized` goes out at once, or it failed.
    fn negotiated(&mut self, outcome: Outcome, out: &mut impl Outbox) -> ClientEvent {
        let accepted = match outcome {
            Outcome::Result(result) => self.accept(&result),
            Outcome::Error(error) => Err(Failure::Refused(error)),
            Outcome::TimedOut => Err(Failure::TimedOut),
            Outcome::Malformed => Err(Failure::Malformed),
            Outcome::Cancelled | Outcome::Closed => Err(Failure::Closed),
        };
        match accepted {
            Ok(server) => {
                self.state = State::Ready;
                self.session.announce("notifications/initialized", out);
                ClientEvent::Ready(server)
            }
            Err(failure) => {
                self.state = State::Failed;
                ClientEvent::Failed(failure)
            }
        }
    }

    fn accept(&self, result: &RawValue) -> Result<ServerInfo, Failure> {
        let read: InitializeResult<'_> =
            serde_json::from_str(result.get()).map_err(|_| Failure::Malformed)?;
        let Some(protocol_version) = ProtocolVersion::from_name(&read.protocol_version) else {
            return Err(Failure::UnknownVersion(
                truncate(&read.protocol_version, self.config.limits.method).into(),
            ));
        };
        Ok(ServerInfo {
            info: read.server_info.and_then(|info| serde_json::from_str(info.get()).ok()),
            protocol_version,
            instructions: read.instructions.and_then(|text| serde_json::from_str(text.get()).ok()),
            capabilities: read.capabilities.map(ToOwned::to_owned),
        })
    }
}
