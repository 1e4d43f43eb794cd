//! What comes in on an editor's connection. The policy judges the opening handshake, and the session gets the text
//! messages. An event of the session becomes an event of the connection, or is handled here.

use super::consent::call_of;
use super::open_calls::CallKind;
use super::peer::Peer;
use super::policy::{Verdict, WRONG_TOKEN};
use super::roots::LIST_CHANGED;
use super::{Admission, Connection, EditEnd, Hangup, TOKEN_FIELD};
use crate::Time;
use crate::ide::pump::Pumped;
use crate::ide::tool::ToolRequest;
use crate::ide::tool::toolset::ReceivedCall;
use crate::ide::tool::{ClosedDiffTabs, DiffOutcome, DirectRequest, Done, Shape, TabClosed, Tool, ToolCall};
use crate::ide::{DiffEnd, ServerEvent};
use crate::mcp::{self, CallEnd};
use crate::pass::Single as _;
use crate::rpc::{CallId, Json, from_json, read_object};
use crate::ws::{self, CloseCode, ProtocolError, Unmasked};
use alloc::{boxed::Box, vec::Vec};
use core::time::Duration;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

impl Pumped for Connection {
    type Event = ServerEvent;
    type Mask = Unmasked;

    fn output(&self) -> &ws::Output<Unmasked> {
        &self.ws.stream.output
    }

    fn has_event(&self) -> bool {
        !self.events.is_empty() || !self.mcp.session.events.is_empty() || self.consent.has_next()
    }

    fn next_event(&mut self) -> Option<ServerEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            let is_allowed = self.consent.has_next();
            let event = if is_allowed { self.consent.next() } else { self.mcp.session.events.pop_front() }?;
            if let Some(event) = self.translate(event) {
                return Some(event);
            }
        }
    }

    /// Sends what waits for the session or for room in the send buffer: changes of the tools and the context, the
    /// `roots/list` request and the forms, then the selection.
    fn flush(&mut self) {
        if self.has_unsent_beside_selection() {
            self.flush_rest();
        }
        if self.pushes.wants_to_send {
            self.send_selection();
        }
    }

    fn take_bytes(&mut self) -> bool {
        let now = self.ws.stream.output.now;
        let Some((event, mut sender)) = self.ws.poll_borrowed() else {
            return matches!(self.hangup, Hangup::Received(_)) && self.hang_up();
        };
        match event {
            ws::Event::Upgrade(request) => {
                let verdict = self.config.policy.judge(&request, self.full);
                let guesses = request.has(TOKEN_FIELD);
                // An opening handshake is pending, and the policy chooses `mcp` only if the client offered it. So the
                // WebSocket accepts every verdict.
                let decided = self.execute(verdict);
                debug_assert!(decided);
                // A client that sends no token has not guessed one: it is opencode in a terminal that names a port, or
                // the doctor. On the wire both refusals are the same.
                if self.admission == Admission::WrongToken && !guesses {
                    self.admission = Admission::Refused;
                }
            }
            ws::Event::Text(text) => self.mcp.receive(now, text, &mut sender),
            ws::Event::Binary(_) => self.ws.fail(ProtocolError::UnexpectedBinary),
            ws::Event::Closed(closed) => {
                self.pending = None;
                if self.admission == Admission::Pending && matches!(closed, ws::Closed::Refused(_)) {
                    self.admission = Admission::Refused;
                }
                self.end_session(closed);
            }
            ws::Event::Open { .. } | ws::Event::Ping(_) | ws::Event::Pong(_) => {}
        }
        true
    }

    #[inline]
    fn transport_due(&self) -> Time {
        let Hangup::Received(limit) = self.hangup else { return self.ws.due() };
        self.ws.due().min(limit.filter(|_| self.owes_answers()).unwrap_or(Time::ZERO))
    }

    fn session_due(&self) -> Time {
        self.mcp.session.due().min(self.expected_edits.due).min(self.pushes.due).min(self.forms.due)
    }

    fn keep_time(&mut self) {
        let now = self.now();
        if self.expected_edits.due.is_due(now) {
            self.events.extend(self.expected_edits.end_first(EditEnd::Expired));
        } else if self.pushes.due.is_due(now) {
            self.pushes.tick(now);
        } else {
            self.mcp.keep_time(now, &mut self.ws.sender());
        }
    }
}

impl Connection {
    /// Queues the ends of everything open, and then the end of the connection. No other event waits.
    fn end_session(&mut self, reason: ws::Closed) {
        self.mcp.close();
        while let Some(event) = self.mcp.session.events.pop_front() {
            let event = self.translate(event);
            self.events.extend(event);
        }
        while let Some(ended) = self.expected_edits.end_first(EditEnd::Disconnected) {
            self.events.push_back(ended);
        }
        self.events.push_back(ServerEvent::Closed { agent: self.agent(), reason });
    }

    /// Answers the opening handshake. Returns false if it is no longer pending.
    pub(super) fn execute(&mut self, verdict: Verdict) -> bool {
        let decided = match verdict {
            Verdict::LetIn(entry) => {
                let accepted = self.ws.accept(entry.subprotocol);
                if accepted.is_ok() {
                    self.admission = Admission::LetIn;
                    if entry.peer == Peer::Model {
                        self.serve_model();
                    }
                }
                accepted
            }
            Verdict::Decide(entry) => {
                self.pending = Some(entry);
                self.events.push_back(ServerEvent::AdmissionPending { conn: self.conn });
                Ok(())
            }
            Verdict::Close { subprotocol } => {
                self.admission = Admission::WrongToken;
                let accepted = self.ws.accept(subprotocol);
                // After our close frame, no received message is delivered.
                let _ = self.ws.sender().close(CloseCode::POLICY, UNAUTHORIZED);
                accepted
            }
            Verdict::Refuse(refusal) => {
                let is_token = refusal == WRONG_TOKEN;
                self.admission = if is_token { Admission::WrongToken } else { Admission::Refused };
                self.ws.reject(refusal)
            }
        };
        decided.is_ok()
    }

    /// Turns an event of the session into an event of the connection; `None` if the event is handled
    /// here.
    pub(super) fn translate(&mut self, event: mcp::ServerEvent<ReceivedCall>) -> Option<ServerEvent> {
        if self.consent.is_missing() && call_of(&event).is_some() && !needs_no_consent(&event) {
            self.hold(event);
            return None;
        }
        let agent = self.agent();
        Some(match event {
            mcp::ServerEvent::Ready => {
                if !self.quirks().answers_requests {
                    self.mcp.stop_keepalive();
                }
                self.mcp.tools_mut().announces_edits =
                    self.peer == Peer::Agent && self.quirks().announces_edits;
                self.roots.is_due = self.peer == Peer::Agent && self.asks_for_roots();
                self.forms.begin(self.now().saturating_add(self.settle_time()));
                if self.consent.ask() { self.consent_pending() } else { self.begin_ready() }
            }
            mcp::ServerEvent::ToolsListed => {
                self.listed = true;
                self.pushes.on_tools_listed(self.now(), self.stream_pos());
                return None;
            }
            mcp::ServerEvent::Call { call, tool } => return self.on_call(call, tool),
            mcp::ServerEvent::GetPrompt { call, prompt } => {
                self.open_calls.open(call, CallKind::Prompt, None);
                ServerEvent::GetPrompt { agent, call, prompt }
            }
            mcp::ServerEvent::ReadResource { call, resource } => {
                self.open_calls.open(call, CallKind::Resource, None);
                ServerEvent::ReadResource { agent, call, resource }
            }
            mcp::ServerEvent::CallEnded { call, reason: how } => {
                if self.consent.forget(call) {
                    return None;
                }
                if let Some(at) = self.suppressed_ends.iter().position(|suppressed| *suppressed == call) {
                    self.suppressed_ends.swap_remove(at);
                    return None;
                }
                match self.open_calls.remove(call) {
                    Some(tab_name) => {
                        ServerEvent::DiffClosed { agent, call, tab_name, reason: diff_end(&how) }
                    }
                    None => ServerEvent::CallEnded { agent, call, reason: how },
                }
            }
            mcp::ServerEvent::Request { call, method, params } => {
                return self.on_request(call, method, params);
            }
            mcp::ServerEvent::Notification { method, .. }
                if &*method == LIST_CHANGED && self.asks_for_roots() =>
            {
                self.roots.is_due = true;
                return None;
            }
            mcp::ServerEvent::Notification { method, params } => self.on_notification(method, params),
            mcp::ServerEvent::Progress { request, progress } => {
                ServerEvent::Progress { agent, request, progress }
            }
            mcp::ServerEvent::Outcome { request, outcome } if self.roots.pending == Some(request) => {
                return self.on_roots(&outcome);
            }
            mcp::ServerEvent::Outcome { request, outcome } => {
                self.forms.forget(request);
                ServerEvent::Outcome { agent, request, outcome }
            }
            mcp::ServerEvent::PeerError(error) => ServerEvent::PeerError { agent, error },
            mcp::ServerEvent::PeerFault(fault) => ServerEvent::PeerFault { agent, fault },
            mcp::ServerEvent::TooManyFaults => {
                self.ws.fail(ProtocolError::TooManyMalformedMessages);
                return None;
            }
            mcp::ServerEvent::PingTimeout => {
                self.ws.time_out("no answer to a ping");
                return None;
            }
        })
    }

    /// Holds the event of a call until the consent. From now on the call waits, so the limits of waiting calls apply; a
    /// call beyond them is answered with an error and dropped.
    fn hold(&mut self, event: mcp::ServerEvent<ReceivedCall>) {
        if let mcp::ServerEvent::Call { call, .. } = &event {
            if !self.mcp.defer(*call, &mut self.ws.sender()) {
                return;
            }
        }
        self.consent.hold(event);
    }

    /// Returns the event that asks for the consent to this client.
    pub(crate) fn consent_pending(&self) -> ServerEvent {
        let (client, is_for_models) = (self.client().cloned(), self.is_for_models());
        ServerEvent::ConsentPending { agent: self.agent(), client, is_for_models }
    }

    /// Returns the settle time of this client.
    fn settle_time(&self) -> Duration {
        self.config.settle.unwrap_or_else(|| self.quirks().settle)
    }

    /// Begins the pushes to the client, and returns the event that says that it is ready.
    pub(super) fn begin_ready(&mut self) -> ServerEvent {
        let (agent, client) = (self.agent(), self.mcp.client().cloned());
        if self.peer == Peer::Model {
            return ServerEvent::ModelReady { agent, client };
        }
        self.pushes.on_initialized(self.now(), self.stream_pos(), self.settle_time());
        ServerEvent::Ready { agent, client }
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "every other call goes to the application")]
    fn on_call(&mut self, call: CallId, received: ReceivedCall) -> Option<ServerEvent> {
        let ReceivedCall { request, is_outside_turn } = received;
        match &request {
            ToolRequest::CloseTab(close) => {
                // The names of tabs are compared byte for byte.
                let found = self.end_diffs(DiffEnd::TabClosed, |tab_name| tab_name == close.tab_name) > 0;
                // The application has not seen the diffs of a client that waits for consent, so it has no view of them.
                let is_viewed = self.mcp.tools().tools.handles(Tool::CloseTab) && !self.consent.is_missing();
                if found || !is_viewed {
                    self.answer_internally(call, &TabClosed { found });
                    return None;
                }
                if !self.mcp.defer(call, &mut self.ws.sender()) {
                    return None;
                }
                self.open_calls.open(call, CallKind::Tool(Tool::CloseTab), None);
            }
            ToolRequest::CloseAllDiffTabs(_) => {
                let count = self.end_diffs(DiffEnd::AllClosed, |_| true);
                self.answer_internally(call, &ClosedDiffTabs { count });
                return None;
            }
            ToolRequest::SetPermissionMode(arguments) => {
                let mode = arguments.mode.clone();
                self.answer_internally(call, &Done);
                return Some(ServerEvent::PermissionMode { agent: self.agent(), mode });
            }
            ToolRequest::OpenDiff(diff) => {
                let tab_name = Some(diff.tab_name.clone());
                self.open_calls.open(call, CallKind::Tool(Tool::OpenDiff), tab_name);
            }
            ToolRequest::GetDiagnostics(arguments) => {
                let uri = arguments.uri.as_deref();
                // The agent announces its edits. A model may call the tool at any time.
                let is_step = self.peer == Peer::Agent && !is_outside_turn;
                let now = self.now();
                let edited = match is_step {
                    true => self.expected_edits.on_diagnostics(now, call, uri, &mut self.events),
                    false => None,
                };
                self.open_calls.open_diagnostics(call, uri, edited);
            }
            _ => {
                let kind = match request.tool() {
                    Some(tool) => CallKind::Tool(tool),
                    None => CallKind::OwnTool,
                };
                self.open_calls.open(call, kind, None);
            }
        }
        self.events.push_back(ServerEvent::Call { agent: self.agent(), call: ToolCall::new(call, request) });
        // The call comes after the edits that it announces or ends.
        self.events.pop_front()
    }

    /// Handles a request other than a tool call: a request of the dialect, a notification that came as a request, or a
    /// request for the application.
    fn on_request(&mut self, call: CallId, method: Box<str>, params: Option<Json>) -> Option<ServerEvent> {
        if is_ide_connected(&method) {
            let answered = self.mcp.respond_with(call, &Nothing {}, &mut self.ws.sender());
            self.settle(call, answered);
            return Some(self.on_notification(method, params));
        }
        let direct = match self.config.dialect.rules().direct_methods {
            true => DirectRequest::read(&method, params.as_deref()),
            false => None,
        };
        match direct {
            Some(Ok(request)) => {
                self.open_calls.open_direct(call, &request);
                Some(ServerEvent::Direct { agent: self.agent(), call, request })
            }
            Some(Err(error)) => {
                let failed = self.mcp.fail_invalid(call, &error, &mut self.ws.sender());
                self.settle(call, failed);
                None
            }
            None => {
                if method.as_ref() == "tools/list" {
                    // The application answers this, most often at once, so the settle time begins here.
                    self.pushes.on_tools_listed(self.now(), self.stream_pos());
                }
                self.open_calls.open(call, CallKind::Request, None);
                Some(ServerEvent::Request { agent: self.agent(), call, method, params })
            }
        }
    }

    fn on_notification(&mut self, method: Box<str>, params: Option<Json>) -> ServerEvent {
        if !is_ide_connected(&method) || self.peer == Peer::Model {
            return ServerEvent::Notification { agent: self.agent(), method, params };
        }
        let connected: Connected<'_> = params.as_deref().and_then(read_object).unwrap_or_default();
        let pid = connected.pid.and_then(|pid| from_json(pid.get()).ok());
        self.pid = pid.or(self.pid);
        let is_version_unsupported =
            connected.is_version_unsupported.is_some_and(|flag| flag.get() == "true");
        ServerEvent::IdeConnected { agent: self.agent(), pid, is_version_unsupported }
    }

    /// Answers the open diffs with these tabs as rejected, and reports their ends, except those that wait for the
    /// consent, which the application has not seen. The answer does no harm if a diff was decided elsewhere. Returns
    /// how many diffs it ended.
    pub(super) fn end_diffs(&mut self, why: DiffEnd, which: impl Fn(&str) -> bool) -> usize {
        // A diff that was cancelled in the same batch has already ended, and the session reports its end later.
        let open = |(call, tab): (CallId, &str)| (which(tab) && self.mcp.is_open(call)).then_some(call);
        let calls: Vec<CallId> = self.open_calls.diffs().filter_map(open).collect();
        let held = self.consent.diffs().into_iter();
        let held: Vec<_> =
            held.filter(|(call, tab_name)| which(tab_name) && self.mcp.is_open(*call)).collect();
        for (call, tab_name) in &held {
            self.consent.forget(*call);
            self.answer_internally(*call, &DiffOutcome::Rejected { tab_name: tab_name.clone() });
        }
        for call in &calls {
            let Some(tab_name) = self.open_calls.remove(*call) else { continue };
            self.answer_internally(*call, &DiffOutcome::Rejected { tab_name: tab_name.clone() });
            self.events.push_back(ServerEvent::DiffClosed {
                agent: self.agent(),
                call: *call,
                tab_name,
                reason: why,
            });
        }
        calls.len().saturating_add(held.len())
    }

    /// Answers a call that the application does not get.
    fn answer_internally(&mut self, call: CallId, answer: &impl Shape) {
        let result = answer.result_within(self.config.dialect, &self.config.content_limits);
        let answered = self.mcp.session.incoming.respond_to_tool(call, &result, &mut self.ws.sender());
        self.settle(call, answered);
    }

    /// If this layer's own answer came too late, because the call was cancelled in the same batch or the session was
    /// shut down, suppresses the end of the call: the application has not seen it.
    fn settle<E>(&mut self, call: CallId, answered: Result<(), E>) {
        if answered.is_err() {
            self.suppressed_ends.push(call);
        }
    }
}

/// The reason in the close frame with 1008, as in a description of the JetBrains plugin.
const UNAUTHORIZED: &str = "Invalid or missing authentication token";

/// The lists of MCP, which a client requests in its handshake. An application may answer them itself.
const LISTS: [&str; 4] = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// Returns true for a call that does not wait for the consent: one that ends diffs, because this layer answers it and
/// the real client sends one before each prompt, or one that belongs to the handshake.
#[allow(clippy::wildcard_enum_match_arm, reason = "every other event can wait")]
fn needs_no_consent(event: &mcp::ServerEvent<ReceivedCall>) -> bool {
    match event {
        mcp::ServerEvent::Call { tool, .. } => {
            matches!(tool.request, ToolRequest::CloseAllDiffTabs(_) | ToolRequest::CloseTab(_))
        }
        mcp::ServerEvent::Request { method, .. } => is_ide_connected(method) || LISTS.contains(&&**method),
        _ => false,
    }
}

/// The names of the notification `ide_connected`. This layer serves it as a request too, because some clients send it
/// with an id.
pub(super) const IDE_CONNECTED: [&str; 2] = ["ide_connected", "notifications/ide_connected"];

fn is_ide_connected(method: &str) -> bool {
    IDE_CONNECTED.contains(&method)
}

/// The parameters of `ide_connected`. Each member is read on its own.
#[derive(Default, Deserialize)]
struct Connected<'a> {
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow, rename = "isPluginVersionUnsupported")]
    is_version_unsupported: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Nothing {}

fn diff_end(how: &CallEnd) -> DiffEnd {
    match how {
        CallEnd::Cancelled { .. } => DiffEnd::Cancelled,
        CallEnd::ShutDown => DiffEnd::ShutDown,
        CallEnd::Expired => DiffEnd::Expired,
        CallEnd::Closed => DiffEnd::Disconnected,
    }
}
