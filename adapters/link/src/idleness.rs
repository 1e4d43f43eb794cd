//! When a wire is asked to give back memory.

use ide_mcp::Time;
use std::time::Duration;

/// So long after a byte has moved the wire is asked to give back memory, be it silent or not. Sooner would free and fill the
/// same buffer between two messages of one exchange; once a second costs nothing, and leaves nothing to a peer that
/// now and then says a word.
const PAUSE: Duration = Duration::from_secs(1);

/// Up to so many bytes it is asked as soon as all is said: a thousand connections that each say a word share the memory
/// of one.
const LITTLE: usize = 2 * 1024;

/// How much has moved lately, and when that is over.
#[derive(Debug)]
pub(crate) struct Idleness {
    trim_at: Option<Time>,
    /// How many bytes have moved in this second.
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

    /// Whether it is time. `all_is_said` if nothing waits in either direction.
    pub(crate) fn is_due(&mut self, now: Time, all_is_said: bool) -> bool {
        if self.trim_at.is_some_and(|at| at <= now) {
            *self = Self::new();
            return true;
        }
        all_is_said && (1..=LITTLE).contains(&self.moved)
    }

    pub(crate) const fn deadline(&self) -> Option<Time> {
        self.trim_at
    }
}
