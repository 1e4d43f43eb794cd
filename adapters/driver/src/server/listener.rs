//! The listener, and its readiness.

use super::transport::{RETRY, Transport};
use ide_mcp::Time;
use std::io::ErrorKind;

/// How many connections a turn accepts before it reads the sockets. At the limit of pending connections, each
/// new one ends an older one, so a turn accepts only a few, to let the older ones authenticate first.
pub(crate) const ACCEPTED_A_TURN: usize = 4;

#[derive(Debug)]
pub(crate) struct Listener<T> {
    pub(crate) transport: T,
    is_open: bool,
    /// True until accepting would block.
    readable: bool,
    retry_at: Option<Time>,
}

impl<T: Transport> Listener<T> {
    pub(crate) const fn new(transport: T) -> Self {
        Self { transport, is_open: true, readable: true, retry_at: None }
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns true if accepting again is pointless until another client connects.
    pub(crate) const fn waits(&self) -> bool {
        self.is_open && !self.readable && self.retry_at.is_none()
    }

    pub(crate) const fn ready(&mut self) {
        self.readable = true;
    }

    pub(crate) fn close(&mut self) {
        if self.is_open {
            self.is_open = false;
            self.transport.close();
        }
    }

    /// Returns the next waiting connection.
    pub(crate) fn accept(&mut self, now: Time) -> Option<T::Incoming> {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            self.readable = true;
        }
        while self.is_open && self.readable {
            match self.transport.accept() {
                Ok(incoming) => return Some(incoming),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.readable = false,
                // This client gave up while it waited, which Windows reports as a reset. Another one may wait
                // after it.
                Err(error) if gave_up(error.kind()) => {}
                Err(_) => {
                    self.readable = false;
                    self.retry_at = Some(now.saturating_add(RETRY));
                }
            }
        }
        None
    }

    pub(crate) fn deadline(&self, now: Time) -> Option<Time> {
        let due = if self.readable { Some(now) } else { self.retry_at };
        due.filter(|_| self.is_open)
    }
}

const fn gave_up(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::Interrupted | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
}
