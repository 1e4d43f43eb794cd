//! Keepalive: notices that a peer is gone although it did not say so, for example because its process was suspended or
//! the network failed.
//!
//! ```text
//!  Off ──armed──▶ Quiet ──interval of silence──▶ Pinged ──timeout of silence──▶ Timeout
//!                   ▲                              │  ▲ │
//!                   └────── anything received ─────┘  └─┘ the check comes late, once: another ping
//! ```
//!
//! Any input counts as activity, not only the answer to a ping: every byte to `ws`, every message to `mcp`.
//!
//! If this computer was suspended, the machine has received nothing for hours although the peer is there. So a check
//! that comes more than an interval after the timeout sends another ping first, but only once in a silence: a loop that
//! is always late must still notice a dead peer.

use crate::Time;
use core::time::Duration;

/// When to ping a silent peer, and when to give it up.
///
/// A silence costs one ping, or two if the check after the first one is late.
///
/// ```
/// use ide_mcp::{Keepalive, ws};
/// use std::time::Duration;
///
/// // Ping after 10 s of silence; without an answer the connection ends 5 s later.
/// let mut limits = ws::Limits::default();
/// limits.keepalive = Some(Keepalive::new(Duration::from_secs(10), Duration::from_secs(5)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keepalive {
    /// How long a silence lasts before a ping is sent.
    pub interval: Duration,
    /// How long to wait after the ping: if the silence lasts, the connection ends then.
    pub timeout: Duration,
}

impl Keepalive {
    /// What the JetBrains plugin uses for JSON-RPC pings: a ping after 5 s, with 3 s to answer.
    pub const JSON_RPC: Self = Self::new(Duration::from_secs(5), Duration::from_secs(3));

    /// Pings after `interval` of silence, and gives up after another `timeout`.
    #[must_use]
    pub const fn new(interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout }
    }
}

impl Default for Keepalive {
    /// Returns 30 s and 30 s: a peer counts as gone after a minute of silence.
    fn default() -> Self {
        Self::new(Duration::from_secs(30), Duration::from_secs(30))
    }
}

/// The shortest interval and timeout. With zero, the next check would be due at the time of the last one, which law 4
/// of [`Machine`](crate::Machine) forbids.
const SHORTEST: Duration = Duration::from_millis(1);

/// The state of one keepalive.
#[derive(Debug)]
pub(crate) struct Pulse {
    /// When the next check is due; [`Time::NEVER`] while silence cannot time out.
    pub(crate) due: Time,
    /// The silence before a ping; [`Time::NEVER`] if the keepalive is off.
    interval: Time,
    /// True if a ping was sent in this silence.
    has_pinged: bool,
    /// True if the ping of this silence was repeated after a late check.
    has_repeated: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PulseEvent {
    /// Send a ping. It replaces one that still waits for its answer.
    Ping,
    /// The peer is gone.
    Timeout,
}

impl Pulse {
    pub(crate) fn new(keepalive: Option<Keepalive>) -> Self {
        let interval = keepalive.map_or(Time::NEVER, |keepalive| Time::new(keepalive.interval.max(SHORTEST)));
        Self { due: Time::NEVER, interval, has_pinged: false, has_repeated: false }
    }

    /// Records that input was received, and arms the keepalive. In `ws` this runs for every read.
    #[inline]
    pub(crate) const fn on_activity(&mut self, now: Time) {
        self.due = now.later(self.interval);
        self.has_pinged = false;
        self.has_repeated = false;
    }

    /// Disarms the keepalive until the next activity.
    pub(crate) const fn stop(&mut self) {
        self.due = Time::NEVER;
    }

    /// Records that a ping was not sent, because there was no room. The next ping is due an interval from now.
    #[cfg(feature = "mcp")]
    pub(crate) const fn put_off(&mut self, now: Time) {
        self.due = now.later(self.interval);
        self.has_pinged = false;
    }

    /// Returns what is due now. The caller has processed all input first.
    pub(crate) fn check(&mut self, now: Time, keepalive: Option<Keepalive>) -> Option<PulseEvent> {
        let due = self.due;
        let keepalive = keepalive.filter(|_| due.is_due(now))?;
        if self.has_pinged {
            // A check that comes so late means that this side was suspended, and the peer may still be alive.
            let is_late = now.saturating_since(due) > keepalive.interval.max(SHORTEST);
            if !is_late || self.has_repeated {
                return Some(PulseEvent::Timeout);
            }
            self.has_repeated = true;
        }
        self.due = now.saturating_add(keepalive.timeout.max(SHORTEST));
        self.has_pinged = true;
        Some(PulseEvent::Ping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    const ON: Option<Keepalive> = Some(Keepalive::new(Duration::from_secs(30), Duration::from_secs(10)));
    const PING: Option<PulseEvent> = Some(PulseEvent::Ping);
    const TIMEOUT: Option<PulseEvent> = Some(PulseEvent::Timeout);

    fn pulse() -> Pulse {
        let mut pulse = Pulse::new(ON);
        pulse.on_activity(at(0));
        pulse
    }

    #[test]
    fn silence_is_pinged_and_then_ends() {
        let mut pulse = pulse();
        assert_eq!((pulse.check(at(29), ON), pulse.due.finite()), (None, Some(at(30))));
        assert_eq!((pulse.check(at(30), ON), pulse.due.finite()), (PING, Some(at(40))));
        assert_eq!(pulse.check(at(30), ON), None, "once");
        assert_eq!(pulse.check(at(39), ON), None);
        assert_eq!(pulse.check(at(40), ON), TIMEOUT);
    }

    #[test]
    fn any_byte_counts_as_activity() {
        let mut pulse = pulse();
        for second in 1..1000 {
            pulse.on_activity(at(second));
            assert_eq!(pulse.check(at(second), ON), None);
        }
        assert_eq!(pulse.due.finite(), Some(at(999 + 30)));
        assert_eq!(pulse.check(at(999 + 30), ON), PING);
        pulse.on_activity(at(999 + 39));
        assert_eq!((pulse.check(at(999 + 40), ON), pulse.due.finite()), (None, Some(at(999 + 69))));
    }

    /// The peer has the whole timeout to answer, even if the ping is sent late.
    #[test]
    fn late_ping_leaves_the_whole_timeout() {
        for late in [1, 15, 29, 31, 8 * 3600] {
            let mut pulse = pulse();
            let pinged = 30 + late;
            assert_eq!(
                (pulse.check(at(pinged), ON), pulse.due.finite()),
                (PING, Some(at(pinged + 10))),
                "{late}"
            );
            assert_eq!(pulse.check(at(pinged + 9), ON), None, "{late}");
            assert_eq!(pulse.check(at(pinged + 10), ON), TIMEOUT, "{late}");
        }
    }

    #[test]
    fn a_late_check_pings_again_before_it_gives_up() {
        for asleep in [71, 8 * 3600] {
            let mut pulse = pulse();
            assert_eq!(pulse.check(at(30), ON), PING);
            assert_eq!(
                (pulse.check(at(asleep), ON), pulse.due.finite()),
                (PING, Some(at(asleep + 10))),
                "{asleep}"
            );
            assert_eq!(pulse.check(at(asleep + 10), ON), TIMEOUT, "{asleep}");
        }
        let mut late = pulse();
        assert_eq!((late.check(at(30), ON), late.check(at(70), ON)), (PING, TIMEOUT), "late, not asleep");
    }

    #[test]
    fn late_loop_still_detects_dead_peer() {
        let mut pulse = pulse();
        let checks: alloc::vec::Vec<_> = (1..4).map(|n| pulse.check(at(n * 100), ON)).collect();
        assert_eq!(checks, [PING, PING, TIMEOUT]);
        pulse.on_activity(at(400));
        let checks: alloc::vec::Vec<_> = (5..8).map(|n| pulse.check(at(n * 100), ON)).collect();
        assert_eq!(checks, [PING, PING, TIMEOUT], "and so in the next silence");
    }

    #[test]
    fn keepalive_can_be_off_or_stopped() {
        let mut off = Pulse::new(None);
        off.on_activity(at(0));
        assert_eq!((off.check(at(9999), None), off.due.finite()), (None, None));
        let mut paused = pulse();
        paused.stop();
        assert_eq!((paused.check(at(9999), ON), paused.due.finite()), (None, None));
        paused.on_activity(at(10_000));
        assert_eq!(paused.due.finite(), Some(at(10_030)));
    }

    #[test]
    fn zero_and_endless_keepalive_are_adjusted() {
        let none = Some(Keepalive::new(Duration::ZERO, Duration::ZERO));
        let mut pulse = Pulse::new(none);
        pulse.on_activity(at(0));
        assert_eq!(pulse.due.finite(), Some(Time::from_millis(1)));
        assert_eq!(pulse.check(Time::from_millis(1), none), PING);
        assert_eq!((pulse.check(Time::from_millis(2), none), pulse.has_repeated), (TIMEOUT, false));
        // A check that is late by less than the shortest interval does not mean that we were suspended.
        pulse.on_activity(Time::from_millis(2));
        assert_eq!(pulse.check(Time::from_millis(3), none), PING);
        let late = Time::new(Duration::from_micros(4_500));
        assert_eq!((pulse.check(late, none), pulse.has_repeated), (TIMEOUT, false));
        let never = Some(Keepalive::new(Duration::MAX, Duration::MAX));
        let end = Time::new(Duration::MAX);
        let mut pulse = Pulse::new(never);
        pulse.on_activity(at(1));
        assert_eq!((pulse.due.finite(), pulse.check(end, never)), (None, None));
    }
}
