//! What happens to an editor.

use super::{AgentId, ConnId, LockFileEvent};
use crate::ide::tool::{DirectRequest, ToolCall};
use crate::ide::{DiffEnd, EditEnd, Mention};
use crate::mcp::{CallEnd, GetPrompt, Implementation, Outcome, PeerFault, Progress, ReadResource, Root};
use crate::rpc::{CallId, ErrorObject, Json, RequestId};
use crate::ws::Closed;
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};

/// What happened to your [`Server`](crate::ide::Server). Most editors only need [`Call`](Self::Call),
/// [`DiffClosed`](Self::DiffClosed), [`Ready`](Self::Ready) and [`Closed`](Self::Closed).
///
/// Almost every event is about one agent and names it. A connection [for models](crate::ide::MODELS_TARGET) counts as
/// an agent here, because its calls are answered in the same way. A connection that was never accepted causes no event
/// but [`AdmissionPending`](ServerEvent::AdmissionPending): the server only
/// [counts](crate::ide::Server::unauthenticated) it.
///
/// ```
/// use ide_mcp::ide::tool::ToolCall;
/// use ide_mcp::ide::{Server, ServerEvent};
///
/// fn on_event(server: &mut Server, event: ServerEvent) {
///     match event {
///         ServerEvent::Ready { agent, client } => println!("{agent:?} is attached: {client:?}"),
///         ServerEvent::Call { call: ToolCall::OpenDiff(call, diff), .. } => {
///             // Show it to the person, keep both, and answer later. This editor rejects everything.
///             let _ = server.answer(call, &diff.reject());
///         }
///         ServerEvent::DiffClosed { call, .. } => println!("close the view of {call:?}"),
///         ServerEvent::Closed { agent, reason } => println!("{agent:?} is gone: {reason}"),
///         _ => {}
///     }
/// }
/// ```
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The client has introduced itself and waits for [`allow`](crate::ide::AgentMut::allow) or
    /// [`disconnect`](crate::ide::AgentMut::disconnect), because the editor [asks for
    /// consent](crate::ide::ServerConfig::asks_for_consent).
    ConsentPending {
        /// The agent.
        agent: AgentId,
        /// The name and version that the client sent; `None` if they cannot be read.
        client: Option<Implementation>,
        /// True if the connection [belongs to the model](crate::ide::MODELS_TARGET) of the client.
        is_for_models: bool,
    },
    /// The client is attached: its session is initialized.
    Ready {
        /// The agent.
        agent: AgentId,
        /// The name and version that the client sent; `None` if they cannot be read.
        client: Option<Implementation>,
    },
    /// A connection for a model is initialized: from now on the client gives its model the [tools for
    /// models](crate::ide::tool::ToolSet::offer_to_models). Do not show this as an agent that attaches: if the person
    /// attached one, it has a connection of its own. See [`MODELS_TARGET`](crate::ide::MODELS_TARGET).
    ModelReady {
        /// The agent.
        agent: AgentId,
        /// The name and version that the client sent; `None` if they cannot be read.
        client: Option<Implementation>,
    },
    /// A client has sent the token of an earlier process ([`Auth::Resumed`](crate::ide::Auth::Resumed)) and waits for
    /// [`admit`](crate::ide::Server::admit). No timer ends this wait. You get this event only with that
    /// [`Auth`](crate::ide::Auth), and never from our adapters, which decide by the owner of the socket.
    AdmissionPending {
        /// The connection of the client.
        conn: ConnId,
    },
    /// The client sent `ide_connected`. It may not accept pushes yet: no message tells when it does.
    IdeConnected {
        /// The agent.
        agent: AgentId,
        /// The process id of the client; `None` if absent or unreadable.
        pid: Option<u32>,
        /// True if the client reports that our side is too old for it.
        is_version_unsupported: bool,
    },
    /// The folders that the client works in: its first answer to `roots/list`, and each answer that differs. The server
    /// asks every client that declares roots. [`closest_window`](crate::ide::Agent::closest_window) finds the right
    /// window for the client.
    RootsChanged {
        /// The agent.
        agent: AgentId,
        /// The folders, at most 64.
        roots: Vec<Root>,
    },
    /// The client has switched to this permission mode: `default`, `plan`, …. We have already answered its call.
    PermissionMode {
        /// The agent.
        agent: AgentId,
        /// The name of the mode.
        mode: String,
    },
    /// The client calls a tool. [Answer](crate::ide::Server::answer) at once or later. At its deadline we answer for
    /// you; `openDiff` and `executeCode` have no deadline.
    Call {
        /// The agent.
        agent: AgentId,
        /// The call, with its arguments.
        call: ToolCall,
    },
    /// The client asks for the messages of a prompt that the editor [lists](crate::mcp::ServerConfig::context), because
    /// the person picked it. Answer with [`respond_prompt`](crate::ide::OpenCall::respond_prompt) or
    /// [`fail`](crate::ide::OpenCall::fail); at its deadline we answer with an error.
    GetPrompt {
        /// The agent.
        agent: AgentId,
        /// Answer the request with this id.
        call: CallId,
        /// The prompt and its arguments. All required arguments are there.
        prompt: GetPrompt,
    },
    /// The client reads a resource that the editor [lists](crate::mcp::ServerConfig::context), or that one of its
    /// templates may match. Answer with [`respond_resource`](crate::ide::OpenCall::respond_resource) or
    /// [`fail`](crate::ide::OpenCall::fail); at its deadline we answer with an error. For a [resource of a
    /// tool](crate::ide::ServerConfig::tool_resources) you get a [`Call`](ServerEvent::Call) of the tool instead.
    ReadResource {
        /// The agent.
        agent: AgentId,
        /// Answer the request with this id.
        call: CallId,
        /// The URI of the resource.
        resource: ReadResource,
    },
    /// The client sends a request of the Obsidian dialect. Answer with
    /// [`respond_direct`](crate::ide::OpenCall::respond_direct) or [`fail`](crate::ide::OpenCall::fail); at its
    /// deadline we answer with an error.
    Direct {
        /// The agent.
        agent: AgentId,
        /// Answer the request with this id.
        call: CallId,
        /// The request.
        request: DirectRequest,
    },
    /// The client sends a request that you [forward](crate::mcp::ServerConfig::forward) to yourself. Answer with
    /// [`respond_raw`](crate::ide::OpenCall::respond_raw) or [`fail`](crate::ide::OpenCall::fail); at its deadline we
    /// answer with an error.
    Request {
        /// The agent.
        agent: AgentId,
        /// Answer the request with this id.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// A call ended without your answer. An `openDiff` ends with
    /// [`DiffClosed`](ServerEvent::DiffClosed) instead.
    CallEnded {
        /// The agent.
        agent: AgentId,
        /// The call.
        call: CallId,
        /// How it ended.
        reason: CallEnd,
    },
    /// An open diff ended without your answer: close its view. You can no longer answer the call. The event still names
    /// it, because a later version of this crate may answer it with the text of the view, for agents of another family.
    DiffClosed {
        /// The agent.
        agent: AgentId,
        /// The call that opened the diff.
        call: CallId,
        /// The tab of the diff.
        tab_name: String,
        /// Why the diff ended.
        reason: DiffEnd,
    },
    /// A hint that the client is about to write this file: it has asked for the problems of the file, as it does in
    /// auto mode and after an accepted diff. If you want to offer undo, read the file for an
    /// [`EditLog`](crate::ide::kit::EditLog) now, and then answer. The [`Call`](ServerEvent::Call) of `getDiagnostics`
    /// is the next event, and one [`EditEnded`](ServerEvent::EditEnded) follows later. The client writes after the
    /// answer, or after 0.5 s; we answer for you after 0.4 s.
    ///
    /// If a buffer of this file has unsaved changes, save it before you answer. The client can then still change a
    /// passage in the saved text, but refuses to replace the whole file until its model has read it again (measured).
    /// If you do not save, the client's text is on the disk and the person's in the buffer, so warn the person.
    ///
    /// With version 2.1.330 of the real client, a write followed 32 of 34 hints, and in the other two cases the editor
    /// had saved the file meanwhile (measured). There is no hint for an edit that the client refuses by itself, nor for
    /// a file that a shell command writes. Other clients, and perhaps older versions, do not mark the calls of their
    /// model, so a model that asks for the problems of a file causes a hint too.
    ///
    /// The real client asks even if you do not list `getDiagnostics`, but you get no hint unless you
    /// [handle](crate::ide::tool::ToolSet::handle_unlisted) this tool. No filter applies, because the hint stays in the
    /// editor.
    EditExpected {
        /// The agent.
        agent: AgentId,
        /// Identifies the edit: the call of `getDiagnostics`.
        edit: CallId,
        /// The path from the URI of the client, not decoded, because the real client encodes nothing. Check it with
        /// [`paths::classify`](crate::ide::paths::classify) before you open it.
        path: Arc<str>,
    },
    /// An expected edit is over: if the client was going to write the file, it has done so. If the text is the same as
    /// before, nothing was written. [`Closed`](ServerEvent::Closed) comes after this event.
    EditEnded {
        /// The agent.
        agent: AgentId,
        /// Identifies the edit.
        edit: CallId,
        /// The path of the [`EditExpected`](ServerEvent::EditExpected).
        path: Arc<str>,
        /// Why the edit is over.
        reason: EditEnd,
    },
    /// A notification that this crate does not handle.
    Notification {
        /// The agent.
        agent: AgentId,
        /// The method.
        method: Box<str>,
        /// The parameters: an object; `None` if absent or null.
        params: Option<Json>,
    },
    /// One of your requests ended.
    Outcome {
        /// The agent.
        agent: AgentId,
        /// The request.
        request: RequestId,
        /// How it ended.
        outcome: Outcome,
    },
    /// The client reports the progress of one of your requests.
    Progress {
        /// The agent.
        agent: AgentId,
        /// The request.
        request: RequestId,
        /// The progress of the request.
        progress: Progress<'static>,
    },
    /// The client reports an error that belongs to no request.
    PeerError {
        /// The agent.
        agent: AgentId,
        /// The error.
        error: ErrorObject,
    },
    /// The client broke a rule of JSON-RPC or MCP; the session goes on. For logs.
    PeerFault {
        /// The agent.
        agent: AgentId,
        /// The rule that was broken.
        fault: PeerFault,
    },
    /// The agent's connection has ended. Comes exactly once, as the last event about this agent.
    Closed {
        /// The agent.
        agent: AgentId,
        /// How it ended. An agent that detaches closes with 1000 ([`Closed::Remote`]); one that was killed is
        /// [`Closed::Abnormal`].
        reason: Closed,
    },
    /// A mention expired: no client accepted it in time, its addressee disconnected, or the
    /// [`Filter`](crate::ide::Filter) now hides the file.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
    /// The lock file has changed, as its guard reported with [`on_lock_file`](crate::ide::Server::on_lock_file).
    LockFile(LockFileEvent),
}

impl ServerEvent {
    /// Returns the agent that this event is about; `None` if it is about the editor itself.
    #[must_use]
    pub const fn agent(&self) -> Option<AgentId> {
        match self {
            Self::ConsentPending { agent, .. }
            | Self::Ready { agent, .. }
            | Self::ModelReady { agent, .. }
            | Self::IdeConnected { agent, .. }
            | Self::RootsChanged { agent, .. }
            | Self::PermissionMode { agent, .. }
            | Self::Call { agent, .. }
            | Self::GetPrompt { agent, .. }
            | Self::ReadResource { agent, .. }
            | Self::Direct { agent, .. }
            | Self::Request { agent, .. }
            | Self::CallEnded { agent, .. }
            | Self::DiffClosed { agent, .. }
            | Self::EditExpected { agent, .. }
            | Self::EditEnded { agent, .. }
            | Self::Notification { agent, .. }
            | Self::Outcome { agent, .. }
            | Self::Progress { agent, .. }
            | Self::PeerError { agent, .. }
            | Self::PeerFault { agent, .. }
            | Self::Closed { agent, .. } => Some(*agent),
            Self::AdmissionPending { .. } | Self::MentionExpired { .. } | Self::LockFile(_) => None,
        }
    }

    /// Returns the tool call of this event; `None` for every other event. If you keep proposals for a person, match the
    /// events instead, because [`DiffClosed`](ServerEvent::DiffClosed) ends a proposal.
    #[must_use]
    pub fn into_call(self) -> Option<ToolCall> {
        if let Self::Call { call, .. } = self { Some(call) } else { None }
    }
}
