//! What kind of connection this is, as the request target of its opening handshake decides: an agent, or the model of
//! an agent.
//!
//! Over the connection of `--ide`, the real client does not give an editor's own tools to its model. But it gives the
//! model all tools of a server named in `--mcp-config` (measured). So a client may connect a second time, at
//! [`MODELS_TARGET`], and that connection has the tools for models and nothing else of the dialect.

use super::Connection;
use crate::ide::tool::ToolSet;
use crate::ide::tool::toolset::SharedTools;
use crate::mcp::Forward;
use crate::ws::Request;
use alloc::sync::Arc;

/// Where a client connects to give tools of your editor to its model. [`McpConfig`](crate::ide::discovery::McpConfig)
/// writes this target into the configuration of a client. It is compared byte for byte; anything similar, such as
/// `/models/`, is answered with 404.
///
/// The [`Policy`](crate::ide::Policy) demands the token here as everywhere, and accepts this target even if
/// [`Policy::paths`](crate::ide::Policy::paths) does not list it. The real client offers the sub-protocol `mcp` here
/// too (measured).
///
/// A connection here belongs to a model, not to an agent:
///
/// - Its `tools/list` has the tools [for models](crate::ide::tool::ToolSet::offer_to_models). Every other tool is
///   unknown to it, `openDiff`, `close_tab`, `closeAllDiffTabs` and `set_permission_mode` included.
/// - It gets no selection, no mention and no other push. [`Server::agents`](crate::ide::Server::agents) does not list
///   it.
/// - It has no prompts, no resources and no instructions, because the agent's connection has them, and the model would
///   find each resource twice. It has no methods that you forward or that a dialect adds.
/// - Its calls come as the same events as the calls of agents, so one handler answers both. Its session begins with
///   [`ModelReady`](crate::ide::ServerEvent::ModelReady) instead of [`Ready`](crate::ide::ServerEvent::Ready), and
///   `ide_connected` is an unknown notification.
/// - It counts towards [`ServerConfig::max_clients`](crate::ide::ServerConfig::max_clients), because it may hold as
///   much memory as an agent.
pub const MODELS_TARGET: &str = "/models";

/// The kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// An agent, with selection, mentions and diffs.
    Agent,
    /// The model of an agent, with the tools for models.
    Model,
}

impl Peer {
    /// Returns the kind of connection that this opening handshake wants.
    pub(super) fn of(request: &Request<'_>) -> Self {
        if request.target() == MODELS_TARGET { Self::Model } else { Self::Agent }
    }

    /// Returns the part of these tools that the connection offers.
    pub(super) fn tools(self, tools: Arc<ToolSet>) -> Arc<ToolSet> {
        match self {
            Self::Agent => tools,
            Self::Model => Arc::new(tools.for_models()),
        }
    }
}

impl Connection {
    /// Returns true if the connection belongs to the model of a client, which connected at [`MODELS_TARGET`]. False
    /// until the client is accepted.
    #[must_use]
    pub(crate) fn is_for_models(&self) -> bool {
        self.peer == Peer::Model
    }

    /// Makes this a connection for a model. Only before its first message.
    pub(super) fn serve_model(&mut self) {
        self.peer = Peer::Model;
        self.pushes.stop();
        let shared = self.mcp.tools().clone();
        self.mcp.replace_offer(SharedTools { tools: self.peer.tools(shared.tools), ..shared }, |config| {
            config.context = Arc::default();
            config.instructions = None;
            config.capabilities.clear();
            config.forward = Forward::Nothing;
        });
    }
}
