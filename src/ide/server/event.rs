//! The events of an editor.

use super::{AgentId, ConnId, LockFileEvent};
use crate::ide::tool::{DirectRequest, ToolCall};
use crate::ide::{DiffEnd, EditEnd, Mention};
use crate::mcp::{CallEnd, GetPrompt, Implementation, Outcome, PeerFault, Progress, ReadResource, Root};
use crate::rpc::{CallId, ErrorObject, Json, RequestId};
use crate::ws::Closed;
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};

/// An event of an editor's [`Server`](crate::ide::Server).
///
/// Almost every event is about one agent and names it. A connection [for models](crate::ide::MODELS_TARGET) counts as an
/// agent here, because its calls are answered in the same way. A connection that was never let in has no events but
/// [`AdmissionPending`](ServerEvent::AdmissionPending): the server [counts](crate::ide::Server::unauthenticated) it.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerEvent {
    /// The client has introduced itself, and waits for [`allow`](crate::ide::AgentMut::allow) or
    /// [`disconnect`](crate::ide::AgentMut::disconnect), because the editor
    /// [asks for consent](crate::ide::ServerConfig::asks_for_consent).
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
    /// A connection for a model is initialized: the client gives the
    /// [tools for models](crate::ide::tool::ToolSet::offer_to_models) to its model from now on. This is no agent
    /// that attaches: do not show it as one. The agent has a connection of its own, if the person attached
    /// one. See [`MODELS_TARGET`](crate::ide::MODELS_TARGET).
    ModelReady {
        /// The agent.
        agent: AgentId,
        /// The name and version that the client sent; `None` if they cannot be read.
        client: Option<Implementation>,
    },
    /// A client has sent the token of an earlier process ([`Auth::Resumed`](crate::ide::Auth::Resumed)) and waits for
    /// [`admit`](crate::ide::Server::admit). No timer ends this wait. This event comes with no other
    /// [`Auth`](crate::ide::Auth). The adapters of this project do not report it: they decide by the owner of the socket.
    AdmissionPending {
        /// The connection of the client.
        conn: ConnId,
    },
    /// The client sent `ide_connected`. This is not the moment from which the client accepts pushes: no
    /// message marks that moment.
    IdeConnected {
        /// The agent.
        agent: AgentId,
        /// The process id of the client; `None` if it is absent or cannot be read.
        pid: Option<u32>,
        /// True if the client reports that the editor's part is too old for it.
        is_version_unsupported: bool,
    },
    /// The folders in which the client works: its first answer to `roots/list`, and each answer with
    /// another list. The editor asks a client that declares roots by itself.
    /// [`closest_window`](crate::ide::Agent::closest_window) finds the window for the client.
    RootsChanged {
        /// The agent.
        agent: AgentId,
        /// The folders, at most 64.
        roots: Vec<Root>,
    },
    /// The client asks for permission in this mode from now on: `default`, `plan`, …. The call has been
    /// answered.
    PermissionMode {
        /// The agent.
        agent: AgentId,
        /// The name of the mode.
        mode: String,
    },
    /// The client calls a tool. [Answer](crate::ide::Server::answer) the call, at once or later. At its
    /// deadline this crate answers the call; `openDiff` and `executeCode` have no deadline.
    Call {
        /// The agent.
        agent: AgentId,
        /// The call, with its arguments.
        call: ToolCall,
    },
    /// The client asks for the messages of a prompt that the editor
    /// [lists](crate::mcp::ServerConfig::context), because the person chose it. Answer the request with
    /// [`respond_prompt`](crate::ide::OpenCall::respond_prompt) or
    /// [`fail`](crate::ide::OpenCall::fail). At its deadline this crate answers the request with an
    /// error.
    GetPrompt {
        /// The agent.
        agent: AgentId,
        /// The name by which the request is answered.
        call: CallId,
        /// The prompt and its arguments. All required arguments are there.
        prompt: GetPrompt,
    },
    /// The client reads a resource that the editor [lists](crate::mcp::ServerConfig::context), or that
    /// a template can cover. Answer the request with
    /// [`respond_resource`](crate::ide::OpenCall::respond_resource) or
    /// [`fail`](crate::ide::OpenCall::fail). At its deadline this crate answers the request with an
    /// error. A resource that a tool reads comes as a [`Call`](ServerEvent::Call) of the tool instead.
    ReadResource {
        /// The agent.
        agent: AgentId,
        /// The name by which the request is answered.
        call: CallId,
        /// The URI of the resource.
        resource: ReadResource,
    },
    /// The client sends a request with a method of the Obsidian dialect. Answer it with
    /// [`respond_direct`](crate::ide::OpenCall::respond_direct) or
    /// [`fail`](crate::ide::OpenCall::fail). At its deadline this crate answers the request with an
    /// error.
    Direct {
        /// The agent.
        agent: AgentId,
        /// The name by which the request is answered.
        call: CallId,
        /// The request.
        request: DirectRequest,
    },
    /// The client sends a request that the configuration forwards. Answer it with
    /// [`respond_raw`](crate::ide::OpenCall::respond_raw) or [`fail`](crate::ide::OpenCall::fail). At
    /// its deadline this crate answers the request with an error.
    Request {
        /// The agent.
        agent: AgentId,
        /// The name by which the request is answered.
        call: CallId,
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Json>,
    },
    /// A call ended without your answer. An `openDiff` ends with
    /// [`DiffClosed`](ServerEvent::DiffClosed) instead.
    CallEnded {
        /// The agent.
        agent: AgentId,
        /// The call.
        call: CallId,
        /// The end of the call.
        reason: CallEnd,
    },
    /// An open diff ended without your answer: close its view. The call cannot be answered any more.
    /// The event still names the call, because a later version of this crate can answer the call with
    /// the text of the view, for agents of another family.
    DiffClosed {
        /// The agent.
        agent: AgentId,
        /// The call that opened the diff.
        call: CallId,
        /// The tab of the diff.
        tab_name: String,
        /// The reason for which the diff ended.
        reason: DiffEnd,
    },
    /// A hint that the client is about to write this file: it asks for the problems of this file, in
    /// auto mode and after an accepted diff. The [`Call`](ServerEvent::Call) of `getDiagnostics` is
    /// the next event, and one [`EditEnded`](ServerEvent::EditEnded) follows later. The client writes
    /// after the answer, or after 0.5 s; this crate answers after 0.4 s. So read the file for an
    /// [`EditLog`](crate::ide::kit::EditLog), and then answer.
    ///
    /// If a buffer of this file has unsaved changes, save the buffer before the answer. The client
    /// then changes a passage in the saved text, and refuses to replace the whole file until its model
    /// has read the file again (measured). Without the save the disk has the text of the client and
    /// the buffer that of the person; so an editor that does not save warns the person.
    ///
    /// With version 2.1.330 of the real client, a write followed 32 of 34 hints, and in the other two
    /// cases the editor had saved the file meanwhile (measured). An edit that the client refuses by
    /// itself has no hint, nor has a file that a shell command writes. Other clients, and perhaps older
    /// versions, do not mark the calls of their model, so a model that asks for the problems of a file
    /// leads to a hint too.
    ///
    /// The real client asks even if the tools of the editor do not list `getDiagnostics`. There is no
    /// hint if the editor does not [handle](crate::ide::tool::ToolSet::handle_unlisted) this tool. No filter
    /// applies, because the hint stays in the editor.
    EditExpected {
        /// The agent.
        agent: AgentId,
        /// The name of the edit: the call of `getDiagnostics`.
        edit: CallId,
        /// The path from the URI of the client, not decoded, because the real client encodes nothing.
        /// Judge the path with [`paths::classify`](crate::ide::paths::classify) before it is opened.
        path: Arc<str>,
    },
    /// An expected edit is over: the file is written, if the client wrote it. If the text of the file
    /// is the text of before, nothing was written. A [`Closed`](ServerEvent::Closed) comes after this
    /// event.
    EditEnded {
        /// The agent.
        agent: AgentId,
        /// The name of the edit.
        edit: CallId,
        /// The path of the [`EditExpected`](ServerEvent::EditExpected).
        path: Arc<str>,
        /// The reason for which the edit is over.
        reason: EditEnd,
    },
    /// A notification that this layer does not handle.
    Notification {
        /// The agent.
        agent: AgentId,
        /// The method.
        method: Box<str>,
        /// An object; `None` if absent.
        params: Option<Json>,
    },
    /// A request of the editor ended.
    Outcome {
        /// The agent.
        agent: AgentId,
        /// The request.
        request: RequestId,
        /// The end of the request.
        outcome: Outcome,
    },
    /// The client reports the progress of a request of the editor.
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
    /// The agent's connection has ended. This event comes exactly once, and is the last one about this agent.
    Closed {
        /// The agent.
        agent: AgentId,
        /// How it ended: an agent that detaches closes with 1000 ([`Closed::Remote`]), and one that was killed is
        /// [`Closed::Abnormal`].
        reason: Closed,
    },
    /// A mention that expired: no client accepted it in time, the client to which it was addressed disconnected, or the
    /// [`Filter`](crate::ide::Filter) hides the file by now.
    MentionExpired {
        /// The mention.
        mention: Mention,
    },
    /// A change of the lock file, as its guard reported it with
    /// [`on_lock_file`](crate::ide::Server::on_lock_file).
    LockFile(LockFileEvent),
}

impl ServerEvent {
    /// Returns the agent that this event is about; `None` for an event of the editor itself.
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

    /// Returns the tool call of this event; `None` for every other event. An application that keeps proposals
    /// for a person matches the events instead: [`DiffClosed`](ServerEvent::DiffClosed) ends a proposal.
    #[must_use]
    pub fn into_call(self) -> Option<ToolCall> {
        if let Self::Call { call, .. } = self { Some(call) } else { None }
    }
}
