//! The events of the agent's side of a connection.

use crate::ide::Push;
use crate::mcp::{self, CallEnd, Form, Outcome, Progress, ServerInfo};
use crate::rpc::{CallId, ErrorObject, RequestId};
use crate::ws::Closed;
use alloc::boxed::Box;
use serde_json::value::RawValue;

/// An event of a [`Client`](super::Client).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// The client is attached: the session is initialized, and `ide_connected` is sent if the
    /// configuration has a pid.
    Ready(ServerInfo),
    /// The editor did not choose the sub-protocol `mcp`, so the client sends no message. The connection
    /// closes.
    SubprotocolMissing,
    /// The session could not be opened. The connection closes.
    Failed(mcp::Failure),
    /// A request ended.
    Outcome {
        /// The request.
        request: RequestId,
        /// The end of the request.
        outcome: Outcome,
    },
    /// The editor reports the progress of a request.
    Progress {
        /// The request.
        request: RequestId,
        /// The progress of the request.
        progress: Progress<'static>,
    },
    /// The editor asks the person a question, with a form
    /// ([`elicitation`](crate::mcp::ClientConfig::elicitation)). Answer it with
    /// [`answer_form`](super::Client::answer_form) or `fail`. After a
    /// [`CallEnded`](ClientEvent::CallEnded) the form should close. At its deadline,
    /// [`longest_call`](crate::mcp::ClientConfig::longest_call), this crate answers with an error.
    Form {
        /// The name by which the form is answered.
        call: CallId,
        /// The form.
        form: Form,
    },
    /// The editor sends a request that the configuration forwards. Answer it with `respond_raw` or
    /// `fail`. At its deadline this crate answers the request with an error.
    Request {
        /// The name by which the request is answered.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A request of the editor ended without your answer.
    CallEnded {
        /// The call.
        call: CallId,
        /// The end of the call.
        reason: CallEnd,
    },
    /// The editor pushed a notification of the protocol: a selection, a mention, changed diagnostics,
    /// or another active editor.
    Pushed(Push),
    /// The editor offers other tools. List them again.
    ToolsChanged,
    /// The editor sent another notification.
    Notification {
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// The editor reports an error that belongs to no request.
    PeerError(ErrorObject),
    /// The editor broke a rule of JSON-RPC or MCP; the session goes on. For logs.
    PeerFault(mcp::PeerFault),
    /// The end of the connection. This event comes exactly once and last.
    Closed(Closed),
}
