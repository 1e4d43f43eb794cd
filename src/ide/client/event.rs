//! What happens to an agent.

use crate::ide::Push;
use crate::mcp::{self, CallEnd, Form, Outcome, Progress, ServerInfo};
use crate::rpc::{CallId, ErrorObject, Json, RequestId};
use crate::ws::Closed;
use alloc::boxed::Box;
use serde_json::value::RawValue;

/// What happened to your [`Client`](super::Client), or to the `Agent` of an adapter (`ide_mcp_blocking`,
/// `ide_mcp_smol`, `ide_mcp_mio`): they share this type, so that you can change from one to the other.
///
/// A client is one connection. An agent may attach again, and reports one [`Ready`](Self::Ready) and then one
/// [`Closed`](Self::Closed) for each session. If it cannot open a session, its error says why; it never reports
/// [`SubprotocolMissing`](Self::SubprotocolMissing) or [`Failed`](Self::Failed).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The client is attached: the session is initialized, and `ide_connected` is sent if you configured a pid. If an
    /// agent had a session before, the editor has forgotten its requests.
    Ready(ServerInfo),
    /// The editor did not choose the sub-protocol `mcp`, so the client sends nothing, and the connection closes.
    SubprotocolMissing,
    /// The session could not be opened. The connection closes.
    Failed(mcp::Failure),
    /// A request ended.
    Outcome {
        /// The request.
        request: RequestId,
        /// How it ended.
        outcome: Outcome,
    },
    /// The editor reports the progress of a request.
    Progress {
        /// The request.
        request: RequestId,
        /// The progress of the request.
        progress: Progress<'static>,
    },
    /// The editor asks the person a question, with a form ([`elicitation`](crate::mcp::ClientConfig::elicitation)).
    /// Answer with [`answer_form`](super::Client::answer_form) or `fail`; close the form after a
    /// [`CallEnded`](ClientEvent::CallEnded). At its deadline,
    /// [`longest_call`](crate::mcp::ClientConfig::longest_call), this crate answers with an error.
    Form {
        /// Answer the form with this id.
        call: CallId,
        /// The form.
        form: Form,
    },
    /// The editor sends a request that you [forward](crate::mcp::ClientConfig::forward) to yourself; by default there
    /// are none, and the session answers -32601. Answer with `respond_raw` or `fail`; at its deadline this crate
    /// answers with an error.
    Request {
        /// Answer the request with this id.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// A request of the editor ended without your answer.
    CallEnded {
        /// The call.
        call: CallId,
        /// How it ended.
        reason: CallEnd,
    },
    /// The editor pushed a selection, a mention, changed diagnostics, or another active editor.
    Pushed(Push),
    /// The editor offers other tools. List them again.
    ToolsChanged,
    /// The editor sent a notification that this crate does not know.
    Notification {
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// The editor reports an error that belongs to no request.
    PeerError(ErrorObject),
    /// The editor broke a rule of JSON-RPC or MCP; the session goes on. For logs.
    PeerFault(mcp::PeerFault),
    /// The connection has ended. Every request has had its outcome.
    ///
    /// From a client this event comes exactly once and last. From an agent it comes once for each
    /// [`Ready`](Self::Ready); then the next `Ready` follows, or the end of the agent.
    Closed(Closed),
}

impl ClientEvent {
    /// Returns roughly how much memory this event takes, for a queue that is bounded by the sum: the bytes of its
    /// strings and its JSON, and the size of each list element. Requests and forms count too: the session bounds them
    /// only while they are open, and an editor may cancel what still waits in your queue.
    #[must_use]
    pub fn content_len(&self) -> usize {
        let raw = |json: &RawValue| json.get().len();
        let error =
            |error: &ErrorObject| error.message.len().saturating_add(error.data.as_deref().map_or(0, raw));
        let message = |method: &str, params: &Option<Json>| {
            method.len().saturating_add(params.as_deref().map_or(0, raw))
        };
        match self {
            Self::Ready(server) => server.content_len(),
            Self::Failed(mcp::Failure::Refused(refusal)) => error(refusal),
            Self::Failed(mcp::Failure::UnknownVersion(version)) => version.len(),
            Self::Outcome { outcome: Outcome::Result(result), .. } => raw(result),
            Self::Outcome { outcome: Outcome::Error(refusal), .. } | Self::PeerError(refusal) => {
                error(refusal)
            }
            Self::Progress { progress, .. } => progress.message.as_deref().map_or(0, str::len),
            Self::Form { form, .. } => form.content_len(),
            Self::Request { method, params, .. } | Self::Notification { method, params } => {
                message(method, params)
            }
            Self::CallEnded { reason: CallEnd::Cancelled { reason }, .. } => {
                reason.as_deref().map_or(0, str::len)
            }
            Self::Pushed(push) => push.content_len(),
            Self::SubprotocolMissing
            | Self::Failed(_)
            | Self::Outcome { .. }
            | Self::CallEnded { .. }
            | Self::ToolsChanged
            | Self::PeerFault(_)
            | Self::Closed(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ide::kit::{Position, Range};
    use crate::ide::tool::{Diagnostic, FileDiagnostics, Severity};
    use crate::ide::{DiagnosticsChanged, Mention, Selection};
    use crate::mcp::{Failure, FieldChoice, FieldValue, FormField, Implementation, ProtocolVersion};
    use crate::rpc::SessionId;
    use alloc::string::String;
    use alloc::vec;

    #[test]
    fn every_string_of_an_event_counts() {
        let raw = |text: &str| Json::from(RawValue::from_string(text.into()).unwrap());
        let request = RequestId::new(SessionId::new(1), 1);
        let refusal = || ErrorObject { code: -1, message: "four".into(), data: Some(raw("[1]")) };
        let mut selection =
            Selection::new("/a", Range::new(Position::new(0, 0), Position::new(0, 0)), "text");
        selection.file_url = Some("file:///a".into());
        let problem = |message: &str| {
            Diagnostic::new(Severity::Error, Range::new(Position::new(0, 0), Position::new(0, 0)), message)
        };
        let mut coded = problem("abc");
        (coded.source, coded.code) = (Some("de".into()), Some("f".into()));
        let now = DiagnosticsChanged::Now(FileDiagnostics::new("uri", vec![coded, problem("")]));
        let stale = DiagnosticsChanged::Stale { uris: vec!["a".into(), "bc".into()] };
        let progress = Progress { progress: 1.0, total: None, message: Some("done".into()) };
        let call = CallId::new(SessionId::new(1), 1);
        let field = FormField::text("a").title("b").description("cd").format("ef").default("g");
        let form = Form::new("message").field(field);
        let choices = Form::new("m")
            .field(FormField::choice("a", [("v", "title"), ("w", "")]))
            .field(FormField::choices("b", ["x", "yz"]).default(FieldValue::Texts(vec!["x".into()])));
        let info = ServerInfo {
            info: Some(Implementation::new("e", "1")),
            protocol_version: ProtocolVersion::NEWEST,
            instructions: Some("words".into()),
            capabilities: Some(raw("{}")),
        };
        let bare = ServerInfo { info: None, instructions: None, capabilities: None, ..info.clone() };
        let rows = [
            ("a result", ClientEvent::Outcome { request, outcome: Outcome::Result(raw("{}")) }, 2),
            ("an error", ClientEvent::Outcome { request, outcome: Outcome::Error(refusal()) }, 7),
            ("no answer", ClientEvent::Outcome { request, outcome: Outcome::TimedOut }, 0),
            ("an error of the peer", ClientEvent::PeerError(refusal()), 7),
            ("progress", ClientEvent::Progress { request, progress }, 4),
            (
                "a notification",
                ClientEvent::Notification { method: "x/y".into(), params: Some(raw("{}")) },
                5,
            ),
            ("a selection", ClientEvent::Pushed(Push::SelectionChanged(selection.clone())), 15),
            ("an active editor", ClientEvent::Pushed(Push::ActiveEditorChanged(selection)), 15),
            ("a mention", ClientEvent::Pushed(Push::AtMentioned(Mention::new("/ab", None))), 3),
            (
                "stale problems",
                ClientEvent::Pushed(Push::DiagnosticsChanged(stale)),
                3 + 2 * size_of::<String>(),
            ),
            ("problems", ClientEvent::Pushed(Push::DiagnosticsChanged(now)), 9 + 2 * size_of::<Diagnostic>()),
            ("a form", ClientEvent::Form { call, form }, 7 + size_of::<FormField>() + 7),
            (
                "a form with choices",
                ClientEvent::Form { call, form: choices },
                1 + 2 * size_of::<FormField>()
                    + 2
                    + 4 * size_of::<FieldChoice>()
                    + 10
                    + size_of::<String>()
                    + 1,
            ),
            ("a request", ClientEvent::Request { call, method: "x/ask".into(), params: Some(raw("[]")) }, 7),
            (
                "a cancelled request",
                ClientEvent::CallEnded { call, reason: CallEnd::Cancelled { reason: Some("why".into()) } },
                3,
            ),
            ("an expired request", ClientEvent::CallEnded { call, reason: CallEnd::Expired }, 0),
            ("the answer to initialize", ClientEvent::Ready(info), 9),
            ("an answer to initialize without optional members", ClientEvent::Ready(bare), 0),
            ("a refusal", ClientEvent::Failed(Failure::Refused(refusal())), 7),
            ("an unknown version", ClientEvent::Failed(Failure::UnknownVersion("1999".into())), 4),
            ("an event without strings", ClientEvent::ToolsChanged, 0),
        ];
        for (name, event, expected) in rows {
            assert_eq!(event.content_len(), expected, "{name}");
        }
    }
}
