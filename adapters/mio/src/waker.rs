//! How another thread interrupts the wait of the loop.

use mio::{Registry, Token};
use std::io;
use std::sync::Arc;

/// Says "look at the queue" from any thread.
///
/// The order makes it safe: put something into the queue first, wake second; the loop, once woken, drains the queue
/// until it is empty. Several wakes may become one, and one may come for a queue that is empty already. The queue is
/// the truth, the wake a hint. Keep one waker for as long as the loop waits, and give clones to threads: with the last
/// one its event is gone.
///
/// ```
/// use ide_mcp_mio::Waker;
/// use std::sync::mpsc;
///
/// # fn main() -> std::io::Result<()> {
/// let mut poll = mio::Poll::new()?;
/// let waker = Waker::new(poll.registry(), mio::Token(0))?;
/// let (sender, queue) = mpsc::channel();
/// std::thread::spawn({
///     let waker = waker.clone();
///     move || {
///         let _ = sender.send("something to do");
///         waker.wake()
///     }
/// });
/// let mut events = mio::Events::with_capacity(64);
/// let mut done = false;
/// while !done {
///     poll.poll(&mut events, None)?;
///     for what in queue.try_iter() {
///         println!("{what}");
///         done = true;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Waker(Arc<mio::Waker>);

impl Waker {
    /// Wakes the `Poll` of this registry with an event that has this token.
    ///
    /// A `Poll` can have only one; where the application has its own, hand that over with `from`.
    ///
    /// # Errors
    /// Whatever the system reports.
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        mio::Waker::new(registry, token).map(|waker| Self(Arc::new(waker)))
    }

    /// Ends the current wait of the `Poll`, or the next one if it does not wait now.
    ///
    /// # Errors
    /// Whatever the system reports.
    pub fn wake(&self) -> io::Result<()> {
        self.0.wake()
    }
}

impl From<Arc<mio::Waker>> for Waker {
    fn from(waker: Arc<mio::Waker>) -> Self {
        Self(waker)
    }
}
