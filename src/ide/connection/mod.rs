//! One accepted connection, the editor's side: WebSocket, session, diffs and selection of one client.

mod consent;
mod expected_edits;
mod forms;
mod inbound;
mod open_call;
mod open_calls;
mod outbound;
mod peer;
mod policy;
mod quirks;
mod roots;

pub use expected_edits::EditEnd;
pub use open_call::OpenCall;
pub use open_calls::DiffEnd;
pub use peer::MODELS_TARGET;
pub(super) use policy::SUBPROTOCOL;
pub use policy::{Auth, AuthFailure, Policy, TOKEN_FIELD};

use super::pump::{self, Pumped as _};
use super::push::{PushSchedule, StreamPos};
use super::tool::direct;
use super::tool::toolset::SharedTools;
use super::{AgentId, ConnId, Dialect, ServerConfig, ServerEvent};
use crate::Time;
use crate::mcp::{self, Context, Forward, Implementation};
use crate::rpc::{CallId, SerializedNotification};
use crate::ws;
use alloc::{borrow::Cow, collections::VecDeque, sync::Arc, vec::Vec};
use consent::Consent;
use expected_edits::ExpectedEdits;
use forms::Forms;
use open_calls::OpenCalls;
use peer::Peer;
use policy::{Entry, FULL, Verdict};
use roots::Roots;

/// One accepted connection of an editor, which the [`Server`](super::Server) holds.
///
/// ```text
///  Handshake ──policy accepts──▶ Attaching ──initialized──▶ Ready ──settle time──▶ Settled
///      │ refused (see Policy), 5 s   │                        │                       │
///      ▼                             ▼ close frame, protocol error, eof, shutdown     ▼
///  Ended ◀────────────────────────────────────────────────────────────────────────────┘
///      every open diff: DiffClosed; every other call: CallEnded; every expected edit: EditEnded;
///      then Closed, once
///
///  Attaching ──initialized, consent required──▶ ConsentPending ──allow──▶ Ready
///
///  Settled ──tools/list answered, our list_changed──▶ Ready
/// ```
///
/// `close_tab`, `closeAllDiffTabs` and the end of the connection only end the diffs of this client. The connection
/// itself answers `closeAllDiffTabs`, and each `close_tab` that ends a diff. No message tells when a client begins to
/// accept pushes. So the selection is sent more than once, and mentions wait for the settle time
/// ([`accepts_pushes`](Connection::accepts_pushes)).
#[derive(Debug)]
pub(crate) struct Connection {
    /// The id of the connection and of its session.
    pub(super) conn: ConnId,
    ws: ws::Server,
    mcp: mcp::Server<SharedTools>,
    /// The settings, with the current tools and context of the application.
    config: Arc<ServerConfig>,
    open_calls: OpenCalls,
    expected_edits: ExpectedEdits,
    pushes: PushSchedule,
    /// Events of this layer, not polled yet.
    events: VecDeque<ServerEvent>,
    hangup: Hangup,
    /// True if no more clients may attach. A client with the token then gets a 503.
    pub(super) full: bool,
    /// What was decided about the opening handshake, even if the connection has ended since.
    pub(super) admission: Admission,
    /// The connection to open for a client that waits for [`admit`](Connection::admit); `None` if no client
    /// waits.
    pending: Option<Entry>,
    /// The kind of the connection. Until the client is accepted, it counts as an agent.
    peer: Peer,
    /// Calls that ended before they were answered, and that the application has not seen. Their ends are not reported.
    suppressed_ends: Vec<CallId>,
    consent: Consent,
    /// True if the client has listed the tools.
    listed: bool,
    /// The process id that the client sent in `ide_connected`.
    pid: Option<u32>,
    roots: Roots,
    forms: Forms,
    /// True if the tools have changed and `tools/list_changed` could not be sent yet.
    tools_changed_pending: bool,
    /// True if the prompts or resources have changed and the client could not be notified yet.
    context_changed_pending: bool,
}

/// The end of the client's stream. A client that ends its stream after a call still reads the answer, so the WebSocket
/// is told only once the calls are answered.
///
/// ```text
///  No ──end_stream──▶ Received ──no call is open, the drain time is over, or end_stream again──▶ Over
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hangup {
    No,
    /// The stream has ended. The time, which is set once all bytes are read, limits the wait for answers.
    Received(Option<Time>),
    /// The WebSocket has been told.
    Over,
}

/// What was decided about the opening handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Nothing yet.
    Pending,
    /// The client was accepted.
    LetIn,
    /// The opening handshake was refused.
    Refused,
    /// The token was wrong, or the application did not admit the client.
    WrongToken,
}

impl Connection {
    /// Creates a connection that was accepted at `now`. All connections share the settings of their sessions
    /// ([`session_settings`]).
    pub(crate) fn new(
        config: Arc<ServerConfig>,
        settings: Arc<mcp::ServerConfig>,
        conn: ConnId,
        now: Time,
    ) -> Self {
        let mut ws = ws::Server::new(config.ws.clone(), now);
        if let Some(limit) = settings.limits.first_zero() {
            ws.end_misconfigured(limit);
        }
        Self {
            conn,
            ws,
            mcp: mcp::Server::new(
                settings,
                SharedTools { tools: config.tools.clone(), dialect: config.dialect, announces_edits: false },
                conn.session(),
            ),
            open_calls: OpenCalls::default(),
            expected_edits: ExpectedEdits::new(),
            pushes: PushSchedule::new(),
            events: VecDeque::new(),
            hangup: Hangup::No,
            full: false,
            admission: Admission::Pending,
            pending: None,
            peer: Peer::Agent,
            suppressed_ends: Vec::new(),
            consent: Consent::new(config.asks_for_consent),
            listed: false,
            pid: None,
            roots: Roots::default(),
            forms: Forms::new(),
            tools_changed_pending: false,
            context_changed_pending: false,
            config,
        }
    }

    /// Returns true if the opening handshake is over, the client was accepted, and no ending has begun.
    #[must_use]
    pub(crate) fn is_open(&self) -> bool {
        self.is_reading() && self.ws.is_open()
    }

    /// Returns true if the client accepts pushes, as far as we can know: its settle time has passed since the latest of
    /// `initialized`, the answer to its `tools/list` and our `tools/list_changed`. The time is
    /// [`ServerConfig::settle`], by default 1.6 s. A client that lists its tools over and over is treated as settled
    /// after 10 s.
    #[must_use]
    pub(crate) fn accepts_pushes(&self) -> bool {
        self.pushes.is_settled(self.now()) && self.mcp.is_ready()
    }

    /// Accepts a client that waits after an [`AdmissionPending`](ServerEvent::AdmissionPending), or answers it 503 if
    /// `full` is true. Returns false if no client waits.
    pub(crate) fn admit(&mut self, full: bool) -> bool {
        let Some(entry) = self.pending.take() else { return false };
        self.execute(if full { Verdict::Refuse(FULL) } else { Verdict::LetIn(entry) })
    }

    /// Refuses a client that waits after an [`AdmissionPending`](ServerEvent::AdmissionPending), like one with a wrong
    /// token. Returns false if no client waits.
    pub(crate) fn refuse(&mut self) -> bool {
        let Some(entry) = self.pending.take() else { return false };
        let verdict = self.config.policy.not_admitted(entry.subprotocol);
        self.execute(verdict)
    }

    /// Allows a client that waits after a [`ConsentPending`](ServerEvent::ConsentPending).
    /// [`Ready`](ServerEvent::Ready) follows, or [`ModelReady`](ServerEvent::ModelReady) for a
    /// [model](Connection::is_for_models), and then each call that has waited. Returns false if the client
    /// does not wait.
    pub(crate) fn allow(&mut self) -> bool {
        if !self.waits_for_consent() {
            return false;
        }
        self.consent.give();
        let ready = self.begin_ready();
        self.events.push_back(ready);
        true
    }

    /// Returns true if the client waits for [`allow`](Connection::allow).
    #[must_use]
    pub(crate) fn waits_for_consent(&self) -> bool {
        self.is_open() && self.consent.is_asked()
    }

    /// Returns the name and version that the client sent in `initialize`; `None` before `initialize`,
    /// or if they cannot be read.
    #[must_use]
    pub(crate) const fn client(&self) -> Option<&Implementation> {
        self.mcp.client()
    }

    /// Returns the process id that the client sent in `ide_connected`; `None` if it sent none.
    #[must_use]
    pub(crate) const fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// Returns the open diffs: the call and its tab.
    pub(crate) fn open_diffs(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.open_calls.diffs()
    }

    /// Returns the size of the messages of the open calls, in bytes.
    #[must_use]
    pub(crate) const fn open_bytes(&self) -> usize {
        self.mcp.session.incoming.bytes
    }

    /// Takes a new selection, written in the dialect of the session.
    pub(crate) fn set_selection(&mut self, selection: SerializedNotification) {
        self.pushes.set(selection);
        self.flush();
    }

    /// Ends a connection that is not accepted, without an answer.
    pub(crate) fn drop_unanswered(&mut self) {
        self.ws.abort();
    }

    /// Returns true if the last mention is still in the send buffer.
    pub(crate) const fn has_unwritten_mention(&self) -> bool {
        self.pushes.has_unwritten_mention()
    }

    fn agent(&self) -> AgentId {
        AgentId(self.conn)
    }

    /// Returns the latest time seen. The WebSocket holds the only clock of the connection.
    const fn now(&self) -> Time {
        self.ws.stream.output.now
    }

    /// Returns the session at the latest time seen, and the sender for its messages.
    fn session(&mut self) -> (&mut mcp::Server<SharedTools>, ws::Sender<'_>) {
        self.mcp.set_now(self.now());
        (&mut self.mcp, self.ws.sender())
    }

    /// Returns the end of the outgoing stream, and up to where it was written.
    fn stream_pos(&self) -> StreamPos {
        let tx = &self.ws.stream.output.tx;
        StreamPos { end: tx.position(), written: tx.written() }
    }

    /// Returns true if a call other than a diff is open. A client that has ended its stream still gets the answer to
    /// it. We do not wait for a diff, because the person may take forever.
    fn owes_answers(&self) -> bool {
        self.ws.is_open() && self.open_calls.has_any_but_diffs()
    }

    /// Passes the end of the client's stream on, once its calls are answered or the time for that is up. Returns false
    /// if there is nothing to pass on yet.
    fn hang_up(&mut self) -> bool {
        let Hangup::Received(limit) = self.hangup else { return false };
        let now = self.now();
        if self.owes_answers() {
            let limit = limit.unwrap_or_else(|| now.saturating_add(self.config.ws.drain));
            self.hangup = Hangup::Received(Some(limit));
            if now < limit {
                return false;
            }
        }
        self.hangup = Hangup::Over;
        self.ws.stream.output.cut_off();
        true
    }

    /// Returns true until the client ends its stream.
    #[inline]
    const fn is_reading(&self) -> bool {
        matches!(self.hangup, Hangup::No)
    }

    /// Returns true if the client was accepted, as an agent or for a model, and the connection has not ended.
    pub(crate) fn is_let_in(&self) -> bool {
        self.admission == Admission::LetIn && !self.has_ended()
    }

    /// Returns true if the client was accepted as an agent and the connection has not ended.
    pub(crate) fn is_attached(&self) -> bool {
        self.peer == Peer::Agent && self.is_let_in()
    }

    /// Returns true if the connection has ended, even if that was not reported yet.
    pub(crate) fn has_ended(&self) -> bool {
        self.ws.stream.output.has_ended()
    }
}

/// Returns the settings of the sessions of these connections: the settings of the application, plus the requests and
/// resources that this layer serves.
pub(super) fn session_settings(config: &ServerConfig) -> Arc<mcp::ServerConfig> {
    let mut settings = config.mcp.clone();
    settings.forward = forwarded(settings.forward, config.dialect);
    settings.context = context_with_tools(config);
    settings.at_once.extend(inbound::IDE_CONNECTED.map(Cow::Borrowed));
    // A person who is asked for consent needs the name in `initialize`.
    if config.dialect.rules().direct_methods && !config.asks_for_consent {
        settings.without_session.extend(direct::METHODS.map(Cow::Borrowed));
    }
    Arc::new(settings)
}

/// Returns the context of the application, plus the resources that its tools read. If both have the same URI, the
/// application's wins.
pub(super) fn context_with_tools(config: &ServerConfig) -> Arc<Context> {
    let own = &config.mcp.context;
    if !config.tool_resources || has_resources_of_its_own(&config.mcp) {
        return own.clone();
    }
    let is_own = |uri: &str| own.listed_resources().unwrap_or_default().iter().any(|spec| spec.uri == uri);
    let tools: Vec<_> = config.tools.resources(config.dialect).filter(|spec| !is_own(&spec.uri)).collect();
    if tools.is_empty() { own.clone() } else { Arc::new(Context::clone(own).resources(tools)) }
}

/// Returns true if the application answers the requests for resources itself. A session either serves or forwards them.
fn has_resources_of_its_own(config: &mcp::ServerConfig) -> bool {
    let is_served = config.context.declares_resources();
    let is_forwarded = |method| config.forward.takes(method, is_served);
    ["resources/list", "resources/read"].into_iter().any(is_forwarded)
        || !is_served && config.capabilities.contains_key("resources")
}

/// Returns the methods to forward: those of the application, and those that this layer needs.
fn forwarded(forward: Forward, dialect: Dialect) -> Forward {
    let mut methods = match forward {
        Forward::Nothing => Vec::new(),
        Forward::Methods(methods) => methods,
        all @ (Forward::Unmodelled | Forward::All) => return all,
    };
    methods.extend(inbound::IDE_CONNECTED.map(Cow::Borrowed));
    if dialect.rules().direct_methods {
        methods.extend(direct::METHODS.map(Cow::Borrowed));
    }
    Forward::Methods(methods)
}

/// How the server drives the connection.
impl Connection {
    #[inline]
    pub(crate) fn filled(&mut self, now: Time, n: usize) {
        self.ws.filled(now, n);
    }

    /// Returns the bytes that are not written yet.
    #[inline]
    pub(crate) fn outgoing(&self) -> &[u8] {
        self.ws.stream.output.outgoing()
    }

    #[inline]
    pub(crate) fn space(&mut self) -> &mut [u8] {
        if self.is_reading() { self.ws.space() } else { &mut [] }
    }

    pub(crate) fn feed(&mut self, now: Time, bytes: &[u8]) {
        if self.is_reading() {
            self.ws.feed(now, bytes);
        }
    }

    pub(crate) fn end_stream(&mut self) {
        if self.is_reading() {
            self.hangup = Hangup::Received(None);
            return;
        }
        if self.hangup != Hangup::Over {
            self.hangup = Hangup::Over;
            self.ws.stream.output.cut_off();
        }
        self.ws.stream.output.cut_off();
    }

    pub(crate) fn wants_input(&self) -> bool {
        self.is_reading() && self.ws.wants_input()
    }

    /// Call this when `n` more bytes of the output were written. Returns true if something was waiting for that, or may
    /// have been: then there may be new output or another deadline, and not only less output.
    #[inline]
    pub(crate) fn sent(&mut self, n: usize) -> bool {
        let output = &mut self.ws.stream.output;
        let mut has_waited = output.sent(n);
        if self.pushes.awaits <= output.tx.written() {
            let due = self.pushes.due;
            self.pushes.on_written(output.now, output.tx.written());
            has_waited |= due != self.pushes.due;
        }
        // Without this, a client that keeps the buffer full whenever it is polled would never get the selection again.
        if has_waited && self.pushes.due.is_due(output.now) && !output.tx.is_full() {
            self.pushes.tick(output.now);
        }
        if self.has_unsent() {
            self.flush();
            has_waited = true;
        }
        has_waited
    }

    /// Returns true if a message waits for the session or for room in the send buffer.
    #[inline]
    fn has_unsent(&self) -> bool {
        self.pushes.wants_to_send | self.has_unsent_beside_selection()
    }

    #[inline]
    fn has_unsent_beside_selection(&self) -> bool {
        let is_changed = self.tools_changed_pending | self.context_changed_pending;
        is_changed | self.roots.is_due | (self.forms.due <= self.ws.stream.output.now)
    }

    pub(crate) fn trim(&mut self) {
        self.ws.trim();
        self.mcp.trim();
        self.events.shrink_to_fit();
        self.open_calls.trim();
        self.expected_edits.trim();
        self.consent.trim();
    }

    /// Sets the clock of the connection.
    pub(crate) fn set_now(&mut self, now: Time) {
        self.ws.stream.output.set_now(now);
    }

    /// Returns the next event. The open calls may have `quota` bytes, in addition to the limit of the session. If
    /// `full` is true, no more clients may attach.
    pub(crate) fn poll(&mut self, quota: usize, full: bool) -> Option<ServerEvent> {
        self.full = full;
        self.mcp.session.incoming.quota = quota;
        pump::poll(self)
    }

    /// Returns what the server must know after each operation.
    #[inline]
    pub(crate) fn status(&self) -> Status {
        let output = &self.ws.stream.output;
        Status {
            due: pump::due(self),
            has_output: !output.outgoing().is_empty(),
            is_done: output.is_done() && !self.has_event(),
            // A client that has ended its stream and waits for answers counts too.
            is_open: output.is_open(),
            open_bytes: self.mcp.session.incoming.bytes,
        }
    }
}

/// What a server must know of a connection after each operation on it.
#[derive(Debug)]
pub(crate) struct Status {
    /// When the next event is due; [`Time::ZERO`] while one can be polled.
    pub(crate) due: Time,
    /// True if bytes wait to be written.
    pub(crate) has_output: bool,
    /// True if all events were polled, and the output was written or the time for that is up.
    pub(crate) is_done: bool,
    /// True if the connection counts among the open ones of a server.
    pub(crate) is_open: bool,
    /// The size of the messages of the open calls, in bytes.
    pub(crate) open_bytes: usize,
}

impl Status {
    /// The status of a connection that is gone.
    pub(crate) const GONE: Self =
        Self { due: Time::NEVER, has_output: false, is_done: false, is_open: false, open_bytes: 0 };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tested on the connection, because a server only counts the end of a connection that was never accepted.
    #[test]
    fn limit_of_zero_is_named() {
        let mut config = ServerConfig::new("editor", "1").policy(Policy::new(1, Auth::Disabled));
        config.mcp.limits.depth = 0;
        let settings = session_settings(&config);
        let conn = ConnId::new(0, 1);
        let mut connection = Connection::new(Arc::new(config), settings, conn, Time::ZERO);
        let event = connection.poll(usize::MAX, false);
        let is_named =
            matches!(&event, Some(ServerEvent::Closed { reason: ws::Closed::ZeroLimit("depth"), .. }));
        assert!(is_named && connection.status().is_done, "{event:?}");
    }
}
