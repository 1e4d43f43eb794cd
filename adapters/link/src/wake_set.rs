//! [`WakeSet`] tells a waiting loop where to look: sockets that became ready ring it, and other threads.
//!
//! ```text
//!  a socket, the listener ──ring──▶ ┌──────┐ ──wake──▶ the task or thread that listens
//!  another thread ────────wake────▶ │ WakeSet │
//!                                   └──────┘ ◀─listen─ the same, once it is awake: what rang since the last time
//! ```
//!
//! First it is noted who rang, then is somebody woken; and who listens takes the notes in the same moment. So nothing
//! that rings goes unheard, however the two meet.

use std::collections::BTreeSet;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker as Task};

/// A bell that any thread can ring, and one task or thread listens to.
#[derive(Clone, Debug, Default)]
pub struct WakeSet(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    rung: Readiness,
    listener: Option<Task>,
}

/// What rang since the last time.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Readiness {
    /// The sockets, by the number they ring with.
    pub sockets: BTreeSet<usize>,
    /// Connections may wait at the listener.
    pub listener: bool,
    /// A change of the lock file was reported.
    pub guard: bool,
    /// A [`Waker`] did.
    pub woken: bool,
}

impl WakeSet {
    /// A bell that nobody has rung.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What rang since the last time. What rings from here on wakes this task; one at a time listens.
    #[must_use]
    pub fn listen(&self, task: &Task) -> Readiness {
        let mut state = self.state();
        if !state.listener.as_ref().is_some_and(|listener| listener.will_wake(task)) {
            state.listener = Some(task.clone());
        }
        mem::take(&mut state.rung)
    }

    /// What rings for this socket, when woken.
    #[must_use]
    pub fn of_socket(&self, number: usize) -> Task {
        Task::from(Arc::new(WakeHandle { bell: self.clone(), of: Of::Socket(number) }))
    }

    /// What rings for the listener, when woken.
    #[must_use]
    pub fn of_listener(&self) -> Task {
        Task::from(Arc::new(WakeHandle { bell: self.clone(), of: Of::Listener }))
    }

    /// Returns the waker that rings for the guard of a lock file.
    #[must_use]
    pub fn of_guard(&self) -> Task {
        Task::from(Arc::new(WakeHandle { bell: self.clone(), of: Of::Guard }))
    }

    /// What another thread rings.
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.clone())
    }

    fn ring(&self, note: impl FnOnce(&mut Readiness)) {
        let listener = {
            let mut state = self.state();
            note(&mut state.rung);
            state.listener.clone()
        };
        // Not under the lock: it may run the task at once.
        if let Some(listener) = listener {
            listener.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What is under it is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says "look at the queue" from any thread.
///
/// The order makes it safe: put something into the queue first, wake second; the loop, once woken, drains the queue
/// until it is empty. Several wakes may become one, and one may come for a queue that is empty already. The
/// queue is the truth, the wake a hint.
#[derive(Clone, Debug)]
pub struct Waker(WakeSet);

impl Waker {
    /// Ends the current wait, or the next one if there is none now.
    pub fn wake(&self) {
        self.0.ring(|rung| rung.woken = true);
    }
}

/// One of those that ring.
#[derive(Debug)]
struct WakeHandle {
    bell: WakeSet,
    of: Of,
}

#[derive(Clone, Copy, Debug)]
enum Of {
    Listener,
    Guard,
    Socket(usize),
}

impl Wake for WakeHandle {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring(|rung| match self.of {
            Of::Listener => rung.listener = true,
            Of::Guard => rung.guard = true,
            Of::Socket(number) => drop(rung.sockets.insert(number)),
        });
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
    fn who_rang_is_told_once() {
        let (bell, count) = (WakeSet::new(), Arc::new(Count::default()));
        bell.of_socket(7).wake();
        let task = Task::from(count.clone());
        assert_eq!(bell.listen(&task).sockets.into_iter().collect::<Vec<_>>(), [7]);
        bell.of_socket(3).wake();
        bell.of_socket(3).wake_by_ref();
        bell.of_listener().wake();
        bell.waker().wake();
        assert_eq!(count.0.load(Ordering::Relaxed), 4, "who did not listen yet was not woken");
        let rung = bell.listen(&task);
        assert_eq!(rung.sockets.into_iter().collect::<Vec<_>>(), [3]);
        assert!(rung.listener && rung.woken);
        let nothing = bell.listen(&task);
        assert!(nothing.sockets.is_empty() && !nothing.listener && !nothing.woken);
    }
}
