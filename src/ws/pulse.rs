//! Keepalive: finds out that a peer is gone without a word, such as a process that was suspended or a line that was cut.
//!
//! ```text
//!  Quiet ──interval without a byte: ping──▶ Quiet ──patience without a byte──▶ Dead
//!    ▲  any byte                             │
//!    └───────────────────────────────────────┘
//! ```
//!
//! Any byte is life, be it a pong or not. The driver of the machine may have slept, as a laptop
//! does, and then has heard nothing for hours though the peer is there: a beat that comes much later than it was due
//! pings again before anything is concluded, once in a silence.

use super::Keepalive;
use crate::Time;
use core::time::Duration;

/// An interval of zero would ping without end at one and the same time, and a patience of zero would have none for the
/// very byte that was heard.
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(crate) struct Pulse {
    /// Silence says something: the connection is open and read.
    counts: bool,
    /// This silence has been forgiven once: a loop that is late every time must find a dead peer as well.
    forgiven: bool,
    /// When the last byte came, or was as good as come: after a sleep the silence begins anew, once.
    heard_at: Time,
    /// When the last ping of this silence went out, or the last byte came.
    pinged_at: Time,
    /// When it was last looked at.
    seen_at: Time,
}

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beat {
    Ping,
    Dead,
}

impl Pulse {
    pub(crate) const fn new() -> Self {
        Self {
            counts: false,
            forgiven: false,
            heard_at: Time::ZERO,
            pinged_at: Time::ZERO,
            seen_at: Time::ZERO,
        }
    }

    /// A byte has come. This is done for every read, so it only takes note.
    #[inline]
    pub(crate) const fn heard(&mut self, now: Time) {
        *self = Self { counts: true, forgiven: false, heard_at: now, pinged_at: now, seen_at: now };
    }

    /// Silence says nothing from here on.
    pub(crate) const fn stop(&mut self) {
        self.counts = false;
    }

    /// What is due now, if anything. To be asked after everything that came has been looked at.
    pub(crate) fn beat(&mut self, now: Time, keepalive: Option<Keepalive>) -> Option<Beat> {
        if self.is_quiet(now) {
            return None;
        }
        let keepalive = keepalive?;
        // A beat that is later than this was slept through.
        let slept = now.since(self.seen_at) > keepalive.interval.saturating_mul(3) / 2;
        self.seen_at = now;
        if slept && !self.forgiven {
            self.forgiven = true;
            self.heard_at = now;
        } else if has_come(self.dead_at(keepalive), now) {
            return Some(Beat::Dead);
        } else if !has_come(self.ping_at(keepalive), now) {
            return None;
        }
        self.pinged_at = now;
        Some(Beat::Ping)
    }

    /// Whether there is nothing to find out now: nearly always something was heard just now.
    #[inline]
    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        self.seen_at == now || !self.counts
    }

    pub(crate) fn deadline(&self, keepalive: Option<Keepalive>) -> Option<Time> {
        let keepalive = keepalive.filter(|_| self.counts)?;
        self.ping_at(keepalive).min(self.dead_at(keepalive)).if_ever()
    }

    fn ping_at(&self, keepalive: Keepalive) -> Time {
        self.pinged_at.after(keepalive.interval.max(SHORTEST))
    }

    fn dead_at(&self, keepalive: Keepalive) -> Time {
        self.heard_at.after(keepalive.patience.max(SHORTEST))
    }
}

fn has_come(at: Time, now: Time) -> bool {
    at.if_ever().is_some_and(|at| at <= now)
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
        pulse.heard(at(0));
        pulse
    }

    #[test]
    fn silence_is_pinged_and_then_ends() {
        let mut pulse = pulse();
        assert_eq!((pulse.beat(at(29), ON), pulse.deadline(ON)), (None, Some(at(30))));
        assert_eq!((pulse.beat(at(30), ON), pulse.deadline(ON)), (Some(Beat::Ping), Some(at(60))));
        assert_eq!(pulse.beat(at(59), ON), None);
        assert_eq!(pulse.beat(at(60), ON), Some(Beat::Dead));
    }

    #[test]
    fn any_byte_is_life() {
        let mut pulse = pulse();
        for second in 1..1000 {
            pulse.heard(at(second));
            assert_eq!(pulse.beat(at(second), ON), None);
        }
        assert_eq!(pulse.deadline(ON), Some(at(999 + 30)));
    }

    #[test]
    fn a_late_beat_pings_again_first() {
        for asleep in [46, 8 * 3600] {
            let mut pulse = pulse();
            assert_eq!(pulse.beat(at(asleep), ON), Some(Beat::Ping), "{asleep}");
            assert_eq!(pulse.beat(at(asleep), ON), None, "once");
            assert_eq!(pulse.beat(at(asleep + 30), ON), Some(Beat::Ping));
            assert_eq!(pulse.beat(at(asleep + 59), ON), None);
            assert_eq!(pulse.beat(at(asleep + 60), ON), Some(Beat::Dead));
        }
        let mut late = pulse();
        assert_eq!(late.beat(at(45), ON), Some(Beat::Ping), "late, not asleep");
        assert_eq!(late.deadline(ON), Some(at(60)));
    }

    #[test]
    fn a_loop_that_is_always_late_finds_a_dead_peer_too() {
        let mut pulse = pulse();
        let beats: alloc::vec::Vec<_> = (1..4).map(|n| pulse.beat(at(n * 46), ON)).collect();
        assert_eq!(beats, [Some(Beat::Ping), Some(Beat::Ping), Some(Beat::Dead)]);
    }

    #[test]
    fn it_can_be_off_or_pause() {
        let mut off = Pulse::new();
        off.heard(at(0));
        assert_eq!((off.beat(at(9999), None), off.deadline(None)), (None, None));
        let mut paused = pulse();
        paused.stop();
        assert_eq!((paused.beat(at(9999), ON), paused.deadline(ON)), (None, None));
        paused.heard(at(10_000));
        assert_eq!(paused.deadline(ON), Some(at(10_030)));
    }

    #[test]
    fn neither_zero_nor_for_ever_is_taken_by_its_word() {
        let keepalive = |interval, patience| Some(Keepalive::new(interval, patience));
        let none = keepalive(Duration::from_secs(30), Duration::ZERO);
        assert_eq!(pulse().deadline(none), Some(Time::from_millis(1)));
        assert_eq!(pulse().beat(Time::from_millis(1), none), Some(Beat::Dead));
        let never = keepalive(Duration::MAX, Duration::MAX);
        let end = Time::new(Duration::MAX);
        let mut pulse = pulse();
        assert_eq!(pulse.deadline(never), None);
        pulse.forgiven = true;
        assert_eq!(pulse.beat(end, never), None);
    }

    #[test]
    fn a_patience_shorter_than_the_interval_ends_without_a_ping() {
        let impatient = Some(Keepalive::new(Duration::from_secs(30), Duration::from_secs(10)));
        let mut pulse = Pulse::new();
        pulse.heard(at(0));
        assert_eq!(
            (pulse.deadline(impatient), pulse.beat(at(10), impatient)),
            (Some(at(10)), Some(Beat::Dead))
        );
    }
}
