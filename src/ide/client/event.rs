//! What an agent hears of an editor.

use crate::ide::Push;
use crate::mcp::{self, CallEnd, Outcome, Progress, ServerInfo};
use crate::rpc::{CallId, ErrorObject, RequestId};
use crate::ws::Closed;
use alloc::boxed::Box;
use serde_json::value::RawValue;

/// What an agent hears of the editor it attaches to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ClientEvent {
    /// Attached: the session is initialized, and `ide_connected` is said if the configuration has a pid.
    Ready(ServerInfo),
    /// The editor did not choose the sub-protocol `mcp`, without which nothing is said; the connection closes.
    SubprotocolMissing,
    /// The session could not be opened; the connection closes.
    Failed(mcp::Failure),
    /// A request ended.
    Outcome {
        /// Which one.
        request: RequestId,
        /// And how.
        outcome: Outcome,
    },
    /// The editor says how far a request has come.
    Progress {
        /// Which one.
        request: RequestId,
        /// And how far.
        progress: Progress<'static>,
    },
    /// The editor asks for something that the configuration forwards. Answer it with `respond_raw` or `fail`; by its
    /// deadline it is answered for you, with an error.
    Request {
        /// What to answer it by.
        call: CallId,
        /// What is asked.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A request of the editor ended without your answer.
    CallEnded {
        /// Which one.
        call: CallId,
        /// And how.
        reason: CallEnd,
    },
    /// The editor pushed a notification of the protocol: the selection, a mention, and what has changed.
    Pushed(Push),
    /// The editor offers other tools: list them again.
    ToolsChanged,
    /// The editor said something else.
    Notification {
        /// What is said.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// The editor reports an error that belongs to no request.
    PeerError(ErrorObject),
    /// The editor broke a rule of JSON-RPC or MCP; the session goes on. For logs.
    PeerFault(mcp::PeerFault),
    /// The end of the connection. Comes exactly once and last.
    Closed(Closed),
}
