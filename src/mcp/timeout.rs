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
}

impl Timeout {
    pub(super) fn deadline(self, now: Time, default: Duration) -> Option<Time> {
        match self {
            Self::Default => Some(now.after(default)),
            Self::Never => None,
            Self::After(span) => Some(now.after(span)),
        }
    }
}
