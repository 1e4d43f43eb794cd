//! When an idle connection frees memory.

use ide_mcp::Time;
use std::time::Duration;

/// How long after the first byte a connection frees memory, even if bytes still move. With a shorter time it
/// would free a buffer and fill it again between two messages of one exchange; once a second costs nothing
/// that matters. The time runs from the first byte and not from the last, so that a peer which sends a little
/// now and then cannot keep memory allocated.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection that has moved at most this many bytes frees its memory as soon as no byte waits in either
/// direction. So a thousand connections that each send a little need about as much memory as one.
const LITTLE: usize = 2 * 1024;

/// A period of [`PAUSE`], which begins with a byte.
#[derive(Debug)]
pub(crate) struct Idleness {
    trim_at: Option<Time>,
    /// How many bytes have moved in this period.
    moved: usize,
}

impl Idleness {
    pub(crate) const fn new() -> Self {
        Self { trim_at: None, moved: 0 }
    }

    pub(crate) fn moved(&mut self, now: Time, n: usize) {
        self.trim_at = self.trim_at.or_else(|| Some(now.saturating_add(PAUSE)));
        self.moved = self.moved.saturating_add(n);
    }

    /// Returns true if memory must be freed now. `is_idle` is true if no bytes wait in either direction.
    pub(crate) fn is_due(&mut self, now: Time, is_idle: bool) -> bool {
        if self.trim_at.is_some_and(|at| at <= now) {
            *self = Self::new();
            return true;
        }
        is_idle && (1..=LITTLE).contains(&self.moved)
    }

    pub(crate) const fn deadline(&self) -> Option<Time> {
        self.trim_at
    }
}
