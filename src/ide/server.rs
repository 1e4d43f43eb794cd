//! One accepted connection, the editor's side: WebSocket, session, diffs and selection of one client, joined.

use super::diffs::{DiffEnd, Diffs};
use super::policy::Policy;
use super::slot::Slot;
use super::toolset::SharedTools;
use super::{DiffOutcome, Mention, Selection, ServerEvent, ToolRequest, ToolSet};
use crate::mcp::{self, CallEnd, Implementation, Timeout, ToolResult};
use crate::rpc::{CallId, Gone, RequestId, SendError, SessionId};
use crate::time::earlier;
use crate::ws::{self, CloseCode, Closed, Violation};
use crate::{Machine, Time, Wire};
use alloc::{boxed::Box, collections::VecDeque, sync::Arc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// What the connections of one editor share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Who may attach.
    pub policy: Policy,
    /// The tools that are offered.
    pub tools: Arc<ToolSet>,
    /// Who the editor is, how long calls may wait, and the limits of a session.
    pub session: mcp::ServerConfig,
    /// The limits of a connection.
    pub limits: ws::Limits,
}

impl ServerConfig {
    /// The editor `info`, with these tools, for whom the policy lets in.
    #[must_use]
    pub fn new(info: Implementation, policy: Policy, tools: ToolSet) -> Self {
        Self {
            policy,
            tools: Arc::new(tools),
            session: mcp::ServerConfig::new(info),
            limits: ws::Limits::default(),
        }
    }
}

/// How full the outgoing buffer may be for a selection to be added: beyond it the latest waits, and wins.
const SELECTION_ROOM: usize = 64 * 1024;

/// One accepted connection, the editor's side. An editor that lets in several at once holds a
/// [`Host`](super::Host) instead.
///
/// ```text
///  Handshake ──policy accepts──▶ Attaching ──initialized──▶ Ready ──ide_connected, 500 ms──▶ Hearing
///      │ refused (see Policy), 5 s   │                        │                                │
///      ▼                             ▼ close frame, violation, eof, shutdown                   ▼
///  Ended ◀─────────────────────────────────────────────────────────────────────────────────────┘
///      every open diff: DiffClosed; every other call: CallEnded; then Closed, once
/// ```
///
/// `close_tab`, `closeAllDiffTabs` and the end of the connection end the diffs of this client and of no other;
/// the first two are answered here. The selection and mentions are pushed once the client hears them.
#[derive(Debug)]
pub struct Server {
    ws: ws::Server,
    mcp: mcp::Server<SharedTools>,
    config: Arc<ServerConfig>,
    diffs: Diffs,
    slot: Slot,
    /// What the session reported and is still to be told.
    events: VecDeque<ServerEvent>,
    /// The end, until everything that it ends has been told.
    closed: Option<Closed>,
    now: Time,
    /// No room for one more: whoever has the token is told so.
    full: bool,
    /// The policy has let the client in.
    let_in: bool,
    /// The tools have changed and there was no room to say so.
    tools_untold: bool,
}

impl Server {
    /// A connection that was accepted at `now`. `session` marks its handles: no two connections of a program may have
    /// the same.
    #[must_use]
    pub fn new(config: impl Into<Arc<ServerConfig>>, session: SessionId, now: Time) -> Self {
        let config = config.into();
        Self {
            ws: ws::Server::new(config.limits.clone(), now),
            mcp: mcp::Server::new(config.session.clone(), SharedTools(config.tools.clone()), session),
            config,
            diffs: Diffs::default(),
            slot: Slot::new(),
            events: VecDeque::new(),
            closed: None,
            now,
            full: false,
            let_in: false,
            tools_untold: false,
        }
    }

    /// Answers a call.
    ///
    /// # Errors
    ///
    /// If the call is not open: how it ended. Nothing is sent.
    pub fn respond(&mut self, call: CallId, result: &ToolResult<'_>) -> Result<(), Gone> {
        self.may_answer()?;
        self.mcp.respond(call, result, &mut self.ws.sender())?;
        self.diffs.remove(call);
        Ok(())
    }

    /// Answers an `openDiff` with the verdict of a person.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn decide(&mut self, call: CallId, outcome: &DiffOutcome) -> Result<(), Gone> {
        self.respond(call, &ToolResult::diff(outcome))
    }

    /// Answers a call with a JSON-RPC error. A tool that failed answers [`ToolResult::error`].
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn fail(&mut self, call: CallId, code: i64, message: &str) -> Result<(), Gone> {
        self.may_answer()?;
        self.mcp.fail(call, code, message, &mut self.ws.sender())?;
        self.diffs.remove(call);
        Ok(())
    }

    /// Tells the client the selection, as soon as it hears and there is room; the latest wins until then. It is told
    /// again when it forgets it. True if the text was above 256 KiB and was cut.
    pub fn select(&mut self, mut selection: Selection) -> bool {
        let cut = selection.cut(super::MAX_SELECTION);
        self.set_selection(Arc::new(selection));
        cut
    }

    /// Puts a file, or lines of it, into the prompt of the client.
    ///
    /// # Errors
    ///
    /// [`SendError::NotReady`] until the client [hears](Server::is_hearing), [`SendError::Full`] while there is no
    /// room.
    pub fn mention(&mut self, mention: &Mention) -> Result<(), SendError> {
        self.may_send()?;
        if !self.is_hearing() {
            return Err(SendError::NotReady);
        }
        self.mcp.notify("at_mentioned", Some(mention), &mut self.ws.sender())
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the session is not ready or there is no room.
    pub fn notify<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
    ) -> Result<(), SendError> {
        self.may_send()?;
        self.mcp.notify(method, params, &mut self.ws.sender())
    }

    /// Asks the client something, such as `roots/list`. One [`Outcome`](ServerEvent::Outcome) follows.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the session is not ready or there is no room.
    pub fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, SendError> {
        self.may_send()?;
        // An idle connection is not polled, so the session may not have heard how late it is.
        self.mcp.tick(self.now);
        self.mcp.request(method, params, timeout, &mut self.ws.sender())
    }

    /// Gives up a request and tells the client; false if it has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        self.may_send().is_ok() && self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Tells the client that other tools are offered from now on, as soon as there is room, and what was selected once
    /// it has listed them.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the session is not ready or does not declare such changes; the tools are changed all the same.
    pub fn set_tools(&mut self, tools: impl Into<Arc<ToolSet>>) -> Result<(), SendError> {
        self.mcp.tools_mut().0 = tools.into();
        self.may_send()?;
        self.tell_tools()
    }

    /// Closes the connection in good order: open diffs are answered as rejected, other calls as failed, then the close
    /// frame goes out (1001).
    pub fn shutdown(&mut self) {
        while let Some(call) = self.diffs.first() {
            self.end_diff(call, DiffEnd::ShutDown);
        }
        let mut sender = self.ws.sender();
        self.mcp.shut_down("the editor shuts down", &mut sender);
        if sender.close(CloseCode::GOING_AWAY, "") == Err(ws::SendError::NotOpen) {
            self.ws.drop_unanswered();
        }
    }

    /// Whether the handshake is over and the client was let in, and no ending has begun.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ws.is_open()
    }

    /// Whether the client hears what is pushed: it is initialized and said `ide_connected`, or 500 ms have passed.
    #[must_use]
    pub fn is_hearing(&self) -> bool {
        self.slot.is_hearing() && self.mcp.is_ready()
    }

    /// Who the client says it is, once it has.
    #[must_use]
    pub const fn client(&self) -> Option<&Implementation> {
        self.mcp.client()
    }

    /// The open diffs: the call and its tab.
    pub fn open_diffs(&self) -> impl Iterator<Item = (CallId, &str)> {
        self.diffs.iter()
    }

    /// Whether the policy has let the client in, even if it has ended since.
    pub(crate) const fn was_let_in(&self) -> bool {
        self.let_in
    }

    pub(crate) const fn set_full(&mut self, full: bool) {
        self.full = full;
    }

    pub(crate) fn set_selection(&mut self, selection: Arc<Selection>) {
        if !self.has_ended() {
            self.slot.set(selection);
            self.push_selection();
        }
    }

    /// Ends a connection that is not let in, without an answer.
    pub(crate) fn drop_unanswered(&mut self) {
        self.ws.drop_unanswered();
    }

    /// Where the outgoing stream ends so far: a number that grows with everything that is sent.
    pub(crate) fn position(&self) -> u64 {
        self.ws.position()
    }

    /// Whether the end is there, be it reported or not.
    pub(crate) fn has_ended(&self) -> bool {
        self.closed.is_some() || self.ws.has_ended()
    }

    /// Where the connection has ended and that was not polled yet, the calls are still open; they end with it.
    fn may_answer(&self) -> Result<(), Gone> {
        if self.ws.has_ended() || self.ws.is_cut_off() { Err(Gone::Closed) } else { Ok(()) }
    }

    /// What is sent after the end would be dropped in silence.
    fn may_send(&self) -> Result<(), SendError> {
        if self.has_ended() || self.ws.is_cut_off() { Err(SendError::Closed) } else { Ok(()) }
    }

    /// Where there is no room the change is told later: a client that misses it goes on with the old tools.
    fn tell_tools(&mut self) -> Result<(), SendError> {
        let told = self.mcp.tools_list_changed(&mut self.ws.sender());
        self.tools_untold = told == Err(SendError::Full);
        if told.is_ok() {
            self.slot.list_changed(self.now);
        }
        if self.tools_untold { Ok(()) } else { told }
    }

    /// Takes one event of the WebSocket; whether there was one.
    fn take_bytes(&mut self) -> bool {
        let Some((event, mut sender)) = self.ws.poll_lent() else { return false };
        match event {
            ws::Event::Upgrade(request) => {
                let verdict = self.config.policy.judge(&request, self.full);
                // A request waits, and `mcp` is chosen only if it was offered: neither can be refused.
                self.let_in = verdict.is_ok();
                let decided = match verdict {
                    Ok(subprotocol) => self.ws.accept(subprotocol),
                    Err(refusal) => self.ws.reject(refusal),
                };
                debug_assert_eq!(decided, Ok(()));
            }
            ws::Event::Text(text) => self.mcp.receive(self.now, text, &mut sender),
            ws::Event::Binary(_) => self.ws.fail(Violation::UnexpectedBinary),
            ws::Event::Closed(closed) => {
                self.mcp.close();
                self.closed = Some(closed);
            }
            ws::Event::Open { .. } | ws::Event::Ping(_) | ws::Event::Pong(_) => {}
        }
        true
    }

    /// What an event of the session means for an editor; `None` where it is dealt with here.
    fn translate(&mut self, event: mcp::ServerEvent<ToolRequest>) -> Option<ServerEvent> {
        Some(match event {
            mcp::ServerEvent::Ready => {
                self.slot.initialized(self.now);
                self.push_selection();
                ServerEvent::Ready { client: self.mcp.client().cloned() }
            }
            mcp::ServerEvent::ToolsListed => {
                self.slot.tools_listed();
                self.push_selection();
                return None;
            }
            mcp::ServerEvent::Call { call, tool } => return self.called(call, tool),
            mcp::ServerEvent::CallEnded { call, how } => match self.diffs.remove(call) {
                Some(tab_name) => ServerEvent::DiffClosed { call, tab_name, why: diff_end(&how) },
                None => ServerEvent::CallEnded { call, how },
            },
            mcp::ServerEvent::Notification { method, params } => self.notified(method, params),
            mcp::ServerEvent::Outcome { request, outcome } => ServerEvent::Outcome { request, outcome },
            mcp::ServerEvent::PeerError(error) => ServerEvent::PeerError(error),
            mcp::ServerEvent::Violation(violation) => ServerEvent::Violation(violation),
            mcp::ServerEvent::TooManyViolations => {
                self.ws.fail(Violation::TooManyMalformedMessages);
                return None;
            }
        })
    }

    fn called(&mut self, call: CallId, request: ToolRequest) -> Option<ServerEvent> {
        match request {
            ToolRequest::CloseTab(close) => {
                while let Some(diff) = self.diffs.with_tab(&close.tab_name) {
                    self.end_diff(diff, DiffEnd::TabClosed);
                }
                self.answer(call, &ToolResult::tab_closed());
                None
            }
            ToolRequest::CloseAllDiffTabs => {
                let mut count = 0_usize;
                while let Some(diff) = self.diffs.first() {
                    self.end_diff(diff, DiffEnd::AllClosed);
                    count = count.saturating_add(1);
                }
                self.answer(call, &ToolResult::closed_diff_tabs(count));
                None
            }
            ToolRequest::OpenDiff(diff) => {
                self.diffs.open(call, diff.tab_name.clone());
                Some(ServerEvent::Call { call, request: ToolRequest::OpenDiff(diff) })
            }
            request @ (ToolRequest::GetDiagnostics(_) | ToolRequest::OpenFile(_) | ToolRequest::Other(_)) => {
                Some(ServerEvent::Call { call, request })
            }
        }
    }

    fn notified(&mut self, method: Box<str>, params: Option<Box<RawValue>>) -> ServerEvent {
        #[derive(Deserialize)]
        struct Connected {
            pid: Option<u32>,
        }
        if !matches!(&*method, "ide_connected" | "notifications/ide_connected") {
            return ServerEvent::Notification { method, params };
        }
        self.slot.ide_connected();
        self.push_selection();
        let said = params.and_then(|params| serde_json::from_str::<Connected>(params.get()).ok());
        ServerEvent::IdeConnected { pid: said.and_then(|said| said.pid) }
    }

    /// Answers an open diff as rejected, which is harmless where it was decided elsewhere, and says that it ended.
    fn end_diff(&mut self, call: CallId, why: DiffEnd) {
        let Some(tab_name) = self.diffs.remove(call) else { return };
        self.answer(call, &ToolResult::diff(&DiffOutcome::Rejected { tab_name: tab_name.clone() }));
        self.events.push_back(ServerEvent::DiffClosed { call, tab_name, why });
    }

    /// Answers a call that is known to be open.
    fn answer(&mut self, call: CallId, result: &ToolResult<'_>) {
        let answered = self.mcp.respond(call, result, &mut self.ws.sender());
        debug_assert_eq!(answered, Ok(()));
    }

    fn push_selection(&mut self) {
        if self.ws.outgoing().len() > SELECTION_ROOM {
            return;
        }
        if let Some(selection) = self.slot.due() {
            if self.mcp.notify("selection_changed", Some(&*selection), &mut self.ws.sender()).is_ok() {
                self.slot.sent();
            }
        }
    }
}

fn diff_end(how: &CallEnd) -> DiffEnd {
    match how {
        CallEnd::Cancelled { .. } => DiffEnd::Cancelled,
        CallEnd::ShutDown => DiffEnd::ShutDown,
        // An `openDiff` has no deadline, so it cannot expire.
        CallEnd::Expired | CallEnd::Closed => DiffEnd::Disconnected,
    }
}

impl Wire for Server {
    fn space(&mut self) -> &mut [u8] {
        self.ws.space()
    }

    fn filled(&mut self, now: Time, n: usize) {
        self.now = self.now.max(now);
        self.ws.filled(now, n);
    }

    fn feed(&mut self, now: Time, bytes: &[u8]) {
        self.now = self.now.max(now);
        self.ws.feed(now, bytes);
    }

    fn feed_eof(&mut self, now: Time) {
        self.now = self.now.max(now);
        self.ws.feed_eof(now);
    }

    fn outgoing(&self) -> &[u8] {
        self.ws.outgoing()
    }

    fn sent(&mut self, n: usize) {
        self.ws.sent(n);
        if self.tools_untold {
            // It cannot be told any more where the session has ended since.
            let _ = self.tell_tools();
        }
        self.push_selection();
    }

    fn wants_input(&self) -> bool {
        self.ws.wants_input()
    }

    fn is_done(&self) -> bool {
        self.closed.is_none() && self.events.is_empty() && self.ws.is_done()
    }

    fn trim(&mut self) {
        self.ws.trim();
    }
}

impl Machine for Server {
    type Event = ServerEvent;

    fn tick(&mut self, now: Time) {
        self.now = self.now.max(now);
        self.ws.tick(now);
    }

    fn poll_event(&mut self) -> Option<ServerEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if let Some(event) = self.mcp.queued_event() {
                match self.translate(event) {
                    Some(event) => return Some(event),
                    None => continue,
                }
            }
            if let Some(closed) = self.closed.take() {
                return Some(ServerEvent::Closed(closed));
            }
            if self.take_bytes() {
                continue;
            }
            // Above the mark the bytes have not all been looked at, so it is not yet time for the timers.
            if self.ws.has_ended() || self.ws.is_full() {
                return None;
            }
            self.slot.expire(self.now);
            self.push_selection();
            self.mcp.tick(self.now);
            let event = self.mcp.poll_event(&mut self.ws.sender())?;
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        if !self.events.is_empty() || self.closed.is_some() || self.mcp.has_queued_event() {
            return Some(self.now);
        }
        if self.ws.has_ended() || self.ws.is_full() {
            return self.ws.deadline();
        }
        earlier(self.ws.deadline(), earlier(self.mcp.deadline(), self.slot.deadline()))
    }
}
