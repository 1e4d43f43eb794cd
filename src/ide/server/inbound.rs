//! What comes in, and what it means for an editor: the request to open is judged, texts go to the session, and what that
//! reports becomes an event or is dealt with here.

use super::{Server, ServerEvent};
use crate::ide::diffs::DiffEnd;
use crate::ide::policy::Verdict;
use crate::ide::{Answer, ClosedDiffTabs, DiffOutcome, DirectRequest, Done, TabClosed, Tool, ToolRequest};
use crate::mcp::{self, CallEnd};
use crate::rpc::CallId;
use crate::ws::{self, CloseCode, Violation};
use alloc::boxed::Box;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

impl Server {
    /// Takes one event of the WebSocket; whether there was one.
    pub(super) fn take_bytes(&mut self) -> bool {
        let now = self.ws.now();
        let Some((event, mut sender)) = self.ws.poll_lent() else { return false };
        match event {
            ws::Event::Upgrade(request) => {
                let verdict = self.config.policy.judge(&request, self.full);
                // A request waits, and `mcp` is chosen only if it was offered: neither can be refused.
                let decided = match verdict {
                    Verdict::LetIn { subprotocol } => {
                        self.let_in = true;
                        self.ws.accept(subprotocol)
                    }
                    Verdict::Close { subprotocol } => {
                        let accepted = self.ws.accept(subprotocol);
                        // From our close frame on, nothing that comes is handed over.
                        let _ = self.ws.sender().close(CloseCode::POLICY, "unauthorized");
                        accepted
                    }
                    Verdict::Refuse(refusal) => self.ws.reject(refusal),
                };
                debug_assert_eq!(decided, Ok(()));
            }
            ws::Event::Text(text) => self.mcp.receive(now, text, &mut sender),
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
    pub(super) fn translate(&mut self, event: mcp::ServerEvent<ToolRequest>) -> Option<ServerEvent> {
        Some(match event {
            mcp::ServerEvent::Ready => {
                self.slot.initialized(self.ws.now());
                if self.tools_untold {
                    // Where there is no room it is told later.
                    let _ = self.tell_tools();
                }
                self.push_selection();
                ServerEvent::Ready { client: self.mcp.client().cloned() }
            }
            mcp::ServerEvent::ToolsListed => {
                self.has_listed = true;
                self.slot.tools_listed();
                self.push_selection();
                return None;
            }
            mcp::ServerEvent::Call { call, tool } => return self.called(call, tool),
            mcp::ServerEvent::CallEnded { call, how } => match self.diffs.remove(call) {
                Some(tab_name) => ServerEvent::DiffClosed { call, tab_name, why: diff_end(&how) },
                None => ServerEvent::CallEnded { call, how },
            },
            mcp::ServerEvent::Request { call, method, params } => return self.asked(call, method, params),
            mcp::ServerEvent::Notification { method, params } => self.notified(method, params),
            mcp::ServerEvent::Progress { request, progress } => ServerEvent::Progress { request, progress },
            mcp::ServerEvent::Outcome { request, outcome } => ServerEvent::Outcome { request, outcome },
            mcp::ServerEvent::PeerError(error) => ServerEvent::PeerError(error),
            mcp::ServerEvent::Violation(violation) => ServerEvent::Violation(violation),
            mcp::ServerEvent::TooManyViolations => {
                self.ws.fail(Violation::TooManyMalformedMessages);
                return None;
            }
            mcp::ServerEvent::Unresponsive => {
                self.ws.timed_out("no answer to a ping");
                return None;
            }
        })
    }

    #[allow(clippy::wildcard_enum_match_arm, reason = "only what the machine has to do with is named")]
    fn called(&mut self, call: CallId, request: ToolRequest) -> Option<ServerEvent> {
        match request {
            ToolRequest::CloseTab(close) => {
                let mut found = false;
                while let Some(diff) = self.diffs.with_tab(&close.tab_name) {
                    self.end_diff(diff, DiffEnd::TabClosed);
                    found = true;
                }
                if !found && self.mcp.tools().0.handles(Tool::CloseTab) {
                    return Some(ServerEvent::Call { call, request: ToolRequest::CloseTab(close) });
                }
                self.say(call, &TabClosed::new(found));
                None
            }
            ToolRequest::CloseAllDiffTabs => {
                let mut count = 0_usize;
                while let Some(diff) = self.diffs.first() {
                    self.end_diff(diff, DiffEnd::AllClosed);
                    count = count.saturating_add(1);
                }
                self.say(call, &ClosedDiffTabs::new(count));
                None
            }
            ToolRequest::SetPermissionMode(asked) => {
                self.say(call, &Done);
                Some(ServerEvent::PermissionMode { mode: asked.mode })
            }
            ToolRequest::OpenDiff(diff) => {
                self.diffs.open(call, diff.tab_name.clone());
                Some(ServerEvent::Call { call, request: ToolRequest::OpenDiff(diff) })
            }
            request => Some(ServerEvent::Call { call, request }),
        }
    }

    /// A request that is no tool: of the dialect, a notification that came as a request, or the application's.
    fn asked(
        &mut self,
        call: CallId,
        method: Box<str>,
        params: Option<Box<RawValue>>,
    ) -> Option<ServerEvent> {
        if is_ide_connected(&method) {
            let answered = self.mcp.respond(call, &Nothing {}, &mut self.ws.sender());
            debug_assert_eq!(answered, Ok(()));
            return Some(self.notified(method, params));
        }
        let direct = match self.dialect().rules().direct {
            true => DirectRequest::read(&method, params.as_deref()),
            false => None,
        };
        match direct {
            Some(Ok(request)) => Some(ServerEvent::Direct { call, request }),
            Some(Err(error)) => {
                let failed = self.mcp.fail(call, error.code, &error.message, &mut self.ws.sender());
                debug_assert_eq!(failed, Ok(()));
                None
            }
            None => Some(ServerEvent::Request { call, method, params }),
        }
    }

    fn notified(&mut self, method: Box<str>, params: Option<Box<RawValue>>) -> ServerEvent {
        if !is_ide_connected(&method) {
            return ServerEvent::Notification { method, params };
        }
        self.slot.ide_connected();
        self.push_selection();
        let said = params
            .and_then(|params| serde_json::from_str::<Connected<'_>>(params.get()).ok().map(Connected::read));
        let (pid, is_version_unsupported) = said.unwrap_or_default();
        ServerEvent::IdeConnected { pid, is_version_unsupported }
    }

    /// Answers an open diff as rejected, which is harmless where it was decided elsewhere, and says that it ended.
    pub(super) fn end_diff(&mut self, call: CallId, why: DiffEnd) {
        let Some(tab_name) = self.diffs.remove(call) else { return };
        self.say(call, &DiffOutcome::Rejected { tab_name: tab_name.clone() });
        self.events.push_back(ServerEvent::DiffClosed { call, tab_name, why });
    }

    /// Answers a call that is known to be open.
    fn say(&mut self, call: CallId, answer: &impl Answer) {
        let result = answer.result(self.dialect());
        let answered = self.mcp.respond(call, &result, &mut self.ws.sender());
        debug_assert_eq!(answered, Ok(()));
    }
}

/// The methods that the layer itself serves as requests, beside those of the dialect: some clients give it an id.
pub(super) const IDE_CONNECTED: [&str; 2] = ["ide_connected", "notifications/ide_connected"];

fn is_ide_connected(method: &str) -> bool {
    IDE_CONNECTED.contains(&method)
}

/// What comes with `ide_connected`. Each member is read for itself.
#[derive(Deserialize)]
struct Connected<'a> {
    #[serde(borrow)]
    pid: Option<&'a RawValue>,
    #[serde(borrow, rename = "isPluginVersionUnsupported")]
    is_version_unsupported: Option<&'a RawValue>,
}

impl Connected<'_> {
    fn read(self) -> (Option<u32>, bool) {
        let pid = self.pid.and_then(|pid| serde_json::from_str(pid.get()).ok());
        (pid, self.is_version_unsupported.is_some_and(|flag| flag.get() == "true"))
    }
}

#[derive(Serialize)]
struct Nothing {}

fn diff_end(how: &CallEnd) -> DiffEnd {
    match how {
        CallEnd::Cancelled { .. } => DiffEnd::Cancelled,
        CallEnd::ShutDown => DiffEnd::ShutDown,
        // An `openDiff` has no deadline, so it cannot expire.
        CallEnd::Expired | CallEnd::Closed => DiffEnd::Disconnected,
    }
}
