//! A timer that makes a `Poll` readable: a descriptor on Linux, a filter on kqueue. Other systems have none:
//! there the loop itself must call `dispatch` after `NestedServer::timeout`.

use ide_mcp::Time;
use mio::{Registry, Token};
use std::io;
use std::time::Duration;

/// The timer of a `Poll`.
#[derive(Debug)]
pub(crate) struct Timer {
    source: sys::Source,
    /// When the timer fires; `None` after it has fired.
    pub(super) set_to: Option<Time>,
}

impl Timer {
    pub(crate) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self { source: sys::Source::new(registry, token)?, set_to: None })
    }

    /// Sets the timer to this time, or leaves it at an earlier one. Most deadlines move to a later time
    /// before they come, so setting the timer each time would cost more than a turn without work now and
    /// then.
    pub(crate) fn set(&mut self, now: Time, deadline: Option<Time>) {
        let Some(deadline) = deadline else { return };
        if self.set_to.is_none_or(|set_to| deadline < set_to) {
            // No system should refuse a duration that fits in its type. If one does, the loop still has
            // `NestedServer::timeout`.
            let wait = deadline.saturating_since(now).clamp(Duration::from_nanos(1), LONGEST);
            self.set_to = self.source.set(wait).is_ok().then_some(deadline);
        }
    }

    /// Call this when the timer has fired.
    pub(crate) fn fired(&mut self) {
        self.source.fired();
        self.set_to = None;
    }
}

/// The longest wait of the timer, which fits in the types of all systems.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

// On a system with a timer, its module `sys` shadows this glob import.
#[allow(unused_imports, reason = "this system can have a timer")]
use without_timer::*;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod sys {
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use std::io;
    use std::os::fd::{AsRawFd as _, OwnedFd};
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Source(OwnedFd);

    impl Source {
        pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE)?;
            Ok(Self(fd))
        }

        /// Also clears an expiration that was not read.
        pub(super) fn set(&self, wait: Duration) -> io::Result<()> {
            let it_value = Timespec::try_from(wait).map_err(io::Error::other)?;
            let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &once)?;
            Ok(())
        }

        #[allow(clippy::unused_self, reason = "setting the timer again is enough on this system")]
        pub(super) const fn fired(&mut self) {}
    }
}

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly"
))]
mod sys {
    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use polling::os::kqueue::{PollerKqueueExt as _, Timer};
    use polling::{Events, PollMode, Poller};
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::time::Duration;

    /// A queue with one filter, inside the queue of the `Poll`.
    #[derive(Debug)]
    pub(super) struct Source(Poller);

    const ID: usize = 0;

    impl Source {
        pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let poller = Poller::new()?;
            poller.add_filter(Timer { id: ID, timeout: super::LONGEST }, ID, PollMode::Oneshot)?;
            registry.register(&mut SourceFd(&poller.as_raw_fd()), token, Interest::READABLE)?;
            Ok(Self(poller))
        }

        pub(super) fn set(&self, wait: Duration) -> io::Result<()> {
            self.0.modify_filter(Timer { id: ID, timeout: wait }, ID, PollMode::Oneshot)
        }

        /// Removes the event of the timer from the queue.
        pub(super) fn fired(&mut self) {
            let _ = self.0.wait(&mut Events::new(), Some(Duration::ZERO));
        }
    }
}

mod without_timer {
    #[allow(dead_code, reason = "this system can have a timer")]
    pub(super) mod sys {
        use mio::{Registry, Token};
        use std::io;
        use std::time::Duration;

        #[derive(Debug)]
        pub(in super::super) struct Source;

        #[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "the other modules have a timer")]
        impl Source {
            pub(in super::super) const fn new(_registry: &Registry, _token: Token) -> io::Result<Self> {
                Ok(Self)
            }

            pub(in super::super) const fn set(&self, _wait: Duration) -> io::Result<()> {
                Ok(())
            }

            pub(in super::super) const fn fired(&mut self) {}
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use mio::{Events, Poll};

    const FAR: Option<Time> = Some(Time::from_millis(60 * 60 * 1000));
    const FARTHER: Option<Time> = Some(Time::from_millis(2 * 60 * 60 * 1000));
    const NOW: Time = Time::from_millis(10);
    const SOON: Option<Time> = Some(Time::from_millis(11));
    const DUE: Option<Time> = Some(NOW);
    const PAST: Option<Time> = Some(Time::ZERO);

    /// A row says whether the timer fires, and not when, so that a busy machine cannot change the result.
    #[test]
    fn earliest_deadline_fires_in_every_order() {
        let rows: [(&str, &[Option<Time>], bool); 16] = [
            ("no deadline", &[None], false),
            ("far", &[FAR], false),
            ("soon", &[SOON], true),
            ("due", &[DUE], true),
            ("past", &[PAST], true),
            ("far, then soon", &[FAR, SOON], true),
            ("far, then due", &[FAR, DUE], true),
            ("far, then past", &[FAR, PAST], true),
            ("farther, far, then soon", &[FARTHER, FAR, SOON], true),
            ("far, farther, then soon", &[FAR, FARTHER, SOON], true),
            ("far, none, then soon", &[FAR, None, SOON], true),
            ("the last time, then soon", &[Some(Time::new(Duration::MAX)), SOON], true),
            ("soon, then far", &[SOON, FAR], true),
            ("soon, then none", &[SOON, None], true),
            ("far, soon, then far", &[FAR, SOON, FAR], true),
            ("farther, then far", &[FARTHER, FAR], false),
        ];
        let (mut poll, mut events) = (Poll::new().unwrap(), Events::with_capacity(4));
        for (name, deadlines, fires) in rows {
            let mut timer = Timer::new(poll.registry(), Token(7)).unwrap();
            // In the second round, the timer may have fired before.
            for round in 0..2 {
                for deadline in deadlines {
                    timer.set(NOW, *deadline);
                }
                let at_most = Duration::from_secs(if fires { 20 } else { 0 });
                poll.poll(&mut events, Some(at_most)).unwrap();
                assert_eq!(!events.is_empty(), fires, "{name}, round {round}");
                assert!(events.iter().all(|event| event.token() == Token(7)), "{name}");
                timer.fired();
                poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
                assert!(events.is_empty(), "{name}, round {round}: it fires once");
            }
        }
    }
}
