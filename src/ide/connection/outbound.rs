//! What goes out on an editor's connection: the answers, notifications and requests of the application, and the pushes
//! that wait until the client accepts them.

use super::Connection;
use super::forms::Held;
use super::quirks::Quirks;
use crate::ide::DiffEnd;
use crate::ide::push::InDialect;
use crate::ide::tool::toolset::SharedTools;
use crate::ide::tool::{Call, Shape, ToolArguments};
use crate::ide::{DiagnosticsChanged, EditorNotification, Mention, Pending, Selection, ServerConfig};
use crate::mcp::{self, Context, Form, FormAnswer, Timeout};
use crate::rpc::{CallId, NotAnswered, NotSent, RequestId};
use crate::ws::{self, CloseCode};
use crate::{Outbox, To};
use alloc::sync::Arc;
use serde::Serialize;

/// While the send buffer has at most this many bytes, a selection is added. Above that the selection waits, and a newer
/// one replaces it.
const SELECTION_ROOM: usize = 64 * 1024;

/// The notifications that make a client forget the selection and list again (measured).
const LISTS_CHANGED: [&str; 3] = [
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
];

/// The error that replaces an answer for which the send buffer has no room.
const UNREAD: &str = "busy: too many bytes wait to be written";

impl Connection {
    /// Answers a tool call, in the dialect of the session.
    ///
    /// # Errors
    ///
    /// [`NotAnswered`] says how the call ended, if it is no longer open. Nothing is sent.
    pub(crate) fn answer<T: ToolArguments>(
        &mut self,
        call: Call<T>,
        answer: &T::Answer,
    ) -> Result<(), NotAnswered> {
        let call = call.id;
        let spelled = answer.spelled_as(|text| self.open_calls.other_spelling(call, text));
        let answer = spelled.as_ref().unwrap_or(answer);
        let result = answer.result_within(self.config.dialect, &self.config.content_limits);
        self.end(call, |mcp, out| mcp.session.incoming.respond_to_tool(call, &result, out))
    }

    /// Sends a mention of a file, or of lines of it, for the prompt of the client. A mention is sent only once, so call
    /// this method when the client [accepts pushes](Connection::accepts_pushes).
    /// [`Server::mention`](crate::ide::Server::mention) waits for that moment.
    ///
    /// # Errors
    ///
    /// [`NotSent::NotReady`] until the client [accepts pushes](Connection::accepts_pushes), and until 100 ms after the
    /// previous mention was written: clients drop mentions that follow each other faster (measured).
    /// [`NotSent::NotReady`] forever if the connection [is for models](Connection::is_for_models). [`NotSent::Full`]
    /// while the send buffer is full.
    pub(crate) fn mention(&mut self, mention: &Mention) -> Result<(), NotSent> {
        self.may_send()?;
        if !self.mcp.is_ready() || !self.pushes.can_mention(self.now()) {
            return Err(NotSent::NotReady);
        }
        let quirks = self.quirks();
        let spelled = match quirks {
            Quirks { lines_from_one: true, .. } => Some(mention.with_lines_from_one()),
            Quirks { quotes_paths: true, .. } => mention.quoted(self.config.dialect),
            _ => None,
        };
        self.push_notification(EditorNotification::AtMentioned, spelled.as_ref().unwrap_or(mention))?;
        self.pushes.on_mention_sent(self.ws.stream.output.tx.position());
        Ok(())
    }

    /// Notifies the client that the problems of files have changed. Returns true if there were more
    /// problems than [`ContentLimits::diagnostics`](crate::ide::ContentLimits::diagnostics) and the
    /// others were left out.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the connection
    /// [is for models](Connection::is_for_models), or if the send buffer is full.
    pub(crate) fn diagnostics_changed(&mut self, changed: &DiagnosticsChanged) -> Result<bool, NotSent> {
        self.may_push()?;
        let cut = changed.cut(self.config.content_limits.diagnostics);
        self.push_notification(EditorNotification::DiagnosticsChanged, cut.as_ref().unwrap_or(changed))?;
        Ok(cut.is_some())
    }

    /// Notifies the client that another file has the focus. The real client ignores this. Returns true if the text was
    /// longer than [`ContentLimits::selection`](crate::ide::ContentLimits::selection) and was cut.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the connection [is for
    /// models](Connection::is_for_models), or if the send buffer is full.
    pub(crate) fn active_editor_changed(&mut self, mut selection: Selection) -> Result<bool, NotSent> {
        self.may_push()?;
        let cut = selection.cut(self.config.content_limits.selection);
        self.push_notification(EditorNotification::ActiveEditorChanged, &selection)?;
        Ok(cut)
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, or if the
    /// parameters cannot be written as a JSON object.
    pub(crate) fn notify<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
    ) -> Result<(), NotSent> {
        self.may_send()?;
        self.mcp.notify(method, params, &mut self.ws.sender())?;
        if LISTS_CHANGED.contains(&method) {
            self.pushes.on_list_changed(self.now(), self.stream_pos());
        }
        Ok(())
    }

    /// Sends a request to the client, such as `roots/list`. One
    /// [`Outcome`](crate::ide::ServerEvent::Outcome) follows.
    ///
    /// # Errors
    ///
    /// [`NotSent`] if the session is not ready or has ended, if the send buffer is full, if too many
    /// requests have no answer yet, or if the parameters cannot be written as a JSON object.
    pub(crate) fn request<P: Serialize + ?Sized>(
        &mut self,
        method: &str,
        params: Option<&P>,
        timeout: Timeout,
    ) -> Result<RequestId, NotSent> {
        self.may_send()?;
        // An idle connection is not polled, so bring its session to the latest time seen first.
        let (session, mut out) = self.session();
        session.request(method, params, timeout, &mut out)
    }

    /// Asks the person at the client, with a form in the client's terminal (`elicitation/create`, MCP 2025-06-18).
    /// [`Pending::answer`] reads the [outcome](crate::ide::ServerEvent::Outcome) and returns only an answer that
    /// [fits](Form::check) the form. The person may decline, or close the form. It waits for the person without a
    /// timeout, until you [cancel](Self::cancel) it.
    ///
    /// The real client cancels forms in its first moments without showing them, so a form that you send within the
    /// settle time ([`ServerConfig::settle`](crate::ide::ServerConfig::settle)) after `initialized` is held back until
    /// that time is over.
    ///
    /// # Errors
    ///
    /// [`NotSent::Undeclared`] if the client does not show forms. Otherwise as for [`request`](Self::request).
    pub(crate) fn elicit(&mut self, form: Form) -> Result<Pending<FormAnswer>, NotSent> {
        self.elicit_within(form, Timeout::Never)
    }

    /// Asks the person as [`elicit`](Self::elicit) does, and waits this long.
    ///
    /// # Errors
    ///
    /// As for [`elicit`](Self::elicit).
    pub(crate) fn elicit_within(
        &mut self,
        form: Form,
        timeout: Timeout,
    ) -> Result<Pending<FormAnswer>, NotSent> {
        self.may_send()?;
        if !self.quirks().answers_requests {
            return Err(NotSent::Undeclared);
        }
        let now = self.now();
        if let Some(delay) = self.forms.delay(now) {
            let mut held = Held::default();
            self.mcp.set_now(now);
            let timeout = timeout.after(delay, self.config.mcp.request_timeout);
            let request = self.mcp.elicit(form, timeout, &mut held)?;
            self.forms.hold(request, held);
            return Ok(Pending::new(request));
        }
        let (session, mut out) = self.session();
        session.elicit(form, timeout, &mut out).map(Pending::new)
    }

    /// Cancels a request and notifies the client. Returns false if the request has ended.
    pub(crate) fn cancel(&mut self, request: RequestId, reason: Option<&str>) -> bool {
        if self.may_send().is_err() {
            return false;
        }
        // The client knows nothing of a form that was not written.
        if self.forms.forget(request) {
            return self.mcp.cancel(request, reason, &mut Held::default());
        }
        self.mcp.cancel(request, reason, &mut self.ws.sender())
    }

    /// Offers the tools of these settings from now on, and the [context](context_with_tools) that follows from them.
    /// The settings differ from the previous ones only in their tools.
    ///
    /// # Errors
    ///
    /// The errors of [`set_tools`](Connection::set_tools).
    pub(crate) fn offer_tools(
        &mut self,
        config: Arc<ServerConfig>,
        context: Arc<Context>,
    ) -> Result<(), NotSent> {
        self.mcp.tools_mut().tools = self.peer.tools(config.tools.clone());
        let announced = self.may_send().and_then(|()| self.announce_tools());
        self.offer_context(config, context);
        announced
    }

    /// Offers the context of these settings from now on. They differ from the previous ones only in their tools and
    /// context.
    pub(crate) fn offer_context(&mut self, config: Arc<ServerConfig>, context: Arc<Context>) {
        self.config = config;
        self.mcp.set_context(context);
        self.announce_context();
    }

    /// Notifies the client that the prompts or resources have changed: later, if the session is not ready or the send
    /// buffer has no room.
    fn announce_context(&mut self) {
        let announced = self.mcp.context_changed(&mut self.ws.sender());
        self.context_changed_pending = matches!(announced, Err(NotSent::Full | NotSent::NotReady));
        if announced == Ok(true) {
            self.pushes.on_list_changed(self.now(), self.stream_pos());
        }
    }

    /// Closes the connection properly: open diffs are answered as rejected, other calls as failed, then the close frame
    /// is sent (1001).
    pub(crate) fn shutdown(&mut self) {
        self.close(CloseCode::GOING_AWAY, "the editor shuts down");
    }

    /// Ends the connection properly, as [`shutdown`](Self::shutdown) does, but with the close code 1008, after which
    /// [`Reconnect`](crate::ide::discovery::Reconnect), and so the agents of this crate, do not connect again. The real
    /// client may come back all the same: it does when its editor has gone away and is there again (measured). To keep
    /// a client away, [ask before you allow](ServerConfig::asks_for_consent) each.
    pub(crate) fn disconnect(&mut self) {
        self.close(CloseCode::POLICY, "the editor disconnects this client");
    }

    fn close(&mut self, code: CloseCode, reason: &str) {
        self.pushes.stop();
        self.end_diffs(DiffEnd::ShutDown, |_| true);
        let mut sender = self.ws.sender();
        self.mcp.shutdown(reason, &mut sender);
        if sender.close(code, "") == Err(ws::SendError::NotOpen) {
            self.ws.abort();
        }
    }

    /// Ends a call with an answer.
    pub(super) fn end(
        &mut self,
        call: CallId,
        answer: impl FnOnce(&mut mcp::Server<SharedTools>, &mut ws::Sender<'_>) -> Result<(), NotAnswered>,
    ) -> Result<(), NotAnswered> {
        self.may_reply()?;
        // Every open call can be answered above the high-water mark, and answers are much larger than calls. So a
        // second limit applies to the send buffer here.
        if self.outgoing().len() >= self.config.max_unwritten() {
            self.mcp.fail(call, UNREAD, &mut self.ws.sender())?;
        } else {
            answer(&mut self.mcp, &mut self.ws.sender())?;
        }
        self.open_calls.remove(call);
        Ok(())
    }

    /// Refuses every answer once the connection has ended, even if that was not polled yet: until then the session
    /// still thinks the calls are open.
    fn may_reply(&self) -> Result<(), NotAnswered> {
        if self.ws.stream.output.is_reading() { Ok(()) } else { Err(NotAnswered::Closed) }
    }

    /// Refuses every answer once the connection has ended, and the answer to a call whose event was not polled yet: the
    /// application can only have guessed its id.
    pub(super) fn may_answer(&self, call: CallId) -> Result<(), NotAnswered> {
        self.may_reply()?;
        let is_unknown = self.open_calls.kind(call).is_none() && self.mcp.is_open(call);
        if is_unknown { Err(NotAnswered::Unknown) } else { Ok(()) }
    }

    /// Refuses messages that would be lost without an error: before the connection is open, and after
    /// its end.
    fn may_send(&self) -> Result<(), NotSent> {
        if self.has_ended() || !self.is_reading() {
            return Err(NotSent::Closed);
        }
        if self.ws.is_open() { Ok(()) } else { Err(NotSent::NotReady) }
    }

    /// Refuses pushes to a client that waits for [`allow`](Connection::allow), as well as those that would be lost.
    fn may_push(&self) -> Result<(), NotSent> {
        self.may_send()?;
        if self.consent.is_missing() { Err(NotSent::NotReady) } else { Ok(()) }
    }

    /// Notifies the client that the tools have changed: later, if the send buffer has no room, or if the client listed
    /// the tools before its session was ready, because it would go on with the old ones. A client that has not listed
    /// any tools needs no notification.
    fn announce_tools(&mut self) -> Result<(), NotSent> {
        let sent = self.mcp.tools_list_changed(&mut self.ws.sender());
        let early = sent == Err(NotSent::NotReady) && self.listed;
        self.tools_changed_pending = sent == Err(NotSent::Full) || early;
        if sent == Ok(true) {
            self.pushes.on_list_changed(self.now(), self.stream_pos());
        }
        if sent == Err(NotSent::Full) { Ok(()) } else { sent.map(drop) }
    }

    /// Sends the selection, if the client now accepts it and the send buffer has room.
    pub(super) fn send_selection(&mut self) {
        let Some(selection) = self.pushes.selection_to_send() else { return };
        if self.ws.stream.output.outgoing().len() <= SELECTION_ROOM
            && self.mcp.notify_serialized(selection, &mut self.ws.sender()).is_ok()
        {
            self.pushes.on_selection_sent(self.ws.stream.output.tx.position());
        }
    }

    /// Sends what waits besides the selection. Most of the time there is nothing.
    #[cold]
    pub(super) fn flush_rest(&mut self) {
        if self.tools_changed_pending {
            // This fails only if the session has ended meanwhile.
            let _ = self.announce_tools();
        }
        if self.context_changed_pending {
            self.announce_context();
        }
        self.ask_for_roots();
        if self.forms.due.is_due(self.now()) && !self.ws.is_full() {
            for message in self.forms.release() {
                // If the outbox is closed, the request ends too.
                let _ = self.ws.sender().message(To::Unsolicited, |buf| buf.extend_from_slice(&message));
            }
        }
    }

    /// Returns the [`Quirks`] of this client.
    pub(super) fn quirks(&self) -> &'static Quirks {
        Quirks::of(self.mcp.client())
    }

    fn push_notification<T>(&mut self, notification: EditorNotification, params: &T) -> Result<(), NotSent>
    where
        for<'a> InDialect<'a, T>: Serialize,
    {
        if self.is_for_models() {
            return Err(NotSent::NotReady);
        }
        let dialect = self.config.dialect;
        let params = InDialect(params, dialect);
        self.mcp.notify(dialect.notification(notification), Some(&params), &mut self.ws.sender())
    }
}
