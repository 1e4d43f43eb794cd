//! When an agent tries to reach an editor that it has lost or not reached yet, and when it gives up.
//!
//! ```text
//!            ┌──────── lost, 1 s ────────┐
//!            ▼                           │
//!  ──▶ Waiting ──due──▶ Trying ──▶ Attached
//!          ▲              │  │
//!          └─2 s, 4 s, 8 s┘  └─ refused, closed by us, 60 s since it was lost ──▶ GaveUp
//! ```
//!
//! Nothing here reads a lock file or opens a socket. While the editor is away, another user can take its port. So read
//! the lock file again before each attempt, and check who owns the server before you send the first byte
//! (`ide_mcp_lockfile::check_server`).
//!
//! Measured: if an editor is stopped and started again on the same port with the same token, its client reconnects by
//! itself within about 12 s. If the editor refuses it, it does not try again.

use crate::Time;
use crate::ws::{CloseCode, Closed, NotAccepted};
use core::fmt;
use core::time::Duration;

/// The pauses between attempts, and when to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Backoff {
    /// The first pause. Default 1 s. Each further one is twice as long, up to [`max`](Self::max). A pause below 1 ms
    /// counts as 1 ms, so that an editor that is gone does not keep a processor busy.
    pub first: Duration,
    /// The longest pause. Default 8 s, so that a restarted editor is found as fast as by the real client, which takes
    /// up to 12 s.
    pub max: Duration,
    /// When to give up, counted from the loss of the connection or from the first search. Default 60 s: an editor that
    /// was restarted is back by then, and any other has been closed.
    pub timeout: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_secs(1), max: Duration::from_secs(8), timeout: Duration::from_secs(60) }
    }
}

/// The shortest pause.
const SHORTEST: Duration = Duration::from_millis(1);

/// Tells when to try to connect to one editor, from the first attempt on. Each attempt is a new
/// [`Client`](crate::ide::Client) with the same configuration.
///
/// ```
/// use ide_mcp::ide::discovery::{Backoff, Reconnect};
/// use ide_mcp::{Time, ws::Closed};
///
/// let mut reconnect = Reconnect::new(Backoff::default(), Time::ZERO);
/// assert_eq!(reconnect.next_attempt(), Some(Time::ZERO));
/// reconnect.on_attempt();
/// // Connected, `ClientEvent::Ready` …
/// reconnect.on_connected();
/// // … and the editor is stopped.
/// let lost = Time::from_millis(90_000);
/// assert_eq!(reconnect.on_disconnected(lost, &Closed::Abnormal), Ok(Time::from_millis(91_000)));
/// ```
#[derive(Clone, Debug)]
pub struct Reconnect {
    backoff: Backoff,
    /// The pause after the running attempt, if it fails.
    pause: Duration,
    /// When the connection was lost or the search began; `None` while there is a connection.
    without_since: Option<Time>,
    due: Option<Time>,
}

impl Reconnect {
    /// Creates the state before the first attempt, which is due at once.
    #[must_use]
    pub const fn new(backoff: Backoff, now: Time) -> Self {
        Self { backoff, pause: backoff.first, without_since: Some(now), due: Some(now) }
    }

    /// Returns when the next attempt is due; `None` during an attempt, while there is a connection, and if no attempt
    /// follows.
    #[must_use]
    pub const fn next_attempt(&self) -> Option<Time> {
        self.due
    }

    /// Call this when an attempt begins.
    pub const fn on_attempt(&mut self) {
        self.due = None;
    }

    /// Call this when the session is ready. It forgets the failed attempts.
    pub const fn on_connected(&mut self) {
        self.pause = self.backoff.first;
        self.without_since = None;
        self.due = None;
    }

    /// Call this when the attempt failed or the connection ended, with the reason. If you could not connect the socket,
    /// pass [`Closed::Abnormal`]. Returns when the next attempt is due, as [`next_attempt`](Self::next_attempt) does.
    ///
    /// # Errors
    ///
    /// [`GaveUp`] if no attempt follows.
    pub fn on_disconnected(&mut self, now: Time, closed: &Closed) -> Result<Time, GaveUp> {
        self.due = None;
        if let Some(why) = for_good(closed) {
            return Err(why);
        }
        let since = *self.without_since.get_or_insert(now);
        let due = now.saturating_add(self.pause.max(SHORTEST));
        if due.saturating_since(since) > self.backoff.timeout {
            return Err(GaveUp::TooLong);
        }
        self.pause = self.pause.saturating_mul(2).min(self.backoff.max);
        self.due = Some(due);
        Ok(due)
    }
}

/// Why no attempt follows.
///
/// [Causes and reactions](crate::guide::errors#the-agent-cannot-attach).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GaveUp {
    /// This side ended it: you closed the connection, this side failed (such as [`Closed::Entropy`]), or no session
    /// could be opened, as [`Failed`](crate::ide::ClientEvent::Failed) or
    /// [`SubprotocolMissing`](crate::ide::ClientEvent::SubprotocolMissing) reported.
    Closed,
    /// The editor refused us, and would do so again: the token, the host or the path is wrong. Read the lock files
    /// again.
    Refused,
    /// The peer does not speak the protocol of editors.
    Incompatible,
    /// The time for attempts is up.
    TooLong,
}

impl fmt::Display for GaveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "this side closed the connection",
            Self::Refused => "the editor refused the connection: look for its lock file again",
            Self::Incompatible => "the peer is not a compatible editor: look for another lock file",
            Self::TooLong => "the editor has not come back in time: attach again once it is there",
        })
    }
}

impl core::error::Error for GaveUp {}

/// Returns why to give up, if another attempt would end in the same way; `None` if it could succeed.
fn for_good(closed: &Closed) -> Option<GaveUp> {
    match closed {
        Closed::Local { .. } | Closed::InputOverflow | Closed::Entropy | Closed::ZeroLimit(_) => {
            Some(GaveUp::Closed)
        }
        Closed::Remote { code: Some(CloseCode::POLICY), .. } => Some(GaveUp::Refused),
        // An editor that is full answers 503, one that was busy 408.
        Closed::NotAccepted(NotAccepted::Status(408 | 500..=599, _) | NotAccepted::TimedOut) => None,
        Closed::NotAccepted(NotAccepted::Status(401 | 403 | 404, _)) => Some(GaveUp::Refused),
        Closed::NotAccepted(_) | Closed::ProtocolError(_) | Closed::Refused(_) => Some(GaveUp::Incompatible),
        Closed::Remote { .. } | Closed::Abnormal | Closed::TimedOut | Closed::Stalled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds.saturating_mul(1000))
    }

    /// Returns when attempts are made, in seconds after a loss at second 100, if every attempt fails at once.
    fn attempts(backoff: Backoff) -> Vec<u64> {
        let mut reconnect = Reconnect::new(backoff, at(0));
        reconnect.on_attempt();
        reconnect.on_connected();
        let (mut now, mut seen) = (at(100), Vec::new());
        while let Ok(due) = reconnect.on_disconnected(now, &Closed::Abnormal) {
            assert_eq!(reconnect.next_attempt(), Some(due));
            seen.push(due.saturating_since(at(100)).as_secs());
            reconnect.on_attempt();
            assert_eq!(reconnect.next_attempt(), None);
            now = due;
        }
        assert_eq!(
            (reconnect.on_disconnected(now, &Closed::Abnormal), reconnect.next_attempt()),
            (Err(GaveUp::TooLong), None)
        );
        seen
    }

    #[test]
    fn pauses_double_to_a_limit_and_end() {
        let default = attempts(Backoff::default());
        assert_eq!(default, [1, 3, 7, 15, 23, 31, 39, 47, 55]);
        let gaps = default.windows(2).map(|two| two[1] - two[0]);
        assert!(gaps.max() < Some(12), "a restarted editor is found as fast as by the real client");
        let timeout = Duration::from_secs(7);
        assert_eq!(attempts(Backoff { timeout, ..Backoff::default() }), [1, 3, 7], "the last moment counts");
    }

    #[test]
    fn pause_of_zero_ends_too() {
        let zero = |first, max| Backoff { first, max, timeout: Duration::from_millis(4) };
        for backoff in [zero(Duration::ZERO, Duration::ZERO), zero(SHORTEST, Duration::ZERO)] {
            let (mut reconnect, mut now, mut attempts) = (Reconnect::new(backoff, at(0)), at(0), 0);
            while let Ok(due) = reconnect.on_disconnected(now, &Closed::Abnormal) {
                assert_eq!(due.saturating_since(now), SHORTEST);
                (now, attempts) = (due, attempts + 1);
            }
            assert_eq!(attempts, 4, "{backoff:?}");
        }
    }

    #[test]
    fn permanent_failure_is_not_retried() {
        let status = |code| Closed::NotAccepted(NotAccepted::Status(code, "".into()));
        let by_peer = |code| Closed::Remote { code: CloseCode::new(code), reason: "".into() };
        let cases: &[(Closed, Result<Time, GaveUp>)] = &[
            (Closed::Abnormal, Ok(at(1))),
            (Closed::TimedOut, Ok(at(1))),
            (Closed::Stalled, Ok(at(1))),
            (by_peer(1001), Ok(at(1))),
            (by_peer(1000), Ok(at(1))),
            (status(503), Ok(at(1))),
            (status(408), Ok(at(1))),
            (Closed::NotAccepted(NotAccepted::TimedOut), Ok(at(1))),
            (by_peer(1008), Err(GaveUp::Refused)),
            (status(401), Err(GaveUp::Refused)),
            (status(403), Err(GaveUp::Refused)),
            (status(404), Err(GaveUp::Refused)),
            (status(200), Err(GaveUp::Incompatible)),
            (Closed::Local { clean: true }, Err(GaveUp::Closed)),
            (Closed::Entropy, Err(GaveUp::Closed)),
        ];
        for (closed, expected) in cases {
            let mut reconnect = Reconnect::new(Backoff::default(), at(0));
            reconnect.on_attempt();
            assert_eq!(reconnect.on_disconnected(at(0), closed), *expected, "{closed:?}");
            assert_eq!(reconnect.next_attempt(), expected.ok(), "{closed:?}");
        }
    }

    #[test]
    fn a_connection_resets_the_pauses() {
        let mut reconnect = Reconnect::new(Backoff::default(), at(0));
        for now in [0, 1, 3] {
            reconnect.on_attempt();
            assert!(reconnect.on_disconnected(at(now), &Closed::Abnormal).is_ok());
        }
        reconnect.on_attempt();
        reconnect.on_connected();
        assert_eq!(reconnect.on_disconnected(at(10_000), &Closed::Abnormal), Ok(at(10_001)));
    }

    #[test]
    fn the_end_of_time_does_not_panic() {
        let mut reconnect = Reconnect::new(Backoff::default(), Time::new(Duration::MAX));
        assert_eq!(
            reconnect.on_disconnected(Time::new(Duration::MAX), &Closed::Abnormal),
            Ok(Time::new(Duration::MAX))
        );
    }

    #[test]
    fn reasons_have_messages() {
        let texts = [
            (GaveUp::Closed, "this side closed the connection"),
            (GaveUp::Refused, "the editor refused the connection: look for its lock file again"),
            (GaveUp::Incompatible, "the peer is not a compatible editor: look for another lock file"),
            (GaveUp::TooLong, "the editor has not come back in time: attach again once it is there"),
        ];
        for (reason, text) in texts {
            assert_eq!(alloc::string::ToString::to_string(&reason), text);
        }
    }
}
