//! When an agent tries again to reach an editor that it has lost or not reached.
//!
//! ```text
//!            ┌──────── lost, 1 s ────────┐
//!            ▼                           │
//!  ──▶ Waiting ──due──▶ Trying ──▶ Attached
//!          ▲              │  │
//!          └─2 s, 4 s, 8 s┘  └─ refused, closed by us, 60 s since it was lost ──▶ GivenUp
//! ```
//!
//! It knows no lock file and no socket. While the editor is away, another user can take its port, so read the lock file again
//! before each attempt, and ask whose server answers before the first byte (`ide_mcp_lockfile::check_server`).
//!
//! Measured: an editor that is stopped and started again on the same port with the same token has its client back within
//! about 12 s, by itself; a client that is refused makes one attempt and no second.

use crate::Time;
use crate::ws::{CloseCode, Closed, ResponseError};
use core::fmt;
use core::time::Duration;

/// How often and for how long it is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first pause. Default 1 s; each is twice the one before.
    pub first: Duration,
    /// The longest pause. Default 8 s, so that an editor that is back is found within the 12 s of the real client.
    pub most: Duration,
    /// How long after it was lost, or first looked for, no attempt begins any more. Default 60 s: an editor that is
    /// started again is there by then, and one that is not has been closed.
    pub patience: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(1),
            most: Duration::from_secs(8),
            patience: Duration::from_secs(60),
        }
    }
}

/// Decides when to connect. One for an editor, from the first attempt on; each attempt is a new
/// [`Client`](super::Client) with the same configuration.
///
/// ```
/// use ide_mcp::{Time, ide::{Backoff, Reconnect}, ws::Closed};
///
/// let mut reconnect = Reconnect::new(Backoff::default(), Time::ZERO);
/// assert_eq!(reconnect.due(), Some(Time::ZERO));
/// reconnect.started();
/// // Connected, `ClientEvent::Ready` …
/// reconnect.attached();
/// // … and the editor is stopped.
/// let lost = Time::from_millis(90_000);
/// assert_eq!(reconnect.ended(lost, &Closed::Vanished), Ok(Time::from_millis(91_000)));
/// ```
#[derive(Clone, Debug)]
pub struct Reconnect {
    backoff: Backoff,
    /// The pause after the attempt that runs, if it fails.
    pause: Duration,
    /// The beginning of the time without a connection; `None` while there is one.
    without_since: Option<Time>,
    due: Option<Time>,
}

impl Reconnect {
    /// Tries at once.
    #[must_use]
    pub const fn new(backoff: Backoff, now: Time) -> Self {
        Self { backoff, pause: backoff.first, without_since: Some(now), due: Some(now) }
    }

    /// When the next attempt is to begin; `None` while one runs, the connection stands, or it was given up.
    #[must_use]
    pub const fn due(&self) -> Option<Time> {
        self.due
    }

    /// An attempt has begun.
    pub const fn started(&mut self) {
        self.due = None;
    }

    /// The session is ready: what went before is forgotten.
    pub const fn attached(&mut self) {
        self.pause = self.backoff.first;
        self.without_since = None;
        self.due = None;
    }

    /// The attempt failed or the connection ended so. A socket that could not be connected is [`Closed::Vanished`]. When
    /// the next attempt begins, which [`due`](Self::due) says as well.
    ///
    /// # Errors
    /// [`GivenUp`]: nothing is due any more.
    pub fn ended(&mut self, now: Time, closed: &Closed) -> Result<Time, GivenUp> {
        self.due = None;
        if let Some(why) = for_good(closed) {
            return Err(why);
        }
        let since = *self.without_since.get_or_insert(now);
        let due = now.after(self.pause);
        if due.since(since) > self.backoff.patience {
            return Err(GivenUp::TooLong);
        }
        self.pause = self.pause.saturating_mul(2).min(self.backoff.most);
        self.due = Some(due);
        Ok(due)
    }
}

/// Why it is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GivenUp {
    /// This side closed: because it was told to, or since no session could be opened, which
    /// [`Failed`](super::ClientEvent::Failed) or [`SubprotocolMissing`](super::ClientEvent::SubprotocolMissing) said.
    Closed,
    /// The editor does not let us in, and would not the next time: the token, the host or the path is another. Look at
    /// the lock files again.
    Refused,
    /// What listens there does not speak as an editor does.
    Incompatible,
    /// It has been tried for long enough.
    TooLong,
}

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection was closed from here",
            Self::Refused => "the editor refuses: look for its lock file again",
            Self::Incompatible => "what listens there is no such editor",
            Self::TooLong => "the editor has not come back in time",
        })
    }
}

impl core::error::Error for GivenUp {}

/// Whether this is an end after which nothing would be different.
fn for_good(closed: &Closed) -> Option<GivenUp> {
    match closed {
        Closed::ByUs { .. } | Closed::Overfed | Closed::Entropy | Closed::ZeroLimit(_) => {
            Some(GivenUp::Closed)
        }
        Closed::ByPeer { code: Some(CloseCode::POLICY), .. } => Some(GivenUp::Refused),
        // 503 is an editor that is full, 408 one that was busy.
        Closed::NotAccepted(ResponseError::Status(408 | 500..=599, _) | ResponseError::TimedOut) => None,
        Closed::NotAccepted(ResponseError::Status(401 | 403 | 404, _)) => Some(GivenUp::Refused),
        Closed::NotAccepted(_) | Closed::Violation(_) | Closed::Refused(_) => Some(GivenUp::Incompatible),
        Closed::ByPeer { .. } | Closed::Vanished | Closed::TimedOut | Closed::Stalled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds.saturating_mul(1000))
    }

    /// When it is tried after it was lost at second 100, if every attempt fails at once.
    fn attempts(backoff: Backoff) -> Vec<u64> {
        let mut reconnect = Reconnect::new(backoff, at(0));
        reconnect.started();
        reconnect.attached();
        let (mut now, mut seen) = (at(100), Vec::new());
        while let Ok(due) = reconnect.ended(now, &Closed::Vanished) {
            assert_eq!(reconnect.due(), Some(due));
            seen.push(due.since(at(100)).as_secs());
            reconnect.started();
            assert_eq!(reconnect.due(), None);
            now = due;
        }
        assert_eq!((reconnect.ended(now, &Closed::Vanished), reconnect.due()), (Err(GivenUp::TooLong), None));
        seen
    }

    #[test]
    fn pauses_double_up_to_a_limit_and_end() {
        let default = attempts(Backoff::default());
        assert_eq!(default, [1, 3, 7, 15, 23, 31, 39, 47, 55]);
        let gaps = default.windows(2).map(|two| two[1] - two[0]);
        assert!(gaps.max() < Some(12), "an editor that is back is found as fast as by the real client");
        let patience = Duration::from_secs(7);
        assert_eq!(attempts(Backoff { patience, ..Backoff::default() }), [1, 3, 7], "the last moment counts");
    }

    #[test]
    fn what_would_not_change_is_not_tried_again() {
        let status = |code| Closed::NotAccepted(ResponseError::Status(code, "".into()));
        let by_peer = |code| Closed::ByPeer { code: CloseCode::new(code), reason: "".into() };
        let cases: &[(Closed, Result<Time, GivenUp>)] = &[
            (Closed::Vanished, Ok(at(1))),
            (Closed::TimedOut, Ok(at(1))),
            (Closed::Stalled, Ok(at(1))),
            (by_peer(1001), Ok(at(1))),
            (by_peer(1000), Ok(at(1))),
            (status(503), Ok(at(1))),
            (status(408), Ok(at(1))),
            (Closed::NotAccepted(ResponseError::TimedOut), Ok(at(1))),
            (by_peer(1008), Err(GivenUp::Refused)),
            (status(401), Err(GivenUp::Refused)),
            (status(403), Err(GivenUp::Refused)),
            (status(404), Err(GivenUp::Refused)),
            (status(200), Err(GivenUp::Incompatible)),
            (Closed::ByUs { answered: true }, Err(GivenUp::Closed)),
            (Closed::Entropy, Err(GivenUp::Closed)),
        ];
        for (closed, expected) in cases {
            let mut reconnect = Reconnect::new(Backoff::default(), at(0));
            reconnect.started();
            assert_eq!(reconnect.ended(at(0), closed), *expected, "{closed:?}");
            assert_eq!(reconnect.due(), expected.ok(), "{closed:?}");
        }
    }

    #[test]
    fn an_attachment_begins_anew() {
        let mut reconnect = Reconnect::new(Backoff::default(), at(0));
        for now in [0, 1, 3] {
            reconnect.started();
            assert!(reconnect.ended(at(now), &Closed::Vanished).is_ok());
        }
        reconnect.started();
        reconnect.attached();
        assert_eq!(reconnect.ended(at(10_000), &Closed::Vanished), Ok(at(10_001)));
    }

    #[test]
    fn the_end_of_time_is_no_panic() {
        let mut reconnect = Reconnect::new(Backoff::default(), Time::new(Duration::MAX));
        assert_eq!(
            reconnect.ended(Time::new(Duration::MAX), &Closed::Vanished),
            Ok(Time::new(Duration::MAX))
        );
    }
}
