//! When to ask the person about a client: one at a time, and not for a while after a refusal. Otherwise a refused
//! program could connect again and ask at once, until the person gives in.
//!
//! ```text
//!  Free ──a client waits──▶ Asked ──allow──▶ Free, the refusals are forgotten
//!    ▲                      │  │ the client leaves: for as long as after the latest refusal, at least 10 s
//!    │                      │  ▼
//!    └──────────────────── Quiet ◀── disconnect: for twice as long as after the refusal before
//! ```

use super::AgentId;
use crate::Time;
use alloc::collections::VecDeque;
use core::time::Duration;

/// How long it is quiet after the first refusal, so that the person can see the result and get back to work before the
/// next question.
const FIRST: Duration = Duration::from_secs(10);

/// The longest quiet time. A program that never gives up asks twelve times an hour, and a person who starts another
/// agent waits no longer than this for the question.
const LONGEST: Duration = Duration::from_secs(5 * 60);

/// The questions about the clients that wait for consent.
#[derive(Debug)]
pub(super) struct Questions {
    /// The client that the person is being asked about.
    open: Option<AgentId>,
    /// The clients that the person was not asked about yet, in the order in which they introduced themselves.
    waiting: VecDeque<AgentId>,
    /// When the latest quiet time ends.
    quiet_until: Time,
    /// The length of the latest quiet time; zero if no client was refused since the last consent.
    quiet: Duration,
    /// When the next question is due; [`Time::NEVER`] if no client waits for one, or one is open.
    pub(super) due: Time,
}

impl Default for Questions {
    fn default() -> Self {
        let (quiet_until, quiet, due) = (Time::ZERO, Duration::ZERO, Time::NEVER);
        Self { open: None, waiting: VecDeque::new(), quiet_until, quiet, due }
    }
}

impl Questions {
    /// Takes a client that has introduced itself. Returns true if you can ask about it now; otherwise it waits.
    pub(super) fn add(&mut self, now: Time, agent: AgentId) -> bool {
        let is_next = self.is_free(now) && self.waiting.is_empty();
        if is_next {
            self.open = Some(agent);
        } else {
            self.waiting.push_back(agent);
        }
        self.note_due();
        is_next
    }

    /// Returns the waiting client to ask about now. `waits` is false for a client that is ending.
    pub(super) fn next(&mut self, now: Time, waits: impl Fn(AgentId) -> bool) -> Option<AgentId> {
        if !self.is_free(now) {
            return None;
        }
        while let Some(agent) = self.waiting.pop_front() {
            if waits(agent) {
                self.open = Some(agent);
                break;
            }
        }
        self.note_due();
        self.open
    }

    /// Handles the consent for a client, whether or not the person was asked about it.
    pub(super) fn on_allowed(&mut self, agent: AgentId) {
        self.forget(agent);
        (self.quiet_until, self.quiet) = (Time::ZERO, Duration::ZERO);
        self.note_due();
    }

    /// Handles that the application disconnects a client. If the person is being asked about it, that is a refusal.
    pub(super) fn on_disconnected(&mut self, now: Time, agent: AgentId) {
        if self.forget(agent) {
            self.quiet = self.quiet.saturating_mul(2).clamp(FIRST, LONGEST);
            self.quiet_until = now.saturating_add(self.quiet);
        }
        self.note_due();
    }

    /// Handles the end of a client. If the person was being asked about it, the question vanishes unanswered, so a
    /// quiet time follows; otherwise questions could flicker. It does not grow, because a person who restarts an agent
    /// has refused nothing.
    pub(super) fn on_closed(&mut self, now: Time, agent: AgentId) {
        if self.forget(agent) {
            self.quiet_until = now.saturating_add(self.quiet.max(FIRST));
        }
        self.note_due();
    }

    fn is_free(&self, now: Time) -> bool {
        self.open.is_none() && self.quiet_until.is_due(now)
    }

    /// Forgets a client. Returns true if the person is being asked about it.
    fn forget(&mut self, agent: AgentId) -> bool {
        self.waiting.retain(|waiting| *waiting != agent);
        self.open.take_if(|open| *open == agent).is_some()
    }

    fn note_due(&mut self) {
        let waits = self.open.is_none() && !self.waiting.is_empty();
        self.due = if waits { self.quiet_until } else { Time::NEVER };
    }
}
