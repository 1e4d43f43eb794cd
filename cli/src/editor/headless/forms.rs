//! The open forms that the command `form` has sent.

use super::report::FormEnd;
use ide_mcp::ide::{AgentId, Pending, Server};
use ide_mcp::mcp::{Form, FormAnswer, Outcome, Timeout};
use ide_mcp::rpc::RequestId;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the user has to answer by default. An agent of this crate gives up after the same time (`longest_call` of
/// `mcp::ClientConfig`).
const WITHIN: Duration = Duration::from_secs(10 * 60);

/// The open forms, each with the line number of its command.
#[derive(Debug, Default)]
pub(crate) struct Forms(BTreeMap<RequestId, (u64, Pending<FormAnswer>)>);

impl Forms {
    /// Sends a form to this agent, or to the first attached one if it is `None`. `within` is in milliseconds.
    pub(crate) fn open(
        &mut self,
        server: &mut Server,
        line: u64,
        form: &RawValue,
        agent: Option<AgentId>,
        within: Option<u64>,
    ) -> Result<(), String> {
        let form = Form::read(form).map_err(|error| format!("this is not a form: {}", error.message))?;
        let only = server.agents().next().map(|agent| agent.id());
        let agent = agent.or(only).ok_or("no agent is attached")?;
        let within = within.map_or(WITHIN, Duration::from_millis);
        let pending = server.agent_mut(agent).elicit_within(form, Timeout::After(within));
        let pending = pending.map_err(|error| error.to_string())?;
        self.0.insert(pending.id(), (line, pending));
        Ok(())
    }

    /// Handles the outcome of a request. If it was a form, returns the line number of its command, and the end of the
    /// form.
    pub(crate) fn end(&mut self, request: RequestId, outcome: Outcome) -> Option<(u64, FormEnd)> {
        let (line, pending) = self.0.remove(&request)?;
        let end = pending.answer(outcome);
        Some((line, end.map_or_else(|error| FormEnd::Failed { error: error.to_string() }, FormEnd::Answered)))
    }
}
