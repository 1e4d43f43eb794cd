//! How a thread waits to be woken.

use ide_mcp::Time;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::{self, Thread};

/// Wakes the thread that waited last.
#[derive(Debug, Default)]
pub(crate) struct Parking(Option<(Thread, Waker)>);

impl Parking {
    /// What wakes this thread.
    pub(crate) fn waker(&mut self) -> Waker {
        let thread = thread::current();
        let of_thread = self.0.take_if(|(known, _)| known.id() == thread.id());
        let (thread, waker) =
            of_thread.unwrap_or_else(|| (thread.clone(), Waker::from(Arc::new(Unpark(thread)))));
        self.0 = Some((thread, waker.clone()));
        waker
    }
}

/// Waits until the thread is woken, or until then. It may end early.
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

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
