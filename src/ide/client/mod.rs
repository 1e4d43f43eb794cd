//! The agent's side of a connection: for tests, bridges, and agents other than the real client.

mod config;
mod event;
mod pending;

pub use config::ClientConfig;
pub use event::ClientEvent;
pub use pending::{CallError, Pending};

use super::server::{SUBPROTOCOL, TOKEN_FIELD};
use super::tool::Arguments;
use super::{Dialect, DirectRequest, Push, Tool, ToolArguments};
use crate::machine::delegate_wire;
use crate::mcp::{self, List, Progress, Timeout};
use crate::rpc::{CallId, ErrorObject, NotOpen, NotSent, RequestId, RespondError, SessionId};
use crate::time::earlier;
use crate::ws::{self, ClientRequest, CloseCode, Closed, InvalidClientRequest, ProtocolError};
use crate::{Machine, Time, Wire};
use alloc::{boxed::Box, format};
use rand_core::TryCryptoRng;
use serde::Serialize;
use serde_json::value::RawValue;

/// One connection, the agent's side.
///
/// ```text
///  Asking ──101 with mcp──▶ Negotiating ──known version──▶ Ready ── list, call, cancel
///     │ refused, 30 s,         │ error, 30 s, unknown        │
///     ▼ 101 without mcp        ▼ Failed, close frame         ▼ close, close frame, protocol error, eof
///  Ended ◀──────────────────────────────────────────────────┘ every request: one Outcome; then Closed, once
/// ```
#[derive(Debug)]
pub struct Client {
    ws: ws::Client,
    mcp: mcp::Client,
    /// To be said in `ide_connected`, until it is.
    pid: Option<u32>,
    dialect: Dialect,
    /// The editor did not choose `mcp`, which was not told yet.
    not_chosen: bool,
    raw_notifications: bool,
    closed: Option<Closed>,
}

impl Client {
    /// Attaches: the request waits in [`outgoing`](Wire::outgoing). `session` marks its handles: no two connections of
    /// a program may have the same.
    ///
    /// # Errors
    ///
    /// [`InvalidClientRequest`] if the host, a [field](ClientConfig::fields), or the name or version of the agent, which is its
    /// `User-Agent`, cannot stand in a request; or if a limit is 0.
    pub fn new(
        config: ClientConfig,
        random: impl TryCryptoRng + Send + Sync + 'static,
        session: SessionId,
        now: Time,
    ) -> Result<Self, InvalidClientRequest> {
        if let Some(limit) = config.mcp.limits.first_zero() {
            return Err(InvalidClientRequest::ZeroLimit(limit));
        }
        let mut ask = ClientRequest::new(config.host).subprotocol(SUBPROTOCOL);
        if let Some(token) = &config.token {
            ask = ask.field(TOKEN_FIELD, token.as_str());
        }
        let agent = &config.mcp.info;
        ask = ask.field("User-Agent", format!("{}/{}", agent.name, agent.version));
        for (name, value) in config.fields {
            ask = ask.field(name, value);
        }
        Ok(Self {
            ws: ws::Client::new(ask, random, config.ws, now)?,
            mcp: mcp::Client::new(config.mcp, session),
            pid: config.pid,
            dialect: config.dialect,
            not_chosen: false,
            raw_notifications: config.raw_notifications,
            closed: None,
        })
    }

    /// Asks for the tools of the editor.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn list_tools(&mut self) -> Result<RequestId, NotSent> {
        self.list(List::Tools, Timeout::Default)
    }

    /// Asks for a list of the editor, all pages of it, each within this time. One [`Outcome`](ClientEvent::Outcome)
    /// follows: the list as if it had come in one page.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn list(&mut self, list: List, timeout: Timeout) -> Result<RequestId, NotSent> {
        let (session, mut out) = self.speak()?;
        session.list(list, timeout, &mut out)
    }

    /// Calls a tool. An `openDiff` or `executeCode` waits as long as the person does, everything else as long as the
    /// configuration says. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn call<T: ToolArguments>(&mut self, arguments: &T) -> Result<Pending<T::Answer>, NotSent> {
        let tool = Tool::from_name(arguments.name_in(self.dialect));
        let waits = matches!(tool, Some(Tool::OpenDiff | Tool::ExecuteCode));
        self.call_within(arguments, if waits { Timeout::Never } else { Timeout::Default })
    }

    /// Calls a tool and waits this long. With [`Timeout::Progress`] the editor says how far it has come, as
    /// [`Progress`](ClientEvent::Progress), and each time starts the clock again.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn call_within<T: ToolArguments>(
        &mut self,
        arguments: &T,
        timeout: Timeout,
    ) -> Result<Pending<T::Answer>, NotSent> {
        let dialect = self.dialect;
        let (session, mut out) = self.speak()?;
        let (name, arguments) = (arguments.name_in(dialect), Arguments { arguments, dialect });
        let request = session.call_tool(name, &arguments, timeout, &mut out)?;
        Ok(Pending::new(request))
    }

    /// Asks for something by a method of the Obsidian dialect.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn ask_direct(&mut self, request: &DirectRequest) -> Result<RequestId, NotSent> {
        self.request(request.method(), Some(request), Timeout::Default)
    }

    /// Asks anything.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, NotSent> {
        let (session, mut out) = self.speak()?;
        session.request(method, params, timeout, &mut out)
    }

    /// Gives up a request and tells the editor; false if it has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Answers a request of the editor with its result, an object.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended; or if the result is no object, in which case it is still open. Nothing is sent.
    pub fn respond_raw(&mut self, call: CallId, result: &RawValue) -> Result<(), RespondError> {
        let (session, mut out) = self.reply()?;
        session.respond_with(call, result, &mut out)
    }

    /// Answers a request of the editor with an error.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended. Nothing is sent.
    pub fn fail(&mut self, call: CallId, code: i64, message: &str) -> Result<(), NotOpen> {
        let (session, mut out) = self.reply()?;
        session.fail(call, code, message, &mut out)
    }

    /// The same with an error that came from elsewhere, data and all.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended. Nothing is sent.
    pub fn fail_with(&mut self, call: CallId, error: &ErrorObject) -> Result<(), NotOpen> {
        let (session, mut out) = self.reply()?;
        session.fail_with(call, error, &mut out)
    }

    /// Says how far a request of the editor has come, which starts the clock of its deadline again. True if the editor
    /// asked to be told and is.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended. Nothing is sent.
    pub fn progress(&mut self, call: CallId, said: &Progress<'_>) -> Result<bool, NotOpen> {
        let (session, mut out) = self.reply()?;
        session.progress(call, said, &mut out)
    }

    /// Lets a request of the editor wait this long from now on, whatever was configured.
    ///
    /// # Errors
    ///
    /// If it is not open: how it ended.
    pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotOpen> {
        self.reply()?.0.set_call_timeout(call, timeout)
    }

    /// Says something.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or there is no room.
    pub fn notify<P: Serialize + ?Sized>(&mut self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        let (session, mut out) = self.speak()?;
        session.notify(method, params, &mut out)
    }

    /// Detaches, as the real client does: a close frame with 1000.
    pub fn close(&mut self) {
        let _ = self.ws.sender().close(CloseCode::NORMAL, "");
    }

    /// Whether the session is initialized and has not ended.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.mcp.is_ready()
    }

    /// Returns the session at the latest time seen, and where its messages go: what was ticked need not have been polled.
    fn session(&mut self) -> (&mut mcp::Client, ws::Sender<'_>) {
        self.mcp.tick(self.ws.now());
        (&mut self.mcp, self.ws.sender())
    }

    /// Refuses what would be dropped in silence: before the connection is open, and after our close frame.
    fn speak(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotSent> {
        match self.ws.is_open() {
            true => Ok(self.session()),
            false if self.ws.has_ended() || self.mcp.has_started() => Err(NotSent::Closed),
            false => Err(NotSent::NotReady),
        }
    }

    /// Where the connection has ended and that was not polled yet, what was asked is still open; it ends with it.
    fn reply(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotOpen> {
        if self.ws.is_open() { Ok(self.session()) } else { Err(NotOpen::Closed) }
    }

    fn take_bytes(&mut self) -> bool {
        let now = self.ws.now();
        let Some((event, mut sender)) = self.ws.poll_lent() else { return false };
        match event {
            ws::Event::Open { subprotocol: Some(_) } => {
                // Nothing was sent before, so there is room, and it is the first time. A mark below the length of the
                // request leaves none after the end of the transport: then the session never begins.
                let started = self.mcp.start(now, &mut sender);
                debug_assert!(!matches!(started, Err(NotSent::TooManyInFlight)), "{started:?}");
            }
            // The real client leaves without a word (measured); a reason helps the author of the editor.
            ws::Event::Open { subprotocol: None } => {
                self.not_chosen = true;
                let _ = sender.close(CloseCode::PROTOCOL, "the sub-protocol mcp was not chosen");
            }
            ws::Event::Text(text) => self.mcp.receive(now, text, &mut sender),
            // Binary messages that hold text are understood by the real client (measured).
            ws::Event::Binary(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => self.mcp.receive(now, text, &mut sender),
                Err(_) => self.ws.fail(ProtocolError::UnexpectedBinary),
            },
            ws::Event::Closed(closed) => {
                self.mcp.close();
                self.closed = Some(closed);
            }
            ws::Event::Upgrade(_) | ws::Event::Ping(_) | ws::Event::Pong(_) => {}
        }
        true
    }

    /// As soon as there is room: the editor says nothing unasked for a while without it.
    fn say_connected(&mut self) {
        if let Some(pid) = self.pid.filter(|_| self.mcp.is_ready()) {
            if self.notify("ide_connected", Some(&Connected { pid })).is_ok() {
                self.pid = None;
            }
        }
    }

    fn translate(&mut self, event: mcp::Event) -> Option<ClientEvent> {
        Some(match event {
            mcp::Event::Ready => {
                self.say_connected();
                ClientEvent::Ready(self.mcp.server().cloned()?)
            }
            mcp::Event::Failed(failure) => {
                let _ = self.ws.sender().close(CloseCode::POLICY, "the session could not be opened");
                ClientEvent::Failed(failure)
            }
            mcp::Event::Request { call, method, params } => ClientEvent::Request { call, method, params },
            mcp::Event::CallEnded { call, reason: how } => ClientEvent::CallEnded { call, reason: how },
            mcp::Event::Outcome { request, outcome } => ClientEvent::Outcome { request, outcome },
            mcp::Event::Progress { request, progress } => ClientEvent::Progress { request, progress },
            mcp::Event::Notification { method, params } if self.raw_notifications => {
                ClientEvent::Notification { method, params }
            }
            mcp::Event::Notification { method, params } => notified(method, params),
            mcp::Event::PeerError(error) => ClientEvent::PeerError(error),
            mcp::Event::PeerFault(fault) => ClientEvent::PeerFault(fault),
            mcp::Event::TooManyFaults => {
                self.ws.fail(ProtocolError::TooManyMalformedMessages);
                return None;
            }
            mcp::Event::PingTimeout => {
                self.ws.time_out("no answer to a ping");
                return None;
            }
            // Of servers alone.
            mcp::Event::ToolsListed => return None,
        })
    }
}

#[derive(Serialize)]
struct Connected {
    pid: u32,
}

/// The pushes of an editor, by the name of any dialect; one that cannot be read so is handed on as it is.
fn notified(method: Box<str>, params: Option<Box<RawValue>>) -> ClientEvent {
    if &*method == "notifications/tools/list_changed" {
        return ClientEvent::ToolsChanged;
    }
    let text = params.as_deref().map_or("{}", RawValue::get);
    Push::read(&method, text).map_or(ClientEvent::Notification { method, params }, ClientEvent::Pushed)
}

impl Wire for Client {
    delegate_wire!(ws: space filled feed feed_eof outgoing wants_input trim);

    fn sent(&mut self, n: usize) {
        self.ws.sent(n);
        self.say_connected();
    }

    fn is_done(&self) -> bool {
        self.closed.is_none() && !self.not_chosen && !self.mcp.has_queued_event() && self.ws.is_done()
    }
}

impl Machine for Client {
    type Event = ClientEvent;

    fn tick(&mut self, now: Time) {
        self.ws.tick(now);
    }

    fn poll_event(&mut self) -> Option<ClientEvent> {
        loop {
            if core::mem::take(&mut self.not_chosen) {
                return Some(ClientEvent::SubprotocolMissing);
            }
            if let Some(event) = self.mcp.queued_event() {
                match self.translate(event) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            if let Some(closed) = self.closed.take() {
                return Some(ClientEvent::Closed(closed));
            }
            if self.take_bytes() {
                continue;
            }
            // Above the mark the bytes have not all been looked at, so it is not yet time for the timers.
            if self.ws.has_ended() || self.ws.is_full() {
                return None;
            }
            let (session, mut out) = self.session();
            let event = session.poll_event(&mut out)?;
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        if self.closed.is_some() || self.not_chosen || self.mcp.has_queued_event() {
            return Some(self.ws.now());
        }
        if self.ws.has_ended() || self.ws.is_full() {
            return self.ws.deadline();
        }
        earlier(self.ws.deadline(), self.mcp.deadline())
    }
}
