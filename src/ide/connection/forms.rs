//! Forms that wait until the client shows them.
//!
//! Until about 20 ms after `initialized`, and longer on a slow machine, the real client answers each form with
//! `cancel`, without showing it (measured, 2.1.330 and 2.1.332). So a form that is sent in this time becomes a request
//! of the session at once, but its message is written only when the settle time ends, and its timeout counts from then.

use crate::rpc::{NotSent, RequestId};
use crate::{Outbox, Time, To};
use alloc::vec::Vec;
use core::time::Duration;

/// The forms of one connection that are not written yet.
#[derive(Debug)]
pub(crate) struct Forms {
    /// When the client begins to show forms; `None` before the session is ready.
    since: Option<Time>,
    held: Vec<(RequestId, Vec<u8>)>,
    /// When the held forms are written.
    pub(super) due: Time,
}

impl Forms {
    pub(super) const fn new() -> Self {
        Self { since: None, held: Vec::new(), due: Time::NEVER }
    }

    /// Sets when the client begins to show forms.
    pub(crate) fn begin(&mut self, since: Time) {
        self.since = Some(since);
    }

    /// Returns how long it is until the client shows forms; `None` if it does.
    pub(crate) fn delay(&self, now: Time) -> Option<Duration> {
        self.since.filter(|since| now < *since).map(|since| since.saturating_since(now))
    }

    /// Holds the message of a form.
    pub(crate) fn hold(&mut self, request: RequestId, message: Held) {
        self.held.push((request, message.0));
        self.due = self.since.unwrap_or(Time::NEVER);
    }

    /// Drops the message of a form that has ended. Returns false if it was written already, or is not a form.
    pub(crate) fn forget(&mut self, request: RequestId) -> bool {
        let at = self.held.iter().position(|(held, _)| *held == request);
        let was_held = at.map(|at| self.held.remove(at)).is_some();
        if self.held.is_empty() {
            self.due = Time::NEVER;
        }
        was_held
    }

    /// Removes and returns the messages to write, once they are due.
    pub(crate) fn release(&mut self) -> impl Iterator<Item = Vec<u8>> + use<> {
        self.due = Time::NEVER;
        core::mem::take(&mut self.held).into_iter().map(|(_, message)| message)
    }
}

/// An outbox that keeps one message instead of sending it.
#[derive(Debug, Default)]
pub(crate) struct Held(Vec<u8>);

impl Outbox for Held {
    fn message(&mut self, _: To<'_>, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), NotSent> {
        self.0.clear();
        write(&mut self.0);
        Ok(())
    }

    fn is_full(&self) -> bool {
        false
    }
}
