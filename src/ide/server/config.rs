//! What the connections of one editor share.

use crate::ide::{Policy, ToolSet};
use crate::mcp::{self, Implementation};
use crate::ws;
use alloc::sync::Arc;

/// What the connections of one editor share.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Who may attach.
    pub policy: Policy,
    /// The tools that are offered.
    pub tools: Arc<ToolSet>,
    /// Who the editor is, how long calls may wait, and the limits of a session.
    pub session: mcp::ServerConfig,
    /// The limits of a connection.
    pub limits: ws::Limits,
}

impl ServerConfig {
    /// The editor `info`, with these tools, for whom the policy lets in.
    #[must_use]
    pub fn new(info: Implementation, policy: Policy, tools: ToolSet) -> Self {
        Self {
            policy,
            tools: Arc::new(tools),
            session: mcp::ServerConfig::new(info),
            limits: ws::Limits::default(),
        }
    }
}
