//! The order of the connections, as far as clients can observe it.

use std::sync::atomic::{AtomicUsize, Ordering};

/// The numbers of connection attempts that have begun and that are done.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    begun: AtomicUsize,
    done: AtomicUsize,
}

/// A moment before a connection was begun: the number of attempts that were done then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before(usize);

impl Arrivals {
    /// Connects by `connect`, and returns the moment before it.
    pub(super) fn connect<T, E>(&self, connect: impl FnOnce() -> Result<T, E>) -> Result<(T, Before), E> {
        let before = Before(self.done.load(Ordering::SeqCst));
        self.begun.fetch_add(1, Ordering::SeqCst);
        let connected = connect();
        self.done.fetch_add(1, Ordering::SeqCst);
        Ok((connected?, before))
    }

    /// Returns the maximum number of other connections since then: all attempts that have begun,
    /// without the ones that were done before.
    pub(super) fn since(&self, Before(done): Before) -> usize {
        self.begun.load(Ordering::SeqCst).saturating_sub(done).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possibly_later_connections_are_counted() {
        let arrivals = Arrivals::default();
        let arrive = || arrivals.connect(|| Ok::<_, ()>(())).unwrap().1;
        arrive();
        let first = arrive();
        assert_eq!(arrivals.since(first), 0);
        let meanwhile = arrivals.connect(|| Ok::<_, ()>((arrive(), arrive()))).unwrap();
        let ((inner, last), outer) = meanwhile;
        assert_eq!([first, outer, inner, last].map(|before| arrivals.since(before)), [3, 2, 2, 1]);
        assert!(arrivals.connect(|| Err::<(), _>(())).is_err());
        assert_eq!(arrivals.since(first), 4, "a failed attempt can have reached the editor");
    }
}
