//! The outcome of a step, for a loop that takes events one by one and waits on a [`WakeSet`](crate::WakeSet).

use ide_mcp::Time;

/// The outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next<E> {
    /// An event.
    Event(E),
    /// A [`Waker`](crate::Waker) was used: read your queue now.
    Wake,
    /// The end: the last event was delivered, and nothing is left to do.
    Over,
    /// Nothing to do before this time, or before the next wake-up. If the time has already passed, let other
    /// tasks run, then step again.
    Wait(Option<Time>),
}

/// Alternates between wakes and events when there are both, so that neither keeps the other waiting.
#[derive(Debug, Default)]
pub(crate) struct FairPoll {
    /// True if a waker was used and [`Next::Wake`] has not been returned since.
    woken: bool,
    /// True if the last call returned an event.
    was_event: bool,
}

impl FairPoll {
    /// Creates a `FairPoll` without a pending wake.
    pub(crate) const fn new() -> Self {
        Self { woken: false, was_event: false }
    }

    /// Returns the next event of `step`, or [`Next::Wake`] if a waker was used since `Wake` was last
    /// returned; alternates if there are both, and returns `None` if there is neither.
    pub(crate) fn next<E>(&mut self, woken: bool, step: impl FnOnce() -> Option<E>) -> Option<Next<E>> {
        self.woken |= woken;
        if !(self.woken && self.was_event) {
            let event = step();
            self.was_event = event.is_some();
            if let Some(event) = event {
                return Some(Next::Event(event));
            }
        }
        self.was_event = false;
        core::mem::take(&mut self.woken).then_some(Next::Wake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_and_events_take_turns() {
        let (mut fair, mut events) = (FairPoll::new(), 0);
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(fair.next(true, || {
                events += 1;
                Some(events)
            }));
        }
        let (event, woken) = (|n| Some(Next::Event(n)), Some(Next::Wake));
        assert_eq!(seen, [event(1), woken, event(2), woken, event(3), woken]);
    }

    #[test]
    fn wake_is_returned_once() {
        let mut fair = FairPoll::new();
        assert_eq!(fair.next::<()>(true, || None), Some(Next::Wake));
        assert_eq!(fair.next::<()>(false, || None), None);
        assert_eq!(fair.next(true, || Some(1)), Some(Next::Event(1)));
        assert_eq!(fair.next(false, || Some(2)), Some(Next::Wake), "it is not forgotten");
        assert_eq!(fair.next(false, || Some(3)), Some(Next::Event(3)));
    }
}
