//! The agent's side of a connection: for agents other than the real client, bridges and tests.

mod config;
mod event;

pub use config::ClientConfig;
pub use event::ClientEvent;

use super::connection::{SUBPROTOCOL, TOKEN_FIELD};
use super::pump::{self, Pumped};
use super::tool::{Arguments, DirectRequest, Tool, ToolArguments};
use super::{Dialect, Pending, Push};
use crate::mcp::{
    self, FormAnswer, GetPrompt, List, Progress, PromptResult, PromptSpec, ReadResource, ResourceResult,
    ResourceSpec, ResourceTemplate, Root, Timeout, ToolSpec,
};
use crate::pass::{Pass, Single};
use crate::rpc::{CallId, ErrorObject, Json, NotAnswered, NotSent, RequestId, SessionId};
use crate::ws::{self, ClientRequest, CloseCode, InvalidClientRequest, Masked, ProtocolError, SendError};
use crate::{Output, Time};
use alloc::{boxed::Box, collections::VecDeque, format, vec::Vec};
use serde::Serialize;
use serde_json::value::RawValue;

/// The agent's side of one connection. If you do not need your own loop, take the `Agent` of an adapter
/// (`ide_mcp_blocking`, `ide_mcp_smol`, `ide_mcp_mio`), which also finds the editor, owns the socket and the source of
/// randomness, and connects again.
///
/// ```text
///  Asking ──101 with mcp──▶ Negotiating ──known version──▶ Ready ── list, call, cancel
///     │ refused, 30 s,         │ error, 30 s, unknown        │
///     ▼ 101 without mcp        ▼ Failed, close frame         ▼ close, close frame, protocol error, eof
///  Ended ◀──────────────────────────────────────────────────┘ every request: one Outcome; then Closed, once
/// ```
///
/// This is one whole turn of an agent's loop, over a non-blocking socket. It returns when the next turn is due if the
/// socket is not ready before, and breaks once the connection is over.
///
/// ```
/// use ide_mcp::ide::{Client, ClientEvent};
/// use ide_mcp::{Output, Time};
/// use std::io::{Read, Write};
/// use std::ops::ControlFlow;
///
/// fn turn(
///     agent: &mut Client,
///     socket: &mut (impl Read + Write),
///     now: Time,
///     mut on_event: impl FnMut(&mut Client, ClientEvent),
/// ) -> ControlFlow<(), Option<Time>> {
///     agent.read_from(now, socket);
///     loop {
///         match agent.poll(now) {
///             // `Ready`: call a tool, `agent.call_tool(&GetOpenEditors)`. `Outcome`: the answer to the call with this id.
///             Output::Event(event) => on_event(agent, event),
///             Output::Write { .. } => agent.write_to(now, socket),
///             Output::Close(()) => return ControlFlow::Break(()),
///             Output::Wait(until) => return ControlFlow::Continue(until),
///         }
///     }
/// }
/// ```
///
/// `ide_mcp_lockfile::find_editor` finds the editor of a folder: its host, port and token are what
/// [`ClientConfig::new`] and [`with_host`](ClientConfig::with_host) take.
#[derive(Debug)]
pub struct Client {
    ws: ws::Client,
    mcp: mcp::Client,
    /// The process id for `ide_connected`, until it is sent.
    pid: Option<u32>,
    dialect: Dialect,
    raw_notifications: bool,
    /// Events of this layer, not polled yet.
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// Creates an agent's connection. Its first pass writes the opening handshake. `session` becomes part of the ids of
    /// its calls and requests: give each connection of your program its own. `random` must fill a slice with
    /// unpredictable bytes, as `getrandom::fill` does; RFC 6455 demands such masking keys.
    ///
    /// # Errors
    ///
    /// [`InvalidClientRequest`] if the host, the [target](ClientConfig::target), a [field](ClientConfig::fields) or the
    /// `User-Agent` is not valid in an opening handshake, or a limit is 0. The `User-Agent` is the name and version of
    /// the agent.
    pub fn new<E>(
        config: ClientConfig,
        random: impl FnMut(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
        session: SessionId,
        now: Time,
    ) -> Result<Self, InvalidClientRequest> {
        if let Some(limit) = config.mcp.limits.first_zero() {
            return Err(InvalidClientRequest::ZeroLimit(limit));
        }
        let mut request = ClientRequest::new(config.host).target(config.target).subprotocol(SUBPROTOCOL);
        if let Some(token) = &config.token {
            request = request.field(TOKEN_FIELD, token.as_str());
        }
        let agent = &config.mcp.info;
        request = request.field("User-Agent", format!("{}/{}", agent.name, agent.version));
        for (name, value) in config.fields {
            request = request.field(name, value);
        }
        Ok(Self {
            ws: ws::Client::new(request, random, config.ws, now)?,
            mcp: mcp::Client::new(config.mcp, session),
            pid: config.pid,
            dialect: config.dialect,
            raw_notifications: config.raw_notifications,
            events: VecDeque::new(),
        })
    }

    /// Feeds bytes from the socket. You get their events from [`poll`](Self::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if you feed it while
    /// [`wants_input`](Self::wants_input) is false, or more than 256 KiB at once.
    pub fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.ws.feed(now, bytes);
    }

    /// Tells the client that the editor's stream has ended, or that the last [`Write`](Output::Write) has failed.
    ///
    /// What came before the end is still delivered and answered, because an editor may close its sending side and go on
    /// reading. After a failed write, or a second end, nothing more is written.
    pub fn feed_eof(&mut self, now: Time) {
        self.take_end(now);
    }

    /// Returns what to do next: react to an event, write, close, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, ClientEvent> {
        self.next_output(now)
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) the socket took; 0 if it would block. The rest is
    /// offered again, in the next pass at the latest. A number above the length of the offer counts as the whole offer.
    pub fn written(&mut self, n: usize) {
        self.take_written(n);
    }

    /// Reads a non-blocking socket and feeds what has come, until it would block or [`wants_input`](Self::wants_input)
    /// is false. After an error, unlike the end of the stream, nothing more is written.
    ///
    /// Returns true if the machine wanted no more, so the socket may still have more. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read it once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        self.read_socket(now, socket)
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to a non-blocking socket, and calls
    /// [`written`](Self::written) or [`feed_eof`](Self::feed_eof). Prefer this to doing it yourself: a wrong count is
    /// the one mistake that no machine can detect.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        self.write_socket(now, socket);
    }

    /// Returns true while you may read more bytes from the socket. If not, the client waits for a poll, or for room in
    /// the send buffer.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.ws.wants_input()
    }

    /// Returns true while bytes wait for room in the socket: ask your poller to wake you when it is writable.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.ws.wants_output()
    }

    /// Returns room for a read, which saves the copy of [`feed`](Self::feed): read into it, then call
    /// [`filled`](Self::filled). It is empty exactly while [`wants_input`](Self::wants_input) is false, and valid until
    /// the next poll, [`feed`](Self::feed) or [`trim`](Self::trim).
    pub fn space(&mut self) -> &mut [u8] {
        self.ws.space()
    }

    /// Feeds the first `n` bytes of [`space`](Self::space). A larger `n` ends the connection, as too many bytes in
    /// [`feed`](Self::feed) do.
    pub fn filled(&mut self, now: Time, n: usize) {
        self.ws.filled(now, n);
    }

    /// Frees memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self) {
        self.ws.trim();
        self.mcp.trim();
        self.events.shrink_to_fit();
    }

    /// Returns when the next pass is due, taking into account what you have done since the last [`Wait`](Output::Wait):
    /// not in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }

    /// Lists the tools of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn list_tools(&mut self) -> Result<Pending<Vec<ToolSpec>>, NotSent> {
        self.list(List::Tools, Timeout::Default).map(Pending::new)
    }

    /// Lists the prompts of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn list_prompts(&mut self) -> Result<Pending<Vec<PromptSpec>>, NotSent> {
        self.list(List::Prompts, Timeout::Default).map(Pending::new)
    }

    /// Lists the resources of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn list_resources(&mut self) -> Result<Pending<Vec<ResourceSpec>>, NotSent> {
        self.list(List::Resources, Timeout::Default).map(Pending::new)
    }

    /// Lists the resource templates of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn list_resource_templates(&mut self) -> Result<Pending<Vec<ResourceTemplate>>, NotSent> {
        self.list(List::ResourceTemplates, Timeout::Default).map(Pending::new)
    }

    /// Requests all pages of a list of the editor, for you to read the JSON yourself. The timeout applies to each page.
    /// One [`Outcome`](ClientEvent::Outcome) follows, with the list as if it had come in one page.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn list(&mut self, list: List, timeout: Timeout) -> Result<RequestId, NotSent> {
        let (session, mut out) = self.sender_if_open()?;
        session.list(list, timeout, &mut out)
    }

    /// Calls a tool. `openDiff` and `executeCode` wait for the person without a timeout, every other call has the
    /// configured one. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many requests have no
    /// answer yet, or if the parameters cannot be written as a JSON object.
    pub fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<Pending<T::Answer>, NotSent> {
        let tool = Tool::from_name(arguments.name_in(self.dialect));
        let waits = matches!(tool, Some(Tool::OpenDiff | Tool::ExecuteCode));
        self.call_tool_within(arguments, if waits { Timeout::Never } else { Timeout::Default })
    }

    /// Calls a tool and waits this long. With [`Timeout::Progress`] the editor reports how far the call has come
    /// ([`Progress`](ClientEvent::Progress)), and each report restarts the timeout.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many requests have no
    /// answer yet, or if the parameters cannot be written as a JSON object.
    pub fn call_tool_within<T: ToolArguments>(
        &mut self,
        arguments: &T,
        timeout: Timeout,
    ) -> Result<Pending<T::Answer>, NotSent> {
        let dialect = self.dialect;
        let (session, mut out) = self.sender_if_open()?;
        let (name, arguments) = (arguments.name_in(dialect), Arguments { arguments, dialect });
        let request = session.call_tool(name, &arguments, timeout, &mut out)?;
        Ok(Pending::new(request))
    }

    /// Gets the messages of a prompt of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many requests have
    /// no answer yet.
    pub fn get_prompt(&mut self, prompt: &GetPrompt) -> Result<Pending<PromptResult<'static>>, NotSent> {
        self.request("prompts/get", Some(prompt), Timeout::Default).map(Pending::new)
    }

    /// Reads a resource of the editor. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn read_resource(
        &mut self,
        resource: &ReadResource,
    ) -> Result<Pending<ResourceResult<'static>>, NotSent> {
        self.request("resources/read", Some(resource), Timeout::Default).map(Pending::new)
    }

    /// Sends a request with a method of the Obsidian dialect.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many
    /// requests have no answer yet, or if the parameters cannot be written as a JSON object.
    pub fn request_direct(&mut self, request: &DirectRequest) -> Result<RequestId, NotSent> {
        self.request(request.method(), Some(request), Timeout::Default)
    }

    /// Sends a request with any method.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many
    /// requests have no answer yet, or if the parameters cannot be written as a JSON object.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, NotSent> {
        let (session, mut out) = self.sender_if_open()?;
        session.request(method, params, timeout, &mut out)
    }

    /// Cancels a request and notifies the editor. Returns false if the request has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Replaces the folders that the agent works in, and notifies the editor if the list has changed. An editor whose
    /// session is not ready yet asks for the list later.
    ///
    /// # Errors
    ///
    /// [`NotSent::Undeclared`] if [`mcp::ClientConfig::roots`] is `None`, and [`NotSent::Full`] or [`NotSent::Closed`]
    /// as for [`notify`](Client::notify). After an error the list is as before.
    pub fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), NotSent> {
        let (session, mut out) = self.session();
        session.set_roots(roots, &mut out)
    }

    /// Answers a [form](ClientEvent::Form) of the editor. Check it with [`Form::check`](crate::mcp::Form::check) first:
    /// an editor ignores an answer that does not fit.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. Nothing is sent.
    pub fn answer_form(&mut self, call: CallId, answer: &FormAnswer) -> Result<(), NotAnswered> {
        let (session, mut out) = self.answer_sender()?;
        session.respond_with(call, answer, &mut out)
    }

    /// Answers a request of the editor. The result must be an object.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. [`NotAnswered::Unserializable`] if the result isn't
    /// an object; the call is still open then. Nothing is sent.
    pub fn respond_raw(&mut self, call: CallId, result: &RawValue) -> Result<(), NotAnswered> {
        let (session, mut out) = self.answer_sender()?;
        session.respond_with(call, result, &mut out)
    }

    /// Answers a request of the editor with an error. A plain string means that this side failed (-32603); pass an
    /// [`ErrorObject`] for another code, or data.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. Nothing is sent.
    pub fn fail(&mut self, call: CallId, error: impl Into<ErrorObject>) -> Result<(), NotAnswered> {
        let (session, mut out) = self.answer_sender()?;
        session.fail(call, error, &mut out)
    }

    /// Reports the progress of a request of the editor, and extends its deadline as far as its [`Timeout`] permits.
    /// Returns true if the report was sent: the editor wants reports, and the send buffer is not full.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open. Nothing is sent.
    pub fn progress(&mut self, call: CallId, progress: &Progress<'_>) -> Result<bool, NotAnswered> {
        let (session, mut out) = self.answer_sender()?;
        session.progress(call, progress, &mut out)
    }

    /// Sets how long a request of the editor may wait from now on, instead of the configured time.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is not open.
    pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotAnswered> {
        self.answer_sender()?.0.set_call_timeout(call, timeout)
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the
    /// parameters cannot be written as a JSON object.
    pub fn notify<P: Serialize + ?Sized>(&mut self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        let (session, mut out) = self.sender_if_open()?;
        session.notify(method, params, &mut out)
    }

    /// Detaches as the real client does, with a close frame of 1000. An unanswered opening handshake is given up at
    /// once.
    pub fn close(&mut self) {
        if self.ws.sender().close(CloseCode::NORMAL, "") == Err(SendError::NotOpen) {
            self.ws.abort();
        }
    }

    /// Returns true if the send buffer is at its mark ([`ws::Limits::outgoing`]), because the editor reads too slowly.
    /// Until there is room, calls and notifications are refused.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ws.is_full()
    }

    /// Returns true if the session is initialized and has not ended.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.mcp.is_ready()
    }

    /// Returns the session and the sender for its messages. Feeding bytes sets only the clock of the WebSocket, so this
    /// sets the clock of the session too.
    fn session(&mut self) -> (&mut mcp::Client, ws::Sender<'_>) {
        self.mcp.set_now(self.ws.stream.output.now);
        (&mut self.mcp, self.ws.sender())
    }

    /// Returns the session and its sender for anything but an answer. Refuses what would be lost without an error:
    /// before the connection is open, and after our close frame.
    fn sender_if_open(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotSent> {
        match self.ws.is_open() {
            true => Ok(self.session()),
            false if self.ws.has_ended() || self.mcp.has_started() => Err(NotSent::Closed),
            false => Err(NotSent::NotReady),
        }
    }

    /// Returns the session and its sender for an answer. Refuses it once the connection has ended, even if that was not
    /// polled yet: until then the session still thinks the calls are open.
    fn answer_sender(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotAnswered> {
        if self.ws.is_open() { Ok(self.session()) } else { Err(NotAnswered::Closed) }
    }

    /// Sends `ide_connected` with our process id, as soon as the send buffer has room.
    fn send_ide_connected(&mut self) {
        if let Some(pid) = self.pid.filter(|_| self.mcp.is_ready()) {
            if self.notify("ide_connected", Some(&Connected { pid })).is_ok() {
                self.pid = None;
            }
        }
    }

    fn translate(&mut self, event: mcp::ClientEvent) -> Option<ClientEvent> {
        Some(match event {
            mcp::ClientEvent::Ready => {
                self.send_ide_connected();
                ClientEvent::Ready(self.mcp.server().cloned()?)
            }
            mcp::ClientEvent::Failed(failure) => {
                let _ = self.ws.sender().close(CloseCode::POLICY, "the session could not be opened");
                ClientEvent::Failed(failure)
            }
            mcp::ClientEvent::Form { call, form } => ClientEvent::Form { call, form },
            mcp::ClientEvent::Request { call, method, params } => {
                ClientEvent::Request { call, method, params }
            }
            mcp::ClientEvent::CallEnded { call, reason } => ClientEvent::CallEnded { call, reason },
            mcp::ClientEvent::Outcome { request, outcome } => ClientEvent::Outcome { request, outcome },
            mcp::ClientEvent::Progress { request, progress } => ClientEvent::Progress { request, progress },
            mcp::ClientEvent::Notification { method, params } if self.raw_notifications => {
                ClientEvent::Notification { method, params }
            }
            mcp::ClientEvent::Notification { method, params } => notified(method, params),
            mcp::ClientEvent::PeerError(error) => ClientEvent::PeerError(error),
            mcp::ClientEvent::PeerFault(fault) => ClientEvent::PeerFault(fault),
            mcp::ClientEvent::TooManyFaults => {
                self.ws.fail(ProtocolError::TooManyMalformedMessages);
                return None;
            }
            mcp::ClientEvent::PingTimeout => {
                self.ws.time_out("no answer to a ping");
                return None;
            }
        })
    }
}

#[derive(Serialize)]
struct Connected {
    pid: u32,
}

/// Reads a push of the editor by its name in any dialect. What cannot be read becomes a [`ClientEvent::Notification`],
/// unchanged.
fn notified(method: Box<str>, params: Option<Json>) -> ClientEvent {
    if &*method == "notifications/tools/list_changed" {
        return ClientEvent::ToolsChanged;
    }
    let text = params.as_deref().map_or("{}", RawValue::get);
    Push::read(&method, text).map_or(ClientEvent::Notification { method, params }, ClientEvent::Pushed)
}

impl Pumped for Client {
    type Event = ClientEvent;
    type Mask = Masked;

    fn output(&self) -> &ws::Output<Masked> {
        &self.ws.stream.output
    }

    fn has_event(&self) -> bool {
        !self.events.is_empty() || !self.mcp.session.events.is_empty()
    }

    fn next_event(&mut self) -> Option<ClientEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let event = self.mcp.session.events.pop_front()?;
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
    }

    fn flush(&mut self) {
        if self.pid.is_some() {
            self.send_ide_connected();
        }
    }

    fn take_bytes(&mut self) -> bool {
        let now = self.ws.stream.output.now;
        let Some((event, mut sender)) = self.ws.poll_borrowed() else { return false };
        match event {
            ws::Event::Open { subprotocol: Some(_) } => {
                // The session starts once, before any other message, so the send buffer is not full. The exception: the
                // transport has ended, and the high-water mark is below the length of the opening handshake. Then the
                // session never begins.
                let started = self.mcp.start(now, &mut sender);
                debug_assert!(
                    matches!(started, Ok(()) | Err(NotSent::Full | NotSent::Closed)),
                    "{started:?}"
                );
            }
            // The real client drops the connection and sends nothing (measured). We send a close frame with the reason,
            // for the author of the editor.
            ws::Event::Open { subprotocol: None } => {
                self.events.push_back(ClientEvent::SubprotocolMissing);
                let _ = sender.close(CloseCode::PROTOCOL, "the sub-protocol mcp was not chosen");
            }
            ws::Event::Text(text) => self.mcp.receive(now, text, &mut sender),
            // The real client reads binary messages that hold text (measured).
            ws::Event::Binary(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => self.mcp.receive(now, text, &mut sender),
                Err(_) => self.ws.fail(ProtocolError::UnexpectedBinary),
            },
            ws::Event::Closed(closed) => {
                self.mcp.close();
                while let Some(event) = self.mcp.session.events.pop_front() {
                    let event = self.translate(event);
                    self.events.extend(event);
                }
                self.events.push_back(ClientEvent::Closed(closed));
            }
            ws::Event::Upgrade(_) | ws::Event::Ping(_) | ws::Event::Pong(_) => {}
        }
        true
    }

    fn transport_due(&self) -> Time {
        self.ws.due()
    }

    fn session_due(&self) -> Time {
        self.mcp.session.due()
    }

    fn keep_time(&mut self) {
        self.mcp.keep_time(self.ws.stream.output.now, &mut self.ws.sender());
    }
}

impl Single for Client {
    type Event = ClientEvent;

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        Self::feed(self, now, bytes);
    }

    fn wants_input(&self) -> bool {
        Self::wants_input(self)
    }

    fn space(&mut self) -> &mut [u8] {
        Self::space(self)
    }

    fn filled(&mut self, now: Time, n: usize) {
        Self::filled(self, now, n);
    }

    fn trim(&mut self) {
        Self::trim(self);
    }

    fn pass(&self) -> Pass {
        self.ws.pass()
    }

    fn pass_mut(&mut self) -> &mut Pass {
        self.ws.pass_mut()
    }

    fn tick(&mut self, now: Time) {
        self.ws.tick(now);
    }

    fn poll_event(&mut self) -> Option<ClientEvent> {
        pump::poll(self)
    }

    fn due(&self) -> Time {
        pump::due(self)
    }

    #[inline]
    fn outgoing(&self) -> &[u8] {
        self.ws.outgoing()
    }

    fn sent(&mut self, n: usize) {
        self.ws.sent(n);
        self.flush();
    }

    fn end_stream(&mut self, now: Time) {
        self.ws.end_stream(now);
    }

    fn is_done(&self) -> bool {
        self.ws.stream.output.is_done() && !self.has_event()
    }
}
