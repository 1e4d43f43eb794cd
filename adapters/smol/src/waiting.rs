//! The wait of a task, for wake-ups and for timers.

use async_io::Timer;
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{Next, Readiness, WakeSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The state of a wait. It holds nothing of the connection or server, so the task can stop waiting at
/// any time.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) wakes: WakeSet,
    pub(crate) clock: Clock,
    timer: Timer,
    /// The time to which the timer is set, if it is set.
    set_to: Option<Time>,
    /// The number of polls since the task last yielded.
    ready: u32,
}

/// The number of polls in a row that can be ready before the other tasks of the executor get a turn.
/// So a peer that sends without pause does not freeze the window of an editor whose tasks share one
/// thread.
const READY_IN_A_ROW: u32 = 128;

impl Waiting {
    pub(crate) fn new(wakes: WakeSet) -> Self {
        Self { wakes, clock: Clock::new(), timer: Timer::never(), set_to: None, ready: 0 }
    }

    /// Takes a step, and arranges that the task is woken when the next step is due.
    pub(crate) fn poll<E>(
        &mut self,
        context: &mut Context<'_>,
        step: impl FnOnce(Time, &Readiness) -> Next<E>,
    ) -> Poll<Option<E>> {
        if self.ready >= READY_IN_A_ROW {
            self.ready = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        // The task registers before the step, so that a wake-up during the step is not lost.
        let ready = self.wakes.register(context.waker());
        let now = self.clock.now();
        self.ready = self.ready.saturating_add(1);
        match step(now, &ready) {
            Next::Event(event) => Poll::Ready(Some(event)),
            Next::Wait(until) => {
                self.ready = 0;
                self.wake_at(context, now, until);
                Poll::Pending
            }
            // After a wake-up the application reads its queue and checks whether all is over.
            Next::Wake | Next::Over | _ => Poll::Ready(None),
        }
    }

    /// Arranges that the task is woken at this time, or a little after it.
    fn wake_at(&mut self, context: &mut Context<'_>, now: Time, until: Option<Time>) {
        let Some(until) = until else { return };
        if until <= now {
            // There is more work. The other tasks of this executor get a turn before it.
            return context.waker().wake_by_ref();
        }
        // The timer is never moved to a later time. If it goes off too early, that costs one look at
        // the clock. Most deadlines move before they are reached, and moving the timer with each of
        // them would cost more.
        if self.set_to.is_none_or(|set_to| until < set_to || set_to <= now) {
            self.timer.set_after(until.saturating_since(now));
            self.set_to = Some(until);
        }
        if Pin::new(&mut self.timer).poll(context).is_ready() {
            self.set_to = None;
            context.waker().wake_by_ref();
        }
    }
}
