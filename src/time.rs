//! Time as an input: the core never reads a clock. You pass the time with the bytes and with `poll`.

use core::time::Duration;

/// A point in time: the [`Duration`] since a start that you choose, once for all machines of a loop.
///
/// Programs take it from a [`Clock`]; tests write plain numbers. It counts nanoseconds for some 584 years; then comes
/// the end of time, and a timer set to that never fires.
///
/// ```
/// use ide_mcp::Time;
/// use std::time::Duration;
///
/// let now = Time::from_millis(400);
/// let later = now.saturating_add(Duration::from_millis(100));
/// assert_eq!(later, Time::from_millis(500));
/// assert_eq!(later.saturating_since(now), Duration::from_millis(100));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start.
    pub const ZERO: Self = Self(0);

    /// The end of time: a timer set to this never fires.
    pub(crate) const NEVER: Self = Self(u64::MAX);

    /// Returns the point `since_start` after the start, at most the end of time.
    #[must_use]
    pub const fn new(since_start: Duration) -> Self {
        Self(nanos(since_start))
    }

    /// Returns the point `millis` milliseconds after the start, at most the end of time.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the duration from the start to this point.
    #[must_use]
    pub const fn since_start(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Returns the point `span` after this one, at most the end of time.
    #[must_use]
    pub const fn saturating_add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(nanos(span)))
    }

    /// Adds a span given as a time since the start, which saves a conversion.
    #[inline]
    pub(crate) const fn later(self, by: Self) -> Self {
        Self(self.0.saturating_add(by.0))
    }

    /// Returns true if a timer set to this time fires at `now`.
    #[inline]
    pub(crate) const fn is_due(self, now: Self) -> bool {
        self.0 <= now.0 && self.0 != Self::NEVER.0
    }

    /// Returns this point, or `None` for the end of time. A machine reports its next timer in this form.
    pub(crate) fn finite(self) -> Option<Self> {
        (self != Self::NEVER).then_some(self)
    }

    /// Returns the time from `earlier` to this point; zero if `earlier` is not earlier.
    #[must_use]
    pub const fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

const fn nanos(span: Duration) -> u64 {
    span.as_secs().saturating_mul(1_000_000_000).saturating_add(span.subsec_nanos() as u64)
}

/// A table of timers with one slot for each kind. The kind is a small enum, cast to its number.
///
/// A timer fires once: [`take_due`](Timers::take_due) clears it. Most of the time no timer is due, and one comparison
/// with `due` shows that.
#[derive(Clone, Debug)]
pub(crate) struct Timers<const N: usize> {
    at: [Time; N],
    /// The time of the earliest timer.
    pub(crate) due: Time,
}

impl<const N: usize> Timers<N> {
    pub(crate) const fn new() -> Self {
        Self { at: [Time::NEVER; N], due: Time::NEVER }
    }

    pub(crate) fn set(&mut self, timer: usize, at: Time) {
        if let Some(slot) = self.at.get_mut(timer) {
            *slot = at;
        }
        self.due = self.at.iter().min().copied().unwrap_or(Time::NEVER);
    }

    pub(crate) fn clear(&mut self, timer: usize) {
        if self.is_set(timer) {
            self.set(timer, Time::NEVER);
        }
    }

    #[inline]
    pub(crate) fn is_set(&self, timer: usize) -> bool {
        matches!(self.at.get(timer), Some(at) if *at != Time::NEVER)
    }

    /// If this timer is due, clears it and returns true.
    pub(crate) fn take_due(&mut self, timer: usize, now: Time) -> bool {
        let due = self.due.is_due(now) && self.at.get(timer).is_some_and(|at| at.is_due(now));
        if due {
            self.clear(timer);
        }
        due
    }

    /// Returns true if this timer is due. It must be set. At the end of time it is always due.
    pub(crate) fn is_due(&self, timer: usize, now: Time) -> bool {
        self.at.get(timer).is_some_and(|at| *at <= now)
    }
}

/// Gives you [`Time`] from the system's monotonic clock, counted from [`Clock::new`].
///
/// ```
/// use ide_mcp::Clock;
///
/// let clock = Clock::new(); // one for all machines of the loop
/// let now = clock.now();
/// assert_eq!(clock.until(None), None); // no timer: sleep until a socket is ready
/// assert_eq!(clock.until(Some(now)), Some(std::time::Duration::ZERO)); // due already
/// ```
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

#[cfg(feature = "std")]
#[allow(clippy::disallowed_methods, reason = "the one place where a clock is read")]
impl Clock {
    /// Creates a clock that starts now.
    #[must_use]
    pub fn new() -> Self {
        Self(std::time::Instant::now())
    }

    /// Returns the current time.
    #[must_use]
    pub fn now(&self) -> Time {
        Time::new(self.0.elapsed())
    }

    /// Returns how long your loop may sleep before `deadline`: zero if it has passed, `None` if there is none.
    #[must_use]
    pub fn until(&self, deadline: Option<Time>) -> Option<Duration> {
        deadline.map(|at| at.saturating_since(self.now()))
    }
}

#[cfg(feature = "std")]
impl Default for Clock {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        let end = Time::new(Duration::MAX);
        assert_eq!(end.since_start(), Duration::from_nanos(u64::MAX));
        assert_eq!(end.saturating_add(Duration::from_secs(1)), end);
        assert_eq!(Time::ZERO.saturating_since(end), Duration::ZERO);
        assert_eq!(Time::from_millis(7).saturating_since(Time::from_millis(3)), Duration::from_millis(4));
    }

    #[test]
    fn a_timer_fires_once_and_not_early() {
        let mut timers = Timers::<2>::new();
        timers.set(1, Time::from_millis(10));
        assert_eq!(timers.due, Time::from_millis(10));
        assert!(!timers.take_due(1, Time::from_millis(9)));
        assert!(!timers.take_due(0, Time::from_millis(10)));
        assert!(timers.take_due(1, Time::from_millis(10)));
        assert!(!timers.take_due(1, Time::from_millis(11)));
        assert_eq!(timers.due, Time::NEVER);
    }

    #[test]
    fn timer_at_end_of_time_never_fires() {
        let mut timers = Timers::<1>::new();
        timers.set(0, Time::ZERO.saturating_add(Duration::MAX));
        assert_eq!((timers.due, timers.is_set(0)), (Time::NEVER, false));
        assert!(!Time::NEVER.is_due(Time::NEVER));
        assert!(!timers.take_due(0, Time::new(Duration::MAX)));
        assert!(timers.is_due(0, Time::new(Duration::MAX)), "at the end of time, every timer is due");
    }

    #[cfg(feature = "std")]
    #[test]
    fn clock_follows_the_system_clock() {
        let clock = Clock::new();
        std::thread::sleep(Duration::from_millis(2));
        let now = clock.now();
        assert!(now >= Time::from_millis(2));
        assert_eq!(clock.until(None), None);
        assert_eq!(clock.until(Some(now)), Some(Duration::ZERO));
        let hour = Duration::from_secs(3600);
        let wait = clock.until(Some(now.saturating_add(hour))).unwrap();
        assert!(Duration::ZERO < wait && wait <= hour, "{wait:?}");
    }
}
