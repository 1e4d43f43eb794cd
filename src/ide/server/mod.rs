//! One accepted connection, the editor's side: WebSocket, session, diffs and selection of one client, joined.

mod config;
mod inbound;

pub use config::ServerConfig;

use super::context::InDialect;
use super::diffs::{DiffEnd, Diffs};
use super::slot::Slot;
use super::toolset::SharedTools;
use super::{
    Answer, DiagnosticsChanged, Dialect, DiffOutcome, DirectAnswer, Mention, Notice, Selection, ServerEvent,
    ToolSet, direct,
};
use crate::machine::hand_to;
use crate::mcp::{self, Forward, Implementation, Progress, Timeout, ToolResult};
use crate::rpc::{CallId, Gone, RequestId, SendError, SessionId};
use crate::time::earlier;
use crate::ws::{self, CloseCode, Closed};
use crate::{Machine, Time, Wire};
use alloc::{borrow::Cow, collections::VecDeque, sync::Arc, vec::Vec};
use serde::Serialize;
use serde_json::value::RawValue;

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
    /// No room for one more: whoever has the token is told so.
    full: bool,
    /// The policy has let the client in.
    let_in: bool,
    /// The client has been given a list of the tools.
    has_listed: bool,
    /// The tools have changed, and there was no room to say so, or the client was not initialized and had listed them.
    tools_untold: bool,
}

impl Server {
    /// A connection that was accepted at `now`. `session` marks its handles: no two connections of a program may have
    /// the same.
    #[must_use]
    pub fn new(config: impl Into<Arc<ServerConfig>>, session: SessionId, now: Time) -> Self {
        let config = config.into();
        let mut own = config.session.clone();
        own.forward = forwarded(own.forward, config.tools.dialect());
        Self {
            ws: ws::Server::new(config.limits.clone(), now),
            mcp: mcp::Server::new(own, SharedTools(config.tools.clone()), session),
            config,
            diffs: Diffs::default(),
            slot: Slot::new(),
            events: VecDeque::new(),
            closed: None,
            full: false,
            let_in: false,
            has_listed: false,
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

    /// Answers a [`Request`](ServerEvent::Request) with its result, an object.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn respond_raw(&mut self, call: CallId, result: &RawValue) -> Result<(), Gone> {
        self.may_answer()?;
        self.mcp.respond(call, result, &mut self.ws.sender())?;
        self.diffs.remove(call);
        Ok(())
    }

    /// Answers a call with the typed answer of its tool, in the dialect of the editor.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn answer(&mut self, call: CallId, answer: &impl Answer) -> Result<(), Gone> {
        let result = answer.result(self.dialect());
        self.respond(call, &result)
    }

    /// Answers a [`Direct`](ServerEvent::Direct) request.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn respond_direct(&mut self, call: CallId, answer: &DirectAnswer) -> Result<(), Gone> {
        self.respond_raw(call, &answer.to_raw())
    }

    /// Says how far a call has come, which starts the clock of its deadline again. True if the client asked to be told
    /// and is.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn progress(&mut self, call: CallId, said: &Progress<'_>) -> Result<bool, Gone> {
        self.may_answer()?;
        self.mcp.tick(self.ws.now());
        self.mcp.progress(call, said, &mut self.ws.sender())
    }

    /// Answers an `openDiff` with the verdict of a person.
    ///
    /// # Errors
    ///
    /// As [`respond`](Server::respond).
    pub fn decide(&mut self, call: CallId, outcome: &DiffOutcome) -> Result<(), Gone> {
        self.answer(call, outcome)
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
        let cut = selection.cut(crate::ide::MAX_SELECTION);
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
        self.say_unasked(Notice::AtMentioned, mention)
    }

    /// Tells the client that the problems of files are others than before. True if they were more than 1,000 and the
    /// rest was left out.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the session is not ready or there is no room.
    pub fn diagnostics_changed(&mut self, changed: &DiagnosticsChanged) -> Result<bool, SendError> {
        self.may_send()?;
        self.say_unasked(Notice::DiagnosticsChanged, changed)?;
        Ok(changed.is_cut())
    }

    /// Tells the client that the person looks at another file. The real client has no use for it. True if the text was
    /// above 256 KiB and was cut.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the session is not ready or there is no room.
    pub fn active_editor_changed(&mut self, mut selection: Selection) -> Result<bool, SendError> {
        self.may_send()?;
        let cut = selection.cut(crate::ide::MAX_SELECTION);
        self.say_unasked(Notice::ActiveEditorChanged, &selection)?;
        Ok(cut)
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
        self.mcp.tick(self.ws.now());
        self.mcp.request(method, params, timeout, &mut self.ws.sender())
    }

    /// Gives up a request and tells the client; false if it has ended.
    pub fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        self.may_send().is_ok() && self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Tells the client that other tools are offered from now on, as soon as there is room and, if it has listed the old
    /// ones, as soon as it is ready; and what was selected once it has listed these. Keep to the dialect of the old ones: the client was greeted in it.
    ///
    /// # Errors
    ///
    /// [`SendError`] if the client is not ready and has listed nothing, or the session does not declare such changes; the
    /// tools are changed all the same.
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

    /// What is sent before the connection is open or after the end would be dropped in silence.
    fn may_send(&self) -> Result<(), SendError> {
        if self.has_ended() || self.ws.is_cut_off() {
            return Err(SendError::Closed);
        }
        if self.ws.is_open() { Ok(()) } else { Err(SendError::NotReady) }
    }

    /// Where there is no room, or the client is not initialized though it has listed, the change is told later: a client
    /// that misses it goes on with the old tools.
    fn tell_tools(&mut self) -> Result<(), SendError> {
        let told = self.mcp.tools_list_changed(&mut self.ws.sender());
        let too_early = told == Err(SendError::NotReady) && self.has_listed;
        self.tools_untold = told == Err(SendError::Full) || too_early;
        if told == Ok(true) {
            self.slot.list_changed(self.ws.now());
        }
        if self.tools_untold { Ok(()) } else { told.map(drop) }
    }

    /// In which dialect the client is spoken to.
    fn dialect(&self) -> Dialect {
        self.mcp.tools().0.dialect()
    }

    fn say_unasked<T>(&mut self, notice: Notice, said: &T) -> Result<(), SendError>
    where
        for<'a> InDialect<'a, T>: Serialize,
    {
        let dialect = self.dialect();
        let params = InDialect(said, dialect);
        self.mcp.notify(dialect.notification(notice), Some(&params), &mut self.ws.sender())
    }

    fn push_selection(&mut self) {
        if self.ws.outgoing().len() > SELECTION_ROOM {
            return;
        }
        if let Some(selection) = self.slot.due() {
            if self.say_unasked(Notice::SelectionChanged, &*selection).is_ok() {
                self.slot.sent();
            }
        }
    }
}

/// What the application wants to be forwarded, and what this layer needs.
fn forwarded(forward: Forward, dialect: Dialect) -> Forward {
    let mut methods = match forward {
        Forward::Nothing => Vec::new(),
        Forward::Methods(methods) => methods,
        Forward::Everything => return Forward::Everything,
    };
    methods.extend(inbound::IDE_CONNECTED.map(Cow::Borrowed));
    if dialect.rules().direct {
        methods.extend(direct::METHODS.map(Cow::Borrowed));
    }
    Forward::Methods(methods)
}

impl Wire for Server {
    hand_to!(ws: space filled feed feed_eof outgoing wants_input trim);

    fn sent(&mut self, n: usize) {
        self.ws.sent(n);
        if self.tools_untold {
            // It cannot be told any more where the session has ended since.
            let _ = self.tell_tools();
        }
        self.push_selection();
    }

    fn is_done(&self) -> bool {
        self.closed.is_none() && self.events.is_empty() && self.ws.is_done()
    }
}

impl Machine for Server {
    type Event = ServerEvent;

    fn tick(&mut self, now: Time) {
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
            self.slot.expire(self.ws.now());
            self.push_selection();
            self.mcp.tick(self.ws.now());
            let event = self.mcp.poll_event(&mut self.ws.sender())?;
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
    }

    fn deadline(&self) -> Option<Time> {
        if !self.events.is_empty() || self.closed.is_some() || self.mcp.has_queued_event() {
            return Some(self.ws.now());
        }
        if self.ws.has_ended() || self.ws.is_full() {
            return self.ws.deadline();
        }
        earlier(self.ws.deadline(), earlier(self.mcp.deadline(), self.slot.deadline()))
    }
}
