//! A socket on the reactor, which wakes the socket's task when a read or write can be retried.

use async_io::Async;
use ide_mcp_driver::Shutdown;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{self, TcpStream};
use std::task::{Context, Poll, Waker};

/// A non-blocking socket. A call that would have blocked, or a read that left room, arms the reactor, which
/// wakes the task once a retry can succeed. A call that did not block costs the reactor nothing.
#[derive(Debug)]
pub(crate) struct Socket {
    io: Async<TcpStream>,
    waker: Waker,
    /// True if the reactor will wake the task for a read.
    armed_to_read: bool,
    /// True if the reactor will wake the task for a write.
    armed_to_write: bool,
}

#[derive(Clone, Copy)]
enum To {
    Read,
    Write,
}

impl Socket {
    pub(crate) fn new(io: Async<TcpStream>, waker: Waker) -> Self {
        // A turn writes all of its output at once, so Nagle's algorithm would only add delay. A socket that
        // refuses the option still works.
        let _ = io.get_ref().set_nodelay(true);
        Self { io, waker, armed_to_read: false, armed_to_write: false }
    }

    pub(crate) fn stream(&self) -> &TcpStream {
        self.io.get_ref()
    }

    fn try_to<T>(&mut self, to: To, mut call: impl FnMut(&TcpStream) -> io::Result<T>) -> io::Result<T> {
        if *self.armed(to) {
            // Take the readiness that the reactor has reported. Otherwise a later poll would report it again.
            let _ = self.poll(to)?;
        }
        loop {
            match call(self.io.get_ref()) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if self.poll(to)?.is_pending() {
                        return Err(error);
                    }
                }
                done => return done,
            }
        }
    }

    /// Arms the reactor, unless it already reports readiness.
    fn poll(&mut self, to: To) -> io::Result<Poll<()>> {
        let mut context = Context::from_waker(&self.waker);
        let polled = match to {
            To::Read => self.io.poll_readable(&mut context),
            To::Write => self.io.poll_writable(&mut context),
        };
        *self.armed(to) = polled.is_pending();
        Ok(polled?)
    }

    const fn armed(&mut self, to: To) -> &mut bool {
        match to {
            To::Read => &mut self.armed_to_read,
            To::Write => &mut self.armed_to_write,
        }
    }
}

impl Read for Socket {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let n = self.try_to(To::Read, |mut stream| stream.read(space))?;
        if 0 < n && n < space.len() {
            // There is nothing more to read, so arm the reactor now, without another read that finds nothing.
            // If it has reported readiness in the meantime, that was for the bytes that we have just read.
            while self.poll(To::Read)?.is_ready() {}
        }
        Ok(n)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.try_to(To::Write, |mut stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shutdown for Socket {
    fn shutdown_write(&mut self) -> io::Result<()> {
        self.stream().shutdown(net::Shutdown::Write)
    }
}
