//! How long to wait for an answer, of the peer or of the application.

use core::time::Duration;

use crate::Time;

/// How long to wait for an answer: of the peer to a request of ours, or of the application to a call of the peer.
///
/// | | a request of ours | a call of the peer |
/// | --- | --- | --- |
/// | is said by | `request`, `list`, `call_tool` | [`Tools::timeout`](super::Tools::timeout), `set_call_timeout` |
/// | begins | when the request is put into the outbox | when the call comes, or with `set_call_timeout` |
/// | at its end | the outcome is [`TimedOut`](super::Outcome::TimedOut), and the peer is told that it is cancelled | the call is answered for the application, and ends as [`Expired`](super::CallEnd::Expired) |
///
/// "When" is always the latest time that `receive` or `tick` was told. What would end at the end of [`Time`] never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Timeout {
    /// As the configuration says: `request_timeout` for a request; `call_deadline` for a call, which `progress` puts
    /// off up to `longest_call`.
    #[default]
    Default,
    /// As long as the session lasts. For what waits for a person.
    Never,
    /// This long, whatever progress is reported.
    After(Duration),
    /// This long from each report of progress on, the beginning being the first. The peer is asked to report that of
    /// our request, which is handed on; that of a call is what `progress` is told, be the peer interested or not.
    Progress {
        /// How long to wait for the answer or for more progress.
        idle: Duration,
        /// How long to wait at most, from the beginning on.
        total: Duration,
    },
}

impl Timeout {
    /// The wait that begins now; `default` is that of [`Timeout::Default`]. `None` if it has no end.
    pub(super) fn begin(self, now: Time, default: Wait) -> Option<Wait> {
        match self {
            Self::Default => Some(default),
            Self::Never => None,
            Self::After(span) => Some(Wait::new(now, span, span)),
            Self::Progress { idle, total } => Some(Wait::new(now, idle, total)),
        }
    }
}

/// A wait that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// From one report of progress to the next.
    pub(super) idle: Duration,
    latest: Time,
}

impl Wait {
    pub(super) fn new(now: Time, idle: Duration, total: Duration) -> Self {
        Self { idle: idle.min(total), latest: now.saturating_add(total) }
    }

    /// When it is over if nothing more is reported from now on.
    pub(super) fn deadline(self, now: Time) -> Option<Time> {
        now.saturating_add(self.idle).min(self.latest).finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_put_off_by_progress_as_far_as_it_may() {
        let (millis, at) = (Duration::from_millis, Time::from_millis);
        let default = Wait::new(at(100), millis(50), millis(80));
        let paced = |idle, total| Timeout::Progress { idle: millis(idle), total: millis(total) };
        // When it is over as it begins at 100, and after progress at 120 and at 170.
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
            let got = [100, 120, 170].map(|now| wait.and_then(|wait| wait.deadline(at(now))));
            assert_eq!(got, want.map(|end| end.map(at)), "{timeout:?}");
        }
    }
}
