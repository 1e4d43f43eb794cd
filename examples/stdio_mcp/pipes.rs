//! Standard input and output, waited for together on one thread.
//!
//! They stay in blocking mode, since that is shared with whoever else holds them, a shell for example. So what may block
//! is asked first: a read where something lies there, and a write of no more than a pipe takes whole.

pub(crate) use system::{read, wait, write};

/// What can be done without blocking.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ready {
    pub(crate) to_read: bool,
    pub(crate) to_write: bool,
}

#[cfg(unix)]
mod system {
    use super::Ready;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use std::io;
    use std::time::Duration;

    /// A pipe that can be written at all takes this much at once: `PIPE_BUF` of Linux, and eight times that of POSIX.
    const PIPE_BUF: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

    /// Waits until there is something to do or the time is over.
    ///
    /// # Errors
    ///
    /// If nobody reads what is written, or the system says so.
    pub(crate) fn wait(read: bool, write: bool, timeout: Option<Duration>) -> io::Result<Ready> {
        let (input, output) = (io::stdin(), io::stdout());
        let wanted = |wants, flag| if wants { flag } else { PollFlags::empty() };
        // Whatever is asked for, a reader that has gone is told. An input that has ended would be as well, so it is
        // not asked where nothing is to be read.
        let out = PollFd::new(&output, wanted(write, PollFlags::OUT));
        let mut both = [out, PollFd::new(&input, PollFlags::IN)];
        let fds = if read { both.as_mut_slice() } else { both.split_at_mut(1).0 };
        let span = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        match poll(fds, span.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(Ready::default()),
            Err(error) => return Err(error.into()),
        }
        let [out, input] = both.map(|fd| fd.revents());
        if out.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads standard output"));
        }
        Ok(Ready { to_read: read && !input.is_empty(), to_write: out.contains(PollFlags::OUT) })
    }

    /// Reads once; 0 is the end.
    pub(crate) fn read(into: &mut [u8]) -> io::Result<usize> {
        rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut *into)).map_err(io::Error::from)
    }

    /// Writes as much as never blocks.
    pub(crate) fn write(bytes: &[u8]) -> io::Result<usize> {
        let some = bytes.get(..PIPE_BUF).unwrap_or(bytes);
        rustix::io::retry_on_intr(|| rustix::io::write(io::stdout(), some)).map_err(io::Error::from)
    }
}

/// Without `poll` the two cannot be waited for together: what is due is then served when the next line comes.
#[cfg(not(unix))]
mod system {
    use super::Ready;
    use std::io::{self, Read as _, Write as _};
    use std::time::Duration;

    pub(crate) fn wait(read: bool, write: bool, _timeout: Option<Duration>) -> io::Result<Ready> {
        Ok(Ready { to_read: read && !write, to_write: write })
    }

    pub(crate) fn read(into: &mut [u8]) -> io::Result<usize> {
        io::stdin().read(into)
    }

    pub(crate) fn write(bytes: &[u8]) -> io::Result<usize> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())?;
        Ok(bytes.len())
    }
}
