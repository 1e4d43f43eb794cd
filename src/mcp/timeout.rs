//! How long to wait for an answer from the peer or from the application.

use core::time::Duration;

use crate::Time;

/// How long to wait for an answer: from the peer (to a request of yours) or from you (to a call of the peer).
///
/// Use [`Never`](Self::Never) where a person decides.
///
/// | | your request | a call of the peer |
/// | --- | --- | --- |
/// | is set by | `request`, `list`, `call_tool` | [`Tools::timeout`](super::Tools::timeout), `set_call_timeout` |
/// | begins | when the request is put into the outbox | when the call comes, or with `set_call_timeout` |
/// | at its end | the outcome is [`TimedOut`](super::Outcome::TimedOut), and the peer receives a cancellation | the session answers the call for you, and it ends as [`Expired`](super::CallEnd::Expired) |
///
/// The clock of a session is the latest time that you passed to `receive` or `poll`. A timeout that would end at or
/// after the largest [`Time`] never ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timeout {
    /// The time from the configuration: `request_timeout` for a request, `call_deadline` for a call. For a call, each
    /// `progress` extends it, up to `longest_call` in total.
    #[default]
    Default,
    /// No timeout: at most until the session ends. For answers that depend on a person.
    Never,
    /// A fixed time, whatever progress is reported.
    After(Duration),
    /// A time that restarts with each report of progress. A request with this timeout asks the peer for reports, which
    /// you get as events. For a call of the peer, restart the time with `progress`, even if the peer wants no reports.
    Progress {
        /// The longest time without an answer or progress.
        idle: Duration,
        /// The longest time in total.
        total: Duration,
    },
}

impl Timeout {
    /// How long you may take to answer a call before the session answers it for you, unless the configuration or the
    /// tool sets another time: 30 s. The real client would wait without end.
    pub const CALL: Duration = Duration::from_secs(30);
    /// How long a call may last in total, however often you report progress, unless the configuration sets another
    /// time: 10 minutes.
    pub const LONGEST_CALL: Duration = Duration::from_secs(600);
    /// How long a peer may take to answer a request, unless the configuration sets another time: 60 s, as in most
    /// implementations.
    pub const REQUEST: Duration = Duration::from_secs(60);
    /// How long a server may take to answer `initialize`, unless the configuration sets another time: 30 s, as in the
    /// real client.
    pub const INITIALIZE: Duration = Duration::from_secs(30);

    /// Returns how long to wait for an answer to a request that is written only after `delay`; `default` is that of
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
            Self::Default => (default.default, default.default.max(default.longest)),
            Self::Never => return None,
            Self::After(span) => (span, span),
            Self::Progress { idle, total } => (idle, total),
        };
        Some(Wait { idle: idle.min(total), latest: now.saturating_add(total) })
    }
}

/// How long to wait for an answer without a timeout of its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waits {
    pub(super) default: Duration,
    /// The longest that progress can extend the wait.
    pub(super) longest: Duration,
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The longest time from one report of progress to the next.
    pub(super) idle: Duration,
    latest: Time,
}

impl Wait {
    /// Returns when the wait ends if no more progress is reported after `now`.
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
        let default = Waits { default: millis(50), longest: millis(80) };
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
