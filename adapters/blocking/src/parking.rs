//! The parking of a thread until it is woken.

use crate::sync::thread::{self, Thread};
use crate::sync::thread_local;
use ide_mcp::Time;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// Returns the waker of this thread.
pub(crate) fn waker() -> Waker {
    thread_local!(static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current()))));
    // At the end of a thread its thread-local values can be gone.
    WAKER.try_with(Waker::clone).unwrap_or_else(|_| Waker::from(Arc::new(Unpark(thread::current()))))
}

/// Waits until the thread is woken, or until the time `until`. The wait can end early.
pub(crate) fn park(now: Time, until: Option<Time>) {
    match until.map(|until| until.saturating_since(now)) {
        None => thread::park(),
        Some(wait) if wait.is_zero() => {}
        Some(wait) => thread::park_timeout(wait),
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
