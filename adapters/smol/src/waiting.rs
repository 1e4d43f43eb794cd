//! How a task waits, for wake-ups and for timers.

use async_io::Timer;
use ide_mcp::{Clock, Time};
use ide_mcp_driver::{Next, Readiness, WakeSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The state of a wait. It holds nothing of the connection or server, so the task may stop waiting at any
/// time.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) wakes: WakeSet,
    pub(crate) clock: Clock,
    timer: Timer,
    /// When the timer fires, if it is set.
    set_to: Option<Time>,
    /// How many polls were ready since the task last yielded.
    ready: u32,
}

/// How many polls in a row may be ready before the executor's other tasks get a turn, so that a peer that
/// sends without pause cannot freeze the window of an editor whose tasks share one thread.
const READY_IN_A_ROW: u32 = 128;

impl Waiting {
    pub(crate) fn new(wakes: WakeSet) -> Self {
        Self { wakes, clock: Clock::new(), timer: Timer::never(), set_to: None, ready: 0 }
    }

    /// Takes a step, and arranges that the task is woken when the next one is due.
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
        // Register before the step, so that a wake-up during the step is not lost.
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
            // After a wake-up, the application reads its queue and checks whether all is over.
            Next::Wake | Next::Over | _ => Poll::Ready(None),
        }
    }

    /// Arranges that the task is woken at this time, or a little later.
    fn wake_at(&mut self, context: &mut Context<'_>, now: Time, until: Option<Time>) {
        let Some(until) = until else { return };
        if until <= now {
            // There is more work, but the executor's other tasks get a turn first.
            return context.waker().wake_by_ref();
        }
        // Never move the timer to a later time: most deadlines move before they are reached, and following
        // each of them would cost more than an early look at the clock.
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
