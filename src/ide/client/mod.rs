//! The agent's side of a connection: for tests, bridges, and agents other than the real client.

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

/// The agent's side of one connection. The `Agent` of an adapter (`ide_mcp_blocking`, `ide_mcp_smol`,
/// `ide_mcp_mio`) also has the search for the editor, the socket, the randomness, and the next connection
/// after a lost one.
///
/// ```text
///  Asking ──101 with mcp──▶ Negotiating ──known version──▶ Ready ── list, call, cancel
///     │ refused, 30 s,         │ error, 30 s, unknown        │
///     ▼ 101 without mcp        ▼ Failed, close frame         ▼ close, close frame, protocol error, eof
///  Ended ◀──────────────────────────────────────────────────┘ every request: one Outcome; then Closed, once
/// ```
///
/// This is the whole turn of an agent's loop, over a socket that does not block. It goes on with the time of the next
/// turn, if the socket is not ready before, and breaks once the connection is over.
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
    /// The process id for `ide_connected`, until the notification is sent.
    pid: Option<u32>,
    dialect: Dialect,
    raw_notifications: bool,
    /// The events of this layer that were not polled yet.
    events: VecDeque<ClientEvent>,
}

impl Client {
    /// Creates an agent's connection; the first pass writes its opening handshake. `session` is a part of the names of its
    /// calls and requests, so each connection of a program needs a `session` of its own. `random` fills a slice
    /// with bytes that nobody can predict, as `getrandom::fill` does; RFC 6455 demands such keys of a client.
    ///
    /// # Errors
    ///
    /// [`InvalidClientRequest`] if the host, the [target](ClientConfig::target), a
    /// [field](ClientConfig::fields) or the `User-Agent` is not valid in an opening handshake, or if a
    /// limit is 0. The `User-Agent` is the name and version of the agent.
    pub fn new<E>(
        config: ClientConfig,
        random: impl FnMut(&mut [u8]) -> Result<(), E> + Send + Sync + 'static,
        session: SessionId,
        now: Time,
    ) -> Result<Self, InvalidClientRequest> {
        if let Some(limit) = config.mcp.limits.first_zero() {
            return Err(InvalidClientRequest::ZeroLimit(limit));
        }
        let mut ask = ClientRequest::new(config.host).target(config.target).subprotocol(SUBPROTOCOL);
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
            raw_notifications: config.raw_notifications,
            events: VecDeque::new(),
        })
    }

    /// Feeds bytes from the socket. Their events come with the next [`poll`](Self::poll).
    ///
    /// The connection ends ([`InputOverflow`](crate::ws::Closed::InputOverflow)) if bytes come while
    /// [`wants_input`](Self::wants_input) is false, or a piece is larger than 256 KiB.
    pub fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.ws.feed(now, bytes);
    }

    /// Tells the client that the editor's stream has ended, or that the last [`Write`](Output::Write) has failed.
    ///
    /// What came before the end is still delivered and answered: an editor can close its side and read on. After a failed
    /// write, or a second end, nothing more is written.
    pub fn feed_eof(&mut self, now: Time) {
        self.take_end(now);
    }

    /// Returns the next thing to do: react to an event, write, close, or wait.
    pub fn poll(&mut self, now: Time) -> Output<'_, ClientEvent> {
        self.next_output(now)
    }

    /// Reports how many bytes of the last [`Write`](Output::Write) the socket took; 0 if it would block. The rest is
    /// offered again, in the next pass at the latest. A number above the length of the offer counts as the whole offer.
    pub fn written(&mut self, n: usize) {
        self.take_written(n);
    }

    /// Reads from a socket that does not block, and feeds what has come, until the socket would block or
    /// [`wants_input`](Self::wants_input) is false. An error is more than the end of the
    /// stream: nothing is written after it either.
    ///
    /// Returns true if the machine wanted no more, so that the socket can have more to read. A poller that tells you of a
    /// socket only once (mio, epoll with EPOLLET) will not tell you again: read it once more after the pass.
    #[cfg(feature = "std")]
    pub fn read_from(&mut self, now: Time, socket: &mut (impl std::io::Read + ?Sized)) -> bool {
        self.read_socket(now, socket)
    }

    /// Answers the last [`Write`](Output::Write): writes its bytes to a socket that does not block, and reports with
    /// [`written`](Self::written) or [`feed_eof`](Self::feed_eof) what came of it. A wrong count is the one mistake of a
    /// loop that nobody here can see, and this method makes none.
    #[cfg(feature = "std")]
    pub fn write_to(&mut self, now: Time, socket: &mut (impl std::io::Write + ?Sized)) {
        self.write_socket(now, socket);
    }

    /// Returns true if you may read more bytes from the socket. While it is false, the client waits for a poll, or for
    /// room in the send buffer.
    #[must_use]
    pub fn wants_input(&self) -> bool {
        self.ws.wants_input()
    }

    /// Returns true if bytes wait for room in the socket: let your loop wake when the socket is writable.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.ws.wants_output()
    }

    /// Returns room for a read, to [feed](Self::feed) without a copy: read into it, then call
    /// [`filled`](Self::filled). Empty exactly while [`wants_input`](Self::wants_input) is false, and valid until the
    /// next poll, [`feed`](Self::feed) or [`trim`](Self::trim).
    pub fn space(&mut self) -> &mut [u8] {
        self.ws.space()
    }

    /// Feeds the first `n` bytes of [`space`](Self::space). An `n` beyond it ends the connection as too many bytes in
    /// [`feed`](Self::feed) do.
    pub fn filled(&mut self, now: Time, n: usize) {
        self.ws.filled(now, n);
    }

    /// Frees the memory that an idle connection does not need. Nothing else changes.
    pub fn trim(&mut self) {
        self.ws.trim();
        self.mcp.trim();
        self.events.shrink_to_fit();
    }

    /// Returns the time of the next pass, as the last [`Wait`](Output::Wait) did, but with what you have done since:
    /// not in the future while there is something to do.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next_pass()
    }

    /// Requests the list of the tools of the editor. [`Pending::answer`] reads the
    /// [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn list_tools(&mut self) -> Result<Pending<Vec<ToolSpec>>, NotSent> {
        self.list(List::Tools, Timeout::Default).map(Pending::new)
    }

    /// Requests the list of the prompts of the editor. [`Pending::answer`] reads the
    /// [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn list_prompts(&mut self) -> Result<Pending<Vec<PromptSpec>>, NotSent> {
        self.list(List::Prompts, Timeout::Default).map(Pending::new)
    }

    /// Requests the list of the resources of the editor. [`Pending::answer`] reads the
    /// [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn list_resources(&mut self) -> Result<Pending<Vec<ResourceSpec>>, NotSent> {
        self.list(List::Resources, Timeout::Default).map(Pending::new)
    }

    /// Requests the list of the templates of resources of the editor. [`Pending::answer`] reads the
    /// [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn list_resource_templates(&mut self) -> Result<Pending<Vec<ResourceTemplate>>, NotSent> {
        self.list(List::ResourceTemplates, Timeout::Default).map(Pending::new)
    }

    /// Requests all pages of a list of the editor, for a caller that reads the JSON of the result itself. The
    /// timeout applies to each page. One [`Outcome`](ClientEvent::Outcome) follows: the list as if it had come in one page.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
    pub fn list(&mut self, list: List, timeout: Timeout) -> Result<RequestId, NotSent> {
        let (session, mut out) = self.speak()?;
        session.list(list, timeout, &mut out)
    }

    /// Calls a tool. An `openDiff` or `executeCode` waits for the person without a timeout. Every other
    /// call has the configured timeout. [`Pending::answer`] reads the [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many
    /// requests have no answer yet, or if the parameters cannot be written as a JSON object.
    pub fn call_tool<T: ToolArguments>(&mut self, arguments: &T) -> Result<Pending<T::Answer>, NotSent> {
        let tool = Tool::from_name(arguments.name_in(self.dialect));
        let waits = matches!(tool, Some(Tool::OpenDiff | Tool::ExecuteCode));
        self.call_tool_within(arguments, if waits { Timeout::Never } else { Timeout::Default })
    }

    /// Calls a tool and waits this long. With [`Timeout::Progress`] the editor reports the progress of
    /// the call, as [`Progress`](ClientEvent::Progress), and each report starts the timeout again.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many
    /// requests have no answer yet, or if the parameters cannot be written as a JSON object.
    pub fn call_tool_within<T: ToolArguments>(
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

    /// Requests the messages of a prompt of the editor. [`Pending::answer`] reads the
    /// [outcome](ClientEvent::Outcome).
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if too many
    /// requests have no answer yet.
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
    pub fn ask_direct(&mut self, request: &DirectRequest) -> Result<RequestId, NotSent> {
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
        let (session, mut out) = self.speak()?;
        session.request(method, params, timeout, &mut out)
    }

    /// Cancels a request and notifies the editor. Returns false if the request has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Replaces the folders in which the agent works, and notifies the editor if the list has changed.
    /// An editor whose session is not ready yet asks for the list later.
    ///
    /// # Errors
    ///
    /// [`NotSent::Undeclared`] if [`mcp::ClientConfig::roots`] is `None`, and [`NotSent::Full`] or
    /// [`NotSent::Closed`] as for [`notify`](Client::notify). After an error the list is as before.
    pub fn set_roots(&mut self, roots: Vec<Root>) -> Result<(), NotSent> {
        let (session, mut out) = self.session();
        session.set_roots(roots, &mut out)
    }

    /// Answers a [form](ClientEvent::Form) of the editor. The editor takes an answer that does not fit
    /// the form as no answer, so check it with [`Form::check`](crate::mcp::Form::check) first.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open. Nothing is sent.
    pub fn answer_form(&mut self, call: CallId, answer: &FormAnswer) -> Result<(), NotAnswered> {
        let (session, mut out) = self.reply()?;
        session.respond_with(call, answer, &mut out)
    }

    /// Answers a request of the editor with its result, an object.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    /// [`NotAnswered::Unserializable`] if the result isn't an object, in which case the call is still
    /// open. Nothing is sent.
    pub fn respond_raw(&mut self, call: CallId, result: &RawValue) -> Result<(), NotAnswered> {
        let (session, mut out) = self.reply()?;
        session.respond_with(call, result, &mut out)
    }

    /// Answers a request of the editor with an error: a text is a failure of this side (-32603), and
    /// [`ErrorObject`] has the other codes, and data.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open. Nothing is sent.
    pub fn fail(&mut self, call: CallId, error: impl Into<ErrorObject>) -> Result<(), NotAnswered> {
        let (session, mut out) = self.reply()?;
        session.fail(call, error, &mut out)
    }

    /// Reports the progress of a request of the editor, and puts its deadline off as far as its
    /// [`Timeout`] permits. Returns true if the editor receives the report: it asked for reports, and
    /// the send buffer is not full.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open. Nothing is sent.
    pub fn progress(&mut self, call: CallId, said: &Progress<'_>) -> Result<bool, NotAnswered> {
        let (session, mut out) = self.reply()?;
        session.progress(call, said, &mut out)
    }

    /// Sets the time for which a request of the editor waits from now on, in place of the configured
    /// one.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`], which names the end of the call if it is not open.
    pub fn set_call_timeout(&mut self, call: CallId, timeout: Timeout) -> Result<(), NotAnswered> {
        self.reply()?.0.set_call_timeout(call, timeout)
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the
    /// parameters cannot be written as a JSON object.
    pub fn notify<P: Serialize + ?Sized>(&mut self, method: &str, params: Option<&P>) -> Result<(), NotSent> {
        let (session, mut out) = self.speak()?;
        session.notify(method, params, &mut out)
    }

    /// Detaches, as the real client does: a close frame with 1000. An opening handshake without its answer
    /// is given up at once.
    pub fn close(&mut self) {
        if self.ws.sender().close(CloseCode::NORMAL, "") == Err(SendError::NotOpen) {
            self.ws.abort();
        }
    }

    /// Returns true if the send buffer is at its mark ([`ws::Limits::outgoing`]), because the editor reads too slowly. Calls
    /// and notifications are refused until there is room.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ws.is_full()
    }

    /// Returns true if the session is initialized and has not ended.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.mcp.is_ready()
    }

    /// Returns the session and the sender for its messages. Brings the session to the latest time seen,
    /// since time that came with bytes has not reached the session.
    fn session(&mut self) -> (&mut mcp::Client, ws::Sender<'_>) {
        self.mcp.set_now(self.ws.stream.output.now);
        (&mut self.mcp, self.ws.sender())
    }

    /// Returns the session and its sender for a message that is no answer. Refuses messages that would
    /// be lost without an error: before the connection is open, and after our close frame.
    fn speak(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotSent> {
        match self.ws.is_open() {
            true => Ok(self.session()),
            false if self.ws.has_ended() || self.mcp.has_started() => Err(NotSent::Closed),
            false => Err(NotSent::NotReady),
        }
    }

    /// Returns the session and its sender for an answer. Refuses the answer once the connection has
    /// ended, even before the poll of its end. Until that poll the session still has the calls as open.
    fn reply(&mut self) -> Result<(&mut mcp::Client, ws::Sender<'_>), NotAnswered> {
        if self.ws.is_open() { Ok(self.session()) } else { Err(NotAnswered::Closed) }
    }

    /// Sends `ide_connected`, with the process id of the client, as soon as the send buffer has room.
    fn say_connected(&mut self) {
        if let Some(pid) = self.pid.filter(|_| self.mcp.is_ready()) {
            if self.notify("ide_connected", Some(&Connected { pid })).is_ok() {
                self.pid = None;
            }
        }
    }

    fn translate(&mut self, event: mcp::ClientEvent) -> Option<ClientEvent> {
        Some(match event {
            mcp::ClientEvent::Ready => {
                self.say_connected();
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

/// Reads a push of the editor by its name in any dialect. A notification that cannot be read as a push
/// becomes a [`ClientEvent::Notification`], unchanged.
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
            self.say_connected();
        }
    }

    fn take_bytes(&mut self) -> bool {
        let now = self.ws.stream.output.now;
        let Some((event, mut sender)) = self.ws.poll_lent() else { return false };
        match event {
            ws::Event::Open { subprotocol: Some(_) } => {
                // The session starts once, before any other message, so the send buffer is not full,
                // with one exception: the transport has ended, and the high-water mark is below the
                // length of the opening handshake. The session never begins then.
                let started = self.mcp.start(now, &mut sender);
                debug_assert!(
                    matches!(started, Ok(()) | Err(NotSent::Full | NotSent::Closed)),
                    "{started:?}"
                );
            }
            // The real client drops the connection and sends nothing (measured). This client sends a
            // close frame with the reason, for the author of the editor.
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
