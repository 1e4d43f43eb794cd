//! What the connections of one editor share.

use crate::Keepalive;
use crate::ide::{ContentLimits, Dialect, Policy, ToolSet};
use crate::mcp::{self, Implementation};
use crate::ws;
use alloc::sync::Arc;
use core::time::Duration;

/// What the connections of one editor share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Who may attach.
    pub policy: Policy,
    /// The tools that are offered.
    pub tools: Arc<ToolSet>,
    /// The dialect of the sessions. Default [`Dialect::VsCode`], which is what the real client understands;
    /// [`with_dialect`](ServerConfig::with_dialect) sets another one together with its pings.
    pub dialect: Dialect,
    /// Who the editor is, how long calls may wait, and the limits of a session.
    pub mcp: mcp::ServerConfig,
    /// The limits of the contents of answers and pushes.
    pub content_limits: ContentLimits,
    /// The settle time: the longest time for which a client ignores pushes after `initialized` or after the answer to
    /// its `tools/list`, whichever is later. Mentions wait for it, and the selection is sent again at its end.
    /// Default `None`: the value known for the client, or 1.6 s for an unknown client.
    pub settle: Option<Duration>,
    /// The limits of a connection. Default those of [`ws::Limits`], but 16 MiB for a message: four times the largest file
    /// that a person would review as a change.
    pub ws: ws::Limits,
}

/// The size of a message of a client.
const MESSAGE: usize = 16 * 1024 * 1024;

impl ServerConfig {
    /// Returns the number of unwritten bytes from which on an answer is replaced by an error: as many as the open calls of
    /// a client may have, but no less than [`ws::Limits::outgoing`]. So the answers to 256 calls are bounded as the calls
    /// are, whatever the application answers.
    #[must_use]
    pub const fn max_unwritten(&self) -> usize {
        let (open, mark) = (self.mcp.limits.open_bytes, self.ws.outgoing);
        if open > mark { open } else { mark }
    }

    /// Returns the default settings of the editor `info`, with these tools, for the clients that the policy lets in.
    #[must_use]
    pub fn new(info: Implementation, policy: Policy, tools: ToolSet) -> Self {
        Self {
            policy,
            tools: Arc::new(tools),
            dialect: Dialect::VsCode,
            mcp: mcp::ServerConfig::new(info),
            content_limits: ContentLimits::default(),
            settle: None,
            ws: ws::Limits { message: MESSAGE, ..ws::Limits::default() },
        }
    }

    /// Sets the dialect of the sessions, and [JSON-RPC pings](Keepalive::JSON_RPC) if the dialect has them and no others
    /// are configured.
    #[must_use]
    pub fn with_dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        if dialect.rules().rpc_ping {
            self.mcp.keepalive.get_or_insert(Keepalive::JSON_RPC);
        }
        self
    }
}
