//! Mentions that wait for a client that hears them. They keep their order; none is lost in silence.

use super::ConnId;
use crate::Time;
use crate::ide::Mention;
use alloc::collections::VecDeque;
use core::fmt;

/// Far more than a person mentions within the few seconds for which they are kept.
pub(super) const MAX_WAITING: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Mentions(VecDeque<Waiting>);

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) mention: Mention,
    /// To whom; `None`: to the client that became ready last.
    pub(super) to: Option<ConnId>,
    until: Time,
}

impl Mentions {
    pub(super) fn push(
        &mut self,
        mention: Mention,
        to: Option<ConnId>,
        until: Time,
    ) -> Result<(), MentionError> {
        if self.0.len() >= MAX_WAITING {
            return Err(MentionError::TooMany);
        }
        self.0.push_back(Waiting { mention, to, until });
        Ok(())
    }

    /// The one at this place of the queue.
    pub(super) fn at(&self, index: usize) -> Option<&Waiting> {
        self.0.get(index)
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Mention> {
        self.0.remove(index).map(|waiting| waiting.mention)
    }

    /// The connections that something waits for.
    pub(super) fn addressees(&self) -> impl Iterator<Item = ConnId> {
        self.0.iter().filter_map(|waiting| waiting.to)
    }

    /// The first that has waited too long, or waits for this connection, which has ended.
    pub(super) fn expire(&mut self, now: Time, ended: Option<ConnId>) -> Option<Mention> {
        let over = |waiting: &Waiting| waiting.until <= now || (ended.is_some() && waiting.to == ended);
        let index = self.0.iter().position(over)?;
        self.remove(index)
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.0.iter().map(|waiting| waiting.until).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Why a mention was not taken. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MentionError {
    /// There is no such connection, or it has ended.
    NoSuchConnection,
    /// 256 mentions wait for a client already.
    TooMany,
    /// The filter hides the file.
    Hidden,
}

impl fmt::Display for MentionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSuchConnection => "there is no such connection",
            Self::TooMany => "too many mentions wait for a client",
            Self::Hidden => "the file may not leave the editor",
        })
    }
}

impl core::error::Error for MentionError {}
