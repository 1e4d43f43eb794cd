//! How a [`NestedServer`](super::NestedServer) waits inside a loop that waits for its descriptor.
//!
//! On Unix a `Poll` is itself a descriptor, with a timer and a waker inside. On Windows it is not: there a
//! thread waits in the `Poll` and rings a bell, which is a socket.

use ide_mcp::{Clock, Time};
use mio::event::Event;
use mio::{Events, Poll, Registry, Token};
use std::io::{self, ErrorKind};
use std::time::Duration;

pub(super) use sys::Waiting;

const WAKER: Token = Token(0);

/// The first free token.
pub(super) const FREE: Token = Token(2);

/// Waits in a `Poll` once. A signal ends the wait early.
fn poll_once(poll: &mut Poll, events: &mut Events, at_most: Option<Duration>) -> io::Result<()> {
    match poll.poll(events, at_most) {
        Err(error) if error.kind() != ErrorKind::Interrupted => Err(error),
        _ => Ok(()),
    }
}

#[cfg(not(windows))]
mod sys {
    use super::*;
    use crate::Waker;
    use crate::timer::Timer;

    const TIMER: Token = Token(1);

    #[derive(Debug)]
    pub(in super::super) struct Waiting {
        poll: Poll,
        events: Events,
        timer: Timer,
        waker: Waker,
        clock: Clock,
    }

    impl Waiting {
        pub(in super::super) fn new(clock: Clock) -> io::Result<Self> {
            let poll = Poll::new()?;
            let waker = Waker::new(poll.registry(), WAKER)?;
            let timer = Timer::new(poll.registry(), TIMER)?;
            Ok(Self { poll, events: Events::with_capacity(64), timer, waker, clock })
        }

        pub(in super::super) fn registry(&self) -> &Registry {
            self.poll.registry()
        }

        /// Makes the descriptor readable at this time at the latest.
        pub(in super::super) fn set(&mut self, now: Time, deadline: Option<Time>) {
            self.timer.set(now, deadline);
        }

        /// Returns when the descriptor becomes readable, or became so.
        pub(in super::super) fn set_to(&self) -> Option<Time> {
            self.timer.set_to
        }

        /// Returns a function that makes the descriptor readable, for other threads.
        pub(in super::super) fn wake(&self) -> impl Fn() + Send + Sync + 'static {
            let waker = self.waker.clone();
            // An error means that the `Poll` is gone, and no turn follows.
            move || drop(waker.wake())
        }

        /// Waits until the descriptor is readable, for at most `at_most`, and passes on the events of the
        /// sockets.
        pub(in super::super) fn wait(
            &mut self,
            at_most: Option<Duration>,
            mut on: impl FnMut(&Event),
        ) -> io::Result<()> {
            poll_once(&mut self.poll, &mut self.events, at_most)?;
            let mut has_fired = false;
            for event in &self.events {
                has_fired |= event.token() == TIMER;
                on(event);
            }
            // Some systems have no timer in the `Poll`.
            if has_fired || self.timer.set_to.is_some_and(|set_to| set_to <= self.clock.now()) {
                self.timer.fired();
            }
            Ok(())
        }
    }
}

#[cfg(windows)]
mod sys {
    use super::*;
    use ide_mcp_driver::Bell;
    use mio::Waker;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::mem;
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
    use std::thread::{self, JoinHandle};

    /// The longest single wait of `WSAPoll`, which takes milliseconds as a number of 31 bits.
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

    #[derive(Debug)]
    pub(in super::super) struct Waiting {
        registry: Registry,
        shared: Arc<Shared>,
        /// Ends the wait of the thread.
        waker: Waker,
        thread: Option<JoinHandle<()>>,
    }

    #[derive(Debug)]
    struct Shared {
        bell: Bell,
        state: Mutex<State>,
    }

    #[derive(Debug, Default)]
    struct State {
        /// When the thread must ring; `None` after it has rung.
        deadline: Option<Time>,
        /// The deadline for which the bell was rung, until the next wait.
        due: Option<Time>,
        /// What the sockets have reported. This stays short, because a socket reports again only after use.
        reported: Vec<Event>,
        failed: Option<io::Error>,
        is_over: bool,
    }

    impl Waiting {
        pub(in super::super) fn new(clock: Clock) -> io::Result<Self> {
            let poll = Poll::new()?;
            let (registry, waker) = (poll.registry().try_clone()?, Waker::new(poll.registry(), WAKER)?);
            let shared = Arc::new(Shared { bell: Bell::new()?, state: Mutex::default() });
            let waits = Arc::clone(&shared);
            let thread = thread::Builder::new().name("ide-mcp sockets".into());
            let thread = Some(thread.spawn(move || waits.wait_in(poll, clock))?);
            Ok(Self { registry, shared, waker, thread })
        }

        pub(in super::super) const fn registry(&self) -> &Registry {
            &self.registry
        }

        pub(in super::super) fn bell(&self) -> &Bell {
            &self.shared.bell
        }

        /// Makes the bell readable at this time at the latest.
        pub(in super::super) fn set(&mut self, now: Time, deadline: Option<Time>) {
            let Some(deadline) = deadline else { return };
            let mut state = self.shared.state();
            if deadline <= now {
                state.due = Some(deadline);
                drop(state);
                self.shared.bell.ring();
            } else if state.deadline.is_none_or(|earlier| deadline < earlier) {
                state.deadline = Some(deadline);
                drop(state);
                // The thread now waits for the earlier time. An error means that its `Poll` is gone.
                let _ = self.waker.wake();
            }
        }

        /// Returns when the bell becomes readable, or became so.
        pub(in super::super) fn set_to(&self) -> Option<Time> {
            let state = self.shared.state();
            [state.due, state.deadline].into_iter().flatten().min()
        }

        /// Returns a function that makes the bell readable, for other threads.
        pub(in super::super) fn wake(&self) -> impl Fn() + Send + Sync + 'static {
            let shared = Arc::clone(&self.shared);
            move || shared.bell.ring()
        }

        /// Waits until the bell is readable, for at most `at_most`, and passes on the events of the sockets.
        pub(in super::super) fn wait(
            &mut self,
            at_most: Option<Duration>,
            on: impl FnMut(&Event),
        ) -> io::Result<()> {
            if at_most != Some(Duration::ZERO) {
                let at_most = at_most.map_or(LONGEST, |at_most| at_most.min(LONGEST));
                let timeout = Timespec::try_from(at_most).map_err(io::Error::other)?;
                poll(&mut [PollFd::new(&self.shared.bell, PollFlags::IN)], Some(&timeout))?;
            }
            // Whatever comes after this rings again.
            self.shared.bell.silence();
            let (reported, failed) = {
                let mut state = self.shared.state();
                state.due = None;
                (mem::take(&mut state.reported), state.failed.take())
            };
            reported.iter().for_each(on);
            failed.map_or(Ok(()), Err)
        }
    }

    impl Drop for Waiting {
        fn drop(&mut self) {
            self.shared.state().is_over = true;
            if self.waker.wake().is_ok() {
                let _ = self.thread.take().map(JoinHandle::join);
            }
        }
    }

    impl Shared {
        fn state(&self) -> MutexGuard<'_, State> {
            self.state.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Waits for the sockets and the deadline, and rings the bell for them, until the server is dropped.
        fn wait_in(&self, mut poll: Poll, clock: Clock) {
            let mut events = Events::with_capacity(64);
            loop {
                let deadline = {
                    let state = self.state();
                    if state.is_over {
                        return;
                    }
                    state.deadline
                };
                let polled = poll_once(&mut poll, &mut events, clock.until(deadline));
                let mut state = self.state();
                let has_failed = polled.is_err();
                state.failed = polled.err();
                let due = state.deadline.take_if(|deadline| *deadline <= clock.now());
                state.due = due.or(state.due);
                let known = state.reported.len();
                state.reported.extend(events.iter().filter(|event| event.token() != WAKER).cloned());
                let rings = has_failed || due.is_some() || state.reported.len() > known;
                drop(state);
                if rings {
                    self.bell.ring();
                }
                if has_failed {
                    return;
                }
            }
        }
    }
}
