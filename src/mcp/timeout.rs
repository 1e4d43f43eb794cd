//! The time to wait for an answer from the peer or from the application.

use core::time::Duration;

use crate::Time;

/// The time to wait for an answer: from the peer (to a request of ours) or from the application (to
/// a call of the peer).
///
/// | | a request of ours | a call of the peer |
/// | --- | --- | --- |
/// | is set by | `request`, `list`, `call_tool` | [`Tools::timeout`](super::Tools::timeout), `set_call_timeout` |
/// | begins | when the request is put into the outbox | when the call comes, or with `set_call_timeout` |
/// | at its end | the outcome is [`TimedOut`](super::Outcome::TimedOut), and the peer receives a cancellation | the session answers the call in place of the application, and the call ends as [`Expired`](super::CallEnd::Expired) |
///
/// The clock of a session is the latest time that was passed to `receive` or `poll`. A timeout that
/// would end at or after the largest [`Time`] never ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timeout {
    /// The time in the configuration: `request_timeout` for a request; `call_deadline` for a call.
    /// Each `progress` extends the time of a call, up to `longest_call` in all.
    #[default]
    Default,
    /// No timeout: the wait lasts at most as long as the session. For an answer that depends on a
    /// person.
    Never,
    /// A fixed time, which progress does not extend.
    After(Duration),
    /// A time that restarts with each report of progress. With this timeout, a request of ours asks
    /// the peer for reports, and the application receives them. For a call of the peer, the
    /// application reports with `progress`, even if the peer did not ask for reports.
    Progress {
        /// The maximum time without an answer and without progress.
        idle: Duration,
        /// The maximum time from the beginning on.
        total: Duration,
    },
}

impl Timeout {
    /// The time after which a session answers a call for its application, unless the configuration or the tool says
    /// otherwise: 30 s. The real client waits without end.
    pub const CALL: Duration = Duration::from_secs(30);
    /// The time up to which progress puts the end of a call off, unless the configuration says otherwise: 10 minutes.
    pub const LONGEST_CALL: Duration = Duration::from_secs(600);
    /// The time that a peer has for a request of ours, unless the configuration says otherwise: 60 s, as in most
    /// implementations.
    pub const REQUEST: Duration = Duration::from_secs(60);
    /// The time that a server has for `initialize`, unless the configuration says otherwise: 30 s, as in the real
    /// client.
    pub const INITIALIZE: Duration = Duration::from_secs(30);

    /// Returns the time to wait for an answer to a request that is written only after `delay`; `default` is that of
    /// [`Timeout::Default`].
    #[cfg(feature = "ide")]
    pub(crate) fn after(self, delay: Duration, default: Duration) -> Self {
        match self {
            Self::Never => self,
            Self::Default => Self::After(default.saturating_add(delay)),
            Self::After(span) => Self::After(span.saturating_add(delay)),
            Self::Progress { idle, total } => {
                Self::Progress { idle: idle.saturating_add(delay), total: total.saturating_add(delay) }
            }
        }
    }

    /// Returns the wait that begins now; `default` has the times of [`Timeout::Default`]. Returns
    /// `None` if the wait has no end.
    pub(super) fn begin(self, now: Time, default: Waits) -> Option<Wait> {
        let (idle, total) = match self {
            Self::Default => (default.usual, default.usual.max(default.longest)),
            Self::Never => return None,
            Self::After(span) => (span, span),
            Self::Progress { idle, total } => (idle, total),
        };
        Some(Wait { idle: idle.min(total), latest: now.saturating_add(total) })
    }
}

/// The times to wait for an answer without a timeout of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) usual: Duration,
    /// The longest time to which progress can extend the wait.
    pub(super) longest: Duration,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The maximum time from one report of progress to the next.
    pub(super) idle: Duration,
    latest: Time,
}

impl Wait {
    /// Returns the end of the wait if no more progress is reported after `now`.
    pub(super) fn deadline(self, now: Time) -> Time {
        now.saturating_add(self.idle).min(self.latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_extends_wait_up_to_its_limit() {
        let (millis, at) = (Duration::from_millis, Time::from_millis);
        let default = Waits { usual: millis(50), longest: millis(80) };
        let paced = |idle, total| Timeout::Progress { idle: millis(idle), total: millis(total) };
        // Each row has three deadlines of a wait that began at 100: without progress, after progress
        // at 120, and after progress at 170.
        let rows = [
            (Timeout::Default, [Some(150), Some(170), Some(180)]),
            (Timeout::Never, [None; 3]),
            (Timeout::After(millis(50)), [Some(150); 3]),
            (paced(50, 300), [Some(150), Some(170), Some(220)]),
            (paced(50, 90), [Some(150), Some(170), Some(190)]),
            (paced(90, 50), [Some(150); 3]),
            (Timeout::After(Duration::MAX), [None; 3]),
        ];
        for (timeout, want) in rows {
            let wait = timeout.begin(at(100), default);
            let got = [100, 120, 170].map(|now| wait.and_then(|wait| wait.deadline(at(now)).finite()));
            assert_eq!(got, want.map(|end| end.map(at)), "{timeout:?}");
        }
    }
}
