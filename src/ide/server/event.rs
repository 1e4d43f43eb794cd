//! What an editor hears of one attached agent.

use crate::ide::{DiffEnd, DirectRequest, ToolCall};
use crate::mcp::{CallEnd, Implementation, Outcome, PeerFault, Progress};
use crate::rpc::{CallId, ErrorObject, RequestId};
use crate::ws::Closed;
use alloc::{boxed::Box, string::String};
use serde_json::value::RawValue;

/// What happened on a connection of an editor.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The client is attached: its session is initialized. Its name is `None` where it did not say it readably.
    Ready {
        /// Who it says it is.
        client: Option<Implementation>,
    },
    /// The client knows the token of an earlier process ([`Auth::Resumed`](crate::ide::Auth::Resumed)) and waits for
    /// [`admit`](crate::ide::Host::admit), up to the 5 s that the opening handshake has. There is no such event with another
    /// [`Auth`](crate::ide::Auth), and none from the adapters of this project, which decide by the owner of the socket.
    AdmissionPending,
    /// The client said `ide_connected`. It does not accept pushes from here on: no message marks that moment.
    IdeConnected {
        /// The process of the client, if it said so.
        pid: Option<u32>,
        /// Whether it says that the editor's part is too old for it.
        is_version_unsupported: bool,
    },
    /// The client asks for permission in this mode from now on: `default`, `plan`, …. It has been answered.
    PermissionMode {
        /// The name of the mode.
        mode: String,
    },
    /// The client calls a tool. [Answer](crate::ide::Host::answer) the call, at once or later; by its deadline it is
    /// answered for you; `openDiff` and `executeCode` have none.
    Call(ToolCall),
    /// The client asks for something by a method of the Obsidian dialect. Answer it with
    /// [`respond_direct`](crate::ide::OpenCall::respond_direct) or [`fail`](crate::ide::OpenCall::fail); by
    /// its deadline it is answered for you, with an error.
    Direct {
        /// What to answer it by.
        call: CallId,
        /// What it asks for.
        request: DirectRequest,
    },
    /// The client asks for something that the configuration forwards. Answer it with
    /// [`respond_raw`](crate::ide::OpenCall::respond_raw) or [`fail`](crate::ide::OpenCall::fail); by its
    /// deadline it is answered for you, with an error.
    Request {
        /// What to answer it by.
        call: CallId,
        /// What is asked.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A call ended without your answer; an `openDiff` ends with [`DiffClosed`](ServerEvent::DiffClosed) instead.
    CallEnded {
        /// Which one.
        call: CallId,
        /// And how.
        reason: CallEnd,
    },
    /// An open diff ended without your answer: close its view. It cannot be answered any more; an agent of another family
    /// may want the text of the view then, and gets it as the answer of the same call.
    DiffClosed {
        /// The call that opened it.
        call: CallId,
        /// Its tab.
        tab_name: String,
        /// And how it ended.
        reason: DiffEnd,
    },
    /// A notification that is not handled here.
    Notification {
        /// What is said.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Box<RawValue>>,
    },
    /// A request of the editor ended.
    Outcome {
        /// Which one.
        request: RequestId,
        /// And how.
        outcome: Outcome,
    },
    /// The client says how far a request of the editor has come.
    Progress {
        /// Which one.
        request: RequestId,
        /// And how far.
        progress: Progress<'static>,
    },
    /// The client reports an error that belongs to no request.
    PeerError(ErrorObject),
    /// The client broke a rule of JSON-RPC or MCP; the session goes on. For logs.
    PeerFault(PeerFault),
    /// The end of the connection. Comes exactly once and last.
    Closed(Closed),
}
