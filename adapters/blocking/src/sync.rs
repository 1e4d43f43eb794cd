//! The locks and threads of this crate: those of the standard library, and in `tests/lab/threads.sh` those of
//! shuttle, which runs a test in many orders of its threads.

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard},
    thread, thread_local,
};
use std::sync::PoisonError;
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard},
    thread, thread_local,
};

/// Locks a mutex whose value is consistent at any time, even if the last holder panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
