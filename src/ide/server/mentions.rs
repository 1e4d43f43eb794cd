//! Mentions that wait for a client that accepts them, and mentions in a send buffer. They keep their order, and none is
//! lost without an event. If a client ends before its mention was written, the mention waits for another client, unless
//! it was addressed to this one: then it expires.

use super::AgentId;
use crate::Time;
use crate::ide::Mention;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// How many mentions may wait: far more than a person makes within the 30 s that they are kept. At 100 ms each, all of
/// them can be sent in that time.
pub(super) const MAX_WAITING: usize = 256;

#[derive(Debug)]
pub(super) struct Mentions {
    waiting: VecDeque<Waiting>,
    /// The mention that lies in the send buffer of each agent.
    unwritten: Vec<(AgentId, Waiting)>,
    /// When the first waiting mention expires.
    pub(super) due: Time,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) mention: Mention,
    /// The addressee; `None` for the client that became ready last.
    pub(super) to: Option<AgentId>,
    until: Time,
}

impl Default for Mentions {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), unwritten: Vec::new(), due: Time::NEVER }
    }
}

impl Mentions {
    pub(super) fn push(
        &mut self,
        mention: Mention,
        to: Option<AgentId>,
        until: Time,
    ) -> Result<(), MentionError> {
        if self.waiting.len() >= MAX_WAITING {
            return Err(MentionError::TooMany);
        }
        self.waiting.push_back(Waiting { mention, to, until });
        self.note_due();
        Ok(())
    }

    /// Returns the mention at this index of the queue.
    pub(super) fn at(&self, index: usize) -> Option<&Waiting> {
        self.waiting.get(index)
    }

    /// Ends the wait of the mention at this index: the next poll reports that it has expired.
    pub(super) fn end_at(&mut self, index: usize, now: Time) {
        if let Some(waiting) = self.waiting.get_mut(index) {
            waiting.until = waiting.until.min(now);
        }
        self.note_due();
    }

    /// Moves the mention at this index to the unwritten ones, because it is now in the send buffer of `agent`.
    pub(super) fn on_sent(&mut self, index: usize, agent: AgentId) {
        let sent = self.waiting.remove(index);
        self.unwritten.extend(sent.map(|sent| (agent, sent)));
        self.note_due();
    }

    /// Forgets the unwritten mention of `agent`, because its send buffer no longer has one.
    pub(super) fn on_written(&mut self, agent: AgentId) {
        self.unwritten.retain(|unwritten| unwritten.0 != agent);
    }

    /// Puts the unwritten mention of `agent`, whose transport is gone, back to the front of the queue.
    pub(super) fn on_removed(&mut self, agent: AgentId) {
        if let Some(at) = self.unwritten.iter().position(|unwritten| unwritten.0 == agent) {
            self.waiting.push_front(self.unwritten.remove(at).1);
            self.note_due();
        }
    }

    /// Returns the agents that mentions wait for.
    pub(super) fn addressees(&self) -> impl Iterator<Item = AgentId> {
        self.waiting.iter().filter_map(|waiting| waiting.to)
    }

    /// Removes and returns the first mention that has waited too long, or is addressed to `ended`, an agent that has
    /// ended.
    pub(super) fn expire(&mut self, now: Time, ended: Option<AgentId>) -> Option<Mention> {
        let over = |waiting: &Waiting| waiting.until.is_due(now) || (ended.is_some() && waiting.to == ended);
        let index = self.waiting.iter().position(over)?;
        let expired = self.waiting.remove(index);
        self.note_due();
        expired.map(|waiting| waiting.mention)
    }

    fn note_due(&mut self) {
        self.due = self.waiting.iter().map(|waiting| waiting.until).min().unwrap_or(Time::NEVER);
    }

    /// Returns true if no mention waits, and none is in a send buffer.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.unwritten.is_empty()
    }
}

/// Why a mention was refused. Nothing has changed.
///
/// [Causes and reactions](crate::guide::errors#a-method-of-yours-was-refused).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MentionError {
    /// There is no such agent, or it has ended.
    NoSuchAgent,
    /// 256 mentions are already waiting.
    TooMany,
    /// The filter hides the file.
    Hidden,
    /// The server is [paused](super::Server::pause).
    Paused,
}

impl fmt::Display for MentionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchAgent => "there is no such agent: mention the file without one",
            Self::TooMany => "too many mentions wait for a client: attach an agent first",
            Self::Hidden => "the file may not leave the editor: the filter hides it",
            Self::Paused => "the editor is paused, and nothing leaves it: resume it first",
        })
    }
}

impl core::error::Error for MentionError {}
