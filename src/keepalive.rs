//! Keepalive: finds that a peer is gone without a word: its process was suspended, or the line was cut.
//!
//! ```text
//!  Quiet ──interval of silence: ping──▶ Quiet ──timeout of silence──▶ Timeout
//!    ▲  anything received                │
//!    └───────────────────────────────────┘
//! ```
//!
//! Anything received counts as activity, an answer to a ping or not: every byte to `ws`, every message to `mcp`. The driver
//! of the machine may have slept, as a laptop does, and then has
//! received nothing for hours although the peer is there. So a check that comes much later than it was due pings again
//! instead of timing out, once in a silence.

use crate::Time;
use core::time::Duration;

/// How a connection or a session finds out that its peer is gone without a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Keepalive {
    /// After this much silence a ping goes out, and again after as much more.
    pub interval: Duration,
    /// After this much silence the connection ends.
    pub timeout: Duration,
}

impl Keepalive {
    /// JSON-RPC pings as those of the JetBrains plugin: every 5 s, with 3 s to answer.
    pub const JSON_RPC: Self = Self::new(Duration::from_secs(5), Duration::from_secs(8));

    /// Pings every `interval`, and gives up after `timeout` of silence.
    #[must_use]
    pub const fn new(interval: Duration, timeout: Duration) -> Self {
        Self { interval, timeout }
    }
}

impl Default for Keepalive {
    /// 30 s and 60 s.
    fn default() -> Self {
        Self::new(Duration::from_secs(30), Duration::from_secs(60))
    }
}

/// The least interval and the least timeout. An interval of zero would ping without end at one time, and a timeout of zero
/// would end a connection in the moment in which its byte came.
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Pulse {
    /// Whether silence can time out: the connection is open and the caller reads it.
    is_armed: bool,
    /// Whether a late check was already excused in this silence; a loop that is always late must still time out.
    grace_used: bool,
    /// When the last byte came. After a late check that is excused: the time of that check.
    active_at: Time,
    /// When the last ping of this silence went out, or the last byte came.
    pinged_at: Time,
    /// When it was last checked.
    seen_at: Time,
}

/// What is due from the keepalive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PulseEvent {
    Ping,
    Timeout,
}

impl Pulse {
    pub(crate) const fn new() -> Self {
        Self {
            is_armed: false,
            grace_used: false,
            active_at: Time::ZERO,
            pinged_at: Time::ZERO,
            seen_at: Time::ZERO,
        }
    }

    /// Notes that something was received, and arms it. In `ws` this runs for every read.
    #[inline]
    pub(crate) const fn on_activity(&mut self, now: Time) {
        *self = Self { is_armed: true, grace_used: false, active_at: now, pinged_at: now, seen_at: now };
    }

    /// Disarms it: silence cannot time out until the next activity.
    pub(crate) const fn stop(&mut self) {
        self.is_armed = false;
    }

    /// Returns what is due now. The caller asks after it has looked at everything that came.
    pub(crate) fn check(&mut self, now: Time, keepalive: Option<Keepalive>) -> Option<PulseEvent> {
        if self.is_quiet(now) {
            return None;
        }
        let keepalive = keepalive?;
        // A check that is later than this was slept through.
        let slept = now.saturating_since(self.seen_at) > keepalive.interval.saturating_mul(3) / 2;
        self.seen_at = now;
        if slept && !self.grace_used {
            self.grace_used = true;
            self.active_at = now;
        } else if is_due(self.times_out_at(keepalive), now) {
            return Some(PulseEvent::Timeout);
        } else if !is_due(self.ping_at(keepalive), now) {
            return None;
        }
        self.pinged_at = now;
        Some(PulseEvent::Ping)
    }

    /// Whether nothing can be due now: nearly always a byte has just come.
    #[inline]
    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        self.seen_at == now || !self.is_armed
    }

    pub(crate) fn deadline(&self, keepalive: Option<Keepalive>) -> Option<Time> {
        let keepalive = keepalive.filter(|_| self.is_armed)?;
        self.ping_at(keepalive).min(self.times_out_at(keepalive)).finite()
    }

    fn ping_at(&self, keepalive: Keepalive) -> Time {
        self.pinged_at.saturating_add(keepalive.interval.max(SHORTEST))
    }

    fn times_out_at(&self, keepalive: Keepalive) -> Time {
        self.active_at.saturating_add(keepalive.timeout.max(SHORTEST))
    }
}

fn is_due(at: Time, now: Time) -> bool {
    at.finite().is_some_and(|at| at <= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Time {
        Time::from_millis(seconds * 1000)
    }

    const ON: Option<Keepalive> = Some(Keepalive::new(Duration::from_secs(30), Duration::from_secs(60)));

    fn pulse() -> Pulse {
        let mut pulse = Pulse::new();
        pulse.on_activity(at(0));
        pulse
    }

    #[test]
    fn silence_is_pinged_and_then_ends() {
        let mut pulse = pulse();
        assert_eq!((pulse.check(at(29), ON), pulse.deadline(ON)), (None, Some(at(30))));
        assert_eq!((pulse.check(at(30), ON), pulse.deadline(ON)), (Some(PulseEvent::Ping), Some(at(60))));
        assert_eq!(pulse.check(at(59), ON), None);
        assert_eq!(pulse.check(at(60), ON), Some(PulseEvent::Timeout));
    }

    #[test]
    fn any_byte_is_life() {
        let mut pulse = pulse();
        for second in 1..1000 {
            pulse.on_activity(at(second));
            assert_eq!(pulse.check(at(second), ON), None);
        }
        assert_eq!(pulse.deadline(ON), Some(at(999 + 30)));
    }

    #[test]
    fn a_late_check_pings_again_first() {
        for asleep in [46, 8 * 3600] {
            let mut pulse = pulse();
            assert_eq!(pulse.check(at(asleep), ON), Some(PulseEvent::Ping), "{asleep}");
            assert_eq!(pulse.check(at(asleep), ON), None, "once");
            assert_eq!(pulse.check(at(asleep + 30), ON), Some(PulseEvent::Ping));
            assert_eq!(pulse.check(at(asleep + 59), ON), None);
            assert_eq!(pulse.check(at(asleep + 60), ON), Some(PulseEvent::Timeout));
        }
        let mut late = pulse();
        assert_eq!(late.check(at(45), ON), Some(PulseEvent::Ping), "late, not asleep");
        assert_eq!(late.deadline(ON), Some(at(60)));
    }

    #[test]
    fn a_loop_that_is_always_late_finds_a_dead_peer_too() {
        let mut pulse = pulse();
        let beats: alloc::vec::Vec<_> = (1..4).map(|n| pulse.check(at(n * 46), ON)).collect();
        assert_eq!(beats, [Some(PulseEvent::Ping), Some(PulseEvent::Ping), Some(PulseEvent::Timeout)]);
    }

    #[test]
    fn it_can_be_off_or_pause() {
        let mut off = Pulse::new();
        off.on_activity(at(0));
        assert_eq!((off.check(at(9999), None), off.deadline(None)), (None, None));
        let mut paused = pulse();
        paused.stop();
        assert_eq!((paused.check(at(9999), ON), paused.deadline(ON)), (None, None));
        paused.on_activity(at(10_000));
        assert_eq!(paused.deadline(ON), Some(at(10_030)));
    }

    #[test]
    fn neither_zero_nor_for_ever_is_taken_by_its_word() {
        let keepalive = |interval, timeout| Some(Keepalive::new(interval, timeout));
        let none = keepalive(Duration::from_secs(30), Duration::ZERO);
        assert_eq!(pulse().deadline(none), Some(Time::from_millis(1)));
        assert_eq!(pulse().check(Time::from_millis(1), none), Some(PulseEvent::Timeout));
        let never = keepalive(Duration::MAX, Duration::MAX);
        let end = Time::new(Duration::MAX);
        let mut pulse = pulse();
        assert_eq!(pulse.deadline(never), None);
        pulse.grace_used = true;
        assert_eq!(pulse.check(end, never), None);
    }

    #[test]
    fn a_timeout_shorter_than_the_interval_ends_without_a_ping() {
        let impatient = Some(Keepalive::new(Duration::from_secs(30), Duration::from_secs(10)));
        let mut pulse = Pulse::new();
        pulse.on_activity(at(0));
        assert_eq!(
            (pulse.deadline(impatient), pulse.check(at(10), impatient)),
            (Some(at(10)), Some(PulseEvent::Timeout))
        );
    }
}
