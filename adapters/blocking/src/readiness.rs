//! The wait for sockets: one call of poll(2), which is `WSAPoll` on Windows. No thread, and no timeout of a socket.

use ide_mcp::Time;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::Arc;
use std::task::Wake;
use std::thread;
use std::time::Duration;

/// The longest single wait: some systems refuse timeouts of months.
pub(crate) const LONGEST: Duration = Duration::from_secs(60 * 60);

/// Returns what to wait for; `None` for nothing. A socket without interest is not watched at all: the system would report
/// its end again and again.
pub(crate) fn interest(wants_input: bool, wants_output: bool) -> Option<PollFlags> {
    let input = if wants_input { PollFlags::IN } else { PollFlags::empty() };
    let output = if wants_output { PollFlags::OUT } else { PollFlags::empty() };
    Some(input | output).filter(|flags| !flags.is_empty())
}

/// Waits until one of the sockets is ready, or until a time. A signal ends the wait early, and so does an error: the next
/// read or write reports it.
pub(crate) fn wait(sockets: &mut [PollFd<'_>], now: Time, until: Option<Time>) {
    let most = until.map_or(LONGEST, |until| until.saturating_since(now).min(LONGEST));
    if sockets.is_empty() {
        return thread::sleep(most);
    }
    // A duration of an hour fits in every type of a time.
    let timeout = Timespec::try_from(most).ok();
    if poll(sockets, timeout.as_ref()).is_err_and(|error| error.kind() != ErrorKind::Interrupted) {
        // The system lacks memory. This pause prevents a busy loop.
        thread::sleep(most.min(Duration::from_millis(1)));
    }
}

/// A socket that is connected to itself, by which other threads end the wait.
#[derive(Debug)]
pub(crate) struct Bell(UdpSocket);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // From now on it takes nothing from another socket.
        socket.connect(socket.local_addr()?)?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    pub(crate) fn watched(&self) -> PollFd<'_> {
        PollFd::new(&self.0, PollFlags::IN)
    }

    /// Takes all rings, so that the next wait waits.
    pub(crate) fn silence(&self) {
        while self.0.recv(&mut [0; 8]).is_ok() {}
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Without room for one more ring, an earlier one still ends the wait.
        let _ = self.0.send(&[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ide_mcp::Clock;

    #[test]
    fn a_ring_ends_one_wait() {
        let (bell, clock) = (Arc::new(Bell::new().unwrap()), Clock::new());
        let wait_up_to = |most| {
            let now = clock.now();
            wait(&mut [bell.watched()], now, Some(now.saturating_add(most)));
            clock.now().saturating_since(now)
        };
        // More rings than the socket has room for are still a ring.
        (0..100_000).for_each(|_| bell.wake_by_ref());
        assert!(wait_up_to(LONGEST) < Duration::from_secs(20));
        bell.silence();
        assert!(wait_up_to(Duration::from_millis(30)) >= Duration::from_millis(29));
        bell.wake_by_ref();
        assert!(wait_up_to(LONGEST) < Duration::from_secs(20));
    }

    #[test]
    fn nobody_else_rings() {
        let bell = Bell::new().unwrap();
        let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        // The system can refuse what nobody takes.
        let _ = stranger.send_to(&[1], bell.0.local_addr().unwrap());
        let now = Time::ZERO;
        wait(&mut [bell.watched()], now, Some(now.saturating_add(Duration::from_millis(20))));
        assert_eq!(bell.0.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
