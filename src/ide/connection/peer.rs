//! The kind of a connection, which the request target of its opening handshake decides: an agent, or the
//! model of an agent.
//!
//! The real client does not give an editor's own tools to its model over the connection of `--ide`. A
//! server that is named in `--mcp-config` gives all its tools to the model (measured). So a client can
//! connect a second time, at [`MODELS_TARGET`], and that connection has the tools for models and nothing
//! else of the dialect.

use super::Connection;
use crate::ide::tool::ToolSet;
use crate::ide::tool::toolset::SharedTools;
use crate::mcp::Forward;
use crate::ws::Request;
use alloc::sync::Arc;

/// The request target at which a client connects to give tools of the editor to its model. The target
/// is compared byte for byte, and what resembles it, such as `/models/`, is no door at all (404).
/// [`McpConfig`](crate::ide::discovery::McpConfig) writes it into the configuration of a client.
///
/// The [`Policy`](crate::ide::Policy) requires the token here as at every target, and accepts this target
/// even if [`Policy::paths`](crate::ide::Policy::paths) does not list it. The real client offers the
/// sub-protocol `mcp` here too (measured).
///
/// A connection at this target belongs to a model and not to an agent:
///
/// - Its `tools/list` has the tools [for models](crate::ide::tool::ToolSet::offer_to_models). A call of another
///   tool is refused as a call of an unknown tool, also of `openDiff`, `close_tab`, `closeAllDiffTabs` and
///   `set_permission_mode`.
/// - It receives no selection, no mention and no other push. [`Server::agents`](crate::ide::Server::agents)
///   does not list it.
/// - It has no prompts, no resources and no instructions, because the connection of the agent has them:
///   the model would find each resource twice. It has no methods that the application forwards or that a dialect adds.
/// - Its calls are events as those of agents are, so one handler answers both. Its session begins with
///   [`ModelReady`](crate::ide::ServerEvent::ModelReady) in place of
///   [`Ready`](crate::ide::ServerEvent::Ready), and `ide_connected` is an unknown notification.
/// - It counts towards [`ServerConfig::max_clients`](crate::ide::ServerConfig::max_clients), because it can
///   hold as much memory as an agent.
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
    /// Returns the kind of the connection that this opening handshake asks for.
    pub(super) fn of(request: &Request<'_>) -> Self {
        if request.target() == MODELS_TARGET { Self::Model } else { Self::Agent }
    }

    /// Returns the part of these tools that the connection has.
    pub(super) fn tools(self, tools: Arc<ToolSet>) -> Arc<ToolSet> {
        match self {
            Self::Agent => tools,
            Self::Model => Arc::new(tools.for_models()),
        }
    }
}

impl Connection {
    /// Returns true if the connection belongs to the model of a client: the client connected at
    /// [`MODELS_TARGET`]. False until the client is let in.
    #[must_use]
    pub(crate) fn is_for_models(&self) -> bool {
        self.peer == Peer::Model
    }

    /// Makes this connection one of a model. Only before its first message.
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
