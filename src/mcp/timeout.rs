//! How long an own request may take.

use core::time::Duration;

use crate::Time;

/// How long to wait for the answer to a request of ours, from the moment it is put into the outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timeout {
    /// As long as the configuration says.
    #[default]
    Default,
    /// As long as the session lasts. For what waits for a person.
    Never,
    /// This long.
    After(Duration),
    /// The peer is asked to report progress, which is handed on, and starts the clock again.
    Progress {
        /// How long to wait for the answer or for more progress.
        idle: Duration,
        /// How long to wait at most, from the request on.
        total: Duration,
    },
}

impl Timeout {
    pub(super) fn deadline(self, now: Time, default: Duration) -> Option<Time> {
        match self {
            Self::Default => Some(now.after(default)),
            Self::Never => None,
            Self::After(span) => Some(now.after(span)),
            Self::Progress { idle, total } => Some(now.after(idle.min(total))),
        }
    }
}
