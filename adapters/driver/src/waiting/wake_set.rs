//! [`WakeSet`] collects wake-ups for the one task or thread that waits, each with its source.
//!
//! ```text
//!  a socket, the listener, the guard ──wake──▶ ┌─────────┐ ──wake──▶ the task or thread that waits
//!  another thread ─────────────────────wake──▶ │ WakeSet │
//!                                              └─────────┘ ◀─register─ the task, before it looks for work
//! ```
//!
//! A source first records that it is ready, and then wakes the task. The task registers itself and takes
//! these records (the [`Readiness`]) under one lock. So no wake-up is lost, whichever comes first.

use crate::sync::{Mutex, MutexGuard};
use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, PoisonError};
use std::task::{Wake, Waker as Task};

/// Collects wake-ups from any thread for one task or thread.
#[derive(Clone, Debug, Default)]
pub struct WakeSet(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    ready: Readiness,
    task: Option<Task>,
}

/// What may be ready: the sources that have woken the set.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Readiness {
    /// The sockets that may be ready, by the numbers of their wakers.
    pub sockets: BTreeSet<usize>,
    /// True if connections may wait at the listener.
    pub listener: bool,
    /// True if the guard of the lock file may have work.
    pub guard: bool,
    /// True if a [`Waker`] of the application was used.
    pub woken: bool,
}

impl WakeSet {
    /// Creates an empty set without a task.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers the task to wake from now on, instead of the one before. Returns what has become ready since
    /// the last call.
    #[must_use]
    pub fn register(&self, task: &Task) -> Readiness {
        let mut state = self.state();
        state.task.get_or_insert_with(|| task.clone()).clone_from(task);
        mem::take(&mut state.ready)
    }

    /// Returns the waker of the socket with this number.
    #[must_use]
    pub fn socket_waker(&self, number: usize) -> Task {
        self.task_waker(move |ready| ready.sockets.extend([number]))
    }

    /// Returns the waker of the listener.
    #[must_use]
    pub fn listener_waker(&self) -> Task {
        self.task_waker(|ready| ready.listener = true)
    }

    /// Returns the waker of the guard of a lock file.
    #[must_use]
    pub fn guard_waker(&self) -> Task {
        self.task_waker(|ready| ready.guard = true)
    }

    /// Returns the waker of a [`Handle`](crate::Handle). It records nothing, because every turn runs the work
    /// of the handles.
    #[must_use]
    pub fn handle_waker(&self) -> Task {
        self.task_waker(|_| {})
    }

    /// Returns the waker for your other threads.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.clone())
    }

    fn task_waker(&self, note: impl Fn(&mut Readiness) + Send + Sync + 'static) -> Task {
        Task::from(Arc::new(WakeHandle { wakes: self.clone(), note }))
    }

    fn wake(&self, note: impl FnOnce(&mut Readiness)) {
        let task = {
            let mut state = self.state();
            note(&mut state.ready);
            state.task.clone()
        };
        // Outside the lock, since `wake` may run the task at once.
        if let Some(task) = task {
            task.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No panic leaves the state half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the loop, from any thread, that a queue of yours has an entry.
///
/// Put the entry into the queue first, and wake second. The loop must then read the queue until it is empty.
/// Several wakes may become one, and a wake may come for a queue that is already empty, so take it as a hint
/// only.
#[derive(Clone, Debug)]
pub struct Waker(WakeSet);

impl Waker {
    /// Ends the current wait, or the next one if the loop is not waiting.
    pub fn wake(&self) {
        self.0.wake(|ready| ready.woken = true);
    }
}

/// The waker of one source.
struct WakeHandle<F> {
    wakes: WakeSet,
    note: F,
}

impl<F: Fn(&mut Readiness) + Send + Sync + 'static> Wake for WakeHandle<F> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wakes.wake(&self.note);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn each_wake_up_is_taken_once() {
        let (wakes, count) = (WakeSet::new(), Arc::new(Count::default()));
        wakes.socket_waker(7).wake();
        let task = Task::from(count.clone());
        assert_eq!(wakes.register(&task).sockets.into_iter().collect::<Vec<_>>(), [7]);
        wakes.socket_waker(3).wake();
        wakes.socket_waker(3).wake_by_ref();
        wakes.listener_waker().wake();
        wakes.waker().wake();
        assert_eq!(
            count.0.load(Ordering::Relaxed),
            4,
            "the first wake-up came before the task was registered"
        );
        let ready = wakes.register(&task);
        assert_eq!(ready.sockets.into_iter().collect::<Vec<_>>(), [3]);
        assert!(ready.listener && ready.woken);
        let nothing = wakes.register(&task);
        assert!(nothing.sockets.is_empty() && !nothing.listener && !nothing.woken);
    }
}

#[cfg(all(test, shuttle))]
mod orders {
    use super::*;
    use crate::sync::this_thread;
    use shuttle::thread;

    /// A lost wake-up leaves the main thread parked forever, which shuttle reports as a deadlock.
    #[test]
    fn no_order_loses_a_wake_up() {
        let test = || {
            let wakes = WakeSet::new();
            let sources = [wakes.socket_waker(1), wakes.socket_waker(2), wakes.listener_waker()];
            let threads = sources.map(|source| thread::spawn(move || source.wake()));
            let other = thread::spawn({
                let wakes = wakes.clone();
                move || wakes.waker().wake()
            });
            let task = this_thread();
            let mut seen = Readiness::default();
            loop {
                let ready = wakes.register(&task);
                for socket in ready.sockets {
                    assert!(seen.sockets.insert(socket), "a wake-up is returned twice");
                }
                seen.listener |= ready.listener;
                seen.woken |= ready.woken;
                if seen.sockets.len() == 2 && seen.listener && seen.woken {
                    break;
                }
                thread::park();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            other.join().unwrap();
        };
        shuttle::check_random(test, 10_000);
        shuttle::check_pct(test, 10_000, 3);
    }
}
