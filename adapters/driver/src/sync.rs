//! The locks of this crate: those of std, or of shuttle in `tests/lab/threads.sh`, which runs a test in many
//! orders of its threads.

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Returns a waker that unparks this thread.
#[cfg(all(test, shuttle))]
pub(crate) fn this_thread() -> std::task::Waker {
    struct Unpark(shuttle::thread::Thread);

    impl std::task::Wake for Unpark {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.unpark();
        }
    }

    std::sync::Arc::new(Unpark(shuttle::thread::current())).into()
}
