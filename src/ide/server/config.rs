//! What the connections of one editor share.

use crate::ide::{Limits, Policy, ToolSet};
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
    /// The tools that are offered, and the dialect that is spoken.
    pub tools: Arc<ToolSet>,
    /// Who the editor is, how long calls may wait, and the limits of a session.
    pub session: mcp::ServerConfig,
    /// How much is told at a time.
    pub told: Limits,
    /// The settle time: the longest time for which a client ignores pushes after `initialized` or after the answer to
    /// its `tools/list`, whichever is later. Mentions wait for it, and the selection is sent again at its end.
    /// Default `None`: the value known for the client, or 1.6 s for an unknown client.
    pub settle: Option<Duration>,
    /// The limits of a connection.
    pub limits: ws::Limits,
}

impl ServerConfig {
    /// The editor `info`, with these tools, for whom the policy lets in. In the dialects that ping over JSON-RPC the
    /// session does.
    #[must_use]
    pub fn new(info: Implementation, policy: Policy, tools: ToolSet) -> Self {
        let mut session = mcp::ServerConfig::new(info);
        session.keepalive = tools.dialect().rules().pings.then(mcp::Keepalive::default);
        Self {
            policy,
            tools: Arc::new(tools),
            session,
            told: Limits::default(),
            settle: None,
            limits: ws::Limits::default(),
        }
    }
}
