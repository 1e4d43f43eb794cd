//! Waiting for the outcome of one request, while events queue up.

use super::{AgentSession, Stage};
use crate::agent::{AgentError, CallError};
use ide_mcp::ide::{Client, ClientEvent};
use ide_mcp::mcp::Outcome;
use ide_mcp::rpc::RequestId;

/// The outcomes that are not delivered as events.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// The request that the agent waits for.
    awaited: Option<RequestId>,
    /// The outcome of the awaited request.
    outcome: Option<Outcome>,
    /// The cancelled requests of this connection, whose outcomes we drop.
    abandoned: Vec<RequestId>,
}

impl Outcomes {
    /// Keeps an outcome that must not become an event, and returns every other event.
    pub(super) fn filter(&mut self, event: ClientEvent) -> Option<ClientEvent> {
        let ClientEvent::Outcome { request, outcome } = event else { return Some(event) };
        if self.awaited == Some(request) {
            self.outcome = Some(outcome);
        } else if self.abandoned.contains(&request) {
            self.abandoned.retain(|abandoned| *abandoned != request);
        } else {
            return Some(ClientEvent::Outcome { request, outcome });
        }
        None
    }

    /// Forgets the cancelled requests, since their connection has ended.
    pub(super) fn on_closed(&mut self) {
        self.abandoned.clear();
    }
}

impl AgentSession {
    /// Takes the first [`Ready`](ClientEvent::Ready) out of the events, for an adapter whose `attach` waits
    /// for it: `Ok` once the agent is attached, otherwise the error.
    pub fn take_attached(&mut self) -> Option<Result<(), AgentError>> {
        match self.events.take(|event| matches!(event, ClientEvent::Ready(_))) {
            Some(_) => Some(Ok(())),
            None if self.stage == Stage::Over => Some(Err(self.take_error())),
            None => None,
        }
    }

    /// Starts to wait for the outcome of this request. The events that come before it stay queued. If the
    /// request belongs to an earlier connection, its outcome has already been delivered, so the wait ends at
    /// once with [`Outcome::Closed`].
    pub fn begin_wait(&mut self, request: RequestId) {
        self.outcomes.awaited = Some(request);
        self.outcomes.outcome = (request.session() != self.current_session()).then_some(Outcome::Closed);
        let is_outcome = |event: &ClientEvent| matches!(event, ClientEvent::Outcome { request: other, .. } if *other == request);
        if let Some(ClientEvent::Outcome { outcome, .. }) = self.events.take(is_outcome) {
            self.outcomes.outcome = Some(outcome);
        }
    }

    /// Returns the outcome and ends the wait; `None` while there is none yet.
    ///
    /// # Errors
    /// [`CallError::TooManyEvents`] if 10,000 events, or events with more than 16 MiB of text and JSON, wait
    /// for the application.
    pub fn take_outcome(&mut self) -> Result<Option<Outcome>, CallError> {
        if let Some(outcome) = self.outcomes.outcome.take() {
            self.outcomes.awaited = None;
            return Ok(Some(outcome));
        }
        match self.events.is_full() {
            true => Err(CallError::TooManyEvents),
            // Every request has its outcome before its connection ends.
            false if !self.has_connection() => {
                self.outcomes.awaited = None;
                Ok(Some(Outcome::Closed))
            }
            false => Ok(None),
        }
    }

    /// Gives up the wait and cancels its request. The outcome does not become an event.
    pub fn abandon_wait(&mut self, client: Option<&mut Client>) {
        let is_taken = self.outcomes.outcome.take().is_some();
        let (Some(request), Some(client)) = (self.outcomes.awaited.take(), client) else { return };
        // The request may have ended already, with its outcome still in the machine.
        client.cancel(request, None);
        if !is_taken {
            self.outcomes.abandoned.push(request);
        }
    }
}
