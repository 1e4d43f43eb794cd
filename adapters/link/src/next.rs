//! What a step has come to, for a loop that takes events one by one and waits by a [`WakeSet`](crate::WakeSet).

use ide_mcp::Time;

/// What a step has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next<E> {
    /// Something happened.
    Event(E),
    /// A [`Waker`](crate::Waker) rang: the application looks at its queue.
    Wake,
    /// The last event was delivered, and nothing is left to do.
    Over,
    /// Nothing is left to do before this time, or before something rings. If it has come, others may have a turn first.
    Wait(Option<Time>),
}

/// Whose turn it is where a waker and events compete: neither keeps the other waiting.
#[derive(Debug, Default)]
pub struct FairPoll {
    /// A waker rang, and the application has not been told.
    woken: bool,
    /// The last that it was told was an event.
    told: bool,
}

impl FairPoll {
    /// Nobody has been told anything.
    #[must_use]
    pub const fn new() -> Self {
        Self { woken: false, told: false }
    }

    /// The next event of `step`, or [`Next::Wake`] where a waker rang since it was told so last, by turns if there are
    /// both. `None` if there is neither.
    pub fn next<E>(&mut self, woken: bool, step: impl FnOnce() -> Option<E>) -> Option<Next<E>> {
        self.woken |= woken;
        if !(self.woken && self.told) {
            let event = step();
            self.told = event.is_some();
            if let Some(event) = event {
                return Some(Next::Event(event));
            }
        }
        self.told = false;
        core::mem::take(&mut self.woken).then_some(Next::Wake)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_and_events_take_turns() {
        let (mut turns, mut events) = (FairPoll::new(), 0);
        let mut seen = Vec::new();
        for _ in 0..6 {
            seen.push(turns.next(true, || {
                events += 1;
                Some(events)
            }));
        }
        let (event, woken) = (|n| Some(Next::Event(n)), Some(Next::Wake));
        assert_eq!(seen, [event(1), woken, event(2), woken, event(3), woken]);
    }

    #[test]
    fn a_wake_is_told_once() {
        let mut turns = FairPoll::new();
        assert_eq!(turns.next::<()>(true, || None), Some(Next::Wake));
        assert_eq!(turns.next::<()>(false, || None), None);
        assert_eq!(turns.next(true, || Some(1)), Some(Next::Event(1)));
        assert_eq!(turns.next(false, || Some(2)), Some(Next::Wake), "it is not forgotten");
        assert_eq!(turns.next(false, || Some(3)), Some(Next::Event(3)));
    }
}
