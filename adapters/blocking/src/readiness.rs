//! Waits for sockets with one call of poll(2), which is `WSAPoll` on Windows: no threads, no socket timeouts.

use ide_mcp::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::ErrorKind;
use std::thread;
use std::time::Duration;

/// The maximum length of one wait, because some systems refuse timeouts of months.
pub(crate) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Returns what to wait for, if anything. A socket without interest is not watched at all: the system would
/// report its end again and again.
pub(crate) fn interest(wants_input: bool, wants_output: bool) -> Option<PollFlags> {
    let input = if wants_input { PollFlags::IN } else { PollFlags::empty() };
    let output = if wants_output { PollFlags::OUT } else { PollFlags::empty() };
    Some(input | output).filter(|flags| !flags.is_empty())
}

/// Waits until one of the sockets is ready, or until a time. A signal ends the wait early, and so does an
/// error, which the next read or write reports.
pub(crate) fn wait(sockets: &mut [PollFd<'_>], now: Time, until: Option<Time>) {
    let most = until.map_or(LONGEST, |until| until.saturating_since(now).min(LONGEST));
    if sockets.is_empty() {
        return thread::sleep(most);
    }
    // An hour fits in every type of time.
    let timeout = Timespec::try_from(most).ok();
    if poll(sockets, timeout.as_ref()).is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
        // The system is out of memory. Pause, so that this does not become a busy loop.
        thread::sleep(most.min(Duration::from_millis(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::Clock;
    use ide_mcp_driver::Bell;

    #[test]
    fn ring_ends_one_wait() {
        let (bell, clock) = (Bell::new().unwrap(), Clock::new());
        let wait_up_to = |most| {
            let now = clock.now();
            wait(&mut [PollFd::new(&bell, PollFlags::IN)], now, Some(now.saturating_add(most)));
            clock.now().saturating_since(now)
        };
        // Even more rings than fit into the socket count as one.
        (0..100_000).for_each(|_| bell.ring());
        assert!(wait_up_to(LONGEST) < Duration::from_secs(20));
        bell.silence();
        assert!(wait_up_to(Duration::from_millis(30)) >= Duration::from_millis(29));
        bell.ring();
        assert!(wait_up_to(LONGEST) < Duration::from_secs(20));
    }
}
