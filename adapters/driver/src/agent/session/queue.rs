//! The events that wait for the application.

use ide_mcp::ide::ClientEvent;
use std::collections::VecDeque;

/// How many events may queue up while the agent waits for an answer: more than an editor sends while a person
/// decides about a diff.
const MAX_EVENTS: usize = 10_000;

/// How many bytes of text and JSON these events may have.
const MAX_BYTES: usize = 16 << 20;

/// The events in order, and the sum of their bytes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    events: VecDeque<ClientEvent>,
    bytes: usize,
}

impl Queue {
    pub(super) fn push(&mut self, event: ClientEvent) {
        self.bytes = self.bytes.saturating_add(event.content_len());
        self.events.push_back(event);
    }

    pub(super) fn next(&mut self) -> Option<ClientEvent> {
        self.take(|_| true)
    }

    /// Takes the first event that fits.
    pub(super) fn take(&mut self, fits: impl FnMut(&ClientEvent) -> bool) -> Option<ClientEvent> {
        let at = self.events.iter().position(fits)?;
        let event = self.events.remove(at)?;
        self.bytes = self.bytes.saturating_sub(event.content_len());
        Some(event)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns true if no further event should be queued.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MAX_EVENTS || self.bytes > MAX_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_of_bytes_is_limited() {
        let event = |len: usize| ClientEvent::Notification { method: "x".repeat(len).into(), params: None };
        let mut queue = Queue::default();
        for round in ["the first time", "the second time"] {
            queue.push(event(MAX_BYTES / 2));
            queue.push(event(MAX_BYTES / 2));
            assert!(!queue.is_full(), "{round}: the limit itself");
            queue.push(event(1));
            assert!(queue.is_full(), "{round}");
            assert!(queue.take(|event| event.content_len() == 1).is_some() && !queue.is_full(), "{round}");
            while queue.next().is_some() {}
            assert!(queue.is_empty(), "{round}");
        }
    }
}
