//! Who connects after whom, as far as it can be told from outside.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many connections there were.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    begun: AtomicUsize,
    done: AtomicUsize,
}

/// A moment before a connection was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before(usize);

impl Arrivals {
    /// Connects somehow.
    pub(super) fn connect<T, E>(&self, connect: impl FnOnce() -> Result<T, E>) -> Result<(T, Before), E> {
        let before = Before(self.done.load(Ordering::SeqCst));
        self.begun.fetch_add(1, Ordering::SeqCst);
        let connected = connect();
        self.done.fetch_add(1, Ordering::SeqCst);
        Ok((connected?, before))
    }

    /// How many others can have come since then, at most: all that have begun, but for those that were there before.
    pub(super) fn since(&self, Before(done): Before) -> usize {
        self.begun.load(Ordering::SeqCst).saturating_sub(done).saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_come_later_are_counted_and_those_who_may_have() {
        let arrivals = Arrivals::default();
        let came = || arrivals.connect(|| Ok::<_, ()>(())).unwrap().1;
        came();
        let first = came();
        assert_eq!(arrivals.since(first), 0);
        let meanwhile = arrivals.connect(|| Ok::<_, ()>((came(), came()))).unwrap();
        let ((inner, last), outer) = meanwhile;
        assert_eq!([first, outer, inner, last].map(|before| arrivals.since(before)), [3, 2, 2, 1]);
        assert!(arrivals.connect(|| Err::<(), _>(())).is_err());
        assert_eq!(arrivals.since(first), 4, "it may have been heard of");
    }
}
